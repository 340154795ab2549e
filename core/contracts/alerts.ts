/** Alerts: budgets that are nearly used, vendors, prices, disk and backups. Provided by the plugin `alerts`. */
import { service } from './definitions.ts';

/** What an alert is about. */
export type AlertKind = 'budget' | 'vendor' | 'price' | 'disk' | 'backup';

/**
 * What an alert says, as data for readers in other languages; texts are `title` and `text`. Empty for alerts of older
 * releases.
 */
export interface AlertFacts {
  /**
   * `budget`: a level is reached. `credential`: a vendor refuses the key of a channel. `circuit`: a channel is failing.
   * `price`: it differs from the list price. `disk`: nearly full. `backup-failed`, `backup-overdue`.
   */
  readonly about?: 'budget' | 'credential' | 'circuit' | 'price' | 'disk' | 'backup-failed' | 'backup-overdue';
  /** Whose budget it is; `name` is the name of that. */
  readonly scope?: 'key' | 'plan' | 'department' | 'user' | 'gateway' | 'channel';
  /** Of what the budget is; of the channel; of the model. */
  readonly name?: string;
  /** The owner of the key, or the subscriber of the plan. */
  readonly user?: string;
  /** Of a budget; absent: it has none. */
  readonly period?: 'day' | 'week' | 'month';
  /** The model of a key's budget; absent: all. */
  readonly model?: string;
  /** Quota units as decimal numbers, and their share in percent. */
  readonly used?: string;
  readonly limit?: string;
  readonly percent?: number;
  /** HTTP status of the vendor. */
  readonly status?: number;
  /** The kind of the last failure. */
  readonly failure?: string;
  readonly minutes?: number;
  /** `input: 2.5, published 3; …`, and the list: `genai-prices 2026-11-01`. */
  readonly drift?: string;
  readonly list?: string;
  /** Bytes. */
  readonly free?: number;
  readonly disk?: number;
  /** Where backups are stored. */
  readonly to?: string;
  readonly reason?: string;
  /** When the last proven backup began, unix seconds; absent: there is none. */
  readonly proven_at?: number;
}

/** A condition that lasts. */
export interface OpenAlert {
  /** Identifies it: `budget key-day 7`, `vendor main`. */
  readonly subject: string;
  readonly kind: AlertKind;
  /** The highest percentage that a budget has reached; 100 for every other kind. */
  readonly level: number;
  readonly title: string;
  readonly text: string;
  readonly facts: AlertFacts;
  /** When it reached this level, unix milliseconds. */
  readonly sinceMs: number;
  /** When the period of a budget ends, unix milliseconds; undefined if it has none. */
  readonly resetsMs: number | undefined;
}

/** How an event was delivered to a target. */
export interface AlertDelivery {
  /** The name of the target; `owner` for the email to the owner of the key or account. */
  readonly target: string;
  /** `failed`: given up after several attempts. */
  readonly state: 'waiting' | 'sent' | 'failed';
  /** When it was sent or given up, unix milliseconds; undefined while it waits. */
  readonly endedMs: number | undefined;
}

/** Something that was told. */
export interface AlertEvent {
  readonly atMs: number;
  readonly kind: AlertKind;
  readonly subject: string;
  readonly level: number;
  /** True: the condition has ended. */
  readonly isOver: boolean;
  readonly title: string;
  readonly text: string;
  readonly facts: AlertFacts;
  readonly deliveries: readonly AlertDelivery[];
}

/** A configured target. Contains no URL, because those of chat services are secrets. */
export interface AlertTarget {
  readonly name: string;
  readonly type: 'mail' | 'webhook' | 'slack' | 'feishu' | 'dingtalk' | 'wecom';
  /** Events that wait for it. */
  readonly waiting: number;
  /** The last successful delivery, unix milliseconds; undefined: none that is still recorded. */
  readonly sentMs: number | undefined;
  /** Why the last attempt failed; undefined: it did not. */
  readonly problem: string | undefined;
}

/** The result of a test. */
export interface AlertTest {
  readonly target: string;
  /** Undefined: the target accepted the message. */
  readonly problem: string | undefined;
}

/** Finds conditions and tells them. */
export interface Alerts {
  /** Latest first. */
  open(): Promise<readonly OpenAlert[]>;
  /** The latest events first, at most `limit`. */
  history(limit: number): Promise<readonly AlertEvent[]>;
  targets(): Promise<readonly AlertTarget[]>;
  /** The quiet time as configured, `22:00-07:00 Europe/Berlin`, and whether it is now; undefined: none. */
  quiet(): { readonly time: string; readonly isNow: boolean } | undefined;
  /** Sends a test message to every target at once, also in a quiet time; each has ten seconds. */
  test(): Promise<readonly AlertTest[]>;
}
/** The service `Alerts`. */
export const Alerts = service<Alerts>('alerts');

/** The setting of an account that wants email about the budgets of its keys and its plan. */
export const BUDGET_EMAILS = 'budget_emails';
