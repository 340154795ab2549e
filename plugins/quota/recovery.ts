/** Recovery: takes the leases of runs that have ended. What their calls had delivered is charged, the rest goes back to the buckets. */
import type { Records } from '../../core/contracts/records.ts';
import type { Host, Statement, Step, Store } from '../../core/plugin.ts';
import { type Place, placeOf } from './buckets.ts';
import type { Extra } from './holds.ts';
import { Lease } from './lease.ts';
import { recoveredRecord } from './unsettled.ts';

/** Calls, or leases, per atomic list: long enough to share a commit, short enough to leave the store to others. */
const BATCH = 500;

interface RunningRow {
  readonly id: string;
  readonly epoch: string;
  readonly accountId: number;
  readonly keyId: number;
  readonly fromAccount: number;
  readonly amount: string;
  readonly delivered: string;
  readonly style: string;
  readonly model: string;
  readonly stream: number;
  readonly ip: string;
  readonly createdMs: number;
}

interface LeaseRow extends Place {
  readonly epoch: string;
  readonly amount: string;
}

/**
 * Closes what every other run of the gateway than this one has left open: one gateway owns the store, so they have ended. Returns how many
 * calls that were. Throws where one cannot be closed: then the ledger is damaged, and nothing may start on it.
 */
export async function recover(host: Host, records: Records | undefined): Promise<number> {
  const { store, boot } = host;
  const count = await repeat(() => chargeCalls(host, records));
  await repeat(async () => {
    const leases = await store.all<LeaseRow>(
      `SELECT epoch, kind, owner, window_start AS "windowStart", CAST(amount AS TEXT) AS amount FROM lease
        WHERE epoch <> ? ORDER BY epoch, kind, owner, window_start LIMIT ?`,
      boot,
      BATCH,
    );
    await write(store, leases.flatMap(freeSteps));
    return leases.length;
  });
  return count;
}

/** Does it until there is nothing left; how much it was in all. */
async function repeat(some: () => Promise<number>): Promise<number> {
  let all = 0;
  for (let done = BATCH; done === BATCH; all += done) done = await some();
  return all;
}

async function chargeCalls({ store, clock, boot }: Host, records: Records | undefined): Promise<number> {
  const calls = await store.all<RunningRow>(
    `SELECT id, epoch, account_id AS "accountId", key_id AS "keyId", from_account AS "fromAccount", CAST(amount AS TEXT) AS amount,
        CAST(delivered AS TEXT) AS delivered, style, model, stream, ip, created_ms AS "createdMs"
      FROM running WHERE epoch <> ? ORDER BY id LIMIT ?`,
    boot,
    BATCH,
  );
  const extras = new Map<string, Extra[]>();
  const layers = await store.all<Extra & { readonly id: string }>(
    `SELECT id, kind, owner, window_start AS "windowStart" FROM running_layer
      WHERE id >= ? AND id <= ? ORDER BY id, kind, owner`,
    calls[0]?.id ?? '',
    calls.at(-1)?.id ?? '',
  );
  for (const { id, kind, owner, windowStart } of layers) {
    extras.set(id, [...(extras.get(id) ?? []), { kind, owner, windowStart }]);
  }
  const atMs = clock.now();
  const steps = calls.flatMap((call) => [
    ...chargeSteps(call, extras.get(call.id) ?? [], atMs),
    ...(records?.steps(
      recoveredRecord({
        ...call,
        stream: call.stream === 1,
        fromAccount: call.fromAccount === 1,
        charged: BigInt(call.delivered),
        held: BigInt(call.amount),
        extras: extras.get(call.id) ?? [],
      }),
    ) ?? []),
  ]);
  await write(store, steps);
  return calls.length;
}

function chargeSteps(call: RunningRow, extras: readonly Extra[], atMs: number): readonly Step[] {
  const { id, epoch, accountId, keyId, fromAccount } = call;
  const places: readonly Place[] = [
    ...(fromAccount === 1 ? [{ kind: 'account', owner: accountId } as const] : []),
    { kind: 'key', owner: keyId },
    ...extras,
  ];
  const charge = BigInt(call.delivered);
  return [
    // First, so that of two that recover at once only one does it.
    { sql: 'DELETE FROM running WHERE id = ?', params: [id], must: 'recovered_before' },
    { sql: 'DELETE FROM running_layer WHERE id = ?', params: [id] },
    ...places.flatMap((place) => new Lease(place, epoch).charging(charge, atMs)),
  ];
}

/** Puts back what is left of a lease. */
function freeSteps(row: LeaseRow): readonly Statement[] {
  const free: Statement = {
    sql: 'DELETE FROM lease WHERE epoch = ? AND kind = ? AND owner = ? AND window_start = ? AND amount = ?',
    params: [row.epoch, ...placeOf(row), BigInt(row.amount)],
    must: 'recovered_before',
  };
  return [free, new Lease(row, row.epoch).freeing(BigInt(row.amount))];
}

async function write(store: Store, steps: readonly Step[]): Promise<void> {
  if (steps.length === 0) return;
  const failed = await store.atomic(steps);
  if (failed !== undefined) throw new Error(`the ledger cannot be recovered (${failed}): run \`turnpike reconcile\``);
}
