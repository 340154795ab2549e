/** What providers tell of payments: credited once, whoever tells it how often in which order, and never where it does not fit. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { member, root, type Visitor, verify, visitor } from '../../kit/console/console.ts';
import { BEGIN, type Begun, type PayingGateway, startPaying } from '../../kit/console/paying.ts';
import { defaultConfig } from '../../kit/gateway/gateway.ts';
import { deliver, type FakeNotice } from '../../kit/stand-ins/fake-payments.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

const TEN = 5_000_000;

describe('notifications of payments', () => {
  let gateway: PayingGateway;
  let vendor: FakeVendor;
  let ann: Visitor;
  let admin: Visitor;
  before(async () => {
    vendor = await fakeVendor();
    const { channels, models } = defaultConfig([vendor]);
    gateway = await startPaying({ channels, models });
    ann = await member(gateway, 'ann');
    admin = await verify(await root(gateway));
  });
  after(async () => {
    await gateway?.stop();
    await vendor?.close();
  });

  const balance = async (who = ann): Promise<number> => (await who.data('GET', '/api/user/self')).quota;
  const stateOf = async ({ tradeNo }: Pick<Begun, 'tradeNo'>, who = ann): Promise<string> =>
    (await who.data('GET', `/api/user/topup/status?trade_no=${tradeNo}`)).status;
  /** What the audit says of an order, newest first. */
  const audited = async ({ tradeNo }: Pick<Begun, 'tradeNo'>): Promise<readonly string[]> => {
    const { items } = await admin.data('GET', '/api/audit?page_size=100');
    return items
      .filter(({ object }: { object: string }) => object === `order ${tradeNo}`)
      .map(({ action }: { action: string }) => action);
  };
  const sessionOf = ({ tradeNo }: Begun) => gateway.stripe.sessions.find((session) => session.tradeNo === tradeNo)!;
  const checkoutOf = ({ tradeNo }: Begun) => gateway.creem.checkouts.find(({ asked }) => asked.request_id === tradeNo)!;

  for (const [name, begin] of Object.entries(BEGIN)) {
    it(`of ${name} credit once, told 50 times at once [T-PAY-04]`, async () => {
      const order = await begin(gateway, ann);
      const before = await balance();
      const notice = order.paid();
      const answers = await Promise.all(Array.from({ length: 50 }, () => gateway.tell(notice)));
      assert.deepEqual([...new Set(answers)], [/alipay|epay/.test(name) ? '200 success' : '200 ok']);
      assert.equal(await balance(), before + TEN);
      // The same payment under other events.
      for (let i = 0; i < 3; i++) assert.match(await gateway.tell(order.paid()), /^200 /);
      assert.equal(await balance(), before + TEN);
      assert.deepEqual(await audited(order), ['order.paid']);
    });

    it(`of ${name} settle no order of another provider [T-PAY-02]`, async () => {
      for (const [other, beginOther] of Object.entries(BEGIN)) {
        if (other === name) continue;
        const [mine, theirs] = [await begin(gateway, ann), await beginOther(gateway, ann)];
        const before = await balance();
        assert.match(await gateway.tell(renamed(gateway, mine, theirs.tradeNo)), /^409 /, `${name} for ${other}`);
        assert.equal(await balance(), before);
        assert.deepEqual([await stateOf(theirs), await stateOf(mine)], ['pending', 'pending']);
        assert.deepEqual(await audited(theirs), ['order.refused']);
      }
    });
  }

  it('credit nothing where amount, currency, status or person are others [T-PAY-03]', async () => {
    const order = await BEGIN.stripe!(gateway, ann);
    const session = sessionOf(order);
    const before = await balance();
    const wrong: readonly FakeNotice[] = [
      gateway.stripe.session(session, { amount_total: 1 }),
      gateway.stripe.session(session, { amount_total: 999 }),
      gateway.stripe.session(session, { amount_total: 100_000 }),
      gateway.stripe.session(session, { amount_total: null }),
      gateway.stripe.session(session, { currency: 'vnd' }),
      gateway.stripe.session(session, { payment_status: 'no_payment_required' }),
      gateway.stripe.session(session, { metadata: { account: '1' } }),
      gateway.stripe.session(session, { metadata: {} }),
      gateway.stripe.session(session, { payment_intent: null }),
    ];
    for (const notice of wrong) assert.equal(await gateway.tell(notice), '409 invalid notification', notice.body);
    const waiting = gateway.stripe.session(session, { payment_status: 'unpaid' });
    assert.equal(await gateway.tell(waiting), '200 ok', 'the money is on its way');
    assert.deepEqual([await stateOf(order), await balance()], ['pending', before]);
    assert.deepEqual(await audited(order), ['order.waiting', ...wrong.map(() => 'order.refused')]);
    const late = { type: 'checkout.session.async_payment_succeeded' };
    assert.equal(await gateway.tell(gateway.stripe.session(session, {}, late)), '200 ok');
    assert.equal(await balance(), before + TEN, 'it came');
  });

  it('of products credit nothing where another was paid, or less of it [T-PAY-03]', async () => {
    const order = await BEGIN.creem!(gateway, ann);
    const checkout = checkoutOf(order);
    const before = await balance();
    const { completed } = gateway.creem;
    for (const notice of [
      completed(checkout, { amount: 1 }),
      completed(checkout, { amount: 5_000 }),
      completed(checkout, { currency: 'EUR' }),
      completed(checkout, { product: 'prod_other' }),
      completed(checkout, { product: 'prod_large' }),
      completed(checkout, { amount: 1, sub_total: 1_000 }),
      completed(checkout, { amount: 999, sub_total: 1_000 }),
      completed(checkout, { amount: 1_000, amount_paid: 100 }),
      completed(checkout, { amount: 1_000, discount_amount: 900 }),
      completed(checkout, {}, { units: 2 }),
      completed(checkout, {}, { metadata: { account: '1' } }),
    ]) {
      assert.equal(await gateway.tell(notice), '409 invalid notification', notice.body);
    }
    assert.equal(await gateway.tell(completed(checkout, { status: 'pending' })), '200 ok');
    assert.deepEqual([await stateOf(order), await balance()], ['pending', before]);
    const taxed = completed(checkout, { amount: 1_190, sub_total: 1_000, tax_amount: 190, amount_paid: 1_190 });
    assert.equal(await gateway.tell(taxed), '200 ok', 'a tax upon the price is the provider’s');
    assert.equal(await balance(), before + TEN);
  });

  it('of wallets credit nothing where amount, state or person are others [T-PAY-03]', async () => {
    const { body } = await ann.post('/api/user/alipay/pay', { amount: 10 });
    const trade = gateway.alipay.open(body.data.pay_link);
    const form = (await ann.post('/api/user/pay', { amount: 10, payment_method: 'alipay' })).body.data;
    const before = await balance();
    for (const notice of [
      gateway.alipay.notice(trade, { total_amount: '0.01' }),
      gateway.alipay.notice(trade, { total_amount: '73.001' }),
      gateway.alipay.notice(trade, { passback_params: '1' }),
      gateway.alipay.notice(trade, { trade_no: '' }),
      gateway.epay.notice(form, { money: '0.01' }),
      gateway.epay.notice(form, { money: '' }),
      gateway.epay.notice(form, { param: '1' }),
    ]) {
      assert.equal(await gateway.tell(notice), '409 fail', notice.body || notice.path);
    }
    assert.equal(await gateway.tell(gateway.alipay.notice(trade, { trade_status: 'WAIT_BUYER_PAY' })), '200 success');
    assert.equal(await gateway.tell(gateway.epay.notice(form, { trade_status: 'TRADE_WAIT' })), '200 success');
    assert.equal(await balance(), before);
    assert.deepEqual(
      [await stateOf({ tradeNo: body.data.order_id }), await stateOf({ tradeNo: form.out_trade_no })],
      ['pending', 'pending'],
    );
  });

  it('of one payment settle one order', async () => {
    const [one, two] = [await BEGIN.stripe!(gateway, ann), await BEGIN.stripe!(gateway, ann)];
    assert.equal(await gateway.tell(one.paid()), '200 ok');
    const before = await balance();
    const again = gateway.stripe.session(sessionOf(two), { payment_intent: sessionOf(one).payment });
    assert.equal(await gateway.tell(again), '409 invalid notification');
    assert.deepEqual([await stateOf(two), await balance()], ['pending', before]);
  });

  it('of a second payment for one order are told to administrators', async () => {
    const order = await BEGIN.epay!(gateway, ann);
    const before = await balance();
    await gateway.tell(order.paid());
    const { items } = await ann.data('GET', `/api/user/topup/self?keyword=${order.tradeNo}`);
    const form = { out_trade_no: order.tradeNo, type: 'wxpay', money: '10.00', param: String(items[0].user_id) };
    assert.equal(await gateway.tell(gateway.epay.notice(form, { trade_no: 'E-another' })), '200 success');
    assert.equal(await balance(), before + TEN);
    assert.deepEqual(await audited(order), ['order.paid-twice', 'order.paid']);
    const stripe = await BEGIN.stripe!(gateway, ann);
    await gateway.tell(stripe.paid());
    await gateway.tell(gateway.stripe.session(sessionOf(stripe), { payment_intent: 'pi_second' }));
    assert.deepEqual(await audited(stripe), ['order.paid-twice', 'order.paid']);
  });

  it('that nobody signed change nothing, say nothing, and are told to the audit once a minute', async () => {
    const orders = [
      await BEGIN.stripe!(gateway, ann),
      await BEGIN.creem!(gateway, ann),
      await BEGIN.epay!(gateway, ann),
    ];
    const before = await balance();
    for (const order of orders) {
      const right = order.paid();
      const forged: readonly FakeNotice[] = [
        { ...right, headers: { 'content-type': 'application/json' }, path: right.path.replace(/sign=\w+/, 'sign=0') },
        {
          ...right,
          headers: Object.fromEntries(
            Object.entries(right.headers).map(([name, value]) => [
              name,
              value.replace(/[0-9a-f]{64}$/, '0'.repeat(64)),
            ]),
          ),
          path: right.path.replace(/money=[^&]+/, 'money=99.00'),
        },
      ];
      for (const notice of forged) {
        assert.match(await gateway.tell(notice), /^400 (invalid notification|fail)$/, order.provider);
      }
      if (right.method === 'POST') {
        const anew = { ...right, body: JSON.stringify(JSON.parse(right.body)) };
        assert.notEqual(anew.body, right.body);
        assert.equal(await gateway.tell(anew), '400 invalid notification', 'the same JSON, written anew [T-PAY-04]');
      }
      assert.equal(await stateOf(order), 'pending');
    }
    assert.equal(await balance(), before);
    const { items } = await admin.data('GET', '/api/audit?page_size=100&action=order.forged');
    const noted = items.filter(({ object }: { object: string }) => object === 'notification of stripe');
    assert.equal(noted.length, 1);
  });

  it('are never made of what the gateway has signed itself [T-PAY-01]', async () => {
    const before = await balance();
    // A signature of this kind does not say where a value ends: what a client chose must not be under it.
    const success_url = 'http://localhost:8080/console/topup?x&trade_no=E1&trade_status=TRADE_SUCCESS';
    const asked = { amount: 10, payment_method: 'alipay', success_url };
    const { sign, sign_type, ...form } = (await ann.post('/api/user/pay', asked)).body.data;
    const text = Object.keys(form)
      .sort()
      .map((name) => `${name}=${form[name]}`)
      .join('&');
    const cut = text.split('&').map((part) => part.split(/=(.*)/s).slice(0, 2));
    for (const fields of [Object.fromEntries(cut), form]) {
      const path = `/api/user/epay/notify?${new URLSearchParams({ ...fields, sign, sign_type })}`;
      assert.equal(await gateway.tell({ method: 'GET', path, headers: {}, body: '' }), '400 fail', path);
    }
    assert.equal(form.return_url, 'http://localhost:8080/console/topup');
    const wallet = (await ann.post('/api/user/alipay/pay', asked)).body.data;
    assert.equal(gateway.alipay.open(wallet.pay_link).fields.return_url, 'http://localhost:8080/console/topup');
    assert.equal(await balance(), before);
  });

  it('that are too large are not read [T-PAY-04]', async () => {
    for (const path of ['/api/stripe/webhook', '/api/creem/webhook', '/api/alipay/notify', '/api/user/epay/notify']) {
      const answer = await deliver(gateway, { method: 'POST', path, headers: {}, body: 'x'.repeat(1_048_576) });
      assert.equal(answer.status, 413, path);
    }
  });

  it('about nothing of ours are taken and forgotten', async () => {
    const { stripe } = gateway;
    const stranger = { id: 'cs_x', payment: 'pi_x', tradeNo: 'somebody-elses', fields: {} };
    assert.equal(await gateway.tell(stripe.session(stranger)), '200 ok');
    assert.equal(await gateway.tell(stripe.session(stranger, { client_reference_id: null })), '200 ok');
    assert.equal(await gateway.tell(stripe.refunded(stranger, 5)), '200 ok');
    assert.equal(await gateway.tell(stripe.event('customer.created', { id: 'cus_1' })), '200 ok');
  });

  it('of failure and expiry end the waiting, and nothing that was paid', async () => {
    const steps = { failed: 'checkout.session.async_payment_failed', expired: 'checkout.session.expired' };
    for (const [state, type] of Object.entries(steps)) {
      const order = await BEGIN.stripe!(gateway, ann);
      const told = gateway.stripe.session(sessionOf(order), { payment_status: 'unpaid' }, { type });
      assert.equal(await gateway.tell(told), '200 ok');
      assert.equal(await stateOf(order), state);
      const before = await balance();
      assert.equal(await gateway.tell(order.paid()), '200 ok', 'money that came is never lost');
      assert.equal(await balance(), before + TEN);
      assert.equal(await gateway.tell(gateway.stripe.session(sessionOf(order), {}, { type })), '200 ok');
      assert.equal(await stateOf(order), 'success');
    }
  });

  describe('that money went back', () => {
    for (const name of ['stripe', 'creem', 'alipay'] as const) {
      it(`with ${name} take back once what was given [T-PAY-06]`, async () => {
        const order = await BEGIN[name]!(gateway, ann);
        await gateway.tell(order.paid());
        const before = await balance();
        const notice = order.refunded();
        const answers = await Promise.all(Array.from({ length: 20 }, () => gateway.tell(notice)));
        assert.deepEqual([...new Set(answers)], [name === 'alipay' ? '200 success' : '200 ok']);
        assert.deepEqual([await stateOf(order), await balance()], ['refunded', before - TEN]);
        assert.match(await gateway.tell(order.paid()), /^200 /, 'paid, told after the refund [T-PAY-04]');
        assert.deepEqual([await stateOf(order), await balance()], ['refunded', before - TEN]);
      });
    }

    it('before the payment was told wait for it', async () => {
      const order = await BEGIN.stripe!(gateway, ann);
      const before = await balance();
      const refund = order.refunded();
      assert.equal(await gateway.tell(refund), '409 invalid notification');
      assert.equal(await gateway.tell(order.paid()), '200 ok');
      assert.equal(await gateway.tell(refund), '200 ok', 'sent again');
      assert.deepEqual([await stateOf(order), await balance()], ['refunded', before]);
    });

    it('before the payment was told, of which nothing else is known, park the order', async () => {
      const product = await BEGIN.creem!(gateway, ann);
      const card = await BEGIN.stripe!(gateway, ann);
      const before = await balance();
      const checkout = checkoutOf(product);
      const whole = { checkout: { id: checkout.id, request_id: product.tradeNo } };
      assert.equal(await gateway.tell(gateway.creem.refunded(checkout, 1_000, whole)), '409 invalid notification');
      const back = [product.refunded(), gateway.stripe.dispute(sessionOf(card), 'created', 'needs_response')];
      for (const notice of [...back, ...back]) assert.equal(await gateway.tell(notice), '200 ok');
      for (const order of [product, card]) {
        await Promise.all(Array.from({ length: 5 }, () => gateway.tell(order.paid())));
        assert.deepEqual([await stateOf(order), await balance()], ['parked', before], order.provider);
        assert.deepEqual(await audited(order), ['order.parked']);
        assert.equal(await gateway.tell(order.refunded()), '200 ok');
        assert.deepEqual([await stateOf(order), await balance()], ['refunded', before]);
      }
      for (let i = 0; i < 10; i++) {
        const order = await BEGIN.creem!(gateway, ann);
        const told = [order.paid(), order.refunded()];
        await Promise.all((i % 2 === 0 ? told : told.reverse()).map((notice) => gateway.tell(notice)));
        assert.match(await stateOf(order), /^(parked|refunded)$/, 'told together');
      }
      assert.equal(await balance(), before);
    });

    it('in part take back that part, in whichever order it is told', async () => {
      const order = await BEGIN.stripe!(gateway, ann);
      await gateway.tell(order.paid());
      const full = await balance();
      const { stripe } = gateway;
      const some = [250, 100, 600].map((amount) => stripe.refunded(sessionOf(order), amount));
      assert.equal(await gateway.tell(some[0]!), '200 ok');
      assert.deepEqual([await stateOf(order), await balance()], ['success', full - TEN / 4]);
      assert.equal(await gateway.tell(some[1]!), '200 ok', 'an older sum');
      assert.equal(await balance(), full - TEN / 4);
      assert.equal(await gateway.tell(some[2]!), '200 ok');
      assert.equal(await balance(), full - 0.6 * TEN);
      assert.equal(await gateway.tell(stripe.refunded(sessionOf(order), 1_000)), '200 ok');
      assert.deepEqual([await stateOf(order), await balance()], ['refunded', full - TEN]);

      const product = await BEGIN.creem!(gateway, ann);
      await gateway.tell(product.paid());
      const before = await balance();
      const { creem } = gateway;
      for (let i = 0; i < 2; i++) assert.equal(await gateway.tell(creem.refunded(checkoutOf(product), 300)), '200 ok');
      assert.equal(await balance(), before - 0.6 * TEN, 'each of them is one more');
      assert.equal(await gateway.tell(creem.refunded(checkoutOf(product), 300, { status: 'pending' })), '200 ok');
      assert.equal(await balance(), before - 0.6 * TEN);
    });

    it('by a dispute take back, and give again where it was won [T-PAY-06]', async () => {
      const order = await BEGIN.stripe!(gateway, ann);
      await gateway.tell(order.paid());
      const full = await balance();
      const step = (name: 'created' | 'closed', status: string, id = 'dp_a') =>
        gateway.tell(gateway.stripe.dispute(sessionOf(order), name, status, id));
      assert.equal(await step('created', 'warning_needs_response'), '200 ok');
      assert.deepEqual([await stateOf(order), await balance()], ['success', full], 'an inquiry takes nothing');
      await Promise.all(Array.from({ length: 10 }, () => step('created', 'needs_response')));
      assert.deepEqual([await stateOf(order), await balance()], ['disputed', full - TEN]);
      await Promise.all(Array.from({ length: 10 }, () => step('closed', 'won')));
      assert.deepEqual([await stateOf(order), await balance()], ['success', full]);
      assert.equal(await step('created', 'needs_response'), '200 ok', 'told late');
      assert.deepEqual([await stateOf(order), await balance()], ['success', full]);
      assert.equal(await step('closed', 'lost', 'dp_b'), '200 ok', 'another one, of which only the end was told');
      assert.deepEqual([await stateOf(order), await balance()], ['disputed', full - TEN]);

      const product = await BEGIN.creem!(gateway, ann);
      await gateway.tell(product.paid());
      assert.equal(await gateway.tell(gateway.creem.disputed(checkoutOf(product))), '200 ok');
      assert.deepEqual([await stateOf(product), await balance()], ['disputed', full - TEN]);
    });

    it('by several disputes take back what they hold together', async () => {
      const order = await BEGIN.stripe!(gateway, ann);
      await gateway.tell(order.paid());
      const full = await balance();
      const step = (dispute: string, name: 'created' | 'closed', status: string, amount: number | null) => {
        const { id, payment } = { id: dispute, payment: sessionOf(order).payment };
        const object = { id, payment_intent: payment, amount, currency: 'usd', status };
        return gateway.tell(gateway.stripe.event(`charge.dispute.${name}`, object));
      };
      const stands = async (state: string, part: number) =>
        assert.deepEqual([await stateOf(order), await balance()], [state, full - part * TEN]);
      await Promise.all([
        step('dp_one', 'created', 'needs_response', 300),
        step('dp_two', 'created', 'needs_response', 500),
      ]);
      await stands('disputed', 0.8);
      await step('dp_one', 'closed', 'lost', 300);
      await stands('disputed', 0.8);
      await step('dp_two', 'closed', 'won', 500);
      await stands('disputed', 0.3);
      await step('dp_three', 'created', 'needs_response', null);
      await stands('disputed', 1);
      await step('dp_three', 'closed', 'won', 1_000);
      await stands('disputed', 0.3);
    });

    it('that was spent leave a debt, and calls are refused until it is paid [T-PAY-06]', async () => {
      const bob = await member(gateway, 'bob');
      const { key } = await bob.data('POST', '/api/token/', { name: 'k', unlimited_quota: true });
      const call = async (model: string) => (await gateway.chat({ model, max_tokens: 10 }, { key })).status;
      const order = await BEGIN.stripe!(gateway, bob);
      await gateway.tell(order.paid());
      assert.equal(await call('test-model'), 200);
      const { id, quota } = await bob.data('GET', '/api/user/self');
      assert.ok(quota < TEN, 'something was spent');
      await admin.data('POST', '/api/user/manage', { id, action: 'add_quota', mode: 'subtract', value: quota - 1_000 });

      assert.equal(await gateway.tell(order.refunded()), '200 ok');
      assert.deepEqual([await stateOf(order, bob), await balance(bob)], ['refunded', 1_000 - TEN], 'what is owed');
      assert.equal(await call('test-model'), 403);

      const next = await BEGIN.epay!(gateway, bob);
      await gateway.tell(next.paid());
      assert.equal(await balance(bob), 1_000, 'what is owed is paid first');
      assert.equal(await call('test-model'), 200);
    });
  });

  it('park what was paid for an account that is gone', async () => {
    const carl = await member(gateway, 'carl');
    const order = await BEGIN.stripe!(gateway, carl);
    const { id } = await carl.data('GET', '/api/user/self');
    await admin.data('DELETE', `/api/user/${id}`);
    for (let i = 0; i < 2; i++) assert.equal(await gateway.tell(order.paid()), '200 ok');
    const { items } = await admin.data('GET', '/api/user/topup?status=parked');
    const found = items.find((item: { trade_no: string }) => item.trade_no === order.tradeNo);
    assert.deepEqual([found?.user_id, found?.note], [id, 'the account is deleted']);
    assert.deepEqual(await audited(order), ['order.parked']);
    const completed = await admin.post('/api/user/topup/complete', { trade_no: order.tradeNo });
    assert.deepEqual([completed.status, completed.body.code], [409, 'order_cannot_be_given']);
    assert.equal(await gateway.tell(order.refunded()), '200 ok', 'so it is paid back');
    const after = await admin.data('GET', `/api/user/topup?keyword=${order.tradeNo}`);
    assert.equal(after.items[0].status, 'refunded');
  });

  // The last ones: time passes, and nobody is verified any more.
  for (const [name, begin] of Object.entries(BEGIN)) {
    it(`of ${name} credit an order that has expired, once [T-PAY-04]`, async () => {
      const order = await begin(gateway, ann);
      const before = await balance();
      await expireAll(gateway, order, ann);
      const notice = order.paid();
      assert.match(await gateway.tell(notice), /^200 /);
      assert.match(await gateway.tell(notice), /^200 /);
      assert.deepEqual([await stateOf(order), await balance()], ['success', before + TEN]);
    });
  }

  it('need no session, and get none', async () => {
    const answer = await visitor(gateway).post('/api/stripe/webhook', '{}');
    assert.deepEqual([answer.status, answer.headers.getSetCookie()], [400, []]);
  });
});

