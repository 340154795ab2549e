/**
 * Which groups of channels a key uses, and what else it may use: never more than there. The rules were read on 2026-11-29 in `middleware/auth.go`,
 * `model/token.go`, `service/group.go` and `setting/user_usable_group.go` of new-api 0.6.3 to 0.10, and in `middleware/auth.go` and
 * `common/network/ip.go` of one-api 0.6.10.
 */
import { canonicalRange, type Decimal } from '../../../core/sdk.ts';
import type { Cells } from '../cells.ts';
import type { ForeignGroup } from '../inventory.ts';
import { expiryAt } from '../values.ts';

/** `auto` of new-api: the first of some groups that serves the model. */
export const AUTO = 'auto';
const ENABLED = 1;
const DISABLED = 2;
const EXPIRED = 3;
const EXHAUSTED = 4;

/** The groups of a program. */
export interface GroupRules {
  /** All groups that are in use there: they have a ratio, or a channel. */
  readonly known: ReadonlySet<string>;
  /** The names of the channels that are taken over, by the group that they serve. */
  readonly channels: ReadonlyMap<string, readonly string[]>;
  /** Price factors; a group without one costs the full price. */
  readonly factors: ReadonlyMap<string, Decimal>;
  /** Others for accounts of a group: by that group, then by the group that is used. */
  readonly ownFactors: ReadonlyMap<string, ReadonlyMap<string, Decimal>>;
  /** The groups that keys of a user of a group may use. */
  readonly usable: (userGroup: string) => ReadonlySet<string>;
  /** The groups that such a user can give to a key; default: the same. */
  readonly choosable?: (userGroup: string) => ReadonlySet<string>;
  /** The groups behind `auto`, in order; empty: there is no `auto`. */
  readonly auto: readonly string[];
  /** The groups that users are in. */
  readonly ofUsers: ReadonlySet<string>;
}

/** The groups as entries of the section `groups`, and where keys are. */
export interface Placement {
  groups(): readonly ForeignGroup[];
  /** The group of a key, or why no call of it is served there. `own`: the group that it has itself. */
  of(userGroup: string, own: string | undefined): { readonly group?: string } | { readonly refused: string };
  /** Adds a group that stands for others, in order. */
  anyOf(name: string, members: readonly string[]): void;
  /** The groups behind a name: those that it stands for, otherwise itself. */
  members(name: string): readonly string[];
}

/** Places keys; the entries are complete when all keys are placed. */
export function placement(rules: GroupRules): Placement {
  const { known, channels, factors, ownFactors, usable, choosable = usable, auto, ofUsers } = rules;
  const choosers = (name: string): readonly string[] =>
    [...ofUsers].filter((group) => choosable(group).has(name)).sort();
  /** Groups that stand for others; `auto` is another list for users who cannot use all of its groups. */
  const others = new Map<string, readonly string[]>();
  const autoOf = (userGroup: string): string | undefined => {
    const allowed = usable(userGroup);
    const all = auto.filter((name) => known.has(name));
    const members = all.filter((name) => allowed.has(name));
    if (members.length === 0) return undefined;
    const name = members.length === all.length ? AUTO : `${AUTO}-${userGroup}`;
    others.set(name, members);
    return name;
  };
  const entryOf = (name: string): ForeignGroup => {
    const own = [...ownFactors].flatMap(([userGroup, by]) => {
      const factor = by.get(name);
      return factor === undefined ? [] : [[userGroup, factor] as const];
    });
    return {
      name,
      // Without one that is taken over, it reaches nothing.
      channels: channels.get(name) ?? [],
      factor: factors.get(name),
      ...(own.length > 0 && { factors: new Map(own) }),
      for: choosers(name),
    };
  };
  return {
    groups() {
      // Without channels there is nothing to keep apart.
      if (channels.size === 0) return [];
      const stand = [...others].map(
        ([name, of]): ForeignGroup => ({ name, of, for: name === AUTO ? choosers(AUTO) : [] }),
      );
      return [...[...known].map(entryOf), ...stand];
    },
    of(userGroup, own) {
      if (own === undefined) {
        return known.has(userGroup)
          ? {}
          : { refused: `the group ${userGroup} of its user has neither a ratio nor a channel` };
      }
      if (own === AUTO && auto.length > 0) {
        const group = autoOf(userGroup);
        return group === undefined ? { refused: 'none of the groups of auto is open to its user' } : { group };
      }
      if (!usable(userGroup).has(own)) return { refused: `its user cannot use the group ${own}` };
      return factors.has(own) ? { group: own } : { refused: `the group ${own} has no ratio` };
    },
    anyOf: (name, members) => void others.set(name, members),
    members: (name) => others.get(name) ?? [name],
  };
}

