/** The log of accounts: usage records and events, written with what they record. Provided by the plugin `log`. */

import { service } from './definitions.ts';
import type { Outcome } from './formats/call.ts';
import type { Json } from './formats/json.ts';
import type { Usage } from './formats/usage.ts';
import type { Step } from './store.ts';

/** One recorded request. */
export interface UsageRecord {
  /** The request id; the client's `x-request-id`. */
  readonly id: string;
  readonly atMs: number;
  readonly accountId: number;
  readonly keyId: number;
  readonly style: string;
  readonly model: string;
  readonly channel: string;
  readonly stream: boolean;
  readonly outcome: Outcome | 'recovered';
  readonly status: number;
  readonly usage: Usage | undefined;
  /** Micro-quota charged. */
  readonly charged: bigint;
  /** A subscription included it: the account's balance was not charged. */
  readonly included?: true;
  readonly durationMs: number;
  readonly firstByteMs: number | undefined;
  readonly ip: string;
  /** Attempts, notes, the client's own request id. */
  readonly other: { readonly [member: string]: Json };
  /** Further refusals of this key and minute, before any vendor was called, that it stands for; absent: none. */
  readonly repeats?: number;
  /** The requested route (`GET /v1/responses/:id`), if this is not a call. */
  readonly route?: string;
}

/** An event in an account's log that is not a call. */
export interface AccountEvent {
  readonly accountId: number;
  readonly kind: 'top-up' | 'manage' | 'system' | 'refund' | 'login';
  /** The amount in micro-quota; 0n: none. */
  readonly amount: bigint;
  /** A sentence for the user. */
  readonly text: string;
  /** May be empty. */
  readonly ip: string;
}

/** `error`: a refused or failed call without charge; `use`: any other call; `request`: another request with a key. */
export type LogKind = 'use' | 'error' | 'request' | AccountEvent['kind'];

/** A line of the log. */
export interface LogEntry {
  /** 26 characters, ordered by time; for a call the request id. */
  readonly id: string;
  readonly atMs: number;
  readonly accountId: number;
  readonly kind: LogKind;
  /** Micro-quota: the charge of a call, the amount of an event. */
  readonly amount: bigint;
  readonly ip: string;
  /** The text of an event; empty for a call. */
  readonly text: string;
  /** The record of a `request`; undefined for an event. */
  readonly call: UsageRecord | undefined;
}

/** Which calls to sum. Absent fields match all; names must match exactly. */
export interface UsageFilter {
  /** Only these accounts; absent: all. */
  readonly accounts?: readonly number[];
  /** From this time on, unix milliseconds. */
  readonly fromMs?: number;
  /** Before this time. */
  readonly untilMs?: number;
  readonly keys?: readonly number[];
  readonly model?: string;
  readonly channel?: string;
  /** The same for one of several names. */
  readonly models?: readonly string[];
  readonly channels?: readonly string[];
  /** Calls of accounts that were members of one of these departments at that time. */
  readonly departments?: readonly number[];
  /** Calls with this tag. Days are the finest period then. */
  readonly tag?: string;
  /** Calls with one of these tags, or with any other; a call counts for each. */
  readonly tags?: readonly string[];
  readonly otherTags?: readonly string[];
}

/** Which log lines to read. Events have no key, model or channel: a filter by one of them excludes events. */
export interface LogFilter extends Omit<UsageFilter, 'departments' | 'tag' | 'tags' | 'otherTags'> {
  readonly kind?: LogKind;
  /** Only calls with one of these outcomes. */
  readonly outcomes?: readonly UsageRecord['outcome'][];
  /** The one with this id. */
  readonly id?: string;
}

/** A page of the log. */
export interface LogPage {
  /**
   * Number of lines; one may stand for several calls. Exact if the filter names accounts; otherwise counting stops at
   * 10,000, or at the end of this page if that is later. With `before`: from there on.
   */
  readonly total: number;
  /** Newest first. */
  readonly items: readonly LogEntry[];
  /** The `before` of the next page; undefined on the last. */
  readonly next: string | undefined;
}

/** Dimensions to group usage by. Days are UTC. By `tag`, days are the finest period, and a call counts for each of its tags. */
export type UsageDimension = 'hour' | 'day' | 'account' | 'key' | 'model' | 'channel' | 'department' | 'tag';

/** A sum of calls. Dimensions that were not grouped by are 0 or empty. */
export interface UsageSum {
  /** Start of the hour or day, unix milliseconds. */
  readonly timeMs: number;
  readonly accountId: number;
  readonly keyId: number;
  readonly model: string;
  readonly channel: string;
  /** 0: none. */
  readonly departmentId: number;
  readonly tag: string;
  /** Of the kind `use`. */
  readonly calls: number;
  /** Of the kind `error`. */
  readonly errors: number;
  /** Micro-quota. */
  readonly charged: bigint;
  /** The part of it that subscriptions included; recorded since the version that added this counter. */
  readonly included: bigint;
  /** Tokens. */
  readonly input: number;
  readonly output: number;
}

/** Calls of one account, key and model that another gateway has served on one day. */
export interface ImportedUsage {
  readonly accountId: number;
  /** 0: not known. */
  readonly keyId: number;
  readonly model: string;
  readonly calls: number;
  /** Tokens. */
  readonly input: number;
  readonly output: number;
  /** Micro-quota. */
  readonly charged: bigint;
}

/** The outcome and duration of one call. */
export interface CallTiming extends Pick<UsageRecord, 'atMs' | 'outcome' | 'durationMs' | 'firstByteMs'> {
  readonly kind: 'use' | 'error';
  /** Number of calls. */
  readonly times: number;
}

/** Writes and reads the log. */
export interface Records {
  /** The steps that write one record along with others; if it is already written, the whole list fails. */
  steps(record: UsageRecord): readonly Step[];
  /** The same for an event. */
  eventSteps(event: AccountEvent): readonly Step[];
  /**
   * The steps that set the sums of one day (UTC, unix milliseconds) that another gateway has recorded, in the place of those that were imported
   * from it before; undefined: they are the same. `from`: that gateway, or its family.
   */
  importedDaySteps(dayMs: number, from: string, usage: readonly ImportedUsage[]): Promise<readonly Step[] | undefined>;
  /** A page of the log: by `offset` (from 0), or after the line `before`, which costs the same at any position. */
  page(
    filter: LogFilter,
    of: { readonly limit: number; readonly offset?: number; readonly before?: string | undefined },
  ): Promise<LogPage>;
  /**
   * Sums of calls, unordered. Includes calls whose records were deleted. Times are exact as long as there are records;
   * otherwise whole hours or (UTC) days are counted. `most`: only so many groups, those with the highest cost, and of equal ones those with the
   * most calls. For a few accounts the store selects them, so that the rest of the groups is never loaded.
   */
  sums(filter: UsageFilter, by: readonly UsageDimension[], most?: number): Promise<readonly UsageSum[]>;
  /**
   * The newest calls up to a limit, newest first. If the filter matches only some calls of an hour, only the newest 48
   * hours with matches are read, so that the cost does not grow with the log.
   */
  timings(filter: LogFilter, most: number): Promise<readonly CallTiming[]>;
  /** The models or channels of served calls whose records are kept, in any order; to find them by a part of their name. */
  names(of: 'model' | 'channel'): Promise<readonly string[]>;
  /** Number and tokens of the calls that began within the last 60 seconds and have ended. */
  rate(filter: UsageFilter): Promise<{ readonly calls: number; readonly tokens: number }>;
}
/** The service `Records`. */
export const Records = service<Records>('records');
