/** A whole gateway for a test: its own folder, a free port, books that must balance when it stops. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { Accounts, PasswordCost } from '../../../core/contracts/accounts.ts';
import { type Gateway, openGateway } from '../../../core/gateway/gateway.ts';
import type { CommandResult } from '../../../core/operations/commands/command-line.ts';
import { definePlugin, type Host, type Plugin, type Sections } from '../../../core/plugin.ts';
import type { Clock } from '../../../core/runtime/clock.ts';
import { createLog } from '../../../core/runtime/logger.ts';
import { dropTestDatabase, isOnPostgres, testDatabase } from '../stand-ins/postgres.ts';
import type { FakeVendor } from '../vendors/fake-vendor.ts';
import { ledgerFaults } from './reconcile.ts';
import { type Row, readRows } from './rows.ts';
import { SERVICES } from './services.ts';

export interface TestGatewayOptions {
  /** Sections of gateway.yaml; each replaces the section of the default configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Upstreams; the channels `main`, `spare`, `third` … of the default configuration, in this order of priority. */
  readonly vendor?: FakeVendor | readonly FakeVendor[];
  readonly plugins?: readonly Plugin<Sections>[];
  readonly clock?: Clock;
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of a gateway that was here before; kept when it stops. */
  readonly dir?: string;
  /** False where a test has damaged the books on purpose. */
  readonly mustReconcile?: boolean;
}

export interface TestGateway {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly port: number;
  /** A key of root: no limit but the prices. Empty where `dir` was used before. */
  readonly key: string;
  readonly dir: string;
  readonly configFile: string;
  /** The file of its store; the address of its database with `TURNPIKE_TEST_STORE=postgres`. */
  readonly storeFile: string;
  /** Rows of its store, read from the outside; see `readRows`. `host.store` changes them. */
  rows(sql: string): readonly Row[];
  /** What it logged so far, one line each. */
  readonly log: readonly string[];
  readonly gateway: Gateway;
  /** What its plugins see of it: the services that they give each other. */
  readonly host: Host;
  /** A call of the chat style with the first key. */
  chat(
    body: Readonly<Record<string, unknown>>,
    init?: { readonly key?: string; readonly signal?: AbortSignal },
  ): Promise<Response>;
  /** `turnpike …` inside this gateway; fails where the command does. Returns standard output. */
  command(line: string, stdin?: string): Promise<string>;
  /** The same, failing or not. */
  tryCommand(line: string, stdin?: string): Promise<CommandResult>;
  /** A key with a balance of its own: an account with so many quota units, and an unlimited key of it (or one with an allowance). */
  customer(units: number, allowance?: number): Promise<string>;
  /** Stops it; fails where the books do not balance. */
  stop(): Promise<void>;
}

/** The secret of every channel of the default configuration; must never be seen by a client. */
export const VENDOR_KEY = 'vendor-canary-5f0c9e7d1b';

const CHANNELS = ['main', 'spare', 'third', 'fourth'];

const PIPELINE = [
  'accounts',
  'auth',
  'counters',
  'keys',
  'limits',
  'prices',
  'quota',
  'plans',
  'models',
  'styles',
  'vendors/openai',
  'vendors/compatible',
  'vendors/demo',
  'log',
];

/** What a test gateway is configured with unless the test says otherwise. */
export function defaultConfig(vendors: readonly FakeVendor[]): Record<string, unknown> {
  const channels = vendors.map(({ url }, i) => ({
    name: CHANNELS[i],
    vendor: 'compatible',
    url,
    key: VENDOR_KEY,
    priority: i,
  }));
  const from = channels.map(({ name }) => name);
  return {
    listen: { host: '127.0.0.1', port: 0 },
    store: { file: './turnpike.db' },
    pipeline: PIPELINE,
    channels: [...channels, { name: 'demo', vendor: 'demo' }],
    models: {
      ...(from.length === 0
        ? {}
        : { 'test-model': { from, price: { input: 1, output: 2 } }, 'free-model': { from, free: true } }),
      demo: { from: ['demo'], free: true },
    },
  };
}

