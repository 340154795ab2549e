/** The numbers of `npm run bench`: medians of rounds, and what is a regression. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Sample } from '../../scripts/bench/load.ts';
import { inTurns, median } from '../../scripts/bench/rounds.ts';
import { regressions, type Target, timesWorse } from '../../scripts/bench/targets.ts';

const target = (value: number | undefined, better: Target['better'] = 'less'): Target => ({
  name: 'cpu',
  what: 'CPU per call',
  value,
  must: 1,
  goal: 1,
  better,
});

describe('a target', () => {
  it('has become worse where it is 12 % from what was recorded, in the direction that is worse', () => {
    assert.equal(regressions([target(1.11)], { cpu: 1 }).length, 0);
    assert.equal(regressions([target(1.13)], { cpu: 1 }).length, 1);
    assert.equal(regressions([target(0.5)], { cpu: 1 }).length, 0);
    assert.equal(regressions([target(0.88, 'more')], { cpu: 1 }).length, 1);
    assert.equal(regressions([target(2, 'more')], { cpu: 1 }).length, 0);
  });

  it('is no regression where it was not measured, or never recorded', () => {
    assert.equal(regressions([target(undefined)], { cpu: 1 }).length, 0);
    assert.equal(regressions([target(9)], {}).length, 0);
    assert.equal(timesWorse(target(undefined), 1), 1);
  });
});

describe('rounds', () => {
  it('measure everybody once in each, forwards and then backwards', async () => {
    const order: string[] = [];
    await inTurns(['a', 'b', 'c'], 2, (who) => {
      order.push(who);
      return Promise.resolve({ answered: 1 } as Sample);
    });
    assert.equal(order.join(''), 'abccba');
  });

  it('have the middle of what was measured, and nothing where nothing was', () => {
    assert.equal(median([3, undefined, 1, 2]), 2);
    assert.equal(median([4, 1, 2, 3]), 2.5);
    assert.equal(median([undefined]), undefined);
  });
});
