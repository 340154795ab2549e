/** Leases of counters: workers admit calls from slices, and all of them together never admit more than the limit. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Admission, Counters, GateEntry, WindowTake } from '../../../core/contracts/counters.ts';
import { share } from '../../kit/console/whole.ts';
import fc from '../../kit/fast-check.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { processes } from './with-counters.ts';

const MINUTE_MS = 60_000;
const TICK_MS = 200;

const from = (limit: number, cost = 1, name = 'a'): WindowTake => ({ name, limit, windowMs: MINUTE_MS, cost });
const at = (limit: number, id: string): GateEntry => ({ id, gates: [{ name: 'gate', limit }] });

/** Lets messages arrive and be answered. */
async function settle(): Promise<void> {
  for (let i = 0; i < 12; i++) await setImmediate();
}

/** Lets so many reports be made, with this many calls before each. */
async function ticks(clock: FakeClock, many: number, call: () => unknown = () => {}, calls = 10): Promise<void> {
  for (let i = 0; i < many; i++) {
    for (let j = 0; j < calls; j++) await call();
    clock.advance(TICK_MS);
    await settle();
  }
}

/** Some processes, of which some workers lease from the window, because they have been busy. */
async function leasing(limit: number, count: number, busy = [1], cost = 1) {
  const clock = fakeClock();
  const all = await processes(clock, count);
  for (const i of busy) await ticks(clock, 3, () => all.counters[i]!.take([from(limit, cost)]));
  for (const i of busy) assert.ok(await leases(all.counters[i]!, from(limit)), `worker ${i} leases`);
  return { clock, ...all };
}

/** An admission without a message. */
const isHere = (admission: Admission | PromiseLike<Admission>): admission is Admission => !('then' in admission);

/** Whether the counters admit a call without a message; it costs nothing in the end. */
async function leases(counters: Counters, take: WindowTake): Promise<boolean> {
  const admission = counters.take([take]);
  counters.correct(await admission, 0);
  return isHere(admission);
}

