/** Notifications: users who set a threshold are notified once when their balance falls below it, by email or webhook. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Mail } from '../../core/contracts/mail.ts';
import { Site } from '../../core/contracts/site.ts';
import { definePlugin } from '../../core/plugin.ts';
import { boundedMap, createChore } from '../../core/sdk.ts';
import { createFalls, remainingOf } from './falls.ts';
import { createNotices } from './notices.ts';
import { migrations } from './tables.ts';
import { wishOf } from './wishes.ts';

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
    const falls = createFalls(host);
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
