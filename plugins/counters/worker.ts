/** The counters of a worker: each operation is one message to the owner, and one of its answers. */
import type { Admission, Counters, GateEntry, WindowState, WindowTake } from '../../core/contracts/counters.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { Clock, GatewayError, Json, PeerOwner } from '../../core/plugin.ts';

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
interface SentAdmission {
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
function admissionOf(sent: SentAdmission, takes: readonly WindowTake[]): Admission {
  const { refusedBy, atMs, windows } = sent;
  return { ok: refusedBy < 0, refusedBy, windows: windows.map(stateOf), takes, atMs, corrected: undefined };
}

/** Encodes a window's state. */
export function sentState(state: WindowState): SentState {
  return { ...state, retryAfterMs: state.retryAfterMs === Infinity ? null : state.retryAfterMs };
}

/** The inverse of `sentState`. */
function stateOf(sent: SentState): WindowState {
  return { ...sent, retryAfterMs: sent.retryAfterMs ?? Infinity };
}

/** The timeout of an operation, after which the call is refused. */
const WAIT_MS = 2_000;

export function createWorkerCounters(owner: PeerOwner, clock: Clock): Counters {
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

  const counters: Counters = {
    async take(windows, entry) {
      // The call was refused in the meantime: returns what was taken for it.
      const giveBack = (sent: SentAdmission): void => {
        const admission = admissionOf(sent, windows);
        counters.correct(admission, 0);
        if (admission.ok && entry !== undefined) counters.leave(entry);
      };
      const sent = await ask(TAKE, toJson({ windows, ...(entry !== undefined && { entry }) }), giveBack);
      return admissionOf(sent, windows);
    },

    correct(admission, cost) {
      if (!admission.ok) return;
      const by = admission.takes.map((take) => [take.name, cost - (admission.corrected ?? take.cost)] as const);
      admission.corrected = cost;
      if (by.some(([, difference]) => difference !== 0)) owner.tell(CORRECT, toJson({ atMs: admission.atMs, by }));
    },

    leave(entry: GateEntry) {
      owner.tell(LEAVE, toJson(entry));
    },

    look: async (window: WindowTake) => stateOf(await ask(LOOK, toJson(window))),

    inside: (gate) => ask<number>(INSIDE, gate),
  };
  return counters;
}

function unreachable(): GatewayError {
  return coreErrors.overloaded('The rate limits cannot be checked right now. Try again in a second.');
}
