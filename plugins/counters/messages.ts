/** The messages between a worker and the owner: operations on the owner's counters, and leases. */
import type { Admission, GateEntry, WindowState, WindowTake } from '../../core/contracts/counters.ts';
import type { Json } from '../../core/plugin.ts';

/** Topics of a worker; each is an operation of the owner. */
export const TAKE = 'counters.take';
export const LEAVE = 'counters.leave';
export const LOOK = 'counters.look';
export const INSIDE = 'counters.inside';
/** With a `Report`; the answer is `Reported`. */
export const REPORT = 'counters.report';
/** Topics of the owner. With the names of windows and gates: the workers report what they have used of them, and return the rest. */
export const RECALL = 'counters.recall';
/** With the name of a window: the workers report what they have used of it. */
export const REFRESH = 'counters.refresh';
/** With the name of a gate: how many calls are inside on places that the worker leases. */
export const COUNT = 'counters.count';

/** Requests `take`. */
export interface TakeMessage {
  readonly windows: readonly WindowTake[];
  readonly entry?: GateEntry;
}

/** What a worker has done with its leases since its last report, added up, and what it wants to lease. */
export interface Report {
  /** Counts the reports of the worker, from 1. */
  readonly number: number;
  /** The last report that was answered. */
  readonly answered: number;
  readonly windows: readonly WindowReport[];
  readonly gates: readonly GateReport[];
  /**
   * Differences to what was taken from a window. `at`: when it was taken by the owner's clock, or, if the worker has not been told yet, the
   * negative number of its report.
   */
  readonly corrections: readonly (readonly [window: string, at: number, by: number])[];
}

/** What is wanted of a window or a gate. */
interface Wanted {
  readonly name: string;
  readonly limit: number;
  /** The amount to lease, and the least that is worth a lease. */
  readonly want: number;
  readonly least: number;
  /** Unused, and leased no more; below zero if more was used than was leased. */
  readonly returned: number;
}

/** The part of one window. */
export interface WindowReport extends Wanted {
  readonly windowMs: number;
  readonly used: number;
}

/** The part of one gate: a place is in use until it is returned. */
export type GateReport = Wanted;

/** The answer to a report. */
export interface Reported {
  /** What was reported as used counts from this time, by the owner's clock. */
  readonly atMs: number;
  /** For each window in the report: what was leased, and what the owner has left. */
  readonly windows: readonly (readonly [leased: number, room: number])[];
  /** For each gate in the report: what was leased. */
  readonly gates: readonly number[];
}

/** A window's state; JSON has no infinity. */
interface SentState extends Omit<WindowState, 'retryAfterMs'> {
  readonly retryAfterMs: number | null;
}

/** The response to `take`. */
export interface SentAdmission {
  readonly refusedBy: number;
  readonly atMs: number;
  readonly windows: readonly SentState[];
}

/** Converts to a message type: interfaces have no index signature. */
export function toJson(
  message: TakeMessage | Report | Reported | GateEntry | WindowTake | SentState | SentAdmission,
): Json {
  return message as unknown as Json;
}

/** An admission without the parts that the worker knows. */
export function sentAdmission({ refusedBy, atMs, windows }: Admission): SentAdmission {
  return { refusedBy, atMs, windows: windows.map(sentState) };
}

/** The inverse of `sentAdmission`. */
export function admissionOf(sent: SentAdmission, takes: readonly WindowTake[]): Admission {
  const { refusedBy, atMs, windows } = sent;
  return { ok: refusedBy < 0, refusedBy, windows: windows.map(stateOf), takes, atMs, corrected: undefined };
}

/** Encodes a window's state. */
export function sentState(state: WindowState): SentState {
  return { ...state, retryAfterMs: state.retryAfterMs === Infinity ? null : state.retryAfterMs };
}

/** The inverse of `sentState`. */
export function stateOf(sent: SentState): WindowState {
  return { ...sent, retryAfterMs: sent.retryAfterMs ?? Infinity };
}
