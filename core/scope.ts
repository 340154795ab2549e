/** The scope of a rule in gateway.yaml: keys, accounts and models; and patterns, whose `*` matches any characters. */
import type { Known } from './plugin.ts';

/** A missing list matches all. */
export interface Scope {
  /** Names or ids of keys. */
  readonly keys?: readonly string[];
  /** Names or ids of accounts. */
  readonly accounts?: readonly string[];
  /** Public names of models, as clients send them. */
  readonly models?: readonly string[];
}

const patterns = { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } };

/** The schema members for a scope. */
export const scopeProperties = {
  keys: { ...patterns, description: 'Only for these keys, by name or id; `*` matches any characters.' },
  accounts: { ...patterns, description: 'Only for these accounts, by name or id; `*` matches any characters.' },
  models: {
    ...patterns,
    description: 'Only for these models, by the name that clients send; `*` matches any characters.',
  },
};

/** Whether a rule with this scope applies to a call. */
export function isInScope({ keys, accounts, models }: Scope, { identity: { key, account }, call }: Known): boolean {
  return (
    isListed(keys, key.name, String(key.id)) &&
    isListed(accounts, account.name, String(account.id)) &&
    isListed(models, call.model)
  );
}

function isListed(list: readonly string[] | undefined, ...names: readonly string[]): boolean {
  return (
    list === undefined ||
    list.some((pattern) => names.some((name) => pattern === name || starIn(pattern, name) !== undefined))
  );
}

/** The part of a name that the only `*` of a pattern matches; undefined if the name does not match. */
export function starIn(pattern: string, name: string): string | undefined {
  const at = pattern.indexOf('*');
  if (at === -1 || at !== pattern.lastIndexOf('*') || name.length < pattern.length - 1) return undefined;
  const [before, behind] = [pattern.slice(0, at), pattern.slice(at + 1)];
  if (!name.startsWith(before) || !name.endsWith(behind)) return undefined;
  return name.slice(before.length, name.length - behind.length);
}
