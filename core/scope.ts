/** Which calls a rule of gateway.yaml is about: by key, account and model, with `*` for any characters. */
import type { Known } from './plugin.ts';
import { starIn } from './star.ts';

/** A list that is missing is about all. */
export interface Scope {
  /** Names or ids of keys. */
  readonly keys?: readonly string[];
  /** Names or ids of accounts. */
  readonly accounts?: readonly string[];
  /** Public names of models, as clients send them. */
  readonly models?: readonly string[];
}

const patterns = { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } };

/** The members of a section's schema that say it. */
export const scopeProperties = {
  keys: { ...patterns, description: 'Only for these keys, by name or id; `*` stands for any characters.' },
  accounts: { ...patterns, description: 'Only for these accounts, by name or id; `*` stands for any characters.' },
  models: {
    ...patterns,
    description: 'Only for these models, by the name that clients send; `*` stands for any characters.',
  },
};

/** Whether a rule with this scope is about a call. */
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
