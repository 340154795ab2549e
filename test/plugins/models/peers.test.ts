/** The plugin `models` in several processes: what goes wrong in one is avoided by all, and the owner's counts are everybody's. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Attempt, Channel, Offer } from '../../../core/plugin.ts';
import { layQuirks } from '../../../core/translation/index.ts';
import { createHealth } from '../../../plugins/models/health.ts';
import { createHealthState } from '../../../plugins/models/health-state.ts';
import { createRecent } from '../../../plugins/models/recent.ts';
import { shareRecent } from '../../../plugins/models/recent-peers.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { createPeers, type TestPeers } from '../../kit/gateway/peers.ts';

const CHANNEL: Channel = {
  name: 'a',
  vendor: 'alpha',
  url: 'https://a.example',
  key: 'k',
  weight: 1,
  priority: 0,
  timeout: { connectMs: 1, headMs: undefined, idleMs: 1, totalMs: 1 },
  speaks: undefined,
  streamUsage: 'always',
  quirks: {},
  options: {},
};

const offer = (): Offer => ({
  channel: CHANNEL,
  model: 'm',
  style: 'chat',
  quirks: layQuirks(),
  strict: false,
  priced: 'm',
});

/** What was told has been heard, and what that made others tell, too. */
async function heard(): Promise<void> {
  for (let i = 0; i < 4; i++) await setImmediate();
}

/** The health of one process. */
function member(kit: TestPeers, i: number, clock: FakeClock, random: number) {
  const lines: string[] = [];
  const write = (message: string): void => void lines.push(message);
  const log = { debug: write, info: write, warn: write, error: write, hide: () => {} };
  const told: string[] = [];
  const peers = {
    ...kit.peers[i]!,
    get count() {
      return kit.peers[i]!.count;
    },
    tell(topic: string, message: Parameters<TestPeers['peers'][number]['tell']>[1]) {
      told.push(JSON.stringify(message));
      kit.peers[i]!.tell(topic, message);
    },
  };
  const health = createHealth(createHealthState(), { clock, log, peers }, () => random);
  health.join();
  const begin = (exchange = { delivered: false }) => {
    const made = offer();
    health.begin(made, exchange);
    return (failure?: Attempt['failure'], retryAfterMs?: number): void =>
      health.end(
        {
          offer: made,
          startedMs: 0,
          endedMs: 0,
          firstByteMs: undefined,
          status: failure === undefined ? 200 : 500,
          failure,
          reason: undefined,
          retryAfterMs,
          cut: false,
        },
        false,
      );
  };
  return {
    health,
    lines,
    told,
    begin,
    /** One call, and what it makes others do. */
    async attempt(failure?: Attempt['failure'], retryAfterMs?: number) {
      begin()(failure, retryAfterMs);
      await heard();
    },
    ready: () => health.ready(offer()),
    look: () => health.look([CHANNEL], 'm'),
  };
}

/** Healths of several processes. The first one's chance is the least, the last one's the greatest. */
async function members(count: number) {
  const clock = fakeClock();
  const kit = createPeers(count, { clock, isOwned: true });
  const all = kit.peers.map((_, i) => member(kit, i, clock, i / Math.max(count - 1, 1)));
  await heard();
  return { clock, kit, all };
}

/** Opens the breaker of all, and waits until it is half open. */
async function halfOpen(count: number) {
  const made = await members(count);
  for (let i = 0; i < 5; i++) await made.all[0]!.attempt('status');
  made.clock.advance(12_000);
  assert.deepEqual(
    made.all.map(({ look }) => look().state),
    made.all.map(() => 'half-open'),
  );
  return made;
}

