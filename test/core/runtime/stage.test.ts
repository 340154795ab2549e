/** The stage: phases in their order, several calls in each of them, and nothing lost to what throws. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock } from '../../../core/runtime/clock.ts';
import { queueOf, writes } from '../../../core/runtime/stage.ts';

describe('a turn', () => {
  it('runs each phase for everything that is there, before the next one; writes come last', async () => {
    const told: string[] = [];
    const books = queueOf<string>('books', (name) => void told.push(`books ${name}`));
    const heads = queueOf<string>('heads', (name) => {
      told.push(`heads ${name}`);
      books.add(name);
    });
    writes.add({ flush: () => void told.push('write') });
    heads.add('a');
    heads.add('b');
    assert.deepEqual(told, [], 'nothing before the turn');
    await nextTurn();
    assert.deepEqual(told, ['heads a', 'heads b', 'books a', 'books b', 'write']);
  });

  it('works on a burst in parts, each of which is written before the next one; books get all at once', async () => {
    const told: string[] = [];
    const books = queueOf<number>('books', (i) => void told.push(`books ${i}`));
    const targets = queueOf<number>('targets', (i) => {
      writes.add({ flush: () => void told.push(`write ${i}`) });
      books.add(i);
    });
    const heads = queueOf<number>('heads', (i) => {
      told.push(`heads ${i}`);
      targets.add(i);
    });
    const all = Array.from({ length: 20 }, (_, i) => i);
    for (const i of all) heads.add(i);
    await nextTurn();
    const at = (name: string) => told.indexOf(name);
    assert.ok(at('write 0') < at('heads 19'), 'the first is not kept waiting');
    assert.ok(at('write 1') > at('heads 2'), 'several in a row');
    assert.ok(at('heads 19') < at('books 0'));
    assert.deepEqual(
      told.filter((each) => each.startsWith('books')),
      all.map((i) => `books ${i}`),
    );
    assert.deepEqual(
      told.filter((each) => each.startsWith('write')),
      all.map((i) => `write ${i}`),
    );
  });

  it('leaves what is added to a phase that is over to the next turn', async () => {
    const told: string[] = [];
    const heads = queueOf<string>('heads', (name) => void told.push(`heads ${name}`));
    const books = queueOf<string>('books', (name) => {
      told.push(`books ${name}`);
      heads.add(name);
    });
    books.add('a');
    await nextTurn();
    assert.deepEqual(told, ['books a']);
    await nextTurn();
    assert.deepEqual(told, ['books a', 'heads a']);
  });

  it('has one time for all calls of a phase', async () => {
    const times: number[] = [];
    const bodies = queueOf<number>('bodies', (ms) => {
      times.push(systemClock.mono());
      const until = performance.now() + ms;
      while (performance.now() < until);
    });
    bodies.add(2);
    bodies.add(0);
    await nextTurn();
    assert.equal(times[0], times[1]);
    assert.ok(systemClock.mono() > times[0]!, 'it runs again');
  });

  it('performs everything else if something throws, which is then unexpected', async () => {
    const told: string[] = [];
    const heads = queueOf<string>('heads', (name) => {
      if (name === 'b') throw new Error('of b');
      told.push(name);
    });
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    const thrown = new Promise<Error>((resolve) => process.once('uncaughtException', resolve));
    for (const name of ['a', 'b', 'c']) heads.add(name);
    assert.equal((await thrown).message, 'of b');
    for (const listener of listeners) process.on('uncaughtException', listener);
    assert.deepEqual(told, ['a', 'c']);
  });
});
