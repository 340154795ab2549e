/** The plugin `counters`: the contract, bounded memory, and what survives a reload. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Counters } from '../../core/contracts/counters.ts';
import type { Host } from '../../core/plugin.ts';
import plugin from '../../plugins/counters/index.ts';
import { createMemoryCounters } from '../../plugins/counters/memory.ts';
import { type FakeClock, fakeClock } from '../kit/clock.ts';
import { countersContract } from '../kit/counters-contract.ts';

countersContract('memory', (clock) => createMemoryCounters(clock));

describe('counters in memory', () => {
  it('are exact for a clock that counts fractions of a millisecond', () => {
    const clock = fakeClock();
    const counters = createMemoryCounters(clock);
    clock.advance(0.9);
    const takenAtMs = clock.mono();
    counters.take('a', 1, 1_000, 1);
    clock.advance(0.2);
    const refused = counters.take('a', 1, 1_000, 1);
    clock.advance(refused.retryAfterMs);
    assert.equal(counters.take('a', 1, 1_000, 1).ok, true);
    assert.ok(clock.mono() - takenAtMs >= 1_000);
    assert.ok(clock.mono() - takenAtMs < 1_002);
  });

  it('forget the windows that were used longest ago when there are too many', () => {
    const counters = createMemoryCounters(fakeClock(), 100);
    for (let i = 0; i < 1_000; i++) {
      counters.take(`guest-${i}`, 1, 1_000, 1);
      assert.equal(counters.take('regular', 1_000, 60_000, 1).remaining, 999 - i);
    }
    assert.equal(counters.size, 100);
  });

  it('never forget who is inside a gate', () => {
    const counters = createMemoryCounters(fakeClock(), 10);
    counters.enter('gate', 1, 'one');
    for (let i = 0; i < 1_000; i++) {
      counters.take(`guest-${i}`, 1, 1_000, 1);
      counters.enter(`gate-${i}`, 1, 'x');
    }
    assert.equal(counters.enter('gate', 1, 'two'), false);
  });

  it('keep nothing of a gate that is empty', () => {
    const counters = createMemoryCounters(fakeClock());
    for (let i = 0; i < 100; i++) {
      counters.enter(`gate-${i}`, 1, 'x');
      counters.leave(`gate-${i}`, 'x');
    }
    assert.equal(counters.size, 0);
  });

  it('let go of idle windows in a sweep, and of no others', () => {
    const clock = fakeClock();
    const counters = createMemoryCounters(clock);
    for (let i = 0; i < 100; i++) counters.take(`old-${i}`, 1, 60_000, 1);
    clock.advance(30_000);
    counters.take('young', 1, 60_000, 1);
    clock.advance(30_000);
    counters.sweep();
    assert.equal(counters.size, 1);
    assert.equal(counters.take('young', 1, 60_000, 1).ok, false);
  });
});

describe('the plugin counters', () => {
  /** What a gateway keeps over reloads, and what one generation of it offers. */
  const generation = async (lasting: Map<string, unknown>, clock: FakeClock) => {
    let provided: Counters | undefined;
    const host = {
      clock,
      lasting<T>(name: string, make: () => T): T {
        if (!lasting.has(name)) lasting.set(name, make());
        return lasting.get(name) as T;
      },
      provide(_service: unknown, implementation: unknown) {
        provided = implementation as Counters;
      },
    } as unknown as Host;
    const parts = await plugin.create(host, {});
    assert.ok(provided !== undefined);
    return { parts, counters: provided };
  };

  it('keeps what was counted over a reload', async () => {
    const clock = fakeClock();
    const lasting = new Map<string, unknown>();
    const before = await generation(lasting, clock);
    await before.counters.take('a', 1, 60_000, 1);
    await before.counters.enter('gate', 1, 'one');
    const after = await generation(lasting, clock);
    assert.equal((await after.counters.take('a', 1, 60_000, 1)).ok, false);
    assert.equal(await after.counters.enter('gate', 1, 'two'), false);
    await before.counters.leave('gate', 'one');
    assert.equal(await after.counters.enter('gate', 1, 'two'), true);
  });

  it('sweeps between start and stop, and at no other time', async () => {
    const clock = fakeClock();
    const lasting = new Map<string, unknown>();
    const { parts } = await generation(lasting, clock);
    const memory = [...lasting.values()][0] as ReturnType<typeof createMemoryCounters>;
    memory.take('a', 1, 1_000, 1);
    clock.advance(600_000);
    assert.equal(memory.size, 1);
    await parts.start?.();
    clock.advance(600_000);
    assert.equal(memory.size, 0);
    await parts.stop?.();
    memory.take('a', 1, 1_000, 1);
    clock.advance(600_000);
    assert.equal(memory.size, 1);
  });
});