describe('health in several processes', () => {
  it('opens for all after five failures in a row, whichever processes they come to', async () => {
    const { all } = await members(3);
    for (const i of [0, 1, 2, 1]) {
      assert.ok(all.every(({ ready }) => ready()));
      await all[i]!.attempt('status');
    }
    assert.ok(all.every(({ ready }) => ready()));
    await all[0]!.attempt('timeout');
    assert.ok(all.every(({ ready }) => !ready()));
    assert.deepEqual(
      all.map(({ look }) => look()),
      all.map(() => all[0]!.look()),
    );
    assert.equal(all.flatMap(({ lines }) => lines).length, 1, 'it is logged once');
    assert.deepEqual(
      all.map(({ health }) => health.lastFailure(CHANNEL)?.kind),
      ['timeout', 'timeout', 'timeout'],
    );
  });

  it('opens for all, and until the same moment, if five processes fail at once', async () => {
    const { all, clock } = await members(5);
    for (const { begin } of all) begin()('connect');
    await heard();
    assert.deepEqual(
      all.map(({ look }) => Math.round(look().untilMs!)),
      all.map(() => clock.mono() + 12_000),
    );
  });

  it('is forgiven failures that a success of another process interrupts', async () => {
    const { all } = await members(2);
    for (let i = 0; i < 4; i++) await all[0]!.attempt('status');
    await all[1]!.attempt();
    await all[0]!.attempt('status');
    assert.ok(all.every(({ ready }) => ready()));
    assert.deepEqual(
      all.map(({ look }) => look().failures),
      [1, 1],
    );
  });

  it('opens when half of at least twenty attempts over all have failed, and not before', async () => {
    const { all } = await members(2);
    for (let i = 0; i < 9; i++) {
      await all[0]!.attempt();
      await all[1]!.attempt('status');
    }
    await all[0]!.attempt();
    assert.ok(all.every(({ ready }) => ready()));
    await all[1]!.attempt('status');
    assert.ok(all.every(({ ready }) => !ready()));
  });

  it('stays closed where a fifth of the attempts fail, however many processes count them', async () => {
    const { all } = await members(4);
    for (let round = 0; round < 10; round++) {
      for (const { attempt } of all) {
        for (let i = 0; i < 4; i++) await attempt();
        await attempt('status');
      }
    }
    assert.ok(all.every(({ ready }) => ready()));
  });

  it('tells nothing while all is well', async () => {
    const { all } = await members(3);
    for (let i = 0; i < 50; i++) for (const { attempt } of all) await attempt();
    assert.deepEqual(
      all.flatMap(({ told }) => told),
      [],
    );
    await all[0]!.attempt('status');
    await all[1]!.attempt();
    const before = all.flatMap(({ told }) => told).length;
    for (let i = 0; i < 50; i++) for (const { attempt } of all) await attempt();
    assert.equal(all.flatMap(({ told }) => told).length, before);
  });

  it('rests for all after a 429, and wakes for all', async () => {
    const { all, clock } = await members(3);
    await all[1]!.attempt('busy', 20_000);
    assert.ok(all.every(({ ready }) => !ready()));
    clock.advance(10_000);
    // Nobody else is well, so one is tried all the same.
    await all[2]!.attempt();
    assert.ok(all.every(({ ready }) => ready()));
  });

  it('tells of a longer rest, but not of each of many refusals', async () => {
    const { all, clock } = await members(2);
    for (let i = 0; i < 100; i++) {
      await all[0]!.attempt('busy', 5_000);
      clock.advance(1);
    }
    assert.equal(all[0]!.told.filter((news) => news.includes('"rest"')).length, 1);
    clock.advance(1_000);
    await all[0]!.attempt('busy', 5_000);
    clock.advance(4_500);
    assert.ok(all.every(({ ready }) => !ready()));
  });

  it('rests for all if the vendor does not accept the key, and says so once', async () => {
    const { all, clock } = await members(3);
    await all[0]!.attempt('credential');
    clock.advance(60_000);
    await all[1]!.attempt('credential');
    assert.ok(all.every(({ ready }) => !ready()));
    assert.equal(all.flatMap(({ lines }) => lines).length, 1);
  });

  it('lets one probe through over all', async () => {
    const { all } = await halfOpen(3);
    const end = all[1]!.begin();
    await heard();
    assert.deepEqual(
      all.map(({ ready }) => ready()),
      [false, false, false],
    );
    end('refused');
    await heard();
    assert.deepEqual(
      all.map(({ ready }) => ready()),
      [true, true, true],
    );
  });

  it('closes for all when the probe succeeds', async () => {
    const { all } = await halfOpen(3);
    await all[2]!.attempt();
    assert.deepEqual(
      all.map(({ look }) => look()),
      all.map(() => ({ state: 'closed', failures: 0, untilMs: undefined })),
    );
  });

  it('opens for all for longer when the probe fails', async () => {
    const { all, clock } = await halfOpen(3);
    await all[0]!.attempt('status');
    assert.deepEqual(
      all.map(({ look }) => Math.round(look().untilMs!)),
      all.map(() => clock.mono() + 16_000),
    );
  });

  it('closes for all when the answer of a probe flows, though it is far from its end', async () => {
    const { all, clock } = await halfOpen(3);
    const exchange = { delivered: false };
    all[1]!.begin(exchange);
    for (let i = 0; i < 10; i++) {
      clock.advance(1_000);
      await heard();
    }
    assert.deepEqual(
      all.map(({ ready }) => ready()),
      [false, false, false],
    );
    exchange.delivered = true;
    clock.advance(1_000);
    await heard();
    assert.deepEqual(
      all.map(({ look }) => look().state),
      ['closed', 'closed', 'closed'],
    );
  });

  it('does not wait for the probe of a process that died', async () => {
    const { all, clock, kit } = await halfOpen(3);
    all[2]!.begin();
    await heard();
    kit.kill(2);
    clock.advance(2_999);
    assert.equal(all[1]!.ready(), false);
    clock.advance(1);
    assert.equal(all[1]!.ready(), true);
  });

  it('is known to a process that comes later', async () => {
    const { all, clock, kit } = await members(2);
    for (let i = 0; i < 5; i++) await all[1]!.attempt('status');
    clock.advance(2_000);
    const late = member(kit, kit.join(), clock, 0);
    await heard();
    assert.deepEqual(late.look(), all[1]!.look());
    assert.deepEqual(late.health.lastFailure(CHANNEL), all[1]!.health.lastFailure(CHANNEL));
  });
});

