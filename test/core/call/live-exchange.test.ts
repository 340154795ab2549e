/** An exchange: what it gives back, how it is stopped, that it ends once, and what it is called. */

import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { LiveExchange } from '../../../core/call/live-exchange.ts';
import { createPipeline } from '../../../core/call/phases.ts';
import { type Books, endedExchange } from '../../../core/call/settlement.ts';
import { ClientLeft } from '../../../core/http/responses.ts';
import {
  type Attempt,
  type Outcome,
  type Parts,
  type Step,
  StoreUnavailable,
  statementOf,
} from '../../../core/plugin.ts';
import { createDeadlines } from '../../../core/runtime/deadlines.ts';
import { newId } from '../../../core/runtime/ids.ts';
import { createLog } from '../../../core/runtime/logger.ts';
import { NO_TOKENS } from '../../../core/translation/conversation/count-usage.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { memoryStore } from '../../kit/gateway/drive.ts';

function live(clock = fakeClock(), search = ''): LiveExchange {
  const head = { method: 'POST', path: '/v1/chat/completions', search, headers: {}, hasBody: true } as never;
  const request = {} as IncomingMessage;
  const response = {} as ServerResponse;
  return new LiveExchange(
    { request, response, head, ip: '192.0.2.1', style: undefined, passthrough: undefined },
    clock,
  );
}

describe('deferred releases', () => {
  it('run last-in first-out, one after the other', async () => {
    const x = live();
    const told: string[] = [];
    x.defer(() => void told.push('first'));
    x.defer(async () => {
      await Promise.resolve();
      told.push('second');
    });
    x.defer(() => void told.push('third'));
    await x.release(assert.ifError);
    assert.deepEqual(told, ['third', 'second', 'first']);
  });

  it('run even if some fail, and each failure is reported', async () => {
    const x = live();
    const told: string[] = [];
    x.defer(() => void told.push('first'));
    x.defer(async () => {
      throw new Error('later');
    });
    x.defer(() => {
      throw new Error('at once');
    });
    await x.release((error) => told.push((error as Error).message));
    assert.deepEqual(told, ['at once', 'later', 'first']);
  });

  it('run once', async () => {
    const x = live();
    let times = 0;
    x.defer(() => void times++);
    await Promise.all([x.release(assert.ifError), x.release(assert.ifError)]);
    await x.release(assert.ifError);
    assert.equal(times, 1);
  });
});

describe('stopping an exchange', () => {
  it('notifies the current work, and the signal', () => {
    const x = live();
    const { signal } = x;
    const stops: Error[] = [];
    x.onStop((error) => stops.push(error));
    assert.deepEqual([signal.aborted, x.stoppedBy], [false, undefined]);
    const error = new Error('enough');
    x.cut(error);
    assert.deepEqual(stops, [error]);
    assert.deepEqual([signal.aborted, x.signal, x.stoppedBy, x.gone], [true, signal, error, false]);
  });

  it('before any work has started stops the work when it starts', () => {
    const x = live();
    const error = new Error('too late');
    x.cut(error);
    const stops: Error[] = [];
    x.onStop((reason) => stops.push(reason));
    assert.deepEqual(stops, [error]);
    assert.equal(x.signal.aborted, true, 'also where nobody had asked for the signal');
  });

  it('keeps the first reason', () => {
    const x = live();
    x.leave();
    x.cut(new Error('the gateway stops'));
    assert.ok(x.stoppedBy instanceof ClientLeft);
    assert.equal(x.gone, true);
  });

  it('does not notify work that is done', () => {
    const x = live();
    x.onStop(assert.fail);
    x.onStop(undefined);
    x.cut(new Error('enough'));
  });
});

