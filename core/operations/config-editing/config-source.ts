/** Where the configuration is: in gateway.yaml, or in the database (`config: store`). */
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type ConfigFile, type ConfigOrigin, configFrom, EARLY_SECTIONS, readConfig } from '../../config/file.ts';
import type { Sources } from '../../config/interpolation.ts';
import { applyEdits } from './edits.ts';
import { obstacleOf, removeDrafts, replaceFile } from './replace-file.ts';
import { type KeptConfig, type NewVersion, revisionOf } from './versions.ts';

/** The source of a running configuration. */
export interface ConfigSource {
  readonly kind: ConfigOrigin['kind'];
  /** The name of the text for people, without a folder. */
  readonly name: string;
  origin(): Promise<ConfigOrigin>;
  /** The current text with its `${…}` filled in. */
  read(): Promise<ConfigFile>;
  /** Another text, read as if it were the current one. */
  as(text: string, prepare?: Parameters<typeof configFrom>[3]): Promise<ConfigFile>;
  /** Last change, unix milliseconds; undefined: unknown. */
  changedMs(): Promise<number | undefined>;
  /** Why it cannot be written; undefined: it can. */
  obstacle(): Promise<string | undefined>;
  /** Removes what a crash during `write` has left. */
  sweep?(nowMs: number): Promise<void>;
  /**
   * Replaces the text `from`. False: that is not the current text any more. In the database this also records the
   * version; for a file, `record` does.
   */
  write(from: string, version: NewVersion): Promise<number | boolean>;
  /** What one of `ConfigFile.sources` contains now; undefined: it cannot be read. Rejects if the database is away. */
  look(name: string): Promise<string | undefined>;
}

type Env = Sources['env'];

/** Reads a configuration, in any process. */
export function readOrigin({ kind, path, env, secrets, text }: ConfigOrigin): ConfigFile {
  const file = readConfig(path, env, secrets);
  if (kind === 'file') return file;
  if (text === undefined) return beforeFirstStart(file, { env, secrets });
  const current = stored(path, text, { env, secrets });
  for (const name of Object.keys(file.value))
    if (!isEarly(name))
      current.warnings.push({
        ...START,
        path: name,
        message: `has no effect in ${basename(path)}: the configuration is in the database`,
      });
  return current;
}

/** The source of a gateway whose database is open. `kind`: by the file at the start; changing it needs a restart. */
export function sourceOf(path: string, env: Env, kept: KeptConfig, kind: ConfigSource['kind']): ConfigSource {
  const origin = async (): Promise<ConfigOrigin> => ({
    kind,
    path,
    env: { ...env },
    secrets: await kept.secrets(),
    text: kind === 'store' ? (await kept.newest())?.text : undefined,
  });
  const source = { kind, origin, read: async () => readOrigin(await origin()) };
  return { ...source, ...(kind === 'store' ? inStore(path, env, kept) : inFile(path, env, kept)) };
}

type Access = Omit<ConfigSource, 'kind' | 'origin' | 'read'>;

function inFile(path: string, env: Env, kept: KeptConfig): Access {
  return {
    name: basename(path),
    as: async (text, prepare) => configFrom(path, text, { env, secrets: await kept.secrets() }, prepare),
    changedMs: () =>
      stat(path).then(
        ({ mtimeMs }) => Math.round(mtimeMs),
        () => undefined,
      ),
    obstacle: () => obstacleOf(path),
    write: (from, { text }) => replaceFile(path, from, text),
    sweep: (nowMs) => removeDrafts(path, nowMs),
    look: contentOf,
  };
}

/** The name of the text in the database. */
const STORED = 'configuration';

function inStore(path: string, env: Env, kept: KeptConfig): Access {
  return {
    name: STORED,
    as: async (text, prepare) => stored(path, text, { env, secrets: await kept.secrets() }, prepare),
    changedMs: async () => (await kept.newest())?.atMs,
    obstacle: async () => undefined,
    async write(from, version) {
      const newest = await kept.newest();
      if (newest !== undefined && newest.text !== from) return false;
      return (await kept.add({ ...version, after: newest?.revision })) ?? false;
    },
    look: (name) => (name === STORED ? kept.newestRevision() : contentOf(name)),
  };
}

/** The content of a file; undefined: it cannot be read. */
function contentOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined);
}

const isEarly = (name: unknown): boolean => (EARLY_SECTIONS as readonly unknown[]).includes(name);
const START = { line: 1, column: 1 };

/** A text of the database with the early sections of the file: problems of those are reported for the file. */
function stored(path: string, text: string, sources: Sources, prepare?: Parameters<typeof configFrom>[3]): ConfigFile {
  const early = readConfig(path, sources.env);
  const late = configFrom(path, text, sources, prepare);
  for (const name of EARLY_SECTIONS) {
    if (name in late.value)
      late.problem(
        [name],
        `belongs in ${basename(path)} of each gateway, because it is read before the database is open`,
      );
  }
  const value = {
    ...late.value,
    ...Object.fromEntries(Object.entries(early.value).filter(([name]) => isEarly(name))),
  };
  const telling =
    (kind: 'problem' | 'warn', list: 'problems' | 'warnings'): ConfigFile['problem'] =>
    (path, message) => {
      if (!isEarly(path[0])) return late[kind](path, message);
      const before = early[list].length;
      early[kind](path, message);
      late[list].push(...early[list].slice(before));
    };
  return {
    ...late,
    file: STORED,
    value,
    secrets: [...early.secrets, ...late.secrets],
    sources: new Map([...late.sources, ...early.sources, [STORED, revisionOf(text)]]),
    problem: telling('problem', 'problems'),
    warn: telling('warn', 'warnings'),
  };
}

/** The first version: the text of the file without the early sections; comments of the rest stay. */
function beforeFirstStart(file: ConfigFile, sources: Sources): ConfigFile {
  // Its mistakes are reported at their lines in the file.
  if (file.problems.length > 0) return file;
  const edits = EARLY_SECTIONS.filter((name) => name in file.value).map((name) => ({
    path: [name],
    remove: true as const,
  }));
  try {
    return stored(file.file, applyEdits(file.text, edits), sources);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const why =
      'other sections repeat a part of it (*name): write the values out, because only they move to the database';
    file.problem(['config'], `${EARLY_SECTIONS.join(', ')} cannot be separated from the rest; ${why}`);
    return file;
  }
}
