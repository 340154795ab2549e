/** The plugin `quota`: the ledger. Holds what a call may cost before it goes out, charges what was used of it. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Catalog } from '../../core/contracts/catalog.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Records } from '../../core/contracts/records.ts';
import { definePlugin } from '../../core/plugin.ts';
import { createCalls } from './calls.ts';
import { userCredit } from './commands.ts';
import { invariants } from './invariants.ts';
import { createLedger } from './ledger.ts';
import { createPriceBook, pricesSchema } from './price-book.ts';
import { createSweep, recover } from './recovery.ts';
import { quotaSection } from './sections.ts';
import { migrations } from './tables.ts';
import { createTariff } from './tariff.ts';

/** How often running calls write down what they have delivered. */
const CHECKPOINT_MS = 1_000;
/** How often holds are looked for that nobody will close; longer than any settling takes. */
const SWEEP_MS = 60_000;

export default definePlugin({
  name: 'quota',
  api: 1,
  sections: { quota: quotaSection, prices: pricesSchema },
  migrations,
  needs: [Catalog],
  wants: [Records, Accounts],
  provides: [Ledger],
  create(host, { quota, prices }) {
    const { store, clock, log } = host;
    const book = createPriceBook({ prices, perUnit: BigInt(quota.perUnit), problem: (...at) => host.problem(...at) });
    const tariff = createTariff(host.use(Catalog), book, quota);
    const calls = createCalls(host, tariff);
    const ledger = createLedger(store, clock, calls.charged);
    host.provide(Ledger, ledger);

    let lines: readonly string[] = [];
    let recovered = false;
    const sweep = createSweep(host, calls.isRunning);
    const timers: (() => void)[] = [];
    // A slow store gets one list of each at a time; the next one says more.
    const checkpoints = oneAtATime(calls.checkpoint, (error) => log.warn('checkpoints were not written', { error }));
    const sweeps = oneAtATime(
      async () => {
        const holds = await sweep(host.find(Records));
        if (holds > 0) log.warn('closed holds that could not be settled', { holds });
      },
      (error) => log.warn('holds were not swept', { error }),
    );

    return {
      admit: calls.admit,
      settle: calls.settle,
      commands: [userCredit(ledger, () => host.find(Accounts))],
      invariants: invariants(host.boot, () => recovered),
      report: () => lines,
      // Reading every price now finds the mistakes in all of them before the start.
      link() {
        lines = tariff.lines(clock.now());
      },
      async start() {
        const count = await recover(host, host.find(Records));
        recovered = true;
        if (count > 0) log.info('closed what an earlier run had left open', { holds: count });
        timers.push(clock.every(CHECKPOINT_MS, checkpoints.run), clock.every(SWEEP_MS, sweeps.run));
      },
      async stop() {
        for (const stop of timers.splice(0)) stop();
        await Promise.all([checkpoints.done(), sweeps.done()]);
      },
    };
  },
});

/** Work that begins only when it is not under way. */
function oneAtATime(work: () => Promise<void>, failed: (error: unknown) => void) {
  let underWay: Promise<void> | undefined;
  return {
    run(): void {
      underWay ??= work()
        .catch(failed)
        .finally(() => {
          underWay = undefined;
        });
    },
    done: async () => underWay,
  };
}
