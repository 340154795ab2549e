/** The section `payments` of gateway.yaml, and its active providers. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { type Accepted, typed } from '../../core/plugin.ts';
import { settings } from '../../core/sdk.ts';
import { type Decimal, decimalText, isCountable, readDecimal, readMoney } from './money.ts';

/** As in the file. Empty values count as absent, so that `${NAME:-}` disables a provider. */
export type PaymentsSection = Accepted<typeof paymentsSection>;
/** The seller on invoices, how they are numbered, and the tax that prices include; without its name: none. */
export type SellerSection = PaymentsSection['seller'];
type Written = PaymentsSection['price'];
type Terms = Pick<PaymentsSection['stripe'], 'currency' | 'price'>;

/** A provider's currency, and its price for one unit. */
export interface Price {
  readonly currency: string;
  readonly price: Decimal;
}

/** A product with a fixed price. */
export interface Product extends Price {
  readonly id: string;
  readonly name: string;
  /** Quota units. */
  readonly quota: number;
}

/** The configured providers with their settings; absent: off. */
export interface Configured {
  readonly stripe?: Price & Omit<PaymentsSection['stripe'], keyof Terms>;
  readonly creem?: Omit<PaymentsSection['creem'], 'products'> & { readonly products: readonly Product[] };
  readonly alipay?: Price &
    Omit<PaymentsSection['alipay'], keyof Terms | 'privateKey' | 'publicKey'> & {
      readonly privateKey: KeyObject;
      readonly publicKey: KeyObject;
    };
  readonly epay?: Price & Omit<PaymentsSection['epay'], keyof Terms>;
}

const text = { type: 'string', default: '' } as const;
const url = { type: 'string', pattern: '^https?://[^?#\\s]+$' } as const;
const currency = { type: 'string', title: 'currency such as USD', pattern: '^[A-Z]{3}$' } as const;
const price = {
  title: 'decimal number',
  anyOf: [
    { type: 'number', exclusiveMinimum: 0, maximum: 1e9 },
    { type: 'string', pattern: '^\\d{1,9}(\\.\\d{1,9})?$' },
  ],
  examples: [1, '7.3'],
} as const;
const terms = {
  currency: { ...currency, description: 'The currency of this provider, if it differs.' },
  price: { ...price, description: 'The price of one unit in this currency.' },
} as const;

