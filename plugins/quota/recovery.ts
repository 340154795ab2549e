/**
 * Recovery: closes the calls and leases of processes that have ended. The delivered part of their calls is charged, and the rest is returned to the
 * buckets. Several processes may recover at once.
 */
import type { Layer } from '../../core/contracts/ledger.ts';
import type { Records } from '../../core/contracts/records.ts';
import type { Host, Statement, Step, Store } from '../../core/plugin.ts';
import { bucketParams } from './buckets.ts';
import { Lease } from './lease.ts';
import { endedName, forgetStep, takeOverSteps } from './processes.ts';
import { recoveredRecord } from './unsettled.ts';

/** Calls, or leases, per atomic list: enough to share a commit, few enough not to block other writers. */
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

interface LeaseRow extends Layer {
  readonly epoch: string;
  readonly amount: string;
}

/** The `must` of lists that another process has already written. */
const RECOVERED_BEFORE = 'recovered_before';

/**
 * Closes the open calls and leases of ended processes. Returns the number of calls. Throws if one cannot be closed: then the ledger is damaged, and
 * no gateway may start on it.
 */
export async function recover(host: Host, records: Records | undefined): Promise<number> {
  const processes = await host.store.all<{ readonly epoch: string }>('SELECT epoch FROM ledger_process ORDER BY epoch');
  // Read after the table: a process is alive before its row is there.
  const alive = await host.peers.alive();
  let count = 0;
  for (const { epoch } of processes) if (!alive.has(epoch)) count += await recoverProcess(host, epoch, records);
  return count;
}

async function recoverProcess(host: Host, epoch: string, records: Records | undefined): Promise<number> {
  const { store, boot } = host;
  const ended = endedName(epoch);
  // If it is alive after all, its later lists find no lease.
  if (ended !== epoch && (await store.atomic(takeOverSteps(epoch, boot))) !== undefined) {
    throw new Error('this process was presumed dead, and its leases taken over: it recovers no others');
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
  const layersById = new Map<string, Layer[]>();
  const rows = await store.all<Layer & { readonly id: string }>(
    `SELECT id, kind, owner, window_start AS "windowStart" FROM running_layer
      WHERE id >= ? AND id <= ? ORDER BY id, kind, owner`,
    calls[0]?.id ?? '',
    calls.at(-1)?.id ?? '',
  );
  for (const { id, ...layer } of rows) layersById.set(id, [...(layersById.get(id) ?? []), layer]);
  const atMs = clock.now();
  return calls.flatMap((call) => {
    const layers = layersById.get(call.id) ?? [];
    const record = recoveredRecord({
      ...call,
      stream: call.stream === 1,
      fromAccount: call.fromAccount === 1,
      charged: BigInt(call.delivered),
      held: BigInt(call.amount),
      layers,
    });
    return [...chargeSteps(call, layers, atMs), ...(records?.steps(record) ?? [])];
  });
}

/** `layers`: the buckets other than account and key. */
function chargeSteps(call: RunningRow, layers: readonly Layer[], atMs: number): readonly Step[] {
  const { id, epoch, accountId, keyId, fromAccount } = call;
  const charged: readonly Layer[] = [
    ...(fromAccount === 1 ? [{ kind: 'account', owner: accountId } as const] : []),
    { kind: 'key', owner: keyId },
    ...layers,
  ];
  const charge = BigInt(call.delivered);
  return [
    // First, so that only one of two processes that recover at once charges the call.
    { sql: 'DELETE FROM running WHERE id = ?', params: [id], must: RECOVERED_BEFORE },
    { sql: 'DELETE FROM running_layer WHERE id = ?', params: [id] },
    ...charged.flatMap((layer) => new Lease(layer, epoch).chargeSteps(charge, atMs)),
  ];
}

/** Returns the rest of a lease. */
function freeSteps(row: LeaseRow): readonly Statement[] {
  const free: Statement = {
    sql: 'DELETE FROM lease WHERE epoch = ? AND kind = ? AND owner = ? AND window_start = ? AND amount = ?',
    params: [row.epoch, ...bucketParams(row), BigInt(row.amount)],
    must: RECOVERED_BEFORE,
  };
  return [free, new Lease(row, row.epoch).freeStep(BigInt(row.amount))];
}

/** False if another process was faster, or the rows have changed since they were read: read them again. */
async function write(store: Store, steps: readonly Step[]): Promise<boolean> {
  const failed = await store.atomic(steps);
  if (failed !== undefined && failed !== RECOVERED_BEFORE)
    throw new Error(`the ledger cannot be recovered (${failed}): run \`turnpike reconcile\``);
  return failed === undefined;
}