/** The cost of passwords: a hash at the usual one takes more than the rest of a start. */
const CHEAP: PasswordCost = { ln: 10, r: 8, p: 1 };

/** A store for the gateways of a test: a file, or with `TURNPIKE_TEST_STORE=postgres` a database. */
export interface TestStore {
  /** The section `store` of gateway.yaml. */
  readonly section: Readonly<Record<string, unknown>>;
  /** What `readRows` and its like open: its file, or the address of its database. */
  readonly address: string;
  /** What its master key and its sockets are named after. */
  readonly place: string;
  /** The module of its driver, for another one around it. */
  readonly driver: string;
}

/** The store of this name for the folder of a gateway.yaml; always the same one. */
export async function testStore(dir: string, name = 'turnpike'): Promise<TestStore> {
  const url = await testDatabase(dir, name);
  const driver = fileURLToPath(
    new URL(`../../../plugins/stores/${url === undefined ? 'sqlite' : 'postgres'}/index.ts`, import.meta.url),
  );
  if (url !== undefined) {
    const section = { driver: 'postgres', url, data: `./${name}` };
    return { section, address: url, place: join(dir, name, 'turnpike'), driver };
  }
  const file = join(dir, `${name}.db`);
  return { section: { file: `./${name}.db` }, address: file, place: file, driver };
}

/** Starts a gateway. Everything it touches is gone after `stop`. */
export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const vendors = options.vendor === undefined ? [] : [options.vendor].flat();
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'turnpike-test-'));
  const configFile = join(dir, 'gateway.yaml');
  const store = (options.config?.store ?? (await testStore(dir)).section) as { url?: string; file?: string };
  const config: Record<string, unknown> = { ...defaultConfig(vendors), ...options.config, store };
  const storeFile = store.url ?? resolve(dir, store.file!);
  writeFileSync(configFile, stringify(config));
  const lines: string[] = [];
  const log = createLog({ level: 'debug', write: (line) => lines.push(line), now: () => Date.now() });
  let host: Host | undefined;
  const hand = definePlugin({
    name: 'hand',
    api: 2,
    wants: SERVICES,
    provides: [PasswordCost],
    create(its) {
      its.provide(PasswordCost, CHEAP);
      return {
        start() {
          host = its;
        },
      };
    },
  });
  const gateway = await openGateway({
    configFile,
    env: { ...options.env },
    log,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    plugins: [...(options.plugins ?? []), hand],
  });
  const { url: address, port } = await gateway.listen();
  const key = gateway.firstSecrets.key ?? '';

  const tryCommand = (line: string, stdin = ''): Promise<CommandResult> =>
    gateway.run({ argv: line.split(' '), stdin, cwd: dir });
  const command = async (line: string, stdin = ''): Promise<string> => {
    const { code, stdout, stderr } = await tryCommand(line, stdin);
    assert.equal(code, 0, `turnpike ${line}: ${stderr}`);
    return stdout.trim();
  };
  let customers = 0;

  return {
    url: address,
    port,
    key,
    dir,
    configFile,
    storeFile,
    rows: (sql) => readRows(storeFile, sql)[0]!,
    log: lines,
    gateway,
    get host() {
      return host!;
    },
    tryCommand,
    command,
    chat: (body, init = {}) =>
      fetch(`${address}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${init.key ?? key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'test-model', messages: [{ role: 'user', content: 'Hello' }], ...body }),
        ...(init.signal === undefined ? {} : { signal: init.signal }),
      }),
    async customer(units, allowance) {
      const name = `customer-${++customers}`;
      await host!.use(Accounts).create({ name, role: 'member' });
      if (units > 0) await command(`user credit ${name} ${units}`);
      return command(
        `key create --name ${name} --user ${name} ${allowance === undefined ? '--unlimited' : `--quota ${allowance}`}`,
      );
    },
    async stop() {
      try {
        await gateway.stop();
        if (options.mustReconcile !== false) assert.deepEqual(ledgerFaults(storeFile), []);
      } finally {
        if (options.dir === undefined) {
          rmSync(dir, { recursive: true, force: true });
          if (options.config?.store === undefined && isOnPostgres()) await dropTestDatabase(storeFile);
        }
      }
    },
  };
}
