/**
 * The scope of a rule in gateway.yaml: keys, accounts and models, by name or pattern, whose `*` matches any characters. A scope is about what
 * a call really does: a model is known by each name that leads to it, and owners of keys and accounts cannot rename them into a scope or out
 * of it.
 */

import { Catalog, type Model } from '../contracts/catalog.ts';
import { Groups, reached } from '../contracts/groups.ts';
import type { Host } from '../contracts/host.ts';
import type { Account } from '../contracts/identity.ts';
import { Keys } from '../contracts/keys.ts';
import { slot } from '../contracts/slot.ts';
import type { Known } from '../plugin.ts';

/** A missing list matches all. */
export interface Scope {
  /** Names or ids of keys. */
  readonly keys?: readonly string[];
  /** Names or ids of accounts. */
  readonly accounts?: readonly string[];
  /** Names of models. */
  readonly models?: readonly string[];
}

const patterns = {
  type: 'array',
  minItems: 1,
  // A second `*` would match nothing.
  items: { type: 'string', minLength: 1, pattern: String.raw`^[^*]*\*?[^*]*$` },
} as const;

/** The schema members for a scope. */
export const scopeProperties = {
  keys: {
    ...patterns,
    description:
      'Only for these keys, by id or by the name that they were created with; `*` matches any characters. Digits alone are an id.',
  },
  accounts: {
    ...patterns,
    description:
      'Only for these accounts, by id or by name; `*` matches any characters. Digits alone are an id. A user who changes their own name stays in the scope.',
  },
  models: {
    ...patterns,
    description:
      "Only for these models; `*` matches any characters. A call is in the scope if its model, what an alias stands for, a fallback or a vendor's name for one of them matches.",
  },
} as const;

/** The services that tell what a call may reach: a plugin that has scopes names them in `wants`. */
export const scopeServices = [Catalog, Groups, Keys] as const;

/**
 * Whether a rule with this scope applies to a call. Before the first upstream attempt, every model that may serve the call counts; afterwards
 * those that were tried. `host`: of a plugin that wants `scopeServices`; without it, only the model name that the client sent is compared.
 */
export function isInScope({ keys, accounts, models }: Scope, x: Known, host?: Pick<Host, 'find'>): boolean {
  const { key, account } = x.identity;
  return (
    isListedWithId(keys, key) &&
    isListedWithId(accounts, account) &&
    (models === undefined || modelNames(x, host).some((name) => isListed(models, name)))
  );
}

/** Whether a list has an account or a key, by id or by the name that its owner cannot change. */
export function isListedWithId(
  list: readonly string[] | undefined,
  { id, name, scopeName = name }: Pick<Account, 'id' | 'name' | 'scopeName'>,
): boolean {
  // Digits are an id, so that no name is taken for one.
  return list === undefined || list.some((entry) => (ID.test(entry) ? entry === `${id}` : isMatch(entry, scopeName)));
}

const ID = /^\d+$/;

/** Whether a name is in a list, or matches a pattern in it. */
export function isListed(list: readonly string[], name: string): boolean {
  return list.some((entry) => isMatch(entry, name));
}

function isMatch(pattern: string, name: string): boolean {
  return pattern === name || starIn(pattern, name) !== undefined;
}

/** The names of the models of a call, and after how many attempts they were computed. */
const namesOfCall = slot<{ readonly attempts: number; readonly names: readonly string[] }>('scope.models');

function modelNames(x: Known, host: Pick<Host, 'find'> | undefined): readonly string[] {
  const { attempts, call } = x;
  const catalog = host?.find(Catalog);
  if (catalog?.serves(call.model) !== true) return [call.model];
  const known = namesOfCall.get(x);
  if (known?.attempts === attempts.length) return known.names;
  const names =
    attempts.length === 0
      ? [...catalog.path(call.model), ...reachable(x, catalog, host!).flatMap(namesOf)]
      : [...catalog.path(call.model), ...attempts.flatMap(({ offer }) => [offer.priced, offer.model])];
  namesOfCall.set(x, { attempts: attempts.length, names });
  return names;
}

/** The model, and those of its fallbacks that the caller's key may call, at the channels that its group reaches. */
function reachable(
  { call, style, identity }: Known,
  catalog: Catalog,
  host: Pick<Host, 'find'>,
): readonly Pick<Model, 'name' | 'from'>[] {
  const keys = host.find(Keys);
  const reach = host.find(Groups)?.reachOf(identity, call.model);
  const chain = catalog.chain(call.model, style?.name).map(({ name, from }) => ({ name, from: reached(from, reach) }));
  // Of a model that does not support the style, its vendor is asked nothing.
  return chain.filter(
    ({ name, from }, i) => i === 0 || (from.length > 0 && keys?.allows(identity.key, name) !== false),
  );
}

function namesOf({ name, from }: Pick<Model, 'name' | 'from'>): readonly string[] {
  return [name, ...from.map(({ model }) => model)];
}

/**
 * Warns where calls can leave a scope at this path of gateway.yaml. Called in `link`. `protects`: calls outside the
 * scope are less protected, so that users have a reason to leave it.
 */
export function warnOfScope(
  host: Pick<Host, 'find' | 'warn'>,
  path: readonly (string | number)[],
  { keys, models }: Scope,
  protects: boolean,
): void {
  if (protects && keys !== undefined) {
    host.warn(
      [...path, 'keys'],
      'users can leave this scope by creating another key; `accounts` has all keys of an account',
    );
  }
  const catalog = host.find(Catalog);
  if (catalog === undefined || models === undefined) return;
  for (const [i, entry] of models.entries()) {
    const about = leaves(catalog, models, entry);
    if (about !== undefined) host.warn([...path, 'models', i], about);
  }
}

/** How calls to the model of an entry can leave the scope. */
function leaves(catalog: Catalog, models: readonly string[], entry: string): string | undefined {
  if (entry.includes('*')) return undefined;
  if (catalog.serves(entry)) {
    const { name } = catalog.require(entry);
    if (name !== entry && !isListed(models, name)) {
      return `${entry} is another name for ${name}: calls to ${name} itself are not in this scope. Add ${name}`;
    }
  }
  const pattern = catalog.patterns().find(({ name }) => isMatch(name, entry));
  if (pattern === undefined || isListed(models, pattern.name)) return undefined;
  return (
    `clients can call other names that match ${pattern.name}, such as a dated version of the same model: those calls ` +
    `are not in this scope. A pattern such as ${entry}* has them`
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
