/** What every `Counters` must do, whatever it keeps its numbers in. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Counters } from '../../core/contracts/counters.ts';
import { type FakeClock, fakeClock } from './clock.ts';
import fc from './fast-check.ts';

const WINDOW_MS = 60_000;

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
          for (const [i, { gap, cost }] of calls.entries()) {
            clock.advance(gap);
            const nowMs = clock.mono();
            const inWindow = accepted
              .filter(({ atMs }) => atMs > nowMs - WINDOW_MS)
              .reduce((sum, a) => sum + a.cost, 0);
            const taken = await counters.take('a', limit, WINDOW_MS, cost, `call-${i}`);
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
          for (const [i, call] of calls.entries()) {
            clock.advance(call.gap);
            await counters.take('a', 10, WINDOW_MS, call.cost, `call-${i}`);
          }
          const refused = await counters.take('a', 10, WINDOW_MS, cost, 'late');
          if (refused.ok) return;
          refusals++;
          assert.ok(Number.isInteger(refused.retryAfterMs) && refused.retryAfterMs > 0);
          clock.advance(refused.retryAfterMs - 1);
          assert.equal((await counters.take('a', 10, WINDOW_MS, cost, 'too-early')).ok, false);
          clock.advance(1);
          assert.equal((await counters.take('a', 10, WINDOW_MS, cost, 'in-time')).ok, true);
        }),
        { numRuns: 100 },
      );
      assert.ok(refusals > 20, `${refusals} of 300 runs were refused: too few to prove anything`);
    });

    it('takes nothing when it refuses', async () => {
      const { counters } = await fresh();
      await counters.take('a', 5, WINDOW_MS, 3, 'one');
      for (let i = 0; i < 50; i++) assert.equal((await counters.take('a', 5, WINDOW_MS, 3, `big-${i}`)).ok, false);
      assert.deepEqual(await counters.take('a', 5, WINDOW_MS, 2, 'two'), {
        ok: true,
        remaining: 0,
        retryAfterMs: 0,
        resetMs: WINDOW_MS,
      });
    });

    it('never lets in what is larger than the limit, and says so', async () => {
      const { counters } = await fresh();
      assert.equal((await counters.take('a', 5, WINDOW_MS, 6, 'huge')).retryAfterMs, Infinity);
    });

    it('tells when the window is as good as new', async () => {
      const { clock, counters } = await fresh();
      await counters.take('a', 5, WINDOW_MS, 1, 'one');
      clock.advance(20_000);
      assert.equal((await counters.take('a', 5, WINDOW_MS, 1, 'two')).resetMs, WINDOW_MS);
      clock.advance(20_000);
      assert.equal((await counters.take('a', 5, WINDOW_MS, 9, 'huge')).resetMs, WINDOW_MS - 20_000);
    });

    it('keeps names apart', async () => {
      const { counters } = await fresh();
      assert.equal((await counters.take('a', 1, WINDOW_MS, 1, 'x')).ok, true);
      assert.equal((await counters.take('b', 1, WINDOW_MS, 1, 'x')).ok, true);
      assert.equal((await counters.take('a', 1, WINDOW_MS, 1, 'y')).ok, false);
    });

    it('replaces a cost by the true one, downwards, upwards and beyond the limit', async () => {
      const { clock, counters } = await fresh();
      await counters.take('a', 100, WINDOW_MS, 60, 'one');
      clock.advance(1_000);
      await counters.take('a', 100, WINDOW_MS, 40, 'two');
      await counters.correct('a', WINDOW_MS, 'one', 10);
      assert.equal((await counters.take('a', 100, WINDOW_MS, 50, 'three')).remaining, 0);
      await counters.correct('a', WINDOW_MS, 'two', 400);
      const refused = await counters.take('a', 100, WINDOW_MS, 1, 'four');
      // What the second took counts from the moment it was taken.
      assert.deepEqual(refused, { ok: false, remaining: 0, retryAfterMs: WINDOW_MS, resetMs: WINDOW_MS });
      clock.advance(WINDOW_MS);
      assert.equal((await counters.take('a', 100, WINDOW_MS, 100, 'five')).ok, true);
    });

    it('gives back what is corrected to nothing, at once', async () => {
      const { counters } = await fresh();
      await counters.take('a', 1, WINDOW_MS, 1, 'one');
      await counters.correct('a', WINDOW_MS, 'one', 0);
      await counters.correct('a', WINDOW_MS, 'one', 0);
      assert.equal((await counters.take('a', 1, WINDOW_MS, 1, 'two')).ok, true);
    });

    it('does not mind a correction of what it does not know or has forgotten', async () => {
      const { clock, counters } = await fresh();
      await counters.correct('a', WINDOW_MS, 'nobody', 7);
      await counters.take('a', 5, WINDOW_MS, 5, 'one');
      clock.advance(WINDOW_MS);
      assert.equal((await counters.take('a', 5, WINDOW_MS, 2, 'two')).remaining, 3);
      await counters.correct('a', WINDOW_MS, 'one', 5);
      assert.equal((await counters.take('a', 5, WINDOW_MS, 3, 'three')).remaining, 0);
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
        assert.deepEqual(await counters.take('a', 5, WINDOW_MS, cost, `call-${cost}`), looked);
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
