/** The call of a request that a client refuses to send. */
import type { UpstreamCall, UpstreamListener } from '../upstream.ts';

/** A request that is not sent; its listener is called after `send` has returned. */
export class Refusal implements UpstreamCall {
  readonly sent = false;
  #aborted = false;

  constructor(listener: UpstreamListener, reason: string) {
    process.nextTick(() => {
      if (!this.#aborted) listener.fail('connect', reason, { stale: false, unsent: true });
    });
  }

  pause(): void {}
  resume(): void {}

  abort(): void {
    this.#aborted = true;
  }
}
