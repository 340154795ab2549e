/** Messages between a worker and the owner about counters: JSON, one message per operation. */
import type { Admission, GateEntry, WindowState, WindowTake } from '../../core/contracts/counters.ts';
import type { Json } from '../../core/plugin.ts';

/** The topics. */
export const TAKE = 'counters.take';
export const CORRECT = 'counters.correct';
export const LEAVE = 'counters.leave';
export const LOOK = 'counters.look';
export const INSIDE = 'counters.inside';

/** Requests `take`. */
export interface TakeMessage {
  readonly windows: readonly WindowTake[];
  readonly entry?: GateEntry;
}

/** A correction as differences, so that the owner does not need the admission. */
export interface CorrectMessage {
  readonly atMs: number;
  /** The amount to add to each window. */
  readonly by: readonly (readonly [window: string, by: number])[];
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
  message: TakeMessage | CorrectMessage | GateEntry | WindowTake | SentState | SentAdmission,
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