/** A notice of the provider of `mine` about an order with another number; signed properly. */
function renamed(gateway: PayingGateway, mine: Begun, tradeNo: string): FakeNotice {
  const { stripe, creem, alipay, epay } = gateway;
  switch (mine.provider) {
    case 'stripe': {
      const session = stripe.sessions.find((one) => one.tradeNo === mine.tradeNo)!;
      return stripe.session(session, { client_reference_id: tradeNo });
    }
    case 'creem': {
      const checkout = creem.checkouts.find(({ asked }) => asked.request_id === mine.tradeNo)!;
      return creem.completed(checkout, {}, { request_id: tradeNo });
    }
    case 'alipay': {
      const asked = { out_trade_no: tradeNo, total_amount: '73.00', subject: 's' };
      return alipay.notice({ no: `renamed-${tradeNo}`, asked, fields: {} });
    }
    default:
      return epay.notice({ out_trade_no: tradeNo, type: 'alipay', name: 'n', money: '10.00' });
  }
}

/** Lets two hours pass, until the order says that it has expired. */
async function expireAll(gateway: PayingGateway, { tradeNo }: Begun, who: Visitor): Promise<void> {
  gateway.clock.advance(2 * 3_600_000);
  for (let i = 0; i < 100; i++) {
    // Work that began on the way saw the time of then.
    gateway.clock.advance(60_000);
    const { status } = await who.data('GET', `/api/user/topup/status?trade_no=${tradeNo}`);
    if (status === 'expired') return;
  }
  assert.fail('the order does not expire');
}
