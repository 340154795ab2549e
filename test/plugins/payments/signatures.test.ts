/** Signatures of notifications: what the providers' own SDKs sign is believed, and nothing else is. */
import assert from 'node:assert/strict';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { constructWebhookEvent } from 'creem/webhooks';
import Stripe from 'stripe';
import { Forged, type NoticeRequest, type Provider } from '../../../plugins/payments/provider.ts';
import { createAlipay } from '../../../plugins/payments/providers/alipay.ts';
import { createCreem } from '../../../plugins/payments/providers/creem.ts';
import { createEpay } from '../../../plugins/payments/providers/epay.ts';
import { createStripe } from '../../../plugins/payments/providers/stripe.ts';
import { type Configured, type PaymentsSection, readSection } from '../../../plugins/payments/section.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import {
  type FakeAlipay,
  type FakeCheckout,
  type FakeCreem,
  type FakeNotice,
  type FakeSession,
  type FakeStripe,
  fakeAlipay,
  fakeCreem,
  fakeEpay,
  fakeStripe,
} from '../../kit/stand-ins/fake-payments.ts';

const clock = fakeClock();
const SESSION: FakeSession = {
  id: 'cs_1',
  payment: 'pi_1',
  tradeNo: 'TP1',
  fields: {
    'metadata[account]': '7',
    'line_items[0][price_data][unit_amount]': '1000',
    'line_items[0][price_data][currency]': 'usd',
  },
};
const CHECKOUT: FakeCheckout = {
  id: 'ch_1',
  order: 'ord_1',
  asked: { request_id: 'TP2', product_id: 'prod_small', metadata: { account: '7' } },
};

function requestOf({ method, path, headers, body }: FakeNotice): NoticeRequest {
  const query = new URL(path, 'http://x').searchParams;
  return { method, headers, query, bytes: Buffer.from(body) };
}
const read = (provider: Provider, notice: FakeNotice) => provider.notices.read(requestOf(notice));
const refused = (provider: Provider, notice: FakeNotice, why: string) =>
  assert.rejects(read(provider, notice), (error) => error instanceof Forged, why);

describe('signatures of stripe', () => {
  let fake: FakeStripe;
  let ours: Provider;
  before(async () => {
    fake = await fakeStripe(() => clock.now());
    ours = createStripe({ ...fake.section, currency: 'USD', price: { digits: 1n, scale: 0 } }, { clock, fetch });
  });
  after(() => fake.close());

  it('are believed where the SDK itself made them', async () => {
    const { body } = fake.session(SESSION);
    const header = Stripe.webhooks.generateTestHeaderString({
      payload: body,
      secret: fake.section.webhookSecret,
      timestamp: clock.now() / 1_000,
    });
    const notice = await read(ours, { ...fake.session(SESSION), body, headers: { 'stripe-signature': header } });
    assert.equal(notice?.about, 'paid');
    assert.deepEqual(notice?.about === 'paid' && [notice.tradeNo, notice.money, notice.currency, notice.account], [
      'TP1',
      [1_000n],
      'USD',
      '7',
    ]);
  });

  it('of the fake are believed by the SDK', () => {
    const { body, headers } = fake.session(SESSION);
    const event = Stripe.webhooks.constructEvent(
      body,
      headers['stripe-signature']!,
      fake.section.webhookSecret,
      300,
      undefined,
      clock.now(),
    );
    assert.equal(event.type, 'checkout.session.completed');
  });

  it('must be no older and no younger than five minutes [T-PAY-04]', async () => {
    const at = (seconds: number) => fake.event('ping', {}, { atMs: clock.now() + seconds * 1_000 });
    await read(ours, at(-300));
    await read(ours, at(300));
    await refused(ours, at(-301), 'too old');
    await refused(ours, at(301), 'from the future');
  });

  it('fit one body and no other, be it the same JSON [T-PAY-04]', async () => {
    const notice = fake.session(SESSION);
    await refused(ours, { ...notice, body: `${notice.body} ` }, 'one byte more');
    await refused(ours, { ...notice, body: notice.body.replace('1000', '9000') }, 'another amount');
    await refused(ours, { ...notice, body: JSON.stringify(JSON.parse(notice.body)) }, 'written anew');
    await refused(ours, { ...notice, body: '' }, 'nothing');
  });

  it('may be several, of which one is right [T-PAY-04]', async () => {
    const notice = fake.session(SESSION);
    const [t, v1] = notice.headers['stripe-signature']!.split(',') as [string, string];
    const wrong = `v1=${'0'.repeat(64)}`;
    const signed = (signature: string) => ({ ...notice, headers: { 'stripe-signature': signature } });
    assert.equal((await read(ours, signed(`${t},${wrong},${v1}`)))?.about, 'paid');
    assert.equal((await read(ours, signed(`${t},${v1},${wrong}`)))?.about, 'paid');
    for (const signature of [
      `${t},${wrong},${wrong}`,
      `${t},${v1.replace('v1', 'v0')}`,
      `${t},t=1,${v1}`,
      `t=abc,${v1}`,
      v1,
      t,
      '',
    ]) {
      await refused(ours, signed(signature), signature);
    }
  });

  it('made with no key, or another one, are worth nothing [T-PAY-01]', async () => {
    const { body } = fake.session(SESSION);
    for (const secret of ['', ' ', 'undefined', 'whsec_', fake.section.secret]) {
      await refused(ours, fake.signed(body, clock.now(), secret), JSON.stringify(secret));
    }
  });
});

