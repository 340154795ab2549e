/** The service `Ledger`: balances are created, credited, debited, limited and read. Amounts are micro-quota. */
import { randomUUID } from 'node:crypto';
import { coreErrors, notWritten } from '../../core/contracts/errors.ts';
import {
  type Balance,
  type BalanceChange,
  type BalanceLayer,
  inQuota,
  LARGEST_GRANT,
  type Layer,
  type Ledger,
} from '../../core/contracts/ledger.ts';
import type { Clock, Exchange, Step, Store } from '../../core/plugin.ts';
import { bucketParams, INSERT_ENTRY, lockStep, removable, THIS_BUCKET } from './buckets.ts';
import { Coalescer } from './coalescer.ts';
import { type Cause, DEBT_OF, payDebtSteps, takeBackSteps } from './debt.ts';
import { createEntries, debitsOf } from './entries.ts';
import { errors } from './errors.ts';
import type { Leases } from './leases.ts';

const COLUMNS = `owner, CAST(granted AS TEXT) AS granted, CAST(used AS TEXT) AS used, CAST(held AS TEXT) AS held, unlimited,
  CAST(debt AS TEXT) AS debt`;
interface BalanceRow {
  readonly owner: number;
  readonly granted: string;
  readonly used: string;
  readonly held: string;
  readonly unlimited: number;
  readonly debt: string;
}

/** The most owners of one query. */
const BATCH = 500;

/** The available amount, at most the amount that is bound twice. */
const DEDUCTIBLE = `CASE WHEN ${removable('bucket')} < ? THEN ${removable('bucket')} ELSE ? END`;
const ENTER_DEDUCTION = `${INSERT_ENTRY}
  SELECT ?, 'adjust', kind, owner, window_start, -(${DEDUCTIBLE}), ?, ?
  FROM bucket WHERE ${THIS_BUCKET} AND ${removable('bucket')} > 0 ON CONFLICT DO NOTHING`;
const DEDUCT = `UPDATE bucket SET granted = granted - (${DEDUCTIBLE}) WHERE ${THIS_BUCKET}`;
/** Takes all of the amount, if that is available and nothing is owed. */
const TAKE = `UPDATE bucket SET granted = granted - ? WHERE ${THIS_BUCKET} AND ${removable('bucket')} >= ? AND debt = 0`;
/**
 * The new granted amount and debt if a balance is set to the amount that is bound twice: running calls keep what they hold, and what that is more
 * than the balance is owed.
 */
const GRANTED = 'used + CASE WHEN held > ? THEN held ELSE ? END';
const OWED = 'CASE WHEN held > ? THEN held - ? ELSE 0 END';
/** The differences between these and the current amounts. */
const ENTER_SETTING = `${INSERT_ENTRY}
  SELECT ?, 'adjust', kind, owner, window_start, ${GRANTED} - granted, ?, ?
  FROM bucket WHERE ${THIS_BUCKET} AND ${GRANTED} <> granted`;
const ENTER_OWING = `${INSERT_ENTRY}
  SELECT ?, 'adjust', ${DEBT_OF}, owner, window_start, ${OWED} - debt, ?, ?
  FROM bucket WHERE ${THIS_BUCKET} AND ${OWED} <> debt`;
const SET = `UPDATE bucket SET granted = ${GRANTED}, debt = ${OWED}, unlimited = 0 WHERE ${THIS_BUCKET} AND used + held <= ?`;
/** A key without a limit owes nothing. An account's debt stays. */
const ENTER_FORGIVING = `${INSERT_ENTRY}
  SELECT ?, 'adjust', ${DEBT_OF}, owner, window_start, -debt, ?, ? FROM bucket WHERE ${THIS_BUCKET} AND debt > 0 AND kind = 'key'`;
