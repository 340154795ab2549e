/**
 * A cluster on this machine: PostgreSQL, Valkey and several gateways with one gateway.yaml, in one folder, reachable
 * only locally.
 */
import { randomBytes } from 'node:crypto';
import { appendFileSync, chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { askControl, controlPath } from '../../core/operations/commands/control-socket.ts';
import { type GatewayProcess, startProcess } from '../../test/kit/gateway/process.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../../test/kit/stand-ins/postgres.ts';
import { noValkey, startValkey, type ValkeyServer } from '../../test/kit/stand-ins/valkey.ts';
import { type Cut, cutBefore } from '../../test/kit/vendors/cut.ts';
import { freePort } from '../free-port.ts';

/** Options of a cluster. */
export interface ClusterOptions {
  readonly gateways: number;
  /** An empty folder. */
  readonly folder: string;
  /** gateway.yaml. It reads DATABASE_URL, VALKEY_URL, PORT, LISTEN_HOST and TURNPIKE_DATA from the environment. */
  readonly config: string;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Each gateway reaches the database through its own proxy, which can be cut. */
  readonly cuts?: boolean;
}

/** A cluster whose gateways can be started. */
export interface Cluster {
  readonly configFile: string;
  readonly postgres: PostgresServer;
  readonly valkey: ValkeyServer;
  /** The address of the database, without a proxy. */
  readonly database: string;
  readonly gateways: readonly Member[];
  /** Stops everything: the gateways drain, the servers end. The folder stays, with a log of each gateway. */
  stop(): Promise<void>;
}

/** A gateway of a cluster: it keeps its address and folder over restarts. */
export interface Member {
  readonly name: string;
  readonly port: number;
  readonly url: string;
  /** Its database proxy, if it has one. */
  readonly way: Cut | undefined;
  /** The process of the last start. */
  readonly process: GatewayProcess;
  /** Starts it, and resolves when it is ready. */
  start(): Promise<void>;
  /** Drains it, if it was ever started. Rejects if it did not end successfully. */
  stop(): Promise<void>;
  /** Kills it, if it was ever started, without waiting for its end. */
  abandon(): void;
  /** Runs a command of the command line in it. Throws its standard error. */
  command(line: string, stdin?: string): Promise<string>;
}

/** Why no cluster can run on this machine, one line each. */
export function missingForCluster(): readonly string[] {
  const found = [
    [noPostgres(), 'postgresql'],
    [noValkey(), 'valkey-server, or redis-server where that is older'],
  ] as const;
  return found.flatMap(([reason, name]) => (reason === undefined ? [] : [`${reason}: install the package ${name}`]));
}

/** Starts the servers; no gateway runs yet. If anything fails, nothing is left running. */
export async function openCluster({
  gateways,
  folder,
  config,
  env = {},
  cuts = false,
}: ClusterOptions): Promise<Cluster> {
  // PostgreSQL may run as another user, who must be able to enter the folder.
  chmodSync(folder, 0o711);
  const configFile = join(folder, 'gateway.yaml');
  writeFileSync(configFile, config);
  const data = join(folder, 'postgres');
  mkdirSync(data, { mode: 0o700 });
  const postgres = await startPostgres(data);
  const valkey = await startValkey().catch((error: unknown) => {
    postgres.halt('fast');
    throw error;
  });
  const database = await postgres.database();
  const masterKey = randomBytes(32).toString('base64');

  const members = await Promise.all(
    Array.from({ length: gateways }, async (_, i): Promise<Member> => {
      const name = `gateway-${i + 1}`;
      const place = join(folder, name);
      const port = await freePort();
      const way = cuts ? await cutBefore(postgres.port) : undefined;
      let own: GatewayProcess | undefined;
      return {
        name,
        port,
        url: `http://127.0.0.1:${port}`,
        way,
        get process() {
          if (own === undefined) throw new Error(`${name} was never started`);
          return own;
        },
        stop: async () => own?.stop(),
        abandon: () => own?.signal('SIGKILL'),
        async start() {
          own = await startProcess(configFile, {
            detached: true,
            hears: (text) => appendFileSync(`${place}.log`, text),
            env: {
              LISTEN_HOST: '127.0.0.1',
              PORT: `${port}`,
              DATABASE_URL: way === undefined ? database : database.replace(`:${postgres.port}/`, `:${way.port}/`),
              VALKEY_URL: valkey.url,
              TURNPIKE_DATA: place,
              TURNPIKE_MASTER_KEY: masterKey,
              ...env,
            },
          });
        },
        async command(line, stdin = '') {
          const result = await askControl(controlPath(join(place, 'turnpike')), {
            argv: line.split(' '),
            stdin,
            cwd: folder,
          });
          if (result?.code !== 0) throw new Error(`turnpike ${line}: ${result?.stderr || result?.stdout}`);
          return result.stdout.trim();
        },
      };
    }),
  );

  // At every exit of this process that can be handled.
  const removeAll = (): void => {
    for (const member of members) member.abandon();
    void valkey.remove();
    postgres.remove();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', removeAll);

  return {
    configFile,
    postgres,
    valkey,
    database,
    gateways: members,
    async stop() {
      const stopped = await Promise.allSettled(members.map((member) => member.stop()));
      for (const { way } of members) await way?.remove();
      await valkey.remove();
      postgres.halt('fast');
      process.off('exit', removeAll);
      for (const result of stopped) if (result.status === 'rejected') throw result.reason;
    },
  };
}
