/** What the last day was like: counted by the hour, forgotten by the hour, and cheap. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRecent } from '../../../plugins/models/recent.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';

const HOUR_MS = 3_600_000;

describe('what the last day was like', () => {
  it('is nothing at first', () => {
    const clock = fakeClock();
    assert.deepEqual(createRecent(clock).look('m'), {
      sinceMs: clock.now(),
      served: 0,
      failed: 0,
      p50FirstByteMs: undefined,
      p95FirstByteMs: undefined,
      lastServedMs: undefined,
    });
  });

  it('counts each name by itself', () => {
    const clock = fakeClock();
    const recent = createRecent(clock);
    recent.served('a', 100);
    recent.served('a', undefined);
    recent.failed('a');
    recent.failed('b');
    const a = recent.look('a');
    assert.deepEqual([a.served, a.failed, a.lastServedMs], [2, 1, clock.now()]);
    assert.deepEqual(
      [recent.look('b').served, recent.look('b').failed, recent.look('b').lastServedMs],
      [0, 1, undefined],
    );
  });

  it('forgets an hour after a day, and says from when on it counts', () => {
    const clock = fakeClock();
    const recent = createRecent(clock);
    recent.served('m', 10);
    const first = clock.now();
    clock.advance(HOUR_MS);
    recent.served('m', 1_000);
    clock.advance(22 * HOUR_MS);
    assert.equal(recent.look('m').served, 2);
    assert.equal(recent.look('m').sinceMs, first, 'the process is younger than a day');
    clock.advance(HOUR_MS);
    assert.equal(recent.look('m').served, 1);
    const { sinceMs } = recent.look('m');
    assert.ok(sinceMs > first && clock.now() - sinceMs <= 24 * HOUR_MS, 'a day ago at the most');
    recent.failed('m');
    assert.deepEqual(
      [recent.look('m').served, recent.look('m').failed],
      [1, 1],
      'the place of an old hour is made anew',
    );
    clock.advance(48 * HOUR_MS);
    assert.deepEqual([recent.look('m').served, recent.look('m').failed], [0, 0]);
    assert.equal(recent.look('m').lastServedMs, first + HOUR_MS, 'when it was answered last is remembered for longer');
  });

  it('tells quantiles to a tenth, from less than a millisecond to an hour', () => {
    for (const ms of [2, 7, 33, 80, 250, 999, 1_000, 4_321, 59_000, 600_000]) {
      const recent = createRecent(fakeClock());
      for (let i = 0; i < 90; i++) recent.served('m', ms);
      for (let i = 0; i < 10; i++) recent.served('m', ms * 3);
      const { p50FirstByteMs: p50 = 0, p95FirstByteMs: p95 = 0 } = recent.look('m');
      assert.ok(Math.abs(p50 - ms) <= Math.max(1, ms * 0.1), `${p50} for ${ms}`);
      assert.ok(Math.abs(p95 - ms * 3) <= Math.max(1, ms * 0.3), `${p95} for ${ms * 3}`);
    }
    for (const odd of [-5, 0, 0.5, 1e12]) {
      const recent = createRecent(fakeClock());
      recent.served('m', odd);
      assert.ok(Number.isFinite(recent.look('m').p50FirstByteMs), `${odd}`);
    }
  });
});
