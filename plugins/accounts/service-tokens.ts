/** Service tokens: created, listed, revoked, and found by their secrets. */

import { notWritten } from '../../core/contracts/errors.ts';
import type { Account, Role, ServiceScope, ServiceToken } from '../../core/contracts/identity.ts';
import { SERVICE_TOKEN_MOST, SERVICE_TOKEN_PREFIX, type ServiceTokens } from '../../core/contracts/service-tokens.ts';
import type { Host } from '../../core/plugin.ts';
import { canonicalRange, createAddressList, LATEST_MS, readName } from '../../core/sdk.ts';
import { errors } from './errors.ts';
import { groupIn } from './people.ts';
import { hashOf, newSecret } from './secrets.ts';
import type { SteadyTime } from './steady-time.ts';

const MOST_PER_ACCOUNT = 100;
/** The resolution at which the last use is stored. */
const USED_EVERY_MS = 60_000;
/** How long ended tokens are kept. */
const TOLD_FOR_MS = 365 * 86_400_000;

interface TokenRow {
  readonly id: number;
  readonly name: string;
  readonly account_id: number;
  readonly scopes: string;
  readonly addresses: string | null;
  readonly suffix: string;
  readonly created_ms: number;
  readonly expires_ms: number;
  readonly used_ms: number | null;
  readonly used_ip: string;
  readonly revoked_ms: number | null;
}
const COLUMNS = 'id, name, account_id, scopes, addresses, suffix, created_ms, expires_ms, used_ms, used_ip, revoked_ms';

/** The service, and its cleanup. */
export interface ServiceTokenBook extends ServiceTokens {
  /** Deletes old tokens. */
  sweep(): Promise<void>;
}

export function createServiceTokens({ store }: Host, now: SteadyTime): ServiceTokenBook {
  return {
    async create({ name: given, accountId, scopes, addresses, expiresMs }, along = () => []) {
      const name = readName(given);
      checkAddresses(addresses);
      const secret = SERVICE_TOKEN_PREFIX + newSecret();
      const createdMs = now();
      const suffix = secret.slice(-4);
      const text = addresses === undefined ? null : JSON.stringify(addresses);
      for (;;) {
        const last = await store.one<{ id: number | null }>('SELECT MAX(id) AS id FROM service_token');
        const id = (last?.id ?? 0) + 1;
        const failed = await store.atomic([
          {
            sql: `INSERT INTO service_token (${COLUMNS}, hash)
              SELECT ?, ?, ?, ?, ?, ?, ?, ?, NULL, '', NULL, ? WHERE
              (SELECT COUNT(*) FROM service_token WHERE account_id = ? AND revoked_ms IS NULL AND expires_ms > ?) < ${MOST_PER_ACCOUNT}
              ON CONFLICT DO NOTHING`,
            params: [
              ...[id, name, accountId, JSON.stringify(scopes), text, suffix, createdMs, expiresMs, hashOf(secret)],
              ...[accountId, createdMs],
            ],
            must: 'new',
          },
          ...along(id),
        ]);
        if (failed === undefined) {
          const unused = { usedMs: undefined, usedIp: '', revokedMs: undefined };
          return { secret, token: { id, name, accountId, scopes, addresses, suffix, createdMs, expiresMs, ...unused } };
        }
        if (failed !== 'new') throw notWritten(failed);
        const taken = await store.one('SELECT id FROM service_token WHERE id = ?', id);
        if (taken === undefined) throw errors.too_many_service_tokens(MOST_PER_ACCOUNT);
        // Another request took the number at the same moment: tries the next one.
      }
    },

    async list(accountId) {
      const rows = await store.all<TokenRow>(
        `SELECT ${COLUMNS} FROM service_token ${accountId === undefined ? '' : 'WHERE account_id = ?'} ORDER BY id DESC`,
        ...(accountId === undefined ? [] : [accountId]),
      );
      return rows.map(toToken);
    },

    async revoke(id, along = []) {
      const atMs = now();
      const failed = await store.atomic([
        {
          sql: 'UPDATE service_token SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL AND expires_ms > ?',
          params: [atMs, id, atMs],
          must: 'token',
        },
        ...along,
      ]);
      if (failed !== undefined && failed !== 'token') throw notWritten(failed);
      return failed === undefined;
    },

    async find(secret, ip) {
      const atMs = now();
      const row = await store.one<
        TokenRow & { account_name: string; role: Role; group_name: string; account_created_ms: number }
      >(
        `SELECT ${COLUMNS.replace(/\w+/g, 't.$&')}, a.name AS account_name, a.role, a.group_name,
          a.created_ms AS account_created_ms
        FROM service_token AS t JOIN account AS a ON a.id = t.account_id
        WHERE t.hash = ? AND t.revoked_ms IS NULL AND t.expires_ms > ? AND a.enabled = 1 AND a.role <> 'member'`,
        hashOf(secret),
        atMs,
      );
      if (row === undefined) return undefined;
      const token = toToken(row);
      if (token.addresses !== undefined && !createAddressList(token.addresses)(ip)) {
        throw errors.address_not_allowed(token.name, ip);
      }
      if (atMs - (token.usedMs ?? 0) >= USED_EVERY_MS) {
        const sql =
          'UPDATE service_token SET used_ms = ?, used_ip = ? WHERE id = ? AND (used_ms IS NULL OR used_ms < ?)';
        await store.run(sql, atMs, ip, token.id, atMs);
      }
      const { account_id: id, account_name: name, role, account_created_ms: createdMs } = row;
      const account: Account = { id, name, role, enabled: true, createdMs, ...groupIn(row) };
      return { account, token };
    },

    async sweep() {
      const endedMs = now() - TOLD_FOR_MS;
      await store.run('DELETE FROM service_token WHERE expires_ms <= ? OR revoked_ms <= ?', endedMs, endedMs);
    },
  };
}

/** Refuses (400) invalid ranges, and an empty list, which would allow no address. */
function checkAddresses(addresses: readonly string[] | undefined): void {
  if (addresses?.length === 0) throw errors.invalid_token_addresses('The list of addresses is empty.');
  if (addresses !== undefined && addresses.length > SERVICE_TOKEN_MOST.addresses) {
    throw errors.invalid_token_addresses(`At most ${SERVICE_TOKEN_MOST.addresses} addresses.`);
  }
  for (const text of addresses ?? []) {
    const range = canonicalRange(text);
    if ('problem' in range) throw errors.invalid_token_addresses(`${range.problem}.`);
  }
}

function toToken(row: TokenRow): ServiceToken {
  return {
    id: row.id,
    name: row.name,
    accountId: row.account_id,
    scopes: JSON.parse(row.scopes) as readonly ServiceScope[],
    addresses: row.addresses === null ? undefined : (JSON.parse(row.addresses) as readonly string[]),
    suffix: row.suffix,
    createdMs: row.created_ms,
    // Earlier versions accepted later ones from the command line.
    expiresMs: Math.min(row.expires_ms, LATEST_MS),
    usedMs: row.used_ms ?? undefined,
    usedIp: row.used_ip,
    revokedMs: row.revoked_ms ?? undefined,
  };
}
