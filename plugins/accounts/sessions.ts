/** Sessions and personal access tokens. */

import { randomInt } from 'node:crypto';
import { coreErrors, notWritten } from '../../core/contracts/errors.ts';
import type { AccessToken, Account, Role, Session } from '../../core/contracts/identity.ts';
import { SERVICE_TOKEN_PREFIX } from '../../core/contracts/service-tokens.ts';
import type { Sessions } from '../../core/contracts/sessions.ts';
import { Site } from '../../core/contracts/site.ts';
import type { Host, Step } from '../../core/plugin.ts';
import { groupIn } from './people.ts';
import { hashOf, newSecret } from './secrets.ts';
import type { SteadyTime } from './steady-time.ts';

const MOST_PER_ACCOUNT = 10;
/** The lifetime of a verification, and of a recent sign-in. */
const VERIFIED_FOR_MS = 5 * 60_000;
/** The resolution at which the last activity is stored. */
const SEEN_EVERY_MS = 60_000;
const USUAL = { idleMs: 24 * 3_600_000, longestMs: 30 * 86_400_000 };
const USUAL_TOKEN = { longestMs: 90 * 86_400_000 };
/** The maximum stored length of a user agent. */
const LONGEST_USER_AGENT = 300;
const LARGEST_ID = 2 ** 48 - 1;
/** Access tokens of other programs: as long as a UUID without dashes, so that their SHA-256 is enough; `sk-` is that of keys. */
const ADOPTABLE = /^(?!sk-)[\x21-\x7e]{32,200}$/;

interface SessionRow {
  readonly id: number;
  readonly account_id: number;
  readonly method: string;
  readonly ip: string;
  readonly user_agent: string;
  readonly created_ms: number;
  readonly last_seen_ms: number;
  readonly verified_until_ms: number;
}

interface TokenRow {
  readonly account_id: number;
  readonly created_ms: number;
  readonly verified_until_ms: number;
}

const COLUMNS = 'id, account_id, method, ip, user_agent, created_ms, last_seen_ms, verified_until_ms';

interface OwnedRow extends SessionRow {
  readonly name: string;
  readonly role: Role;
  readonly group_name: string;
  readonly account_created_ms: number;
}

/** The service, and its cleanup. */
export interface SessionBook extends Sessions {
  /** Deletes expired rows. */
  sweep(): Promise<void>;
}

