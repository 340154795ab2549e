/** What other plugins may ask of the ledger: purses opened, filled, emptied, limited, and every layer read. Amounts are micro-quota. */
import { randomUUID } from 'node:crypto';
import { coreErrors, notWritten } from '../../core/contracts/errors.ts';
import { type Balance, inQuota, type Layer, type Ledger, type Purse } from '../../core/contracts/ledger.ts';
import type { Clock, Exchange, Step, Store } from '../../core/plugin.ts';
import { INSERT_ENTRY, LOCK, type Place, placeOf, removable, THIS_BUCKET } from './buckets.ts';
import { type Cause, payDebtSteps, takeBackSteps } from './debt.ts';
import { createEntries, debitsOf } from './entries.ts';
import { errors } from './errors.ts';
import type { Leases } from './leases.ts';
import { Soon } from './soon.ts';
import { LARGEST_GRANT } from './tables.ts';

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

/** Owners that one question is about, at the most. */
const OWNERS = 500;

/** Takes what is there, at most the amount that is bound twice. */
const DEDUCTIBLE = `CASE WHEN ${removable('bucket')} < ? THEN ${removable('bucket')} ELSE ? END`;
const ENTER_DEDUCTION = `${INSERT_ENTRY}
  SELECT ?, 'adjust', kind, owner, window_start, -(${DEDUCTIBLE}), ?, ?
  FROM bucket WHERE ${THIS_BUCKET} AND ${removable('bucket')} > 0 ON CONFLICT DO NOTHING`;
const DEDUCT = `UPDATE bucket SET granted = granted - (${DEDUCTIBLE}) WHERE ${THIS_BUCKET}`;
/** Takes all of the amount, where that is there and nothing is owed. */
const TAKE = `UPDATE bucket SET granted = granted - ? WHERE ${THIS_BUCKET} AND ${removable('bucket')} >= ? AND debt = 0`;
/** The difference between what shall be granted and what is. */
const ENTER_SETTING = `${INSERT_ENTRY}
  SELECT ?, 'adjust', kind, owner, window_start, ? + used + held - granted, ?, ?
  FROM bucket WHERE ${THIS_BUCKET} AND ? + used + held <> granted`;
const SET = `UPDATE bucket SET granted = ? + used + held, unlimited = 0 WHERE ${THIS_BUCKET} AND used + held <= ?`;
const UNLIMIT = `UPDATE bucket SET unlimited = 1 WHERE ${THIS_BUCKET}`;

/** The service, and what calls ask of it. */
export interface OwnLedger extends Ledger {
  /** As `balance`, without asking other processes: what they have leased and no call of theirs holds is shown as held. */
  stored(layer: Layer): Promise<Balance | undefined>;
}

