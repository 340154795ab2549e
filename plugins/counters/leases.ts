/**
 * The owner's side of leases: workers lease amounts of windows and places of gates, so that they admit most calls without a message. What is leased
 * counts as taken until the worker reports it as used, which counts from then, or returns it. So in any window at most the limit is admitted.
 */
import type { Admission, Counters, GateEntry, WindowTake } from '../../core/contracts/counters.ts';
import type { Awaitable, Clock, Peers } from '../../core/plugin.ts';
import type { MemoryCounters } from './memory.ts';
import { COUNT, type GateReport, RECALL, REFRESH, type Report, type Reported, type WindowReport } from './messages.ts';

/** The time for workers to answer. What a worker that is late has leased stays taken. */
const ANSWER_MS = 500;
/** For this long after a recall, nothing is leased of the same window or gate: calls come here one by one while it is nearly used up. */
const PAUSE_MS = 1_000;

/** What a worker has. */
interface Holder {
  /** Leased amounts by window. */
  readonly windows: Map<string, { units: number; readonly windowMs: number }>;
  /** Leased places by gate. */
  readonly gates: Map<string, number>;
  /** When the reports were counted of which the worker has not yet been told. */
  readonly times: Map<number, number>;
  /** The members of gates that it entered by a message, by id. */
  readonly guests: Map<string, GateEntry>;
}

/** What outlives a reload, as the counters do: workers by their epoch. */
export type Holders = Map<string, Holder>;

/** The owner's counters, and what workers ask of them. */
export interface Leases {
  /** Before it refuses, it recalls what workers have leased and not used. */
  readonly counters: Counters;
  /** Handles a worker's report. */
  report(epoch: string, report: Report): Reported;
  /** `take` for a worker. */
  take(epoch: string, windows: readonly WindowTake[], entry: GateEntry | undefined): Awaitable<Admission>;
  /** `leave` for a worker. */
  leave(epoch: string, entry: GateEntry): void;
  /** A worker has died: its places are free, and what it has leased and not reported counts as used from now. */
  left(epoch: string): void;
}

/** Options of leases. */
export interface LeaseTools {
  readonly counters: MemoryCounters;
  readonly holders: Holders;
  readonly peers: Pick<Peers, 'ask' | 'count'>;
  readonly clock: Clock;
}