describe('signatures of creem', () => {
  let fake: FakeCreem;
  let ours: Provider;
  before(async () => {
    fake = await fakeCreem();
    const products = fake.section.products.map((product) => ({
      ...product,
      currency: 'USD',
      price: { digits: BigInt(Math.round(Number(product.price) * 100)), scale: 2 },
    }));
    ours = createCreem({ ...fake.section, products }, { fetch });
  });
  after(() => fake.close());

  it('of the fake are believed by the SDK, and by us', async () => {
    const notice = fake.completed(CHECKOUT);
    const event = await constructWebhookEvent(notice.body, { ...notice.headers }, fake.section.webhookSecret);
    assert.equal(event.type, 'checkout.completed');
    const read_ = await read(ours, notice);
    assert.deepEqual(read_?.about === 'paid' && [read_.tradeNo, read_.money, read_.payment, read_.account], [
      'TP2',
      [1_000n],
      'ord_1',
      '7',
    ]);
  });

  it('are refused by both where anything is different [T-PAY-04]', async () => {
    const notice = fake.completed(CHECKOUT);
    const signature = notice.headers['creem-signature']!;
    const others: readonly FakeNotice[] = [
      { ...notice, body: `${notice.body} ` },
      { ...notice, body: JSON.stringify(JSON.parse(notice.body)) },
      { ...notice, headers: { 'creem-signature': signature.replace(/^./, (first) => (first === '0' ? '1' : '0')) } },
      { ...notice, headers: { 'creem-signature': signature.slice(1) } },
      fake.signed(notice.body, ''),
      fake.signed(notice.body, ' '),
      fake.signed(notice.body, fake.section.key),
      { ...notice, headers: {} },
    ];
    for (const other of others) {
      await refused(ours, other, JSON.stringify(other.headers));
      await assert.rejects(constructWebhookEvent(other.body, { ...other.headers }, fake.section.webhookSecret));
    }
  });

  it('of a product that is not sold any more are believed: it was ordered', async () => {
    const later = createCreem({ ...fake.section, products: [] }, { fetch });
    const notice = await read(later, fake.completed(CHECKOUT));
    assert.deepEqual(notice?.about === 'paid' && [notice.product, notice.objection], ['prod_small', undefined]);
  });

  it('under something that is no event are no use either', async () => {
    await refused(ours, fake.signed('no JSON'), 'text');
    await refused(ours, fake.signed('[1]'), 'a list');
  });
});

