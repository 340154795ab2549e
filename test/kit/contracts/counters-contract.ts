/** What every `Counters` must do, whatever it keeps its numbers in. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Admission, Counters, GateEntry, WindowState, WindowTake } from '../../../core/contracts/counters.ts';
import { share } from '../console/whole.ts';
import fc from '../fast-check.ts';
import { type FakeClock, fakeClock } from '../gateway/clock.ts';

const WINDOW_MS = 60_000;

/** A cost to be taken from a window of a minute. */
const from = (name: string, limit: number, cost: number): WindowTake => ({ name, limit, windowMs: WINDOW_MS, cost });

/** Takes from one window. */
async function take(
  counters: Counters,
  name: string,
  limit: number,
  cost: number,
): Promise<WindowState & { admission: Admission }> {
  const admission = await counters.take([from(name, limit, cost)]);
  assert.equal(admission.refusedBy, admission.ok ? -1 : 0);
  assert.equal(admission.windows[0]!.ok, admission.ok);
  return { ...admission.windows[0]!, admission };
}

/** Enters one gate. */
const enter = async (counters: Counters, name: string, limit: number, id: string): Promise<boolean> =>
  (await counters.take([], at(name, limit, id))).ok;
const at = (name: string, limit: number, id: string): GateEntry => ({ id, gates: [{ name, limit }] });

/** What a taking says of its window. */
function told({ ok, remaining, retryAfterMs, resetMs }: WindowState): WindowState {
  return { ok, remaining, retryAfterMs, resetMs };
}

/**
 * Runs the contract. `make` gives fresh counters; they must live by the clock they are given, whose steps here are whole
 * milliseconds.
 */
