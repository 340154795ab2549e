/** The plugin `counters`: the contract, bounded memory, what survives a reload, and one memory for all processes. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { LastingStates } from '../../../core/assembly/lasting-state.ts';
import type { Counters, GateEntry, WindowTake } from '../../../core/contracts/counters.ts';
import { GatewayError } from '../../../core/plugin.ts';
import { createMemoryCounters } from '../../../plugins/counters/memory.ts';
import { countersContract } from '../../kit/contracts/counters-contract.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { generation, processes } from './with-counters.ts';

/** A cost to be taken from a window. */
const from = (name: string, limit: number, windowMs: number, cost = 1): readonly [WindowTake] => [
  { name, limit, windowMs, cost },
];
/** A gate to be entered. */
const at = (name: string, limit: number, id: string): GateEntry => ({ id, gates: [{ name, limit }] });

countersContract('memory', (clock) => createMemoryCounters(clock));
countersContract('a worker of an owner with memory', async (clock) => (await processes(clock, 2)).counters[1]!);

describe('counters in memory', () => {
  it('are exact for a clock that counts fractions of a millisecond', () => {
    const clock = fakeClock();
    const counters = createMemoryCounters(clock);
    clock.advance(0.9);
    const takenAtMs = clock.mono();
    counters.take(from('a', 1, 1_000));
    clock.advance(0.2);
    const refused = counters.take(from('a', 1, 1_000));
    clock.advance(refused.windows[0]!.retryAfterMs);
    assert.equal(counters.take(from('a', 1, 1_000)).ok, true);
    assert.ok(clock.mono() - takenAtMs >= 1_000);
    assert.ok(clock.mono() - takenAtMs < 1_002);
  });

  it('forget the windows that were used longest ago when there are too many', () => {
    const counters = createMemoryCounters(fakeClock(), 100);
    for (let i = 0; i < 1_000; i++) {
      counters.take(from(`guest-${i}`, 1, 1_000));
      assert.equal(counters.take(from('regular', 1_000, 60_000, 1)).windows[0]!.remaining, 999 - i);
    }
    assert.equal(counters.size, 100);
  });

  it('never forget who is inside a gate', () => {
    const counters = createMemoryCounters(fakeClock(), 10);
    counters.take([], at('gate', 1, 'one'));
    for (let i = 0; i < 1_000; i++) {
      counters.take(from(`guest-${i}`, 1, 1_000));
      counters.take([], at(`gate-${i}`, 1, 'x'));
    }
    assert.equal(counters.take([], at('gate', 1, 'two')).ok, false);
  });

  it('keep nothing of a gate that is empty', () => {
    const counters = createMemoryCounters(fakeClock());
    for (let i = 0; i < 100; i++) {
      counters.take([], at(`gate-${i}`, 1, 'x'));
      counters.leave(at(`gate-${i}`, 1, 'x'));
    }
    assert.equal(counters.size, 0);
  });

  it('let go of idle windows in a sweep, and of no others', () => {
    const clock = fakeClock();
    const counters = createMemoryCounters(clock);
    for (let i = 0; i < 100; i++) counters.take(from(`old-${i}`, 1, 60_000));
    clock.advance(30_000);
    counters.take(from('young', 1, 60_000));
    clock.advance(30_000);
    counters.sweep();
    assert.equal(counters.size, 1);
    assert.equal(counters.take(from('young', 1, 60_000)).ok, false);
  });
});

