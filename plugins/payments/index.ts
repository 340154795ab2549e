/** The plugin `payments`: orders, the providers that take money for them, and redemption codes. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { type Actor, Audit } from '../../core/contracts/audit.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Payments } from '../../core/contracts/payments.ts';
import { Records } from '../../core/contracts/records.ts';
import { Site } from '../../core/contracts/site.ts';
import { Subscriptions } from '../../core/contracts/subscriptions.ts';
import {
  type Answer,
  answer,
  definePlugin,
  type Host,
  type Invariant,
  type Route,
  type RouteAbout,
} from '../../core/plugin.ts';
import { createChore } from '../../core/sdk.ts';
import { createBalanceSale } from './balance.ts';
import { createCodes } from './codes.ts';
import { createDocuments } from './documents.ts';
import { errors } from './errors.ts';
import { createEvents } from './events.ts';
import { createOrders } from './orders.ts';
import { createPayments } from './payments.ts';
import { Forged, type Provider } from './provider.ts';
import { createAlipay } from './providers/alipay.ts';
import { createCreem } from './providers/creem.ts';
import { createEpay } from './providers/epay.ts';
import { createStripe } from './providers/stripe.ts';
import { paymentsSection, readSection } from './section.ts';
import { createSettlement, type NoticeResult, type Settlement } from './settlement.ts';
import { migrations } from './tables.ts';

const PAID = `('success', 'parked', 'refunded', 'disputed')`;

const invariants: readonly Invariant[] = [
  invariant(
    'orders-that-are-paid-say-when',
    `SELECT trade_no, state AS says, 'a payment time exactly if it is paid' AS should FROM top_up
      WHERE (completed_ms IS NOT NULL) <> (state IN ${PAID})`,
  ),
  invariant(
    'orders-give-what-was-bought-once-it-is-paid',
    `SELECT trade_no, state || ', given ' || credited || ' of ' || quota AS says, 'everything or nothing' AS should FROM top_up
      WHERE (state = 'success' AND kind = 'quota' AND credited <> quota)
        OR (credited <> 0 AND state IN ('pending', 'failed', 'expired', 'parked'))`,
  ),
  // Division rounds down, as in the settlement; in floating point, because the product of two amounts may exceed an integer.
  invariant(
    'orders-took-back-the-share-that-was-returned',
    `SELECT trade_no, 'taken ' || taken AS says, 'the returned share of ' || credited AS should FROM top_up
      WHERE ABS(taken - 1.0 * credited * CASE WHEN refunded + disputed < money THEN refunded + disputed ELSE money END / money)
        > 1 + credited / 1000000000000.0`,
  ),
  invariant(
    'orders-that-went-back-say-so',
    `SELECT trade_no, state AS says, 'disputed, or refunded' AS should FROM top_up
      WHERE (state = 'disputed') <> (disputed > 0) OR (state = 'refunded') <> (disputed = 0 AND refunded = money)`,
  ),
  invariant(
    'orders-hold-what-disputes-hold',
    `SELECT trade_no, 'disputed ' || disputed AS says, 'the sum of its disputes, at most what was paid' AS should
      FROM top_up LEFT JOIN (SELECT order_id, SUM(amount) AS held FROM payment_dispute GROUP BY order_id) AS held_back
        ON order_id = id
      WHERE disputed <> CASE WHEN COALESCE(held, 0) < money THEN COALESCE(held, 0) ELSE money END`,
  ),
  invariant(
    'documents-add-up-to-what-was-paid-at-most',
    `SELECT trade_no, 'documents of ' || due AS says, 'from nothing to the payment of ' || money AS should
      FROM top_up JOIN (SELECT order_id, SUM(CASE kind WHEN 'credit' THEN -amount ELSE amount END) AS due
        FROM payment_document GROUP BY order_id) AS documents ON order_id = id
      WHERE due < 0 OR due > money`,
  ),
  invariant(
    'documents-are-numbered-without-gaps',
    `SELECT 'documents' AS trade_no, COUNT(*) || ' documents' AS says, 'the last number, ' || MAX(seq) AS should
      FROM payment_document HAVING COUNT(*) <> COALESCE(MAX(seq), 0)`,
  ),
  invariant(
    'codes-are-used-by-somebody-at-some-time',
    `SELECT CAST(id AS TEXT) AS trade_no, 'used by ' || COALESCE(CAST(used_by AS TEXT), 'nobody') AS says,
        'a time exactly if it is used' AS should
      FROM redemption_code WHERE (used_by IS NULL) <> (used_ms IS NULL)`,
  ),
];

function invariant(name: string, sql: string): Invariant {
  return {
    name,
    async check(read) {
      const broken = await read.all<{ trade_no: string; says: string; should: string }>(sql);
      return broken.map(({ trade_no, says, should }) => `${trade_no}: ${says}, should be ${should}`);
    },
  };
}

/** The maximum size of a notification. */
const LARGEST = 256 * 1_024;
/** The rate limit of audit entries about forged notifications. */
const NOTE_EVERY_MS = 60_000;

