/** All layers of calls against plain arithmetic: whatever happens, in whatever order, every bucket is exactly what it should be. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Department } from '../../../core/contracts/departments.ts';
import type { KeyLimit } from '../../../core/contracts/identity.ts';
import { COUNTED, type Layer } from '../../../core/contracts/ledger.ts';
import type { GatewayError } from '../../../core/plugin.ts';
import fc from '../../kit/fast-check.ts';
import { callingNow, department, type Exchange, ended, holder, openWorld, type Run, subscribe } from './world.ts';

const DAY_MS = 86_400_000;
const MONDAY_MS = 4 * DAY_MS;

/** Micro-quota; undefined: no limit. */
type Limit = number | undefined;
type Event =
  | { readonly kind: 'admit'; readonly key: number; readonly tokens: number }
  | { readonly kind: 'settle'; readonly call: number; readonly tokens: number }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'plan'; readonly limits: readonly [Limit, Limit, Limit]; readonly includes: boolean }
  | { readonly kind: 'budgets'; readonly lower: Limit; readonly upper: Limit; readonly month: Limit }
  | { readonly kind: 'key limits'; readonly day: Limit; readonly week: Limit; readonly ofModel: Limit }
  | { readonly kind: 'factor'; readonly ppm: number }
  | { readonly kind: 'subscribe' | 'cancel'; readonly account: number }
  | { readonly kind: 'crash' };

const limit = fc.option(fc.integer({ min: 40, max: 400 }), { nil: undefined });
const budget = fc.option(fc.integer({ min: 0, max: 900 }), { nil: undefined, freq: 3 });
const number = fc.nat(100);
const tokens = fc.integer({ min: 1, max: 60 });
const events: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(
    { weight: 14, arbitrary: fc.record({ kind: fc.constant('admit' as const), key: number, tokens }) },
    { weight: 9, arbitrary: fc.record({ kind: fc.constant('settle' as const), call: number, tokens }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(5 * DAY_MS) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('plan' as const),
        limits: fc.tuple(fc.integer({ min: 20, max: 200 }), limit, limit),
        includes: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('budgets' as const), lower: budget, upper: budget, month: budget }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('key limits' as const),
        day: limit,
        week: limit,
        ofModel: limit,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('factor' as const),
        ppm: fc.constantFrom(500_000, 1_000_000, 1_300_001),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('subscribe' as const, 'subscribe' as const, 'cancel' as const),
        account: number,
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
  ),
  { minLength: 30, maxLength: 60 },
);

/** A bucket as arithmetic has it. */
interface Sum {
  granted: bigint;
  used: bigint;
  held: bigint;
}
interface OpenCall {
  readonly x: Exchange;
  readonly run: Run;
  readonly amount: bigint;
  readonly factor: bigint;
  /** Its layers, each with the limit that it had when the call began. */
  readonly from: readonly (readonly [place: string, limit: bigint | undefined])[];
}
interface Card {
  readonly id: number;
  readonly startsMs: number;
  expiresMs: number;
}

const upTo = (amount: bigint, factor: bigint): bigint => (amount * factor + 999_999n) / 1_000_000n;
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const name = ({ kind, owner, windowStart = 0 }: Layer): string => `${kind} ${owner} ${windowStart}`;
const floor = (at: number, anchor: number, length: number): number =>
  anchor + Math.floor((at - anchor) / length) * length;

