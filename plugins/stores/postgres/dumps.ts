/** Copies of the database with `pg_dump`, and scratch databases from them with `pg_restore`. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type pg from 'pg';
import type { StoreDriver } from '../../../core/plugin.ts';
import { codeOf } from './errors.ts';

const execute = promisify(execFile);

/** Runs statements on a connection to the database at a URL. */
export type OnServer = (url: string, use: (client: pg.Client) => Promise<void>) => Promise<void>;

/** Creates the driver's `dumps`. */
export function createDumps(onServer: OnServer): NonNullable<StoreDriver['dumps']> {
  return {
    async missing() {
      for (const tool of ['pg_dump', 'pg_restore']) {
        try {
          await execute(tool, ['--version']);
        } catch {
          return `${tool} is not installed, or not in PATH: install the client tools of PostgreSQL, in the version of the server`;
        }
      }
      return undefined;
    },
    async write(settings, file) {
      await run('pg_dump', ['--format=custom', '--no-password', `--file=${file}`], urlIn(settings));
    },
    async load(settings, file) {
      const url = urlIn(settings);
      const name = `turnpike_proof_${randomBytes(6).toString('hex')}`;
      const scratch = new URL(url);
      scratch.pathname = `/${name}`;
      const remove = (): Promise<void> => onServer(url, drop(name));
      await onServer(url, create(name));
      try {
        const args = ['--no-owner', '--no-privileges', '--exit-on-error', '--no-password'];
        await run('pg_restore', args, scratch.href, file);
      } catch (error) {
        await remove();
        throw error;
      }
      return { settings: { ...settings, url: scratch.href }, remove };
    },
    async restore(settings, file) {
      const args = ['--clean', '--if-exists', '--single-transaction', '--exit-on-error', '--no-owner', '--no-password'];
      await run('pg_restore', args, urlIn(settings), file);
    },
  };
}

const urlIn = (settings: Readonly<Record<string, unknown>>): string => String(settings.url);

const create = (name: string) => async (client: pg.Client) => {
  try {
    await client.query(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  } catch (error) {
    if (codeOf(error) !== '42501') throw error;
    throw new Error(
      'the database user may not create a scratch database, in which backups are proven: ALTER ROLE … CREATEDB',
      { cause: error },
    );
  }
};

const drop = (name: string) => async (client: pg.Client) => {
  await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
};

/** Other users of the machine can read the arguments of a process, so that the password is in its environment. */
async function run(tool: string, args: readonly string[], url: string, ...files: readonly string[]): Promise<void> {
  const address = new URL(url);
  const password = decodeURIComponent(address.password);
  address.password = '';
  // The tools have no such mode; this one does not check certificates either.
  if (address.searchParams.get('sslmode') === 'no-verify') address.searchParams.set('sslmode', 'require');
  const env = { ...process.env, ...(password !== '' && { PGPASSWORD: password }) };
  try {
    await execute(tool, [...args, `--dbname=${address.href}`, ...files], { env, maxBuffer: 2 ** 24 });
  } catch (error) {
    const { stderr = '' } = error as { readonly stderr?: string };
    throw new Error(`${tool} failed: ${stderr.trim().split('\n')[0] || String(error)}`, { cause: error });
  }
}