describe('signatures of alipay', () => {
  let fake: FakeAlipay;
  let ours: Provider;
  before(async () => {
    fake = await fakeAlipay();
    const section = { currency: 'USD', price: 1, ...EMPTY, alipay: fake.section } as unknown as PaymentsSection;
    const { alipay } = readSection(section, (path, message) => assert.fail(`${path.join('.')} ${message}`)) as {
      readonly alipay: NonNullable<Configured['alipay']>;
    };
    ours = createAlipay(alipay, { clock, fetch });
  });
  after(() => fake.close());
  const TRADE = {
    no: '2026',
    fields: {},
    asked: { out_trade_no: 'TP3', total_amount: '73.00', subject: 'S', passback_params: '7' },
  };

  it('are believed with a text encoding and characters that need one', async () => {
    const notice = await read(ours, fake.notice(TRADE, { subject: 'Übung & 充值 100%+1', buyer_id: '' }));
    assert.deepEqual(notice?.about === 'paid' && [notice.tradeNo, notice.money, notice.currency, notice.account], [
      'TP3',
      [7_300n],
      'CNY',
      '7',
    ]);
  });

  it('are refused where anything is different', async () => {
    const right = fake.notice(TRADE);
    const form = new URLSearchParams(right.body);
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const theirs = createSign('RSA-SHA256').update('x').sign(stranger, 'base64');
    const changed = (name: string, value: string): FakeNotice => {
      const fields = new URLSearchParams(form);
      fields.set(name, value);
      return { ...right, body: fields.toString() };
    };
    await refused(ours, changed('total_amount', '7300.00'), 'another amount');
    await refused(ours, changed('sign', theirs), 'a signature of somebody else');
    await refused(ours, changed('sign', ''), 'no signature');
    await refused(ours, changed('sign_type', 'RSA'), 'the older kind of signature');
    await refused(ours, changed('sign_type', 'none'), 'a kind that there is not');
    await refused(ours, changed('charset', 'gbk'), 'another text encoding');
    await refused(ours, { ...right, body: `${right.body}&total_amount=73.00` }, 'a field that comes twice');
    await refused(ours, { ...right, body: '' }, 'nothing');
    await refused(ours, fake.notice(TRADE, { app_id: '2021000000000002' }), 'for another merchant');
    await refused(ours, fake.notice(TRADE, { notify_id: '' }), 'no id');
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x${i}`, '']));
    await refused(ours, fake.notice(TRADE, many), 'more fields than anybody sends');
  });
});

describe('signatures of epay', () => {
  const fake = fakeEpay();
  const ours = createEpay({ ...fake.section, currency: 'CNY', price: { digits: 1n, scale: 0 } });
  const FORM = { out_trade_no: 'TP4', type: 'wxpay', name: 'N', money: '10.00', param: '7' };

  it('are believed in a query and in a form', async () => {
    for (const method of ['GET', 'POST'] as const) {
      const notice = await read(ours, fake.notice(FORM, {}, method));
      assert.deepEqual(notice?.about === 'paid' && [notice.tradeNo, notice.money], ['TP4', [1_000n]]);
    }
  });

  it('are refused where anything is different', async () => {
    const { path, ...right } = fake.notice(FORM);
    for (const other of [
      path.replace('money=10.00', 'money=1000.00'),
      `${path}&money=10.00`,
      path.replace(/sign=\w+/, 'sign='),
      path.replace(/sign=\w+/, `sign=${'0'.repeat(32)}`),
      path.split('?')[0]!,
    ]) {
      await refused(ours, { ...right, path: other }, other);
    }
    await refused(ours, fake.notice(FORM, { pid: '1002' }), 'for another merchant');
    await refused(ours, { ...fake.notice(FORM, {}, 'POST'), body: '' }, 'a query is no form');
  });
});

/** The other providers, off. */
const EMPTY = {
  smallest: 1,
  largest: 1,
  amounts: [],
  seller: { tax: { name: '', rate: 0 } },
  stripe: { secret: '', webhookSecret: '', url: '' },
  creem: { key: '', webhookSecret: '', url: '', products: [] },
  epay: { id: '', key: '', url: '', methods: [] },
};
