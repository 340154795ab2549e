/** Top-up: what may be bought, how a payment begins, whose orders anybody sees. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  CONSOLE_PIPELINE,
  fieldOf,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  type Visitor,
  verify,
  visitor,
} from '../../kit/console/console.ts';
import { BEGIN, type PayingGateway, startPaying } from '../../kit/console/paying.ts';
import { startGateway } from '../../kit/gateway/gateway.ts';

/** Rows that begin a payment, each with a body that is right. */
const PAYMENTS = [
  ['/api/user/stripe/pay', { amount: 10 }],
  ['/api/user/creem/pay', { product_id: 'prod_small' }],
  ['/api/user/alipay/pay', { amount: 10 }],
  ['/api/user/pay', { amount: 10, payment_method: 'alipay' }],
  ['/api/user/amount', { amount: 10 }],
  ['/api/user/stripe/amount', { amount: 10 }],
  ['/api/user/alipay/amount', { amount: 10 }],
  ['/api/subscription/stripe/pay', { plan: 'pro' }],
  ['/api/subscription/alipay/pay', { plan_id: 'pro' }],
  ['/api/subscription/epay/pay', { plan: 'pro' }],
] as const;
const WITH_AMOUNT = PAYMENTS.filter(([, body]) => 'amount' in body).map(([path]) => path);

/** What of the books a person sees. */
async function balanceOf(who: Visitor): Promise<number> {
  return (await who.data('GET', '/api/user/self')).quota;
}