describe('any sequence of events', () => {
  it('leaves in every layer exactly what plain arithmetic says', async () => {
    const world = await openWorld('unlimited', 'unlimited');
    let round = 0;
    const seen = new Map<string, number>();
    const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);

    await fc.assert(
      fc.asyncProperty(events, async (history) => {
        round++;
        // Two accounts in one department, whose tree is two high; each has a key.
        const owners = [round * 100 + 1, round * 100 + 2];
        const [lower, upper] = [round * 100 + 3, round * 100 + 4];
        let plan: Extract<Event, { kind: 'plan' }> = { kind: 'plan', limits: [100, undefined, 250], includes: false };
        let budgets: { lower: Limit; upper: Limit; month: Limit } = { lower: undefined, upper: 900, month: undefined };
        let ofKeys: { day: Limit; week: Limit; ofModel: Limit } = { day: 90, week: undefined, ofModel: 300 };
        let ppm = 1_000_000;
        const cards = new Map<number, Card>();
        const sums = new Map<string, Sum>();
        let open: OpenCall[] = [];
        const started: Run[] = [];
        let boots = 0;

        const section = () => {
          const written = (micro: Limit) => (micro === undefined ? undefined : Number(`${micro * 2}e-12`));
          const [daily, weekly, monthly] = plan.limits.map(written);
          const card = {
            days: 11,
            daily,
            weekly,
            monthly,
            afterExpiry: 'balance',
            ...(plan.includes && { includes: 'balance' }),
          };
          return JSON.parse(JSON.stringify({ plans: { card } }));
        };
        const start = async (): Promise<Run> => {
          const run = await world.run(`boot-${round}-${boots}`, section());
          started.push(run);
          return run;
        };
        const setDepartments = (): void => {
          const big = (micro: Limit) => (micro === undefined ? undefined : BigInt(micro));
          const path: readonly Department[] = [
            department(lower, { budget: big(budgets.lower), factorPpm: ppm }),
            department(upper, { budget: big(budgets.upper), monthlyBudget: big(budgets.month), factorPpm: 7 }),
          ];
          for (const owner of owners) world.departments.set(owner, path);
        };

        /** The limits of both keys. */
        const keyLimits = (): readonly KeyLimit[] => {
          const { day, week, ofModel } = ofKeys;
          const big = (name: string, micro: Limit) => (micro === undefined ? {} : { [name]: BigInt(micro) });
          return [
            { budgets: { ...big('day', day), ...big('week', week) } },
            { model: 'metered', budgets: big('month', ofModel) },
          ];
        };

        /** The layers of a call of an account now: name, limit, code. */
        const layersOf = (i: number): readonly { at: Layer; limit: bigint | undefined; code: string }[] => {
          const now = world.clock.now();
          const card = cards.get(i);
          const runs = card !== undefined && card.expiresMs > now;
          const windows = runs
            ? ([
                ['day', floor(now, 0, DAY_MS), 'QUOTA_MONTHLY_DAILY_EXCEEDED'],
                ['week', floor(now, MONDAY_MS, 7 * DAY_MS), 'QUOTA_MONTHLY_WEEKLY_EXCEEDED'],
                ['month', floor(now, card.startsMs, 30 * DAY_MS), 'QUOTA_MONTHLY_EXCEEDED'],
              ] as const)
            : [];
          const at = new Date(now);
          const monthStart = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
          const code = 'QUOTA_DEPARTMENT_EXCEEDED';
          const ofKey = (kind: Layer['kind'], windowStart: number, limit: Limit) => ({
            at: { kind, owner: owners[i]!, windowStart },
            limit,
            code: 'QUOTA_TOKEN_PERIOD_EXCEEDED',
          });
          const limited = [
            ofKey('key-day', floor(now, 0, DAY_MS), ofKeys.day),
            ofKey('key-week', floor(now, MONDAY_MS, 7 * DAY_MS), ofKeys.week),
            ofKey('key-month metered', monthStart, ofKeys.ofModel),
            ...windows.map(([kind, windowStart, code], w) => ({
              at: { kind, owner: card!.id, windowStart },
              limit: plan.limits[w],
              code,
            })),
          ];
          // Without a budget, departments count.
          const ofDepartments = (
            [
              ['department', lower, 0, budgets.lower],
              ['department-month', lower, monthStart, undefined],
              ['department', upper, 0, budgets.upper],
              ['department-month', upper, monthStart, budgets.month],
            ] as const
          ).map(([kind, owner, windowStart, limit]) => ({
            at: { kind, owner, windowStart },
            limit: limit === undefined ? COUNTED : BigInt(limit),
            code,
          }));
          return [
            ...(runs && plan.includes
              ? []
              : [
                  {
                    at: { kind: 'account', owner: owners[i]! } as const,
                    limit: undefined,
                    code: 'QUOTA_USER_INSUFFICIENT',
                  },
                ]),
            { at: { kind: 'key', owner: owners[i]! }, limit: undefined, code: 'QUOTA_TOKEN_INSUFFICIENT' },
            ...limited.flatMap((each) => (each.limit === undefined ? [] : [{ ...each, limit: BigInt(each.limit) }])),
            ...ofDepartments,
          ];
        };

        /** What a call that used more than it held holds beyond: as much as every layer has, by the limits it began with. */
        const grown = ({ amount, from }: OpenCall, due: bigint): bigint => {
          const stands = from.map(([place, limit]) => {
            const sum = sums.get(place)!;
            const taken = sum.used + sum.held;
            const granted = limit === undefined ? sum.granted : most(limit, taken);
            return { sum, granted, room: granted - taken };
          });
          const more = stands.reduce((lowest, { room }) => least(lowest, room), due - amount);
          if (more <= 0n) return 0n;
          for (const { sum, granted } of stands) Object.assign(sum, { granted, held: sum.held + more });
          count('grown');
          return more;
        };

        let run = await start();
        setDepartments();
        for (const [i, owner] of owners.entries()) {
          for (const [kind, grants] of [
            ['account', [150n, 400n]],
            ['key', [400n, 150n]],
          ] as const) {
            const granted = grants[i]!;
            await world.store.atomic(run.ledger.open({ kind, owner }, granted, false));
            sums.set(name({ kind, owner }), { granted, used: 0n, held: 0n });
          }
        }

        for (const event of history) {
          switch (event.kind) {
            case 'admit': {
              const i = event.key % 2;
              const factor = BigInt(ppm);
              const amount = upTo(BigInt(event.tokens), factor);
              const layers = layersOf(i);
              const stands = layers.map(({ at, limit }) => {
                const { granted, used, held } = sums.get(name(at)) ?? { granted: limit!, used: 0n, held: 0n };
                return { granted: limit === undefined ? granted : most(limit, used + held), used, held };
              });
              const refusing = stands.findIndex(({ granted, used, held }) => granted - used - held < amount);
              const identity = holder(owners[i]!, owners[i]!, keyLimits());
              const x = callingNow(world, 'metered', event.tokens, { identity });
              if (refusing >= 0) {
                count(layers[refusing]!.at.kind);
                await assert.rejects(run.admit(x), (error: GatewayError) => error.code === layers[refusing]!.code);
                break;
              }
              await run.admit(x);
              count('admitted');
              for (const [n, { at }] of layers.entries()) {
                sums.set(name(at), { ...stands[n]!, held: stands[n]!.held + amount });
              }
              open.push({ x, run, amount, factor, from: layers.map(({ at, limit }) => [name(at), limit]) });
              break;
            }
            case 'settle': {
              const [call] = open.splice(event.call % Math.max(open.length, 1), 1);
              if (call === undefined) break;
              const due = upTo(BigInt(event.tokens), call.factor);
              const amount = call.amount + grown(call, due);
              assert.equal(await call.run.settle(ended(call.x, 'served', event.tokens)), undefined);
              for (const [place] of call.from) {
                const sum = sums.get(place)!;
                sum.held -= amount;
                sum.used += least(due, amount);
              }
              break;
            }
            case 'pass':
              world.clock.advance(event.ms);
              break;
            case 'plan':
              plan = event;
              run = await start();
              break;
            case 'budgets':
              budgets = event;
              setDepartments();
              break;
            case 'key limits':
              ofKeys = event;
              break;
            case 'factor':
              ppm = event.ppm;
              setDepartments();
              break;
            case 'subscribe': {
              const i = event.account % 2;
              const { id, startsMs, expiresMs } = await subscribe(world, run, 'card', owners[i]!);
              const card = cards.get(i);
              const runs = card !== undefined && card.expiresMs > world.clock.now();
              assert.equal(expiresMs, (runs ? card.expiresMs : world.clock.now()) + 11 * DAY_MS);
              assert.equal(id === card?.id, runs);
              cards.set(i, { id, startsMs, expiresMs });
              break;
            }
            case 'cancel': {
              const i = event.account % 2;
              assert.equal(await run.subscriptions.cancel(owners[i]!), cards.delete(i));
              break;
            }
            case 'crash':
              for (const each of started.splice(0)) await each.parts.stop?.();
              boots++;
              run = await start();
              for (const call of open) {
                for (const [place] of call.from) sums.get(place)!.held -= call.amount;
                assert.equal(await call.run.settle(ended(call.x, 'served', 1)), 'lease_lost');
              }
              open = [];
              assert.deepEqual(await world.faults(run), {});
          }
        }
        assert.deepEqual(await world.faults(run), {});
        const rows = await world.store.all<Record<string, string | number>>(
          `SELECT kind, owner, window_start AS "windowStart", CAST(granted AS TEXT) AS granted, CAST(used AS TEXT) AS used FROM bucket`,
        );
        const buckets = new Map(rows.map((row) => [name(row as unknown as Layer), row]));
        for (const [place, { granted, used, held }] of sums) {
          const row = buckets.get(place);
          const { held: h } = (await run.ledger.balance(row as unknown as Layer)) ?? {};
          // A limit follows what is written down of it when something is leased, also for a call that another layer refuses.
          const isMoney = /^(account|key) /.test(place);
          assert.deepEqual([isMoney && row?.granted, row?.used, h], [isMoney && `${granted}`, `${used}`, held], place);
        }
        for (const each of started) await each.parts.stop?.();
        for (const { x, run: its } of open) await its.settle(ended(x, 'failed'));
      }),
      { numRuns: 12, endOnFailure: true },
    );
    const windows = ['day', 'week', 'month'].reduce((sum, kind) => sum + (seen.get(kind) ?? 0), 0);
    const fewest = Math.min(
      windows,
      ...['admitted', 'grown', 'account', 'key', 'department', 'key-day'].map((what) => seen.get(what) ?? 0),
    );
    assert.ok(fewest > 3, `too quiet to prove anything: ${JSON.stringify([...seen])}`);
    await world.close();
  });
});
