/** The variables that gateway.yaml may name: those of the process, and those of a file `.env` next to it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

/** Variables by name. */
export type Env = Readonly<Record<string, string | undefined>>;

/** The variables of a configuration. */
export interface Environment {
  /** Those of the process take precedence. */
  readonly env: Env;
  /** The path of `.env`, whether or not it exists. */
  readonly file: string;
  /** Its content; undefined if it does not exist. */
  readonly text: string | undefined;
  /** Why it cannot be read; undefined if it can, or does not exist. */
  readonly trouble: string | undefined;
}

/** Reads `.env` (lines `NAME=value`) in the folder of gateway.yaml. Nothing is cached. */
export function readEnvironment(dir: string, given: Env): Environment {
  const file = join(dir, '.env');
  try {
    const text = readFileSync(file, 'utf8');
    return { env: { ...parseEnv(text), ...defined(given) }, file, text, trouble: undefined };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const isMissing = ['ENOENT', 'ENOTDIR'].includes(code);
    return {
      env: given,
      file,
      text: undefined,
      trouble: isMissing ? undefined : `the file ${file} ${unreadable(error)}`,
    };
  }
}

function defined(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}

/** Why a file could not be read, for the user. */
export function unreadable(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read by this user';
  if (code === 'EISDIR') return 'is a directory';
  return `cannot be read (${code ?? 'unknown reason'})`;
}