describe('the plugin counters', () => {
  it('keeps what was counted over a reload', async () => {
    const clock = fakeClock();
    const lasting = new LastingStates();
    const before = await generation(lasting, clock);
    await before.counters.take(from('a', 1, 60_000));
    await before.counters.take([], at('gate', 1, 'one'));
    const after = await generation(lasting, clock);
    assert.equal((await after.counters.take(from('a', 1, 60_000))).ok, false);
    assert.equal((await after.counters.take([], at('gate', 1, 'two'))).ok, false);
    before.counters.leave(at('gate', 1, 'one'));
    assert.equal((await after.counters.take([], at('gate', 1, 'two'))).ok, true);
  });

  it('sweeps between start and stop, and at no other time', async () => {
    const clock = fakeClock();
    const lasting = new LastingStates();
    const { parts } = await generation(lasting, clock);
    const memory = lasting.get({
      name: 'counters.memory',
      version: 1,
      make: (): ReturnType<typeof createMemoryCounters> => assert.fail('it kept none'),
    });
    memory.take(from('a', 1, 1_000));
    clock.advance(600_000);
    assert.equal(memory.size, 1);
    await parts.start?.();
    clock.advance(600_000);
    assert.equal(memory.size, 0);
    await parts.stop?.();
    memory.take(from('a', 1, 1_000));
    clock.advance(600_000);
    assert.equal(memory.size, 1);
  });
});

describe('counters of several processes', () => {
  it('let exactly ten of two thousand parallel calls in, whichever process they come to', async () => {
    const { counters } = await processes(fakeClock(), 4);
    const admissions = await Promise.all(
      Array.from({ length: 2_000 }, (_, i) => counters[i % 4]!.take(from('a', 10, 60_000))),
    );
    assert.equal(admissions.filter(({ ok }) => ok).length, 10);
    for (const each of counters) assert.equal((await each.look(from('a', 10, 60_000)[0])).remaining, 0);
  });

  it('never hold more than eight inside a gate, whichever process they come to', async () => {
    const { counters } = await processes(fakeClock(), 4);
    let inside = 0;
    let most = 0;
    let served = 0;
    const guest = async (mine: Counters, id: string): Promise<void> => {
      while (!(await mine.take([], at('gate', 8, id))).ok) await setImmediate();
      most = Math.max(most, ++inside);
      await setImmediate();
      inside--;
      served++;
      mine.leave(at('gate', 8, id));
    };
    await Promise.all(Array.from({ length: 400 }, (_, i) => guest(counters[i % 4]!, `guest-${i}`)));
    assert.deepEqual({ most, served, inside }, { most: 8, served: 400, inside: 0 });
    assert.equal(await counters[1]!.inside('gate'), 0);
  });

  it('let the calls of a worker that died leave their gates, and no others', async () => {
    const { kit, counters, start } = await processes(fakeClock(), 3);
    const enter = async (i: number, id: string) => (await counters[i]!.take([], at('gate', 3, id))).ok;
    assert.deepEqual([await enter(0, 'owner'), await enter(1, 'one'), await enter(2, 'two')], [true, true, true]);
    // What is known of the workers outlives a reload of the owner.
    counters[0] = await start(0);
    assert.equal(await enter(1, 'one more'), false);
    kit.kill(2);
    assert.equal(await counters[0].inside('gate'), 2);
    assert.equal(await enter(1, 'one more'), true);
    assert.equal(await enter(1, 'too many'), false);
  });

  it('refuse a call with 503 if the owner does not answer in time, and give back what it is given later', async () => {
    const clock = fakeClock();
    const { kit, counters } = await processes(clock, 2);
    kit.hold(1);
    const call = counters[1]!.take(from('a', 1, 60_000), at('gate', 1, 'one'));
    const refused = assert.rejects(call as Promise<unknown>, (error) => {
      assert.ok(error instanceof GatewayError);
      assert.deepEqual(
        { status: error.status, code: error.code, again: error.headers['retry-after'] },
        { status: 503, code: 'overloaded', again: '1' },
      );
      return true;
    });
    clock.advance(2_000);
    await refused;
    kit.release(1);
    assert.equal(await counters[1]!.inside('gate'), 1, 'the owner has heard the question');
    assert.equal(await counters[1]!.inside('gate'), 0);
    assert.equal((await counters[1]!.take(from('a', 1, 60_000), at('gate', 1, 'two'))).ok, true);
  });

  it('refuse a call with 503 if the owner is gone', async () => {
    const { kit, counters } = await processes(fakeClock(), 2);
    kit.kill(0);
    await assert.rejects(counters[1]!.take(from('a', 1, 60_000)) as Promise<unknown>, { status: 503 });
  });
});