describe('top-up', () => {
  let gateway: PayingGateway;
  let ann: Visitor;
  let bob: Visitor;
  let admin: Visitor;
  before(async () => {
    gateway = await startPaying({
      plans: {
        pro: { daily: 5, price: 19.99, balance: 2 },
        team: { daily: 50, price: 99 },
        gift: { daily: 1 },
      },
    });
    ann = await member(gateway, 'ann');
    bob = await member(gateway, 'bob');
    admin = await verify(await root(gateway));
  });
  after(() => gateway.stop());

  const amounts = (): readonly string[] =>
    gateway.stripe.sessions.map(({ fields }) => fields['line_items[0][price_data][unit_amount]'] ?? '');

  it('tells what may be bought, in the words that tools know', async () => {
    const info = await ann.data('GET', '/api/user/topup/info');
    assert.deepEqual(
      [info.enable_online_topup, info.enable_stripe_topup, info.enable_creem_topup, info.enable_alipay_topup],
      [true, true, true, true],
    );
    assert.deepEqual(
      info.pay_methods.map((way: { type: string; provider: string }) => `${way.type} ${way.provider}`),
      ['alipay epay', 'wxpay epay', 'stripe stripe', 'alipay_qr alipay'],
    );
    assert.deepEqual(JSON.parse(info.creem_products), [
      { productId: 'prod_small', name: 'Small', price: 10, currency: 'USD', quota: 5_000_000 },
      { productId: 'prod_large', name: 'Large', price: 45.5, currency: 'USD', quota: 25_000_000 },
    ]);
    assert.deepEqual([info.min_topup, info.amount_options, info.discount], [5, [10, 20, 50, 100], {}]);
    assert.deepEqual(info.prices.alipay, { price: '7.3', currency: 'CNY' });
    assert.deepEqual(Object.keys(info.plan_prices).sort(), ['pro', 'team'], 'what is given is not for sale');
    assert.deepEqual(info.plan_prices.pro.stripe, { price: '19.99', currency: 'USD' });
    assert.deepEqual(info.plan_prices.pro.alipay, { price: '145.93', currency: 'CNY' });
    assert.doesNotMatch(JSON.stringify(info), /sk_test|whsec|creem_test/, 'no secret is in it');
  });

  it('says in the status what a unit costs', async () => {
    // Tools take it for a rate of exchange. What creem sells has prices of its own.
    const { data } = (await visitor(gateway).get('/api/status')).body;
    assert.deepEqual([data.price, data.stripe_unit_price], [1, 1]);
    const alone = await startPaying({
      payments: { creem: gateway.creem.section, alipay: gateway.alipay.section, epay: gateway.epay.section },
    });
    try {
      const status = (await visitor(alone).get('/api/status')).body.data;
      assert.deepEqual([status.price, status.stripe_unit_price], [7.3, 7.3]);
    } finally {
      await alone.stop();
    }
  });

  it('says what something costs', async () => {
    const quote = async (path: string) => (await ann.post(path, { amount: 12 })).body;
    assert.deepEqual(await quote('/api/user/stripe/amount'), { success: true, message: 'success', data: '12.00' });
    assert.equal((await quote('/api/user/alipay/amount')).data, '87.60');
    assert.equal((await quote('/api/user/amount')).data, '12.00');
  });

  it('takes whole amounts within its bounds and nothing else [T-PAY-07]', async () => {
    const wrong = [0, -1, 0.001, 1e21, '1,000', '10', null, true, [10], 4, 10_001, 2 ** 53, 10.5, {}];
    for (const path of WITH_AMOUNT) {
      for (const amount of wrong) {
        const { status, body } = await ann.post(path, JSON.stringify({ amount }));
        assert.deepEqual([status, body.param, body.message], [400, 'amount', 'error'], `${path} ${amount}`);
      }
      assert.equal((await ann.post(path, {})).status, 400, path);
    }
    assert.equal((await ann.data('GET', '/api/user/topup/self')).total, 0, 'no order was made');
  });

  it('computes the price itself, whatever the client says [T-PAY-07]', async () => {
    // Some tools send what they mean by nothing.
    const blank = { amount: 10, price: 0, money: '', quota: null, currency: '', top_up_code: '' };
    assert.equal((await ann.post('/api/user/stripe/pay', blank)).status, 200);
    assert.equal(amounts().at(-1), '1000');
    const cheap = { price: 0.01, money: '0.01', quota: 1e12, currency: 'VND', top_up_code: 'x' };
    for (const [name, value] of Object.entries(cheap)) {
      const { status, body } = await ann.post('/api/user/stripe/pay', { amount: 10, [name]: value });
      assert.deepEqual([status, body.param, body.message], [400, name, 'error'], name);
    }
    for (const [name, value] of Object.entries({
      account_id: 2,
      user_id: 1,
      trade_no: 'x',
      state: 'success',
      status: 'success',
      credited: 5,
      units: 1,
      payment_ref: 'pi_1',
      completed_ms: 1,
      kind: 'plan',
    })) {
      const { status, body } = await ann.post('/api/user/stripe/pay', { amount: 10, [name]: value });
      assert.deepEqual([status, body.message], [400, 'error'], name);
    }
    const [order] = (await ann.data('GET', '/api/user/topup/self')).items;
    assert.deepEqual(
      [order.amount, order.quota, order.money, order.currency, order.status, order.complete_time],
      [10, 5_000_000, 10, 'USD', 'pending', 0],
    );
  });

  it('opens a page at each provider, and credits what it tells was paid', async () => {
    for (const [name, begin] of Object.entries(BEGIN)) {
      const before = await balanceOf(ann);
      const order = await begin(gateway, ann);
      assert.match(order.tradeNo, /^TP[0-9a-f]{30}$/);
      assert.equal(await balanceOf(ann), before, 'beginning to pay gives nothing');
      assert.match(await gateway.tell(order.paid()), /^200 (ok|success)$/, name);
      assert.equal(await balanceOf(ann), before + 5_000_000, name);
      const status = await ann.data('GET', `/api/user/topup/status?trade_no=${order.tradeNo}`);
      assert.deepEqual([status.status, status.payment_provider], ['success', name]);
      assert.ok(status.complete_time > 0, 'it says when');
    }
  });

  it('shows a QR code where that is asked for', async () => {
    const { body } = await ann.post('/api/user/alipay/pay', { amount: 10, payment_method: 'alipay_qr' });
    assert.match(body.data.pay_url, /^https:\/\/qr\.alipay\.example\//);
    const [, picture = ''] = /^data:image\/svg\+xml;base64,(.+)$/.exec(body.data.pay_qr) ?? [];
    assert.match(Buffer.from(picture, 'base64').toString(), /^<svg[^>]*>(?!.*<script)/s);
    assert.equal(gateway.alipay.trades.at(-1)?.asked.out_trade_no, body.data.order_id);
    const before = await balanceOf(ann);
    assert.equal(await gateway.tell(gateway.alipay.notice(gateway.alipay.trades.at(-1)!)), '200 success');
    assert.equal(await balanceOf(ann), before + 5_000_000);
  });

  it('refuses ways, products and plans that there are not', async () => {
    const wrong: readonly (readonly [path: string, body: object, param: string])[] = [
      ['/api/user/pay', { amount: 10, payment_method: 'cash' }, 'payment_method'],
      ['/api/user/alipay/pay', { amount: 10, payment_method: 'stripe' }, 'payment_method'],
      ['/api/user/creem/pay', { product_id: 'prod_other' }, 'product_id'],
      ['/api/subscription/stripe/pay', { plan: 'none' }, 'plan'],
      ['/api/subscription/stripe/pay', { plan: 'gift' }, 'plan'],
      ['/api/subscription/stripe/pay', {}, 'plan'],
    ];
    for (const [path, sent, param] of wrong) {
      const { status, body } = await ann.post(path, sent);
      assert.deepEqual([status, body.param], [400, param], `${path} ${JSON.stringify(sent)}`);
    }
  });

  it('sends nobody to another site', async () => {
    for (const url of [
      'https://evil.example/',
      '//evil.example',
      'javascript:alert(1)',
      'http://localhost:8080@evil.example',
      'blob:http://localhost:8080/x',
    ]) {
      for (const param of ['success_url', 'cancel_url']) {
        const { status, body } = await ann.post('/api/user/stripe/pay', { amount: 10, [param]: url });
        assert.deepEqual([status, body.param], [400, param], url);
      }
    }
    const own = 'http://localhost:8080/console/topup?paid=1';
    assert.equal((await ann.post('/api/user/stripe/pay', { amount: 10, success_url: own })).status, 200);
    assert.equal(gateway.stripe.sessions.at(-1)?.fields.success_url, own);
    const odd = {
      success_url: 'http:\\\\localhost:8080\\@evil.example',
      cancel_url: 'http://bank.example@localhost:8080/x',
    };
    assert.equal((await ann.post('/api/user/stripe/pay', { amount: 10, ...odd })).status, 200);
    const { success_url, cancel_url } = gateway.stripe.sessions.at(-1)!.fields;
    assert.deepEqual(
      [success_url, cancel_url],
      ['http://localhost:8080/@evil.example', 'http://localhost:8080/x'],
      'as we read it',
    );
  });

  it('says so where the provider does not answer, and keeps no order waiting', async () => {
    gateway.stripe.broken = true;
    const { status, body } = await ann.post('/api/user/stripe/pay', { amount: 10 });
    gateway.stripe.broken = false;
    assert.deepEqual([status, body.message, body.code], [502, 'error', 'payment_provider_failed']);
    const [order] = (await ann.data('GET', '/api/user/topup/self')).items;
    assert.equal(order.status, 'failed');
  });

  it('shows everybody their own orders, and administrators all', async () => {
    const { tradeNo } = await BEGIN.epay!(gateway, ann);
    const theirs = await bob.get(`/api/user/topup/status?trade_no=${tradeNo}`);
    assert.deepEqual([theirs.status, theirs.body.code], [404, 'order_not_found']);
    assert.deepEqual((await bob.data('GET', '/api/user/topup/self')).items, []);
    assert.equal((await bob.get('/api/user/topup')).status, 403);
    const all = await admin.data('GET', `/api/user/topup?keyword=${tradeNo.slice(4, 20)}`);
    assert.deepEqual([all.total, all.items[0].trade_no], [1, tradeNo]);
    assert.equal((await admin.data('GET', '/api/user/topup?keyword=%25')).total, 0, 'a per cent sign means itself');
    const { total, items } = await admin.data('GET', '/api/user/topup?status=success&page_size=2');
    assert.ok(total > 2 && items.length === 2, `${total} orders, ${items.length} on the page`);
    const { id } = await ann.data('GET', '/api/user/self');
    assert.ok((await admin.data('GET', `/api/user/topup?user_id=${id}`)).total > 0, 'by account');
    assert.equal(fieldOf(await admin.get('/api/user/topup?user_id=999999')), '404 user_id');
    assert.equal(all.items[0].username, 'ann');
    assert.equal((await ann.data('GET', '/api/user/topup/self')).items[0].username, '', 'it is one’s own');
    const byEpay = await admin.data('GET', '/api/user/topup?provider=epay&page_size=100');
    const providers = new Set(byEpay.items.map((item: { payment_provider: string }) => item.payment_provider));
    assert.deepEqual([...providers], ['epay']);
    assert.equal((await admin.data('GET', '/api/user/topup?provider=nobody')).total, 0);
  });

  it('lets a checked administrator complete an order by hand, once', async () => {
    const { tradeNo, paid } = await BEGIN.stripe!(gateway, bob);
    assert.equal((await bob.post('/api/user/topup/complete', { trade_no: tradeNo })).status, 403);
    const done = await admin.data('POST', '/api/user/topup/complete', {
      trade_no: tradeNo,
      reason: ' seen in the bank ',
    });
    assert.deepEqual([done.status, done.username], ['success', 'bob']);
    const told = (await admin.data('GET', '/api/audit?action=order.completed')).items[0];
    assert.equal(told.facts.reason, 'seen in the bank');
    assert.equal(await balanceOf(bob), 5_000_000);
    const again = await admin.post('/api/user/topup/complete', { trade_no: tradeNo });
    assert.deepEqual([again.status, again.body.code], [409, 'order_completed']);
    const none = await admin.post('/api/user/topup/complete', { trade_no: 'TP0' });
    assert.deepEqual([none.status, none.body.code], [404, 'order_not_found']);
    assert.equal(await gateway.tell(paid()), '200 ok', 'the notification comes late');
    assert.equal(await balanceOf(bob), 5_000_000, 'and gives nothing more');
    const refund = gateway.stripe.sessions.find((session) => session.tradeNo === tradeNo)!;
    assert.equal(await gateway.tell(gateway.stripe.refunded(refund, 1_000)), '200 ok');
    assert.equal(await balanceOf(bob), 0, 'what goes back is known by the payment that was told');

    const other = await BEGIN.stripe!(gateway, bob);
    await admin.data('POST', '/api/user/topup/complete', { trade_no: other.tradeNo });
    const session = gateway.stripe.sessions.find((one) => one.tradeNo === other.tradeNo)!;
    const payments = ['pi_left', 'pi_right'].map((payment) =>
      gateway.stripe.session(session, { payment_intent: payment }),
    );
    await Promise.all(payments.map((notice) => gateway.tell(notice)));
    assert.equal(await balanceOf(bob), 5_000_000);
    const { items } = await admin.data('GET', '/api/audit?page_size=100&action=order.paid-twice');
    assert.equal(items.filter((item: { object: string }) => item.object === `order ${other.tradeNo}`).length, 1);
    const back = ['pi_left', 'pi_right'].map((payment) => gateway.stripe.refunded({ ...session, payment }, 1_000));
    for (const notice of back) await gateway.tell(notice);
    assert.equal(await balanceOf(bob), 0, 'the one that settled it went back');
  });

  it('sells plans, at the price of the plan', async () => {
    const { body } = await bob.post('/api/subscription/stripe/pay', { plan: 'pro' });
    assert.equal(amounts().at(-1), '1999');
    const session = gateway.stripe.sessions.find(({ tradeNo }) => tradeNo === body.data.order_id)!;
    const wallet = await bob.post('/api/subscription/alipay/pay', { plan_id: 'pro' });
    assert.equal(gateway.alipay.open(wallet.body.data.pay_link).asked.total_amount, '145.93');
    const statistics = () => bob.data('GET', '/api/user/subscription/stats');

    assert.equal((await statistics()).status, 'none');
    const paid = gateway.stripe.session(session);
    await Promise.all(Array.from({ length: 10 }, () => gateway.tell(paid)));
    const { plan, status, expires_at, starts_at } = await statistics();
    assert.deepEqual([plan, status, expires_at - starts_at], ['pro', 'active', 30 * 86_400]);
    assert.equal(await balanceOf(bob), 1_000_000, 'the balance that comes with it');

    const other = await bob.post('/api/subscription/epay/pay', { plan: 'team' });
    assert.deepEqual([other.status, other.body.code], [409, 'other_plan_runs']);

    assert.equal(await gateway.tell(gateway.stripe.refunded(session, 1_999)), '200 ok');
    assert.equal((await statistics()).status, 'none', 'what was refunded ends');
    assert.equal(await balanceOf(bob), 0);

    const { data } = (await bob.post('/api/subscription/stripe/pay', { plan: 'pro' })).body;
    const next = gateway.stripe.sessions.find(({ tradeNo }) => tradeNo === data.order_id)!;
    assert.equal(await gateway.tell(gateway.stripe.session(next)), '200 ok');
    for (const event of ['evt_other', undefined]) {
      assert.equal(await gateway.tell(gateway.stripe.refunded(session, 1_999, event)), '200 ok');
      assert.equal((await statistics()).status, 'active', 'a refund told again ends nothing that was bought since');
    }
    const dispute = (step: 'created' | 'closed', status: string) =>
      gateway.tell(gateway.stripe.dispute(next, step, status, 'dp_plan'));
    assert.equal(await dispute('closed', 'won'), '200 ok');
    assert.equal(await dispute('created', 'needs_response'), '200 ok', 'told late');
    assert.equal((await statistics()).status, 'active');
    assert.equal(await dispute('closed', 'lost'), '200 ok', 'closed once');
    assert.equal((await statistics()).status, 'active');
    const lost = gateway.stripe.dispute(next, 'created', 'needs_response', 'dp_lost');
    assert.equal(await gateway.tell(lost), '200 ok');
    assert.equal((await statistics()).status, 'none');
  });

  it('parks a plan that was paid while another began', async () => {
    const { body } = await bob.post('/api/subscription/stripe/pay', { plan: 'team' });
    const session = gateway.stripe.sessions.find(({ tradeNo }) => tradeNo === body.data.order_id)!;
    const { id } = await bob.data('GET', '/api/user/self');
    await admin.data('POST', '/api/subscription/admin/bind', { user_id: id, plan: 'gift' });
    assert.equal(await gateway.tell(gateway.stripe.session(session)), '200 ok');
    const parked = await bob.data('GET', `/api/user/topup/status?trade_no=${session.tradeNo}`);
    assert.equal(parked.status, 'parked');
    assert.match(parked.note, /gift/);
    const still = await admin.post('/api/user/topup/complete', { trade_no: session.tradeNo });
    assert.deepEqual([still.status, still.body.code], [409, 'order_cannot_be_given']);
    await admin.data('POST', '/api/subscription/admin/cancel', { user_id: id });
    await admin.data('POST', '/api/user/topup/complete', { trade_no: session.tradeNo });
    assert.equal((await bob.data('GET', '/api/user/subscription/stats')).plan, 'team');
  });

  it('turns strangers away everywhere', async () => {
    const stranger = visitor(gateway);
    for (const [path, body] of PAYMENTS) {
      const answer = await stranger.post(path, body);
      assert.deepEqual([answer.status, answer.body.success], [401, false], path);
    }
    for (const path of ['info', 'self', 'status?trade_no=x']) {
      assert.equal((await stranger.get(`/api/user/topup/${path}`)).status, 401, path);
    }
  });
});

describe('a gateway where nobody takes money', () => {
  it('does not start where a provider is filled in by half [T-PAY-01]', async () => {
    for (const webhookSecret of ['', ' ', 'whsec_short']) {
      const stripe = { secret: 'sk_test_0123456789abcdef', webhookSecret };
      const starting = startGateway({
        config: { pipeline: CONSOLE_PIPELINE, console: PATIENT, payments: { stripe } },
        env: ROOT_ENV,
      });
      await assert.rejects(starting, /payments\.stripe\.webhookSecret: is (empty|too short)/);
    }
  });

  it('has no payments and no notifications [T-PAY-01]', async (t) => {
    const gateway = await startGateway({
      config: {
        pipeline: CONSOLE_PIPELINE,
        console: PATIENT,
        payments: { stripe: { secret: '', webhookSecret: ' ' }, creem: { key: '' }, epay: { key: '', url: '' } },
      },
      env: ROOT_ENV,
    });
    t.after(() => gateway.stop());
    const ann = await member(gateway, 'ann');
    for (const [path, body] of PAYMENTS) {
      const answer = await ann.post(path, body);
      assert.deepEqual([answer.status, answer.body.message, answer.body.code], [404, 'error', 'not_available'], path);
    }
    const stranger = visitor(gateway);
    for (const path of ['/api/stripe/webhook', '/api/creem/webhook', '/api/alipay/notify', '/api/user/epay/notify']) {
      assert.equal((await stranger.post(path, '{}')).status, 404, path);
      assert.equal((await stranger.get(`${path}?sign=`)).status, 404, path);
    }
    const info = await ann.data('GET', '/api/user/topup/info');
    assert.deepEqual(
      [info.enable_online_topup, info.enable_stripe_topup, info.enable_creem_topup, info.enable_alipay_topup],
      [false, false, false, false],
    );
    assert.deepEqual([info.pay_methods, info.creem_products, info.enable_redemption], [[], '[]', true]);
  });
});
