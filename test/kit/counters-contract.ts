/** What every `Counters` must do, whatever it keeps its numbers in. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Counters, Taken } from '../../core/contracts/counters.ts';
import { type FakeClock, fakeClock } from './clock.ts';
import fc from './fast-check.ts';

const WINDOW_MS = 60_000;

/** What a taking says of its window. */
function told({ ok, remaining, retryAfterMs, resetMs }: Taken): Taken {
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
            const taken = await counters.take('a', limit, WINDOW_MS, cost);
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
            await counters.take('a', 10, WINDOW_MS, call.cost);
          }
          const refused = await counters.take('a', 10, WINDOW_MS, cost);
          if (refused.ok) return;
          refusals++;
          assert.ok(Number.isInteger(refused.retryAfterMs) && refused.retryAfterMs > 0);
          clock.advance(refused.retryAfterMs - 1);
          assert.equal((await counters.take('a', 10, WINDOW_MS, cost)).ok, false);
          clock.advance(1);
          assert.equal((await counters.take('a', 10, WINDOW_MS, cost)).ok, true);
        }),
        { numRuns: 100 },
      );
      assert.ok(refusals > 20, `${refusals} of 300 runs were refused: too few to prove anything`);
    });

    it('takes nothing when it refuses', async () => {
      const { counters } = await fresh();
      await counters.take('a', 5, WINDOW_MS, 3);
      for (let i = 0; i < 50; i++) assert.equal((await counters.take('a', 5, WINDOW_MS, 3)).ok, false);
      assert.deepEqual(told(await counters.take('a', 5, WINDOW_MS, 2)), {
        ok: true,
        remaining: 0,
        retryAfterMs: 0,
        resetMs: WINDOW_MS,
      });
    });

    it('never lets in what is larger than the limit, and says so', async () => {
      const { counters } = await fresh();
      assert.equal((await counters.take('a', 5, WINDOW_MS, 6)).retryAfterMs, Infinity);
    });

    it('tells when the window is as good as new', async () => {
      const { clock, counters } = await fresh();
      await counters.take('a', 5, WINDOW_MS, 1);
      clock.advance(20_000);
      assert.equal((await counters.take('a', 5, WINDOW_MS, 1)).resetMs, WINDOW_MS);
      clock.advance(20_000);
      assert.equal((await counters.take('a', 5, WINDOW_MS, 9)).resetMs, WINDOW_MS - 20_000);
    });

    it('keeps names apart', async () => {
      const { counters } = await fresh();
      assert.equal((await counters.take('a', 1, WINDOW_MS, 1)).ok, true);
      assert.equal((await counters.take('b', 1, WINDOW_MS, 1)).ok, true);
      assert.equal((await counters.take('a', 1, WINDOW_MS, 1)).ok, false);
    });

    it('replaces a cost by the true one, downwards, upwards and beyond the limit', async () => {
      const { clock, counters } = await fresh();
      const one = await counters.take('a', 100, WINDOW_MS, 60);
      clock.advance(1_000);
      const two = await counters.take('a', 100, WINDOW_MS, 40);
      await counters.correct('a', WINDOW_MS, one, 10);
      assert.equal((await counters.take('a', 100, WINDOW_MS, 50)).remaining, 0);
      await counters.correct('a', WINDOW_MS, two, 400);
      const refused = await counters.take('a', 100, WINDOW_MS, 1);
      // What the second took counts from the moment it was taken.
      assert.deepEqual(told(refused), { ok: false, remaining: 0, retryAfterMs: WINDOW_MS, resetMs: WINDOW_MS });
      clock.advance(WINDOW_MS);
      assert.equal((await counters.take('a', 100, WINDOW_MS, 100)).ok, true);
    });

    it('gives back what is corrected to nothing, at once', async () => {
      const { counters } = await fresh();
      const one = await counters.take('a', 1, WINDOW_MS, 1);
      await counters.correct('a', WINDOW_MS, one, 0);
      await counters.correct('a', WINDOW_MS, one, 0);
      assert.equal((await counters.take('a', 1, WINDOW_MS, 1)).ok, true);
    });

    it('corrects each of several takings of one moment by itself', async () => {
      const { counters } = await fresh();
      const [one, two] = [await counters.take('a', 10, WINDOW_MS, 3), await counters.take('a', 10, WINDOW_MS, 4)];
      await counters.correct('a', WINDOW_MS, one, 0);
      await counters.correct('a', WINDOW_MS, one, 1);
      await counters.correct('a', WINDOW_MS, two, 0);
      assert.equal((await counters.take('a', 10, WINDOW_MS, 9)).remaining, 0);
    });

    it('does not mind a correction of what it has refused or forgotten', async () => {
      const { clock, counters } = await fresh();
      const one = await counters.take('a', 5, WINDOW_MS, 5);
      await counters.correct('a', WINDOW_MS, await counters.take('a', 5, WINDOW_MS, 1), 0);
      clock.advance(WINDOW_MS);
      assert.equal((await counters.take('a', 5, WINDOW_MS, 2)).remaining, 3);
      await counters.correct('a', WINDOW_MS, one, 7);
      assert.equal((await counters.take('a', 5, WINDOW_MS, 3)).remaining, 0);
    });

    it('never holds more than its limit inside a gate, with a thousand at the door', async () => {
      const { counters } = await fresh();
      let inside = 0;
      let most = 0;
      let served = 0;
      const guest = async (id: string): Promise<void> => {
        while (!(await counters.enter('gate', 8, id))) await setImmediate();
        most = Math.max(most, ++inside);
        await setImmediate();
        inside--;
        served++;
        await counters.leave('gate', id);
      };
      await Promise.all(Array.from({ length: 1_000 }, (_, i) => guest(`guest-${i}`)));
      assert.deepEqual({ most, served, inside }, { most: 8, served: 1_000, inside: 0 });
    });

    it('tells what it would answer to a taking, and takes nothing', async () => {
      const { clock, counters } = await fresh();
      for (const cost of [1, 4, 6, 2]) {
        clock.advance(1_000);
        for (let i = 0; i < 20; i++) await counters.look('a', 5, WINDOW_MS, cost);
        const looked = await counters.look('a', 5, WINDOW_MS, cost);
        assert.deepEqual(told(await counters.take('a', 5, WINDOW_MS, cost)), looked);
      }
      assert.deepEqual(await counters.look('a', 5, WINDOW_MS, 1), {
        ok: false,
        remaining: 0,
        retryAfterMs: WINDOW_MS - 3_000,
        resetMs: WINDOW_MS - 2_000,
      });
    });

    it('tells how many are inside a gate', async () => {
      const { counters } = await fresh();
      assert.equal(await counters.inside('gate'), 0);
      await counters.enter('gate', 2, 'one');
      await counters.enter('gate', 2, 'two');
      await counters.enter('gate', 2, 'three');
      assert.equal(await counters.inside('gate'), 2);
      await counters.leave('gate', 'one');
      assert.equal(await counters.inside('gate'), 1);
    });

    it('counts whoever enters or leaves a gate twice once', async () => {
      const { counters } = await fresh();
      assert.equal(await counters.enter('gate', 2, 'one'), true);
      assert.equal(await counters.enter('gate', 2, 'one'), true);
      assert.equal(await counters.enter('gate', 2, 'two'), true);
      assert.equal(await counters.enter('gate', 2, 'three'), false);
      await counters.leave('gate', 'one');
      await counters.leave('gate', 'one');
      await counters.leave('gate', 'three');
      await counters.leave('nowhere', 'one');
      assert.equal(await counters.enter('gate', 2, 'three'), true);
      assert.equal(await counters.enter('gate', 2, 'four'), false);
    });
  });
}
