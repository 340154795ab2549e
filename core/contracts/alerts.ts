/** Alerts: budgets that are nearly used, vendors, prices, disk and backups. Provided by the plugin `alerts`. */
import { service } from '../definitions.ts';

/** What an alert is about. */
export type AlertKind = 'budget' | 'vendor' | 'price' | 'disk' | 'backup';

/** A condition that lasts. */
export interface OpenAlert {
  /** Identifies it: `budget key-day 7`, `vendor main`. */
  readonly subject: string;
  readonly kind: AlertKind;
  /** The highest percentage that a budget has reached; 100 for every other kind. */
  readonly level: number;
  readonly title: string;
  readonly text: string;
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