describe('the state of an exchange', () => {
  it('has a call from admission on, and not before', () => {
    const x = live();
    assert.throws(() => x.call, /has no call: its body was not read; use `callIfRead`/);
    const call = { model: 'm' } as never;
    x.call = call;
    assert.equal(x.call, call);
  });

  it('is completed step by step', () => {
    const x = live();
    x.note({ tries: 1, model: 'a' });
    x.note({ model: 'b' });
    assert.deepEqual(x.notes, { tries: 1, model: 'b' });
    assert.deepEqual(live().notes, {});
  });

  it('has the query as it was sent', () => {
    assert.equal(live(undefined, 'a=1&b=%20').query.get('b'), ' ');
  });

  it('counts the usage of the running answer until the final one', () => {
    const x = live();
    assert.equal(x.usage, undefined);
    x.running = () => ({ ...NO_TOKENS, input: 1 });
    assert.deepEqual(x.usage, { ...NO_TOKENS, input: 1 });
    x.usage = { ...NO_TOKENS, input: 2 };
    assert.deepEqual(x.usage, { ...NO_TOKENS, input: 2 });
  });

  it('has whole counts, rounded up, and all of them, whatever its style reports', () => {
    const x = live();
    x.running = () => ({ input: 12.5, output: 0, seconds: 1.5 }) as never;
    assert.deepEqual(x.usage, { ...NO_TOKENS, input: 13, seconds: 1.5 });
    x.usage = { input: 1, output: 2.01 } as never;
    assert.deepEqual(x.usage, { ...NO_TOKENS, input: 1, output: 3 });
  });
});

