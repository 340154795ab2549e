/** Notices: people who set a threshold are told when their quota falls below it. At most once for each fall, by mail or webhook. */
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
/** Looked at together; a webhook may take seconds. */
const AT_ONCE = 20;
/** Accounts remembered that want no notice, and for how long: most want none, and are not to be read anew after every few calls. */
const MOST_WISHLESS = 10_000;
const WISHLESS_MS = 60_000;

/** Tells the process that leads whose calls were settled in another. */
const MOVED = 'notices.moved';

/** Whose calls were settled. A crash forgets them: the next call of each reminds us. */
interface Moved {
  readonly accounts: Set<number>;
  /** Of the turn before: whatever their calls came to has been written meanwhile. */
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

    /** When it was seen that they want none. Of most changes we hear; of one whose message is lost, or that comes as we read, we know by then. */
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
      // Written before it is sent: a crash in between means that nobody is told, not that somebody is told twice.
      if (balance === undefined || !(await falls.take(accountId, balance, wish.below))) return;
      await notices.send(person, wish, remainingOf(balance));
    }

    async function lookAt(some: readonly number[]): Promise<void> {
      const looks = await Promise.allSettled(some.map(look));
      for (const [i, outcome] of looks.entries()) {
        if (outcome.status === 'fulfilled') continue;
        host.log.warn('it could not be seen whether a balance is low', { account: some[i], error: outcome.reason });
      }
    }

    const chore = createChore(host, {
      everyMs: EVERY_MS,
      everywhere: true,
      async work(goesOn) {
        const { accounts: latest, ripe } = moved;
        if (!peers.leads()) {
          // Whoever leads looks, and sends.
          if (latest.size > 0) (peers.owner ?? peers).tell(MOVED, [...latest]);
          latest.clear();
          return;
        }
        while (ripe.size > 0 && goesOn()) {
          const some = [...ripe].slice(0, AT_ONCE);
          for (const id of some) ripe.delete(id);
          await lookAt(some);
        }
        for (const id of latest) ripe.add(id);
        latest.clear();
      },
      failure: 'it could not be seen whose balance is low',
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
