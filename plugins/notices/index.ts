/** Notifications: users who set a threshold are notified once when their balance falls below it, by email or webhook. */

import { createHmac } from 'node:crypto';
import { Accounts, type Person } from '../../core/contracts/accounts.ts';
import type { Account } from '../../core/contracts/identity.ts';
import { Ledger, MICRO } from '../../core/contracts/ledger.ts';
import { Mail, mailLanguage } from '../../core/contracts/mail.ts';
import { Site } from '../../core/contracts/site.ts';
import { definePlugin, type Host, type Migration } from '../../core/plugin.ts';
import { boundedMap, createChore } from '../../core/sdk.ts';
import { createLowBalance, remainingOf } from './low-balance.ts';

/**
 * A row per account that was ever notified. `told`: notified since the balance was above the threshold. `remaining` and `granted` are
 * micro-quota at the last check below the threshold: what was credited since then shows whether the balance was above in between.
 */
const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'notices of low balances',
    sql: [
      `CREATE TABLE notice (
        account_id INTEGER NOT NULL PRIMARY KEY,
        told INTEGER NOT NULL CHECK (told IN (0, 1)),
        remaining INTEGER NOT NULL,
        granted INTEGER NOT NULL,
        noticed_ms INTEGER NOT NULL
      ) STRICT`,
    ],
  },
];

const EVERY_MS = 3_000;
/** Accounts that are checked concurrently; a webhook may take seconds. */
const AT_ONCE = 20;
/** Cached accounts without notifications, and for how long: most have none, and should not be read again after every few calls. */
const MOST_WISHLESS = 10_000;
const WISHLESS_MS = 60_000;

/** Tells the leading process which accounts had calls settled in another process. */
const MOVED = 'notices.moved';

/** Accounts with settled calls. Lost in a crash: the next call of each adds it again. */
interface Moved {
  readonly accounts: Set<number>;
  /** Accounts of the previous run: their charges are written by now. */
  readonly ripe: Set<number>;
}

export default definePlugin({
  name: 'notices',
  api: 2,
  migrations,
  needs: [Ledger, Accounts],
  wants: [Mail, Site],
  create(host) {
    const ledger = host.use(Ledger);
    const accounts = host.use(Accounts);
    const falls = createLowBalance(host);
    const notices = createNotices(host);
    const { peers } = host;
    const moved = host.lasting<Moved>({
      name: 'notices.moved',
      version: 1,
      make: () => ({ accounts: new Set(), ripe: new Set() }),
    });

    /**
     * When an account was found to have no notifications. Most changes arrive as messages; a lost message, or one during the read, is
     * covered by the expiry.
     */
    const wishless = boundedMap<number, number>(MOST_WISHLESS);
    accounts.watch((accountId) => wishless.delete(accountId));

    async function look(accountId: number): Promise<void> {
      const now = host.clock.mono();
      if (now - (wishless.get(accountId) ?? Number.NEGATIVE_INFINITY) < WISHLESS_MS) return;
      const person = await accounts.person(accountId);
      const wish = person?.enabled === true ? wishOf(person) : undefined;
      if (person === undefined || wish === undefined) {
        wishless.set(accountId, now);
        return;
      }
      const balance = await ledger.balance({ kind: 'account', owner: accountId });
      // Recorded before it is sent: after a crash in between, the user is not notified, rather than twice.
      if (balance === undefined || !(await falls.take(accountId, balance, wish.below))) return;
      await notices.send(person, wish, remainingOf(balance));
    }

    async function lookAt(batch: readonly number[]): Promise<void> {
      const looks = await Promise.allSettled(batch.map(look));
      for (const [i, outcome] of looks.entries()) {
        if (outcome.status === 'fulfilled') continue;
        host.log.warn('could not check a balance', { account: batch[i], error: outcome.reason });
      }
    }

    const chore = createChore(host, {
      everyMs: EVERY_MS,
      everywhere: true,
      async work(goesOn) {
        const { accounts: latest, ripe } = moved;
        if (!peers.leads()) {
          // Only the leading process checks and sends.
          if (latest.size > 0) (peers.owner ?? peers).tell(MOVED, [...latest]);
          latest.clear();
          return;
        }
        while (ripe.size > 0 && goesOn()) {
          const batch = [...ripe].slice(0, AT_ONCE);
          for (const id of batch) ripe.delete(id);
          await lookAt(batch);
        }
        for (const id of latest) ripe.add(id);
        latest.clear();
      },
      failure: 'could not check low balances',
    });

    return {
      settle({ identity }) {
        if (identity !== undefined) moved.accounts.add(identity.account.id);
        return undefined;
      },
      start() {
        peers.on(MOVED, (ids) => {
          if (peers.leads()) for (const id of ids as readonly number[]) moved.accounts.add(id);
          return undefined;
        });
        chore.start();
      },
      stop: chore.stop,
    };
  },
});