export function countersContract(name: string, make: (clock: FakeClock) => Counters | Promise<Counters>): void {
  const fresh = async (): Promise<{ clock: FakeClock; counters: Counters }> => {
    const clock = fakeClock();
    return { clock, counters: await make(clock) };
  };
  /** Gaps between calls, among them those at which a window just holds and just does not hold the first. */
  const gaps = fc.oneof(
    fc.constantFrom(0, 1, WINDOW_MS - 1, WINDOW_MS, WINDOW_MS + 1),
    fc.integer({ min: 0, max: 30_000 }),
    fc.integer({ min: 0, max: 300 }),
  );

  describe(`counters: ${name}`, () => {
    it('lets in exactly what fits into every window, for any arrivals', async () => {
      const arrivals = fc.array(fc.record({ gap: gaps, cost: fc.integer({ min: 1, max: 6 }) }), { maxLength: 80 });
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 20 }), arrivals, async (limit, calls) => {
          const { clock, counters } = await fresh();
          const accepted: { atMs: number; cost: number }[] = [];
          for (const { gap, cost } of calls) {
            clock.advance(gap);
            const nowMs = clock.mono();
            const inWindow = accepted
              .filter(({ atMs }) => atMs > nowMs - WINDOW_MS)
              .reduce((sum, a) => sum + a.cost, 0);
            const taken = await take(counters, 'a', limit, cost);
            assert.equal(taken.ok, inWindow + cost <= limit);
            assert.equal(taken.remaining, limit - inWindow - (taken.ok ? cost : 0));
            if (taken.ok) accepted.push({ atMs: nowMs, cost });
          }
        }),
        { numRuns: 50 },
      );
    });

    it('lets a refused call in after exactly as long as it said, and not a millisecond before', async () => {
      const before = fc.array(fc.record({ gap: gaps, cost: fc.integer({ min: 1, max: 5 }) }), {
        minLength: 1,
        maxLength: 40,
      });
      let refusals = 0;
      await fc.assert(
        fc.asyncProperty(before, fc.integer({ min: 1, max: 10 }), async (calls, cost) => {
          const { clock, counters } = await fresh();
          for (const call of calls) {
            clock.advance(call.gap);
            await take(counters, 'a', 10, call.cost);
          }
          const refused = await take(counters, 'a', 10, cost);
          if (refused.ok) return;
          refusals++;
          assert.ok(Number.isInteger(refused.retryAfterMs) && refused.retryAfterMs > 0);
          clock.advance(refused.retryAfterMs - 1);
          assert.equal((await take(counters, 'a', 10, cost)).ok, false);
          clock.advance(1);
          assert.equal((await take(counters, 'a', 10, cost)).ok, true);
        }),
        { numRuns: 100 },
      );
      assert.ok(refusals > share(100) / 5, `${refusals} runs were refused: too few to prove anything`);
    });

    it('takes nothing when it refuses', async () => {
      const { counters } = await fresh();
      await take(counters, 'a', 5, 3);
      for (let i = 0; i < 50; i++) assert.equal((await take(counters, 'a', 5, 3)).ok, false);
      assert.deepEqual(told(await take(counters, 'a', 5, 2)), {
        ok: true,
        remaining: 0,
        retryAfterMs: 0,
        resetMs: WINDOW_MS,
      });
    });

    it('never lets in what is larger than the limit, and says so', async () => {
      const { counters } = await fresh();
      assert.equal((await take(counters, 'a', 5, 6)).retryAfterMs, Infinity);
    });

    it('tells when the window is as good as new', async () => {
      const { clock, counters } = await fresh();
      await take(counters, 'a', 5, 1);
      clock.advance(20_000);
      assert.equal((await take(counters, 'a', 5, 1)).resetMs, WINDOW_MS);
      clock.advance(20_000);
      assert.equal((await take(counters, 'a', 5, 9)).resetMs, WINDOW_MS - 20_000);
    });

    it('keeps names apart', async () => {
      const { counters } = await fresh();
      assert.equal((await take(counters, 'a', 1, 1)).ok, true);
      assert.equal((await take(counters, 'b', 1, 1)).ok, true);
      assert.equal((await take(counters, 'a', 1, 1)).ok, false);
    });

    it('replaces a cost by the true one, downwards, upwards and beyond the limit', async () => {
      const { clock, counters } = await fresh();
      const one = await take(counters, 'a', 100, 60);
      clock.advance(1_000);
      const two = await take(counters, 'a', 100, 40);
      counters.correct(one.admission, 10);
      assert.equal((await take(counters, 'a', 100, 50)).remaining, 0);
      counters.correct(two.admission, 400);
      const refused = await take(counters, 'a', 100, 1);
      // What the second took counts from the moment it was taken.
      assert.deepEqual(told(refused), { ok: false, remaining: 0, retryAfterMs: WINDOW_MS, resetMs: WINDOW_MS });
      clock.advance(WINDOW_MS);
      assert.equal((await take(counters, 'a', 100, 100)).ok, true);
    });

    it('gives back what is corrected to nothing, at once', async () => {
      const { counters } = await fresh();
      const one = await take(counters, 'a', 1, 1);
      counters.correct(one.admission, 0);
      counters.correct(one.admission, 0);
      assert.equal((await take(counters, 'a', 1, 1)).ok, true);
    });

    it('corrects each of several takings of one moment by itself', async () => {
      const { counters } = await fresh();
      const [one, two] = [await take(counters, 'a', 10, 3), await take(counters, 'a', 10, 4)];
      counters.correct(one.admission, 0);
      counters.correct(one.admission, 1);
      counters.correct(two.admission, 0);
      assert.equal((await take(counters, 'a', 10, 9)).remaining, 0);
    });

    it('does not mind a correction of what it has refused or forgotten', async () => {
      const { clock, counters } = await fresh();
      const one = await take(counters, 'a', 5, 5);
      counters.correct((await take(counters, 'a', 5, 1)).admission, 0);
      clock.advance(WINDOW_MS);
      assert.equal((await take(counters, 'a', 5, 2)).remaining, 3);
      counters.correct(one.admission, 7);
      assert.equal((await take(counters, 'a', 5, 3)).remaining, 0);
    });

    it('never holds more than its limit inside a gate, with a thousand at the door', async () => {
      const { counters } = await fresh();
      let inside = 0;
      let most = 0;
      let served = 0;
      const guest = async (id: string): Promise<void> => {
        while (!(await enter(counters, 'gate', 8, id))) await setImmediate();
        most = Math.max(most, ++inside);
        await setImmediate();
        inside--;
        served++;
        counters.leave(at('gate', 2, id));
      };
      await Promise.all(Array.from({ length: 1_000 }, (_, i) => guest(`guest-${i}`)));
      assert.deepEqual({ most, served, inside }, { most: 8, served: 1_000, inside: 0 });
    });

    it('tells what it would answer to a taking, and takes nothing', async () => {
      const { clock, counters } = await fresh();
      for (const cost of [1, 4, 6, 2]) {
        clock.advance(1_000);
        for (let i = 0; i < 20; i++) await counters.look(from('a', 5, cost));
        const looked = await counters.look(from('a', 5, cost));
        assert.deepEqual(told(await take(counters, 'a', 5, cost)), looked);
      }
      assert.deepEqual(await counters.look(from('a', 5, 1)), {
        ok: false,
        remaining: 0,
        retryAfterMs: WINDOW_MS - 3_000,
        resetMs: WINDOW_MS - 2_000,
      });
    });

    it('tells how many are inside a gate', async () => {
      const { counters } = await fresh();
      assert.equal(await counters.inside('gate'), 0);
      await enter(counters, 'gate', 2, 'one');
      await enter(counters, 'gate', 2, 'two');
      await enter(counters, 'gate', 2, 'three');
      assert.equal(await counters.inside('gate'), 2);
      counters.leave(at('gate', 2, 'one'));
      assert.equal(await counters.inside('gate'), 1);
    });

    it('counts whoever enters or leaves a gate twice once', async () => {
      const { counters } = await fresh();
      assert.equal(await enter(counters, 'gate', 2, 'one'), true);
      assert.equal(await enter(counters, 'gate', 2, 'one'), true);
      assert.equal(await enter(counters, 'gate', 2, 'two'), true);
      assert.equal(await enter(counters, 'gate', 2, 'three'), false);
      counters.leave(at('gate', 2, 'one'));
      counters.leave(at('gate', 2, 'one'));
      counters.leave(at('gate', 2, 'three'));
      counters.leave(at('nowhere', 2, 'one'));
      assert.equal(await enter(counters, 'gate', 2, 'three'), true);
      assert.equal(await enter(counters, 'gate', 2, 'four'), false);
    });

    it('takes from every window and enters every gate at once, or does nothing and says which refused first', async () => {
      const { counters } = await fresh();
      const ask = (id: string) =>
        counters.take([from('a', 3, 1), from('b', 5, 2)], {
          id,
          gates: [...at('c', 2, id).gates, ...at('d', 1, id).gates],
        });
      const first = await ask('one');
      assert.deepEqual(
        { ok: first.ok, refusedBy: first.refusedBy, left: first.windows.map(({ remaining }) => remaining) },
        { ok: true, refusedBy: -1, left: [2, 3] },
      );
      const second = await ask('two');
      assert.deepEqual(
        {
          ok: second.ok,
          refusedBy: second.refusedBy,
          left: second.windows.map(({ ok, remaining }) => ({ ok, remaining })),
        },
        {
          ok: false,
          refusedBy: 3,
          left: [
            { ok: true, remaining: 2 },
            { ok: true, remaining: 3 },
          ],
        },
      );
      assert.deepEqual([await counters.inside('c'), await counters.inside('d')], [1, 1]);
      counters.leave({
        id: 'one',
        gates: [
          { name: 'c', limit: 2 },
          { name: 'd', limit: 1 },
        ],
      });
      assert.deepEqual([await counters.inside('c'), await counters.inside('d')], [0, 0]);
      assert.equal((await ask('three')).ok, true);
      const fourth = await ask('four');
      assert.deepEqual(
        { ok: fourth.ok, refusedBy: fourth.refusedBy, states: fourth.windows.map(told) },
        {
          ok: false,
          refusedBy: 1,
          states: [
            { ok: true, remaining: 1, retryAfterMs: 0, resetMs: WINDOW_MS },
            { ok: false, remaining: 1, retryAfterMs: WINDOW_MS, resetMs: WINDOW_MS },
          ],
        },
      );
      assert.equal(await counters.inside('c'), 1);
    });

    it('corrects every window of an admission, each by what was taken from it', async () => {
      const { counters } = await fresh();
      const admission = await counters.take([from('a', 10, 3), from('b', 10, 8)]);
      counters.correct(admission, 5);
      assert.equal((await counters.look(from('a', 10, 1))).remaining, 4);
      assert.equal((await counters.look(from('b', 10, 1))).remaining, 4);
    });

    it('lets exactly ten of two thousand parallel calls in', async () => {
      const { counters } = await fresh();
      const calls = await Promise.all(Array.from({ length: 2_000 }, () => take(counters, 'a', 10, 1)));
      assert.equal(calls.filter(({ ok }) => ok).length, 10);
    });
  });
}
