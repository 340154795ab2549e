/** Batches of several processes, and which of them share a commit. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSender, type Sender, type Sent } from '../../../plugins/stores/sqlite/batch.ts';
import { createGroups, type Groups } from '../../../plugins/stores/sqlite/groups.ts';

const sent = (from: Sender): Sent => ({ from, batch: { texts: [], sums: [], forget: false, lists: [], count: 0 } });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Three senders; every commit takes so long. */
function groups(commitMs: number) {
  const [a, b, c] = Array.from({ length: 3 }, () => createSender(() => {})) as [Sender, Sender, Sender];
  const names = new Map([
    [a, 'a'],
    [b, 'b'],
    [c, 'c'],
  ]);
  const ran: string[] = [];
  let nowMs = 0;
  const made: Groups = createGroups(
    (some) => {
      ran.push(some.map(({ from }) => names.get(from)).join(''));
      nowMs += commitMs;
    },
    () => nowMs,
  );
  const take = (...senders: readonly Sender[]): void => {
    for (const sender of senders) made.take(sent(sender));
  };
  return { a, b, c, ran, take, flush: made.flush };
}
/** So long that nobody waits for the end of it. */
const LONG = 8 * 3_600_000;

describe('batches of several processes', () => {
  it('that come in one turn of the event loop run together', async () => {
    const { a, b, ran, take } = groups(0);
    take(a, b);
    await turn();
    take(b);
    await turn();
    assert.deepEqual(ran, ['ab', 'b']);
  });

  it('wait for those that were in the last commit, and for nobody else', async () => {
    const { a, b, c, ran, take } = groups(LONG);
    take(a, b);
    await turn();
    take(a);
    await turn();
    take(c);
    await turn();
    assert.deepEqual(ran, ['ab']);
    take(b);
    await turn();
    assert.deepEqual(ran, ['ab', 'acb']);
  });

  it('of one process alone never wait', async () => {
    const { a, ran, take } = groups(LONG);
    for (let i = 0; i < 3; i++) {
      take(a);
      await turn();
    }
    assert.deepEqual(ran, ['a', 'a', 'a']);
  });

  it('wait no longer than a part of the time that a commit takes', async () => {
    const { a, b, ran, take } = groups(16);
    take(a, b);
    await turn();
    take(a);
    while (ran.length < 2) await turn();
    assert.deepEqual(ran, ['ab', 'a']);
  });

  it('run at once where somebody asks for it', async () => {
    const { a, b, ran, take, flush } = groups(LONG);
    take(a, b);
    flush();
    take(a);
    flush();
    flush();
    await turn();
    assert.deepEqual(ran, ['ab', 'a']);
  });
});