const UNLIMIT = `UPDATE bucket SET unlimited = 1, debt = CASE kind WHEN 'key' THEN 0 ELSE debt END WHERE ${THIS_BUCKET}`;
/** The bucket is still as it was read. */
const UNCHANGED = `UPDATE bucket SET held = held WHERE ${THIS_BUCKET} AND granted = ? AND used = ? AND held = ? AND debt = ?`;
/** How often a balance is read again because calls changed it before it was set. */
const TRIES = 20;

/** The service, and what calls need of it. */
export interface OwnLedger extends Ledger {
  /** As `balance`, without querying other processes: everything they have leased is shown as held. */
  stored(layer: Layer): Promise<Balance | undefined>;
  /** Pays the debts of an account and of its key from what calls have returned; true if one of them owes nothing any more. */
  payDebts(accountId: number, keyId: number): Promise<boolean>;
}

/** Makes the service. */
export function createLedger(of: {
  readonly store: Store;
  readonly clock: Clock;
  readonly perUnit: number;
  readonly welcome: bigint;
  readonly leases: Leases;
  /** The charge of a request, and whether a subscription includes it. */
  readonly charged: (x: Exchange) => bigint;
  readonly isIncluded: (x: Exchange) => boolean;
  readonly receipt: Ledger['receipt'];
}): OwnLedger {
  const { store, clock, leases } = of;

  /** Calls that are refused at the same time read the same rows. */
  const reading = new Coalescer<string, BalanceRow | undefined>();

  function read(layer: Layer): Promise<BalanceRow | undefined> {
    const bucket = bucketParams(layer);
    return reading.run(bucket.join(' '), () =>
      store.one<BalanceRow>(`SELECT ${COLUMNS} FROM bucket WHERE ${THIS_BUCKET}`, ...bucket),
    );
  }

  async function stored(layer: Layer): Promise<Balance | undefined> {
    const row = await read(layer);
    return row && balanceOf(row, layer, 0n);
  }

  async function balance(layer: Layer): Promise<Balance | undefined> {
    const row = await read(layer);
    return row && (await balancesOf([row], [layer]))[0];
  }

  /** The balances of rows. Other processes are queried only for buckets that they have leased from. */
  async function balancesOf(rows: readonly BalanceRow[], layers: readonly Layer[]): Promise<readonly Balance[]> {
    const leased = layers.filter((layer, i) => isLeasedElsewhere(rows[i]!, layer));
    const found = await leases.freeElsewhere(leased);
    const free = new Map(leased.map((layer, i) => [layer, found[i]!]));
    return rows.map((row, i) => balanceOf(row, layers[i]!, free.get(layers[i]!) ?? 0n));
  }

  function isLeasedElsewhere({ held }: BalanceRow, layer: Layer): boolean {
    const lease = leases.find(layer);
    return BigInt(held) > (lease === undefined ? 0n : lease.amount + lease.moving);
  }

  /** Leased amounts that no call has reserved are not shown as held. `elsewhere`: such amounts in other processes. */
  function balanceOf({ granted, used, held, unlimited, debt }: BalanceRow, layer: Layer, elsewhere: bigint): Balance {
    const lease = leases.find(layer);
    const ofCalls = BigInt(held) - elsewhere - (lease === undefined ? 0n : lease.free + lease.moving);
    const ofOwnCalls = lease?.held ?? 0n;
    return {
      granted: BigInt(granted),
      used: BigInt(used),
      // An amount that is being moved may not be in the row yet.
      held: ofCalls < ofOwnCalls ? ofOwnCalls : ofCalls,
      unlimited: unlimited === 1,
      ...(debt !== '0' && { debt: BigInt(debt) }),
    };
  }

  /** Pays a debt; true if nothing is owed any more. */
  async function payDebt(layer: BalanceLayer): Promise<boolean> {
    const row = await read(layer);
    if (row === undefined || row.debt === '0' || freeOf(row) <= 0n) return false;
    await store.atomic([lockStep(layer), ...payDebtSteps(layer, cause(`debt:${randomUUID()}`, 'ledger'))]);
    return (await read(layer))?.debt === '0';
  }

  /**
   * Refuses to limit a bucket without a limit while a process that has leased from it does not answer, because that lease could exceed the new limit.
   */
  async function recallWithoutLimit(layer: BalanceLayer): Promise<void> {
    const answered = await leases.recall(layer);
    const other = await store.one(
      `SELECT 1 FROM lease WHERE ${THIS_BUCKET} AND amount > 0 AND epoch NOT IN (${answered.map(() => '?').join(', ')})
        AND EXISTS (SELECT 1 FROM bucket WHERE ${THIS_BUCKET} AND unlimited = 1)`,
      ...bucketParams(layer),
      ...answered,
      ...bucketParams(layer),
    );
    if (other !== undefined) {
      throw errors.lease_not_returned();
    }
  }

  const cause = (ref: string, actor: string): Cause => ({ ref, atMs: clock.now(), actor });

  function grantSteps(layer: BalanceLayer, amount: bigint, { ref, atMs, actor }: Cause): readonly Step[] {
    requireAmount(amount);
    return [
      {
        sql: `${INSERT_ENTRY} VALUES (?, 'credit', ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        params: [ref, ...bucketParams(layer), amount, atMs, actor],
        must: 'credited_before',
      },
      {
        sql: `UPDATE bucket SET granted = granted + ? WHERE ${THIS_BUCKET} AND granted <= ?`,
        params: [amount, ...bucketParams(layer), LARGEST_GRANT - amount],
        must: 'no_room',
      },
    ];
  }

  function creditSteps(accountId: number, amount: bigint, ref: string, actor: string): readonly Step[] {
    const why = cause(ref, actor);
    const account = { kind: 'account', owner: accountId } as const;
    return [...grantSteps(account, amount, why), ...payDebtSteps(account, why)];
  }

  async function setAvailableSteps(
    layer: BalanceLayer,
    available: bigint | undefined,
    actor: string,
  ): Promise<readonly Step[]> {
    const bucket = bucketParams(layer);
    const why = cause(`set:${randomUUID()}`, actor);
    if (available === undefined) {
      return [
        lockStep(layer),
        { sql: ENTER_FORGIVING, params: [why.ref, why.atMs, actor, ...bucket] },
        { sql: UNLIMIT, params: bucket, must: 'no_room' },
      ];
    }
    if (available < 0n || available > LARGEST_GRANT) refuseAmount(available);
    await recallWithoutLimit(layer);
    return settingSteps(layer, available, why);
  }

  function settingSteps(layer: BalanceLayer, balance: bigint, { ref, atMs, actor }: Cause): readonly Step[] {
    const bucket = bucketParams(layer);
    const twice = [balance, balance];
    const entering = [ref, ...twice, atMs, actor, ...bucket, ...twice];
    return [
      lockStep(layer),
      { sql: ENTER_SETTING, params: entering },
      { sql: ENTER_OWING, params: entering },
      { sql: SET, params: [...twice, ...twice, ...bucket, LARGEST_GRANT - balance], must: 'no_room' },
    ];
  }

  async function setBalance(
    layer: BalanceLayer,
    to: (balance: bigint) => bigint,
    ref: string,
    actor: string,
    along: (change: BalanceChange) => readonly Step[] = () => [],
  ): Promise<BalanceChange> {
    await recallWithoutLimit(layer);
    for (let tries = 1; ; tries++) {
      const row = await read(layer);
      if (row === undefined) throw errors.layer_not_found(layer.kind, layer.owner);
      const [granted, used, held, debt] = [BigInt(row.granted), BigInt(row.used), BigInt(row.held), BigInt(row.debt)];
      const was = granted - used - debt;
      const is = to(was);
      if (is > LARGEST_GRANT) refuseAmount(is);
      const kept = held > is ? held : is;
      const change = { was, is, taken: granted - used - kept, held, owed: kept - is };
      const unchanged = {
        sql: UNCHANGED,
        params: [...bucketParams(layer), granted, used, held, debt],
        must: 'moved',
      };
      const failed = await store.atomic([
        ...(tries < TRIES ? [unchanged] : []),
        ...settingSteps(layer, is, cause(ref, actor)),
        ...along(change),
      ]);
      if (failed === undefined) return change;
      if (failed === 'no_room') return refuseRoom(layer, is);
      if (failed !== 'moved') refuseChange(failed);
    }
  }

  /** Refuses an amount because the bucket has no room for it, or does not exist. */
  async function refuseRoom(layer: BalanceLayer, amount: bigint): Promise<never> {
    if ((await balance(layer)) !== undefined) refuseAmount(amount);
    throw errors.layer_not_found(layer.kind, layer.owner);
  }

  return {
    perUnit: of.perUnit,
    welcome: of.welcome,
    charged: of.charged,
    isIncluded: of.isIncluded,
    receipt: of.receipt,
    debitsOf,
    ...createEntries(store),
    balance,
    stored,
    creditSteps,
    setAvailableSteps,
    setBalance: (owner, ...how) => setBalance({ kind: 'account', owner }, ...how),
    shift: (layer, by, ref, actor, along = []) =>
      setBalance(
        layer,
        (balance) => balance + by,
        ref,
        actor,
        () => along,
      ),

    async payDebts(accountId, keyId) {
      const isPaid = await payDebt({ kind: 'account', owner: accountId });
      return (await payDebt({ kind: 'key', owner: keyId })) || isPaid;
    },

    async balances(kind, owners, windowStart = 0) {
      const found = new Map<number, Balance>();
      for (let at = 0; at < owners.length; at += BATCH) {
        const batch = owners.slice(at, at + BATCH);
        const rows = await store.all<BalanceRow>(
          `SELECT ${COLUMNS} FROM bucket
            WHERE kind = ? AND window_start = ? AND owner IN (${batch.map(() => '?').join(', ')})`,
          kind,
          windowStart,
          ...batch,
        );
        const layers = rows.map(({ owner }) => ({ kind, owner, windowStart }));
        for (const [i, each] of (await balancesOf(rows, layers)).entries()) found.set(rows[i]!.owner, each);
      }
      return found;
    },

    lockStep: (accountId) => lockStep({ kind: 'account', owner: accountId }),

    usedSteps(window, limit, used, ref, actor) {
      if (used <= 0n) return [];
      const bucket = bucketParams(window);
      return [
        {
          sql: `${INSERT_ENTRY} VALUES (?, 'adjust', ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          params: [ref, ...bucket, used, clock.now(), actor],
          must: 'used_before',
        },
        {
          sql: `INSERT INTO bucket (kind, owner, window_start, granted, used) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (kind, owner, window_start) DO UPDATE SET used = bucket.used + excluded.used,
              granted = CASE WHEN bucket.granted < bucket.used + bucket.held + excluded.used
                THEN bucket.used + bucket.held + excluded.used ELSE bucket.granted END`,
          params: [...bucket, limit > used ? limit : used, used],
        },
      ];
    },

    async ownersOf(kinds, read) {
      const rows = await read.all<{ readonly owner: number }>(
        `SELECT DISTINCT owner FROM bucket WHERE kind IN (${kinds.map(() => '?').join(', ')}) ORDER BY owner`,
        ...kinds,
      );
      return rows.map(({ owner }) => owner);
    },

    async debt(accountId) {
      const row = await read({ kind: 'account', owner: accountId });
      return BigInt(row?.debt ?? 0);
    },

    open(layer, granted, unlimited) {
      if (granted < 0n || granted > LARGEST_GRANT) refuseAmount(granted);
      const bucket = bucketParams(layer);
      const steps: Step[] = [
        {
          sql: 'INSERT INTO bucket (kind, owner, window_start, granted, unlimited) VALUES (?, ?, ?, ?, ?)',
          params: [...bucket, granted, unlimited ? 1 : 0],
        },
      ];
      if (granted > 0n) {
        steps.push({
          sql: `${INSERT_ENTRY} VALUES (?, 'credit', ?, ?, ?, ?, ?, 'open')`,
          params: [`open:${layer.kind}:${layer.owner}`, ...bucket, granted, clock.now()],
        });
      }
      return steps;
    },

    async credit(layer, amount, ref, actor, along = []) {
      const steps =
        layer.kind === 'account'
          ? creditSteps(layer.owner, amount, ref, actor)
          : grantSteps(layer, amount, cause(ref, actor));
      const failed = await store.atomic([...steps, ...along]);
      if (failed === 'credited_before') return false;
      if (failed === 'no_room') return refuseRoom(layer, amount);
      if (failed !== undefined) refuseChange(failed);
      return true;
    },

    async takeBackSteps(accountId, amount, ref, actor) {
      requireAmount(amount);
      await leases.recall({ kind: 'account', owner: accountId });
      return takeBackSteps(accountId, amount, cause(ref, actor));
    },

    async deductSteps(accountId, amount, ref, actor) {
      requireAmount(amount);
      const account = { kind: 'account', owner: accountId } as const;
      await leases.recall(account);
      const bucket = bucketParams(account);
      return [
        {
          sql: `${INSERT_ENTRY} VALUES (?, 'adjust', ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          params: [deduction(ref), ...bucket, -amount, clock.now(), actor],
          must: 'deducted_before',
        },
        { sql: TAKE, params: [amount, ...bucket, amount], must: 'insufficient' },
      ];
    },

    async deduct(accountId, amount, ref, actor, along = []) {
      requireAmount(amount);
      const name = deduction(ref);
      const account = { kind: 'account', owner: accountId } as const;
      await leases.recall(account);
      const bucket = bucketParams(account);
      const failed = await store.atomic([
        lockStep(account),
        {
          sql: ENTER_DEDUCTION,
          params: [name, amount, amount, clock.now(), actor, ...bucket],
          must: 'nothing_to_deduct',
        },
        { sql: DEDUCT, params: [amount, amount, ...bucket] },
        ...along,
      ]);
      if (failed !== undefined && failed !== 'nothing_to_deduct') refuseChange(failed);
      const row = await store.one<{ taken: string }>(
        `SELECT CAST(-amount AS TEXT) AS taken FROM entry WHERE ref = ? AND op = 'adjust' AND kind = 'account' AND owner = ?`,
        name,
        accountId,
      );
      return BigInt(row?.taken ?? 0);
    },

    async setAvailable(layer, available, actor, along = []) {
      const failed = await store.atomic([...(await setAvailableSteps(layer, available, actor)), ...along]);
      if (failed === 'no_room') await refuseRoom(layer, available ?? 0n);
      if (failed !== undefined) refuseChange(failed);
    },
  };
}

/** The `ref` of a deduction's entries. */
function deduction(ref: string): string {
  return `deducted:${ref}`;
}

/** What could be removed from a bucket now. */
function freeOf({ granted, used, held, unlimited }: BalanceRow): bigint {
  return unlimited === 1 ? BigInt(granted) : BigInt(granted) - BigInt(used) - BigInt(held);
}

/** Refuses (400) an amount that cannot be credited or taken. */
function requireAmount(amount: bigint): void {
  if (amount <= 0n || amount > LARGEST_GRANT) refuseAmount(amount);
}

function refuseAmount(amount: bigint): never {
  const most = inQuota(LARGEST_GRANT);
  throw coreErrors.invalid_amount(
    `${inQuota(amount)} quota cannot be granted: above zero, and at most ${most} in all.`,
  );
}

/** Refuses a change because a step that was to be written with it no longer applied. */
function refuseChange(failed: string): never {
  throw notWritten(failed);
}
