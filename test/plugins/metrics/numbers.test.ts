/** The numbers of metrics, beside those that prom-client keeps itself. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Counter, Histogram, Registry } from 'prom-client';
import { createTally, createTimes, SECONDS } from '../../../plugins/metrics/numbers.ts';

/** The lines of a registry, in an order that does not matter to who reads them. */
async function linesOf(registry: Registry): Promise<readonly string[]> {
  return (await registry.metrics()).split('\n').sort();
}

describe('numbers of metrics', () => {
  it('read as those of prom-client do, counted', async () => {
    const [ours, theirs] = [new Registry(), new Registry()];
    const described = { name: 'calls_total', help: 'Calls.', labelNames: ['model', 'status'] };
    const tally = createTally({ ...described, registers: [ours] });
    const counter = new Counter({ ...described, registers: [theirs] });
    for (const [amount, model, status] of [
      [1, 'a', 200],
      [2, 'a', 200],
      [0, 'b', 200],
      [1, 'a', 429],
      [1, 'with "quotes" and \\ and\nlines', 200],
    ] as const) {
      tally.add(amount, model, status);
      counter.labels({ model, status }).inc(amount);
    }
    assert.deepEqual(await linesOf(ours), await linesOf(theirs));
    assert.match(await ours.metrics(), /^calls_total\{model="a",status="200"\} 3$/m);
  });

  it('read as those of prom-client do, in buckets of seconds, bounds included', async () => {
    const [ours, theirs] = [new Registry(), new Registry()];
    const described = { name: 'call_seconds', help: 'Calls.', labelNames: ['style'] };
    const times = createTimes({ ...described, registers: [ours] });
    const histogram = new Histogram({ ...described, buckets: SECONDS, registers: [theirs] });
    for (const seconds of [0, 0.05, 0.051, 1, 2.5, 599, 600, 601, 10_000]) {
      for (const style of seconds > 1 ? ['chat', 'messages'] : ['chat']) {
        times.observe(seconds, style);
        histogram.observe({ style }, seconds);
      }
    }
    assert.deepEqual(await linesOf(ours), await linesOf(theirs));
    assert.match(await ours.metrics(), /^call_seconds_bucket\{le="0\.05",style="chat"\} 2$/m);
  });

  it('are none before there is something to count', async () => {
    const registry = new Registry();
    createTally({ name: 'calls_total', help: 'Calls.', labelNames: ['model'], registers: [registry] });
    assert.doesNotMatch(await registry.metrics(), /^calls_total/m);
  });
});
