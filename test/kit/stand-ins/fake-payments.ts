/**
 * Providers of payments for tests, each with a memory: what was asked of it, what was paid, what went back. They sign as the real
 * ones do, with code of their own, and tell the gateway what a test says.
 */
import assert from 'node:assert/strict';
import { createHash, createHmac, createSign, createVerify, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';

/** A notification, ready to be sent, as often as a test likes. */
export interface FakeNotice {
  readonly method: 'GET' | 'POST';
  /** With the query, where it has one. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends one to a gateway. */
export function deliver(gateway: { readonly url: string }, notice: FakeNotice): Promise<Response> {
  return fetch(`${gateway.url}${notice.path}`, {
    method: notice.method,
    headers: { ...notice.headers },
    ...(notice.method === 'POST' && { body: notice.body }),
  });
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'content-type': 'application/json' };

interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** A server that answers each request with what `answer` says. */
async function listen(
  answer: (request: IncomingMessage, body: string) => { readonly status?: number; readonly body: Json | string },
): Promise<Listening> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { status = 200, body } = answer(request, Buffer.concat(chunks).toString('utf8'));
      response.writeHead(status, JSON_TYPE);
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** A page where something is paid with a card. */
export interface FakeSession {
  readonly id: string;
  readonly payment: string;
  readonly tradeNo: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface FakeStripe extends Listening {
  /** For `payments.stripe`. */
  readonly section: { readonly secret: string; readonly webhookSecret: string; readonly url: string };
  readonly sessions: readonly FakeSession[];
  /** True: it answers every request with an error. */
  broken: boolean;
  /** A session event: by itself `checkout.session.completed`, paid. `changes` overwrite members of the session. */
  session(
    of: FakeSession,
    changes?: JsonObject,
    more?: { readonly type?: string; readonly event?: string },
  ): FakeNotice;
  /** `amount` of the charge has gone back in all. */
  refunded(of: FakeSession, amount: number, event?: string): FakeNotice;
  dispute(of: FakeSession, step: 'created' | 'closed', status: string, dispute?: string): FakeNotice;
  /** Signs any event; `atMs` is the time of the signature. */
  event(type: string, object: JsonObject, more?: { readonly event?: string; readonly atMs?: number }): FakeNotice;
  signed(body: string, atMs: number, secret?: string): FakeNotice;
}

/** Stripe: Checkout Sessions, and signed events. `now`: the time that signatures carry. */
export async function fakeStripe(now: () => number = Date.now): Promise<FakeStripe> {
  const secret = `sk_test_${randomBytes(12).toString('hex')}`;
  const webhookSecret = `whsec_${randomBytes(16).toString('hex')}`;
  const sessions: FakeSession[] = [];
  const byKey = new Map<string, FakeSession>();
  const server = await listen((request, body) => {
    if (fake.broken) return { status: 503, body: { error: { type: 'api_error', message: 'out of order' } } };
    assert.equal(`${request.method} ${request.url}`, 'POST /v1/checkout/sessions');
    assert.equal(request.headers.authorization, `Bearer ${secret}`);
    const fields = Object.fromEntries(new URLSearchParams(body));
    const key = String(request.headers['idempotency-key']);
    const before = byKey.get(key);
    const session = before ?? {
      id: `cs_test_${randomBytes(8).toString('hex')}`,
      payment: `pi_${randomBytes(8).toString('hex')}`,
      tradeNo: fields.client_reference_id ?? '',
      fields,
    };
    if (before === undefined) sessions.push(session);
    byKey.set(key, session);
    return { body: { id: session.id, object: 'checkout.session', url: `https://checkout.example/c/${session.id}` } };
  });

  const amountOf = ({ fields }: FakeSession): number => Number(fields['line_items[0][price_data][unit_amount]']);
  const currencyOf = ({ fields }: FakeSession): string => fields['line_items[0][price_data][currency]'] ?? '';

  const fake: FakeStripe = {
    ...server,
    section: { secret, webhookSecret, url: server.url },
    sessions,
    broken: false,
    signed(body, atMs, by = webhookSecret) {
      const t = Math.floor(atMs / 1_000);
      const v1 = createHmac('sha256', by).update(`${t}.${body}`).digest('hex');
      return {
        method: 'POST',
        path: '/api/stripe/webhook',
        headers: { ...JSON_TYPE, 'stripe-signature': `t=${t},v1=${v1}` },
        body,
      };
    },
    event(type, object, { event = `evt_${randomBytes(8).toString('hex')}`, atMs = now() } = {}) {
      return fake.signed(JSON.stringify({ id: event, object: 'event', type, data: { object } }, null, 2), atMs);
    },
    session(of, changes = {}, { type = 'checkout.session.completed', event } = {}) {
      const object = {
        id: of.id,
        object: 'checkout.session',
        client_reference_id: of.tradeNo,
        payment_status: 'paid',
        payment_intent: of.payment,
        amount_total: amountOf(of),
        currency: currencyOf(of),
        metadata: { trade_no: of.tradeNo, account: of.fields['metadata[account]'] ?? '' },
        ...changes,
      };
      return fake.event(type, object, event === undefined ? {} : { event });
    },
    refunded(of, amount, event) {
      const object = {
        id: `ch_${of.payment}`,
        object: 'charge',
        payment_intent: of.payment,
        amount: amountOf(of),
        amount_refunded: amount,
        currency: currencyOf(of),
        metadata: { trade_no: of.fields['payment_intent_data[metadata][trade_no]'] ?? '' },
      };
      return fake.event('charge.refunded', object, event === undefined ? {} : { event });
    },
    dispute(of, step, status, dispute = `dp_${of.payment}`) {
      return fake.event(`charge.dispute.${step}`, {
        id: dispute,
        object: 'dispute',
        payment_intent: of.payment,
        amount: amountOf(of),
        currency: currencyOf(of),
        status,
        metadata: {},
      });
    },
  };
  return fake;
}

/** A page where a product is paid. */
export interface FakeCheckout {
  readonly id: string;
  readonly order: string;
  readonly asked: JsonObject;
}

export interface FakeCreem extends Listening {
  /** For `payments.creem`, with two products. */
  readonly section: {
    readonly key: string;
    readonly webhookSecret: string;
    readonly url: string;
    readonly products: readonly {
      readonly id: string;
      readonly name: string;
      readonly price: string;
      readonly quota: number;
    }[];
  };
  readonly checkouts: readonly FakeCheckout[];
  /** `checkout.completed`; `changes` overwrite members of the order in it, `around` those of the checkout. */
  completed(of: FakeCheckout, changes?: JsonObject, around?: JsonObject, event?: string): FakeNotice;
  refunded(of: FakeCheckout, amount: number, changes?: JsonObject, event?: string): FakeNotice;
  disputed(of: FakeCheckout, event?: string): FakeNotice;
  signed(body: string, secret?: string): FakeNotice;
}

/** Creem: checkouts of products, and events signed with HMAC. */
export async function fakeCreem(): Promise<FakeCreem> {
  const key = `creem_test_${randomBytes(12).toString('hex')}`;
  const webhookSecret = `whsec_${randomBytes(16).toString('hex')}`;
  const products = [
    { id: 'prod_small', name: 'Small', price: '10', quota: 5_000_000 },
    { id: 'prod_large', name: 'Large', price: '45.50', quota: 25_000_000 },
  ];
  const checkouts: FakeCheckout[] = [];
  const server = await listen((request, body) => {
    assert.equal(`${request.method} ${request.url}`, 'POST /v1/checkouts');
    assert.equal(request.headers['x-api-key'], key);
    const id = `ch_${randomBytes(8).toString('hex')}`;
    checkouts.push({ id, order: `ord_${randomBytes(8).toString('hex')}`, asked: JSON.parse(body) as JsonObject });
    return { body: { id, object: 'checkout', status: 'pending', checkout_url: `https://creem.example/${id}` } };
  });
  const minor = ({ asked }: FakeCheckout): number =>
    Math.round(100 * Number(products.find(({ id }) => id === asked.product_id)?.price));
  const transactionOf = (of: FakeCheckout): JsonObject => ({
    id: `tran_${of.order}`,
    object: 'transaction',
    amount: minor(of),
    amount_paid: minor(of),
    currency: 'USD',
    order: of.order,
  });
  const newEvent = (): string => `evt_${randomBytes(8).toString('hex')}`;
  const event = (id: string, eventType: string, object: JsonObject): FakeNotice =>
    fake.signed(JSON.stringify({ id, eventType, created_at: 1_790_000_000_000, object }, null, 1));

  const fake: FakeCreem = {
    ...server,
    section: { key, webhookSecret, url: server.url, products },
    checkouts,
    signed: (body, by = webhookSecret) => ({
      method: 'POST',
      path: '/api/creem/webhook',
      headers: { ...JSON_TYPE, 'creem-signature': createHmac('sha256', by).update(body).digest('hex') },
      body,
    }),
    completed: (of, changes = {}, around = {}, id = newEvent()) =>
      event(id, 'checkout.completed', {
        id: of.id,
        object: 'checkout',
        status: 'completed',
        request_id: of.asked.request_id ?? '',
        units: 1,
        metadata: of.asked.metadata ?? {},
        order: {
          id: of.order,
          object: 'order',
          product: of.asked.product_id ?? '',
          amount: minor(of),
          currency: 'USD',
          status: 'paid',
          type: 'onetime',
          ...changes,
        },
        ...around,
      }),
    refunded: (of, amount, changes = {}, id = newEvent()) =>
      event(id, 'refund.created', {
        id: `ref_${randomBytes(8).toString('hex')}`,
        object: 'refund',
        status: 'succeeded',
        refund_amount: amount,
        refund_currency: 'USD',
        transaction: transactionOf(of),
        order: of.order,
        ...changes,
      }),
    disputed: (of, id = newEvent()) =>
      event(id, 'dispute.created', {
        id: `disp_${of.order}`,
        object: 'dispute',
        amount: minor(of),
        currency: 'USD',
        transaction: transactionOf(of),
        order: of.order,
      }),
  };
  return fake;
}

/** Something to be paid with the wallet: what the gateway asked for, verified. */
export interface FakeTrade {
  readonly no: string;
  readonly asked: JsonObject;
  readonly fields: Readonly<Record<string, string>>;
}

export interface FakeAlipay extends Listening {
  /** For `payments.alipay`. */
  readonly section: {
    readonly appId: string;
    readonly privateKey: string;
    readonly publicKey: string;
    readonly gateway: string;
    readonly price: string;
  };
  /** Trades that were asked for with a QR code. */
  readonly trades: readonly FakeTrade[];
  /** Opens a page that the gateway sent somebody to; fails where it is signed wrong. */
  open(link: string): FakeTrade;
  /** What it tells of a trade; `changes` overwrite fields before it signs. */
  notice(of: FakeTrade, changes?: Readonly<Record<string, string>>): FakeNotice;
}

/** Alipay: pages, QR codes, and forms signed with RSA2. */
export async function fakeAlipay(): Promise<FakeAlipay> {
  const ours = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const theirs = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const appId = '2021000000000001';
  const trades: FakeTrade[] = [];

  /** The fields by name, as they are signed: what is empty, too. */
  const contentOf = (fields: Readonly<Record<string, string>>, without: readonly string[]): string =>
    Object.keys(fields)
      .filter((name) => !without.includes(name))
      .sort()
      .map((name) => `${name}=${fields[name]}`)
      .join('&');

  function receive(fields: Readonly<Record<string, string>>): FakeTrade {
    const verifier = createVerify('RSA-SHA256').update(contentOf(fields, ['sign']));
    assert.ok(verifier.verify(theirs.publicKey, fields.sign ?? '', 'base64'), 'the request is signed wrong');
    assert.equal(fields.app_id, appId);
    const asked = JSON.parse(fields.biz_content ?? '{}') as JsonObject;
    return { no: `2026${randomBytes(8).toString('hex')}`, asked, fields };
  }

  const server = await listen((request, body) => {
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    const fields = Object.fromEntries([...query, ...new URLSearchParams(body)]);
    const trade = receive(fields);
    trades.push(trade);
    const answer = JSON.stringify({
      code: '10000',
      msg: 'Success',
      out_trade_no: trade.asked.out_trade_no,
      qr_code: `https://qr.alipay.example/${trade.no}`,
    });
    const sign = createSign('RSA-SHA256').update(answer).sign(ours.privateKey, 'base64');
    return { body: `{"alipay_trade_precreate_response":${answer},"sign":"${sign}"}` };
  });

  return {
    ...server,
    section: {
      appId,
      privateKey: theirs.privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
      publicKey: ours.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
      gateway: `${server.url}/gateway.do`,
      price: '7.3',
    },
    trades,
    open: (link) => receive(Object.fromEntries(new URL(link).searchParams)),
    notice(of, changes = {}) {
      const fields: Record<string, string> = {
        app_id: appId,
        charset: 'utf-8',
        notify_id: randomBytes(12).toString('hex'),
        notify_type: 'trade_status_sync',
        notify_time: '2026-01-01 08:00:00',
        sign_type: 'RSA2',
        out_trade_no: String(of.asked.out_trade_no),
        trade_no: of.no,
        trade_status: 'TRADE_SUCCESS',
        total_amount: String(of.asked.total_amount),
        passback_params: String(of.asked.passback_params ?? ''),
        subject: String(of.asked.subject),
        ...changes,
      };
      fields.sign ??= createSign('RSA-SHA256')
        .update(contentOf(fields, ['sign', 'sign_type']))
        .sign(ours.privateKey, 'base64');
      return {
        method: 'POST',
        path: '/api/alipay/notify',
        headers: FORM,
        body: new URLSearchParams(fields).toString(),
      };
    },
  };
}

export interface FakeEpay {
  /** For `payments.epay`. */
  readonly section: {
    readonly id: string;
    readonly key: string;
    readonly url: string;
    readonly methods: readonly { readonly type: string; readonly name: string }[];
  };
  /** Takes the form that a browser posts; fails where it is signed wrong. */
  submit(fields: Readonly<Record<string, string>>): void;
  /** What it tells of what was submitted; `changes` overwrite fields before it signs. */
  notice(
    submitted: Readonly<Record<string, string>>,
    changes?: Readonly<Record<string, string>>,
    method?: 'GET' | 'POST',
  ): FakeNotice;
}

/** Epay: forms signed with MD5. Nothing is asked of it over HTTP by the gateway. */
export function fakeEpay(): FakeEpay {
  const key = randomBytes(16).toString('hex');
  const signed = (fields: Readonly<Record<string, string>>): string => {
    const names = Object.keys(fields).sort();
    const content = names
      .filter((name) => !/^sign(_type)?$/.test(name) && fields[name])
      .map((name) => `${name}=${fields[name]}`);
    return createHash('md5')
      .update(`${content.join('&')}${key}`)
      .digest('hex');
  };
  return {
    section: {
      id: '1001',
      key,
      url: 'https://epay.example/',
      methods: [
        { type: 'alipay', name: 'Alipay' },
        { type: 'wxpay', name: 'WeChat' },
      ],
    },
    submit(fields) {
      assert.equal(fields.pid, '1001');
      assert.equal(fields.sign, signed(fields));
      assert.equal(fields.sign_type, 'MD5');
    },
    notice(submitted, changes = {}, method = 'GET') {
      const fields: Record<string, string> = {
        pid: '1001',
        trade_no: `E${submitted.out_trade_no}`,
        out_trade_no: submitted.out_trade_no ?? '',
        type: submitted.type ?? '',
        name: submitted.name ?? '',
        money: submitted.money ?? '',
        param: submitted.param ?? '',
        trade_status: 'TRADE_SUCCESS',
        sign_type: 'MD5',
        ...changes,
      };
      fields.sign ??= signed(fields);
      const text = new URLSearchParams(fields).toString();
      const path = '/api/user/epay/notify';
      return method === 'GET'
        ? { method, path: `${path}?${text}`, headers: {}, body: '' }
        : { method, path, headers: FORM, body: text };
    },
  };
}
