/** A process without free file descriptors: its timers go on, and it accepts no more connections than it can serve. */
import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { createWatch } from '../../../core/operations/monitor/vitals.ts';
import { guardedClock } from '../../../core/runtime/clock.ts';
import { connectionsWithin, descriptorLimit } from '../../../core/server/descriptors.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';

const gauges = { inFlight: () => 0, begun: () => 0, waiting: () => 0 };

describe('a process that can open no more files', () => {
  it('keeps its last figures of memory', () => {
    const clock = fakeClock(0);
    const watch = createWatch(clock, gauges, async () => []);
    const { rss } = watch.now().memory;
    const broken = mock.method(process, 'memoryUsage', () => {
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    });
    try {
      watch.start();
      clock.advance(10_000);
      assert.equal(watch.history().at(-1)?.rss, rss);
      assert.equal(watch.now().memory.rss, rss);
    } finally {
      broken.mock.restore();
      watch.stop();
    }
  });

  it('does not end by what a timer throws, at once or later, and the timer goes on', async () => {
    const clock = fakeClock(0);
    const failures: string[] = [];
    const guarded = guardedClock(clock, (error) => failures.push((error as Error).message));
    guarded.every(10, () => {
      throw new Error('at once');
    });
    guarded.after(10, async () => {
      throw new Error('later');
    });
    clock.advance(10);
    clock.advance(10);
    await Promise.resolve();
    assert.deepEqual(failures.toSorted(), ['at once', 'at once', 'later']);
  });

  it('accepts at most half as many connections as it can open, because each may need one to a vendor', () => {
    assert.deepEqual(
      [64, 200, 1_024, 4_096, 65_536, undefined].map(connectionsWithin),
      [24, 75, 384, 1_920, 20_000, 20_000],
    );
    if (process.platform === 'linux') assert.ok(descriptorLimit()! > 0);
  });
});
