/** The user's account statement: credits, debits and balances by day. */

import { coreErrors } from '../../../../core/contracts/errors.ts';
import { type Balance, Ledger, type MoneyDay, type MoneyEntry } from '../../../../core/contracts/ledger.ts';
import { Records, type UsageSum } from '../../../../core/contracts/records.ts';
import { refuse } from '../../../../core/plugin.ts';
import { errors } from '../../errors.ts';
import { pageSize, sizeOf } from '../../format/paging.ts';
import { LANGUAGES } from '../../format/print-page.ts';
import { boolean, integer, list, object, queryOf, record, text, unixSeconds } from '../../format/schemas.ts';
import { type StatementLine, statementPage } from '../../format/statement-page.ts';
import { currencyText, DAY_MS, dateOf, exactUnits, perUnitOf, secondsOf, unitsOf } from '../../format/units.ts';
import { timeText } from '../../records/usage/usage-range.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Payments');
/** How often the balance is read again if a call was charged in between. */
const TRIES = 3;
/** Events per page. */
const USUAL = 20;
const MOST = 100;
/** How far back a statement goes. */
const MOST_DAYS = 366;

/** Amounts of a day, in micro-quota. */
interface DayOfAccount {
  readonly timeMs: number;
  readonly opening: bigint;
  readonly credits: bigint;
  readonly debits: bigint;
  readonly refunds: bigint;
  readonly closing: bigint;
  readonly calls: bigint;
  readonly requests: number;
}

export function statementRoutes({ host, site, need }: Tools): readonly ApiRoute[] {
  /** The balance and the movements since a time, read consistently: no charge in between. */
  async function read(accountId: number, fromMs: number) {
    const layer = { kind: 'account', owner: accountId } as const;
    const balanceOf = async () =>
      (await need(Ledger).balance(layer)) ??
      refuse(coreErrors.account_not_found().with({ message: 'This account has no balance.' }));
    for (let left = TRIES; ; left--) {
      const before = await balanceOf();
      const money = await need(Ledger).moneyByDay(accountId, fromMs);
      const calls = await need(Records).sums({ accounts: [accountId], fromMs }, ['day']);
      const balance = await balanceOf();
      const isStill = before.granted === balance.granted && before.used === balance.used;
      if (isStill || left === 1) return { balance, money, calls };
    }
  }

  return [
    route('member', 'GET', '/api/user/statement/print', {
      errors: ['account_not_found', 'invalid_range'],
      summary: 'Returns your account statement of a month as a page to print.',
      search: queryOf(
        {
          month: {
            description: 'At most a year ago: `2026-11` (UTC).',
            type: 'string',
            pattern: '^\\d{4}-(0[1-9]|1[0-2])$',
          },
          lang: { enum: LANGUAGES, default: 'en' },
        },
        ['month'],
      ),
      answer: 'text/html',
      async handle({ account: { id, name: account }, query: { month, lang: language } }) {
        const nowMs = host.clock.now();
        const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
        const fromMs = Date.parse(`${month}-01`);
        const from = new Date(fromMs);
        const endMs = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1);
        if (fromMs > today || fromMs < today - MOST_DAYS * DAY_MS) {
          throw errors.invalid_range('The month must be one of the last year.').with({ param: 'month' });
        }
        const { balance, money, calls } = await read(id, fromMs);
        const days = daysOf(balance, money, calls, fromMs, today).filter(({ timeMs }) => timeMs < endMs);
        const shown = (micro: bigint): string => currencyText(micro, perUnitOf(host));
        const line = (date: string, day: Omit<DayOfAccount, 'timeMs' | 'calls'>): StatementLine => ({
          date,
          opening: shown(day.opening),
          credits: shown(day.credits),
          debits: shown(day.debits),
          refunds: shown(day.refunds),
          closing: shown(day.closing),
          requests: day.requests,
        });
        const sum = (name: 'credits' | 'debits' | 'refunds'): bigint =>
          days.reduce((total, day) => total + day[name], 0n);
        return statementPage({
          ...{ site: site.name, account, month, language, isOpen: endMs > nowMs },
          madeAt: timeText(secondsOf(nowMs)),
          days: days
            .filter(({ credits, debits, refunds, requests }) => credits + debits + refunds > 0n || requests > 0)
            .map((day) => line(dateOf(day.timeMs), day)),
          total: line('', {
            ...{ opening: days[0]!.opening, closing: days.at(-1)!.closing },
            ...{ credits: sum('credits'), debits: sum('debits'), refunds: sum('refunds') },
            requests: days.reduce((total, { requests }) => total + requests, 0),
          }),
        });
      },
    }),
    route('member', 'GET', '/api/user/statement', {
      errors: ['account_not_found'],
      summary: 'Returns your account statement: credits, debits and balances by day (UTC).',
      search: queryOf({
        days: { ...integer, minimum: 1, maximum: 366, default: 30, description: 'Number of days, today included.' },
        page_size: pageSize(USUAL, MOST),
        before: {
          description: 'Events after the last one of the previous page: its `next`.',
          type: 'string',
          maxLength: 2_000,
        },
      }),
      answer: record('Statement', {
        unlimited: {
          ...boolean,
          description: 'The account has no limit; the balances are what its movements add up to.',
        },
        balance: {
          ...text,
          description: "Current balance in quota units, a decimal number; today's closing balance.",
        },
        held: { ...text, description: 'The part reserved by running calls.' },
        debt: { ...text, description: 'Debt from refunded or charged-back payments; it is paid from later credits.' },
        days: {
          ...list({
            date: text,
            opening: integer,
            credits: integer,
            debits: { ...integer, description: 'The cost of calls, and other debits.' },
            refunds: { ...integer, description: 'Debits because a payment was refunded or charged back.' },
            closing: integer,
            requests: integer,
            exact: object({
              opening: text,
              credits: text,
              debits: text,
              calls: { ...text, description: 'The part of the debits that calls cost.' },
              refunds: text,
              closing: text,
            }),
          }),
          description:
            'Oldest first; quota units, rounded down, and exact. A call counts on the day on which it began. Usage included in subscriptions is left out; for calls recorded by older releases this is unknown, so opening balances of their days may be too high.',
        },
        events: {
          ...list({
            at: unixSeconds,
            kind: { enum: ['top-up', 'manage', 'system', 'refund'], description: 'The kind of the log line.' },
            side: { enum: ['credit', 'debit', 'refund'] },
            amount: { ...integer, description: 'Quota units; negative for debits.' },
            exact: { ...text, description: 'The same as a decimal number.' },
            by: { ...text, description: 'A payment provider, `redemption code`, `administrator`, `system`.' },
            ref: { ...text, description: 'Reference: `top-up:` and the order number.' },
          }),
          description: 'Other transactions than calls, newest first.',
        },
        next: { type: ['string', 'null'], description: 'The `before` of the next page; null: this is the last.' },
      }),
      async handle({ account: { id }, query: { days, page_size, before } }) {
        const limit = sizeOf(page_size, USUAL);
        const today = Math.floor(host.clock.now() / DAY_MS) * DAY_MS;
        const fromMs = today - (days - 1) * DAY_MS;
        const { balance, money, calls } = await read(id, fromMs);
        const events = await need(Ledger).money(id, { limit, fromMs, before });
        return {
          unlimited: balance.unlimited,
          balance: exactUnits(balance.granted - balance.used),
          held: exactUnits(balance.held),
          debt: exactUnits(await need(Ledger).debt(id)),
          days: daysOf(balance, money, calls, fromMs, today).map(shownDay),
          events: events.items.map(shownEvent),
          next: events.next ?? null,
        };
      },
    }),
  ];
}

