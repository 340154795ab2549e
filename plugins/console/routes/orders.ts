/** Orders: one's own, and for administrators everybody's. */
import { coreErrors } from '../../../core/contracts/errors.ts';
import { type Order, type OrderSearch, Payments } from '../../../core/contracts/payments.ts';
import { refuse, schema } from '../../../core/plugin.ts';
import { type PageSearch, pageAnswer, pageOf, pageSchema, pageSearch } from '../pages.ts';
import { createNames } from '../records/names.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { integer, number, text } from '../schemas.ts';
import { secondsOf, unitsOf } from '../units.ts';

const TAG = 'Top-up';

const order = {
  title: 'Order',
  type: 'object',
  required: [
    ...['id', 'user_id', 'username', 'kind', 'plan', 'amount', 'quota', 'money', 'money_text', 'currency'],
    ...['money_returned', 'trade_no', 'payment_method', 'payment_provider', 'create_time', 'complete_time'],
    ...['expire_time', 'status', 'note'],
  ],
  properties: {
    id: integer,
    user_id: integer,
    username: { ...text, description: 'Told to administrators who list the orders; else empty.' },
    kind: { enum: ['quota', 'plan'] },
    plan: text,
    amount: { ...integer, description: 'Currency units bought; quota units of a product; 0 for a plan.' },
    quota: { ...integer, description: 'Quota units it gives.' },
    money: number,
    money_text: text,
    currency: text,
    money_returned: { ...text, description: 'How much of it went back.' },
    trade_no: text,
    payment_method: text,
    payment_provider: text,
    create_time: integer,
    complete_time: { ...integer, description: '0: not paid.' },
    expire_time: integer,
    status: { enum: ['pending', 'success', 'failed', 'expired', 'parked', 'refunded', 'disputed'] },
    note: text,
  },
};

interface OrderPage extends PageSearch {
  readonly keyword?: string;
  readonly status?: OrderSearch['state'];
  readonly provider?: string;
  readonly user_id?: number;
}

/** The rows. */
export function orderRoutes({ host, limiter, need }: Tools): readonly ApiRoute[] {
  /** The name of a buyer; undefined where it is not told. */
  type NameOf = (accountId: number) => Promise<string>;

  async function listed(search: OrderPage, accountId: number | undefined, nameOf?: NameOf) {
    const page = pageOf(search);
    const { keyword, status, provider } = search;
    const { total, items } = await need(Payments).orders({
      ...(accountId !== undefined && { accountId }),
      ...(keyword !== undefined && { text: keyword }),
      ...(status !== undefined && { state: status }),
      ...(provider !== undefined && { provider }),
      offset: page.offset,
      limit: page.pageSize,
    });
    const shown = items.map(async (found) => recordOf(found, await nameOf?.(found.accountId)));
    return pageAnswer(page, total, await Promise.all(shown));
  }
  const filters = {
    keyword: { ...text, maxLength: 100, description: 'Part of the trade number.' },
    status: order.properties.status,
    provider: { ...text, maxLength: 50, description: 'Who took the money; `balance` among them.' },
  };

  return [
    route({
      method: 'GET',
      path: '/api/user/topup/self',
      who: 'member',
      summary: 'Own orders, newest first.',
      tag: TAG,
      search: pageSearch<OrderPage>(filters),
      answer: pageSchema(order),
      handle: ({ account, asked }) => listed(asked, account.id),
    }),
    route({
      method: 'GET',
      path: '/api/user/topup/status',
      alsoAt: ['/api/user/alipay/query'],
      who: 'member',
      errors: ['order_not_found'],
      summary: 'One own order.',
      tag: TAG,
      search: schema<{ readonly trade_no: string }>({
        type: 'object',
        required: ['trade_no'],
        properties: { trade_no: text },
      }),
      answer: order,
      async handle({ account, asked }) {
        const found = await need(Payments).order(asked.trade_no, account.id);
        return recordOf(found ?? refuse(coreErrors.order_not_found().with({ param: 'trade_no' })));
      },
    }),
    route({
      method: 'GET',
      path: '/api/user/topup',
      who: 'admin',
      summary: 'The orders of all accounts, newest first.',
      tag: TAG,
      search: pageSearch<OrderPage>({ ...filters, user_id: integer }),
      answer: pageSchema(order),
      handle({ asked }) {
        const names = createNames(host);
        return listed(asked, asked.user_id, async (id) => (await names.person(id))?.name ?? '');
      },
    }),
    route({
      method: 'POST',
      path: '/api/subscription/balance/pay',
      who: 'member',
      spelling: 'payment',
      errors: ['insufficient_balance', 'invalid_plan', 'other_plan_runs', 'no_room'],
      summary: 'Buys a plan with your balance, at once.',
      tag: TAG,
      body: schema<{ readonly plan?: string; readonly plan_id?: string }>({
        type: 'object',
        additionalProperties: false,
        properties: {
          plan: { ...text, maxLength: 100, description: 'Its name.' },
          plan_id: { ...text, maxLength: 100, description: 'The same.' },
        },
      }),
      answer: order,
      async handle({ account, actor, body: { plan_id: id, plan = id } }) {
        const payments = need(Payments);
        await limiter.take('sign-in', `pay ${account.id}`);
        if (plan === undefined) throw coreErrors.invalid_plan();
        return { data: recordOf(await payments.payFromBalance(account, plan, actor)) };
      },
    }),
    route({
      method: 'POST',
      path: '/api/user/topup/complete',
      who: 'admin',
      verified: true,
      errors: ['order_not_found', 'order_completed', 'order_returned', 'order_cannot_be_given'],
      summary: 'Gives what an order bought, on your word that it was paid.',
      tag: TAG,
      body: schema<{ readonly trade_no: string; readonly reason?: string }>({
        type: 'object',
        additionalProperties: false,
        required: ['trade_no'],
        properties: {
          trade_no: { ...text, maxLength: 100 },
          reason: { ...text, maxLength: 500, description: 'How you know that it was paid, for the audit.' },
        },
      }),
      answer: order,
      async handle({ actor, body }) {
        const found = await need(Payments).complete(body.trade_no, actor, body.reason?.trim());
        return recordOf(found, (await createNames(host).person(found.accountId))?.name);
      },
    }),
  ];
}

function recordOf(found: Order, username = ''): object {
  return {
    id: found.id,
    user_id: found.accountId,
    username,
    kind: found.kind,
    plan: found.plan ?? '',
    amount: found.amount,
    quota: unitsOf(found.quota),
    money: Number(found.money),
    money_text: found.money,
    currency: found.currency,
    money_returned: found.returned,
    trade_no: found.tradeNo,
    payment_method: found.method,
    payment_provider: found.provider,
    create_time: secondsOf(found.createdMs),
    complete_time: secondsOf(found.completedMs),
    expire_time: secondsOf(found.expiresMs),
    status: found.state,
    note: found.note,
  };
}
