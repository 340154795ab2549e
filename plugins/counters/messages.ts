/** What a worker and the owner tell each other about counters: JSON, one message for each operation. */
import type { Admission, GateEntry, WindowState, WindowTake } from '../../core/contracts/counters.ts';
import type { Json } from '../../core/plugin.ts';

/** The topics. */
export const TAKE = 'counters.take';
export const CORRECT = 'counters.correct';
export const LEAVE = 'counters.leave';
export const LOOK = 'counters.look';
export const INSIDE = 'counters.inside';

/** Asks for `take`. */
export interface TakeMessage {
  readonly windows: readonly WindowTake[];
  readonly entry?: GateEntry;
}

/** A correction as differences, so that the owner needs nothing of the admission. */
export interface CorrectMessage {
  readonly atMs: number;
  /** Each window, and what is added to what was taken from it. */
  readonly by: readonly (readonly [window: string, by: number])[];
}

/** A window's state; JSON has no infinity. */
interface SentState extends Omit<WindowState, 'retryAfterMs'> {
  readonly retryAfterMs: number | null;
}

/** Answers `take`. */
export interface SentAdmission {
  readonly refusedBy: number;
  readonly atMs: number;
  readonly windows: readonly SentState[];
}

/** As a message. The types of messages are interfaces, which have no index signature. */
export function toJson(
  message: TakeMessage | CorrectMessage | GateEntry | WindowTake | SentState | SentAdmission,
): Json {
  return message as unknown as Json;
}

/** An admission without what the worker knows by itself. */
export function sentAdmission({ refusedBy, atMs, windows }: Admission): SentAdmission {
  return { refusedBy, atMs, windows: windows.map(sentState) };
}

/** What `sentAdmission` was made of. */
export function admissionOf(sent: SentAdmission, takes: readonly WindowTake[]): Admission {
  const { refusedBy, atMs, windows } = sent;
  return { ok: refusedBy < 0, refusedBy, windows: windows.map(stateOf), takes, atMs, corrected: undefined };
}

/** A window's state for a message. */
export function sentState(state: WindowState): SentState {
  return { ...state, retryAfterMs: state.retryAfterMs === Infinity ? null : state.retryAfterMs };
}

/** What `sentState` was made of. */
export function stateOf(sent: SentState): WindowState {
  return { ...sent, retryAfterMs: sent.retryAfterMs ?? Infinity };
}
