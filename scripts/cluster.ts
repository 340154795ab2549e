/**
 * `npm run cluster [-- --gateways N] [--port PORT] [--keep]`: several gateways with one gateway.yaml, PostgreSQL,
 * Valkey and a load balancer on this machine, until Ctrl-C. Everything is in a scratch folder, which is removed at the
 * end unless `--keep` is given. `-- --scaling` starts none of it: it measures the cost of a write turn, and computes
 * limits for many gateways.
 */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Balancer, startBalancer } from './cluster/balancer.ts';
import { type Cluster, missingForCluster, openCluster } from './cluster/cluster.ts';
import { describeScaling } from './cluster/scaling.ts';

const { values } = parseArgs({
  options: {
    gateways: { type: 'string', default: '3' },
    port: { type: 'string', default: '8080' },
    keep: { type: 'boolean', default: false },
    scaling: { type: 'boolean', default: false },
  },
});
const gateways = wholeNumber('gateways', values.gateways, 1, 20);
const port = wholeNumber('port', values.port, 1, 65_535);
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

const missing = missingForCluster();
if (missing.length > 0) fail(missing.join('\n'), 1);

if (values.scaling) {
  await describeScaling(say);
  process.exit();
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'turnpike-cluster-')));
let cluster: Cluster | undefined;
let balancer: Balancer | undefined;
let interrupted = (): void => {};
const interruption = new Promise<void>((resolve) => {
  interrupted = resolve;
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupted);

try {
  await serve();
  await interruption;
  say('\nstopping: running calls may finish');
} finally {
  await end();
}

/** Starts everything, and prints how to use it. */
async function serve(): Promise<void> {
  say('starting PostgreSQL and Valkey');
  cluster = await openCluster({
    gateways,
    folder,
    config: readFileSync(new URL('./deploy/gateway.yaml', import.meta.url), 'utf8'),
    env: { PUBLIC_URL: `http://localhost:${port}` },
  });
  const [first, ...others] = cluster.gateways;
  say(`starting ${gateways} gateways`);
  await first!.start();
  await Promise.all(others.map((member) => member.start()));
  mkdirSync(join(folder, 'balancer'));
  const ports = cluster.gateways.map((member) => member.port);
  balancer = await startBalancer({ port, gateways: ports, folder: join(folder, 'balancer') });

  const secrets = await first!.process.logged(({ msg }) => msg === 'first start');
  const lines: readonly (readonly [string, unknown])[] = [
    ['balancer', `${balancer.url} (${balancer.title})`],
    ...cluster.gateways.map(({ name, url, process: { pid } }) => [name, `${url} (process ${pid})`] as const),
    ['PostgreSQL', cluster.database],
    ['Valkey', cluster.valkey.url],
    ['logs', join(folder, 'gateway-*.log')],
    ['root password', secrets.rootPassword],
    ['first API key', secrets.key],
    ['console', `http://localhost:${port}/console (sign in as root)`],
  ];
  say(`\n${lines.map(([name, value]) => `  ${name.padEnd(16)}${value}`).join('\n')}\n\nTry it:\n`);
  say(String(secrets.try).replace(first!.url, balancer.url));
  say('\nCtrl-C ends it.');
}

/** Stops everything that runs. */
async function end(): Promise<void> {
  try {
    // Through the load balancer, until the last call has ended.
    await cluster?.stop();
  } finally {
    await balancer?.stop();
    if (values.keep) say(`kept: ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= least && number <= most) return number;
  return fail(`--${name} is a whole number from ${least} to ${most}, not "${text}"`, 2);
}

function fail(line: string, code: number): never {
  process.stderr.write(`${line}\n`);
  process.exit(code);
}