export const paymentsSection = typed({
  type: 'object',
  additionalProperties: false,
  properties: {
    currency: { ...currency, description: 'The currency to pay in.', default: 'USD' },
    price: { ...price, description: 'Price of one unit; a unit is `quota.perUnit` of quota.', default: 1 },
    smallest: { description: 'Minimum units per order.', type: 'integer', minimum: 1, maximum: 1_000_000, default: 5 },
    largest: {
      description: 'Maximum units per order.',
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000,
      default: 10_000,
    },
    amounts: {
      description: 'Amounts that the console suggests.',
      type: 'array',
      items: { type: 'integer', minimum: 1 },
      default: [10, 20, 50, 100],
    },
    seller: settings('The seller on invoices. Without a name, they are receipts in the name of the gateway.', {
      name: { ...text, maxLength: 200 },
      address: { ...text, maxLength: 500, description: 'Lines below the name.' },
      taxId: { ...text, maxLength: 100 },
      email: { ...text, maxLength: 254 },
      note: { ...text, maxLength: 500, description: 'A line at the end.' },
      prefix: {
        description:
          'What the number of an invoice begins with: `INV-` gives INV-000001. Numbers go on if it is changed.',
        type: 'string',
        pattern: '^[A-Za-z0-9/._-]{0,20}$',
        default: 'INV-',
      },
      tax: settings('The tax that prices include, as shown on invoices. Without a name: none.', {
        name: { ...text, maxLength: 50 },
        rate: {
          description: 'In percent: 19.',
          title: 'percentage',
          anyOf: [
            { type: 'number', minimum: 0, maximum: 100 },
            { type: 'string', pattern: '^\\d{1,2}(\\.\\d{1,4})?$' },
          ],
          default: 0,
        },
      }),
    }),
    stripe: settings('Cards. The webhook is `/api/stripe/webhook`; payments need its secret.', {
      ...terms,
      secret: text,
      webhookSecret: text,
      url: { ...url, default: 'https://api.stripe.com' },
    }),
    creem: settings('Products at fixed prices. The webhook is `/api/creem/webhook`.', {
      key: text,
      webhookSecret: text,
      url: { ...url, default: 'https://api.creem.io' },
      products: {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['id', 'name', 'price', 'quota'],
          properties: {
            id: { type: 'string', minLength: 1 },
            name: { type: 'string', minLength: 1 },
            price,
            currency,
            quota: { description: 'Quota units.', type: 'integer', minimum: 1, maximum: 1e12 },
          },
        },
        default: [],
      },
    }),
    alipay: settings("Mobile wallet, paid in CNY. Keys in base64 or PEM; `publicKey` is the provider's.", {
      price: terms.price,
      appId: text,
      privateKey: text,
      publicKey: text,
      gateway: { ...url, default: 'https://openapi.alipay.com/gateway.do' },
    }),
    epay: settings('Payment aggregators: several wallets with one merchant account.', {
      ...terms,
      id: text,
      key: text,
      url: { anyOf: [url, { const: '' }], default: '' },
      methods: {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['type', 'name'],
          properties: { type: { type: 'string', minLength: 1 }, name: { type: 'string', minLength: 1 } },
        },
        default: [
          { type: 'alipay', name: 'Alipay' },
          { type: 'wxpay', name: 'WeChat Pay' },
        ],
      },
    }),
  },
  default: {},
});

/** The minimum length of a secret that cannot be guessed, in bytes. */
const SHORTEST_SECRET = 16;

/**
 * The active providers. One without any settings is off. One with incomplete settings, or with a secret that can be guessed, is an error:
 * it could take money, and its notifications could not be verified.
 */