export function createSessions(host: Host, now: SteadyTime): SessionBook {
  const { store } = host;
  const terms = (): typeof USUAL => host.find(Site)?.session ?? USUAL;
  const tokenTerm = (): typeof USUAL_TOKEN => host.find(Site)?.accessToken ?? USUAL_TOKEN;

  const toSession = (row: SessionRow): Session => ({
    id: row.id,
    accountId: row.account_id,
    method: row.method,
    ip: row.ip,
    userAgent: row.user_agent,
    createdMs: row.created_ms,
    lastSeenMs: row.last_seen_ms,
    expiresMs: row.created_ms + terms().longestMs,
    verifiedUntilMs: stillCounts(row.verified_until_ms),
    recentUntilMs: stillCounts(row.created_ms + VERIFIED_FOR_MS),
  });

  const toToken = (row: TokenRow): AccessToken => ({
    accountId: row.account_id,
    createdMs: row.created_ms,
    expiresMs: row.created_ms + tokenTerm().longestMs,
    verifiedUntilMs: stillCounts(row.verified_until_ms),
  });

  const isLiveToken = ({ created_ms }: TokenRow): boolean => now() < created_ms + tokenTerm().longestMs;

  function isLive({ created_ms, last_seen_ms }: SessionRow, atMs: number): boolean {
    const { idleMs, longestMs } = terms();
    // A last activity that far in the future: the clock was wrong then, or is now.
    return atMs < created_ms + longestMs && Math.abs(atMs - last_seen_ms) < idleMs;
  }

  /** The end of the five minutes, or 0 if they are over, or begin in the future: after the clock was set back they would last longer. */
  function stillCounts(untilMs: number): number {
    const atMs = now();
    return atMs <= untilMs && untilMs - atMs <= VERIFIED_FOR_MS ? untilMs : 0;
  }

  function endSteps(accountId: number, except?: number): readonly Step[] {
    return [
      { sql: 'DELETE FROM session WHERE account_id = ? AND id <> ?', params: [accountId, except ?? -1] },
      { sql: 'UPDATE session SET verified_until_ms = 0 WHERE account_id = ?', params: [accountId] },
      { sql: 'DELETE FROM access_token WHERE account_id = ?', params: [accountId] },
    ];
  }

  return {
    async open({ accountId, method, ip, userAgent }, along = []) {
      const secret = newSecret();
      const atMs = now();
      for (;;) {
        // Random, so that ids are never reused: a request for one session cannot reach a later one.
        const id = randomInt(1, LARGEST_ID);
        const agent = userAgent.slice(0, LONGEST_USER_AGENT);
        const failed = await store.atomic([
          {
            sql: 'UPDATE account SET last_login_ms = ? WHERE id = ? AND enabled = 1',
            params: [atMs, accountId],
            must: 'enabled',
          },
          {
            sql: `DELETE FROM session WHERE account_id = ? AND id NOT IN (
              SELECT id FROM session WHERE account_id = ? ORDER BY created_ms DESC, id LIMIT ${MOST_PER_ACCOUNT - 1})`,
            params: [accountId, accountId],
          },
          {
            sql: `INSERT INTO session (${COLUMNS}, hash) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING`,
            params: [id, accountId, method, ip, agent, atMs, atMs, hashOf(secret)],
            must: 'new',
          },
          ...along,
        ]);
        if (failed === 'enabled') throw coreErrors.account_disabled();
        if (failed === 'new') continue;
        if (failed !== undefined) throw new Error(`a session could not be opened: ${failed}`);
        const row = await store.one<SessionRow>(`SELECT ${COLUMNS} FROM session WHERE id = ?`, id);
        if (row !== undefined) return { secret, session: toSession(row) };
      }
    },

    async find(secret) {
      const row = await store.one<OwnedRow>(
        `SELECT s.id, s.account_id, s.method, s.ip, s.user_agent, s.created_ms, s.last_seen_ms, s.verified_until_ms,
          a.name, a.role, a.group_name, a.created_ms AS account_created_ms
        FROM session AS s JOIN account AS a ON a.id = s.account_id WHERE s.hash = ? AND a.enabled = 1`,
        hashOf(secret),
      );
      const atMs = now();
      if (row === undefined || !isLive(row, atMs)) return undefined;
      if (atMs - row.last_seen_ms >= SEEN_EVERY_MS) {
        await store.run('UPDATE session SET last_seen_ms = ? WHERE id = ? AND last_seen_ms < ?', atMs, row.id, atMs);
      }
      const { account_id: id, name, role, account_created_ms: createdMs } = row;
      return { session: toSession(row), account: { id, name, role, enabled: true, createdMs, ...groupIn(row) } };
    },

    async list(accountId) {
      const rows = await store.all<SessionRow>(
        `SELECT ${COLUMNS} FROM session WHERE account_id = ? ORDER BY last_seen_ms DESC, id`,
        accountId,
      );
      const atMs = now();
      return rows.filter((row) => isLive(row, atMs)).map(toSession);
    },

    async end(accountId, id) {
      return (await store.run('DELETE FROM session WHERE account_id = ? AND id = ?', accountId, id)) > 0;
    },

    endSteps,

    async verify(id) {
      const secret = newSecret();
      const untilMs = now() + VERIFIED_FOR_MS;
      const sql = 'UPDATE session SET hash = ?, verified_until_ms = ? WHERE id = ?';
      if ((await store.run(sql, hashOf(secret), untilMs, id)) === 0) {
        throw coreErrors.not_signed_in('This session has ended. Sign in again.');
      }
      return { secret, untilMs };
    },

    async verifyAccessToken(accountId) {
      const untilMs = now() + VERIFIED_FOR_MS;
      const sql = 'UPDATE access_token SET verified_until_ms = ? WHERE account_id = ?';
      if ((await store.run(sql, untilMs, accountId)) === 0) {
        throw coreErrors.invalid_access_token('This access token has expired or was revoked. Create another one.');
      }
      return untilMs;
    },

    async renewAccessToken(accountId, along = []) {
      const secret = newSecret();
      const failed = await store.atomic([
        {
          sql: `INSERT INTO access_token (account_id, hash, created_ms, verified_until_ms) VALUES (?, ?, ?, 0)
            ON CONFLICT (account_id) DO UPDATE SET
              hash = excluded.hash, created_ms = excluded.created_ms, verified_until_ms = 0`,
          params: [accountId, hashOf(secret), now()],
        },
        ...along,
      ]);
      if (failed !== undefined) throw notWritten(failed);
      return secret;
    },

    adoptAccessTokenSteps(accountId, secret) {
      if (!ADOPTABLE.test(secret) || secret.startsWith(SERVICE_TOKEN_PREFIX)) return undefined;
      const sql = `INSERT INTO access_token (account_id, hash, created_ms, verified_until_ms) VALUES (?, ?, ?, 0)
        ON CONFLICT DO NOTHING`;
      return [{ sql, params: [accountId, hashOf(secret), now()] }];
    },

    async revokeAccessToken(accountId, along = []) {
      const failed = await store.atomic([
        { sql: 'DELETE FROM access_token WHERE account_id = ?', params: [accountId], must: 'access_token' },
        ...along,
      ]);
      if (failed !== undefined && failed !== 'access_token') throw notWritten(failed);
      return failed === undefined;
    },

    async accessToken(accountId) {
      const sql = 'SELECT account_id, created_ms, verified_until_ms FROM access_token WHERE account_id = ?';
      const row = await store.one<TokenRow>(sql, accountId);
      return row === undefined || !isLiveToken(row) ? undefined : toToken(row);
    },

    async findByAccessToken(secret) {
      const row = await store.one<TokenRow & Omit<Account, 'id' | 'enabled'> & { readonly group_name: string }>(
        `SELECT t.account_id, t.created_ms, t.verified_until_ms, a.name, a.role, a.group_name,
          a.created_ms AS "createdMs"
        FROM access_token AS t JOIN account AS a ON a.id = t.account_id WHERE t.hash = ? AND a.enabled = 1`,
        hashOf(secret),
      );
      if (row === undefined || !isLiveToken(row)) return undefined;
      const { account_id: id, name, role, createdMs } = row;
      return { account: { id, name, role, enabled: true, createdMs, ...groupIn(row) }, accessToken: toToken(row) };
    },

    async sweep() {
      const { idleMs, longestMs } = terms();
      const atMs = now();
      await store.run(
        'DELETE FROM session WHERE created_ms <= ? OR last_seen_ms <= ?',
        atMs - longestMs,
        atMs - idleMs,
      );
      await store.run('DELETE FROM access_token WHERE created_ms <= ?', atMs - tokenTerm().longestMs);
    },
  };
}
