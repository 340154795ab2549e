/** The service: products and prices, and how payments begin. */

import { coreErrors } from '../../core/contracts/errors.ts';
import type { Account } from '../../core/contracts/identity.ts';
import { Ledger, MICRO } from '../../core/contracts/ledger.ts';
import type { NewPayment, PaymentProvider, Payments, RedemptionCodes } from '../../core/contracts/payments.ts';
import { Site } from '../../core/contracts/site.ts';
import { type Plan, Subscriptions } from '../../core/contracts/subscriptions.ts';
import { type Host, refuse } from '../../core/plugin.ts';
import type { BalanceSale } from './balance.ts';
import type { Documents } from './documents.ts';
import { errors } from './errors.ts';
import { type Decimal, decimalText, moneyText, timesInMinor } from './money.ts';
import { type NewOrder, type Orders, orderOf } from './orders.ts';
import type { Provider } from './provider.ts';
import type { PaymentsSection } from './section.ts';
import type { Settlement } from './settlement.ts';

/** The maximum of one order, in micro-quota; a quarter of an account's maximum balance. */
const MOST = 1_000_000_000_000_000_000n;

/** The default page to return to after payment. */
const BACK = '/console/topup';

export function createPayments(
  host: Host,
  section: PaymentsSection,
  of: {
    readonly providers: readonly Provider[];
    readonly orders: Orders;
    readonly settlement: Settlement;
    readonly codes: RedemptionCodes;
    readonly documents: Documents;
    readonly sellFromBalance: BalanceSale;
  },
): Payments {
  const { providers, orders, settlement, codes, documents, sellFromBalance } = of;
  const { smallest, largest, amounts } = section;
  const ledger = host.use(Ledger);

  function require(name: string): Provider {
    const provider = providers.find((candidate) => candidate.name === name);
    return provider ?? refuse(coreErrors.not_available('This payment method is not configured.'));
  }

  /** The price of a number of units, which may have decimals. Refuses prices below the currency's smallest unit. */
  function costOf(units: Decimal, { price }: Provider): { readonly money: bigint; readonly currency: string } {
    if (price === undefined) throw errors.invalid_product('Choose one of the products.');
    const { currency } = price;
    const money = timesInMinor(units, price.price, currency);
    if (money <= 0n)
      throw coreErrors.invalid_amount('The amount is too small for a payment.').with({ param: 'amount' });
    return { money, currency };
  }

  function checkUnits(units: number): void {
    if (Number.isInteger(units) && units >= smallest && units <= largest) return;
    throw coreErrors
      .invalid_amount(`The amount must be a whole number from ${smallest} to ${largest}.`)
      .with({ param: 'amount' });
  }

  function methodOf({ name, methods }: Provider, requested: string | undefined): string {
    const [first] = methods;
    // If there is only one payment method, clients send the provider's name instead.
    if (first === undefined) return name;
    if (requested === undefined) return first.type;
    if (methods.some(({ type }) => type === requested)) return requested;
    const types = methods.map(({ type }) => type).join(', ');
    throw errors.invalid_method(types);
  }

  /** A plan that is for sale, and that the account may buy now. */
  async function planFor(account: Account, name: string): Promise<Plan & { readonly priceCents: number }> {
    const subscriptions = host.find(Subscriptions);
    const plan = subscriptions?.plan(name);
    if (plan?.priceCents === undefined || plan.priceCents <= 0)
      throw coreErrors.invalid_plan('There is no such plan for sale.');
    const current = await subscriptions?.of(account.id);
    if (current?.state === 'active' && current.plan !== plan.name)
      throw coreErrors.other_plan_runs(`The plan ${current.plan} is still running.`);
    return { ...plan, priceCents: plan.priceCents };
  }

  async function orderFor({ account, item, method }: NewPayment, provider: Provider): Promise<NewOrder> {
    const common = { accountId: account.id, provider: provider.name, method: methodOf(provider, method) };
    const nothing = { plan: undefined, product: undefined };
    if ('units' in item) {
      checkUnits(item.units);
      const cost = costOf({ digits: BigInt(item.units), scale: 0 }, provider);
      const quota = BigInt(item.units) * BigInt(ledger.perUnit) * MICRO;
      if (quota > MOST)
        throw coreErrors.invalid_amount('The amount is more than an account can have.').with({ param: 'amount' });
      return { ...common, ...nothing, ...cost, kind: 'quota', amount: item.units, quota };
    }
    if ('product' in item) {
      const product = provider.products.find(({ id }) => id === item.product);
      if (product === undefined) throw errors.invalid_product('There is no such product.');
      const money = timesInMinor(product.price, { digits: 1n, scale: 0 }, product.currency);
      return {
        ...common,
        ...nothing,
        kind: 'quota',
        product: product.id,
        amount: product.quota,
        quota: BigInt(product.quota) * MICRO,
        money,
        currency: product.currency,
      };
    }
    const plan = await planFor(account, item.plan);
    const cost = costOf({ digits: BigInt(plan.priceCents), scale: 2 }, provider);
    return { ...common, ...nothing, ...cost, kind: 'plan', plan: plan.name, amount: 0, quota: plan.balance };
  }

  /** The requested return URL, which must be a page of the console: providers must not redirect users to other sites on our behalf. */
  function backTo({ origin, root }: Site, requested: string | undefined, param: string): string {
    if (requested === undefined || requested === '') return `${root}${BACK}`;
    const url = URL.canParse(requested) ? new URL(requested) : undefined;
    // Serialized again: this removes what another parser could read as credentials or another host, and URLs such as `blob:`.
    if (url !== undefined && url.origin === origin && /^https?:$/.test(url.protocol))
      return `${origin}${url.pathname}${url.search}${url.hash}`;
    throw errors.invalid_url(param, origin).with({ param });
  }

  function titleOf({ kind, plan, amount, product }: NewOrder): string {
    const seller = host.find(Site)?.name ?? 'Turnpike';
    if (kind === 'plan') return `${seller}: plan ${plan}`;
    return product === undefined ? `${seller}: ${amount} units` : `${seller}: ${amount} quota`;
  }

  const described = providers.map(
    ({ name, price, methods, products }): PaymentProvider => ({
      name,
      price: price && { price: decimalText(price.price), currency: price.currency },
      methods,
      products: products.map((product) => ({
        id: product.id,
        name: product.name,
        price: moneyText(timesInMinor(product.price, { digits: 1n, scale: 0 }, product.currency), product.currency),
        currency: product.currency,
        quota: product.quota,
      })),
    }),
  );

  return {
    providers: providers.map(({ name }) => name),
    offer: { providers: described, smallest, largest, amounts },
    codes,
    ...documents,
    adoptOrderSteps: orders.adopt,

    quote(name, units) {
      const provider = require(name);
      checkUnits(units);
      const { money, currency } = costOf({ digits: BigInt(units), scale: 0 }, provider);
      return moneyText(money, currency);
    },

    planPrices(name) {
      const { priceCents = 0 } = host.find(Subscriptions)?.plan(name) ?? {};
      if (priceCents <= 0) return {};
      const cost = { digits: BigInt(priceCents), scale: 2 };
      return Object.fromEntries(
        providers.flatMap(({ name: provider, price }) => {
          if (price === undefined) return [];
          const money = timesInMinor(cost, price.price, price.currency);
          // Prices below the currency's smallest unit cannot be paid.
          if (money <= 0n) return [];
          return [[provider, { price: moneyText(money, price.currency), currency: price.currency }]];
        }),
      );
    },

    async start(payment) {
      const provider = require(payment.provider);
      const site =
        host.find(Site) ?? refuse(coreErrors.not_available('Payments require the console, which is not enabled.'));
      const successUrl = backTo(site, payment.successUrl, 'success_url');
      const cancelUrl = backTo(site, payment.cancelUrl, 'cancel_url');
      const ordered = await orderFor(payment, provider);
      const order = await orders.create(ordered);
      const [ownUrl, noticeUrl] = [`${site.root}${BACK}`, `${site.root}${provider.notices.path}`];
      const around = { title: titleOf(ordered), successUrl, cancelUrl, ownUrl, noticeUrl };
      try {
        const page = await provider.open({ ...order, ...around });
        return { order: orderOf(order), page };
      } catch (error) {
        host.log.warn('a payment provider did not create a payment page', { provider: provider.name, error });
        await host.store.atomic([orders.move(order, 'failed', { note: 'the provider did not open its page' })]);
        throw errors.payment_provider_failed();
      }
    },

    async payFromBalance(account, plan, actor, along = []) {
      return orderOf(await sellFromBalance(account, await planFor(account, plan), actor, along));
    },

    async order(tradeNo, accountId) {
      const order = await orders.find(tradeNo);
      if (order === undefined || (accountId !== undefined && order.accountId !== accountId)) return undefined;
      return orderOf(order);
    },

    async orders(search) {
      const { total, items } = await orders.search(search);
      return { total, items: items.map(orderOf) };
    },

    async complete(tradeNo, actor, reason) {
      await settlement.complete(tradeNo, actor, reason);
      return orderOf((await orders.find(tradeNo))!);
    },
  };
}
