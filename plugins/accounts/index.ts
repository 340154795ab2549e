/** Accounts, sessions, access tokens, service tokens and tickets. Creates `root` on the first start. */
import { Accounts, PasswordCost } from '../../core/contracts/accounts.ts';
import { Audit } from '../../core/contracts/audit.ts';
import { FirstStart } from '../../core/contracts/first-start.ts';
import { Invitations } from '../../core/contracts/invitations.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { ServiceTokens } from '../../core/contracts/service-tokens.ts';
import { Sessions, Tickets } from '../../core/contracts/sessions.ts';
import { Site } from '../../core/contracts/site.ts';
import { definePlugin, GatewayError, type Host, type JsonObject, type Surrender } from '../../core/plugin.ts';
import { createChore } from '../../core/sdk.ts';
import { createAccounts } from './accounts.ts';
import { createCommands } from './commands.ts';
import { errors } from './errors.ts';
import { createInvitations } from './invitations.ts';
import { COST, createPasswords } from './passwords.ts';
import { createServiceTokens } from './service-tokens.ts';
import { createSessions } from './sessions.ts';
import { createSteadyTime, type SteadyTime } from './steady-time.ts';
import { migrations } from './tables.ts';
import { createTickets } from './tickets.ts';
import { createTokenCommands } from './token-commands.ts';

const SWEEP_EVERY_MS = 3_600_000;

export default definePlugin({
  name: 'accounts',
  api: 2,
  errors,
  migrations,
  wants: [Ledger, FirstStart, Site, Audit, PasswordCost],
  provides: [Accounts, Sessions, Tickets, Invitations, ServiceTokens],
  create(host) {
    const passwords = host.lasting({
      name: 'accounts.passwords',
      version: 1,
      make: () => createPasswords(() => host.find(PasswordCost) ?? COST),
    });
    const now = host.lasting({ name: 'accounts.time', version: 1, make: () => createSteadyTime(host.clock) });
    const sessions = createSessions(host, now);
    const tickets = createTickets(host, now);
    const accounts = createAccounts(host, passwords, sessions, tickets);
    host.provide(Accounts, accounts);
    host.provide(Sessions, sessions);
    host.provide(Tickets, tickets);
    const invitations = createInvitations(host, tickets, now);
    host.provide(Invitations, invitations);
    const serviceTokens = createServiceTokens(host, now);
    host.provide(ServiceTokens, serviceTokens);
    const sweeping = createChore(host, {
      everyMs: SWEEP_EVERY_MS,
      async work() {
        await sessions.sweep();
        await tickets.sweep();
        await invitations.sweep();
        await serviceTokens.sweep();
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
      commands: [...createCommands(host, accounts), ...createTokenCommands(host, accounts, serviceTokens)],
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

/** Tickets, and encrypted settings of accounts. */
async function surrenderSealed({ store, vault }: Host, now: SteadyTime): Promise<readonly Surrender[]> {
  const atMs = now();
  const tickets = await countOf('SELECT COUNT(*) AS n FROM ticket WHERE expires_ms > ?', atMs);
  const open = 'used_ms IS NULL AND revoked_ms IS NULL AND expires_ms > ?';
  const invitations = await countOf(`SELECT COUNT(*) AS n FROM invitation WHERE ${open}`, atMs);
  const rows = await store.all<{ id: number; settings: string }>('SELECT id, settings FROM account');
  const changed = rows.flatMap(({ id, settings: before }) => {
    const settings = JSON.parse(before) as JsonObject;
    const left = Object.entries(settings).filter(([, value]) => typeof value !== 'string' || !vault.isSealed(value));
    if (left.length === Object.keys(settings).length) return [];
    const sql = 'UPDATE account SET settings = ? WHERE id = ?';
    return [{ sql, params: [JSON.stringify(Object.fromEntries(left)), id] }];
  });

  async function countOf(sql: string, ...params: number[]): Promise<number> {
    return (await store.one<{ n: number }>(sql, ...params))?.n ?? 0;
  }

  return [
    {
      what: `${tickets} links and codes that were sent and not used yet (sign-in, email, new password), ${invitations} open invitations among them`,
      steps: [
        { sql: 'DELETE FROM ticket' },
        { sql: `UPDATE invitation SET revoked_ms = ? WHERE ${open}`, params: [atMs, atMs] },
      ],
    },
    {
      what: `webhook secrets of ${changed.length} accounts: their notifications are not signed until they set a new one`,
      steps: changed,
    },
  ];
}
