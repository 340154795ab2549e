/** What an account wants to be told, and where: its settings, as tools write them. */
import type { Person } from '../../core/contracts/accounts.ts';
import { MICRO } from '../../core/contracts/ledger.ts';

/** How somebody is told. */
export type Way =
  | { readonly kind: 'email'; readonly to: string }
  /** `secret`: sealed; undefined: nothing is signed. */
  | { readonly kind: 'webhook'; readonly url: string; readonly secret: string | undefined };

/** From which amount on, and how. */
export interface Wish {
  /** Micro-quota. */
  readonly below: bigint;
  readonly way: Way;
}

/** Undefined where somebody does not want to be told, or nobody would know where. */
export function wishOf({ settings, email }: Person): Wish | undefined {
  const { quota_warning_threshold: threshold, notify_type: type = 'email' } = settings;
  if (typeof threshold !== 'number' || !(threshold > 0) || !Number.isFinite(threshold)) return undefined;
  const way = wayOf(type, settings, email);
  return way && { below: BigInt(Math.ceil(threshold)) * MICRO, way };
}

function wayOf(type: unknown, settings: Person['settings'], email: string | undefined): Way | undefined {
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
