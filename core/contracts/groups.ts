/**
 * Groups of channels, each with a price factor. Provided by the plugin `groups` if gateway.yaml has the section; without it, every key reaches every
 * channel at the full price.
 */

import type { Decimal } from '../helpers/decimal.ts';
import { service } from './definitions.ts';
import type { Known } from './exchange.ts';
import type { Holder } from './identity.ts';

/** The group of accounts for which an administrator has set no other. */
export const DEFAULT_GROUP = 'default';

/** The names that groups can have: letters and digits of any language, `_`, `.` and `-`. */
export const GROUP_NAME = String.raw`^[\p{L}\p{M}\p{N}_.-]{1,64}$`;

/** What the calls of a caller reach, and what they pay. */
export interface Reach {
  /** The name of its entry; never one with `of`. */
  readonly group: string;
  /** The names of its channels; undefined: all. */
  readonly channels: ReadonlySet<string> | undefined;
  /** The part of the price that the caller's account pays; undefined: the price. */
  readonly factor: Decimal | undefined;
}

/** A group, as it is shown to those who choose one. */
export interface GroupChoice {
  readonly name: string;
  /** What accounts of the group that chooses pay, as a decimal number (`0.8`); undefined: as the group that serves the call (`of`). */
  readonly factor: string | undefined;
}

/** The groups of gateway.yaml. */
export interface Groups {
  /** The group of a caller: that of the key, otherwise that of its account. It may have no entry. */
  nameOf(holder: Pick<Holder, 'key' | 'account'>): string;
  /** All groups, in the order of gateway.yaml, with the factors for accounts of a group. */
  all(accountGroup?: string): readonly GroupChoice[];
  /** Those that users with an account of this group may choose for their keys. */
  choices(accountGroup?: string): readonly GroupChoice[];
  /** Whether a group reaches a channel of a public model name, aliases resolved. False if it has no entry. */
  serves(group: string, model: string): boolean;
  /**
   * What a caller reaches of a public model name, aliases resolved: of a group with `of`, the first that has one of its channels. Undefined: none of its
   * channels, or the group has no entry. Refuses (404) an unknown model.
   */
  reachOf(holder: Holder, model: string): Reach | undefined;
  /** The same for one channel, whatever it serves. */
  reachOfChannel(holder: Holder, channel: string): Reach | undefined;
  /**
   * The same for a call: its model or, of a passthrough request, its channel. Refuses (403) a group without an entry (`group_not_found`), and a
   * model or channel that the group does not reach (`model_not_allowed`).
   */
  reachFor(x: Known): Reach;
}
/** The service `Groups`. */
export const Groups = service<Groups>('groups');

/** Whether a channel is among those of a reach. */
export function isReached({ channels }: Pick<Reach, 'channels'>, channel: string): boolean {
  return channels === undefined || channels.has(channel);
}

/** The sources of a model that are at channels of a reach; the same list if all are. */
export function reached<S extends { readonly channel: { readonly name: string } }>(
  from: readonly S[],
  reach: Pick<Reach, 'channels'> | undefined,
): readonly S[] {
  if (reach?.channels === undefined) return from;
  const within = from.filter(({ channel }) => isReached(reach, channel.name));
  return within.length === from.length ? from : within;
}
