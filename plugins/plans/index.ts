/** The plugin `plans`: what accounts can subscribe to, and who has subscribed until when. The windows of a plan are limits in the ledger. */
import { Ledger } from '../../core/contracts/ledger.ts';
import { Subscriptions } from '../../core/contracts/subscriptions.ts';
import { definePlugin } from '../../core/plugin.ts';
import { createChore } from '../../core/sdk.ts';
import { createSubscriptionCache, plansInUse } from './cache.ts';
import { errors } from './errors.ts';
import { plansSection, readPlans } from './section.ts';
import { createSubscriptions } from './subscriptions.ts';
import { invariants, migrations } from './tables.ts';

/** How often changes of other gateways are read; they apply to calls within five seconds. */
const REFRESH_MS = 4_000;

export default definePlugin({
  name: 'plans',
  api: 2,
  errors,
  sections: { plans: plansSection },
  migrations,
  needs: [Ledger],
  provides: [Subscriptions],
  create(host, { plans: section }) {
    const { store, clock, log } = host;
    const ledger = host.use(Ledger);
    const plans = readPlans(section, ledger.perUnit, (...at) => host.problem(...at));
    const cache = host.lasting({
      name: 'plans.subscriptions',
      version: 1,
      make: () => createSubscriptionCache(host),
    });
    host.provide(Subscriptions, createSubscriptions({ store, clock, ledger, plans, cache }));
    const refreshing = createChore(host, {
      everyMs: REFRESH_MS,
      everywhere: true,
      work: cache.refresh,
      failure: 'subscriptions were not read',
    });
    return {
      invariants: invariants(ledger),
      async start() {
        cache.listen();
        await cache.refresh();
        const removed = (await plansInUse(store, clock.now())).filter((plan) => !plans.has(plan));
        if (removed.length > 0)
          log.warn('subscriptions have plans that are not in gateway.yaml: they limit nothing', { plans: removed });
        refreshing.start();
      },
      stop: refreshing.stop,
    };
  },
});