export function readSection(
  section: PaymentsSection,
  problem: (path: readonly (string | number)[], message: string) => void,
): Configured {
  const complain = (path: readonly (string | number)[], message: string): undefined => {
    problem(['payments', ...path], message);
  };

  function priceAt(path: readonly (string | number)[], written: Written, currency: string): Price | undefined {
    const price = readDecimal(written);
    if (price === undefined || price.digits === 0n)
      return complain([...path, 'price'], 'must be a number above 0, with at most 9 decimal places');
    if (!isCountable(currency)) return complain([...path, 'currency'], `${currency} is not supported`);
    return { price, currency };
  }

  /** False if all of them are empty; reports an error if only some are. */
  function isOn(name: keyof Configured, fields: Readonly<Record<string, string>>): boolean {
    const empty = Object.keys(fields).filter((field) => fields[field]!.trim() === '');
    if (empty.length === Object.keys(fields).length) return false;
    for (const field of empty) complain([name, field], `is empty: ${name} requires it`);
    return empty.length === 0;
  }

  function isGuessable(name: keyof Configured, field: string, secret: string): boolean {
    if (Buffer.byteLength(secret.trim()) >= SHORTEST_SECRET) return false;
    complain([name, field], `is too short for a secret: ${SHORTEST_SECRET} bytes at least`);
    return true;
  }

  function termsOf(
    name: 'stripe' | 'alipay' | 'epay',
    { price, currency = section.currency }: Terms,
  ): Price | undefined {
    if (price === undefined && currency !== section.currency)
      return complain([name, 'price'], `is missing: set the price of a unit in ${currency}`);
    return price === undefined ? priceAt([], section.price, currency) : priceAt([name], price, currency);
  }

  /** The price of a product, to be paid as it is. */
  function amountAt(path: readonly (string | number)[], written: Written, currency: string): Price | undefined {
    const price = priceAt(path, written, currency);
    if (price === undefined || (readMoney(decimalText(price.price), currency) ?? 0n) > 0n) return price;
    return complain([...path, 'price'], `is not an amount of ${currency}`);
  }

  function stripe(): Configured['stripe'] {
    const { secret, webhookSecret, url } = section.stripe;
    if (!isOn('stripe', { secret, webhookSecret }) || isGuessable('stripe', 'webhookSecret', webhookSecret)) return;
    const terms = termsOf('stripe', section.stripe);
    return terms && { ...terms, secret: secret.trim(), webhookSecret: webhookSecret.trim(), url };
  }

  function creem(): Configured['creem'] {
    const { key, webhookSecret, url } = section.creem;
    if (!isOn('creem', { key, webhookSecret }) || isGuessable('creem', 'webhookSecret', webhookSecret)) return;
    const products = section.creem.products.flatMap(({ id, name, quota, price, currency = section.currency }, i) => {
      const terms = amountAt(['creem', 'products', i], price, currency);
      return terms === undefined ? [] : [{ ...terms, id, name, quota }];
    });
    const ids = products.map(({ id }) => id);
    const twice = ids.find((id, i) => ids.indexOf(id) < i);
    if (twice !== undefined) return complain(['creem', 'products'], `has "${twice}" twice`);
    if (products.length === 0) complain(['creem', 'products'], 'is empty: creem requires at least one product');
    return { key: key.trim(), webhookSecret: webhookSecret.trim(), url, products };
  }

  function alipay(): Configured['alipay'] {
    const { appId, privateKey, publicKey, gateway } = section.alipay;
    if (!isOn('alipay', { appId, privateKey, publicKey })) return;
    const terms = termsOf('alipay', { ...section.alipay, currency: 'CNY' });
    const privately = readKey(privateKey, ['PRIVATE KEY', 'RSA PRIVATE KEY'], createPrivateKey);
    const publicly = readKey(publicKey, ['PUBLIC KEY', 'RSA PUBLIC KEY'], createPublicKey);
    if (privately === undefined) complain(['alipay', 'privateKey'], 'is not an RSA key in base64 or PEM');
    if (publicly === undefined) complain(['alipay', 'publicKey'], 'is not an RSA key in base64 or PEM');
    if (terms === undefined || privately === undefined || publicly === undefined) return;
    return { ...terms, appId: appId.trim(), privateKey: privately, publicKey: publicly, gateway };
  }

  function epay(): Configured['epay'] {
    const { id, key, url, methods } = section.epay;
    if (!isOn('epay', { id, key, url }) || isGuessable('epay', 'key', key)) return;
    if (methods.length === 0) return complain(['epay', 'methods'], 'is empty: list the payment methods');
    const terms = termsOf('epay', section.epay);
    return terms && { ...terms, id: id.trim(), key: key.trim(), url: url.replace(/\/$/, ''), methods };
  }

  if (readDecimal(section.seller.tax.rate) === undefined) {
    complain(['seller', 'tax', 'rate'], 'must have at most 9 decimal places');
  }
  if (section.smallest > section.largest) complain(['smallest'], 'is more than `largest`');
  const configured = { stripe: stripe(), creem: creem(), alipay: alipay(), epay: epay() };
  return Object.fromEntries(Object.entries(configured).filter(([, provider]) => provider !== undefined)) as Configured;
}

/** An RSA key in the formats that providers use: base64 of its DER, or PEM. */
function readKey(written: string, frames: readonly string[], read: (pem: string) => KeyObject): KeyObject | undefined {
  const body = written.replace(/-----[A-Z ]+-----/g, '').replace(/\s/g, '');
  for (const frame of frames) {
    try {
      const key = read(`-----BEGIN ${frame}-----\n${body}\n-----END ${frame}-----\n`);
      if (key.asymmetricKeyType === 'rsa') return key;
    } catch {
      // Another PEM label may match.
    }
  }
  return undefined;
}
