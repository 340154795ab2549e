/** Ends sessions and verifications when the second factors of an account change. */
import { Sessions, Tickets } from '../../core/contracts/sessions.ts';
import type { Host, Step } from '../../core/plugin.ts';

/** Creates the steps that end all sessions except `session`, which needs a new verification, and all tickets. */
export function createEndings(host: Host) {
  const sessions = host.use(Sessions);
  const tickets = host.use(Tickets);
  return (accountId: number, session?: number | undefined): readonly Step[] => [
    ...sessions.endSteps(accountId, session),
    ...tickets.voidSteps(accountId),
  ];
}
export type Endings = ReturnType<typeof createEndings>;
