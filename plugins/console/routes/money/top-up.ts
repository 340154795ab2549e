/** Top-up: products and prices, payments, and redemption of codes. */

import { coreErrors } from '../../../../core/contracts/errors.ts';
import { type Order, type PaymentOffer, type PaymentPage, Payments } from '../../../../core/contracts/payments.ts';
import { Subscriptions } from '../../../../core/contracts/subscriptions.ts';
import { refuse, schema } from '../../../../core/plugin.ts';
import { NOTHING_MEANT, type ReadOnly, readOnly, readOnlyProperties, refuseOthers } from '../../format/read-only.ts';
import { bodyOf, boolean, integer, object, partly, text, withRules } from '../../format/schemas.ts';
import { unitsOf } from '../../format/units.ts';
import { type ApiRoute, type ConsoleRequest, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Top-up');

/** Providers that accept any amount, and their paths. */
const FREE = ['epay', 'stripe', 'alipay'] as const;

/** The display names of providers with a single payment method. */
const TITLES: Readonly<Record<string, string>> = { stripe: 'Stripe' };

interface PayBody {
  readonly amount: number;
  readonly payment_method?: string;
  readonly success_url?: string;
  readonly cancel_url?: string;
}

/** Members that a caller cannot set. */
const DECIDED: ReadOnly = {
  ...readOnly('Price and quota are configured: GET /api/user/topup/info.', ...['price', 'money', 'quota', 'currency']),
  top_up_code: 'There are no discounts; POST /api/user/topup redeems a code.',
  pay_method_index: 'Set payment_method instead.',
};
const decided = readOnlyProperties(DECIDED);

function refuseDecided(body: object): void {
  refuseOthers(body, {}, DECIDED, NOTHING_MEANT);
}

const urls = {
  success_url: {
    ...text,
    maxLength: 2_000,
    description: 'The page of the console to return to after payment; not for wallets.',
  },
  cancel_url: { ...text, maxLength: 2_000, description: 'The page to return to without payment.' },
};
const method = { payment_method: { ...text, maxLength: 50, description: 'The payment method, one of `pay_methods`.' } };
const amount = { amount: { ...integer, minimum: 1, maximum: 1_000_000, description: 'Currency units.' } };

const payBody = schema<PayBody>({
  title: 'TopUpRequest',
  type: 'object',
  additionalProperties: false,
  required: ['amount'],
  properties: { ...amount, ...method, ...urls, ...decided },
});
const productBody = bodyOf(['product_id'], {
  product_id: { ...text, maxLength: 200 },
  ...method,
  ...urls,
  ...decided,
});
const planBody = schema<Omit<PayBody, 'amount'> & { readonly plan?: string; readonly plan_id?: string }>({
  title: 'PlanOrderRequest',
  type: 'object',
  additionalProperties: false,
  properties: {
    plan: { ...text, maxLength: 100, description: 'Its name.' },
    plan_id: { ...text, maxLength: 100, description: 'The same as plan.', deprecated: true },
    ...method,
    ...urls,
    ...decided,
  },
});

const priceSchema = object({ price: text, currency: text });
const info = {
  title: 'TopUpInfo',
  type: 'object',
  required: [
    ...['enable_online_topup', 'enable_stripe_topup', 'enable_creem_topup', 'enable_alipay_topup'],
    ...['enable_redemption', 'pay_methods', 'creem_products', 'prices', 'plan_prices', 'min_topup', 'max_topup'],
    'amount_options',
  ],
  properties: {
    enable_online_topup: { ...boolean, description: 'POST /api/user/pay' },
    enable_stripe_topup: boolean,
    enable_creem_topup: boolean,
    enable_alipay_topup: boolean,
    enable_waffo_topup: { const: false },
    enable_waffo_pancake_topup: { const: false },
    enable_redemption: boolean,
    payment_compliance_confirmed: { const: true },
    payment_compliance_terms_version: text,
    pay_methods: {
      type: 'array',
      items: partly(['name', 'type', 'provider'], {
        name: text,
        type: text,
        provider: text,
        color: text,
        min_topup: text,
      }),
    },
    waffo_pay_methods: { type: 'array', maxItems: 0 },
    creem_products: { ...text, description: 'JSON: [{productId, name, price, currency, quota}]' },
    prices: {
      type: 'object',
      description: 'Price of one unit by provider.',
      additionalProperties: priceSchema,
    },
    plan_prices: {
      type: 'object',
      description: 'Prices of the plans for sale, by plan and provider.',
      additionalProperties: { type: 'object', additionalProperties: priceSchema },
    },
    min_topup: integer,
    max_topup: integer,
    stripe_min_topup: integer,
    alipay_min_topup: integer,
    waffo_min_topup: integer,
    waffo_pancake_min_topup: integer,
    amount_options: { type: 'array', items: integer },
    discount: { type: 'object', maxProperties: 0 },
    topup_link: text,
  },
};

export function topUpRoutes({ host, limiter, need }: Tools): readonly ApiRoute[] {
  /** Begins a payment, with the rate limit of sign-ins. */
  async function begin(
    { account, body }: ConsoleRequest<Omit<PayBody, 'amount'>>,
    provider: string,
    item: { readonly units: number } | { readonly product: string } | { readonly plan: string },
  ): Promise<{ readonly order: Order; readonly page: PaymentPage }> {
    refuseDecided(body);
    const payments = need(Payments);
    await limiter.take('sign-in', `pay ${account.id}`);
    const { payment_method: method, success_url: successUrl, cancel_url: cancelUrl } = body;
    return payments.start({ account, provider, method, item, successUrl, cancelUrl });
  }

  const paying = {
    spelling: 'payment',
    errors: [
      ...['read_only', 'invalid_amount', 'invalid_product', 'invalid_plan', 'invalid_method', 'invalid_url'],
      ...['other_plan_runs', 'payment_provider_failed', 'rate_limit_exceeded'],
    ],
  } as const;

  const payments = FREE.map((provider) =>
    route('member', 'POST', provider === 'epay' ? '/api/user/pay' : `/api/user/${provider}/pay`, {
      ...paying,
      summary: `Starts a payment for quota with ${provider}.`,
      body: payBody,
      ...answerOf(provider),
      handle: async (request) => paid(provider, await begin(request, provider, { units: request.body.amount })),
    }),
  );

  const quotes = ['', '/stripe', '/alipay'].map((place) =>
    route('member', 'POST', `/api/user${place}/amount`, {
      ...paying,
      summary: 'Returns the price of an amount in currency units: `73.00`.',
      body: schema<PayBody>({
        title: 'PriceRequest',
        type: 'object',
        additionalProperties: false,
        required: ['amount'],
        properties: { ...amount, ...method, ...decided },
      }),
      answer: text,
      handle({ body }) {
        refuseDecided(body);
        const { providers, quote } = need(Payments);
        const provider = place.slice(1) || FREE.find((name) => providers.includes(name));
        return { data: quote(provider ?? 'epay', body.amount) };
      },
    }),
  );

  const plans = FREE.map((provider) =>
    route('member', 'POST', `/api/subscription/${provider}/pay`, {
      ...paying,
      summary: `Starts a payment for a plan with ${provider}.`,
      body: planBody,
      request: withRules(planBody, {}, ['plan']),
      ...answerOf(provider),
      async handle(request) {
        const { plan, plan_id } = request.body;
        const name = plan ?? plan_id ?? refuse(coreErrors.invalid_plan());
        return paid(provider, await begin(request, provider, { plan: name }));
      },
    }),
  );

  return [
    ...payments,
    ...quotes,
    ...plans,
    route('member', 'POST', '/api/user/creem/pay', {
      ...paying,
      summary: 'Starts a payment for a product with creem.',
      body: productBody,
      answer: object({ checkout_url: text, order_id: text }),
      handle: async (request) => paid('creem', await begin(request, 'creem', { product: request.body.product_id })),
    }),
    route('member', 'GET', '/api/user/topup/info', {
      summary: 'Returns what can be bought and the payment methods.',
      answer: info,
      handle() {
        const { offer, planPrices } = need(Payments);
        const plans = host.find(Subscriptions)?.plans ?? [];
        const prices = plans.map(({ name }) => [name, planPrices(name)] as const);
        return {
          ...infoOf(offer),
          plan_prices: Object.fromEntries(prices.filter(([, each]) => Object.keys(each).length > 0)),
        };
      },
    }),
    route('member', 'POST', '/api/user/topup', {
      errors: ['invalid_code', 'no_room'],
      summary: 'Redeems a code and returns its quota units.',
      body: bodyOf(['key'], { key: { ...text, minLength: 1, maxLength: 100 } }),
      answer: integer,
      async handle({ account, actor, body, conditions }) {
        const { codes } = need(Payments);
        await limiter.take('sign-in', `redeem ${account.id}`);
        return unitsOf(await codes.redeem(account, body.key, actor, conditions));
      },
    }),
  ];
}

/** The payment page, in the response format of each provider's path. */
async function paid(
  provider: string,
  { order: { tradeNo }, page }: { readonly order: Order; readonly page: PaymentPage },
): Promise<{ readonly data: unknown; readonly url?: string }> {
  switch (page.kind) {
    case 'form':
      return { data: page.fields, url: page.url };
    case 'code':
      return { data: { pay_url: page.content, pay_qr: await pictureOf(page.content), order_id: tradeNo } };
    case 'link':
      return provider === 'creem'
        ? { data: { checkout_url: page.url, order_id: tradeNo } }
        : { data: { pay_link: page.url, order_id: tradeNo } };
  }
}

/** A QR code as a data URL for images. */
async function pictureOf(content: string): Promise<string> {
  // Loaded on demand.
  const { default: qrcode } = await import('qrcode');
  const svg = await qrcode.toString(content, { type: 'svg' });
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
}

/** The response that starts a payment. */
function answerOf(provider: (typeof FREE)[number]): Pick<ApiRoute, 'answer' | 'leadsTo'> {
  if (provider === 'epay') {
    const description = 'The fields of a form to be posted to `url`.';
    return { answer: { type: 'object', description, additionalProperties: text }, leadsTo: true };
  }
  const properties = {
    pay_link: { ...text, description: 'The payment page.' },
    ...(provider === 'alipay' && {
      pay_url: { ...text, description: 'Instead of a page: the content of a QR code.' },
      pay_qr: { ...text, description: 'The QR code as an SVG data URL.' },
    }),
    order_id: text,
  };
  return { answer: partly(['order_id'], properties) };
}

function infoOf({ providers, smallest, largest, amounts }: PaymentOffer): object {
  const has = (name: string): boolean => providers.some((provider) => provider.name === name);
  const creem = providers.find(({ name }) => name === 'creem');
  // Clients distinguish payment methods by type, and send those without a path of their own to POST /api/user/pay.
  const methods = [...providers]
    .sort((a, b) => Number(b.name === 'epay') - Number(a.name === 'epay'))
    .flatMap(({ name, price, methods }) => {
      if (price === undefined) return [];
      const ways = methods.length > 0 ? methods : [{ type: name, name: TITLES[name] ?? name }];
      return ways.map((way) => ({ ...way, provider: name, color: '', min_topup: String(smallest) }));
    })
    .filter(({ type }, i, all) => all.findIndex((way) => way.type === type) === i);
  return {
    enable_online_topup: has('epay'),
    enable_stripe_topup: has('stripe'),
    enable_creem_topup: has('creem'),
    enable_alipay_topup: has('alipay'),
    enable_waffo_topup: false,
    enable_waffo_pancake_topup: false,
    enable_redemption: true,
    payment_compliance_confirmed: true,
    payment_compliance_terms_version: '',
    pay_methods: methods,
    waffo_pay_methods: [],
    creem_products: JSON.stringify(
      (creem?.products ?? []).map(({ id, name, price, currency, quota }) => ({
        productId: id,
        name,
        price: Number(price),
        currency,
        quota,
      })),
    ),
    prices: Object.fromEntries(providers.flatMap(({ name, price }) => (price === undefined ? [] : [[name, price]]))),
    min_topup: smallest,
    max_topup: largest,
    stripe_min_topup: smallest,
    alipay_min_topup: smallest,
    waffo_min_topup: smallest,
    waffo_pancake_min_topup: smallest,
    amount_options: amounts.filter((units) => units >= smallest && units <= largest),
    discount: {},
    topup_link: '',
  };
}
