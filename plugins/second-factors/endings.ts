/** Ends sessions and verifications when the second factors of an account change. */
import { Sessions, Tickets } from '../../core/contracts/sessions.ts';
import type { Host, Step } from '../../core/plugin.ts';

/** Creates steps. */
export interface Endings {
  /** Ends all sessions except `session`, which needs a new verification, and all tickets. */
  steps(accountId: number, session?: number | undefined): readonly Step[];
}

export function createEndings(host: Host): Endings {
  const sessions = host.use(Sessions);
  const tickets = host.use(Tickets);
  return {
    steps: (accountId, session) => [...sessions.endSteps(accountId, session), ...tickets.voidSteps(accountId)],
  };
}
