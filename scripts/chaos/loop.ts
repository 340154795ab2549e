/**
 * The kill loop: a gateway under load is killed at a random moment and restarted on the same database, many times over;
 * optionally with a simulated power failure.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { stringify } from 'yaml';
import { askControl, controlPath } from '../../core/operations/commands/control-socket.ts';
import { type GatewayProcess, startProcess, turnpike } from '../../test/kit/gateway/process.ts';
import { ledgerFaults } from '../../test/kit/gateway/reconcile.ts';
import { compare, type Kind, recoveredCalls, runningCalls, type Violation } from './books.ts';
import { type Call, nextCall } from './calls.ts';
import { makeCall } from './client.ts';
import {
  CUSTOMER_CONFIG,
  type Customer,
  credit,
  keyOf,
  openCustomers,
  ROOT_PASSWORD,
  type RunCommand,
} from './customers.ts';
import { CHAOS_PIPELINE } from './pipeline.ts';
import { createDisk } from './power.ts';
import { createRandom, type Random } from './random.ts';
import { startVendors } from './vendor.ts';

/** Options of the loop. */
export interface ChaosOptions {
  readonly kills: number;
  readonly seed: number;
  /** Each kill is also a power failure: of data that was not synced, nothing or a random part is left. */
  readonly power: boolean;
  /** Concurrent calls. */
  readonly callers: number;
  /** Called with a line about every kill. */
  readonly progress: (line: string) => void;
}

/** The results. */
export interface ChaosReport {
  readonly kills: number;
  readonly calls: number;
  /** Answers that a client has received completely, refusals included. */
  readonly complete: number;
  /** Those of them that were served. */
  readonly served: number;
  readonly refused: number;
  readonly failed: number;
  /** Calls whose client disconnected. */
  readonly aborted: number;
  /** Calls cut off by a kill or a vendor. */
  readonly cut: number;
  /** Reservations released by a later run, and how many of their calls had delivered something by a checkpoint. */
  readonly recovered: { readonly all: number; readonly charged: number };
  readonly violations: readonly Violation[];
}

const CONFIG = {
  listen: { host: '127.0.0.1', port: 0 },
  store: { file: './turnpike.db' },
  pipeline: CHAOS_PIPELINE,
  ...CUSTOMER_CONFIG,
};
/** The credit of the customer with the small balance before each kill. */
const ALMS = 1_000;
const SOON_MS = { least: 200, most: 800 };
/** Every fifth run lives long enough for checkpoints. */
const LATER_MS = { least: 1_200, most: 1_900 };
/** Checking the whole ledger takes longer with every call, so it is not done after every kill. */
const COUNT_AGAIN_EVERY = 10;

/** Runs several loops at once, each with its share of the kills and its own database. */
export async function killLoops(loops: number, options: ChaosOptions): Promise<ChaosReport> {
  const { kills, seed, progress } = options;
  const reports = await Promise.all(
    Array.from({ length: loops }, (_, i) =>
      killLoop({
        ...options,
        kills: Math.floor((kills + i) / loops),
        seed: seed + i,
        progress: (line) => progress(loops === 1 ? line : `loop ${i + 1}: ${line}`),
      }),
    ),
  );
  const sum = (count: (report: ChaosReport) => number): number => reports.map(count).reduce((a, b) => a + b, 0);
  return {
    kills: sum((report) => report.kills),
    calls: sum((report) => report.calls),
    complete: sum((report) => report.complete),
    served: sum((report) => report.served),
    refused: sum((report) => report.refused),
    failed: sum((report) => report.failed),
    aborted: sum((report) => report.aborted),
    cut: sum((report) => report.cut),
    recovered: { all: sum(({ recovered }) => recovered.all), charged: sum(({ recovered }) => recovered.charged) },
    violations: reports.flatMap(({ violations }) => violations),
  };
}

