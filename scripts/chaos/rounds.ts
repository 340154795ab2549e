/**
 * The rounds of a cluster: several gateways under load on one database, with one fault per round. Afterwards the
 * records of clients, vendor and gateways are compared, and customers with quota must be served.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { ledgerFaults } from '../../test/kit/gateway/reconcile.ts';
import { readRows } from '../../test/kit/gateway/rows.ts';
import { type Cluster, openCluster } from '../cluster/cluster.ts';
import { compare, type Kind, layersOf, recordsIn, recoveredCalls } from './books.ts';
import { type Call, nextCall } from './calls.ts';
import { makeCall } from './client.ts';
import { CUSTOMER_CONFIG, type Customer, credit, keyOf, openCustomers, ROOT_PASSWORD } from './customers.ts';
import { drawFault, type Fault } from './faults.ts';
import { CHAOS_PIPELINE } from './pipeline.ts';
import { createRandom, type Random } from './random.ts';
import { startVendors } from './vendor.ts';

/** Options of the rounds. */
export interface RoundsOptions {
  readonly gateways: number;
  readonly rounds: number;
  readonly seed: number;
  /** Concurrent calls at each gateway. */
  readonly callers: number;
  /** Called with a line about every round. */
  readonly progress: (line: string) => void;
}

/** The results. */
export interface RoundsReport {
  readonly rounds: number;
  readonly calls: number;
  /** Complete answers. */
  readonly served: number;
  /** Complete refusals because of quota. */
  readonly refused: number;
  /** Calls that a fault cut off or refused, at affected gateways. */
  readonly hurt: number;
  /** Calls of ended processes that another one recovered. */
  readonly recovered: { readonly all: number; readonly charged: number };
  readonly violations: readonly RoundsViolation[];
}

/** A violation. `cut`: a call at a healthy gateway was cut off; `refused`: the account had quota. */
export interface RoundsViolation {
  readonly kind: Kind | 'cut' | 'refused';
  readonly text: string;
}

/* biome-ignore-start lint/suspicious/noTemplateCurlyInString: the gateway fills them in */
const CONFIG = {
  listen: { host: '${LISTEN_HOST}', port: '${PORT}' },
  store: { driver: 'postgres', url: '${DATABASE_URL}', data: '${TURNPIKE_DATA}' },
  counters: { driver: 'valkey', url: '${VALKEY_URL}' },
  pipeline: CHAOS_PIPELINE,
  // Counted limits that are never reached, even if each gateway enforces a share of them.
  limits: { requestsPerMinute: 10_000_000, concurrent: 100_000, tokensPerMinute: 1_000_000_000 },
  ...CUSTOMER_CONFIG,
};
/* biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above */

/** The credit of the customer with the small balance in each round. */
const ALMS = 1_000;
/** Duration of load before the fault, and after the recovery. */
const BEFORE_MS = { least: 1_000, most: 2_500 };
const AFTER_MS = 1_000;
/**
 * Without calls, everything must be closed after this time: reservations of a dead process are recovered within its
 * lease.
 */
const RECOVERY_MS = 30_000;
/** An account with this much quota and no reservations is served. More than any reservation. */
const ENOUGH = 1_000n * 1_000_000n;
/** The customers that never run out of quota. */
const RICH = 2;

