/** Recovery: closes what a dead run of the gateway left open, and what this one could not write down in time. */
import type { Records, UsageRecord } from '../../core/contracts/records.ts';
import type { Host, Store } from '../../core/plugin.ts';
import { closeSteps, type Extra } from './holds.ts';
import { inQuota } from './in-quota.ts';

/** Holds per atomic list: long enough to share a commit, short enough to leave the store to others. */
const BATCH = 500;

interface HoldRow {
  readonly id: string;
  readonly accountId: number;
  readonly keyId: number;
  readonly amount: string;
  readonly delivered: string;
  readonly style: string;
  readonly model: string;
  readonly stream: number;
  readonly ip: string;
  readonly createdMs: number;
  readonly fromAccount: number;
}

/** One with what it is taken from beside account and key. */
interface OpenHold extends HoldRow {
  readonly extras: readonly Extra[];
}

/**
 * Charges every hold of a dead run what its last checkpoint says was delivered, frees the rest and writes the usage record.
 * Returns how many there were. Throws where one cannot be closed: then the ledger is damaged, and nothing may start on it.
 */
export async function recover(host: Host, records: Records | undefined): Promise<number> {
  let recovered = 0;
  for (;;) {
    // One gateway owns the store, so those of every other run are nobody's.
    const holds = await openHolds(host.store, 'boot <> ?', host.boot);
    if (holds.length === 0) return recovered;
    await close(host, records, holds);
    recovered += holds.length;
  }
}

/**
 * Finds holds of this run that nobody will close: their call has ended, and the store could not write that down then. One that
 * is seen twice in a row is closed like that of a dead run. Call it seldom: between two calls every settling has come to its end.
 */
export function createSweep(
  host: Host,
  isRunning: (id: string) => boolean,
): (records: Records | undefined) => Promise<number> {
  let suspects: ReadonlySet<string> = new Set();
  return async (records) => {
    const ended = (await openHolds(host.store, 'boot = ?', host.boot)).filter(({ id }) => !isRunning(id));
    const orphans = ended.filter(({ id }) => suspects.has(id));
    suspects = new Set(ended.map(({ id }) => id));
    if (orphans.length > 0) await close(host, records, orphans);
    return orphans.length;
  };
}

async function close({ store, clock }: Host, records: Records | undefined, holds: readonly OpenHold[]): Promise<void> {
  const atMs = clock.now();
  const failed = await store.atomic(
    holds.flatMap((hold) => [
      ...closeSteps(
        { ...hold, fromAccount: hold.fromAccount === 1, amount: BigInt(hold.amount) },
        BigInt(hold.delivered),
        atMs,
        'recovery',
      ),
      ...(records?.steps(recordOf(hold)) ?? []),
    ]),
  );
  if (failed !== undefined) throw new Error(`the ledger cannot be recovered (${failed}): run \`turnpike reconcile\``);
}

async function openHolds(store: Store, whose: 'boot = ?' | 'boot <> ?', boot: string): Promise<readonly OpenHold[]> {
  const holds = await store.all<HoldRow>(
    `SELECT id, account_id AS "accountId", key_id AS "keyId", CAST(amount AS TEXT) AS amount,
        CAST(delivered AS TEXT) AS delivered, style, model, stream, ip, created_ms AS "createdMs",
        from_account AS "fromAccount"
      FROM hold WHERE ${whose} ORDER BY id LIMIT ?`,
    boot,
    BATCH,
  );
  const last = holds.at(-1);
  if (last === undefined) return [];
  // A hold has its layers from the beginning to its end: of one that has ended meanwhile nothing is asked for.
  const layers = await store.all<Extra & { readonly holdId: string }>(
    `SELECT hold_id AS "holdId", kind, owner, window_start AS "windowStart" FROM hold_layer
      WHERE hold_id IN (SELECT id FROM hold WHERE ${whose} AND id <= ?) ORDER BY hold_id, kind, owner`,
    boot,
    last.id,
  );
  const extras = new Map<string, Extra[]>();
  for (const { holdId, kind, owner, windowStart } of layers) {
    extras.set(holdId, [...(extras.get(holdId) ?? []), { kind, owner, windowStart }]);
  }
  return holds.map((hold) => ({ ...hold, extras: extras.get(hold.id) ?? [] }));
}

function recordOf(hold: OpenHold): UsageRecord {
  return {
    id: hold.id,
    atMs: hold.createdMs,
    accountId: hold.accountId,
    keyId: hold.keyId,
    style: hold.style,
    model: hold.model,
    channel: '',
    stream: hold.stream === 1,
    outcome: 'recovered',
    status: 500,
    usage: undefined,
    charged: BigInt(hold.delivered),
    ...(hold.fromAccount === 0 && { included: true }),
    durationMs: 0,
    firstByteMs: undefined,
    ip: hold.ip,
    other: { held: inQuota(BigInt(hold.amount)) },
  };
}