/** Computes days backwards from today's closing balance. */
function daysOf(
  { granted, used }: Balance,
  money: readonly MoneyDay[],
  calls: readonly UsageSum[],
  fromMs: number,
  today: number,
): readonly DayOfAccount[] {
  const moneyOf = new Map(money.map((day) => [day.timeMs, day]));
  const callsOf = new Map(calls.map((sum) => [sum.timeMs, sum]));
  const days: DayOfAccount[] = [];
  let closing = granted - used;
  for (let timeMs = today; timeMs >= fromMs; timeMs -= DAY_MS) {
    const { credit: credits = 0n, debit = 0n, refund: refunds = 0n } = moneyOf.get(timeMs) ?? {};
    const sum = callsOf.get(timeMs);
    const cost = sum === undefined ? 0n : sum.charged - sum.included;
    const debits = debit + cost;
    const opening = closing - credits + debits + refunds;
    days.push({ timeMs, opening, credits, debits, refunds, closing, calls: cost, requests: sum?.calls ?? 0 });
    closing = opening;
  }
  return days.reverse();
}

function shownDay({ timeMs, requests, calls, ...amounts }: DayOfAccount) {
  return {
    date: dateOf(timeMs),
    ...mapped(amounts, unitsOf),
    requests,
    exact: mapped({ ...amounts, calls }, exactUnits),
  };
}

const mapped = <T>(amounts: Readonly<Record<string, bigint>>, shown: (amount: bigint) => T) =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, shown(amount)]));

/** The actor as the user may see it: administrators are not named. */
function shownEvent({ ref, amount, atMs, side, actor }: MoneyEntry) {
  const kind = kindOf(ref, side);
  return {
    at: secondsOf(atMs),
    kind,
    side,
    amount: unitsOf(amount),
    exact: exactUnits(amount),
    by: kind === 'manage' ? 'administrator' : kind === 'system' ? 'system' : actor,
    ref,
  };
}

/** The log's kind of such an event. */
function kindOf(ref: string, side: MoneyEntry['side']): 'top-up' | 'manage' | 'system' | 'refund' {
  if (side === 'refund') return 'refund';
  if (ref.startsWith('open:')) return 'system';
  const [, trade, event] = /^(?:deducted:|plan:)?(?:top-up|code):([^:]*)(:.*)?$/.exec(ref) ?? [];
  // A reversed refund: the payment was credited again.
  if (event !== undefined) return 'refund';
  return trade === undefined ? 'manage' : 'top-up';
}