/** Runs them; removes everything it creates. */
export async function clusterRounds(options: RoundsOptions): Promise<RoundsReport> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'turnpike-rounds-')));
  const calls: Call[] = [];
  const vendors = await startVendors((number) => calls[number]!);
  try {
    const cluster = await openCluster({
      gateways: options.gateways,
      folder,
      config: stringify({ ...CONFIG, ...vendors.config }),
      env: { TURNPIKE_ROOT_PASSWORD: ROOT_PASSWORD },
      cuts: true,
    });
    try {
      await Promise.all(cluster.gateways.map((gateway) => gateway.start()));
      return await runIn(cluster, calls, vendors.note, options);
    } finally {
      // Calls that did not end successfully are among the violations.
      await cluster.stop().catch(() => {});
    }
  } finally {
    await vendors.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runIn(
  cluster: Cluster,
  calls: Call[],
  note: () => void,
  { rounds, seed, callers, progress }: RoundsOptions,
): Promise<RoundsReport> {
  const random = createRandom(seed);
  const { database, gateways } = cluster;
  const [first] = gateways;
  const agent = new Agent({ keepAlive: true });
  const violations = new Map<string, RoundsViolation>();
  const blame = (...found: readonly RoundsViolation[]): void => {
    for (const violation of found) {
      if (!violations.has(violation.text)) progress(`  ${violation.kind}: ${violation.text}`);
      violations.set(violation.text, violation);
    }
  };
  const customers = await openCustomers(first!.url, first!.command);
  /** Calls at gateways that were affected by a fault. */
  const hurt = new Set<Call>();

  /** Makes calls until stopped. Resolves when the last call has ended. */
  const load = (): { end(): Promise<void> } => {
    let ending = false;
    const keepCalling = async (gateway: number): Promise<void> => {
      while (!ending) {
        const call = nextCall(calls.length, customers.length, random, gateway);
        calls.push(call);
        await makeCall(call, gateways[gateway]!.port, keyOf(customers[call.customer]!, call.number), agent);
        // No gateway is reachable or able to serve.
        if (!call.left && (call.status === undefined || call.status === 503)) await sleep(50);
      }
    };
    const all = gateways.flatMap((_, gateway) => Array.from({ length: callers }, () => keepCalling(gateway)));
    return {
      async end() {
        ending = true;
        await Promise.all(all);
      },
    };
  };

  /** The invariants without load and faults. */
  const inspect = async (round: number): Promise<void> => {
    await settled(cluster).catch((error: Error) =>
      blame({ kind: 'hold left', text: `round ${round}: ${error.message}` }),
    );
    blame(...(await unservedProbes(cluster, calls, customers, agent)));
    note();
    blame(...compare(database, calls, customers, (call) => hurt.has(call) && call.status !== 200));
    for (const fault of ledgerFaults(database)) blame({ kind: 'ledger', text: `round ${round}: ${fault}` });
    await first!.command('reconcile').catch((error: Error) => blame({ kind: 'reconcile', text: error.message }));
    for (const { name, process } of gateways) {
      for (const line of process.complaints) blame({ kind: 'process', text: `round ${round}: ${name}: ${line}` });
    }
  };

  /** No process may end without being stopped; ended ones are restarted. */
  const standUp = async (what: string): Promise<void> => {
    for (const gateway of gateways) {
      const ended = await Promise.race([gateway.process.ended, undefined]);
      if (ended === undefined) continue;
      const reasons = gateway.process.log.filter(({ level }) => level === 'error').slice(-3);
      const text = `${gateway.name} ended with ${ended.code ?? ended.signal}, ${what}: ${JSON.stringify(reasons)}`;
      blame({ kind: 'process', text });
      await gateway.start();
    }
  };

  for (let round = 1; round <= rounds; round++) {
    const before = calls.length;
    const fault = drawFault(round - 1, cluster, random);
    await credit(first!.command, customers.at(-1)!, ALMS);
    const running = load();
    await sleep(random.between(BEFORE_MS.least, BEFORE_MS.most));
    await fault.strike().catch((error: Error) => blame({ kind: 'process', text: `${fault.name}: ${error.message}` }));
    await sleep(AFTER_MS);
    await running.end();
    await standUp(`though it was the ${fault.name} in round ${round}`);
    const made = calls.slice(before);
    blame(...wronged(made, fault, cluster));
    for (const call of made) if (isHurt(call, fault, cluster)) hurt.add(call);
    await inspect(round);
    const name = fault.name.padEnd(34);
    progress(`round ${round} of ${rounds}: ${name}${made.length} calls, ${violations.size} violations so far`);
  }
  agent.destroy();
  for (const gateway of gateways) {
    await gateway.stop().catch((error: Error) => blame({ kind: 'process', text: `${gateway.name}: ${error.message}` }));
  }

  const count = (fits: (call: Call) => boolean): number => calls.filter(fits).length;
  return {
    rounds,
    calls: calls.length,
    served: count(({ complete, status }) => complete && status === 200),
    refused: count(({ complete, status }) => complete && status === 403),
    hurt: count((call) => hurt.has(call) && !isGood(call)),
    recovered: recoveredCalls(database),
    violations: [...violations.values()],
  };
}

/** Models whose vendors finally answer successfully. */
const WELL: readonly string[] = ['good', 'flaky', 'slow'];

/** The answer is complete, or the call is not checked. */
function isGood({ left, complete, status, model }: Call): boolean {
  return left || !WELL.includes(model) || (complete && (status === 200 || status === 403));
}

function isHurt({ gateway }: Call, { hurts }: Fault, { gateways }: Cluster): boolean {
  return hurts === undefined || hurts.includes(gateways[gateway]!);
}

/** Calls that were affected although they should not be. */
function wronged(calls: readonly Call[], fault: Fault, cluster: Cluster): readonly RoundsViolation[] {
  return calls.flatMap((call): readonly RoundsViolation[] => {
    const what = `call ${call.number} (${call.model}${call.stream ? ', streamed' : ''}) at ${cluster.gateways[call.gateway]!.name}`;
    if (call.complete && call.status === 403 && call.customer < RICH) {
      return [{ kind: 'refused', text: `${what} was refused for quota, of which there is plenty; ${fault.name}` }];
    }
    if (isHurt(call, fault, cluster) || isGood(call)) return [];
    const end = call.complete ? `was answered ${call.status} ${call.told}` : `broke off (status ${call.status})`;
    return [{ kind: 'cut', text: `${what} ${end}, though it was the ${fault.name}` }];
  });
}

/** Resolves when every gateway is ready, no call is running, and no ended process has leases. */
async function settled({ database, gateways }: Cluster): Promise<void> {
  const tooLate = performance.now() + RECOVERY_MS;
  for (;;) {
    const [[row] = []] = readRows(
      database,
      `SELECT (SELECT COUNT(*) FROM running) AS running,
        (SELECT COUNT(*) FROM lease WHERE epoch NOT IN (SELECT epoch FROM store_process)) AS leases`,
    );
    const ready = await Promise.all(
      gateways.map(({ url }) => fetch(`${url}/readyz`).then(({ status }) => status === 200)),
    );
    if (row?.running === 0 && row.leases === 0 && !ready.includes(false)) return;
    if (performance.now() > tooLate) {
      const state = `${ready.filter((each) => each).length} gateways are ready`;
      throw new Error(
        `${row?.running} calls are open, and ${row?.leases} leases of processes that have ended; ${state}`,
      );
    }
    await sleep(250);
  }
}

/** Makes a call at each gateway for every customer that can pay for it; returns those that were not served. */
async function unservedProbes(
  cluster: Cluster,
  calls: Call[],
  customers: readonly Customer[],
  agent: Agent,
): Promise<readonly RoundsViolation[]> {
  const found: RoundsViolation[] = [];
  const left = quotaLeft(cluster.database);
  for (const [customer, { accountId, name, keys }] of customers.entries()) {
    if ((left.get(accountId) ?? 0n) < ENOUGH) continue;
    for (const [gateway, { port, name: at }] of cluster.gateways.entries()) {
      const call: Call = {
        ...nextCall(calls.length, 1, CALM, gateway),
        customer,
        model: 'good',
        leavesAfterMs: undefined,
      };
      calls.push(call);
      await makeCall(call, port, keys[call.number % keys.length]!, agent);
      if (call.complete && call.status === 200) continue;
      const answer = call.complete ? `answered ${call.status} ${call.told}` : 'broken off';
      found.push({
        kind: 'refused',
        text: `call ${call.number} at ${at} was ${answer}: ${name} had ${left.get(accountId)} left`,
      });
    }
  }
  return found;
}

/** Not random: all probes are the same. */
const CALM: Random = { next: () => 0.99, between: (least) => least, pick: (choices) => choices[0]![1] };

/** The minimum that each account can spend: the rest of the buckets its last call was charged to. */
function quotaLeft(database: string): ReadonlyMap<number, bigint> {
  const [buckets = []] = readRows(
    database,
    `SELECT kind || ' ' || owner || ' ' || window_start AS name, unlimited, CAST(granted - used AS TEXT) AS rest FROM bucket`,
  );
  const rests = new Map(
    buckets.map(({ name, unlimited, rest }) => [name, unlimited === 1 ? undefined : BigInt(rest!)]),
  );
  const left = new Map<number, bigint>();
  for (const record of recordsIn(database)) {
    if (record.charged === 0n) continue;
    const rest = layersOf(record).map((layer) => rests.get(layer.join(' ')));
    const least = rest.reduce((a, b) => (b === undefined || (a !== undefined && a < b) ? a : b), undefined);
    if (least !== undefined) left.set(Number(record.account_id), least);
  }
  return left;
}
