/** The READMEs and their examples, for tests of what they say. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import type { GatewayProcess } from '../kit/process.ts';

/** Runs a program to its end. */
export const run = promisify(execFile);
/** The checkout. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The pages themselves. */
export const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
export const PLUGINS_README = readFileSync(join(ROOT, 'plugins/README.md'), 'utf8');
export const CORE_README = readFileSync(join(ROOT, 'core/README.md'), 'utf8');
/** The gateway.yaml that ships. */
export const SHIPPED_CONFIG = join(ROOT, 'gateway.yaml');

/** A part of a YAML file. */
export type Section = Record<string, unknown>;

/** The code behind a marker `<!-- example: PATH -->`. */
export function example(markdown: string, path: string): string {
  const code = examples(markdown).get(path);
  assert.ok(code !== undefined, `there is no example ${path}`);
  return code;
}
/** All of them, by their paths. */
export function examples(markdown: string): ReadonlyMap<string, string> {
  const found = markdown.matchAll(/<!-- example: (\S+) -->\n```\w+\n(.*?)^```$/gms);
  return new Map([...found].map(([, path = '', code = '']) => [path, code]));
}
/** The first block of a language behind a heading or another piece of text. */
export function blockAfter(markdown: string, text: string, language: string): string {
  const start = markdown.indexOf(text);
  assert.notEqual(start, -1, `the page does not say: ${text}`);
  const block = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(markdown.slice(start));
  assert.ok(block?.[1] !== undefined, `there is no ${language} behind: ${text}`);
  return block[1];
}

/** A folder far from the checkout; with `packages`, those are found from there as if they had been installed. */
export function folder(packages: readonly string[] = []): { readonly dir: string; remove(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-readme-'));
  for (const name of packages) {
    mkdirSync(dirname(join(dir, 'node_modules', name)), { recursive: true });
    symlinkSync(name === 'turnpike' ? ROOT : join(ROOT, 'node_modules', name), join(dir, 'node_modules', name), 'dir');
  }
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
/** Writes a file and the folders it is in; its path. */
export function write(dir: string, path: string, text: string): string {
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** The sections of the gateway.yaml that ships, on a free port and with a database in its own folder, or this section `store`. */
export function shippedSections(store: Section = { file: './turnpike.db' }): Section {
  const sections = parse(readFileSync(SHIPPED_CONFIG, 'utf8')) as Section;
  return { ...sections, listen: { ...(sections.listen as Section), port: 0 }, store };
}
/** The key that a first start prints. */
export function firstKey(gateway: GatewayProcess): string {
  return String(gateway.log.find(({ msg }) => msg === 'first start')?.key);
}