describe('leases of windows', () => {
  it('let a busy worker admit calls without a message, and its headers fall from call to call', async () => {
    const { counters } = await leasing(10_000, 3);
    let last = 10_000;
    for (let i = 0; i < 20; i++) {
      const admission = counters[1]!.take([from(10_000)]);
      assert.ok(isHere(admission));
      const { ok, remaining, retryAfterMs, resetMs } = admission.windows[0]!;
      assert.deepEqual({ ok, retryAfterMs, resetMs }, { ok: true, retryAfterMs: 0, resetMs: MINUTE_MS });
      assert.ok(remaining < last);
      last = remaining;
    }
  });

  it('are not given for a small limit, or to a worker with few calls', async () => {
    const clock = fakeClock();
    const { counters } = await processes(clock, 3);
    await ticks(clock, 5, () => counters[1]!.take([from(15)]), 2);
    assert.equal(await leases(counters[1]!, from(15)), false);
    await ticks(clock, 1, () => counters[2]!.take([from(10_000, 1, 'b')]), 1);
    assert.equal(await leases(counters[2]!, from(10_000, 1, 'b')), false);
  });

  it('show what was used of them to every process, and not what is unused', async () => {
    const { counters } = await leasing(10_000, 3);
    for (let i = 0; i < 5; i++) assert.ok(isHere(counters[1]!.take([from(10_000)])));
    for (const each of counters) assert.equal((await each.look(from(10_000, 0))).remaining, 10_000 - 35);
  });

  it('are recalled before another process refuses', async () => {
    const { counters } = await leasing(200, 3, [1, 2]);
    let taken = 60;
    for (let i = 0; ; i = (i + 1) % 3) {
      if (!(await counters[i]!.take([from(200)])).ok) break;
      taken++;
    }
    assert.equal(taken, 200);
  });

  it('that are unused go back when the worker is idle, which then forgets them', async () => {
    const { clock, counters } = await leasing(200, 3);
    await ticks(clock, 8);
    assert.equal(await leases(counters[1]!, from(200)), false);
    assert.equal(isHere(counters[0]!.take([from(200, 170)])), true, 'the owner has them');
  });

  it('count as used from then when their worker has died', async () => {
    const { clock, kit, counters } = await leasing(200, 3);
    for (let i = 0; i < 5; i++) assert.ok(isHere(counters[1]!.take([from(200)])));
    kit.kill(1);
    const { remaining } = await counters[2]!.look(from(200, 0));
    assert.ok(remaining <= 165 && remaining > 0, `${remaining} remain`);
    clock.advance(MINUTE_MS - 1);
    assert.equal((await counters[2]!.take([from(200, 200)])).ok, false);
    clock.advance(1);
    assert.equal((await counters[2]!.take([from(200, 200)])).ok, true);
  });

  it('take corrections back before the call is reported, and after it', async () => {
    const { clock, counters } = await leasing(10_000, 3, [1], 10);
    const corrected = async (isReported: boolean, cost: number): Promise<number> => {
      const { remaining: before } = await counters[2]!.look(from(10_000, 0));
      const admission = counters[1]!.take([from(10_000, 10)]);
      assert.ok(isHere(admission), `${isReported} ${cost}`);
      if (isReported) clock.advance(TICK_MS);
      if (isReported) await settle();
      counters[1]!.correct(admission, cost);
      const { remaining } = await counters[1]!.look(from(10_000, 0));
      // What was used beyond the lease is leased again.
      clock.advance(TICK_MS);
      await settle();
      return before - remaining;
    };
    for (const isReported of [false, true])
      for (const cost of [0, 4, 10, 3_000]) assert.equal(await corrected(isReported, cost), cost);
  });

  it('take the correction of a call back whose report is not answered', async () => {
    const { clock, kit, counters } = await leasing(10_000, 3, [1], 10);
    const admission = counters[1]!.take([from(10_000, 10)]);
    assert.ok(isHere(admission));
    kit.hold(1);
    clock.advance(TICK_MS);
    counters[1]!.correct(admission, 4);
    clock.advance(TICK_MS);
    kit.release(1);
    await settle();
    assert.equal((await counters[0]!.look(from(10_000, 0))).remaining, 10_000 - 304);
  });

  it('of another limit are returned, as after a reload', async () => {
    const { counters } = await leasing(10_000, 3);
    assert.equal((await counters[1]!.take([from(31)])).ok, true);
    assert.equal((await counters[1]!.take([from(31)])).ok, false);
  });

  it('that come after the limit was lowered are returned, too', async () => {
    const { clock, kit, counters } = await leasing(10_000, 3);
    kit.hold(1);
    // Everything is used, so it asks for more.
    for (let admission = counters[1]!.take([from(10_000)]); isHere(admission); )
      admission = counters[1]!.take([from(10_000)]);
    await settle();
    const lowered = counters[1]!.take([from(100)]);
    kit.release(1);
    await lowered;
    await settle();
    assert.equal(await leases(counters[1]!, from(100)), false);
    await ticks(clock, 1);
    assert.equal(await leases(counters[0]!, from(10_000, 9_000)), true, 'they went back');
  });

  it('outlive a reload of the worker and of the owner', async () => {
    const { counters, start } = await leasing(200, 3);
    const admission = counters[1]!.take([from(200)]);
    for (const i of [0, 1]) counters[i] = await start(i);
    counters[1]!.correct(await admission, 0);
    assert.equal((await counters[2]!.look(from(200, 0))).remaining, 170);
    assert.equal((await counters[2]!.take([from(200, 170)])).ok, true);
  });

  it('of a worker that does not answer stay taken, and others are refused after half a second', async () => {
    const { clock, kit, counters } = await leasing(200, 3);
    kit.hold(1);
    const refused = counters[2]!.take([from(200, 170)]);
    await settle();
    clock.advance(500);
    assert.equal((await refused).ok, false);
    assert.ok(counters[0]!.take([from(200, 170)]), 'it is not recalled again at once');
    kit.release(1);
    await settle();
    assert.equal((await counters[2]!.take([from(200, 170)])).ok, true);
  });
});

