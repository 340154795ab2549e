/** The statement of one's account: what came, what went, and what was there, day by day. */
import { coreErrors } from '../../../core/contracts/errors.ts';
import { type Balance, Ledger, type MoneyDay, type MoneyEntry } from '../../../core/contracts/ledger.ts';
import { Records, type UsageSum } from '../../../core/contracts/records.ts';
import { refuse, schema } from '../../../core/plugin.ts';
import { pageSize, sizeOf } from '../pages.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { boolean, integer, list, named, object, text, unixSeconds } from '../schemas.ts';
import { exactUnits, secondsOf, unitsOf } from '../units.ts';

const TAG = 'Payments';
const DAY_MS = 86_400_000;
/** How often it is read anew because a call was charged meanwhile. */
const TRIES = 3;
/** Events on a page. */
const USUAL = 20;
const MOST = 100;

interface StatementAsked {
  readonly days: number;
  readonly page_size?: number;
  readonly before?: string;
}

/** Amounts of a day, micro-quota. */
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

/** The rows. */
export function statementRoutes({ host, need }: Tools): readonly ApiRoute[] {
  /** What is there now, and what moved since then; all of it from between two charges. */
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
    route({
      method: 'GET',
      path: '/api/user/statement',
      who: 'member',
      errors: ['account_not_found'],
      summary: 'What came to the own account and went from it, by day (UTC), and what was there before and after.',
      tag: TAG,
      search: schema<StatementAsked>({
        type: 'object',
        properties: {
          days: { ...integer, minimum: 1, maximum: 366, default: 30, description: 'So many, today with them.' },
          page_size: pageSize(USUAL, MOST),
          before: {
            description: 'Events behind the last of the page before: its `next`.',
            type: 'string',
            maxLength: 2_000,
          },
        },
      }),
      answer: named(
        'Statement',
        object({
          unlimited: { ...boolean, description: 'It may use as much as it likes; the balances are what that came to.' },
          balance: { ...text, description: 'Quota units, a decimal number: what closes today.' },
          held: { ...text, description: 'That of it which running calls have set aside.' },
          debt: { ...text, description: 'What is owed since a payment went back; it is paid from what comes next.' },
          days: {
            ...list({
              date: text,
              opening: integer,
              credits: integer,
              debits: { ...integer, description: 'What calls cost, and what else was taken or paid.' },
              refunds: { ...integer, description: 'What was taken back because a payment went back.' },
              closing: integer,
              requests: integer,
              exact: object({
                opening: text,
                credits: text,
                debits: text,
                calls: { ...text, description: 'That of the debits which calls cost.' },
                refunds: text,
                closing: text,
              }),
            }),
            description:
              'The oldest first; quota units, rounded down, and exactly. A call counts on the day on which it began. What subscriptions included is left out; of calls that an older release recorded that is not known, and days then open with too much.',
          },
          events: {
            ...list({
              at: unixSeconds,
              kind: { enum: ['top-up', 'manage', 'system', 'refund'], description: 'As the log has it.' },
              side: { enum: ['credit', 'debit', 'refund'] },
              amount: { ...integer, description: 'Quota units; below zero where it was taken.' },
              exact: { ...text, description: 'The same as a decimal number.' },
              by: { ...text, description: 'A payment provider, `redemption code`, `administrator`, `system`.' },
              ref: { ...text, description: 'What names it: `top-up:` and the number of the order.' },
            }),
            description: 'What moved money beside calls, newest first.',
          },
          next: { type: ['string', 'null'], description: 'The `before` of the next page; null: this is the last.' },
        }),
      ),
      async handle({ account: { id }, asked: { days, page_size, before } }) {
        const limit = sizeOf(page_size, USUAL, MOST);
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

/** From today, which closes with what is there, back to the first day. */
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
  const { opening, credits, debits, refunds, closing } = amounts;
  return {
    date: new Date(timeMs).toISOString().slice(0, 10),
    opening: unitsOf(opening),
    credits: unitsOf(credits),
    debits: unitsOf(debits),
    refunds: unitsOf(refunds),
    closing: unitsOf(closing),
    requests,
    exact: {
      opening: exactUnits(opening),
      credits: exactUnits(credits),
      debits: exactUnits(debits),
      calls: exactUnits(calls),
      refunds: exactUnits(refunds),
      closing: exactUnits(closing),
    },
  };
}

/** As the person may see it: that it was an administrator, and not who. */
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

/** What the log calls such an event. */
function kindOf(ref: string, side: MoneyEntry['side']): 'top-up' | 'manage' | 'system' | 'refund' {
  if (side === 'refund') return 'refund';
  if (ref.startsWith('open:')) return 'system';
  const [, trade, event] = /^(?:deducted:|plan:)?(?:top-up|code):([^:]*)(:.*)?$/.exec(ref) ?? [];
  // A payment that went back, and came again.
  if (event !== undefined) return 'refund';
  return trade === undefined ? 'manage' : 'top-up';
}