describe('counts of the last day in several processes', () => {
  /** The counts of an owner and its workers. */
  const counting = (count: number) => {
    const clock = fakeClock();
    const kit = createPeers(count, { clock, isOwned: true });
    const told: string[] = [];
    const all = kit.peers.map((peers) => {
      const { owner } = peers;
      const watched = owner && {
        ...owner,
        tell(topic: string, message: Parameters<typeof owner.tell>[1]) {
          told.push(topic);
          owner.tell(topic, message);
        },
      };
      const recent = shareRecent(createRecent(clock), 'recent', {
        clock,
        peers: { ...peers, count: peers.count, owner: watched },
      });
      recent.listen();
      return recent;
    });
    return { clock, kit, all, told };
  };

  it('are those of all processes in the owner, once a second', async () => {
    const { clock, all, told } = counting(3);
    all[0]!.served('m', 100);
    for (let i = 0; i < 100; i++) all[1]!.served('m', 100);
    all[2]!.failed('m');
    all[2]!.served('n', undefined);
    clock.advance(999);
    await heard();
    assert.deepEqual(told, []);
    const lastMs = clock.now() - 999;
    clock.advance(1);
    await heard();
    assert.deepEqual(told, ['recent', 'recent']);
    const { sinceMs: _, p50FirstByteMs, p95FirstByteMs, ...m } = all[0]!.look('m');
    assert.deepEqual(m, { served: 101, failed: 1, lastServedMs: lastMs });
    assert.equal(p50FirstByteMs, p95FirstByteMs);
    assert.ok(p50FirstByteMs !== undefined && p50FirstByteMs > 80 && p50FirstByteMs < 120);
    assert.equal(all[0]!.look('n').served, 1);
    clock.advance(60_000);
    assert.deepEqual(told, ['recent', 'recent'], 'nothing is told when nothing happened');
  });

  it('are told when a process ends', async () => {
    const { all } = counting(2);
    all[1]!.served('m', 5);
    all[1]!.flush();
    await heard();
    assert.equal(all[0]!.look('m').served, 1);
  });
});
