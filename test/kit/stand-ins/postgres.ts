/** A PostgreSQL server for tests: private, in a temporary folder, reachable from this machine only, with a database for whoever asks. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../../scripts/free-port.ts';

/** Where Debian and Homebrew put what is not on the path. */
const FOLDERS = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt'];
const OLDEST = 15;

/** A server that runs. */
export interface PostgresServer {
  /** The address of a new, empty database. */
  database(): Promise<string>;
  /** Runs SQL as the owner of everything, in the database of an address. Rows, as texts. */
  query(url: string, sql: string): Promise<readonly Record<string, unknown>[]>;
  readonly port: number;
  /** Its first process, which starts all others. */
  readonly pid: number;
  /** Ends it as a crash of the machine would, or well. */
  halt(how: 'immediate' | 'fast'): void;
  start(): void;
  /** Both, while this process goes on; resolves when it accepts connections again. */
  restart(how: 'immediate' | 'fast'): Promise<void>;
  /** Ends it and leaves nothing behind. */
  remove(): void;
}

/** Why there is no server for tests on this machine; undefined where there is one. `TURNPIKE_TEST_POSTGRES` makes it an error. */
export function noPostgres(): string | undefined {
  if (binaries() !== undefined) return undefined;
  const reason = `PostgreSQL ${OLDEST} or later is not installed (initdb is neither on the path nor in ${FOLDERS[0]})`;
  if (process.env.TURNPIKE_TEST_POSTGRES) throw new Error(reason);
  return reason;
}

/** Where `scripts/test.mjs` says at which port the server of this run listens. */
const PORT_OF_RUN = 'TURNPIKE_TEST_POSTGRES_PORT';
/** A database takes 8 MB, and files that run at the same time have some each. */
const ROOM_IN_MEMORY = 2 ** 31;
const MEMORY = '/dev/shm';
/** What would only take time: nothing there is old or lasts. */
const SHORT_LIVED = ['autovacuum=off', 'full_page_writes=off', 'jit=off'];

let shared: Promise<Databases> | undefined;

/** Databases of a server that runs. */
type Databases = Pick<PostgresServer, 'database' | 'query'>;

/** The server for all files of a run; whoever runs a file alone gets one of its own, which ends with its process. */
function databases(): Promise<Databases> {
  const port = process.env[PORT_OF_RUN];
  shared ??= port === undefined ? startPostgresForRun() : Promise.resolve(databasesAt(Number(port)));
  return shared;
}

/**
 * Starts the server of a run, and tells the processes of this one where it is. It ends with this process. Its files lie in memory if they fit:
 * it need not survive anything.
 */
export async function startPostgresForRun(): Promise<PostgresServer> {
  const isRoomy = existsSync(MEMORY) && roomIn(MEMORY) > ROOM_IN_MEMORY;
  const server = await startPostgres(mkdtempSync(join(isRoomy ? MEMORY : tmpdir(), 'turnpike-pg-')), SHORT_LIVED);
  process.once('exit', () => server.remove());
  process.env[PORT_OF_RUN] = String(server.port);
  return server;
}

function roomIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** With `TURNPIKE_TEST_STORE=postgres`, the database of this name for a folder: a new one at first, the same one ever after. */
export async function testDatabase(folder: string, name = 'turnpike'): Promise<string | undefined> {
  if (!isOnPostgres()) return undefined;
  const note = join(folder, `${name}.url`);
  if (existsSync(note)) return readFileSync(note, 'utf8');
  const url = await (await databases()).database();
  writeFileSync(note, url);
  return url;
}

/** Drops it again, whoever is still connected: hundreds of them take a lot of memory. */
export async function dropTestDatabase(url: string): Promise<void> {
  const { pathname } = new URL(url);
  await (await databases()).query(
    url.replace(pathname, '/postgres'),
    `DROP DATABASE ${pathname.slice(1)} WITH (FORCE)`,
  );
}

/** Whether the gateways of tests run on PostgreSQL. */
export function isOnPostgres(): boolean {
  return process.env.TURNPIKE_TEST_STORE === 'postgres';
}

/** For a test of what only SQLite has: its options, which skip it on PostgreSQL and say why. */
export function onlyOnSqlite(why: string): { readonly skip: string | false } {
  return { skip: isOnPostgres() && `only on SQLite: ${why}` };
}

/** Makes a server and starts it, in a folder that is new and has to be reachable for other users, with further settings. */
export async function startPostgres(
  folder: string = mkdtempSync(join(tmpdir(), 'turnpike-pg-')),
  settings: readonly string[] = [],
): Promise<PostgresServer> {
  const bin = binaries();
  if (bin === undefined) throw new Error(noPostgres());
  const owner = ownerOf(folder);
  const data = join(folder, 'data');
  const port = await freePort();
  const run = (program: string, args: readonly string[]): void => {
    execFileSync(join(bin, program), args, { ...owner, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  };
  const start = (): void => {
    const own = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'max_connections=400'];
    const options = [...own, ...settings].map((setting) => `-c ${setting}`);
    run('pg_ctl', ['start', '-w', '-D', data, '-l', join(folder, 'log'), '-o', options.join(' ')]);
  };
  const halt = (how: 'immediate' | 'fast'): void => run('pg_ctl', ['stop', '-w', '-m', how, '-D', data]);
  try {
    // Not the order of bytes, so that whoever relies on that says so.
    run('initdb', ['-D', data, '-U', 'turnpike', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8']);
    start();
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    port,
    get pid() {
      return Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10);
    },
    ...databasesAt(port),
    halt,
    start,
    async restart(how) {
      const args = ['restart', '-w', '-m', how, '-D', data, '-l', join(folder, 'log')];
      const child = spawn(join(bin, 'pg_ctl'), args, { ...owner, cwd: folder, stdio: 'ignore' });
      const [code] = await once(child, 'exit');
      if (code !== 0) throw new Error(`pg_ctl restart ended with ${code}`);
    },
    remove() {
      spawnSync(join(bin, 'pg_ctl'), ['stop', '-w', '-m', 'immediate', '-D', data], { ...owner, cwd: folder });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What one does with a server whose port is known. */
function databasesAt(port: number): Databases {
  const urlOf = (name: string): string => `postgres://turnpike@127.0.0.1:${port}/${name}`;
  const query = async (url: string, sql: string): Promise<readonly Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    query,
    async database() {
      const name = `test_${randomBytes(6).toString('hex')}`;
      await query(urlOf('postgres'), `CREATE DATABASE ${name}`);
      return urlOf(name);
    },
  };
}

/** The folder of initdb, pg_ctl, postgres and psql; the newest there is. */
export function binaries(): string | undefined {
  const versions = FOLDERS.filter((folder) => existsSync(folder)).flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => Number(/\d+$/.exec(name)?.[0] ?? 0) >= OLDEST)
      .map((name) => join(folder, name, 'bin')),
  );
  const found = [...versions.sort().reverse(), ...(process.env.PATH ?? '').split(delimiter)];
  return found.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'pg_ctl')));
}

/** The server refuses to run as root: another user gets the folder then. */
function ownerOf(folder: string): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const uid = idOf('-u');
  const gid = idOf('-g');
  chownSync(folder, uid, gid);
  return { uid, gid };
}

function idOf(which: '-u' | '-g'): number {
  for (const user of ['postgres', 'nobody']) {
    const { status, stdout } = spawnSync('id', [which, user], { encoding: 'utf8' });
    if (status === 0) return Number(stdout);
  }
  throw new Error('PostgreSQL does not run as root, and there is no user `postgres` or `nobody`');
}
