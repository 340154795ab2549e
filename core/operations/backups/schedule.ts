/** Makes scheduled backups in the leading process, and keeps their results in the store. */
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { driverOf, type Plan } from '../../assembly/assemble.ts';
import { storeFileOf } from '../../assembly/open-store.ts';
import { type BackupSettings, readBackup } from '../../config/backup-section.ts';
import type { Peers } from '../../contracts/peers.ts';
import type { BackupRun, BackupSchedule } from '../../contracts/running.ts';
import type { OpenStore } from '../../plugin.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/logger.ts';
import { recordBackup } from '../../store/migrations.ts';
import type { ConfigSource } from '../config-editing/config-source.ts';
import { type Finished, type FinishOrder, secretFor } from './finish.ts';
import { type Finisher, startFinisher } from './finisher.ts';
import { copyTo } from './proof.ts';

/** The dependencies. */
export interface BackupTools {
  readonly source: Pick<ConfigSource, 'origin'>;
  readonly store: OpenStore;
  readonly peers: Pick<Peers, 'leads'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The running configuration. */
  plan(): Plan;
}

/** Scheduled backups of a gateway. */
export interface Backups {
  /** Starts the schedule; the first backup is due at once if none was made within the interval. */
  start(): void;
  /** Stops a running backup, too. */
  stop(): Promise<void>;
  /** Makes one now, or waits for the running one. Rejects if it failed or its proof did; that is recorded and logged. */
  run(): Promise<BackupRun>;
  /** As last read; undefined: none are configured. */
  schedule(): BackupSchedule | undefined;
}

const LOOK_MS = 60_000;
/** A failed backup is tried again after this time, or after the interval if that is shorter. */
const AGAIN_MS = 3_600_000;
/** The space that a backup and its proof need, in sizes of the database: the copy, the restored one and its log. */
const SPACE = 2.5;
/** How many results are kept. */
const LATEST = 20;
/** In addition: the encrypted file, the decrypted one, and the one that is read back. */
const ENCRYPTED_SPACE = 4.5;

