/** Usage records and what else an account's log tells: written with what they are about, read in pages and in sums. Provided by `log`. */

import { service } from '../definitions.ts';
import type { Outcome, Usage } from './call.ts';
import type { Json } from './json.ts';
import type { Step } from './store.ts';

/** One exchange as it stands in the books. */
export interface UsageRecord {
  /** The exchange's id; the `x-request-id` the client saw. */
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
  /** Micro-quota taken. */
  readonly charged: bigint;
  /** A subscription included it: the account's balance paid nothing. */
  readonly included?: true;
  readonly durationMs: number;
  readonly firstByteMs: number | undefined;
  readonly ip: string;
  /** Attempts, notes, the client's own request id. */
  readonly other: { readonly [member: string]: Json };
  /** How many more of the same key and minute it stands for, which ended in the same way before a vendor was asked; absent: none. */
  readonly repeats?: number;
  /** The route that was asked for (`GET /v1/responses/:id`), where this is no call. */
  readonly route?: string;
}

/** Something that happened to an account beside its calls, as its own log tells it. */
export interface AccountEvent {
  readonly accountId: number;
  readonly kind: 'top-up' | 'manage' | 'system' | 'refund' | 'login';
  /** Micro-quota that it moved; 0n: none. */
  readonly amount: bigint;
  /** A sentence for the person. */
  readonly text: string;
  /** Empty where that says nothing. */
  readonly ip: string;
}

/**
 * What a line of the log is about. `error`: a call that was refused or failed, and cost nothing; `use`: every other call; `request`: what
 * a key asks for that is no call.
 */
export type LogKind = 'use' | 'error' | 'request' | AccountEvent['kind'];

/** A line of the log. */
export interface LogEntry {
  /** 26 characters, in the order of time; of a call the exchange's id. */
  readonly id: string;
  readonly atMs: number;
  readonly accountId: number;
  readonly kind: LogKind;
  /** Micro-quota: what a call was charged, what an event moved. */
  readonly amount: bigint;
  readonly ip: string;
  /** What an event says; empty for a call. */
  readonly text: string;
  /** Of a `request` its record; undefined for an event. */
  readonly call: UsageRecord | undefined;
}

/** Which calls to add up. What is absent is not looked at; names are exact, no character in them means anything else. */
export interface UsageFilter {
  /** Of these accounts and no other; absent: of everybody. */
  readonly accounts?: readonly number[];
  /** From this moment on, unix milliseconds. */
  readonly fromMs?: number;
  /** Before this moment. */
  readonly untilMs?: number;
  readonly keys?: readonly number[];
  readonly model?: string;
  readonly channel?: string;
  /** Of people who were in one of these departments then. */
  readonly departments?: readonly number[];
}

/** Which lines of the log to read. Events have neither key nor model nor channel: a filter by one of them leaves them out. */
export interface LogFilter extends Omit<UsageFilter, 'departments'> {
  readonly kind?: LogKind;
  /** Calls that ended in one of these ways, and nothing else. */
  readonly outcomes?: readonly UsageRecord['outcome'][];
  /** The one with this id. */
  readonly id?: string;
}

/** A piece of the log. */
export interface LogPage {
  /**
   * How many lines there are; one may stand for several calls. Of accounts that the filter names it is exact; of everybody, counting ends at 10,000, or at the end of
   * this page where that is further. With `before`: from there on.
   */
  readonly total: number;
  /** Newest first. */
  readonly items: readonly LogEntry[];
  /** The `before` of the next piece; undefined where this is the last. */
  readonly next: string | undefined;
}

/** What usage can be told apart by. Days are UTC. */
export type UsageDimension = 'hour' | 'day' | 'account' | 'key' | 'model' | 'channel' | 'department';

/** Calls added up. What they were not told apart by is 0 or empty. */
export interface UsageSum {
  /** When the hour or the day begins, unix milliseconds. */
  readonly timeMs: number;
  readonly accountId: number;
  readonly keyId: number;
  readonly model: string;
  readonly channel: string;
  /** 0: none. */
  readonly departmentId: number;
  /** Of the kind `use`. */
  readonly calls: number;
  /** Of the kind `error`. */
  readonly errors: number;
  /** Micro-quota. */
  readonly charged: bigint;
  /** That of it which subscriptions included; it is known of calls since this is counted. */
  readonly included: bigint;
  /** Tokens. */
  readonly input: number;
  readonly output: number;
}

/** How one call ended, and how long it took. */
export interface CallTiming extends Pick<UsageRecord, 'atMs' | 'outcome' | 'durationMs' | 'firstByteMs'> {
  readonly kind: 'use' | 'error';
  /** How many calls it was. */
  readonly times: number;
}

/** Writes and reads the log. */
export interface Records {
  /**
   * The steps that write one record, for a list that must write it together with something else. Where it is written already, the list
   * fails and leaves no trace.
   */
  steps(record: UsageRecord): readonly Step[];
  /** The same for what is no call. */
  eventSteps(event: AccountEvent): readonly Step[];
  /** A piece of the log: by `offset` (from 0), or behind the line `before`, which costs the same however far down it is. */
  page(
    filter: LogFilter,
    of: { readonly limit: number; readonly offset?: number; readonly before?: string | undefined },
  ): Promise<LogPage>;
  /**
   * Calls added up, in no order. It knows of calls whose records are long deleted. Moments are exact as long as records are there;
   * else their whole hour or (UTC) day is taken.
   */
  sums(filter: UsageFilter, by: readonly UsageDimension[]): Promise<readonly UsageSum[]>;
  /**
   * The newest calls, at most so many, newest first. Where the filter takes only some calls of an hour, of the newest 48 hours that have
   * such: what it takes does not grow with the log.
   */
  timings(filter: LogFilter, most: number): Promise<readonly CallTiming[]>;
  /** Calls that began within the last 60 seconds and have ended, and their tokens. */
  rate(filter: UsageFilter): Promise<{ readonly calls: number; readonly tokens: number }>;
}
/** The service of that name. */
export const Records = service<Records>('records');
