/**
 * Recovery: takes the leases of processes that have ended. What their calls had delivered is charged, the rest goes back to the buckets. Several may
 * do it at once.
 */
import type { Records } from '../../core/contracts/records.ts';
import type { Host, Statement, Step, Store } from '../../core/plugin.ts';
import { type Place, placeOf } from './buckets.ts';
import type { Extra } from './holds.ts';
import { Lease } from './lease.ts';
import { endedName, forgetStep, takeOverSteps } from './processes.ts';
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

/** What a list says where somebody else was quicker. */
const RECOVERED_BEFORE = 'recovered_before';

/**
 * Closes what processes have left open that are not alive any more, and touches no others. Returns how many calls that were. Throws where one
 * cannot be closed: then the ledger is damaged, and nothing may start on it.
 */
export async function recover(host: Host, records: Records | undefined): Promise<number> {
  const processes = await host.store.all<{ readonly epoch: string }>('SELECT epoch FROM ledger_process ORDER BY epoch');
  // Asked behind the table: a process is alive before it is in there.
  const alive = await host.peers.alive();
  let count = 0;
  for (const { epoch } of processes) if (!alive.has(epoch)) count += await recoverProcess(host, epoch, records);
  return count;
}

async function recoverProcess(host: Host, epoch: string, records: Records | undefined): Promise<number> {
  const { store, boot } = host;
  const ended = endedName(epoch);
  // It may not know that it was given up, and send more: none of that finds a lease from here on.
  if (ended !== epoch && (await store.atomic(takeOverSteps(epoch, boot))) !== undefined) {
    throw new Error('this process was given up for dead, and closes nothing of others');
  }
  let count = 0;
  for (let calls = await callsOf(store, ended); calls.length > 0; calls = await callsOf(store, ended)) {
    if (await write(store, await chargingSteps(host, calls, records))) count += calls.length;
  }
  for (let leases = await leasesOf(store, ended); leases.length > 0; leases = await leasesOf(store, ended)) {
    await write(store, leases.flatMap(freeSteps));
  }
  await store.atomic([forgetStep(ended)]);
  return count;
}

function callsOf(store: Store, epoch: string): Promise<RunningRow[]> {
  return store.all<RunningRow>(
    `SELECT id, epoch, account_id AS "accountId", key_id AS "keyId", from_account AS "fromAccount", CAST(amount AS TEXT) AS amount,
        CAST(delivered AS TEXT) AS delivered, style, model, stream, ip, created_ms AS "createdMs"
      FROM running WHERE epoch = ? ORDER BY id LIMIT ?`,
    epoch,
    BATCH,
  );
}

function leasesOf(store: Store, epoch: string): Promise<LeaseRow[]> {
  return store.all<LeaseRow>(
    `SELECT epoch, kind, owner, window_start AS "windowStart", CAST(amount AS TEXT) AS amount FROM lease
      WHERE epoch = ? ORDER BY kind, owner, window_start LIMIT ?`,
    epoch,
    BATCH,
  );
}

async function chargingSteps(
  { store, clock }: Host,
  calls: readonly RunningRow[],
  records: Records | undefined,
): Promise<readonly Step[]> {
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
  return calls.flatMap((call) => [
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
    { sql: 'DELETE FROM running WHERE id = ?', params: [id], must: RECOVERED_BEFORE },
    { sql: 'DELETE FROM running_layer WHERE id = ?', params: [id] },
    ...places.flatMap((place) => new Lease(place, epoch).charging(charge, atMs)),
  ];
}

/** Puts back what is left of a lease. */
function freeSteps(row: LeaseRow): readonly Statement[] {
  const free: Statement = {
    sql: 'DELETE FROM lease WHERE epoch = ? AND kind = ? AND owner = ? AND window_start = ? AND amount = ?',
    params: [row.epoch, ...placeOf(row), BigInt(row.amount)],
    must: RECOVERED_BEFORE,
  };
  return [free, new Lease(row, row.epoch).freeing(BigInt(row.amount))];
}

/** False where another was quicker, or what was read has changed since: read again. */
async function write(store: Store, steps: readonly Step[]): Promise<boolean> {
  const failed = await store.atomic(steps);
  if (failed !== undefined && failed !== RECOVERED_BEFORE)
    throw new Error(`the ledger cannot be recovered (${failed}): run \`turnpike reconcile\``);
  return failed === undefined;
}
