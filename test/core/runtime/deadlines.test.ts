/** Deadlines: swept together, late by no more than a sweep, and never early. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDeadlines, type Deadline, type Deadlines } from '../../../core/runtime/deadlines.ts';
import fc from '../../kit/fast-check.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';

/** How late one may be. */
const SWEEP_MS = 50;

/** Deadlines, and what has expired when, in milliseconds since the beginning. */
function open() {
  const clock: FakeClock = fakeClock();
  const began = clock.mono();
  const deadlines: Deadlines = createDeadlines(clock);
  const expired: [name: string, atMs: number][] = [];
  const set = (name: string, ms: number): Deadline =>
    deadlines.set(ms, () => void expired.push([name, clock.mono() - began]));
  return { clock, deadlines, expired, set, names: () => expired.map(([name]) => name) };
}

describe('a deadline', () => {
  it('expires once, never early, and at most one sweep late', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2_000 }), { minLength: 1, maxLength: 30 }), (all) => {
        const { clock, expired, set } = open();
        for (const ms of all) set(String(ms), ms);
        clock.advance(2_000 + SWEEP_MS);
        assert.equal(expired.length, all.length);
        for (const [name, atMs] of expired) {
          assert.ok(atMs >= Number(name) && atMs <= Number(name) + SWEEP_MS, `${name} expired at ${atMs}`);
        }
        clock.advance(10_000);
        assert.equal(expired.length, all.length);
      }),
      { numRuns: 50 },
    );
  });

  it('that is cleared does not expire, and may be cleared again', () => {
    const { clock, deadlines, set, names } = open();
    const cleared = set('cleared', 100);
    set('kept', 100);
    deadlines.clear(cleared);
    deadlines.clear(cleared);
    clock.advance(1_000);
    assert.deepEqual(names(), ['kept']);
    deadlines.clear(cleared);
  });

  it('moves with `atMs` in both directions, and never expires if that is infinite', () => {
    const { clock, set, names } = open();
    const later = set('later', 100);
    const sooner = set('sooner', 10_000);
    const never = set('never', 100);
    later.atMs += 500;
    sooner.atMs -= 9_800;
    never.atMs = Infinity;
    clock.advance(300);
    assert.deepEqual(names(), ['sooner']);
    clock.advance(350);
    assert.deepEqual(names(), ['sooner', 'later']);
    clock.advance(1e9);
    assert.deepEqual(names(), ['sooner', 'later']);
  });

  it('may clear, postpone and set others when it expires', () => {
    const { clock, deadlines, set, names } = open();
    const others: Deadline[] = [];
    deadlines.set(100, () => {
      deadlines.clear(others[0]!);
      others[1]!.atMs += 100;
      set('new', 0);
    });
    others.push(set('cleared', 100), set('postponed', 100));
    set('untouched', 100);
    clock.advance(100);
    assert.deepEqual(names(), ['untouched']);
    clock.advance(SWEEP_MS);
    assert.deepEqual(names(), ['untouched', 'new']);
    clock.advance(SWEEP_MS);
    assert.deepEqual(names(), ['untouched', 'new', 'postponed']);
  });

  it('does not expire after all were stopped', () => {
    const { clock, deadlines, set, names } = open();
    set('one', 100);
    deadlines.stop();
    clock.advance(1_000);
    assert.deepEqual(names(), []);
  });
});