/** Creates it. */
export function createBackups({ source, store, peers, clock, log, plan }: BackupTools): Backups {
  let cancel: (() => void) | undefined;
  let running: Promise<BackupRun> | undefined;
  let finisher: Finisher | undefined;
  let stopped = false;
  let proven: BackupRun | undefined;
  let failed: BackupRun | undefined;
  let runs: readonly BackupRun[] = [];

  const settings = (): BackupSettings | undefined => readBackup(plan().values.backup);

  async function read(): Promise<void> {
    const rows = await store.all<RunRow>('SELECT kind, at_ms, name, bytes, took_ms, reason FROM backup_run');
    const last = (kind: RunRow['kind']): BackupRun | undefined => {
      const row = rows.find((each) => each.kind === kind);
      return row && runOf(row);
    };
    proven = last('proven');
    failed = last('failed');
    runs = (
      await store.all<ResultRow>(
        `SELECT at_ms, name, bytes, took_ms, reason, invariants, migrations FROM backup_result
         ORDER BY at_ms DESC LIMIT ${LATEST}`,
      )
    ).map(runOf);
  }

  function isDue({ everyMs }: BackupSettings): boolean {
    const now = clock.now();
    if (proven !== undefined && now - proven.atMs < everyMs) return false;
    return failed === undefined || now - failed.atMs >= Math.min(everyMs, AGAIN_MS);
  }

  async function look(): Promise<void> {
    const current = settings();
    if (current === undefined || running !== undefined) return;
    await read();
    // The leading process may have changed while it read.
    if (!stopped && peers.leads() && isDue(current)) await run().catch(() => {});
  }

  const run = (): Promise<BackupRun> => {
    running ??= once().finally(() => {
      running = undefined;
    });
    return running;
  };

  async function once(): Promise<BackupRun> {
    const [atMs, begun] = [clock.now(), clock.mono()];
    const took = (): number => Math.round(clock.mono() - begun);
    try {
      const finished = await make(atMs);
      const { name, bytes, proof, failure, deleted } = finished;
      const made = { atMs, name, bytes, tookMs: took(), reason: failure, proof };
      await record(made);
      if (proof === undefined) throw new ProofFailed(`${name} was stored, but its proof failed: ${failure}`);
      const { proof: found, ...shown } = made;
      log.info('a backup was made and proven', { ...shown, ...found, deleted: deleted.length });
      return made;
    } catch (error) {
      if (stopped) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      log.error('the backup failed', { reason, lastProven: proven && new Date(proven.atMs).toISOString() });
      const isRecorded = error instanceof ProofFailed;
      if (!isRecorded) await record({ atMs, name: '', bytes: undefined, tookMs: took(), reason, proof: undefined });
      throw error;
    }
  }

  async function make(atMs: number): Promise<Finished> {
    const from = plan();
    const current = readBackup(from.values.backup);
    if (current === undefined) throw new Error('gateway.yaml has no section `backup`');
    // Before the copy: a missing master key must not be noticed after an hour.
    secretFor(from, current);
    const driver = await driverOf(from);
    const folder = resolve(`${storeFileOf(from)}.backup-scratch`);
    // An interrupted backup has left files.
    await rm(folder, { recursive: true, force: true });
    await requireSpace(current);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      const copy = join(folder, 'copy');
      await copyTo(copy, from, store);
      if (stopped) throw new Error('the gateway was stopped');
      const kind = driver.dumps === undefined ? 'db' : 'dump';
      const order: FinishOrder = { origin: await source.origin(), copy, folder, atMs, kind };
      finisher = startFinisher(order);
      return await finisher.result;
    } finally {
      finisher = undefined;
      await rm(folder, { recursive: true, force: true });
    }
  }

  async function requireSpace({ encrypt }: BackupSettings): Promise<void> {
    const room = await store.room?.();
    if (room === undefined) return;
    const needed = (room.file + room.log) * (encrypt === undefined ? SPACE : ENCRYPTED_SPACE);
    if (room.free > needed) return;
    const mb = (bytes: number): string => `${Math.ceil(bytes / 1_024 ** 2)} MB`;
    throw new Error(`the disk of the store has ${mb(room.free)} free; a copy and its proof need ${mb(needed)}`);
  }

  /** If it fails, the backup is still valid. */
  async function record(run: BackupRun): Promise<void> {
    const { atMs, name, bytes, tookMs, reason, proof } = run;
    const kind = reason === undefined ? 'proven' : 'failed';
    const row = { kind, atMs, name, bytes: bytes ?? null, tookMs, reason: reason ?? null } as const;
    if (kind === 'proven') [proven, failed] = [run, undefined];
    else failed = run;
    runs = [run, ...runs.filter((each) => each.atMs !== atMs)].slice(0, LATEST);
    try {
      await store.atomic([
        // A success ends the failure before it.
        { sql: 'DELETE FROM backup_run WHERE kind IN (?, ?)', params: [kind, 'failed'] },
        {
          sql: 'INSERT INTO backup_run (kind, at_ms, name, bytes, took_ms, reason) VALUES (?, ?, ?, ?, ?, ?)',
          params: [row.kind, row.atMs, row.name, row.bytes, row.tookMs, row.reason],
        },
        { sql: 'DELETE FROM backup_result WHERE at_ms = ?', params: [atMs] },
        {
          sql: `INSERT INTO backup_result (at_ms, name, bytes, took_ms, reason, invariants, migrations)
                VALUES (?, ?, ?, ?, ?, ?, ?)`,
          params: [
            ...[row.atMs, row.name, row.bytes, row.tookMs, row.reason],
            ...[proof?.invariants ?? null, proof?.migrations ?? null],
          ],
        },
        {
          sql: `DELETE FROM backup_result WHERE at_ms NOT IN
                (SELECT at_ms FROM backup_result ORDER BY at_ms DESC LIMIT ${LATEST})`,
          params: [],
        },
      ]);
      if (kind === 'proven') await recordBackup(store, { atMs, name, bytes, tookMs });
    } catch (error) {
      log.warn('the result of a backup could not be recorded', { error });
    }
  }

  return {
    start() {
      const safely = (): void =>
        void look().catch((error: unknown) => log.warn('the schedule of backups could not be read', { error }));
      cancel = clock.every(LOOK_MS, safely);
      safely();
    },
    async stop() {
      stopped = true;
      cancel?.();
      finisher?.stop();
      await running?.catch(() => {});
    },
    run,
    schedule() {
      const current = settings();
      if (current === undefined) return undefined;
      const to = typeof current.to === 'string' ? current.to : `${current.to.bucket}/${current.to.prefix ?? ''}`;
      const { everyMs, keep, encrypt } = current;
      return {
        everyMs,
        to,
        keep,
        encrypted: encrypt !== undefined,
        running: running !== undefined,
        proven,
        failed,
        runs,
      };
    },
  };
}

/** The copy was stored and recorded. */
class ProofFailed extends Error {}

interface ResultRow {
  readonly at_ms: number;
  readonly name: string;
  readonly bytes: number | null;
  readonly took_ms: number;
  readonly reason: string | null;
  readonly invariants?: number | null;
  readonly migrations?: number | null;
}

interface RunRow extends ResultRow {
  readonly kind: 'proven' | 'failed';
}

function runOf({ at_ms, name, bytes, took_ms, reason, invariants, migrations }: ResultRow): BackupRun {
  const proof =
    typeof invariants === 'number' && typeof migrations === 'number' ? { invariants, migrations } : undefined;
  return { atMs: at_ms, name, bytes: bytes ?? undefined, tookMs: took_ms, reason: reason ?? undefined, proof };
}