describe('the end of an exchange', () => {
  /** What becomes of it, with a store that fails as often as it is told. No call ends well without the first plugin's steps. */
  function ending(parts: Parts, failures: readonly Error[] = [], others: readonly Parts[] = []) {
    const clock = fakeClock();
    const log: string[] = [];
    const kept: (readonly Step[])[] = [];
    const left = [...failures];
    const store = {
      ...memoryStore(),
      async atomic(steps: readonly Step[]) {
        const failure = left.shift();
        if (failure !== undefined) throw failure;
        kept.push(steps);
        return steps.map((step) => statementOf(step).must).find((must) => must !== undefined);
      },
    };
    const keptLog = createLog({ level: 'info', write: (line) => log.push(line), now: () => 0 });
    const players = [{ essential: true, ...parts }, ...others].map((each, i) => ({ name: `plugin-${i}`, parts: each }));
    const pipeline = createPipeline(players, keptLog, createDeadlines(clock));
    const books: Books = { store, pipeline, clock, log: keptLog };
    const x = live(clock);
    return { x, clock, log, kept, end: (outcome: Outcome = 'served') => endedExchange(x, outcome, books) };
  }
  const STEPS: readonly Step[] = [{ sql: '1' }, { sql: '2' }];

  it('happens once, however often it is declared', async () => {
    const told: (Outcome | undefined)[] = [];
    const { x, kept, end } = ending({
      settle(exchange) {
        told.push(exchange.outcome);
        return STEPS;
      },
    });
    await Promise.all([end('aborted'), end('served')]);
    await end('failed');
    assert.deepEqual([x.outcome, told, kept], ['aborted', ['aborted'], [STEPS]]);
  });

  it('runs the releases before it collects the steps, even if a release fails', async () => {
    const told: string[] = [];
    const { x, log, end } = ending({
      settle() {
        told.push('settle');
        return undefined;
      },
    });
    x.defer(() => void told.push('release'));
    x.defer(() => {
      throw new Error('stuck');
    });
    await end();
    assert.deepEqual(told, ['release', 'settle']);
    assert.equal(log.length, 1);
    assert.match(log[0]!, /a release callback failed.*stuck/);
  });

  it('writes nothing without steps', async () => {
    const { kept, end } = ending({ settle: () => [] });
    await end();
    assert.deepEqual(kept, []);
  });

  it('is not successful if a plugin fails to settle', async () => {
    const { kept, end } = ending({
      settle() {
        throw new Error('lost count');
      },
    });
    await assert.rejects(end(), { message: 'lost count' });
    assert.deepEqual(kept, []);
  });

  it('waits for a store that cannot be written, and writes as soon as possible', async () => {
    const full = new StoreUnavailable('disk full');
    const { x, clock, kept, log, end } = ending({ settle: () => STEPS }, [full, full]);
    x.attempts.push({} as Attempt);
    let ended = false;
    const done = end().then(() => {
      ended = true;
    });
    for (let tries = 0; tries < 100 && !ended; tries++) {
      await new Promise(setImmediate);
      clock.advance(100);
    }
    await done;
    assert.deepEqual([kept, log], [[STEPS], []]);
  });

  it('gives up on a store that stays unwritable, after a time limit', async () => {
    const { x, clock, kept, log, end } = ending(
      { settle: () => STEPS },
      Array(1_000).fill(new StoreUnavailable('disk full')),
    );
    x.attempts.push({} as Attempt);
    const began = clock.mono();
    let failure: unknown;
    end().catch((error: unknown) => {
      failure = error;
    });
    for (let tries = 0; tries < 200 && failure === undefined; tries++) {
      await new Promise(setImmediate);
      clock.advance(100);
    }
    assert.ok(failure instanceof StoreUnavailable);
    assert.ok(clock.mono() - began >= 5_000 && clock.mono() - began < 6_000, `after ${clock.mono() - began} ms`);
    assert.deepEqual(kept, []);
    assert.match(log[0]!, /a request could not be settled/);
  });

  it('does not wait for the store if no vendor was called', async () => {
    const { kept, end } = ending({ settle: () => STEPS }, [new StoreUnavailable('disk full')]);
    await assert.rejects(end('refused'), StoreUnavailable);
    assert.deepEqual(kept, []);
  });

  it('is written without the steps of a plugin that fails or hangs, which the log names', async () => {
    const { clock, kept, log, end } = ending(
      { settle: () => STEPS },
      [],
      [
        {
          settle() {
            throw new Error('lost count');
          },
        },
        { settle: () => new Promise(() => {}) },
      ],
    );
    const ended = end();
    await new Promise(setImmediate);
    clock.advance(32_000);
    await ended;
    assert.deepEqual(kept, [STEPS]);
    assert.deepEqual(
      log.map((line) => JSON.parse(line)).map(({ phase, plugin, error }) => [phase, plugin, error.message]),
      [
        ['settle', 'plugin-1', 'lost count'],
        ['settle', 'plugin-2', 'it has not answered within 30 s'],
      ],
    );
  });

  it('is written without the steps of a plugin that the store refuses, which the log names', async () => {
    const bad: Step = { sql: 'bad', must: 'never' };
    const { kept, log, end } = ending(
      { settle: () => STEPS },
      [],
      [{ settle: () => [{ sql: 'good' }] }, { settle: () => [bad] }],
    );
    await end();
    assert.deepEqual(kept.at(-1), [...STEPS, { sql: 'good' }]);
    assert.equal(log.length, 1);
    assert.match(log[0]!, /"plugin":"plugin-2"/);
  });

  it('is written without the steps of such a plugin after a store that could not be written, too', async () => {
    const bad: Step = { sql: 'bad', must: 'never' };
    const { x, clock, kept, log, end } = ending(
      { settle: () => STEPS },
      [new StoreUnavailable('disk full')],
      [{ settle: () => [bad] }],
    );
    x.attempts.push({} as Attempt);
    const done = end();
    await new Promise(setImmediate);
    clock.advance(200);
    await done;
    assert.deepEqual(kept.at(-1), STEPS);
    assert.match(log[0]!, /"plugin":"plugin-1"/);
  });

  it('does not retry what the store refuses', async () => {
    const { kept, end } = ending({ settle: () => [{ sql: '1', must: 'hold-exists' }] });
    await assert.rejects(end(), { message: 'the store refused to settle: hold-exists' });
    assert.equal(kept.length, 1);
  });
});

describe('a request id', () => {
  it('has 26 characters of a small alphabet, is unique, and in order', () => {
    const ids: string[] = [];
    const beganMs = Date.UTC(2026, 0, 1);
    for (let i = 0; i < 100_000; i++) ids.push(newId(beganMs + Math.floor(i / 300)));
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.every((id) => /^[0-9a-v]{26}$/.test(id)));
    assert.deepEqual([...ids].sort(), ids);
  });

  it('is unique and in order if the clock is set back, and follows it when it is ahead again', () => {
    const ms = Date.UTC(2027, 0, 1);
    const ids = [ms, ms + 5, ms, ms - 3_600_000, ms + 5, ms + 6].map(newId);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual([...ids].sort(), ids);
    assert.ok(ids.at(-1)!.startsWith((ms + 6).toString(32).padStart(10, '0')));
  });
});
