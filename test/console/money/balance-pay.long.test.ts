/** Plans that people buy with their balance: exactly what they cost, each press once, and never with what is not there. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ApiAnswer, member, root, type Visitor, verify, visitor } from '../../kit/console/console.ts';
import { type PayingGateway, startPaying } from '../../kit/console/paying.ts';

const PATH = '/api/subscription/balance/pay';
const MONTH = 30 * 86_400;
/** Quota units in a currency unit. */
const UNIT = 500_000;

const refusalOf = ({ status, body }: ApiAnswer): string =>
  [status, body.success, body.message === 'error', body.code].join(' ');

describe('a plan paid from the balance', () => {
  let gateway: PayingGateway;
  let admin: Visitor;
  before(async () => {
    gateway = await startPaying({
      plans: {
        pro: { daily: 5, price: 19.99, balance: 2 },
        odd: { daily: 5, price: 0.01 },
        team: { daily: 50, price: 1 },
        gift: { daily: 1 },
        bonus: { daily: 1, price: 5, balance: 5 },
      },
    });
    admin = await verify(await root(gateway));
  });
  after(() => gateway.stop());

  const balanceOf = async (who: Visitor): Promise<number> => (await who.data('GET', '/api/user/self')).quota;
  const statsOf = (who: Visitor) => who.data('GET', '/api/user/subscription/stats');
  const ordersOf = async (who: Visitor) => (await who.data('GET', '/api/user/topup/self')).items;

  it('is ordered, paid and given at once, and told to everybody who should know', async () => {
    const ann = await member(gateway, 'ann', { units: 20 * UNIT });
    const { status, body } = await ann.post(PATH, { plan_id: 'pro' });
    assert.deepEqual([status, body.success, body.message], [200, true, 'success']);
    const { trade_no, create_time, complete_time, expire_time, id: _, ...order } = body.data;
    const { id } = await ann.data('GET', '/api/user/self');
    assert.deepEqual(order, {
      user_id: id,
      username: '',
      kind: 'plan',
      plan: 'pro',
      amount: 0,
      quota: 2 * UNIT,
      money: 19.99,
      money_text: '19.99',
      currency: '',
      money_returned: '0.00',
      payment_method: 'balance',
      payment_provider: 'balance',
      status: 'success',
      note: '',
    });
    assert.ok(create_time > 0 && create_time === complete_time && create_time === expire_time, `${create_time}`);
    assert.equal(await balanceOf(ann), 20 * UNIT - 19.99 * UNIT + 2 * UNIT);
    const { plan, status: state, starts_at, expires_at } = await statsOf(ann);
    assert.deepEqual([plan, state, expires_at - starts_at], ['pro', 'active', MONTH]);

    const { items } = await ann.data('GET', '/api/log/self?type=1');
    assert.deepEqual(
      items.map(({ content, quota }: { content: string; quota: number }) => [content, quota]),
      [['Paid 19.99 from the balance for the plan pro.', (2 - 19.99) * UNIT]],
    );
    const audited = await admin.data('GET', '/api/audit?action=order.paid');
    assert.equal(audited.items[0].object, `order ${trade_no}`);
    const again = await admin.post('/api/user/topup/complete', { trade_no });
    assert.equal(again.body.code, 'order_completed');
  });

  it('is bought by each of many presses at once, as far as the balance goes', async () => {
    const bob = await member(gateway, 'bob', { units: 3 * UNIT + 7 });
    const answers = await Promise.all(Array.from({ length: 25 }, () => bob.post(PATH, { plan: 'team' })));
    const refusals = answers.map((answer) => (answer.status === 200 ? '' : refusalOf(answer))).sort();
    assert.deepEqual(refusals, [...Array(3).fill(''), ...Array(22).fill('409 false true insufficient_balance')]);
    assert.equal(await balanceOf(bob), 7);
    const { starts_at, expires_at } = await statsOf(bob);
    assert.equal(expires_at - starts_at, 3 * MONTH);
    assert.equal((await ordersOf(bob)).length, 3, 'what was refused has left no order');
  });

  it('is the only one where two are bought at once', async () => {
    const cleo = await member(gateway, 'cleo', { units: 10 * UNIT });
    const answers = await Promise.all(['odd', 'team', 'odd', 'team'].map((plan) => cleo.post(PATH, { plan })));
    const { plan } = await statsOf(cleo);
    const price = plan === 'odd' ? UNIT / 100 : UNIT;
    assert.deepEqual(
      answers.map(({ status, body }) => body.code ?? status),
      ['odd', 'team', 'odd', 'team'].map((name) => (name === plan ? 200 : 'other_plan_runs')),
    );
    assert.equal(await balanceOf(cleo), 10 * UNIT - 2 * price);
  });

  it('is refused where it is not for sale, gives back what it costs, or is not named', async () => {
    const dora = await member(gateway, 'dora', { units: 50 * UNIT });
    for (const plan of ['gift', 'bonus', 'nothing', '__proto__', '']) {
      assert.equal(refusalOf(await dora.post(PATH, { plan })), '400 false true invalid_plan', plan);
    }
    assert.equal(refusalOf(await dora.post(PATH)), '400 false true invalid_plan');
    for (const body of [{ plan: 'odd', price: 0 }, { plan: 'odd', user_id: 1 }, { plan: 7 }, { plan: ['odd'] }]) {
      assert.equal((await dora.post(PATH, body)).status, 400, JSON.stringify(body));
    }
    assert.equal(await balanceOf(dora), 50 * UNIT);
    assert.deepEqual(await ordersOf(dora), []);
  });

  it('is not paid with what somebody owes, nor by root, who has no balance', async () => {
    const eve = await member(gateway, 'eve');
    const { body } = await eve.post('/api/user/stripe/pay', { amount: 10 });
    const session = gateway.stripe.sessions.find(({ tradeNo }) => tradeNo === body.data.order_id)!;
    assert.equal(await gateway.tell(gateway.stripe.session(session)), '200 ok');
    assert.equal((await eve.post(PATH, { plan: 'team' })).status, 200);
    assert.equal(await gateway.tell(gateway.stripe.refunded(session, 1_000)), '200 ok');
    assert.equal(refusalOf(await eve.post(PATH, { plan: 'team' })), '409 false true insufficient_balance');
    assert.equal(refusalOf(await admin.post(PATH, { plan: 'odd' })), '409 false true insufficient_balance');
  });

  it('is for people who are signed in', async () => {
    assert.equal((await visitor(gateway).post(PATH, { plan: 'odd' })).status, 401);
  });
});
