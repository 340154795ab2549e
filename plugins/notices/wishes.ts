/** The notification settings of an account. */
import type { Person } from '../../core/contracts/accounts.ts';
import { MICRO } from '../../core/contracts/ledger.ts';

/** The delivery of notifications. */
export type Delivery =
  | { readonly kind: 'email'; readonly to: string }
  /** `secret`: encrypted; undefined: notifications are not signed. */
  | { readonly kind: 'webhook'; readonly url: string; readonly secret: string | undefined };

/** The threshold and the delivery. */
export interface Wish {
  /** Micro-quota. */
  readonly below: bigint;
  readonly way: Delivery;
}

/** Undefined if the user disabled notifications, or has no address for them. */
export function wishOf({ settings, email }: Person): Wish | undefined {
  const { quota_warning_threshold: threshold, notify_type: type = 'email' } = settings;
  if (typeof threshold !== 'number' || !(threshold > 0) || !Number.isFinite(threshold)) return undefined;
  const way = wayOf(type, settings, email);
  return way && { below: BigInt(Math.ceil(threshold)) * MICRO, way };
}

function wayOf(type: unknown, settings: Person['settings'], email: string | undefined): Delivery | undefined {
  const { webhook_url, webhook_secret, notification_email } = settings;
  switch (type) {
    case 'email': {
      const to = textOf(notification_email) ?? email;
      return to === undefined ? undefined : { kind: 'email', to };
    }
    case 'webhook': {
      const url = textOf(webhook_url);
      return url === undefined ? undefined : { kind: 'webhook', url, secret: textOf(webhook_secret) };
    }
    default:
      return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
