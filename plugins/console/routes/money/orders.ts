/** Orders: the user's, and for administrators those of all users. */

import { coreErrors } from '../../../../core/contracts/errors.ts';
import { type Order, Payments } from '../../../../core/contracts/payments.ts';
import { type Answer, refuse } from '../../../../core/plugin.ts';
import { refuseUnknown } from '../../access/subordinate.ts';
import { errors } from '../../errors.ts';
import { columnsNote, csvTable, type RowRange } from '../../format/csv.ts';
import { invoicePage } from '../../format/invoice-page.ts';
import {
  cursorProperties,
  type PageSearch,
  pageAnswer,
  pageOf,
  pageSchema,
  pageSearch,
  sortOf,
  sortProperty,
} from '../../format/paging.ts';
import { LANGUAGES, type PageLanguage } from '../../format/print-page.ts';
import {
  bodyOf,
  idNumber,
  integer,
  type Members,
  nothing,
  number,
  object,
  queryOf,
  record,
  text,
  withRules,
} from '../../format/schemas.ts';
import { secondsOf, unitsOf } from '../../format/units.ts';
import { createNames } from '../../records/people/names.ts';
import { timeText } from '../../records/usage/usage-range.ts';
import { type ApiRoute, type ConsoleRequest, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Top-up');

const status = { enum: ['pending', 'success', 'failed', 'expired', 'parked', 'refunded', 'disputed'] } as const;
const order = record('Order', {
  id: integer,
  user_id: integer,
  username: { ...text, description: 'Only for administrators who list orders; otherwise empty.' },
  kind: { enum: ['quota', 'plan'] },
  plan: text,
  amount: { ...integer, description: 'Currency units bought; for a product its quota units; for a plan 0.' },
  quota: { ...integer, description: 'Quota units that the order adds.' },
  money: number,
  money_text: text,
  currency: text,
  money_returned: { ...text, description: 'How much of it was refunded or charged back.' },
  trade_no: text,
  payment_method: text,
  payment_provider: text,
  create_time: integer,
  complete_time: { ...integer, description: '0: not paid.' },
  expire_time: integer,
  status,
  note: text,
});

/** The orders of a list, by the names of the service. */
const ORDERS = { id: 'id', money: 'money', status: 'state', complete_time: 'completed' } as const;
const COLUMNS = [
  ...(['id', 'user_id', 'username', 'trade_no', 'kind', 'plan', 'amount', 'quota', 'money_text', 'currency'] as const),
  ...(['money_returned', 'payment_method', 'payment_provider', 'status', 'created', 'completed', 'note'] as const),
];

const filters = {
  ...cursorProperties,
  sort: sortProperty(['id', 'money', 'status', 'complete_time']),
  format: {
    description: `csv: all matching orders as a file. ${columnsNote({ created: '`create_time`', completed: '`complete_time`' })}`,
    enum: ['json', 'csv'],
    default: 'json',
  },
  keyword: { ...text, maxLength: 100, description: 'Part of the trade number.' },
  status,
  provider: { ...text, maxLength: 50, description: 'The payment provider, or `balance`.' },
};

const documentQuery = queryOf(
  {
    trade_no: { ...text, maxLength: 100 },
    number: { ...text, maxLength: 50, description: 'Only the document with this number.' },
    lang: { enum: LANGUAGES, default: 'en' },
  },
  ['trade_no'],
);
const details = {
  name: { type: 'string', maxLength: 200, default: '' },
  address: { type: 'string', maxLength: 500, default: '', description: 'Lines separated by line feeds.' },
  tax_id: { type: 'string', maxLength: 100, default: '' },
} as const;

const planBody = bodyOf([], {
  plan: { ...text, maxLength: 100, description: 'Its name.' },
  plan_id: { ...text, maxLength: 100, description: 'The same as plan.', deprecated: true },
});

export function orderRoutes({ host, site, limiter, need, verification, audited, note }: Tools): readonly ApiRoute[] {
  /** The documents of an order as a page; the account's own orders, unless it is undefined. */
  async function page(
    { trade_no: tradeNo, number, lang }: { trade_no: string; number?: string; lang: PageLanguage },
    accountId: number | undefined,
  ): Promise<Answer> {
    const all = await need(Payments).documents(tradeNo, accountId);
    const documents = all.filter((document) => number === undefined || document.number === number);
    const [first] = documents;
    if (first === undefined) throw errors.invoice_not_found();
    const account = (await createNames(host).person(first.order.accountId))?.name ?? `#${first.order.accountId}`;
    return invoicePage(documents, { account, site: site.name, language: lang });
  }

  /** The name of a buyer; undefined if it is not shown. */
  type NameOf = (accountId: number) => Promise<string>;

  async function listed(search: PageSearch & Members<typeof filters>, accountId: number | undefined, nameOf?: NameOf) {
    const { keyword, status, provider, before_id: before, format } = search;
    const sort = sortOf(search.sort, ORDERS);
    const read = async (of: RowRange) => {
      const { total, items } = await need(Payments).orders({
        ...(accountId !== undefined && { accountId }),
        ...(keyword !== undefined && { text: keyword }),
        ...(status !== undefined && { state: status }),
        ...(provider !== undefined && { provider }),
        ...(sort !== undefined && { sort }),
        ...(before !== undefined && { before }),
        ...of,
      });
      const records = items.map(async (stored) => recordOf(stored, await nameOf?.(stored.accountId)));
      return { total, items: await Promise.all(records) };
    };
    if (format === 'csv')
      return csvTable('orders', COLUMNS, sort !== undefined, async (of) => (await read(of)).items.map(cellsOf));
    const page = pageOf(search);
    const { total, items } = await read({ offset: page.offset, limit: page.pageSize });
    return pageAnswer(page, total, items);
  }
  async function billing({ account }: ConsoleRequest) {
    return { object: `user ${account.id}`, content: await need(Payments).buyer(account.id) };
  }

  return [
    route('member', 'GET', '/api/user/topup/self', {
      summary: 'Lists your orders, newest first.',
      search: pageSearch(filters),
      answer: pageSchema(order),
      handle: ({ account, query }) => listed(query, account.id),
    }),
    route('member', 'GET', '/api/user/topup/status', {
      alsoAt: ['/api/user/alipay/query'],
      errors: ['order_not_found'],
      summary: 'Returns one of your orders.',
      search: queryOf({ trade_no: text }, ['trade_no']),
      answer: order,
      async handle({ account, query }) {
        const stored = await need(Payments).order(query.trade_no, account.id);
        return recordOf(stored ?? refuse(coreErrors.order_not_found().with({ param: 'trade_no' })));
      },
    }),
    route('member', 'GET', '/api/user/invoice', {
      errors: ['invoice_not_found'],
      summary: 'Returns the invoice of one of your paid orders, and its credit notes, as a page to print.',
      search: documentQuery,
      answer: 'text/html',
      handle: ({ account, query }) => page(query, account.id),
    }),
    route('admin', 'GET', '/api/user/topup/invoice', {
      errors: ['invoice_not_found'],
      summary: 'Returns the invoice of any paid order, and its credit notes, as a page to print.',
      search: documentQuery,
      answer: 'text/html',
      handle: ({ query }) => page(query, undefined),
    }),
    route('member', 'GET', '/api/user/billing', {
      summary: 'Returns your details for invoices.',
      answer: object({ name: text, address: text, tax_id: text }),
      revised: billing,
      async handle({ account }) {
        const { taxId, ...rest } = await need(Payments).buyer(account.id);
        return { ...rest, tax_id: taxId };
      },
    }),
    route('member', 'PUT', '/api/user/billing', {
      errors: ['account_not_found'],
      summary: 'Sets your details for invoices. Invoices that were issued before stay as they are.',
      body: bodyOf([], details),
      answer: nothing,
      revised: billing,
      async handle(request) {
        const { name, address, tax_id: taxId } = request.body;
        const buyer = { name: name.trim(), address: address.trim(), taxId: taxId.trim() };
        await need(Payments).setBuyer(request.account.id, buyer, audited(request, 'user.billing'));
        return null;
      },
    }),
    route('admin', 'GET', '/api/user/topup', {
      errors: ['account_not_found', 'verification_required'],
      summary: 'Lists the orders of all users, newest first; CSV requires a verification (POST /api/verify).',
      search: pageSearch({ ...filters, user_id: { ...idNumber, description: 'The orders of this user.' } }),
      answer: pageSchema(order),
      async handle(request) {
        const { query } = request;
        if (query.format === 'csv') {
          verification.demand(request);
          await note(request, 'order.export');
        }
        await refuseUnknown(host, query);
        const names = createNames(host);
        return listed(query, query.user_id, async (id) => (await names.person(id))?.name ?? '');
      },
    }),
    route('member', 'POST', '/api/subscription/balance/pay', {
      spelling: 'payment',
      errors: ['insufficient_balance', 'invalid_plan', 'other_plan_runs', 'no_room'],
      summary: 'Buys a plan with your balance.',
      body: planBody,
      request: withRules(planBody, {}, ['plan']),
      answer: order,
      async handle({ account, actor, conditions, body: { plan_id: id, plan = id } }) {
        const payments = need(Payments);
        await limiter.take('sign-in', `pay ${account.id}`);
        if (plan === undefined) throw coreErrors.invalid_plan();
        return { data: recordOf(await payments.payFromBalance(account, plan, actor, conditions)) };
      },
    }),
    route('admin', 'POST', '/api/user/topup/complete', {
      verified: true,
      errors: ['order_not_found', 'order_completed', 'order_returned', 'order_cannot_be_given'],
      summary: 'Completes an order that you know to be paid.',
      body: bodyOf(['trade_no'], {
        trade_no: { ...text, maxLength: 100 },
        reason: { ...text, maxLength: 500, description: 'How the payment was verified, for the audit log.' },
      }),
      answer: order,
      async handle({ actor, body }) {
        const stored = await need(Payments).complete(body.trade_no, actor, body.reason?.trim());
        return recordOf(stored, (await createNames(host).person(stored.accountId))?.name);
      },
    }),
  ];
}

/** An order as a line of a file. */
function cellsOf(order: ReturnType<typeof recordOf>): readonly (string | number)[] {
  const time = (seconds: number): string => (seconds === 0 ? '' : timeText(seconds));
  const cells = { ...order, created: time(order.create_time), completed: time(order.complete_time) };
  return COLUMNS.map((column) => cells[column]);
}

function recordOf(stored: Order, username = '') {
  return {
    id: stored.id,
    user_id: stored.accountId,
    username,
    kind: stored.kind,
    plan: stored.plan ?? '',
    amount: stored.amount,
    quota: unitsOf(stored.quota),
    money: Number(stored.money),
    money_text: stored.money,
    currency: stored.currency,
    money_returned: stored.returned,
    trade_no: stored.tradeNo,
    payment_method: stored.method,
    payment_provider: stored.provider,
    create_time: secondsOf(stored.createdMs),
    complete_time: secondsOf(stored.completedMs),
    expire_time: secondsOf(stored.expiresMs),
    status: stored.state,
    note: stored.note,
  };
}
