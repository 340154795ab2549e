/** What ends when the second factors of an account change. */
import { Sessions, Tickets } from '../../core/contracts/sessions.ts';
import type { Host, Step } from '../../core/plugin.ts';

/** Makes the steps of it. */
export interface Endings {
  /** Ends all sessions but `session`, which has to be verified anew, and whatever was begun and waits for its second half. */
  steps(accountId: number, session?: number | undefined): readonly Step[];
}

/** On sessions and tickets. */
export function createEndings(host: Host): Endings {
  const sessions = host.use(Sessions);
  const tickets = host.use(Tickets);
  return {
    steps: (accountId, session) => [...sessions.endSteps(accountId, session), ...tickets.voidSteps(accountId)],
  };
}
