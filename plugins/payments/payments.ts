/** The service: what may be bought, and how a payment begins. */
import type { Account } from '../../core/contracts/accounts.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { Ledger, MICRO } from '../../core/contracts/ledger.ts';
import type { NewPayment, PaymentProvider, Payments, RedemptionCodes } from '../../core/contracts/payments.ts';
import { Site } from '../../core/contracts/site.ts';
import { type Plan, Subscriptions } from '../../core/contracts/subscriptions.ts';
import { type Host, refuse } from '../../core/plugin.ts';
import type { BalanceSale } from './balance.ts';
import { errors } from './errors.ts';
import { type Decimal, decimalText, moneyText, timesInMinor } from './money.ts';
import { type NewOrder, type Orders, orderOf } from './orders.ts';
import type { Provider } from './provider.ts';
import type { PaymentsSection } from './section.ts';
import type { Settlement } from './settlement.ts';

/** The most that one order gives, in micro-quota; a quarter of what an account may have. */
const MOST = 1_000_000_000_000_000_000n;

/** Where a browser comes back to where nobody says. */
const BACK = '/console/topup';

/** Makes it. */
export function createPayments(
  host: Host,
  section: PaymentsSection,
  of: {
    readonly providers: readonly Provider[];
    readonly orders: Orders;
    readonly settlement: Settlement;
    readonly codes: RedemptionCodes;
    readonly sellFromBalance: BalanceSale;
  },
): Payments {
  const { providers, orders, settlement, codes, sellFromBalance } = of;
  const { smallest, largest, amounts } = section;
  const ledger = host.use(Ledger);

  function require(name: string): Provider {
    const provider = providers.find((candidate) => candidate.name === name);
    return provider ?? refuse(coreErrors.not_available('This way to pay is not configured here.'));
  }

  /** What so many units, hundredths among them, cost. Refuses what is less than the smallest coin. */
  function costOf(units: Decimal, { price }: Provider): { readonly money: bigint; readonly currency: string } {
    if (price === undefined) throw errors.invalid_product('Choose one of the products.');
    const { currency } = price;
    const money = timesInMinor(units, price.price, currency);
    if (money <= 0n) throw coreErrors.invalid_amount('This is too little to be paid.').with({ param: 'amount' });
    return { money, currency };
  }

  function checkUnits(units: number): void {
    if (Number.isInteger(units) && units >= smallest && units <= largest) return;
    throw coreErrors
      .invalid_amount(`The amount must be a whole number from ${smallest} to ${largest}.`)
      .with({ param: 'amount' });
  }

  function methodOf({ name, methods }: Provider, asked: string | undefined): string {
    const [first] = methods;
    // Where there is one way only, tools name the provider once more.
    if (first === undefined) return name;
    if (asked === undefined) return first.type;
    if (methods.some(({ type }) => type === asked)) return asked;
    const known = methods.map(({ type }) => type).join(', ');
    throw errors.invalid_method(known);
  }

  /** A plan that is for sale, and that the account may have now. */
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
      if (quota > MOST) throw coreErrors.invalid_amount('Nobody can have so much quota.').with({ param: 'amount' });
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

  /** The address asked for, where it is a page of the console: nobody is sent elsewhere with our word. */
  function backTo({ origin, root }: Site, asked: string | undefined, param: string): string {
    if (asked === undefined || asked === '') return `${root}${BACK}`;
    const url = URL.canParse(asked) ? new URL(asked) : undefined;
    // Written anew: what another reader would take for a name or another host is gone, and so are pages inside a browser (`blob:`).
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
          // What is less than the smallest coin cannot be paid.
          if (money <= 0n) return [];
          return [[provider, { price: moneyText(money, price.currency), currency: price.currency }]];
        }),
      );
    },

    async start(payment) {
      const provider = require(payment.provider);
      const site = host.find(Site) ?? refuse(coreErrors.not_available('Without a console, nobody can pay.'));
      const successUrl = backTo(site, payment.successUrl, 'success_url');
      const cancelUrl = backTo(site, payment.cancelUrl, 'cancel_url');
      const asked = await orderFor(payment, provider);
      const order = await orders.create(asked);
      const [ownUrl, noticeUrl] = [`${site.root}${BACK}`, `${site.root}${provider.notices.path}`];
      const around = { title: titleOf(asked), successUrl, cancelUrl, ownUrl, noticeUrl };
      try {
        const page = await provider.open({ ...order, ...around });
        return { order: orderOf(order), page };
      } catch (error) {
        host.log.warn('a provider of payments did not open its page', { provider: provider.name, error });
        await host.store.atomic([orders.move(order, 'failed', { note: 'the provider did not open its page' })]);
        throw errors.payment_provider_failed();
      }
    },

    async payFromBalance(account, plan, actor) {
      return orderOf(await sellFromBalance(account, await planFor(account, plan), actor));
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