/** Makes the service. */
export function createLedger(of: {
  readonly store: Store;
  readonly clock: Clock;
  readonly perUnit: number;
  readonly welcome: bigint;
  readonly leases: Leases;
  /** What an exchange was charged, and whether a subscription includes it. */
  readonly charged: (x: Exchange) => bigint;
  readonly isIncluded: (x: Exchange) => boolean;
  readonly receipt: Ledger['receipt'];
}): OwnLedger {
  const { store, clock, leases } = of;

  /** Many calls that are refused at once read the same rows. */
  const reading = new Soon<string, BalanceRow | undefined>();

  function read(layer: Layer): Promise<BalanceRow | undefined> {
    const place = placeOf(layer);
    return reading.ask(place.join(' '), () =>
      store.one<BalanceRow>(`SELECT ${COLUMNS} FROM bucket WHERE ${THIS_BUCKET}`, ...place),
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

  /** Other processes are asked only where they have something. */
  async function balancesOf(rows: readonly BalanceRow[], places: readonly Place[]): Promise<readonly Balance[]> {
    const asked = places.filter((place, i) => isElsewhere(rows[i]!, place));
    const found = await leases.freeElsewhere(asked);
    const free = new Map(asked.map((place, i) => [place, found[i]!]));
    return rows.map((row, i) => balanceOf(row, places[i]!, free.get(places[i]!) ?? 0n));
  }

  function isElsewhere({ held }: BalanceRow, place: Place): boolean {
    const lease = leases.find(place);
    return BigInt(held) > (lease === undefined ? 0n : lease.amount + lease.moving);
  }

  /** What is leased and not held by a call is not shown as held. `elsewhere`: what other processes have of that. */
  function balanceOf({ granted, used, held, unlimited }: BalanceRow, place: Place, elsewhere: bigint): Balance {
    const lease = leases.find(place);
    const ofCalls = BigInt(held) - elsewhere - (lease === undefined ? 0n : lease.free + lease.moving);
    const ofOwnCalls = lease?.held ?? 0n;
    return {
      granted: BigInt(granted),
      used: BigInt(used),
      // What is moving may not be in the row yet.
      held: ofCalls < ofOwnCalls ? ofOwnCalls : ofCalls,
      unlimited: unlimited === 1,
    };
  }

  /** Refuses to limit a bucket of which a process that does not answer has leased: what it has is without measure, and no money. */
  async function recallWithoutLimit(purse: Purse): Promise<void> {
    const answered = await leases.recall(purse);
    const other = await store.one(
      `SELECT 1 FROM lease WHERE ${THIS_BUCKET} AND amount > 0 AND epoch NOT IN (${answered.map(() => '?').join(', ')})
        AND EXISTS (SELECT 1 FROM bucket WHERE ${THIS_BUCKET} AND unlimited = 1)`,
      ...placeOf(purse),
      ...answered,
      ...placeOf(purse),
    );
    if (other !== undefined) {
      throw errors.lease_not_returned();
    }
  }

  const cause = (ref: string, actor: string): Cause => ({ ref, atMs: clock.now(), actor });

  function grantSteps(purse: Purse, amount: bigint, { ref, atMs, actor }: Cause): readonly Step[] {
    if (amount <= 0n || amount > LARGEST_GRANT) refuseAmount(amount);
    return [
      {
        sql: `${INSERT_ENTRY} VALUES (?, 'credit', ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        params: [ref, ...placeOf(purse), amount, atMs, actor],
        must: 'credited_before',
      },
      {
        sql: `UPDATE bucket SET granted = granted + ? WHERE ${THIS_BUCKET} AND granted <= ?`,
        params: [amount, ...placeOf(purse), LARGEST_GRANT - amount],
        must: 'no_room',
      },
    ];
  }

  function creditSteps(accountId: number, amount: bigint, ref: string, actor: string): readonly Step[] {
    const why = cause(ref, actor);
    return [...grantSteps({ kind: 'account', owner: accountId }, amount, why), ...payDebtSteps(accountId, why)];
  }

  async function setAvailableSteps(
    purse: Purse,
    available: bigint | undefined,
    actor: string,
  ): Promise<readonly Step[]> {
    const place = placeOf(purse);
    if (available === undefined) return [{ sql: UNLIMIT, params: place, must: 'no_room' }];
    if (available < 0n || available > LARGEST_GRANT) refuseAmount(available);
    await recallWithoutLimit(purse);
    return [
      { sql: LOCK, params: place },
      { sql: ENTER_SETTING, params: [`set:${randomUUID()}`, available, clock.now(), actor, ...place, available] },
      { sql: SET, params: [available, ...place, LARGEST_GRANT - available], must: 'no_room' },
    ];
  }

  /** Why a list came back that had no room for an amount, or no purse for it. */
  async function refuseRoom(purse: Purse, amount: bigint): Promise<never> {
    if ((await balance(purse)) !== undefined) refuseAmount(amount);
    throw errors.layer_not_found(purse.kind, purse.owner);
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

    async balances(kind, owners, windowStart = 0) {
      const found = new Map<number, Balance>();
      for (let at = 0; at < owners.length; at += OWNERS) {
        const some = owners.slice(at, at + OWNERS);
        const rows = await store.all<BalanceRow>(
          `SELECT ${COLUMNS} FROM bucket
            WHERE kind = ? AND window_start = ? AND owner IN (${some.map(() => '?').join(', ')})`,
          kind,
          windowStart,
          ...some,
        );
        const places = rows.map(({ owner }) => ({ kind, owner, windowStart }));
        for (const [i, each] of (await balancesOf(rows, places)).entries()) found.set(rows[i]!.owner, each);
      }
      return found;
    },

    async debt(accountId) {
      const row = await read({ kind: 'account', owner: accountId });
      return BigInt(row?.debt ?? 0);
    },

    open(purse, granted, unlimited) {
      if (granted < 0n || granted > LARGEST_GRANT) refuseAmount(granted);
      const place = placeOf(purse);
      const steps: Step[] = [
        {
          sql: 'INSERT INTO bucket (kind, owner, window_start, granted, unlimited) VALUES (?, ?, ?, ?, ?)',
          params: [...place, granted, unlimited ? 1 : 0],
        },
      ];
      if (granted > 0n) {
        steps.push({
          sql: `${INSERT_ENTRY} VALUES (?, 'credit', ?, ?, ?, ?, ?, 'open')`,
          params: [`open:${purse.kind}:${purse.owner}`, ...place, granted, clock.now()],
        });
      }
      return steps;
    },

    async credit(purse, amount, ref, actor, along = []) {
      const steps =
        purse.kind === 'account'
          ? creditSteps(purse.owner, amount, ref, actor)
          : grantSteps(purse, amount, cause(ref, actor));
      const failed = await store.atomic([...steps, ...along]);
      if (failed === 'credited_before') return false;
      if (failed === 'no_room') return refuseRoom(purse, amount);
      if (failed !== undefined) refuseChange(failed);
      return true;
    },

    async takeBackSteps(accountId, amount, ref, actor) {
      if (amount <= 0n || amount > LARGEST_GRANT) refuseAmount(amount);
      await leases.recall({ kind: 'account', owner: accountId });
      return takeBackSteps(accountId, amount, cause(ref, actor));
    },

    async deductSteps(accountId, amount, ref, actor) {
      if (amount <= 0n || amount > LARGEST_GRANT) refuseAmount(amount);
      const account = { kind: 'account', owner: accountId } as const;
      await leases.recall(account);
      const place = placeOf(account);
      return [
        {
          sql: `${INSERT_ENTRY} VALUES (?, 'adjust', ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          params: [deduction(ref), ...place, -amount, clock.now(), actor],
          must: 'deducted_before',
        },
        { sql: TAKE, params: [amount, ...place, amount], must: 'insufficient' },
      ];
    },

    async deduct(accountId, amount, ref, actor, along = []) {
      if (amount <= 0n || amount > LARGEST_GRANT) refuseAmount(amount);
      const name = deduction(ref);
      const account = { kind: 'account', owner: accountId } as const;
      await leases.recall(account);
      const place = placeOf(account);
      const failed = await store.atomic([
        { sql: LOCK, params: place },
        {
          sql: ENTER_DEDUCTION,
          params: [name, amount, amount, clock.now(), actor, ...place],
          must: 'nothing_to_deduct',
        },
        { sql: DEDUCT, params: [amount, amount, ...place] },
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

    async setAvailable(purse, available, actor, along = []) {
      const failed = await store.atomic([...(await setAvailableSteps(purse, available, actor)), ...along]);
      if (failed === 'no_room') await refuseRoom(purse, available ?? 0n);
      if (failed !== undefined) refuseChange(failed);
    },
  };
}

/** What entries of a deduction are called. */
function deduction(ref: string): string {
  return `deducted:${ref}`;
}

function refuseAmount(amount: bigint): never {
  const most = inQuota(LARGEST_GRANT);
  throw coreErrors.invalid_amount(
    `${inQuota(amount)} quota cannot be granted: above zero, and at most ${most} in all.`,
  );
}

/** A step that was to be written together with the change no longer applied. */
function refuseChange(failed: string): never {
  throw notWritten(failed);
}
