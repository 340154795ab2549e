/** Fills `${…}` in: from the environment, with a default, or from a file. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are what this file is about
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';

/** A text with its `${…}` filled in. */
export interface Filled {
  readonly text: string;
  /** Each `${…}` with its variable's name and value; the name is empty for a file. */
  readonly pieces: readonly { readonly name: string; readonly text: string }[];
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Fills in one string: `${NAME}`, `${NAME:-default}` (for a variable that is unset or empty) and `${file:PATH}`
 * (relative to `dir`, one trailing newline removed). `$${` becomes `${`. Filled-in values are not expanded again.
 */
export function fill(text: string, dir: string, env: Readonly<Record<string, string | undefined>>): Filled {
  const pieces: { name: string; text: string }[] = [];
  const problems: string[] = [];
  const warnings: string[] = [];

  const filled = text.replace(/\$\$\{|\$\{([^}]*)(\}?)/g, (_, inside: string | undefined, end: string) => {
    if (inside === undefined) return '${';
    if (end === '') {
      problems.push('${ has no closing }; write $${ for the characters themselves');
      return '';
    }
    const path = /^file:(.+)$/s.exec(inside)?.[1];
    if (path !== undefined) {
      const content = readSecret(path, resolve(dir, path), problems, warnings);
      pieces.push({ name: '', text: content });
      return content;
    }
    const [, name, fallback] = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(inside) ?? [];
    if (name === undefined || fallback?.includes('${')) {
      problems.push('${…} is written ${NAME}, ${NAME:-default} or ${file:PATH}, one not inside another');
      return '';
    }
    // An own property: `${constructor}` is not a variable.
    const set = Object.hasOwn(env, name) ? env[name] : undefined;
    if (set === undefined && fallback === undefined) {
      problems.push(`environment variable ${name} is not set; set it, or write \${${name}:-default}`);
      return '';
    }
    const value = fallback === undefined ? set! : set || fallback;
    pieces.push({ name, text: value });
    return value;
  });
  return { text: filled, pieces, problems, warnings };
}

/** The content of a file that contains one secret. */
function readSecret(written: string, path: string, problems: string[], warnings: string[]): string {
  try {
    const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    // Windows has no such permission bits.
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
      warnings.push(`the file ${written} can be read by others on this machine; chmod 600 it`);
    }
    return content;
  } catch (error) {
    problems.push(`the file ${written} ${unreadable(error)}; paths are relative to this configuration file`);
    return '';
  }
}

/** Why a file could not be read, for the user. */
export function unreadable(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read by this user';
  if (code === 'EISDIR') return 'is a directory';
  return `cannot be read (${code ?? 'unknown reason'})`;
}
