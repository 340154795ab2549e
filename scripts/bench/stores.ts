/**
 * The cost of a store: one gateway on SQLite, and one, two and three gateways on one PostgreSQL database, all with
 * calls of one hot account.
 */
import { copyFileSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { askControl, controlPath } from '../../core/operations/commands/control-socket.ts';
import { binaries, type PostgresServer, startPostgres } from '../../test/kit/stand-ins/postgres.ts';
import type { LoadTools, Sample } from './load.ts';
import { CORE, familyOf } from './machine.ts';
import { inTurns, median, type Rounds } from './rounds.ts';
import { type Installation, oneModel, prepareTurnpike } from './turnpike.ts';
import type { Server } from './variants.ts';
import { CONNECTIONS, warmUp } from './warm.ts';

/** SQLite, or the number of gateways on PostgreSQL. */
export type StoreCase = 'sqlite' | 1 | 2 | 3;

/** The sum of all gateways of a case. */
export interface StoreSample {
  /** CPU of the gateways, microseconds per call. */
  readonly cpu: number;
  /** CPU of PostgreSQL; undefined if there is none. */
  readonly databaseCpu: number | undefined;
  readonly perSecond: number;
  readonly failed: number;
  /** Calls per PostgreSQL commit; undefined if there is none. */
  readonly perCommit: number | undefined;
  /** At 200 calls per second, microseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** The measurements of each case. */
export interface StoreRounds {
  readonly rounds: number;
  /** Seconds at full speed. */
  readonly seconds: number;
}

const CALM_PER_SECOND = 200;
/** PostgreSQL reports the activity of a connection with a delay of at most a second. */
const TOLD_MS = 1_500;
/** Quota of the hot account, more than a bench can spend. */
const PLENTY = 1_000_000_000_000;

/** The gateways of one case. */
interface Fleet {
  readonly servers: readonly Server[];
  /** Its PostgreSQL database. */
  readonly url: string | undefined;
}

/** Measures all cases in turns. */
export async function measureStores(
  tools: LoadTools,
  { rounds, seconds }: StoreRounds,
): Promise<Rounds<StoreCase, StoreSample>> {
  const vendor = await tools.vendor(1, 0);
  const postgres = await startPostgres();
  const remove = (): void => postgres.remove();
  process.once('exit', remove);
  try {
    const fleets = new Map<StoreCase, Fleet>();
    for (const which of ['sqlite', 1, 2, 3] as const) {
      fleets.set(which, await startFleet(which, vendor.port, postgres));
    }
    const pace = new Map<StoreCase, number>();
    for (const [which, { servers }] of fleets) {
      for (const server of servers) pace.set(which, await warmUp(server, tools));
    }
    const measured = await inTurns([...fleets.keys()], rounds, (which) =>
      measureFleet(tools, fleets.get(which)!, postgres, Math.round(pace.get(which)! * seconds)),
    );
    for (const { servers } of fleets.values()) for (const server of servers) await server.process.stop();
    return measured;
  } finally {
    process.off('exit', remove);
    remove();
    await vendor.process.stop();
  }
}

/** The same calls of one gateway on SQLite and of one on PostgreSQL, over 64 connections. Undefined if its programs are not installed. */
export async function measurePostgres(
  tools: LoadTools,
  { rounds, seconds }: StoreRounds,
): Promise<Rounds<StoreCase> | undefined> {
  if (binaries() === undefined) return undefined;
  const vendor = await tools.vendor(1, 0);
  const postgres = await startPostgres();
  const remove = (): void => postgres.remove();
  process.once('exit', remove);
  try {
    const servers = new Map<StoreCase, Server>();
    const pace = new Map<StoreCase, number>();
    for (const which of ['sqlite', 1] as const) {
      const [server] = (await startFleet(which, vendor.port, postgres)).servers;
      servers.set(which, server!);
      pace.set(which, await warmUp(server!, tools));
    }
    const measured = await inTurns([...servers.keys()], rounds, (which) =>
      tools.measure(servers.get(which)!, {
        stream: false,
        connections: CONNECTIONS,
        requests: Math.round(pace.get(which)! * seconds),
        warm: CONNECTIONS,
      }),
    );
    for (const server of servers.values()) await server.process.stop();
    return measured;
  } finally {
    process.off('exit', remove);
    remove();
    await vendor.process.stop();
  }
}

async function startFleet(which: StoreCase, vendor: number, postgres: PostgresServer): Promise<Fleet> {
  const url = which === 'sqlite' ? undefined : await postgres.database();
  const store = url === undefined ? undefined : { driver: 'postgres', url };
  const first = await prepareTurnpike(oneModel(vendor), {}, store);
  const servers = [await first.start({ cores: CORE.both })];
  const key = await hotKey(first);
  for (let other = 1; other < Number(which); other++) {
    const installation = await prepareTurnpike(oneModel(vendor), {}, store);
    // All have the same master key.
    copyFileSync(`${first.storeFile}.key`, `${installation.storeFile}.key`);
    servers.push(await installation.start({ key, cores: CORE.both }));
  }
  return { servers: servers.map((server) => ({ ...server, headers: [`authorization: Bearer ${key}`] })), url };
}

/** A key of the account that pays for every call. */
async function hotKey({ storeFile }: Installation): Promise<string> {
  const command = async (line: string, stdin = ''): Promise<string> => {
    const result = await askControl(controlPath(storeFile), { argv: line.split(' '), stdin, cwd: '/' });
    if (result?.code !== 0) throw new Error(`turnpike ${line}: ${result?.stderr}`);
    return result.stdout.trim();
  };
  await command('user create --name hot --role member --password-stdin', 'a long enough password');
  await command(`user credit hot ${PLENTY}`);
  return command('key create --name hot --user hot --unlimited');
}

/** The same calls for each case, divided among its gateways. */
async function measureFleet(
  tools: LoadTools,
  { servers, url }: Fleet,
  postgres: PostgresServer,
  requests: number,
): Promise<StoreSample> {
  const share = (amount: number): number => Math.max(1, Math.round(amount / servers.length));
  const commits = url === undefined ? undefined : await commitsOf(postgres, url);
  const cpuBefore = cpuMicros(postgres.pid);
  const fast = await all(servers, (server) =>
    tools.measure(server, { stream: false, connections: share(CONNECTIONS), requests: share(requests) }),
  );
  const databaseCpu = cpuMicros(postgres.pid) - cpuBefore;
  const answered = sum(fast, (sample) => sample.answered);
  const made = commits === undefined ? undefined : (await commitsOf(postgres, url!)) - commits;
  const calm = await all(servers, (server) =>
    tools.measure(server, {
      stream: false,
      connections: share(CONNECTIONS),
      requests: share(CALM_PER_SECOND * 5),
      perSecond: share(CALM_PER_SECOND),
    }),
  );
  return {
    cpu: sum(fast, (sample) => (sample.cpu ?? 0) * sample.answered) / answered,
    databaseCpu: url === undefined ? undefined : databaseCpu / answered,
    perSecond: sum(fast, (sample) => sample.perSecond),
    failed: sum([...fast, ...calm], (sample) => sample.failed),
    perCommit: made === undefined ? undefined : answered / made,
    p50: median(calm.map((sample) => sample.p50))!,
    p99: Math.max(...calm.map((sample) => sample.p99)),
  };
}

function all<T, U>(list: readonly T[], work: (each: T) => Promise<U>): Promise<readonly U[]> {
  return Promise.all(list.map(work));
}

function sum(samples: readonly Sample[], pick: (sample: Sample) => number): number {
  return samples.reduce((total, sample) => total + pick(sample), 0);
}

/** Number of committed transactions in a database. */
async function commitsOf(postgres: PostgresServer, url: string): Promise<number> {
  await sleep(TOLD_MS);
  const [row] = await postgres.query(
    url,
    `SELECT xact_commit AS commits FROM pg_stat_database WHERE datname = current_database()`,
  );
  return Number(row!.commits);
}

/** The system counts hundredths of a second. */
const MICROS_PER_TICK = 10_000;

/** CPU time of a process and its descendants, ended ones included. */
function cpuMicros(pid: number): number {
  return familyOf(pid).reduce((total, member) => total + ticksOf(member) * MICROS_PER_TICK, 0);
}

/** If a process ends in the meantime: none, because its parent's value then includes it. */
function ticksOf(pid: number): number {
  try {
    const times = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = times.slice(11, 15).map(Number);
    return user + system + endedUser + endedSystem;
  } catch {
    return 0;
  }
}
