/** What `npm run cluster -- --scaling` makes of the cost of a turn. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { turnsOf } from '../../../scripts/cluster/scaling.ts';

describe('turns of writing', () => {
  const cost = { fixedMs: 5, callMs: 0.1 };

  it('are as many as calls and checkpoints while there is time for them', () => {
    const { turns, waitMs, perTurn } = turnsOf(cost, 2, 10);
    assert.equal(turns, 22);
    assert.equal(perTurn, 1);
    // A turn takes 5.1 ms, and the lock is free nine times out of ten.
    assert.ok(waitMs! > 5.1 && waitMs! < 6);
  });

  it('are shared by calls when there is no time for more, and every gateway stands in line', () => {
    const { turns, waitMs, perTurn } = turnsOf(cost, 100, 10);
    // 900 of 1,000 ms are left for turns when 1,000 calls are written.
    assert.equal(turns, 180);
    assert.equal(perTurn, 1_000 / 180);
    assert.equal(waitMs, 100 * (5 + (1_000 / 180) * 0.1));
  });

  it('are never enough for more calls than can be written in a second', () => {
    assert.equal(turnsOf(cost, 100, 100).waitMs, undefined);
  });
});
