/** Where the configuration is: in gateway.yaml, or in the database (`config: store`). */
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseDocument, type YAMLMap } from 'yaml';
import type { coreSections } from './core-sections.ts';
import { type ConfigFile, configFrom, readConfig } from './file.ts';
import type { Sources } from './interpolation.ts';
import { type KeptConfig, type NewVersion, revisionOf } from './kept.ts';
import { obstacleOf, replaceFile } from './replace-file.ts';

/** The source of a running configuration. */
export interface ConfigSource {
  readonly kind: 'file' | 'store';
  /** The name of the text for people, without a folder. */
  readonly name: string;
  /** The current text with its `${…}` filled in. */
  read(): Promise<ConfigFile>;
  /** Another text, read as if it were the current one. */
  as(text: string, prepare?: Parameters<typeof configFrom>[3]): Promise<ConfigFile>;
  /** Last change, unix milliseconds; undefined: unknown. */
  changedMs(): Promise<number | undefined>;
  /** Why it cannot be written; undefined: it can. */
  obstacle(): Promise<string | undefined>;
  /**
   * Replaces the text `from`. False: that is not the current text any more. In the database this also records the
   * version; for a file, `record` does.
   */
  write(from: string, version: NewVersion): Promise<number | boolean>;
  /** The revision of the current text, for watching; undefined: it cannot be read. Rejects if the database is away. */
  revision(): Promise<string | undefined>;
}

/** Sections that stay in the file of each gateway if the rest is in the database. */
export const EARLY_SECTIONS: readonly (keyof typeof coreSections)[] = ['listen', 'store', 'config'];

/** Whether the text is in the database. */
export function isInStore({ value }: Pick<ConfigFile, 'value'>): boolean {
  return value.config === 'store';
}

/** Whether the database must be open before the configuration can be read completely. */
export function needsStore(file: ConfigFile): boolean {
  return isInStore(file) || file.references.some(({ kind }) => kind === 'secret');
}

/** Throws if the configuration is in the database, for commands that need all of it before they open that. */
export function requireFile(file: ConfigFile): void {
  if (!isInStore(file)) return;
  throw new Error(
    'the configuration is in the database: write a file with `turnpike config export` and the sections listen and store, and name it with --config',
  );
}

type Env = Sources['env'];

/** The source of a gateway whose database is open. `kind`: by the file at the start; changing it needs a restart. */
export function sourceOf(path: string, env: Env, kept: KeptConfig, kind: ConfigSource['kind']): ConfigSource {
  return kind === 'store' ? inStore(path, env, kept) : inFile(path, env, kept);
}

function inFile(path: string, env: Env, kept: KeptConfig): ConfigSource {
  const utf8 = new TextDecoder();
  return {
    kind: 'file',
    name: basename(path),
    read: async () => readConfig(path, env, await kept.secrets()),
    as: async (text, prepare) => configFrom(path, text, { env, secrets: await kept.secrets() }, prepare),
    changedMs: () =>
      stat(path).then(
        ({ mtimeMs }) => Math.round(mtimeMs),
        () => undefined,
      ),
    obstacle: () => obstacleOf(path),
    write: (from, { text }) => replaceFile(path, from, text),
    revision: () =>
      readFile(path).then(
        (bytes) => revisionOf(utf8.decode(bytes)),
        () => undefined,
      ),
  };
}

/** The name of the text in the database. */
const STORED = 'configuration';

function inStore(path: string, env: Env, kept: KeptConfig): ConfigSource {
  const as: ConfigSource['as'] = async (text, prepare) => {
    const early = readConfig(path, env);
    return joined(early, configFrom(path, text, { env, secrets: await kept.secrets() }, prepare));
  };
  return {
    kind: 'store',
    name: STORED,
    async read() {
      const newest = await kept.newest();
      if (newest === undefined) return as(withoutEarly(readConfig(path, env).text));
      const current = await as(newest.text);
      for (const name of Object.keys(readConfig(path, env).value))
        if (!isEarly(name))
          current.warnings.push({
            ...START,
            path: name,
            message: `has no effect in ${basename(path)}: the configuration is in the database`,
          });
      return current;
    },
    as,
    changedMs: async () => (await kept.newest())?.atMs,
    obstacle: async () => undefined,
    async write(from, version) {
      const newest = await kept.newest();
      if (newest !== undefined && newest.text !== from) return false;
      return (await kept.add({ ...version, after: newest?.revision })) ?? false;
    },
    revision: () => kept.newestRevision(),
  };
}

const isEarly = (name: unknown): boolean => (EARLY_SECTIONS as readonly unknown[]).includes(name);
const START = { line: 1, column: 1 };

/** The text of the database with the early sections of the file: problems of those are reported for the file. */
function joined(early: ConfigFile, stored: ConfigFile): ConfigFile {
  for (const name of EARLY_SECTIONS) {
    if (name in stored.value)
      stored.problem(
        [name],
        `belongs in ${basename(early.file)} of each gateway, because it is read before the database is open`,
      );
  }
  const value = {
    ...stored.value,
    ...Object.fromEntries(Object.entries(early.value).filter(([name]) => isEarly(name))),
  };
  const telling =
    (kind: 'problem' | 'warn', list: 'problems' | 'warnings'): ConfigFile['problem'] =>
    (path, message) => {
      if (!isEarly(path[0])) return stored[kind](path, message);
      const before = early[list].length;
      early[kind](path, message);
      stored[list].push(...early[list].slice(before));
    };
  return {
    ...stored,
    file: STORED,
    value,
    secrets: [...early.secrets, ...stored.secrets],
    problem: telling('problem', 'problems'),
    warn: telling('warn', 'warnings'),
  };
}

/** A text without the early sections, for the first version: comments of the rest stay. */
export function withoutEarly(text: string): string {
  const doc = parseDocument(text);
  const map = doc.contents as YAMLMap | null;
  for (const name of EARLY_SECTIONS) map?.delete?.(name);
  return doc.toString({ lineWidth: 0 });
}