export function createLeases({ counters, holders, peers, clock }: LeaseTools): Leases {
  /** Names of which nothing is leased now. */
  const paused = new Set<string>();
  /** Names that are being recalled. */
  const recalling = new Map<string, Promise<unknown>>();
  /** The next recall: all of one turn of the event loop are one message. */
  let next: { readonly names: string[]; readonly done: Promise<unknown> } | undefined;

  const nowMs = (): number => Math.ceil(clock.mono());

  function holderOf(epoch: string): Holder {
    let holder = holders.get(epoch);
    if (holder === undefined) {
      holder = { windows: new Map(), gates: new Map(), times: new Map(), guests: new Map() };
      holders.set(epoch, holder);
    }
    return holder;
  }

  function leaseUnits({ windows }: Holder, { name, windowMs }: WindowReport, by: number): void {
    if (by === 0) return;
    const lease = windows.get(name) ?? { units: 0, windowMs };
    lease.units += by;
    if (lease.units === 0) windows.delete(name);
    else windows.set(name, lease);
    counters.lease(name, by);
  }

  function leasePlaces({ gates }: Holder, { name }: GateReport, by: number): void {
    if (by === 0) return;
    const places = (gates.get(name) ?? 0) + by;
    if (places === 0) gates.delete(name);
    else gates.set(name, places);
    counters.leasePlaces(name, by);
  }

  /** A part of what is left, so that the other workers can lease as much; nothing if it is not worth it. */
  function granted({ name, want, least }: GateReport, room: number): number {
    if (want === 0 || paused.has(name)) return 0;
    const part = Math.min(want, Math.floor(room / (2 * peers.count)));
    return part < least ? 0 : part;
  }

  /** The answers that come in time. */
  function ask(topic: string, message: string | string[]): Promise<readonly unknown[]> {
    return new Promise((resolve) => {
      const cancel = clock.after(ANSWER_MS, () => resolve([]));
      void peers.ask(topic, message).then((answers) => {
        cancel();
        resolve(answers);
      });
    });
  }

  function nextRecall(): NonNullable<typeof next> {
    const names: string[] = [];
    // In the next turn: the answers to earlier reports are on their way before it, and what they lease is recalled, too.
    const done = new Promise<void>((resolve) => {
      setImmediate(() => {
        next = undefined;
        void ask(RECALL, names).then(() => {
          for (const name of names) recalling.delete(name);
          clock.after(PAUSE_MS, () => {
            for (const name of names) paused.delete(name);
          });
          resolve();
        });
      });
    });
    return { names, done };
  }

  /** Resolves when workers have returned what they have not used. Undefined if that was done just now. */
  function recall(names: readonly string[]): Promise<unknown> | undefined {
    const pending: Promise<unknown>[] = [];
    for (const name of names) {
      if (!recalling.has(name) && !paused.has(name)) {
        next ??= nextRecall();
        next.names.push(name);
        recalling.set(name, next.done);
        paused.add(name);
      }
      const running = recalling.get(name);
      if (running !== undefined) pending.push(running);
    }
    return pending.length === 0 ? undefined : Promise.all(pending);
  }

  async function insideOf(gate: string): Promise<number> {
    const counts = await ask(COUNT, gate);
    return counts.reduce<number>((sum, count) => sum + Number(count), counters.inside(gate));
  }

  /** Undefined if nothing that could be recalled is in its way; otherwise resolves when that is done. */
  function makeRoom(windows: readonly WindowTake[], entry: GateEntry | undefined): Promise<unknown> | undefined {
    return holders.size === 0 ? undefined : recall(counters.blocking(windows, entry));
  }

  return {
    counters: {
      take(windows, entry) {
        const admission = counters.take(windows, entry);
        const room = admission.ok ? undefined : makeRoom(windows, entry);
        return room === undefined ? admission : room.then(() => counters.take(windows, entry));
      },
      correct: counters.correct,
      leave: counters.leave,
      look: (window): Awaitable<ReturnType<MemoryCounters['look']>> =>
        counters.leased(window.name) === 0
          ? counters.look(window)
          : ask(REFRESH, window.name).then(() => counters.look(window)),
      inside: (gate) => (counters.leasedPlaces(gate) === 0 ? counters.inside(gate) : insideOf(gate)),
    },

    report(epoch, { number, answered, windows, gates, corrections }) {
      const holder = holderOf(epoch);
      const { times } = holder;
      const atMs = nowMs();
      for (const window of windows) {
        const { name, windowMs, used, returned } = window;
        leaseUnits(holder, window, -used - returned);
        if (used > 0) counters.put(name, windowMs, atMs, used);
      }
      for (const gate of gates) leasePlaces(holder, gate, -gate.returned);
      for (const [window, at, by] of corrections) {
        const takenMs = at < 0 ? times.get(-at) : at;
        if (takenMs !== undefined) counters.adjust(window, takenMs, by);
      }
      for (const earlier of times.keys()) if (earlier <= answered) times.delete(earlier);
      times.set(number, atMs);
      return {
        atMs,
        windows: windows.map((window) => {
          const units = granted(window, counters.room(window));
          leaseUnits(holder, window, units);
          return [units, counters.room(window)];
        }),
        gates: gates.map((gate) => {
          const places = granted(gate, counters.places(gate));
          leasePlaces(holder, gate, places);
          return places;
        }),
      };
    },

    take(epoch, windows, entry) {
      const holder = holderOf(epoch);
      const take = (): Admission => {
        const admission = counters.take(windows, entry);
        if (admission.ok && entry !== undefined) holder.guests.set(entry.id, entry);
        return admission;
      };
      const admission = take();
      const room = admission.ok ? undefined : makeRoom(windows, entry);
      if (room === undefined) return admission;
      // Nothing is taken for a worker that has died in the meantime: its gates would never be left.
      return room.then(() => (holders.get(epoch) === holder ? take() : admission));
    },

    leave(epoch, entry) {
      counters.leave(entry);
      holders.get(epoch)?.guests.delete(entry.id);
    },

    left(epoch) {
      const holder = holders.get(epoch);
      if (holder === undefined) return;
      holders.delete(epoch);
      for (const entry of holder.guests.values()) counters.leave(entry);
      for (const [gate, places] of holder.gates) counters.leasePlaces(gate, -places);
      for (const [window, { units, windowMs }] of holder.windows) {
        counters.lease(window, -units);
        counters.put(window, windowMs, nowMs(), units);
      }
    },
  };
}