/** Runs the loop; removes everything it creates. */
export async function killLoop(options: ChaosOptions): Promise<ChaosReport> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'turnpike-chaos-')));
  try {
    return await runIn(dir, options);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function runIn(scratch: string, { kills, seed, power, callers, progress }: ChaosOptions): Promise<ChaosReport> {
  const random = createRandom(seed);
  const dir = join(scratch, 'data');
  mkdirSync(dir);
  const disk = power ? createDisk(dir, scratch) : undefined;
  const configFile = join(dir, 'gateway.yaml');
  const storeFile = join(dir, 'turnpike.db');
  const calls: Call[] = [];
  const violations: Violation[] = [];
  const blame = (kind: Kind, text: string): void => void violations.push({ kind, text });
  let customers: readonly Customer[] = [];

  /** Runs a command while the gateway runs, as the command line does. */
  const command: RunCommand = async (line, stdin = '') => {
    const result = await askControl(controlPath(storeFile), { argv: line.split(' '), stdin, cwd: dir });
    if (result?.code !== 0) throw new Error(`turnpike ${line}: ${result?.stderr || result?.stdout}`);
    return result.stdout.trim();
  };
  /** Invariants as soon as a gateway is ready. */
  const inspect = async (run: number): Promise<void> => {
    const left = runningCalls(storeFile);
    if (left > 0) blame('hold left', `${left} calls of another run are open when run ${run} is ready`);
    const line = { argv: ['reconcile'], stdin: '', cwd: dir };
    const { code, stdout, stderr } = (await askControl(controlPath(storeFile), line))!;
    if (code !== 0) blame('reconcile', `run ${run}: ${stdout}${stderr}`);
    if (run % COUNT_AGAIN_EVERY === 0)
      for (const fault of ledgerFaults(storeFile)) blame('ledger', `run ${run}: ${fault}`);
  };

  /** Starts a gateway on the existing database, and its vendors; stops them after `use`. */
  const withGateway = async (use: (gateway: GatewayProcess) => Promise<void>): Promise<void> => {
    const vendors = await startVendors((number) => calls[number]!);
    try {
      writeFileSync(configFile, stringify({ ...CONFIG, ...vendors.config }));
      disk?.settle();
      const env = { TURNPIKE_ROOT_PASSWORD: ROOT_PASSWORD, ...disk?.env };
      const gateway = await startProcess(configFile, { env });
      await use(gateway).finally(() => gateway.kill());
    } finally {
      await vendors.close();
    }
  };

  for (let run = 1; run <= kills; run++) {
    await withGateway(async (gateway) => {
      const before = calls.length;
      if (run === 1) customers = await openCustomers(gateway.url, command);
      await inspect(run);
      await credit(command, customers.at(-1)!, ALMS);
      const { least, most } = run % 5 === 0 ? LATER_MS : SOON_MS;
      const lifeMs = random.between(least, most);
      const load = startLoad(gateway.port, customers, calls, callers, random);
      // On a slow machine the gateway must have served something, too; but it may also die early.
      if (run % 3 !== 0) await load.warm;
      await setTimeout(lifeMs);
      const over = load.end();
      await gateway.kill();
      await over;
      // Alternates between losing all unsynced data and keeping some of it.
      disk?.losePower(run % 2 === 0 ? random.next() : 0, random);
      for (const line of gateway.complaints) blame('process', `run ${run}: ${line}`);
      const made = calls.length - before;
      progress(`kill ${run} of ${kills} after ${lifeMs} ms: ${made} calls, ${violations.length} violations so far`);
    });
  }
  await withGateway(async (gateway) => {
    await inspect(kills + 1);
    const { code, stdout } = await turnpike(['reconcile', '--config', configFile]);
    if (code !== 0) blame('reconcile', `beside the last run: ${stdout}`);
    await gateway.stop().catch((error: Error) => blame('process', error.message));
  });
  for (const fault of ledgerFaults(storeFile)) blame('ledger', fault);
  violations.push(...compare(storeFile, calls, customers));

  const count = (fits: (call: Call) => boolean): number => calls.filter(fits).length;
  return {
    kills,
    calls: calls.length,
    complete: count(({ complete }) => complete),
    served: count(({ complete, status }) => complete && status === 200),
    refused: count(({ complete, status }) => complete && status === 403),
    failed: count(({ complete, status }) => complete && status !== 200 && status !== 403),
    aborted: count(({ complete, left }) => !complete && left),
    cut: count(({ complete, left }) => !complete && !left),
    recovered: recoveredCalls(storeFile),
    violations,
  };
}

/**
 * Concurrent callers, each making one call after the other; `warm` resolves after this many calls, `end` starts no more
 * calls and resolves when the last has ended.
 */
function startLoad(
  port: number,
  customers: readonly Customer[],
  calls: Call[],
  callers: number,
  random: Random,
): { readonly warm: Promise<void>; end(): Promise<void> } {
  const agent = new Agent({ keepAlive: true });
  let ending = false;
  let over = 0;
  let isWarm = (): void => {};
  const warm = new Promise<void>((resolve) => {
    isWarm = resolve;
  });
  const keepCalling = async (): Promise<void> => {
    while (!ending) {
      const call = nextCall(calls.length, customers.length, random);
      calls.push(call);
      await makeCall(call, port, keyOf(customers[call.customer]!, call.number), agent);
      if (++over === callers) isWarm();
    }
  };
  const all = Array.from({ length: callers }, keepCalling);
  return {
    warm,
    async end() {
      ending = true;
      await Promise.all(all);
      agent.destroy();
    },
  };
}
