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
  /** The files that were read, with their contents; undefined: unreadable. */
  readonly files: readonly (readonly [path: string, content: string | undefined])[];
}

/**
 * Fills in one string: `${NAME}`, `${NAME:-default}` (for a variable that is unset or empty) and `${file:PATH}`
 * (relative to `dir`, one trailing newline removed). `$${` becomes `${`. Filled-in values are not expanded again. The value of a variable that is
 * unset or empty is in the file that `NAME_FILE` names, if that is set.
 */
export function fill(text: string, dir: string, env: Readonly<Record<string, string | undefined>>): Filled {
  const pieces: { name: string; text: string }[] = [];
  const problems: string[] = [];
  const warnings: string[] = [];
  const files: (readonly [path: string, content: string | undefined])[] = [];
  const secretIn = (written: string): string => {
    const path = resolve(dir, written);
    const { content, problem, warning } = readSecret(written, path);
    files.push([path, content]);
    if (problem !== undefined) problems.push(problem);
    if (warning !== undefined) warnings.push(warning);
    return (content ?? '').replace(/\r?\n$/, '');
  };

  const filled = text.replace(/\$\$\{|\$\{([^}]*)(\}?)/g, (_, inside: string | undefined, end: string) => {
    if (inside === undefined) return '${';
    if (end === '') {
      problems.push('${ has no closing }; write $${ for the characters themselves');
      return '';
    }
    const path = /^file:(.+)$/s.exec(inside)?.[1];
    if (path !== undefined) {
      const content = secretIn(path);
      pieces.push({ name: '', text: content });
      return content;
    }
    const [, name, fallback] = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(inside) ?? [];
    if (name === undefined || fallback?.includes('${')) {
      problems.push('${…} is written ${NAME}, ${NAME:-default} or ${file:PATH}, one not inside another');
      return '';
    }
    // An own property: `${constructor}` is not a variable.
    const own = Object.hasOwn(env, name) ? env[name] : undefined;
    const file = Object.hasOwn(env, `${name}_FILE`) ? env[`${name}_FILE`] : undefined;
    const set = own || !file ? own : secretIn(file);
    if (set === undefined && fallback === undefined) {
      problems.push(`environment variable ${name} is not set; set it, or write \${${name}:-default}`);
      return '';
    }
    const value = fallback === undefined ? set! : set || fallback;
    pieces.push({ name, text: value });
    return value;
  });
  return { text: filled, pieces, problems, warnings, files };
}

/** The content of a file that contains one secret; undefined if it cannot be read. */
function readSecret(
  written: string,
  path: string,
): { readonly content?: string; readonly problem?: string; readonly warning?: string } {
  try {
    const content = readFileSync(path, 'utf8');
    // Windows has no such permission bits.
    if (process.platform === 'win32' || (statSync(path).mode & 0o077) === 0) return { content };
    return { content, warning: `the file ${written} can be read by others on this machine; chmod 600 it` };
  } catch (error) {
    return { problem: `the file ${written} ${unreadable(error)}; paths are relative to this configuration file` };
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