describe('leases of gates', () => {
  /** A worker that leases places, because its calls come and go. */
  async function open(limit: number) {
    const clock = fakeClock();
    const all = await processes(clock, 3);
    let calls = 0;
    const visit = async (): Promise<void> => {
      const entry = at(limit, `visit-${calls++}`);
      await all.counters[1]!.take([], entry);
      all.counters[1]!.leave(entry);
    };
    await ticks(clock, 3, visit);
    return { clock, ...all };
  }

  it('let calls in and out without a message, and every process sees who is inside', async () => {
    const { counters } = await open(100);
    const inside = async (): Promise<number[]> => Promise.all(counters.map(async (each) => each.inside('gate')));
    for (const id of ['one', 'two', 'two']) assert.ok(isHere(counters[1]!.take([], at(100, id))));
    assert.deepEqual(await inside(), [2, 2, 2]);
    counters[1]!.leave(at(100, 'one'));
    counters[1]!.leave(at(100, 'one'));
    assert.deepEqual(await inside(), [1, 1, 1]);
  });

  it('are recalled before another process refuses', async () => {
    const { counters } = await open(100);
    assert.ok(isHere(counters[1]!.take([], at(100, 'one'))));
    for (let i = 0; i < 99; i++) assert.equal((await counters[2]!.take([], at(100, `other-${i}`))).ok, true);
    assert.equal((await counters[2]!.take([], at(100, 'too many'))).ok, false);
    counters[1]!.leave(at(100, 'one'));
    // Its place goes back with the next report, or when it is recalled.
    assert.equal((await counters[1]!.take([], at(100, 'again'))).ok, true);
  });

  it('are free when their worker has died', async () => {
    const { kit, counters } = await open(100);
    assert.ok(isHere(counters[1]!.take([], at(100, 'one'))));
    kit.kill(1);
    assert.equal(await counters[0]!.inside('gate'), 0);
    for (let i = 0; i < 100; i++) assert.equal((await counters[2]!.take([], at(100, `other-${i}`))).ok, true);
  });
});

/** What a property test does to some processes. */
type Step =
  | { readonly kind: 'take'; readonly by: number; readonly cost: number; readonly times: number }
  | { readonly kind: 'correct'; readonly which: number; readonly cost: number }
  | { readonly kind: 'enter'; readonly by: number; readonly times: number }
  | { readonly kind: 'leave'; readonly which: number }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'deliver' }
  /** Calls of three ticks, so that the worker leases. */
  | { readonly kind: 'busy'; readonly by: number; readonly times: number }
  | { readonly kind: 'hold' | 'release' | 'kill' | 'reload'; readonly by: number };

