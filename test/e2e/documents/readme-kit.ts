/** The pages of the documentation, their blocks of code and their tables, for tests of what they say. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import type { GatewayProcess } from '../../kit/gateway/process.ts';

/** Runs a program to its end. */
export const run = promisify(execFile);
/** The checkout. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Folders without pages of ours. */
const SKIPPED = ['node_modules', 'dist', 'data'];

/** Paths of all Markdown files in and below a folder, but for CHANGELOG.md; hidden folders are skipped, except `.github`. */
function pagesIn(dir: string): readonly string[] {
  return readdirSync(join(ROOT, dir), { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isFile()) return path.endsWith('.md') && path !== 'CHANGELOG.md' ? [path] : [];
    const isSkipped = SKIPPED.includes(entry.name) || (entry.name.startsWith('.') && entry.name !== '.github');
    return entry.isDirectory() && !isSkipped ? pagesIn(path) : [];
  });
}
/** The texts of all pages, by their paths in the checkout. */
export const PAGES: ReadonlyMap<string, string> = new Map(
  pagesIn('.').map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]),
);
/** The text of one page. */
export function page(path: string): string {
  const text = PAGES.get(path);
  assert.ok(text !== undefined, `there is no page ${path}`);
  return text;
}

/** The gateway.yaml that ships. */
export const SHIPPED_CONFIG = join(ROOT, 'gateway.yaml');

/** A part of a YAML file. */
export type Section = Record<string, unknown>;

/** A block of code. The comment before it says what tests do with it; only diagrams, which have no language, have none. */
export interface Block {
  readonly page: string;
  /** Of its first line of code, from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /**
   * `example: PATH` is a file of the examples for plugin authors, `run: NAME` is run by a test that looks it up by this name, `config` is a
   * part of gateway.yaml that the gateway must accept, `not run: REASON` is not run.
   */
  readonly kind: 'example' | 'run' | 'config' | 'not run' | undefined;
  /** What follows the kind. */
  readonly about: string;
}

/** The blocks of a page. */
function blocksIn(path: string, text: string): readonly Block[] {
  return [...text.matchAll(/^(?:<!-- (example|run|config|not run)(?:: ([^\n]+))? -->\n)?```(\w*)\n(.*?)^```$/gms)].map(
    ({ 1: kind, 2: about = '', 3: language = '', 4: code = '', index }) => ({
      page: path,
      line: text.slice(0, text.indexOf('```', index)).split('\n').length + 1,
      language,
      code,
      kind: kind as Block['kind'],
      about,
    }),
  );
}
/** The blocks of all pages. */
export const BLOCKS: readonly Block[] = [...PAGES].flatMap(([path, text]) => blocksIn(path, text));

/** The code of the block `<!-- run: NAME -->`. */
export function block(name: string): string {
  const found = BLOCKS.find(({ kind, about }) => kind === 'run' && about === name);
  assert.ok(found !== undefined, `no page has a block ${name}`);
  return found.code;
}
/** The code of all blocks `<!-- example: PATH -->`, by their paths. */
export const EXAMPLES: ReadonlyMap<string, string> = new Map(
  BLOCKS.filter(({ kind }) => kind === 'example').map(({ about, code }) => [about, code]),
);
/** One of them. */
export function example(path: string): string {
  const code = EXAMPLES.get(path);
  assert.ok(code !== undefined, `there is no example ${path}`);
  return code;
}

/** The rows of all tables whose header begins with these cells. */
export function table(...header: readonly string[]): readonly TableRow[] {
  return [...PAGES].flatMap(([path, text]) =>
    [...text.matchAll(/^(\|.+\|)\n\|[- |]+\|\n((?:\|.+\|\n?)*)/gm)]
      .filter(([, top = '']) => header.every((cell, place) => cellsOf(top)[place] === cell))
      .flatMap(([, , rows = '']) => rows.trimEnd().split('\n'))
      .map((row) => ({ page: path, cells: cellsOf(row) })),
  );
}
/** A row of a table, and the page that it is in. */
export interface TableRow {
  readonly page: string;
  readonly cells: readonly string[];
}
function cellsOf(row: string): readonly string[] {
  return row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());
}
/** What a cell shows as code, in its order. */
export function codeIn(cell: string | undefined): readonly string[] {
  return [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
}

/** A folder far from the checkout; with `packages`, those are found from there as if they had been installed. */
export function folder(packages: readonly string[] = []): { readonly dir: string; remove(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-readme-'));
  for (const name of packages) {
    mkdirSync(dirname(join(dir, 'node_modules', name)), { recursive: true });
    const found = ['test/node_modules', 'node_modules']
      .map((modules) => join(ROOT, modules, name))
      .find((path) => existsSync(path));
    symlinkSync(name === 'turnpike' ? ROOT : found!, join(dir, 'node_modules', name), 'dir');
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
