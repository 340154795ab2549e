/** Accounts, sessions, access tokens and tickets. Creates `root` on the first start. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit } from '../../core/contracts/audit.ts';
import { FirstStart } from '../../core/contracts/first-start.ts';
import { Invitations } from '../../core/contracts/invitations.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Sessions, Tickets } from '../../core/contracts/sessions.ts';
import { Site } from '../../core/contracts/site.ts';
import { definePlugin, GatewayError } from '../../core/plugin.ts';
import { createChore } from '../../core/sdk.ts';
import { createAccounts } from './accounts.ts';
import { createCommands } from './commands.ts';
import { errors } from './errors.ts';
import { createInvitations } from './invitations.ts';
import { createPasswords } from './passwords.ts';
import { createSessions } from './sessions.ts';
import { createSteadyTime } from './steady-time.ts';
import { surrenderSealed } from './surrender.ts';
import { migrations } from './tables.ts';
import { createTickets } from './tickets.ts';

const SWEEP_EVERY_MS = 3_600_000;

export default definePlugin({
  name: 'accounts',
  api: 2,
  errors,
  migrations,
  wants: [Ledger, FirstStart, Site, Audit],
  provides: [Accounts, Sessions, Tickets, Invitations],
  create(host) {
    const passwords = host.lasting({ name: 'accounts.passwords', version: 1, make: createPasswords });
    const now = host.lasting({ name: 'accounts.time', version: 1, make: () => createSteadyTime(host.clock) });
    const sessions = createSessions(host, now);
    const tickets = createTickets(host, now);
    const accounts = createAccounts(host, passwords, sessions, tickets);
    host.provide(Accounts, accounts);
    host.provide(Sessions, sessions);
    host.provide(Tickets, tickets);
    const invitations = createInvitations(host, tickets, now);
    host.provide(Invitations, invitations);
    const sweeping = createChore(host, {
      everyMs: SWEEP_EVERY_MS,
      async work() {
        await sessions.sweep();
        await tickets.sweep();
        await invitations.sweep();
      },
      failure: 'could not delete expired sessions and tickets',
    });

    async function openRoot(): Promise<void> {
      // Deployments may pass an empty variable.
      const password = host.env.TURNPIKE_ROOT_PASSWORD || undefined;
      await accounts.openRoot(password).catch((error: unknown) => {
        if (password === undefined || !(error instanceof GatewayError)) throw error;
        throw error.with({ message: `TURNPIKE_ROOT_PASSWORD: ${error.message}` });
      });
    }

    return {
      commands: createCommands(host, accounts),
      surrender: () => surrenderSealed(host, now),
      async start() {
        accounts.listen();
        if (host.peers.leads()) await openRoot();
        sweeping.start();
      },
      stop: sweeping.stop,
    };
  },
});