describe('counters of an owner and its workers, whatever happens between them', () => {
  const by = fc.integer({ min: 0, max: 3 });
  const worker = fc.integer({ min: 1, max: 3 });
  const times = fc.integer({ min: 1, max: 12 });
  const which = fc.nat();
  const ms = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 1_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 30_000 }) },
  );
  const is = <T extends Step['kind']>(kind: T) => fc.constant(kind);
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.oneof(
      { weight: 8, arbitrary: fc.record({ kind: is('take'), by, cost: fc.integer({ min: 1, max: 5 }), times }) },
      {
        weight: 4,
        arbitrary: fc.record({ kind: is('correct'), which, cost: fc.integer({ min: 0, max: 9 }) }),
      },
      { weight: 5, arbitrary: fc.record({ kind: is('enter'), by, times }) },
      { weight: 5, arbitrary: fc.record({ kind: is('leave'), which }) },
      { weight: 6, arbitrary: fc.record({ kind: is('advance'), ms }) },
      { weight: 5, arbitrary: fc.record({ kind: is('deliver') }) },
      { weight: 6, arbitrary: fc.record({ kind: is('busy'), by: worker, times: fc.integer({ min: 1, max: 4 }) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('hold', 'release'), by: worker }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('kill', 'reload'), by: worker }) },
    ),
    { minLength: 20, maxLength: 150 },
  );

  interface Taken {
    readonly by: number;
    readonly admission: Admission;
    readonly cost: number;
    readonly atMs: number;
    corrected?: { readonly cost: number; readonly atMs: number };
  }

  it('never admit more than the limit in any window, and refuse no call for which there is room', async () => {
    let here = 0;
    let there = 0;
    let refusals = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(40, 150, 600), fc.constantFrom(6, 20, 60), steps, async (limit, most, all) => {
        const clock = fakeClock();
        const { kit, counters, start } = await processes(clock, 4);
        /** The index of the process that is in the place of each now. */
        const now = [0, 1, 2, 3];
        const taken: Taken[] = [];
        const inside: { readonly by: number; readonly entry: GateEntry }[] = [];
        let lastDeathMs = Number.NEGATIVE_INFINITY;
        let visits = 0;
        const of = (place: number): Counters => counters[now[place]!]!;

        const take = (place: number, cost: number): void => {
          const by = now[place]!;
          const note = (admission: Admission, atMs: number): void => {
            if (admission.ok) taken.push({ by, admission, cost, atMs });
            else refusals++;
          };
          const answer = of(place).take([from(limit, cost)]);
          if (isHere(answer)) {
            here++;
            note(answer, clock.mono());
          } else {
            there++;
            void answer.then(
              (admission) => note(admission, admission.atMs),
              () => {},
            );
          }
        };
        const enter = (place: number): void => {
          const by = now[place]!;
          const entry = at(most, `visit-${visits++}`);
          const note = ({ ok }: Admission): void => {
            // The answer to a process that has ended since is lost.
            if (!ok || now[place] !== by) return;
            inside.push({ by, entry });
            assert.ok(inside.length <= most, `${inside.length} of ${most} are inside`);
          };
          const answer = of(place).take([], entry);
          if (isHere(answer)) note(answer);
          else void answer.then(note, () => {});
        };
        const isAlive = (by: number): boolean => now.includes(by);

        const perform = async (step: Step): Promise<void> => {
          switch (step.kind) {
            case 'take':
              for (let i = 0; i < step.times; i++) take(step.by, step.cost);
              break;
            case 'enter':
              for (let i = 0; i < step.times; i++) enter(step.by);
              break;
            case 'correct': {
              const call = taken[step.which % Math.max(taken.length, 1)];
              if (call === undefined || call.corrected !== undefined || !isAlive(call.by)) break;
              call.corrected = { cost: step.cost, atMs: clock.mono() };
              counters[call.by]!.correct(call.admission, step.cost);
              break;
            }
            case 'leave': {
              const [visit] = inside.splice(step.which % Math.max(inside.length, 1), 1);
              if (visit !== undefined) counters[visit.by]!.leave(visit.entry);
              break;
            }
            case 'advance':
              clock.advance(step.ms);
              break;
            case 'deliver':
              await settle();
              break;
            case 'busy':
              for (let tick = 0; tick < 3; tick++) {
                for (let i = 0; i < step.times; i++) {
                  take(step.by, 1);
                  enter(step.by);
                }
                clock.advance(TICK_MS);
                await settle();
                for (const { by, entry } of inside.splice(0)) counters[by]!.leave(entry);
              }
              break;
            case 'hold':
              kit.hold(now[step.by]!);
              break;
            case 'release':
              kit.release(now[step.by]!);
              break;
            case 'kill': {
              const died = now[step.by]!;
              // Before the owner hears of it: a place is free from then on.
              for (let i = inside.length - 1; i >= 0; i--) if (inside[i]!.by === died) inside.splice(i, 1);
              kit.kill(died);
              lastDeathMs = clock.mono();
              now[step.by] = kit.join();
              counters[now[step.by]!] = await start(now[step.by]!);
              break;
            }
            case 'reload':
              counters[now[step.by]!] = await start(now[step.by]!);
          }
        };

        for (const step of all) await perform(step);
        for (const place of [1, 2, 3]) kit.release(now[place]!);
        await settle();
        // Nobody holds back what was recalled or not answered: nothing is under way any more.
        for (let i = 0; i < 3; i++) {
          clock.advance(1_000);
          await settle();
        }

        /** What a call counts at a time: its estimate until it is corrected, and never more than what was admitted. */
        const admitted = ({ cost, corrected }: Taken, atMs: number): number =>
          corrected !== undefined && corrected.atMs <= atMs ? Math.min(corrected.cost, cost) : cost;
        const within = (atMs: number, lengthMs: number, value: (call: Taken) => number): number =>
          taken
            .filter((call) => call.atMs <= atMs && call.atMs > atMs - lengthMs)
            .reduce((sum, call) => sum + value(call), 0);
        for (const { atMs } of taken) {
          const sum = within(atMs, MINUTE_MS, (call) => admitted(call, atMs));
          assert.ok(sum <= limit, `${sum} of ${limit} at ${atMs}`);
        }

        // What was used counts from its report, a little later; what a worker had leased when it died counts, too.
        const endMs = clock.mono();
        const used = within(endMs, MINUTE_MS + 35_000, ({ cost, corrected }) => Math.max(cost, corrected?.cost ?? 0));
        if (endMs - lastDeathMs > MINUTE_MS && used < limit)
          assert.equal((await of(1).take([from(limit, limit - used)])).ok, true, 'there is room in the window');
        for (let i = inside.length; i < most; i++)
          assert.equal((await of(2).take([], at(most, `last-${i}`))).ok, true, 'there is room in the gate');
        assert.equal((await of(3).take([], at(most, 'one too many'))).ok, false);
      }),
      { numRuns: share(200) },
    );
    assert.ok(here > there / 20 && refusals > 0, `${here} from leases, ${there} by messages, ${refusals} refused`);
  });
});
