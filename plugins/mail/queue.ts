/** Letters on their way: a few at once, a few tries each, and no more waiting than anybody would read. */
import type { Letter } from '../../core/contracts/mail.ts';
import type { Host } from '../../core/plugin.ts';

const AT_ONCE = 4;
const MOST_WAITING = 200;
/** Between one try and the next. */
const PAUSES_MS = [2_000, 10_000];

/** Sends one after the other. */
export interface Queue {
  /** Resolves when it was delivered; rejects where that failed for good, which is logged, or too many wait. */
  send(letter: Letter): Promise<void>;
  /** Takes no more; resolves when everything was tried, without pauses. */
  stop(): Promise<void>;
}

/** Makes the queue in front of `deliver`. */
export function createQueue({ clock, log }: Host, deliver: (letter: Letter) => Promise<void>): Queue {
  const line: (() => void)[] = [];
  const underWay = new Set<Promise<void>>();
  const pausing = new Set<() => void>();
  let busy = 0;
  let stopped = false;

  function pause(ms: number): Promise<void> {
    if (stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const goOn = (): void => {
        cancel();
        pausing.delete(goOn);
        resolve();
      };
      const cancel = clock.after(ms, goOn);
      pausing.add(goOn);
    });
  }

  async function tryAll(letter: Letter): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        return await deliver(letter);
      } catch (error) {
        const waitMs = PAUSES_MS[tries];
        if (waitMs === undefined || isFinal(error)) {
          log.warn('a letter could not be sent', { to: letter.to, subject: letter.subject, error });
          throw error;
        }
        await pause(waitMs);
      }
    }
  }

  async function inTurn(letter: Letter): Promise<void> {
    if (busy < AT_ONCE) busy++;
    else await new Promise<void>((resolve) => line.push(resolve));
    try {
      await tryAll(letter);
    } finally {
      // Whoever is next takes over this place.
      const next = line.shift();
      if (next === undefined) busy--;
      else next();
    }
  }

  return {
    async send(letter) {
      if (stopped || line.length >= MOST_WAITING) {
        log.warn('a letter was not sent: too many wait already', { to: letter.to, subject: letter.subject });
        throw new Error('too many letters wait already');
      }
      const sending = inTurn(letter);
      const settled = sending.catch(() => {}).finally(() => underWay.delete(settled));
      underWay.add(settled);
      return sending;
    },
    async stop() {
      stopped = true;
      for (const goOn of [...pausing]) goOn();
      await Promise.all(underWay);
    },
  };
}

/** The server has said no, and would say so again. */
function isFinal(error: unknown): boolean {
  const { responseCode } = error as { readonly responseCode?: number };
  return responseCode !== undefined && responseCode >= 500;
}
