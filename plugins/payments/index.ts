/** The plugin `payments`: orders, the providers that take money for them, and redemption codes. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit } from '../../core/contracts/audit.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Payments } from '../../core/contracts/payments.ts';
import { Records } from '../../core/contracts/records.ts';
import { Site } from '../../core/contracts/site.ts';
import { Subscriptions } from '../../core/contracts/subscriptions.ts';
import { definePlugin } from '../../core/plugin.ts';
import { createChore } from '../../core/sdk.ts';
import { createBalanceSale } from './balance.ts';
import { createCodes } from './codes.ts';
import { errors } from './errors.ts';
import { createEvents } from './events.ts';
import { invariants } from './invariants.ts';
import { noticeRoutes } from './notices.ts';
import { createOrders } from './orders.ts';
import { createPayments } from './payments.ts';
import type { Provider } from './provider.ts';
import { createAlipay } from './providers/alipay.ts';
import { createCreem } from './providers/creem.ts';
import { createEpay } from './providers/epay.ts';
import { createStripe } from './providers/stripe.ts';
import { paymentsSection, readSection } from './section.ts';
import { createSettlement } from './settlement.ts';
import { migrations } from './tables.ts';

const TIDY_MS = 60_000;

export default definePlugin({
  name: 'payments',
  api: 2,
  errors,
  sections: { payments: paymentsSection },
  migrations,
  needs: [Accounts, Ledger],
  wants: [Subscriptions, Records, Audit, Site],
  provides: [Payments],
  create(host, { payments: section }) {
    const { store, clock } = host;
    const { stripe, creem, alipay, epay } = readSection(section, (path, message) => host.problem(path, message));
    const providers: readonly Provider[] = [
      stripe && createStripe(stripe, clock),
      creem && createCreem(creem),
      alipay && createAlipay(alipay, clock),
      epay && createEpay(epay),
    ].filter((provider) => provider !== undefined);
    const orders = createOrders(store, clock);
    const events = createEvents(store, clock);
    const settlement = createSettlement(host, orders, events);
    const codes = createCodes(host);
    const sellFromBalance = createBalanceSale(host, orders);
    host.provide(Payments, createPayments(host, section, { providers, orders, settlement, codes, sellFromBalance }));
    const tidy = createChore(host, {
      everyMs: TIDY_MS,
      async work() {
        await orders.expire();
        await events.forget();
      },
      failure: 'could not expire unpaid orders',
    });
    return {
      routes: providers.flatMap((provider) => noticeRoutes(host, provider, settlement)),
      invariants,
      report() {
        const site = host.find(Site);
        if (providers.length === 0) return ['no provider is configured; redemption codes work'];
        const names = providers.map(({ name, price }) => `${name} (${price?.currency ?? 'products'})`);
        return [
          `paid with ${names.join(', ')}`,
          ...(site !== undefined && !site.secure
            ? [`warning: providers send their notifications to ${site.root}; set console.url to an https address`]
            : []),
        ];
      },
      surrender: codes.surrender,
      start: tidy.start,
      stop: tidy.stop,
    };
  },
});
