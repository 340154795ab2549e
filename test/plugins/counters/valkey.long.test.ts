/** Counters on a Valkey server: the contract, several processes at once, and everything that can happen to the server or to one of them. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { Admission, Counters, GateEntry, WindowTake } from '../../../core/contracts/counters.ts';
import { aloneOf } from '../../../core/contracts/peers.ts';
import { type Clock, systemClock } from '../../../core/runtime/clock.ts';
import { createLog } from '../../../core/runtime/logger.ts';
import { createMemoryCounters } from '../../../plugins/counters/memory.ts';
import { readAddress } from '../../../plugins/counters/valkey/address.ts';
import { createSharedCounters, type SharedCounters } from '../../../plugins/counters/valkey/counters.ts';
import { createScript } from '../../../plugins/counters/valkey/script.ts';
import { countersContract } from '../../kit/contracts/counters-contract.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { noValkey, startValkey, type ValkeyServer } from '../../kit/stand-ins/valkey.ts';
import { until as eventually, turns } from '../../kit/until.ts';

const missing = noValkey();
if (missing !== undefined) it('counters on a Valkey server', { skip: missing }, () => {});
else tests();

/** A cost to be taken from a window. */
const from = (name: string, limit: number, cost = 1, windowMs = 60_000): readonly [WindowTake] => [
  { name, limit, windowMs, cost },
];
/** A gate to be entered. */
const at = (name: string, limit: number, id: string): GateEntry => ({ id, gates: [{ name, limit }] });

/** A process that counts on a server. */
interface Process {
  readonly counters: SharedCounters;
  /** What it logged, one line each. */
  readonly log: readonly string[];
}

/** A clock by hand, by which no answer comes too late: the server takes the time it takes. */
const patient = (clock: FakeClock): Clock => ({ ...clock, after: () => () => {} });
/** The same of a process that does nothing by itself. */
const idle = (clock: FakeClock): Clock => ({ ...patient(clock), every: () => () => {} });

/** The machine's clock, but what is done every so often is done when a test says so. */
const stepped = (clock: FakeClock): Clock => ({ ...patient(clock), mono: systemClock.mono });

/** The server's time, where a test moves it: a key that the script reads in its place. */
const TIME_KEY = 'test:time';
const scriptByTest = createScript(`tonumber(redis.call('GET', '${TIME_KEY}'))`);

