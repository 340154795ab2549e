/**
 * `npm run cluster -- --scaling`: the limits of 10, 100 and 1,000 gateways on one database. Measures the cost of a
 * write turn on a local PostgreSQL server, and computes the rest from that and from constants of the code.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenStore, Step, Sum } from '../../core/plugin.ts';
import driver from '../../plugins/stores/postgres/index.ts';
import { startPostgres } from '../../test/kit/stand-ins/postgres.ts';

/** The cost of a batch: a fixed part, and a part per call. Milliseconds. */
export interface TurnCost {
  readonly fixedMs: number;
  readonly callMs: number;
}

/** Constants of the code. */
const CODE = {
  /** `BEAT_MS` of the membership: an update and a read of all rows. */
  beatsPerSecond: 0.5,
  /** Gateways with streams longer than a second write their state once a second. */
  checkpointsPerSecond: 1,
  /** `store.pool`, the writer, the membership. */
  connections: 4 + 2,
  /** `LONGEST_WAIT_MS`: if lists wait longer, the store refuses. */
  longestWaitMs: 2_000,
} as const;

const GATEWAYS = [3, 10, 100, 1_000] as const;
/** Calls per second of each gateway: a busy one, and an idle one. */
const CALLS = [10, 100] as const;
const DAY_S = 86_400;

/** Measures, and prints a table in Markdown. */
export async function describeScaling(say: (line: string) => void): Promise<void> {
  const { cost, rowBytes } = await measureTurn();
  say(
    `a turn of writing: ${cost.fixedMs.toFixed(2)} ms, and ${(cost.callMs * 1_000).toFixed(0)} µs for each call; a record: ${rowBytes} bytes\n`,
  );
  say(
    '| Gateways | Calls/s each | Calls/s | Turns/s | Wait for a turn | Calls in a turn | Beats/s | Rows read by beats/s | Connections | Records a day |',
  );
  say('|---|---|---|---|---|---|---|---|---|---|');
  for (const gateways of GATEWAYS) {
    for (const calls of CALLS) {
      const { turns, waitMs, perTurn } = turnsOf(cost, gateways, calls);
      const total = gateways * calls;
      const beats = gateways * CODE.beatsPerSecond;
      const wait =
        waitMs === undefined ? 'no end' : `${number(waitMs)} ms${waitMs > CODE.longestWaitMs ? ' (refused)' : ''}`;
      const row = [gateways, calls, total, turns, wait, perTurn, beats, beats * gateways, gateways * CODE.connections];
      const gigabytes = (total * DAY_S * rowBytes) / 1e9;
      say(
        `| ${[...row.map((cell) => (typeof cell === 'number' ? number(cell) : cell)), `${number(gigabytes)} GB`].join(' | ')} |`,
      );
    }
  }
}

/**
 * How often the lock of all batches changes hands, how long a gateway waits for it, and how many calls it then writes.
 * With little load each call has its own turn; otherwise all gateways queue, and calls share turns. Undefined: the load
 * exceeds the maximum.
 */
export function turnsOf(
  { fixedMs, callMs }: TurnCost,
  gateways: number,
  callsPerSecond: number,
): { readonly turns: number; readonly waitMs: number | undefined; readonly perTurn: number } {
  const total = gateways * callsPerSecond;
  // The time of each second that is left for the fixed cost of turns.
  const leftMs = 1_000 - total * callMs;
  if (leftMs <= 0) return { turns: 0, waitMs: undefined, perTurn: Number.POSITIVE_INFINITY };
  const demand = total + gateways * CODE.checkpointsPerSecond;
  const turns = Math.min(demand, leftMs / fixedMs);
  const perTurn = Math.max(1, total / turns);
  const turnMs = fixedMs + perTurn * callMs;
  const busy = (turns * fixedMs + total * callMs) / 1_000;
  const inLine = turns < demand ? gateways : Math.min(gateways, 1 / (1 - busy));
  return { turns, waitMs: turnMs * inLine, perTurn };
}

/** Batches of few and of many calls, each with a record and six amounts that all of them add to. */
const BATCHES = [1, 200] as const;
const REPEATS = 60;

async function measureTurn(): Promise<{ readonly cost: TurnCost; readonly rowBytes: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-scaling-'));
  const postgres = await startPostgres();
  try {
    const url = await postgres.database();
    const log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };
    const settings = { url, pool: 1, statementTimeout: '10s' };
    const store = await driver.open({ file: join(folder, 'turnpike'), settings, log });
    try {
      for (const sql of TABLES) await store.run(sql);
      const few = await turnMs(store, BATCHES[0]);
      const many = await turnMs(store, BATCHES[1]);
      const callMs = (many - few) / (BATCHES[1] - BATCHES[0]);
      const [size] = await postgres.query(
        url,
        `SELECT pg_total_relation_size('record') / COUNT(*) AS bytes FROM record`,
      );
      return { cost: { fixedMs: few - callMs, callMs }, rowBytes: Number(size!.bytes) };
    } finally {
      await store.close();
    }
  } finally {
    postgres.remove();
    rmSync(folder, { recursive: true });
  }
}

/** Like the ledger and the usage records: a row for each call, and rows that every call adds to. */
const TABLES = [
  `CREATE TABLE record (id TEXT NOT NULL PRIMARY KEY, account_id INTEGER NOT NULL, at_ms INTEGER NOT NULL, charged INTEGER NOT NULL,
    notes TEXT NOT NULL)`,
  'CREATE INDEX record_of_account ON record (account_id, at_ms)',
  'CREATE TABLE hot (id INTEGER NOT NULL PRIMARY KEY, used INTEGER NOT NULL, held INTEGER NOT NULL)',
  'INSERT INTO hot (id, used, held) VALUES (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0)',
];
/** An account's and a key's bucket, lease and debit. */
const SUMS: readonly Sum[] = [1, 2, 3, 4, 5, 6].map((id) => ({
  sql: 'UPDATE hot SET used = used + ?, held = held - ? WHERE id = ?',
  params: [id],
  must: 'missing',
}));
const NOTES = 'what a call was, in as many characters as most of them take'.padEnd(120, '.');
let written = 0;

function settling(): readonly Step[] {
  const id = `call-${String(++written).padStart(20, '0')}`;
  return [
    {
      sql: 'INSERT INTO record (id, account_id, at_ms, charged, notes) VALUES (?, ?, ?, ?, ?)',
      params: [id, 1, 1_700_000_000_000 + written, 1_000_000n, NOTES],
    },
    ...SUMS.map((to) => ({ to, adds: [1_000_000n, 1_000_000n] })),
  ];
}

/** The median time of one batch with this many calls, of one gateway that has the server to itself. */
async function turnMs(store: OpenStore, calls: number): Promise<number> {
  const times: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const beganMs = performance.now();
    await Promise.all(Array.from({ length: calls }, () => store.atomic(settling())));
    times.push(performance.now() - beganMs);
  }
  return times.sort((a, b) => a - b)[REPEATS >> 1]!;
}

/** `1,234`; of small numbers two significant digits. */
function number(value: number): string {
  if (!Number.isFinite(value)) return '∞';
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(2)));
}
