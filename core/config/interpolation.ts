/** Fills `${…}` in: from the environment, with a default, from a file, or from the secrets in the database. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are what this file is about
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Env, unreadable } from './environment.ts';

/** What `${…}` is filled in from. */
export interface Sources {
  readonly env: Env;
  /** The secrets of the database by name; undefined: it is not open, and each is replaced by a stand-in. */
  readonly secrets?: ReadonlyMap<string, string> | undefined;
}

/** A text with its `${…}` filled in. */
export interface Filled {
  readonly text: string;
  /** Each `${…}` with its name and value. */
  readonly pieces: readonly {
    /** `variable` has the name of an environment variable, `secret` that of a secret, `file` the path as written. */
    readonly kind: 'variable' | 'file' | 'secret';
    readonly name: string;
    readonly text: string;
  }[];
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** The files that were read, with their contents; undefined: unreadable. */
  readonly files: readonly (readonly [path: string, content: string | undefined])[];
}

/**
 * Fills in one string: `${NAME}`, `${NAME:-default}` (for a variable that is unset or empty), `${file:PATH}` (relative
 * to `dir`, one trailing newline removed) and `${secret:NAME}`. `$${` becomes `${`. Filled-in values are not expanded
 * again. The value of a variable that is unset or empty is in the file that `NAME_FILE` names, if that is set.
 */
export function fill(text: string, dir: string, { env, secrets }: Sources): Filled {
  const pieces: Filled['pieces'][number][] = [];
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
      pieces.push({ kind: 'file', name: path, text: content });
      return content;
    }
    const sealed = /^secret:(.*)$/s.exec(inside)?.[1];
    if (sealed !== undefined) {
      const value = secretNamed(sealed, secrets, problems);
      pieces.push({ kind: 'secret', name: sealed, text: value });
      return value;
    }
    const [, name, fallback] = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(inside) ?? [];
    if (name === undefined || fallback?.includes('${')) {
      problems.push(
        '${…} is written ${NAME}, ${NAME:-default}, ${file:PATH} or ${secret:NAME}, one not inside another',
      );
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
    pieces.push({ kind: 'variable', name, text: value });
    return value;
  });
  return { text: filled, pieces, problems, warnings, files };
}

/** The names of secrets: at most 64 letters, digits, `_` and `-`, the first a letter or `_`. */
export const SECRET_NAME = /^[A-Za-z_][\w-]{0,63}$/;

/** The value of a secret of the database; a stand-in if that is not open. */
function secretNamed(name: string, secrets: Sources['secrets'], problems: string[]): string {
  if (!SECRET_NAME.test(name)) {
    problems.push(`the name of a secret has only letters, digits, "_" and "-", and begins with a letter`);
    return '';
  }
  if (secrets === undefined) return `stand-in-for-${name}`;
  const value = secrets.get(name);
  if (value === undefined) {
    problems.push(
      `the secret ${name} is not set: set it in the console, or run \`turnpike config secret set ${name} --value-stdin\``,
    );
  }
  return value ?? '';
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
