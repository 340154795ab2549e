/**
 * The floods: a member without a balance sends the requests that are most expensive for the gateway, and other accounts
 * must not notice.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { askControl, controlPath } from '../../core/operations/commands/control-socket.ts';
import { Database } from '../../plugins/stores/sqlite/binding.ts';
import { startProcess } from '../../test/kit/gateway/process.ts';
import { fillRecords } from '../../test/kit/gateway/usage-records.ts';
import { fakeVendor } from '../../test/kit/vendors/fake-vendor.ts';
import { jsonAnswer, wholeAnswer } from '../../test/kit/vendors/script.ts';
import { usageRecords } from './books.ts';
import { FLOODS, type Flood, type FloodKind, type Statuses } from './flooder.ts';

/** The measurements of one period. */
export interface Period {
  readonly name: 'quiet' | FloodKind;
  /** Response times of other accounts' calls and of `/healthz`, in milliseconds. */
  readonly calls: Latencies;
  readonly health: Latencies;
  /** Statuses of answers to other accounts that were not 200; 0: no answer. */
  readonly refused: readonly number[];
  /** Peak memory of the gateway's process, in bytes. */
  readonly rss: number;
  /** Peak size of its database, log and uploads, in bytes. */
  readonly disk: number;
  /** Number of token counting requests to the vendor. */
  readonly counted: number;
  /** Number of usage records written. */
  readonly records: number;
  /** The member's answers. */
  readonly statuses: Statuses;
}

interface Latencies {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

/** The results of the floods, and the violations. */
export interface FloodReport {
  readonly periods: readonly Period[];
  readonly violations: readonly string[];
  /** Slow answers to other accounts: may also be caused by other load on the machine. */
  readonly slow: readonly string[];
}

const PASSWORD = 'a long enough password';
/** Calls per minute allowed for each key and account. */
const PER_MINUTE = 5;
/** Each makes fewer than that; together they make one call per second. */
const NEIGHBOURS = 30;
/** Maximum cost of storing a large response, in quota units; a call of `paid` costs more than that. */
const KEPT_UNITS = 10_000;
/** Calls of the members whose statistics and log are read, and the names of models and tags among them. */
const FILLED = { rows: 12_000, models: 4_000, tags: 1_000 };

/**
 * Limits for slower answers, and for additional memory and disk. Most of the memory is request bodies that V8 has not
 * freed yet.
 */
const SLOWER = 4;
/** Whatever it is without a flood, `/healthz` answers within this many milliseconds. */
const HEALTH_MS = 100;
const MORE_MEMORY = 400 * 1024 ** 2;
const MORE_DISK = 300 * 1024 ** 2;
/** In addition to the records of other accounts: a few served calls, and one for each minute and kind of refusal. */
const MORE_RECORDS = 50;

const CONFIG = {
  listen: { host: '127.0.0.1', port: 0, body: { spool: './spool' } },
  store: { file: './turnpike.db' },
  limits: {
    requestsPerMinute: PER_MINUTE,
    concurrent: 2,
    perAccount: { requestsPerMinute: PER_MINUTE, concurrent: 2 },
  },
  pipeline: [
    ...['accounts', 'auth', 'counters', 'keys', 'limits', 'prices', 'guard', 'pseudonyms', 'quota', 'models', 'styles'],
    ...['vendors/compatible', 'vendors/anthropic', 'vendors/demo', 'log', 'audit', 'console'],
  ],
  guard: { rules: [{ name: 'tickets', pattern: 'TCK-\\d+', action: 'redact' }] },
  pseudonyms: { find: ['email', 'iban', 'card', 'ip', 'phone'] },
  // What one account may ask for, not what one address may.
  console: { limits: { requests: 1_000_000 } },
};

/** Runs them, one after the other; `seconds`: the duration of each, and of the quiet period before. */
export async function floods(seconds: number, progress: (line: string) => void): Promise<FloodReport> {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-floods-'));
  const vendor = await fakeVendor(({ path }) =>
    path.endsWith('/count_tokens') ? jsonAnswer(200, { input_tokens: 3 }) : wholeAnswer(),
  );
  const configFile = join(dir, 'gateway.yaml');
  const storeFile = join(dir, 'turnpike.db');
  const channel = { url: vendor.url, key: 'a-vendor-key-of-the-floods' };
  const config = {
    ...CONFIG,
    channels: [
      { name: 'main', vendor: 'compatible', ...channel },
      { name: 'counter', vendor: 'anthropic', ...channel },
      { name: 'demo', vendor: 'demo' },
    ],
    models: {
      good: { from: ['main'], price: { input: 1, output: 2 } },
      paid: { from: ['counter'], price: { input: 1_000, output: 1_000 } },
      cheap: { from: ['demo'], price: { input: 0.001, output: 0.001 } },
      free: { from: ['demo'], free: true },
      'free-*': { from: ['demo'], free: true },
    },
  };
  writeFileSync(configFile, stringify(config));
  const gateway = await startProcess(configFile);
  try {
    const command = async (line: string, stdin = ''): Promise<string> => {
      const at = controlPath(storeFile);
      const result = await askControl(at, { argv: line.split(' '), stdin, cwd: dir });
      if (result?.code !== 0) throw new Error(`turnpike ${line}: ${result?.stderr || result?.stdout}`);
      return result.stdout.trim();
    };
    const open = async (name: string, units: number): Promise<string> => {
      await command(`user create --name ${name} --role member --password-stdin`, PASSWORD);
      if (units > 0) await command(`user credit ${name} ${units}`);
      return command(`key create --name ${name} --user ${name} --unlimited`);
    };
    const keys: string[] = [];
    for (let i = 0; i < NEIGHBOURS; i++) keys.push(await open(`neighbour-${i}`, 1_000_000));
    const members = new Map<FloodKind, string>();
    for (const kind of FLOODS) members.set(kind, await open(`member-${kind}`, 0));
    // Answers of free models are hardly stored; this one is paid, and the remaining balance pays for nothing more.
    await command(`user credit member-recall ${KEPT_UNITS}`);
    const answer = await fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${members.get('recall')}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'cheap', input: 'x'.repeat(14_500_000), max_output_tokens: 16 }),
    });
    if (answer.status !== 200) throw new Error(`nothing to be recalled: ${answer.status} ${await answer.text()}`);
    const { id: responseId } = (await answer.json()) as { readonly id: string };

    const cookies = new Map<FloodKind, string>();
    for (const kind of FLOODS) cookies.set(kind, await signIn(gateway.port, `member-${kind}`));
    for (const kind of ['statistics', 'csv'] as const) fill(storeFile, `member-${kind}`);
    const watched = { pid: gateway.pid, port: gateway.port, dir, keys };
    const counts = (): number => vendor.requests.filter(({ path }) => path.endsWith('/count_tokens')).length;
    const agent = new Agent({ keepAlive: true });
    let made = 0;
    const period = async (name: Period['name'], work: Promise<Statuses>): Promise<Period> => {
      const before = { counted: counts(), records: usageRecords(storeFile) };
      const seen = await watch(watched, agent, () => made++, work);
      const records = usageRecords(storeFile) - before.records;
      const found = { name, ...seen, counted: counts() - before.counted, records };
      progress(lineOf(found));
      return found;
    };
    // Code that runs for the first time is slower.
    for (let i = 0; i < 2 * NEIGHBOURS; i++) await timed(agent, gateway.port, callOf(keys[i % NEIGHBOURS]!));
    const quiet = await period('quiet', setTimeout(seconds * 2_000, {}));
    const periods = [quiet];
    for (const kind of FLOODS) {
      const flood = {
        kind,
        port: gateway.port,
        key: members.get(kind)!,
        seconds,
        responseId,
        cookie: cookies.get(kind)!,
      };
      periods.push(await period(kind, runFlood(flood)));
    }
    agent.destroy();
    const complaints = gateway.complaints.map((line) => `the process complained: ${line}`);
    const { violations, slow } = shortcomings(periods);
    return { periods, violations: [...violations, ...complaints], slow };
  } finally {
    await gateway.kill();
    await vendor.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The session of an account, as the header `cookie`. */
async function signIn(port: number, username: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/user/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-requested-with': 'floods' },
    body: JSON.stringify({ username, password: PASSWORD }),
  });
  if (answer.status !== 200) throw new Error(`${username} cannot sign in: ${answer.status} ${await answer.text()}`);
  return answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
}

