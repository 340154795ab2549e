/** A MariaDB server for tests: private, in a temporary folder, reachable from this machine only, with a database for whoever asks. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { freePort } from '../../../scripts/free-port.ts';
import { until } from '../until.ts';

/** Where Debian puts what is not on the path of every user. */
const FOLDERS = ['/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin'];

/** A server that runs. */
export interface MariadbServer {
  /** The address of a new, empty database, as a URL. */
  database(): Promise<string>;
  /** Runs SQL, several statements too, as the owner of everything, in the database of an address. */
  run(url: string, sql: string): Promise<void>;
  readonly port: number;
  /** Ends it and leaves nothing behind. */
  remove(): Promise<void>;
}

/** Why there is no server for tests on this machine; undefined where there is one. `TURNPIKE_TEST_MARIADB` makes it an error. */
export function noMariadb(): string | undefined {
  if (find('mariadbd') !== undefined && find('mariadb-install-db') !== undefined) return undefined;
  const reason = `MariaDB is not installed (mariadbd is neither on the path nor in ${FOLDERS[0]})`;
  if (process.env.TURNPIKE_TEST_MARIADB) throw new Error(reason);
  return reason;
}

/** Makes a server and starts it. */
export async function startMariadb(): Promise<MariadbServer> {
  const [server, install] = [find('mariadbd'), find('mariadb-install-db')];
  if (server === undefined || install === undefined) throw new Error(noMariadb());
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-maria-'));
  const owner = ownerOf(folder);
  const data = join(folder, 'data');
  const port = await freePort();
  execFileSync(
    install,
    ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'],
    { ...owner, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const child = spawn(
    server,
    [
      ...['--no-defaults', `--datadir=${data}`, `--port=${port}`, '--bind-address=127.0.0.1'],
      ...[`--socket=${join(folder, 's')}`, `--pid-file=${join(folder, 'pid')}`, `--log-error=${join(folder, 'log')}`],
      ...['--innodb-flush-log-at-trx-commit=0', '--skip-name-resolve', '--innodb-buffer-pool-size=64M'],
    ],
    { ...owner, cwd: folder, stdio: 'ignore' },
  );
  const remove = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  };
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const run = async (url: string, sql: string): Promise<void> => {
    const connection = await createConnection({ uri: url, multipleStatements: true });
    try {
      await connection.query(sql);
    } finally {
      await connection.end();
    }
  };
  const urlOf = (name: string): string => `mysql://root@127.0.0.1:${port}/${name}`;
  try {
    await accepts(child, () => run(urlOf('mysql'), "CREATE USER turnpike@'127.0.0.1' IDENTIFIED BY 'p@ss/w:rd'"));
  } catch (error) {
    const log = existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8').slice(-2_000) : '';
    await remove();
    throw new Error(`MariaDB did not start: ${(error as Error).message}\n${log}`);
  }
  return {
    port,
    run,
    remove,
    async database() {
      const name = `test_${randomBytes(6).toString('hex')}`;
      await run(
        urlOf('mysql'),
        `CREATE DATABASE ${name} CHARACTER SET utf8mb4; GRANT SELECT ON ${name}.* TO turnpike@'127.0.0.1'`,
      );
      return urlOf(name);
    },
  };
}

/** Resolves when it accepts connections, and `attempt` was made. */
async function accepts(child: ChildProcess, attempt: () => Promise<void>): Promise<void> {
  let failure: unknown;
  const isOver = await until('MariaDB accepts connections', async () => {
    try {
      await attempt();
      failure = undefined;
      return true;
    } catch (error) {
      failure = error;
      return child.exitCode !== null;
    }
  });
  if (isOver && failure !== undefined) throw failure;
}

function find(program: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...FOLDERS];
  return folders.map((folder) => join(folder, program)).find((file) => existsSync(file));
}

/** The server refuses to run as root: another user gets the folder then. */
function ownerOf(folder: string): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (which: '-u' | '-g'): number | undefined => {
    for (const user of ['mysql', 'nobody']) {
      const { status, stdout } = spawnSync('id', [which, user], { encoding: 'utf8' });
      if (status === 0) return Number(stdout);
    }
    return undefined;
  };
  const [uid, gid] = [idOf('-u'), idOf('-g')];
  if (uid === undefined || gid === undefined) throw new Error('there is neither a user `mysql` nor `nobody`');
  chownSync(folder, uid, gid);
  return { uid, gid };
}