/** Whether a key can be used, and until when. */
export interface KeyState {
  readonly enabled: boolean;
  readonly expiresMs?: number | undefined;
  /** Why it is disabled here although there it has the state of a working one, or another one than disabled. */
  readonly refused?: string;
}

/**
 * `status`, `expired_time` and `remain_quota` of `tokens`. The programs refuse every state but 1, whatever the other columns say, until an administrator
 * or user enables the key again.
 */
export function stateOf(cells: Cells): KeyState {
  const status = cells.number('status') ?? ENABLED;
  const seconds = cells.number('expired_time') ?? -1;
  const isOver = seconds !== -1 && seconds * 1_000 <= Date.now();
  const expiresMs = seconds > 0 ? expiryAt(seconds * 1_000) : undefined;
  const isUsedUp = !cells.truth('unlimited_quota') && (cells.whole('remain_quota') ?? 0n) <= 0n;
  const refuse = (refused: string): KeyState => ({ enabled: false, expiresMs, refused });
  if (status === DISABLED) return { enabled: false, expiresMs };
  // Such a time is before 1970, and no expiry here.
  if (seconds !== -1 && seconds <= 0) return refuse(`it expired (expired_time ${seconds})`);
  if (status === EXPIRED && !isOver)
    return refuse('its state is expired, and its expiry says otherwise: enable it to use it');
  if (status === EXHAUSTED && !isUsedUp)
    return refuse('its state is exhausted, and its remaining quota says otherwise: enable it to use it');
  if (![ENABLED, EXPIRED, EXHAUSTED].includes(status)) return refuse(`its state ${status} is not known`);
  return { enabled: true, expiresMs };
}

/** What a list of a key became: undefined if there is no limit, empty if nothing is left of it. */
export interface KeyList {
  readonly list: readonly string[] | undefined;
  /** Entries that match nothing there. */
  readonly ignored: readonly string[];
}

const UNLIMITED: KeyList = { list: undefined, ignored: [] };

/** Models: names as they are, also with spaces, which then match nothing. Only some names of new-api are patterns. */
export function modelList(
  names: readonly string[] | undefined,
  isPattern: (name: string) => boolean = () => false,
): KeyList {
  if (names === undefined) return UNLIMITED;
  const used = names.filter((name) => name !== '');
  const isName = (name: string): boolean => name === name.trim() && (!name.includes('*') || isPattern(name));
  return { list: [...new Set(used.filter(isName))], ignored: used.filter((name) => !isName(name)) };
}

/** Names with a `*` that new-api itself matches: `FormatMatchingModelName` in `setting/ratio_setting/model_ratio.go`. */
export const isGizmo = (name: string): boolean => /^gpt-4o?-gizmo-\*$/.test(name);

/** Which entries of a list of addresses a program understands. */
export type AddressRule = 'addresses' | 'networks' | 'both';

/** Addresses and networks; what is neither matches nothing there, so it is left out. A network that begins inside its own range is the whole range. */
export function addressList(entries: readonly string[], rule: AddressRule): KeyList {
  if (entries.length === 0) return UNLIMITED;
  const read = entries.map((entry) => rangeOf(entry, rule));
  return {
    list: [...new Set(read.filter((range) => range !== undefined))],
    ignored: entries.filter((_, i) => read[i] === undefined),
  };
}

function rangeOf(entry: string, rule: AddressRule): string | undefined {
  if (rule === (entry.includes('/') ? 'addresses' : 'networks')) return undefined;
  const range = canonicalRange(entry);
  return 'problem' in range ? range.within : entry;
}
