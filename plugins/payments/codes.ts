/**
 * Redemption codes: 128 random bits each, found by their hash, encrypted so that administrators can read them, redeemable once. Codes of
 * other gateways can be any text.
 */
import { createHash, randomBytes } from 'node:crypto';
import { Audit } from '../../core/contracts/audit.ts';
import { coreErrors, notWritten } from '../../core/contracts/errors.ts';
import { Ledger, MICRO } from '../../core/contracts/ledger.ts';
import type { RedemptionCode, RedemptionCodes } from '../../core/contracts/payments.ts';
import { Records } from '../../core/contracts/records.ts';
import type { Host, Step, Surrender } from '../../core/plugin.ts';
import { all, type Condition, condition, either, mentions, readPage } from '../../core/sdk.ts';
import { errors } from './errors.ts';

interface Row {
  readonly id: number;
  readonly hash: Uint8Array;
  readonly sealed: string;
  readonly name: string;
  readonly quota: string;
  readonly enabled: number;
  readonly created_by: number;
  readonly created_ms: number;
  readonly expires_ms: number | null;
  readonly used_by: number | null;
  readonly used_ms: number | null;
}

const COLUMNS =
  'id, hash, sealed, name, CAST(quota AS TEXT) AS quota, enabled, created_by, created_ms, expires_ms, used_by, used_ms';
const INSERT = `INSERT INTO redemption_code (id, hash, sealed, name, quota, created_by, created_ms, expires_ms, enabled)
  SELECT COALESCE(MAX(id), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ? FROM redemption_code`;
const ADOPT = `${INSERT} WHERE TRUE ON CONFLICT (hash) DO NOTHING`;
const USE = `UPDATE redemption_code SET used_by = ?, used_ms = ?
  WHERE id = ? AND quota = ? AND used_by IS NULL AND enabled = 1 AND deleted_ms IS NULL
    AND (expires_ms IS NULL OR expires_ms > ?)`;
/** Codes that can never be redeemed: used, disabled or expired. */
const DEAD = 'used_by IS NOT NULL OR enabled = 0 OR expires_ms <= ?';

