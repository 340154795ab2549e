/** A gateway where people can pay, with every provider a fake of the kit, and a clock in the test's hand. */
import assert from 'node:assert/strict';
import { type FakeClock, fakeClock } from '../gateway/clock.ts';
import { startGateway, type TestGateway } from '../gateway/gateway.ts';
import {
  deliver,
  type FakeAlipay,
  type FakeCreem,
  type FakeEpay,
  type FakeNotice,
  type FakeStripe,
  fakeAlipay,
  fakeCreem,
  fakeEpay,
  fakeStripe,
} from '../stand-ins/fake-payments.ts';
import { type ApiAnswer, CONSOLE_PIPELINE, PATIENT, ROOT_ENV, type Visitor } from './console.ts';

export interface PayingGateway extends TestGateway {
  /** Starts at the time of the machine, for the codes of authenticators. */
  readonly clock: FakeClock;
  readonly stripe: FakeStripe;
  readonly creem: FakeCreem;
  readonly alipay: FakeAlipay;
  readonly epay: FakeEpay;
  /** Sends a notification; its status and text. */
  tell(notice: FakeNotice): Promise<string>;
}

/** Starts one. `config` and `env` as for `startGateway`, beside what payments need; `seller`: `payments.seller`. */
export async function startPaying(
  config: Readonly<Record<string, unknown>> = {},
  env: Readonly<Record<string, string>> = {},
  seller: Readonly<Record<string, unknown>> = {},
): Promise<PayingGateway> {
  const clock = fakeClock(Date.now());
  const [stripe, creem, alipay] = await Promise.all([fakeStripe(() => clock.now()), fakeCreem(), fakeAlipay()]);
  const epay = fakeEpay();
  const gateway = await startGateway({
    clock,
    env: { ...ROOT_ENV, ...env },
    config: {
      pipeline: CONSOLE_PIPELINE,
      console: PATIENT,
      payments: { stripe: stripe.section, creem: creem.section, alipay: alipay.section, epay: epay.section, seller },
      ...config,
    },
  });
  return {
    ...gateway,
    clock,
    stripe,
    creem,
    alipay,
    epay,
    async tell(notice) {
      const response = await deliver(gateway, notice);
      return `${response.status} ${await response.text()}`;
    },
    async stop() {
      await Promise.all([stripe.close(), creem.close(), alipay.close()]);
      try {
        // What the plugins say of their own tables, too.
        await gateway.command('reconcile');
      } finally {
        await gateway.stop();
      }
    },
  };
}

/** An order that somebody began, and what its provider says when it is paid, anew each time. */
export interface Begun {
  readonly provider: string;
  readonly tradeNo: string;
  paid(): FakeNotice;
  /** The money went back, where the provider can say so. */
  refunded(): FakeNotice;
}

/** Begins a payment of 10 units with each provider (of the small product, with creem). */
export const BEGIN: Readonly<Record<string, (gateway: PayingGateway, who: Visitor) => Promise<Begun>>> = {
  async stripe({ stripe }, who) {
    const { order_id } = started(await who.post('/api/user/stripe/pay', { amount: 10, payment_method: 'stripe' }));
    const session = stripe.sessions.find(({ tradeNo }) => tradeNo === order_id)!;
    const refunded = () => stripe.refunded(session, 1_000);
    return { provider: 'stripe', tradeNo: order_id, paid: () => stripe.session(session), refunded };
  },
  async creem({ creem }, who) {
    const { order_id } = started(await who.post('/api/user/creem/pay', { product_id: 'prod_small' }));
    const checkout = creem.checkouts.find(({ asked }) => asked.request_id === order_id)!;
    const refunded = () => creem.refunded(checkout, 1_000);
    return { provider: 'creem', tradeNo: order_id, paid: () => creem.completed(checkout), refunded };
  },
  async alipay({ alipay }, who) {
    const { order_id, pay_link } = started(await who.post('/api/user/alipay/pay', { amount: 10 }));
    const trade = alipay.open(pay_link);
    const refunded = () => alipay.notice(trade, { trade_status: 'TRADE_CLOSED', refund_fee: '73.00' });
    return { provider: 'alipay', tradeNo: order_id, paid: () => alipay.notice(trade), refunded };
  },
  async epay({ epay }, who) {
    const form = started(await who.post('/api/user/pay', { amount: 10, payment_method: 'wxpay' }));
    epay.submit(form);
    const refunded = () => assert.fail('epay tells of no refunds');
    return { provider: 'epay', tradeNo: form.out_trade_no, paid: () => epay.notice(form), refunded };
  },
};

// biome-ignore lint/suspicious/noExplicitAny: each provider answers something else
function started({ status, body, text }: ApiAnswer): any {
  assert.equal(status, 200, text);
  assert.equal(body.message, 'success', text);
  return body.data;
}