/** Gives an account a log and statistics: more than it could make while the floods run. */
function fill(storeFile: string, name: string): void {
  const db = new Database(storeFile, { timeout: 10_000 });
  try {
    const { id } = db.prepare('SELECT id FROM account WHERE name = ?').get(name) as { readonly id: number };
    const { rows, models, tags } = FILLED;
    const everyMs = 50_000;
    fillRecords(db, { rows, fromMs: Date.now() - rows * everyMs, everyMs, account: `${id}`, keys: 2, models });
    db.exec(`INSERT INTO usage_tag (begin_ms, tag, account_id, kind, key_id, model, channel, department_id, lines, repeats, amount, included,
        input, output)
      SELECT begin_ms / 86400000 * 86400000, 'tag ' || (ROW_NUMBER() OVER () % ${tags}), account_id, kind, key_id, model, channel,
        department_id, lines, repeats, amount, included, input, output
      FROM usage_hour WHERE account_id = ${id} ON CONFLICT DO NOTHING`);
  } finally {
    db.close();
  }
}

/** Violations by the floods. */
function shortcomings([quiet, ...rest]: readonly Period[]): Pick<FloodReport, 'violations' | 'slow'> {
  const violations: string[] = [];
  const slow: string[] = [];
  for (const { name, calls, health, refused, rss, disk, counted, records } of rest) {
    const slower = (what: string, now: Latencies, before: Latencies): void => {
      if (now.p99 >= SLOWER * before.p99)
        slow.push(`${name}: p99 of ${what} ${now.p99.toFixed(1)} ms, ${before.p99.toFixed(1)} ms where it is quiet`);
    };
    if (refused.length > 0) violations.push(`${name}: answers to others were ${refused.join(' ')}`);
    slower('calls', calls, quiet!.calls);
    slower('/healthz', health, quiet!.health);
    if (health.p99 >= HEALTH_MS) slow.push(`${name}: p99 of /healthz ${health.p99.toFixed(1)} ms`);
    if (rss > quiet!.rss + MORE_MEMORY)
      violations.push(`${name}: ${mb(rss)} of memory, ${mb(quiet!.rss)} where it is quiet`);
    if (disk > quiet!.disk + MORE_DISK)
      violations.push(`${name}: ${mb(disk)} of disk, ${mb(quiet!.disk)} where it is quiet`);
    if (records > calls.count + MORE_RECORDS) violations.push(`${name}: it left ${records} usage records`);
    if (counted > PER_MINUTE) violations.push(`${name}: the vendor got ${counted} token counting requests`);
  }
  return { violations, slow };
}