const STATUS: Readonly<Record<NoticeResult, number>> = { done: 200, seen: 200, ignored: 200, refused: 409, later: 409 };

/** The routes of a provider. */
function noticeRoutes(host: Host, provider: Provider, settlement: Settlement): readonly Route[] {
  const { name, notices } = provider;
  const reply = (status: number, text: string): Answer =>
    answer(status, text, { 'content-type': 'text/plain; charset=utf-8' });
  let quietUntilMs = Number.NEGATIVE_INFINITY;

  async function noteForged(error: Forged, ip: string): Promise<void> {
    host.log.warn('a notification of a payment was refused', { provider: name, ip, reason: error.message });
    const nowMs = host.clock.mono();
    if (nowMs < quietUntilMs) return;
    quietUntilMs = nowMs + NOTE_EVERY_MS;
    const actor: Actor = { accountId: undefined, name: 'unknown', ip };
    const facts = { reason: error.message };
    await host.find(Audit)?.note({ actor, action: 'order.forged', object: `notification of ${name}`, facts });
  }

  return notices.methods.map((method) => ({
    method,
    path: notices.path,
    takes: 'bytes',
    maxBody: LARGEST,
    access: 'public',
    about: aboutOf(provider, method),
    async handle(request) {
      try {
        const notice = await notices.read(request);
        if (notice === undefined) return reply(200, notices.taken);
        if (notice.event === '') throw new Forged('it has no id');
        const verdict = await settlement.take(name, notice, request.ip);
        const status = STATUS[verdict];
        return reply(status, status === 200 ? notices.taken : notices.refused);
      } catch (error) {
        if (!(error instanceof Forged)) throw error;
        await noteForged(error, request.ip);
        return reply(400, notices.refused);
      }
    },
  }));
}

function aboutOf({ name, notices: { methods, fields } }: Provider, method: 'GET' | 'POST'): RouteAbout {
  const parts = { type: 'object', additionalProperties: fields === undefined ? true : { type: 'string' } };
  return {
    summary: `Receives a notification of ${name}.`,
    notes: `For ${name}, which signs it; clients have no use for it.`,
    name: `notifyOf${name[0]!.toUpperCase()}${name.slice(1)}${method === methods.at(-1) ? '' : 'ByGet'}`,
    tag: 'Top-up',
    credentials: [],
    ...(method === 'POST' && { request: parts, requestType: fields ?? 'application/json' }),
    answer: 'text/plain',
    otherRefusals: { 400: 'text/plain', 409: 'text/plain' },
  };
}

const TIDY_MS = 60_000;

export default definePlugin({
  name: 'payments',
  api: 2,
  errors,
  sections: { payments: paymentsSection },
  migrations,
  needs: [Accounts, Ledger],
  wants: [Subscriptions, Records, Audit, Site],
  provides: [Payments],
  create(host, { payments: section }) {
    const { store, clock } = host;
    const { stripe, creem, alipay, epay } = readSection(section, (path, message) => host.problem(path, message));
    const providers: readonly Provider[] = [
      stripe && createStripe(stripe, host),
      creem && createCreem(creem, host),
      alipay && createAlipay(alipay, host),
      epay && createEpay(epay),
    ].filter((provider) => provider !== undefined);
    const orders = createOrders(store, clock);
    const events = createEvents(store, clock);
    const settlement = createSettlement(host, orders, events);
    const codes = createCodes(host);
    const sellFromBalance = createBalanceSale(host, orders);
    const documents = createDocuments(host, orders, section.seller);
    const parts = { providers, orders, settlement, codes, documents, sellFromBalance };
    host.provide(Payments, createPayments(host, section, parts));
    const tidy = createChore(host, {
      everyMs: TIDY_MS,
      async work() {
        await orders.expire();
        await events.forget();
      },
      failure: 'could not expire unpaid orders',
    });
    return {
      routes: providers.flatMap((provider) => noticeRoutes(host, provider, settlement)),
      invariants,
      report() {
        const site = host.find(Site);
        if (providers.length === 0) return ['no provider is configured; redemption codes work'];
        const names = providers.map(({ name, price }) => `${name} (${price?.currency ?? 'products'})`);
        return [
          `paid with ${names.join(', ')}`,
          ...(site !== undefined && !site.secure
            ? [`warning: providers send their notifications to ${site.root}; set console.url to an https address`]
            : []),
        ];
      },
      surrender: codes.surrender,
      start: tidy.start,
      stop: tidy.stop,
    };
  },
});
