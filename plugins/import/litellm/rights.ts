/**
 * Which models a key may call. LiteLLM asks several lists, and all must allow the model: that of the key, of its team, of its membership in the
 * team, of its project and, without a team, of its user. A list has names, patterns, names of access groups, and words. Facts: BerriAI/litellm
 * 1.110.2, litellm/proxy/auth/auth_checks.py (`can_key_call_model`, `can_team_access_model`, `_can_object_call_model`,
 * `model_matches_any_wildcard_pattern_in_list`). What is decided here is never more than what LiteLLM allows.
 */
import { starIn } from '../../../core/sdk.ts';

/** Words in lists that allow every model. */
const EVERY = ['all-proxy-models', '*'];
/** The models of the team. */
export const OF_TEAM = 'all-team-models';
/** No model: of a user, whatever else is in its list. */
export const NONE = 'no-default-models';
const WORDS = new Set([...EVERY, OF_TEAM, NONE]);

/** What must allow a model. */
export interface Check {
  /** Alternatives, of which one is enough. */
  readonly lists: readonly (readonly string[])[];
  /** Another name of the team is allowed without being in them. */
  readonly allowsTeamAliases?: true;
}

/** What a key's lists are about. */
export interface Naming {
  /** Public names of the key, patterns too: those of everybody, and those of its team. */
  readonly names: ReadonlySet<string>;
  /** The access groups of a public name. */
  accessGroups(name: string): ReadonlySet<string>;
  /** Names of access groups of deployments. */
  readonly allGroups: ReadonlySet<string>;
  /** Other names for everybody: the model behind each. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Other names for the key alone: checked is the model behind them. */
  readonly ownAliases: ReadonlyMap<string, string>;
  /** Other names for its team: nothing is checked but the team. */
  readonly teamAliases: ReadonlyMap<string, string>;
}

/** The models of a key. */
export interface AllowedModels {
  /** Exact names and patterns; undefined: all; empty: none. */
  readonly models: readonly string[] | undefined;
  /** Patterns that it has there, and that would allow more here. */
  readonly dropped: readonly string[];
}

/** Decides them. */
export function modelsOf(checks: readonly Check[], naming: Naming): AllowedModels {
  const closed = checks.filter(({ lists }) => !lists.some(isOpen));
  if (closed.length === 0) return { models: undefined, dropped: [] };
  const written = closed
    .flatMap(({ lists }) => lists.flat())
    .filter((name) => !WORDS.has(name) && !naming.allGroups.has(name));
  const served = [...naming.names, ...naming.aliases.keys()];
  const candidates = new Set([...served, ...naming.ownAliases.keys(), ...naming.teamAliases.keys(), ...written]);
  const allowed = [...candidates].filter((name) => closed.every((check) => allows(check, name, naming)));
  const refused = served.filter((name) => !allowed.includes(name));
  const dropped = allowed.filter((name) => name.includes('*') && refused.some((each) => isCovered([name], each)));
  return { models: allowed.filter((name) => !dropped.includes(name)), dropped };
}

/** Whether a list allows every model. */
function isOpen(list: readonly string[]): boolean {
  return list.length === 0 || list.some((name) => EVERY.includes(name));
}

function allows({ lists, allowsTeamAliases }: Check, name: string, naming: Naming): boolean {
  const own = naming.ownAliases.get(name);
  if (own !== undefined) return lists.some((list) => listAllows(list, own, naming));
  if (allowsTeamAliases && naming.teamAliases.has(name)) return true;
  const behind = naming.aliases.get(name);
  const names = behind === undefined ? [name] : [name, behind];
  return lists.some((list) => names.some((each) => listAllows(list, each, naming)));
}

/** Whether a list allows a name; a pattern, whether it allows all that it matches. */
function listAllows(list: readonly string[], name: string, naming: Naming): boolean {
  if (isOpen(list)) return true;
  const groups = naming.accessGroups(name);
  return list.some((each) => {
    if (groups.has(each)) return true;
    if (WORDS.has(each) || naming.allGroups.has(each)) return each === name;
    if (!each.includes('*')) return each === name;
    return isMatch(each, name) || isMatch(each, `${providerOf(name) ?? ''}/${name}`);
  });
}

/** Whether names or patterns allow a name, as lists of models do here; a pattern: all that it matches. */
export function isCovered(models: readonly string[], name: string): boolean {
  return models.some((each) => each === name || starIn(each, name) !== undefined);
}

/** Whether a pattern, in which every star matches any text, matches a name. */
function isMatch(pattern: string, name: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  if (others.length === 1) return starIn(pattern, name) !== undefined;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const [i, part] of others.entries()) {
    const found = i === others.length - 1 ? name.length - part.length : name.indexOf(part, at);
    if (found < at || !name.startsWith(part, found)) return false;
    at = found + part.length;
  }
  return true;
}

/**
 * Models without a provider in front, which LiteLLM knows the provider of: `openai/*` allows `gpt-4o-mini`. Only names that vendors gave; a
 * name that merely begins like one has no provider there.
 */
const KNOWN: readonly (readonly [RegExp, string])[] = [
  [/^gpt-3\.5-turbo(?:-16k|-instruct)?(?:-\d{4})?$/, 'openai'],
  [/^gpt-4(?:-turbo)?(?:-preview|-\d{4}(?:-\d\d-\d\d)?(?:-preview)?)?$/, 'openai'],
  [/^gpt-4o(?:-mini)?(?:-\d{4}-\d\d-\d\d)?$/, 'openai'],
  [/^gpt-4\.1(?:-mini|-nano)?(?:-\d{4}-\d\d-\d\d)?$/, 'openai'],
  [/^gpt-5(?:\.\d)?(?:-mini|-nano|-pro)?(?:-\d{4}-\d\d-\d\d)?$/, 'openai'],
  [/^o[134](?:-mini|-pro)?(?:-\d{4}-\d\d-\d\d)?$/, 'openai'],
  [/^text-embedding-(?:3-small|3-large|ada-002)$/, 'openai'],
  [/^claude-(?:opus|sonnet|haiku)-4(?:-\d)?(?:-\d{8})?$/, 'anthropic'],
  [/^claude-3(?:-[57])?-(?:opus|sonnet|haiku)-\d{8}$/, 'anthropic'],
];

function providerOf(name: string): string | undefined {
  return KNOWN.find(([pattern]) => pattern.test(name))?.[1];
}
