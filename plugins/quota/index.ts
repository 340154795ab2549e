/** The plugin `quota`: the ledger. Reserves what a call may cost before the request is sent, and charges what it used. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit } from '../../core/contracts/audit.ts';
import { Departments } from '../../core/contracts/departments.ts';
import { Ledger, MICRO } from '../../core/contracts/ledger.ts';
import { Prices } from '../../core/contracts/prices.ts';
import { Records } from '../../core/contracts/records.ts';
import { Subscriptions } from '../../core/contracts/subscriptions.ts';
import { definePlugin } from '../../core/plugin.ts';
import { createCalls } from './calls.ts';
import { userCredit } from './commands.ts';
import { errors } from './errors.ts';
import { createExplain } from './explain.ts';
import { invariants } from './invariants.ts';
import { createLeases } from './leases.ts';
import { createLedger } from './ledger.ts';
import { readPlans } from './plans.ts';
import { recover } from './recovery.ts';
import { quotaSection } from './sections.ts';
import { createSubscriptionMemory, plansInUse } from './subscription-memory.ts';
import { createSubscriptions } from './subscriptions.ts';
import { migrations } from './tables.ts';
import { createTerms } from './terms.ts';
import { createUnsettled } from './unsettled.ts';

/** How often it is recorded what running calls have delivered. */
const CHECKPOINT_MS = 1_000;
/** How often calls that could not be settled are closed, and idle leases returned. */
const SWEEP_MS = 10_000;
/** How often ended processes are looked for, in addition to what `host.peers` reports at once. */
const RECOVER_MS = 5_000;
/** How often subscriptions are read that another gateway has changed; they apply to calls within five seconds. */
const REFRESH_MS = 4_000;

export default definePlugin({
  name: 'quota',
  api: 2,
  errors,
  sections: { quota: quotaSection },
  migrations,
  needs: [Prices],
  wants: [Records, Accounts, Departments, Audit],
  provides: [Ledger, Subscriptions],
  create(host, { quota }) {
    const { store, clock, log, peers } = host;
    const prices = host.use(Prices);
    const tariff = prices.tariff(quota);
    const plans = readPlans(quota.plans, quota.perUnit, (...at) => host.problem(...at));
    const memory = host.lasting({
      name: 'quota.subscriptions',
      version: 1,
      make: () => createSubscriptionMemory(host),
    });
    const termsOf = createTerms({ memory, plans, departments: () => host.find(Departments) });
    const leases = host.lasting({ name: 'quota.leases', version: 1, make: () => createLeases(host) });
    const unsettled = createUnsettled(host);
    const calls = createCalls(host, { tariff, termsOf, options: quota, leases, unsettled }, () => ledger);
    const ledger = createLedger({
      store,
      clock,
      perUnit: quota.perUnit,
      welcome: BigInt(quota.welcome) * MICRO,
      leases,
      charged: calls.charged,
      isIncluded: calls.isIncluded,
      receipt: prices.receipt,
    });
    host.provide(Ledger, ledger);
    host.provide(Subscriptions, createSubscriptions({ store, clock, ledger, plans, memory }));

    const timers: (() => void)[] = [];
    // A slow store gets one list of each kind at a time.
    const checkpoints = oneAtATime(calls.checkpoint, (error) => log.warn('checkpoints were not written', { error }));
    const sweeps = oneAtATime(
      async () => {
        const count = await unsettled.close(host.find(Records));
        if (count > 0) log.warn('closed calls that could not be settled', { calls: count });
        await leases.returnIdle();
      },
      (error) => log.warn('calls could not be closed, or leases not returned', { error }),
    );
    const recoveries = oneAtATime(recoverAll, (error) =>
      log.error('calls and leases of an ended process could not be closed', { error }),
    );
    const refreshes = oneAtATime(memory.refresh, (error) => log.warn('subscriptions were not read', { error }));

    let isStopping = false;

    /** Closes what ended processes have left open, if this one leads. The next run closes what is left when this one stops. */
    async function recoverAll(): Promise<void> {
      if (isStopping || !peers.leads()) return;
      const count = await recover(host, host.find(Records));
      if (count > 0) log.info('closed calls that an ended process had left open', { calls: count });
    }

    return {
      admit: calls.admit,
      pay: calls.pay,
      settle: calls.settle,
      essential: true,
      unsettled: calls.unsettled,
      explain: createExplain({ tariff, calls, ledger, termsOf }),
      commands: [userCredit(host, ledger)],
      invariants: invariants(),
      async start() {
        await leases.join();
        await recoverAll();
        memory.listen();
        await memory.refresh();
        const lost = (await plansInUse(store, clock.now())).filter((plan) => !plans.has(plan));
        if (lost.length > 0)
          log.warn('subscriptions have plans that are not in gateway.yaml: they limit nothing', { plans: lost });
        timers.push(
          clock.every(CHECKPOINT_MS, checkpoints.run),
          clock.every(SWEEP_MS, sweeps.run),
          clock.every(REFRESH_MS, refreshes.run),
          clock.every(RECOVER_MS, recoveries.run),
          peers.onLeft(() => void recoveries.done().then(recoveries.run)),
        );
      },
      async stop() {
        isStopping = true;
        for (const stop of timers.splice(0)) stop();
        await Promise.all([checkpoints.done(), sweeps.done(), refreshes.done(), recoveries.done()]);
        // The next run recovers what cannot be returned now.
        await leases.returnAll().catch((error) => log.warn('leases were not returned', { error }));
      },
    };
  },
});

/** Work that starts only if it is not running. */
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
