/**
 * The counters of a worker. It leases slices of busy windows and gates from the owner (`leases.ts`), admits calls from them at once, and reports
 * what it has used, added up. What its slices do not cover is one message to the owner, and one of its answers.
 */
import type { Admission, Counters, Gate, GateEntry, WindowState, WindowTake } from '../../core/contracts/counters.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { Clock, GatewayError, Json, PeerOwner } from '../../core/plugin.ts';
import {
  admissionOf,
  INSIDE,
  LEAVE,
  LOOK,
  REPORT,
  type Report,
  type Reported,
  type SentAdmission,
  stateOf,
  TAKE,
  toJson,
} from './messages.ts';
import { GateSlice, type TakenAt, TICK_MS, WindowSlice } from './slices.ts';

/** The timeout of an operation, after which the call is refused. */
const WAIT_MS = 2_000;
/** The maximum number of slices of windows, and of gates; the calls of other names are messages to the owner. */
const MOST_SLICES = 10_000;

/** An admission from slices. */
interface SliceAdmission extends Admission {
  /** When it was taken from each window. */
  readonly takenAt: readonly TakenAt[];
}

/** The counters of a worker, and what the owner asks it. */
export interface WorkerCounters extends Counters {
  /** The owner recalls: reports what was used of these windows and gates, and returns the rest. */
  giveBack(names: readonly string[]): void;
  /** Reports what was used of a window. */
  refresh(window: string): void;
  /** How many calls are inside a gate on places that this worker leases. */
  count(gate: string): number;
  /** Returns everything that is not in use, because the worker ends or reloads. */
  giveAllBack(): void;
}