export function createCodes(host: Host): RedemptionCodes & {
  /** Without the master key, codes cannot be shown any more; they can still be redeemed by their hashes. */
  surrender(): Promise<readonly Surrender[]>;
} {
  const { store, clock, vault } = host;
  const ledger = host.use(Ledger);
  const audit = (event: Parameters<Audit['steps']>[0]): readonly Step[] => host.find(Audit)?.steps(event) ?? [];

  async function get(id: number): Promise<RedemptionCode | undefined> {
    const row = await store.one<Row>(`SELECT ${COLUMNS} FROM redemption_code WHERE id = ? AND deleted_ms IS NULL`, id);
    return row && toCode(row);
  }

  const findCode = (code: string): Promise<Row | undefined> =>
    store.one<Row>(`SELECT ${COLUMNS} FROM redemption_code WHERE hash = ? AND deleted_ms IS NULL`, hashOf(code));

  function codeOf({ hash, sealed }: Row): string {
    try {
      return vault.open(placeOf(hash), sealed);
    } catch {
      // It was encrypted with another master key, as after a restore without the key file: it can still be redeemed and disabled.
      return '';
    }
  }

  function toCode(row: Row): RedemptionCode {
    return {
      id: row.id,
      code: codeOf(row),
      name: row.name,
      quota: BigInt(row.quota),
      enabled: row.enabled === 1,
      createdBy: row.created_by,
      createdMs: row.created_ms,
      expiresMs: row.expires_ms ?? undefined,
      usedBy: row.used_by ?? undefined,
      usedMs: row.used_ms ?? undefined,
    };
  }

  return {
    get,

    async surrender() {
      const unused = 'used_by IS NULL AND deleted_ms IS NULL';
      const row = await store.one<{ n: number }>(`SELECT COUNT(*) AS n FROM redemption_code WHERE ${unused}`);
      const what = `the text of ${row?.n ?? 0} unused redemption codes: they cannot be shown again, and can still be redeemed`;
      return [{ what, steps: [{ sql: `UPDATE redemption_code SET sealed = ''` }] }];
    },

    async create({ name, quota, count, expiresMs }, actor, along = []) {
      const nowMs = clock.now();
      checkEnd(expiresMs, nowMs);
      const codes = Array.from({ length: count }, () => randomBytes(16).toString('hex'));
      const steps = codes.map((code) => {
        const hash = hashOf(code);
        const sealed = vault.seal(placeOf(hash), code);
        return { sql: INSERT, params: [hash, sealed, name, quota, actor.accountId ?? 0, nowMs, expiresMs ?? null, 1] };
      });
      const facts = { name, count, quota: Number(quota / MICRO) };
      const failed = await store.atomic([
        ...steps,
        ...audit({ actor, action: 'redemption.create', object: '', facts }),
        ...along,
      ]);
      if (failed !== undefined) throw notWritten(failed);
      return codes;
    },

    async search({ text = '', state, before, offset, limit }) {
      const named = either(
        mentions('name', text),
        condition('id = ?', /^\d{1,15}$/.test(text) ? Number(text) : undefined),
      );
      const filter = all(
        condition('deleted_ms IS NULL'),
        named,
        condition('id < ?', before),
        ...conditionsOf(state, clock.now()),
      );
      const { total, rows } = await readPage<Row>(store, 'redemption_code', COLUMNS, filter, { offset, limit });
      return { total, items: rows.map(toCode) };
    },

    async change(id, { name, quota, expiresMs, enabled }, actor, along = []) {
      const code = await get(id);
      if (code === undefined) throw coreErrors.code_not_found(id);
      if (expiresMs !== null) checkEnd(expiresMs, clock.now());
      const next = {
        name: name ?? code.name,
        quota: quota ?? code.quota,
        expiresMs: expiresMs === undefined ? code.expiresMs : (expiresMs ?? undefined),
        enabled: enabled ?? code.enabled,
      };
      const failed = await store.atomic([
        {
          sql: `UPDATE redemption_code SET name = ?, quota = ?, expires_ms = ?, enabled = ?
            WHERE id = ? AND used_by IS NULL AND deleted_ms IS NULL`,
          params: [next.name, next.quota, next.expiresMs ?? null, next.enabled ? 1 : 0, id],
          must: 'used',
        },
        ...audit({
          actor,
          action: 'redemption.change',
          object: `redemption code ${id}`,
          facts: {
            name: next.name,
            quota: Number(next.quota / MICRO),
            before: Number(code.quota / MICRO),
            enabled: next.enabled,
          },
        }),
        ...along,
      ]);
      if (failed === 'used') throw errors.code_used(id);
      if (failed !== undefined) throw notWritten(failed);
      return { ...code, ...next };
    },

    async remove(id, actor) {
      const failed = await store.atomic([
        {
          sql: `UPDATE redemption_code SET deleted_ms = ?, sealed = '' WHERE id = ? AND deleted_ms IS NULL`,
          params: [clock.now(), id],
          must: 'there',
        },
        ...audit({ actor, action: 'redemption.remove', object: `redemption code ${id}` }),
      ]);
      return failed === undefined;
    },

    async removeDead(actor) {
      const nowMs = clock.now();
      const dead = await store.all<{ id: number }>(
        `SELECT id FROM redemption_code WHERE deleted_ms IS NULL AND (${DEAD})`,
        nowMs,
      );
      if (dead.length === 0) return 0;
      await store.atomic([
        {
          sql: `UPDATE redemption_code SET deleted_ms = ?, sealed = '' WHERE deleted_ms IS NULL AND (${DEAD})`,
          params: [nowMs, nowMs],
        },
        ...audit({ actor, action: 'redemption.remove', object: '', facts: { count: dead.length } }),
      ]);
      return dead.length;
    },

    async adoptSteps({ code, name, quota, expiresMs, enabled }) {
      const hash = hashOf(code);
      if ((await store.one('SELECT 1 AS one FROM redemption_code WHERE hash = ?', hash)) !== undefined)
        return undefined;
      const sealed = vault.seal(placeOf(hash), code);
      const params = [hash, sealed, name, quota, 0, clock.now(), expiresMs ?? null, enabled ? 1 : 0];
      return [{ sql: ADOPT, params, must: 'code_exists' }];
    },

    async withdrawSteps(code) {
      const row = await findCode(code);
      if (row === undefined || row.enabled === 0 || row.used_by !== null) return undefined;
      const sql = 'UPDATE redemption_code SET enabled = 0 WHERE id = ? AND used_by IS NULL';
      return [{ sql, params: [row.id], must: 'code_used' }];
    },

    async redeem(account, written, actor, along = []) {
      const nowMs = clock.now();
      // Own codes are in lower case; those of other gateways are as they were sold.
      const typed = written.trim();
      const row = (await findCode(typed)) ?? (await findCode(typed.toLowerCase()));
      if (row === undefined) return refuseCode();
      const hash = Buffer.from(row.hash);
      const quota = BigInt(row.quota);
      const failed = await store.atomic([
        { sql: USE, params: [account.id, nowMs, row.id, quota, nowMs], must: 'good' },
        ...ledger.creditSteps(account.id, quota, `code:${hash.toString('hex')}`, 'redemption code'),
        ...(host.find(Records)?.eventSteps({
          accountId: account.id,
          kind: 'top-up',
          amount: quota,
          text: `Redeemed the code "${row.name}".`,
          ip: actor.ip,
        }) ?? []),
        ...audit({
          actor,
          action: 'redemption.redeem',
          object: `redemption code ${row.id}`,
          facts: { account: account.id, quota: Number(quota / MICRO) },
        }),
        ...along,
      ]);
      if (failed === 'good' || failed === 'credited_before') refuseCode();
      if (failed !== undefined) throw notWritten(failed);
      return quota;
    },
  };
}

/** The same error for every reason, so that it does not reveal which codes exist. */
function refuseCode(): never {
  throw errors.invalid_code();
}

/** The condition for rows in a state. */
function conditionsOf(
  state: 'unused' | 'disabled' | 'used' | 'expired' | undefined,
  nowMs: number,
): readonly (Condition | undefined)[] {
  const unused = condition('used_by IS NULL');
  switch (state) {
    case 'used':
      return [condition('used_by IS NOT NULL')];
    case 'disabled':
      return [unused, condition('enabled = 0')];
    case 'expired':
      return [unused, condition('enabled = 1'), condition('expires_ms <= ?', nowMs)];
    case 'unused':
      return [unused, condition('enabled = 1'), condition('COALESCE(expires_ms, 9007199254740991) > ?', nowMs)];
    default:
      return [];
  }
}

function checkEnd(expiresMs: number | undefined, nowMs: number): void {
  if (expiresMs === undefined || expiresMs > nowMs) return;
  throw coreErrors
    .invalid_request_error('expired_time must be in the future, or 0 for never.')
    .with({ param: 'expired_time' });
}

function hashOf(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}

/** The vault context of a code. */
function placeOf(hash: Uint8Array): string {
  return `redemption_code.sealed ${Buffer.from(hash).toString('hex')}`;
}