/** One line about a period. */
function lineOf({ name, calls, health, refused, rss, disk, counted, records, statuses }: Period): string {
  const times = ({ count, p50, p99 }: Latencies): string => `${count}, p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} ms`;
  const own = Object.entries(statuses).map(([status, count]) => `${count} x ${status}`);
  return [
    `${name}:`.padEnd(13),
    `calls ${times(calls)}; healthz ${times(health)}; ${refused.length} refused; memory ${mb(rss)}, disk ${mb(disk)}; ${records} usage records`,
    ...(counted > 0 ? [`; ${counted} counted by the vendor`] : []),
    ...(own.length > 0 ? [`; the member got ${own.join(', ')}`] : []),
  ].join('');
}

const mb = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MB`;

async function runFlood(flood: Flood): Promise<Statuses> {
  const script = fileURLToPath(new URL('./flooder.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(flood)], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return JSON.parse(output) as Statuses;
}

interface Watched {
  readonly pid: number;
  readonly port: number;
  readonly dir: string;
  readonly keys: readonly string[];
}

/** The calls of other accounts: one per second, and `/healthz` ten times as often, until the work is done. */
async function watch(
  { pid, port, dir, keys }: Watched,
  agent: Agent,
  next: () => number,
  work: Promise<Statuses>,
): Promise<Omit<Period, 'name' | 'counted' | 'records'>> {
  const calls: number[] = [];
  const health: number[] = [];
  const probes: Promise<void>[] = [];
  const refused: number[] = [];
  let rss = 0;
  let disk = 0;
  let over = false;
  const ask = async (into: number[], what: ProbeRequest): Promise<void> => {
    const { status, ms } = await timed(agent, port, what);
    into.push(ms);
    if (status !== 200) refused.push(status);
  };
  const ends = work.finally(() => {
    over = true;
  });
  for (let beat = 0; !over; beat++) {
    const nextAt = performance.now() + 100;
    if (beat % 10 === 0) probes.push(ask(calls, callOf(keys[next() % keys.length]!)));
    probes.push(ask(health, { method: 'GET', path: '/healthz' }));
    rss = Math.max(rss, memoryOf(pid));
    disk = Math.max(disk, diskOf(pid, dir));
    await setTimeout(Math.max(0, nextAt - performance.now()));
  }
  const statuses = await ends;
  await Promise.all(probes);
  return { calls: latencies(calls), health: latencies(health), refused, rss, disk, statuses };
}

interface ProbeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const BODY = JSON.stringify({ model: 'good', max_tokens: 16, messages: [{ role: 'user', content: 'Hello?' }] });

function callOf(key: string): ProbeRequest {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return { method: 'POST', path: '/v1/chat/completions', headers, body: BODY };
}

/** Status 0: no answer. */
async function timed(agent: Agent, port: number, { method, path, headers, body }: ProbeRequest) {
  const startedMs = performance.now();
  const status = await new Promise<number>((resolve) => {
    const asking = httpRequest({ agent, port, host: '127.0.0.1', method, path, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
      answer.on('error', () => resolve(0));
    });
    asking.on('error', () => resolve(0));
    asking.end(body);
  });
  return { status, ms: performance.now() - startedMs };
}

function latencies(ms: readonly number[]): Latencies {
  const sorted = ms.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99) };
}

function memoryOf(pid: number): number {
  const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb ?? 0) * 1_024;
}

/** The size of the files in the folder, and of open uploads, which have no name. */
function diskOf(pid: number, dir: string): number {
  let bytes = 0;
  for (const name of readdirSync(dir)) bytes += sizeOf(join(dir, name));
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    const path = `/proc/${pid}/fd/${fd}`;
    if (linkOf(path).includes('upload-')) bytes += sizeOf(path);
  }
  return bytes;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // closed in between
  }
}

function sizeOf(path: string): number {
  try {
    const found = statSync(path);
    return found.isFile() ? found.size : 0;
  } catch {
    return 0;
  }
}