/** The texts of a notification. Amounts are quota units. */
const WORDS = {
  en: {
    title: (site: string) => `${site}: your quota is running low`,
    content: (account: string, left: bigint, threshold: bigint) =>
      `Your account ${account} has ${left} quota left, which is below the ${threshold} that you set.`,
    topUp: 'Top up: ',
    once: 'You get this notification once, until the balance has been above it again.',
  },
  zh: {
    title: (site: string) => `${site}：你的额度即将用完`,
    content: (account: string, left: bigint, threshold: bigint) =>
      `你的账户 ${account} 剩余额度 ${left}，低于你设置的 ${threshold}。`,
    topUp: '充值：',
    once: '在余额重新高于该值之前，此通知只发送一次。',
  },
};

/** Sends notifications. */
function createNotices(host: Host) {
  const { log, clock, vault } = host;

  async function post(account: Account, url: string, sealed: string | undefined, payload: object): Promise<void> {
    const body = JSON.stringify(payload);
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (sealed !== undefined) {
      const secret = vault.open(`account.webhook_secret ${account.id}`, sealed);
      headers['x-webhook-signature'] = createHmac('sha256', secret).update(body).digest('hex');
    }
    const status = await host.post(url, body, headers);
    if (status < 200 || status > 299) throw new Error(`the server responded with status ${status}`);
  }

  return {
    /** Resolves after one attempt; failures are logged and not repeated. `remaining`: micro-quota. */
    async send(account: Person, { way, below }: Wish, remaining: bigint): Promise<void> {
      const site = host.find(Site);
      const name = site?.name ?? 'Turnpike';
      const link = site === undefined ? '' : `${site.root}/console/topup`;
      const [left, threshold] = [remaining / MICRO, below / MICRO];
      const words = WORDS[mailLanguage(account.settings)];
      const title = words.title(name);
      const content = words.content(account.name, left, threshold);
      try {
        if (way.kind === 'webhook') {
          const timestamp = Math.floor(clock.now() / 1_000);
          const values = [`${left}`, `${threshold}`, link];
          await post(account, way.url, way.secret, { type: 'quota_exceed', title, content, values, timestamp });
          return;
        }
        const text = `${content}\n\n${link === '' ? '' : `${words.topUp}${link}\n\n`}${words.once}\n`;
        const sending = host.find(Mail)?.send({ to: way.to, subject: title, text });
        // May take long, and logs its own failures.
        sending?.catch(() => {});
      } catch (error) {
        log.warn('could not deliver a low balance notification', { account: account.id, error });
      }
    },
  };
}

/** The delivery of notifications. */
type Delivery =
  | { readonly kind: 'email'; readonly to: string }
  /** `secret`: encrypted; undefined: notifications are not signed. */
  | { readonly kind: 'webhook'; readonly url: string; readonly secret: string | undefined };

/** The threshold and the delivery. */
interface Wish {
  /** Micro-quota. */
  readonly below: bigint;
  readonly way: Delivery;
}

/** Undefined if the user disabled notifications, or has no address for them. */
function wishOf({ settings, email }: Person): Wish | undefined {
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
