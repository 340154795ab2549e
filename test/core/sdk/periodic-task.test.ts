/** Chores: what plugins do again and again, never twice at once, and only between start and stop. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { aloneOf } from '../../../core/contracts/peers.ts';
import { silentLog } from '../../../core/runtime/logger.ts';
import { type ChoreOptions, createChore } from '../../../core/sdk/periodic-task.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';

/** A run of the work that goes on until the test ends it. */
interface Run {
  readonly end: () => void;
  readonly fail: () => void;
}

/** A chore of a second whose runs end when the test says so. */
function chore(more: Partial<ChoreOptions> = {}, leads = true) {
  const clock = fakeClock();
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  const runs: Run[] = [];
  const made = createChore(
    { clock, log, peers: { ...aloneOf('a'), leads: () => leads } },
    { everyMs: 1_000, work: () => run(runs), failure: 'it failed', ...more },
  );
  return { clock, warnings, runs, chore: made };
}
function run(runs: Run[]): Promise<void> {
  return new Promise((end, reject) => runs.push({ end, fail: () => reject(new Error('broken')) }));
}

describe('a chore', () => {
  it('is done at every turn, and never twice at once', async () => {
    const { clock, runs, chore: job } = chore();
    job.start();
    assert.equal(runs.length, 0);
    clock.advance(3_000);
    assert.equal(runs.length, 1);
    runs[0]!.end();
    await nextTurn();
    clock.advance(1_000);
    assert.equal(runs.length, 2);
  });

  it('is done again without waiting for the next turn, once the run that is under way has ended', async () => {
    const { clock, runs, chore: job } = chore();
    job.start();
    job.again();
    await nextTurn();
    assert.equal(runs.length, 1);
    job.again();
    job.again();
    await nextTurn();
    assert.equal(runs.length, 1);
    runs[0]!.end();
    await nextTurn();
    assert.equal(runs.length, 2);
    runs[1]!.end();
    await nextTurn();
    assert.equal(runs.length, 2);
    clock.advance(1_000);
    assert.equal(runs.length, 3);
  });

  it('is not done before its start, nor after its stop, which waits for the run that is under way', async () => {
    const { clock, runs, chore: job } = chore();
    job.again();
    clock.advance(2_000);
    await nextTurn();
    assert.equal(runs.length, 0);
    job.start();
    clock.advance(1_000);
    let isStopped = false;
    const stopped = job.stop().then(() => {
      isStopped = true;
    });
    job.again();
    await nextTurn();
    assert.equal(isStopped, false);
    runs[0]!.end();
    await stopped;
    await nextTurn();
    clock.advance(5_000);
    assert.equal(runs.length, 1);
  });

  it('that fails is logged, and tried again at the next turn', async () => {
    const { clock, runs, warnings, chore: job } = chore();
    job.start();
    clock.advance(1_000);
    runs[0]!.fail();
    await nextTurn();
    assert.deepEqual(warnings, ['it failed']);
    clock.advance(1_000);
    assert.equal(runs.length, 2);
  });

  it('is done only where its process leads, unless it is done everywhere', async () => {
    const elsewhere = chore({}, false);
    const everywhere = chore({ everywhere: true }, false);
    for (const { chore: job, clock } of [elsewhere, everywhere]) {
      job.start();
      clock.advance(1_000);
      job.again();
    }
    await nextTurn();
    assert.deepEqual([elsewhere.runs.length, everywhere.runs.length], [0, 1]);
  });
});
