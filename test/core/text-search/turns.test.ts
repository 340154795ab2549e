/** Work that each account does one at a time. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTurns } from '../../../core/text-search/turns.ts';

const refuse = (): never => {
  throw new Error('too many');
};

describe('turns', () => {
  it('are one at a time for one owner, and at the same time for others', async () => {
    const { begin } = createTurns({ atOnce: 2, waiting: 5, refuse });
    const started: string[] = [];
    const turn = (owner: number, name: string) =>
      begin(owner).then((end) => {
        started.push(name);
        return end;
      });
    const [first, second, other, third] = [turn(1, 'first'), turn(1, 'second'), turn(2, 'other'), turn(3, 'third')];
    const ends = await Promise.all([first, other]);
    assert.deepEqual(started, ['first', 'other'], 'two at once, of two owners');
    ends[1]();
    (await third)();
    assert.deepEqual(started, ['first', 'other', 'third'], 'the second waits for the first');
    ends[0]();
    ends[0]();
    (await second)();
    assert.equal(started.length, 4);
  });

  it('refuse an owner who waits too often, and nobody else', async () => {
    const { begin, take } = createTurns({ atOnce: 9, waiting: 1, refuse });
    const end = await begin(1);
    const waiting = take(1, async () => 'done');
    await assert.rejects(begin(1), /too many/);
    assert.equal(await take(2, async () => 'other'), 'other');
    end();
    assert.equal(await waiting, 'done');
    assert.equal(await take(1, async () => 'again'), 'again');
  });

  it('end if the work fails', async () => {
    const { take } = createTurns({ atOnce: 1, waiting: 0, refuse });
    await assert.rejects(
      take(1, async () => {
        throw new Error('broken');
      }),
      /broken/,
    );
    assert.equal(await take(1, async () => 'next'), 'next');
  });
});
