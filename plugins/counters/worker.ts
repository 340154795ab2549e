/** The counters of a worker: each operation is one message to the owner. */
import type { Counters, GateEntry, WindowTake } from '../../core/contracts/counters.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { Clock, GatewayError, Json, PeerOwner } from '../../core/plugin.ts';
import { admissionOf, CORRECT, INSIDE, LEAVE, LOOK, type SentAdmission, stateOf, TAKE, toJson } from './messages.ts';

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
