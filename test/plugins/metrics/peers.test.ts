/** The plugin `metrics` in several processes: what the owner tells of all of them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createTally, createTimes } from '../../../plugins/metrics/numbers.ts';
import { createProcessMetrics, noWorkers } from '../../../plugins/metrics/processes.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { createPeers, type TestPeers } from '../../kit/gateway/peers.ts';

/** The metrics of one process. */
function metered(kit: TestPeers, i: number) {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({ name: 'turnpike_up', help: 'Up.', registers, aggregator: 'max' }).set(1);
  const calls = createTally({ name: 'calls_total', help: 'Calls.', labelNames: ['model'], registers });
  const seconds = createTimes({ name: 'call_seconds', help: 'Calls.', labelNames: ['style'], registers });
  const held = new Gauge({ name: 'held', help: 'Held.', registers });
  const metrics = createProcessMetrics(registry, noWorkers(), { boot: kit.epochs[i]!, peers: kit.peers[i]! });
  metrics.start();
  return { registry, calls, seconds, held, metrics };
}

function several(count: number, isOwned = true) {
  const clock = fakeClock();
  const kit = createPeers(count, { clock, isOwned });
  return { clock, kit, all: kit.peers.map((_, i) => metered(kit, i)) };
}

/** One line of the text. */
async function read({ metrics }: ReturnType<typeof metered>, series: string): Promise<number> {
  const text = await metrics.text();
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1));
}

describe('metrics of several processes', () => {
  it('are those of a process alone, as they are', async () => {
    const [alone] = several(1).all;
    alone!.calls.add(3, 'a');
    alone!.seconds.observe(0.2, 'chat');
    assert.equal(await alone!.metrics.text(), await alone!.registry.metrics());
  });

  it('are summed by the owner, in lines that Prometheus reads', async () => {
    const { all } = several(3);
    const [owner, one, two] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0]];
    owner.calls.add(1, 'a');
    one.calls.add(10, 'a');
    two.calls.add(100, 'b "quoted"\n');
    one.seconds.observe(0.2, 'chat');
    two.seconds.observe(400, 'chat');
    two.seconds.observe(1, 'messages');
    for (const [i, { held }] of all.entries()) held.set(i);
    collectDefaultMetrics({ register: owner.registry });
    collectDefaultMetrics({ register: two.registry });
    const text = await owner.metrics.text();
    const lines = text.trimEnd().split('\n');
    for (const line of lines.filter((each) => each !== ''))
      assert.match(line, /^(# (HELP|TYPE) [a-z_0-9]+ .+|[a-z_0-9]+(\{([a-z_]+="([^"\\]|\\.)*",?)*\})? [-+0-9.eE]+)$/);
    const named = lines.filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2]);
    assert.equal(new Set(named).size, named.length, 'each metric is told once');
    for (const line of [
      'calls_total{model="a"} 11',
      'calls_total{model="b \\"quoted\\"\\n"} 100',
      'call_seconds_bucket{le="0.25",style="chat"} 1',
      'call_seconds_bucket{le="+Inf",style="chat"} 2',
      'call_seconds_sum{style="chat"} 400.2',
      'call_seconds_count{style="messages"} 1',
      'held 3',
      'turnpike_up 1',
    ])
      assert.ok(lines.includes(line), line);
    assert.ok(lines.some((line) => line.startsWith('process_start_time_seconds 1')));
    assert.ok(lines.some((line) => line.startsWith('nodejs_version_info{')));
  });

  it('keep what a worker counted when another takes its place, and forget what it held', async () => {
    const { all, kit } = several(2);
    const [owner, worker] = all as [(typeof all)[0], (typeof all)[0]];
    for (let i = 0; i < 3; i++) {
      const next = i === 0 ? worker : metered(kit, kit.join());
      next.calls.add(5, 'a');
      next.seconds.observe(1, 'chat');
      next.held.set(7);
      assert.equal(await read(owner, 'calls_total{model="a"}'), 5 * (i + 1));
      assert.equal(await read(owner, 'held'), 7);
      kit.kill(1 + i);
      assert.equal(await read(owner, 'calls_total{model="a"}'), 5 * (i + 1));
      assert.equal(await read(owner, 'call_seconds_count{style="chat"}'), i + 1);
      assert.equal(await read(owner, 'held'), 0);
    }
  });

  it('count to the end what a worker counted that is stopped', async () => {
    const { all, kit } = several(2);
    const [owner, worker] = all as [(typeof all)[0], (typeof all)[0]];
    worker.calls.add(5, 'a');
    await worker.metrics.stop();
    await setImmediate();
    await setImmediate();
    kit.kill(1);
    assert.equal(await read(owner, 'calls_total{model="a"}'), 5);
  });

  it('are the last known ones of a worker that does not answer', async () => {
    const { all, kit, clock } = several(2);
    const [owner, worker] = all as [(typeof all)[0], (typeof all)[0]];
    worker.calls.add(5, 'a');
    assert.equal(await read(owner, 'calls_total{model="a"}'), 5);
    kit.hold(1);
    worker.calls.add(5, 'a');
    const asked = read(owner, 'calls_total{model="a"}');
    clock.advance(2_000);
    assert.equal(await asked, 5);
    kit.release(1);
    assert.equal(await read(owner, 'calls_total{model="a"}'), 10);
  });

  it('are its own of a gateway that shares only its store with others', async () => {
    const { all } = several(2, false);
    for (const { calls } of all) calls.add(1, 'a');
    assert.equal(await read(all[0]!, 'calls_total{model="a"}'), 1);
  });
});