function tests(): void {
  let server: ValkeyServer;
  /** Whatever a test has started. */
  const started = new Set<SharedCounters>();
  let prefixes = 0;
  before(async () => {
    server = await startValkey();
  });
  after(async () => {
    for (const each of started) await each.stop();
    await server.remove();
  });

  /** Starts a process; those with the same `prefix` share their counters. */
  async function startProcess(
    prefix: string,
    {
      clock = systemClock,
      boot = 'one',
      count = 2,
      url = server.url,
      byTest = false,
    }: {
      readonly clock?: Clock;
      readonly boot?: string;
      readonly count?: number;
      readonly url?: string;
      readonly byTest?: boolean;
    } = {},
  ): Promise<Process> {
    const log: string[] = [];
    const counters = createSharedCounters({
      server: readAddress(url)!,
      prefix,
      memory: createMemoryCounters(clock),
      host: {
        boot,
        clock,
        log: createLog({ level: 'debug', now: () => 0, write: (line) => log.push(line) }),
        peers: { ...aloneOf(boot), count },
      },
      ...(byTest && { script: scriptByTest }),
    });
    started.add(counters);
    await counters.start();
    return { counters, log };
  }
  const freshPrefix = (): string => `test-${++prefixes}:`;

  /** Sets the server's time. */
  let toldMs: number | undefined;
  async function tellTime(ms: number): Promise<void> {
    if (ms !== toldMs) await server.command('SET', TIME_KEY, String(Math.round(ms * 1_000)));
    toldMs = ms;
  }

  /** Counters that tell the server the time before each operation. */
  function timed(counters: Counters, clock: FakeClock): Counters {
    const after = <T>(work: () => T | Promise<T>): Promise<T> => tellTime(clock.mono()).then(work);
    return {
      take: (windows, entry) => after(() => counters.take(windows, entry)),
      look: (window) => after(() => counters.look(window)),
      inside: (gate) => after(() => counters.inside(gate)),
      correct: (admission, cost) => counters.correct(admission, cost),
      leave: (entry) => counters.leave(entry),
    };
  }

  /** Waits for something that will happen. */
  const until = (holds: () => boolean | Promise<boolean>) => eventually('the counters have come to it', holds);

  countersContract('a Valkey server', async (clock) => {
    await tellTime(clock.mono());
    const { counters } = await startProcess(freshPrefix(), { clock: idle(clock), byTest: true });
    assert.equal(counters.shared, true);
    return timed(counters, clock);
  });

  describe('counters of two processes on a Valkey server', () => {
    /** Two for whom no time passes, so that none of them ever gives the server up. */
    async function startStanding(): Promise<readonly Process[]> {
      const prefix = freshPrefix();
      const clock = fakeClock();
      await tellTime(clock.mono());
      return Promise.all(['one', 'two'].map((boot) => startProcess(prefix, { boot, clock, byTest: true })));
    }

    it('let exactly ten of two thousand parallel calls in', async () => {
      const processes = await startStanding();
      const admissions = await Promise.all(
        Array.from({ length: 2_000 }, (_, i) => processes[i % 2]!.counters.take(from('a', 10))),
      );
      assert.equal(admissions.filter(({ ok }) => ok).length, 10);
      for (const { counters } of processes) assert.equal((await counters.look(from('a', 10)[0])).remaining, 0);
    });

    it('never hold more than eight inside a gate', async () => {
      const processes = await startStanding();
      let inside = 0;
      let most = 0;
      let served = 0;
      const guest = async (i: number): Promise<void> => {
        const { counters } = processes[i % 2]!;
        const entry = at('gate', 8, `guest-${i}`);
        while (!(await counters.take([], entry)).ok) await setImmediate();
        most = Math.max(most, ++inside);
        await setImmediate();
        inside--;
        served++;
        counters.leave(entry);
      };
      await Promise.all(Array.from({ length: 200 }, (_, i) => guest(i)));
      assert.deepEqual({ most, served }, { most: 8, served: 200 });
      // Each process is asked behind its own leaves.
      for (const { counters } of processes) await counters.inside('gate');
      assert.equal(await processes[0]!.counters.inside('gate'), 0);
    });

    it('see what the other has taken, corrected and entered', async () => {
      const prefix = freshPrefix();
      const [one, two] = [await startProcess(prefix), await startProcess(prefix, { boot: 'two' })];
      const admission = await one.counters.take(from('a', 100, 60), at('gate', 2, 'x'));
      assert.equal((await two.counters.look(from('a', 100)[0])).remaining, 39);
      assert.equal(await two.counters.inside('gate'), 1);
      one.counters.correct(admission, 10);
      one.counters.leave(at('gate', 2, 'x'));
      await one.counters.inside('gate');
      assert.equal((await two.counters.look(from('a', 100)[0])).remaining, 89);
      assert.equal(await two.counters.inside('gate'), 0);
    });

    it('send the operations of one turn in one write', async () => {
      const { counters } = await startProcess(freshPrefix());
      await counters.take(from('a', 1_000));
      const reads = async (): Promise<number> =>
        Number(/total_reads_processed:(\d+)/.exec(String(await server.command('INFO', 'stats')))![1]);
      const before = await reads();
      await Promise.all(Array.from({ length: 50 }, () => counters.take(from('a', 1_000))));
      // One read of the fifty, and that of the second question.
      assert.equal((await reads()) - before, 2);
    });

    it('keep nothing of windows and gates that are over', async () => {
      const prefix = freshPrefix();
      const { counters } = await startProcess(prefix);
      await counters.take(from('short', 10, 1, 50), at('gate', 2, 'x'));
      const ttl = Number(await server.command('PTTL', `${prefix}gate:gate`));
      assert.ok(ttl > 0 && ttl <= 15_000, String(ttl));
      counters.leave(at('gate', 2, 'x'));
      await until(async () => (await server.command('EXISTS', `${prefix}window:short`, `${prefix}gate:gate`)) === 0);
    });
  });

  describe('gates on a Valkey server', () => {
    /** Two processes whose clocks, and that of the server, a test moves. */
    async function startTwo() {
      const prefix = freshPrefix();
      const clocks = [fakeClock(), fakeClock()] as const;
      await tellTime(clocks[0].mono());
      const one = await startProcess(prefix, { clock: patient(clocks[0]), byTest: true });
      const two = await startProcess(prefix, { clock: patient(clocks[1]), boot: 'two', byTest: true });
      /** Time passes for the first process and the server; the second one is frozen. */
      const passAlone = async (ms: number): Promise<void> => {
        for (let left = ms; left > 0; left -= 5_000) {
          const step = Math.min(left, 5_000);
          await tellTime(clocks[0].mono() + step);
          clocks[0].advance(step);
          // Its refresh is answered before the next one.
          await one.counters.inside('gate');
        }
      };
      return { one: one.counters, two: two.counters, clocks, passAlone };
    }

    it('are left within 15 seconds by a process that does not say that it lives, and by no other', async () => {
      const { one, two, passAlone } = await startTwo();
      assert.equal((await one.take([], at('gate', 2, 'x'))).ok, true);
      assert.equal((await two.take([], at('gate', 2, 'y'))).ok, true);
      await passAlone(10_000);
      assert.equal((await one.take([], at('gate', 2, 'z'))).ok, false);
      await passAlone(5_000);
      assert.equal(await one.inside('gate'), 1);
      assert.equal((await one.take([], at('gate', 2, 'z'))).ok, true);
    });

    it('are entered again by a process that was frozen, over the limit, and nobody else is let in meanwhile', async () => {
      const { one, two, clocks, passAlone } = await startTwo();
      await two.take([], at('gate', 1, 'y'));
      await passAlone(20_000);
      assert.equal((await one.take([], at('gate', 1, 'x'))).ok, true);
      // It thaws, and its refresh is late.
      clocks[1].advance(20_000);
      assert.equal(await two.inside('gate'), 2);
      one.leave(at('gate', 1, 'x'));
      assert.equal((await one.take([], at('gate', 1, 'z'))).ok, false);
      two.leave(at('gate', 1, 'y'));
      await two.inside('gate');
      assert.equal((await one.take([], at('gate', 1, 'z'))).ok, true);
    });

    it('do not mind that a process leaves them late', async () => {
      const { one, two, passAlone } = await startTwo();
      await two.take([], at('gate', 1, 'y'));
      await passAlone(20_000);
      // The ids of two processes are never the same in earnest; if they were, it would be no harm either.
      assert.equal((await one.take([], at('gate', 1, 'y'))).ok, true);
      two.leave(at('gate', 1, 'y'));
      await two.inside('gate');
      assert.equal(await one.inside('gate'), 1);
    });

    it('know thousands of calls after every refresh', async () => {
      const { one, passAlone } = await startTwo();
      const gates = Array.from({ length: 3 }, (_, i) => ({ name: i === 0 ? 'gate' : `gate-${i}`, limit: 2_000 }));
      await Promise.all(Array.from({ length: 1_100 }, (_, i) => one.take([], { id: `call-${i}`, gates })));
      await passAlone(60_000);
      for (const { name } of gates) assert.equal(await one.inside(name), 1_100);
    });
  });

  describe('a Valkey server that is away', () => {
    let own: ValkeyServer;
    before(async () => {
      own = await startValkey();
    });
    after(() => own.remove());

    const enter = async (counters: Counters, id: string, limit = 4): Promise<boolean> =>
      (await counters.take([], at('gate', limit, id))).ok;
    const accepted = async (counters: Counters, name: string, limit: number, calls: number): Promise<number> => {
      const admissions = await Promise.all(Array.from({ length: calls }, () => counters.take(from(name, limit))));
      return admissions.filter(({ ok }) => ok).length;
    };

    it('leaves each process with its share of every limit, said once, and is used again when it is back', async () => {
      const clock = fakeClock();
      const { counters, log } = await startProcess('killed:', { clock: stepped(clock), count: 3, url: own.url });
      assert.equal(await accepted(counters, 'before', 10, 20), 10);
      assert.deepEqual([await enter(counters, 'a'), await enter(counters, 'b')], [true, true]);
      await own.kill();
      await until(() => !counters.shared);
      // Ten for three is four; nobody waits for it.
      assert.ok(!(counters.take(from('sync', 10)) instanceof Promise));
      assert.equal(await accepted(counters, 'away', 10, 20), 4);
      assert.equal(await accepted(counters, 'one', 1, 5), 1);
      // Two are inside, as many as its share of four: those that run are not forgotten.
      assert.equal(await enter(counters, 'c'), false);
      counters.leave(at('gate', 4, 'a'));
      assert.equal(await enter(counters, 'd'), true);
      // A call that needs the whole limit needs the whole share.
      const large = (await counters.take(from('tokens', 900, 900))) as Admission;
      assert.deepEqual([large.ok, large.windows[0]!.remaining], [true, 0]);
      counters.correct(large, 100);
      assert.equal(((await counters.take(from('tokens', 900, 200))) as Admission).ok, true);
      for (let i = 0; i < 3; i++) {
        clock.advance(1_000);
        await turns();
      }
      assert.equal(counters.shared, false);

      await own.start();
      await until(() => {
        clock.advance(1_000);
        return counters.shared;
      });
      // The server has forgotten everything, and is told who is inside.
      assert.equal(await counters.inside('gate'), 2);
      assert.equal(await accepted(counters, 'away', 10, 20), 10);
      assert.deepEqual(
        log.map((line) => JSON.parse(line) as Record<string, unknown>).map(({ level, msg }) => ({ level, msg })),
        [
          { level: 'error', msg: 'Valkey cannot be reached: each process enforces its share of every limit by itself' },
          { level: 'info', msg: 'Valkey can be reached again: all gateways enforce the limits together' },
        ],
      );
    });

    it('that comes and goes is told of once a minute', async () => {
      const clock = fakeClock();
      const { counters, log } = await startProcess('flapping:', { clock: patient(clock), url: own.url });
      for (let round = 0; round < 3; round++) {
        await own.kill();
        await until(() => !counters.shared);
        await own.start();
        await until(() => {
          clock.advance(1_000);
          return counters.shared;
        });
      }
      const levels = (): readonly unknown[] =>
        log.map((line) => (JSON.parse(line) as { readonly level: string }).level);
      assert.deepEqual(levels(), ['error', 'info']);
      clock.advance(60_000);
      await own.kill();
      await until(() => log.length > 2);
      assert.deepEqual(levels(), ['error', 'info', 'error']);
      await own.start();
    });

    it('fails no call that is under way when it is killed and restarted', async () => {
      const { counters } = await startProcess('restarted:', { url: own.url });
      let isOver = false;
      let taken = 0;
      const caller = async (i: number): Promise<void> => {
        for (let n = 0; !isOver; n++) {
          const entry = at('gate', 1_000, `${i}-${n}`);
          const admission = await counters.take(from('a', 1e12), entry);
          assert.equal(admission.ok, true);
          taken++;
          counters.correct(admission, 2);
          counters.leave(entry);
          await setImmediate();
        }
      };
      const callers = Promise.all(Array.from({ length: 20 }, (_, i) => caller(i)));
      for (let round = 0; round < 3; round++) {
        const before = taken;
        await until(() => taken > before + 200);
        await own.kill();
        await until(() => !counters.shared);
        await own.start();
        await until(() => counters.shared);
      }
      isOver = true;
      await callers;
      assert.equal(await counters.inside('gate'), 0);
    });

    it('lets a call wait for 200 ms if it is frozen, and does nothing later of what was given up then', async () => {
      const { counters } = await startProcess('frozen:', { url: own.url });
      assert.equal((await counters.take(from('a', 10))).ok, true);
      own.freeze();
      try {
        const calls = await Promise.all(
          Array.from({ length: 8 }, (_, i) => counters.take(from('a', 10), at('gate', 10, `call-${i}`))),
        );
        // Half of the limit: there are two processes.
        assert.equal(calls.filter(({ ok }) => ok).length, 5);
        assert.equal(counters.shared, false);
        for (let i = 0; i < 8; i++) counters.leave(at('gate', 10, `call-${i}`));
      } finally {
        own.thaw();
      }
      await until(() => counters.shared);
      assert.equal((await counters.look(from('a', 10)[0])).remaining, 8);
      assert.equal(await counters.inside('gate'), 0);
    });

    it('is not taken for one if this process itself was held up, before or behind a question', async () => {
      const { counters, log } = await startProcess('held-up:', { url: own.url });
      const holdUp = (): void => {
        const endMs = performance.now() + 1_000;
        while (performance.now() < endMs);
      };
      // So that it is its own timer that fires, and before the turn in which it is written.
      await delay(300);
      await setImmediate();
      const unsent = counters.take(from('a', 10));
      holdUp();
      assert.equal((await unsent).windows[0]!.remaining, 9);
      const sent = counters.take(from('a', 10));
      await setImmediate();
      holdUp();
      assert.equal((await sent).windows[0]!.remaining, 8);
      assert.deepEqual([counters.shared, log], [true, []]);
    });

    it('does not keep a process from starting', async () => {
      await own.kill();
      const clock = fakeClock();
      const { counters, log } = await startProcess('absent:', { clock: stepped(clock), url: own.url });
      assert.equal(counters.shared, false);
      assert.equal(log.length, 1);
      assert.equal(await accepted(counters, 'a', 10, 20), 5);
      await own.start();
      await until(() => {
        clock.advance(1_000);
        return counters.shared;
      });
    });

    it('that forgets its scripts is sent them again', async () => {
      const { counters, log } = await startProcess('flushed:', { url: own.url });
      const admission = await counters.take(from('a', 10), at('gate', 2, 'x'));
      await own.command('SCRIPT', 'FLUSH');
      counters.correct(admission, 5);
      assert.equal((await counters.take(from('a', 10))).windows[0]!.remaining, 4);
      await own.command('SCRIPT', 'FLUSH');
      counters.leave(at('gate', 2, 'x'));
      assert.equal(await counters.inside('gate'), 0);
      assert.deepEqual([counters.shared, log], [true, []]);
    });

    it('that is a replica is not used: it could not be written', async () => {
      const clock = fakeClock();
      const { counters, log } = await startProcess('replica:', { clock: stepped(clock), url: own.url });
      await own.command('REPLICAOF', '127.0.0.1', '1');
      assert.equal((await counters.take(from('a', 10))).windows[0]!.remaining, 4);
      assert.match(log[0]!, /"reason":"it is a replica(, which cannot be written| without a primary)"/);
      await own.command('REPLICAOF', 'NO', 'ONE');
      await until(() => {
        clock.advance(1_000);
        return counters.shared;
      });
    });
  });

  describe('the password of a Valkey server', () => {
    const PASSWORD = 'canary-p@ss/word-9c1f';
    let own: ValkeyServer;
    before(async () => {
      own = await startValkey({ password: PASSWORD });
    });
    after(() => own.remove());

    it('opens it, together with a database', async () => {
      const { counters } = await startProcess('open:', { url: `${own.url}/3` });
      assert.equal(counters.shared, true);
      await counters.take(from('a', 10));
      await own.command('SELECT', '3');
      assert.equal(await own.command('EXISTS', 'open:window:a'), 1);
    });

    it('may be that of a user with the permissions that the README names, and no others', async () => {
      const readme = readFileSync(join(import.meta.dirname, '../../../plugins/counters/README.md'), 'utf8');
      const rules = [...readme.matchAll(/(?<=[`\s])(?:\+[a-z]+|~[a-z:*]+)(?=[`\s])/g)].map(([rule]) => rule);
      assert.ok(rules.includes('+evalsha') && rules.includes('~turnpike:*'), rules.join(' '));
      await own.command('ACL', 'SETUSER', 'ann', 'reset', 'on', '>secret-of-ann', ...rules);
      const url = `valkey://ann:secret-of-ann@127.0.0.1:${own.port}/1`;
      const { counters, log } = await startProcess('turnpike:', { url });
      const entry = at('gate', 2, 'x');
      const admission = await counters.take(from('a', 10, 4), entry);
      counters.correct(admission, 10);
      assert.equal((await counters.take(from('a', 10))).ok, false);
      assert.equal((await counters.look(from('a', 10)[0])).ok, false);
      assert.equal(await counters.inside('gate'), 1);
      counters.leave(entry);
      assert.equal(await counters.inside('gate'), 0);
      assert.deepEqual([counters.shared, log], [true, []]);
      const other = await startProcess('other:', { clock: stepped(fakeClock()), url });
      await other.counters.take(from('a', 10));
      assert.match(other.log[0]!, /the user may not run scripts, or not on these keys/);
    });

    it('is named nowhere if it is wrong or missing, and calls go on', async () => {
      for (const [url, reason] of [
        [own.url.replace('9c1f', 'wrong'), 'the user name or the password is incorrect'],
        [own.url.replace(/\/\/.*@/, '//'), 'it wants a password'],
        [own.url.replace('//:', '//canary-user:'), 'the user name or the password is incorrect'],
      ] as const) {
        const { counters, log } = await startProcess('closed:', { clock: stepped(fakeClock()), url });
        assert.equal(counters.shared, false);
        assert.equal((await counters.take(from('a', 10))).ok, true);
        assert.equal(log.length, 1);
        assert.equal((JSON.parse(log[0]!) as { readonly reason: string }).reason, reason);
        assert.doesNotMatch(log[0]!, /canary|p%40ss/);
      }
    });
  });
}