export function createWorkerCounters(owner: PeerOwner, clock: Clock): WorkerCounters {
  const windows = new Map<string, WindowSlice>();
  const gates = new Map<string, GateSlice>();
  /** Corrections that are not yet reported: differences by when it was taken, by window. */
  const corrections = new Map<string, Map<TakenAt | number, number>>();
  /** The ids of calls that entered by a message. */
  const entered = new Set<string>();
  let reports = 0;
  let answered = 0;
  let isTicking = false;
  /** What is reported at the end of this turn. */
  let soon: string[] = [];

  /** Sends a request, and refuses (503) after the timeout. `late`: handles an answer that comes later. */
  function ask<T>(topic: string, message: Json, late: (answer: T) => void = () => {}): Promise<T> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const stop = clock.after(WAIT_MS, () => {
        isOver = true;
        reject(unreachable());
      });
      owner.ask(topic, message).then(
        (answer) => {
          stop();
          if (isOver) late(answer as T);
          else resolve(answer as T);
        },
        () => {
          stop();
          reject(unreachable());
        },
      );
    });
  }

  /** The slice of a window that this call and later ones want; undefined if there are too many. */
  function windowOf(take: WindowTake): WindowSlice | undefined {
    let slice = windows.get(take.name);
    if (slice === undefined && windows.size < MOST_SLICES) {
      slice = new WindowSlice(take);
      windows.set(take.name, slice);
      keepTicking();
    }
    return slice;
  }

  function gateOf(gate: Gate): GateSlice | undefined {
    let slice = gates.get(gate.name);
    if (slice === undefined && gates.size < MOST_SLICES) {
      slice = new GateSlice(gate);
      gates.set(gate.name, slice);
      keepTicking();
    }
    return slice;
  }

  /** Notes the demand. Returns whether slices cover all of it. */
  function covers(takes: readonly WindowTake[], entry: GateEntry | undefined): boolean {
    let isCovered = true;
    for (let i = 0; i < takes.length; i++) {
      const take = takes[i]!;
      const slice = windowOf(take);
      slice?.note(take.cost);
      if (slice === undefined || !slice.obeys(take.limit) || slice.free < take.cost) isCovered = false;
    }
    if (entry === undefined) return isCovered;
    for (let i = 0; i < entry.gates.length; i++) {
      const gate = entry.gates[i]!;
      const slice = gateOf(gate);
      slice?.note();
      if (slice === undefined || !slice.obeys(gate.limit) || (slice.free < 1 && !slice.inside.has(entry.id)))
        isCovered = false;
    }
    return isCovered;
  }

  /** Takes from slices that cover it. */
  function takeHere(takes: readonly WindowTake[], entry: GateEntry | undefined): SliceAdmission {
    const states: WindowState[] = [];
    const takenAt: TakenAt[] = [];
    for (let i = 0; i < takes.length; i++) {
      const { name, cost, windowMs, limit } = takes[i]!;
      const slice = windows.get(name)!;
      slice.free -= cost;
      slice.used += cost;
      takenAt.push(slice.takenAt);
      const remaining = Math.min(Math.max(0, slice.room) + slice.free, limit - cost);
      states.push({ ok: true, remaining, retryAfterMs: 0, resetMs: windowMs });
    }
    if (entry !== undefined)
      for (let i = 0; i < entry.gates.length; i++) gates.get(entry.gates[i]!.name)!.enter(entry.id);
    refillShort(takes, entry);
    return { ok: true, refusedBy: -1, windows: states, takes, atMs: 0, corrected: undefined, takenAt };
  }

  /** Leases more in this turn of the event loop, before slices do not cover the next call. */
  function refillShort(takes: readonly WindowTake[], entry: GateEntry | undefined): void {
    for (let i = 0; i < takes.length; i++) refill(windows.get(takes[i]!.name));
    if (entry !== undefined) for (let i = 0; i < entry.gates.length; i++) refill(gates.get(entry.gates[i]!.name));
  }

  function refill(slice: WindowSlice | GateSlice | undefined): void {
    if (slice?.isShort !== true) return;
    slice.refill();
    reportSoon(slice.name);
  }

  /** Others wait for what has become free. */
  function returnRecalled(slice: WindowSlice | GateSlice | undefined): void {
    if (slice?.isRecalled !== true) return;
    slice.giveBack();
    if (slice.isDue) reportSoon(slice.name);
  }

  /** All names of one turn of the event loop are in one report. */
  function reportSoon(name: string): void {
    if (soon.push(name) > 1) return;
    setImmediate(reportNow);
  }

  function reportNow(): void {
    const names = [...new Set(soon)];
    soon = [];
    reportOf(names);
  }

  function keepTicking(): void {
    if (isTicking) return;
    isTicking = true;
    clock.after(TICK_MS, () => {
      isTicking = false;
      for (const slice of windows.values()) slice.tick();
      for (const slice of gates.values()) slice.tick();
      reportAll();
      for (const slice of windows.values()) if (slice.isOver) windows.delete(slice.name);
      for (const slice of gates.values()) if (slice.isOver) gates.delete(slice.name);
      if (windows.size + gates.size + corrections.size > 0) keepTicking();
    });
  }

  function reportAll(): void {
    report([...windows.values()], [...gates.values()], [...corrections.keys()]);
  }

  function reportOf(names: readonly string[]): void {
    report(
      names.flatMap((name) => windows.get(name) ?? []),
      names.flatMap((name) => gates.get(name) ?? []),
      names,
    );
  }

  function report(
    ofWindows: readonly WindowSlice[],
    ofGates: readonly GateSlice[],
    corrected: readonly string[],
  ): void {
    const dueWindows = ofWindows.filter(({ isDue }) => isDue);
    const dueGates = ofGates.filter(({ isDue }) => isDue);
    const dueCorrections = corrected.flatMap(takeCorrections);
    if (dueWindows.length + dueGates.length + dueCorrections.length === 0) return;
    const number = ++reports;
    const takenAt = dueWindows.map((slice) => slice.takenAt);
    const message: Report = {
      number,
      answered,
      windows: dueWindows.map((slice) => slice.report(number)),
      gates: dueGates.map((slice) => slice.report()),
      corrections: dueCorrections,
    };
    owner.ask(REPORT, toJson(message)).then(
      (answer) => {
        const { atMs, windows: leased, gates: places } = answer as unknown as Reported;
        answered = number;
        for (const [i, slice] of dueWindows.entries()) {
          const [units, room] = leased[i]!;
          if (takenAt[i]!.at === -number) takenAt[i]!.at = atMs;
          slice.room = room;
          slice.grant(units, message.windows[i]!.limit);
        }
        for (const [i, slice] of dueGates.entries()) slice.grant(places[i]!, message.gates[i]!.limit);
        for (const slice of dueWindows) returnRecalled(slice);
        for (const slice of dueGates) returnRecalled(slice);
      },
      // The owner has ended, and so does this process.
      () => {},
    );
  }

  function takeCorrections(window: string): Report['corrections'] {
    const differences = corrections.get(window);
    if (differences === undefined) return [];
    corrections.delete(window);
    return [...differences]
      .filter(([, by]) => by !== 0)
      .map(([taken, by]) => [window, typeof taken === 'number' ? taken : taken.at, by]);
  }

  function correctAt(window: string, taken: TakenAt | number, by: number): void {
    const differences = corrections.get(window) ?? new Map<TakenAt | number, number>();
    differences.set(taken, (differences.get(taken) ?? 0) + by);
    corrections.set(window, differences);
    // Others may wait for what is given back.
    if (by < 0) reportSoon(window);
    else keepTicking();
  }

  const counters: WorkerCounters = {
    take(takes, entry) {
      if (covers(takes, entry)) return takeHere(takes, entry);
      refillShort(takes, entry);
      return takeThere(takes, entry);
    },

    correct(admission, cost) {
      if (!admission.ok) return;
      const { takenAt } = admission as Partial<SliceAdmission>;
      for (const [i, take] of admission.takes.entries()) {
        const by = cost - (admission.corrected ?? take.cost);
        if (by === 0) continue;
        const taken = takenAt?.[i];
        const slice = taken?.at === 0 ? windowOf(take) : undefined;
        if (slice === undefined) {
          correctAt(take.name, taken ?? admission.atMs, by);
        } else {
          slice.used += by;
          slice.free -= by;
          returnRecalled(slice);
        }
      }
      admission.corrected = cost;
    },

    leave(entry) {
      for (let i = 0; i < entry.gates.length; i++) {
        const slice = gates.get(entry.gates[i]!.name);
        if (slice?.leave(entry.id) === true) returnRecalled(slice);
      }
      if (entered.delete(entry.id)) owner.tell(LEAVE, toJson(entry));
    },

    async look(window) {
      reportOf([window.name]);
      return stateOf(await ask(LOOK, toJson(window)));
    },

    inside: (gate) => ask<number>(INSIDE, gate),

    giveBack(names) {
      for (const name of names) {
        windows.get(name)?.recall();
        gates.get(name)?.recall();
      }
      reportOf(names);
    },

    refresh: (window) => reportOf([window]),

    count: (gate) => gates.get(gate)?.inside.size ?? 0,

    giveAllBack() {
      for (const slice of windows.values()) slice.giveBack();
      for (const slice of gates.values()) slice.giveBack();
      reportAll();
    },
  };

  async function takeThere(takes: readonly WindowTake[], entry: GateEntry | undefined): Promise<Admission> {
    // The call was refused in the meantime: returns what was taken for it.
    const giveBack = (sent: SentAdmission): void => {
      const admission = admissionOf(sent, takes);
      counters.correct(admission, 0);
      if (admission.ok && entry !== undefined) owner.tell(LEAVE, toJson(entry));
    };
    // Corrections and what is returned come before it.
    reportNow();
    if (corrections.size > 0) reportOf(takes.map(({ name }) => name));
    const sent = await ask(TAKE, toJson({ windows: takes, ...(entry !== undefined && { entry }) }), giveBack);
    const admission = admissionOf(sent, takes);
    if (admission.ok && entry !== undefined) entered.add(entry.id);
    return admission;
  }
  return counters;
}

function unreachable(): GatewayError {
  return coreErrors.overloaded('The rate limits cannot be checked right now. Try again in a second.');
}
