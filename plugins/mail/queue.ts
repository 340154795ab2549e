/** The queue of outgoing emails: a few at once, a few attempts each, and a bounded number that wait. */
import type { Letter } from '../../core/contracts/mail.ts';
import type { Host } from '../../core/plugin.ts';

const AT_ONCE = 4;
const MOST_WAITING = 200;
/** Pauses between attempts. */
const PAUSES_MS = [2_000, 10_000];

/** Creates the queue for `deliver`. */
export function createQueue({ clock, log }: Host, deliver: (letter: Letter) => Promise<void>) {
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
          log.warn('could not send an email', { to: letter.to, subject: letter.subject, error });
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
      // The next email takes over this slot.
      const next = line.shift();
      if (next === undefined) busy--;
      else next();
    }
  }

  return {
    /** Resolves when the email was delivered; rejects if that failed permanently, which is logged, or if too many wait. */
    async send(letter: Letter): Promise<void> {
      if (stopped || line.length >= MOST_WAITING) {
        log.warn('email not sent: too many emails are waiting', { to: letter.to, subject: letter.subject });
        throw new Error('too many emails are waiting');
      }
      const sending = inTurn(letter);
      const settled = sending.catch(() => {}).finally(() => underWay.delete(settled));
      underWay.add(settled);
      return sending;
    },
    /** Rejects new emails; resolves when every waiting one was tried once more, without pauses. */
    async stop(): Promise<void> {
      stopped = true;
      for (const goOn of [...pausing]) goOn();
      await Promise.all(underWay);
    },
  };
}

/** The server refused permanently (5xx). */
function isFinal(error: unknown): boolean {
  const { responseCode } = error as { readonly responseCode?: number };
  return responseCode !== undefined && responseCode >= 500;
}
