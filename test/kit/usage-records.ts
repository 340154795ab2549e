/** Usage records: made up, read straight from the file of a running gateway, and as many as a busy year would write. */
import type BetterSqlite3 from 'better-sqlite3';
import type { FailureKind, Images, Outcome } from '../../core/contracts/call.ts';
import type { UsageRecord } from '../../core/contracts/records.ts';
import { Database } from '../../plugins/stores/sqlite/binding.ts';

/** One usage record, as far as tests ask. */
export interface UsageRow {
  /** The `x-request-id` of the answer. */
  readonly id: string;
  readonly model: string;
  readonly channel: string;
  readonly outcome: Outcome | 'recovered';
  readonly status: number;
  /** Tokens; null where nothing was used. */
  readonly input: number | null;
  readonly output: number | null;
  /** Tokens of images among them; null where the call has nothing to do with them, as everything below. */
  readonly inputImage: number | null;
  readonly outputImage: number | null;
  readonly characters: number | null;
  readonly seconds: number | null;
  readonly images: Images | null;
  /** True where the vendor did not count and we did. */
  readonly estimated: boolean;
  /** Micro-quota. */
  readonly charged: bigint;
  /** How many more it stands for. */
  readonly repeats: number;
  /** Of a request that is no call; else empty. */
  readonly route: string;
  readonly attempts: readonly {
    readonly channel: string;
    readonly status?: number;
    readonly failure?: FailureKind;
    readonly reason?: string;
  }[];
  /** What else was noted. */
  readonly other: Readonly<Record<string, unknown>>;
}

/** A record with only what a test says about it. */
export function usageRecord(facts: Partial<UsageRecord>): UsageRecord {
  return {
    id: '01',
    atMs: 0,
    accountId: 1,
    keyId: 1,
    style: 'chat',
    model: 'm',
    channel: 'c',
    stream: false,
    outcome: 'served',
    status: 200,
    usage: undefined,
    charged: 0n,
    durationMs: 0,
    firstByteMs: undefined,
    ip: '192.0.2.1',
    other: {},
    ...facts,
  };
}

let made = 0;

/** An id as exchanges have them, of this moment; later calls make larger ones. */
export function idAt(atMs: number): string {
  return `${atMs.toString(32).padStart(10, '0')}${(made++).toString(32).padStart(6, '0')}testtestte`;
}

/** All usage records in this SQLite file, oldest first. */
export function usageRecords(file: string): readonly UsageRow[] {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    const rows = db
      .prepare<[], { [column: string]: string | number | null }>(
        `SELECT id, model, channel, outcome, status, input, output, input_image AS "inputImage",
            output_image AS "outputImage", characters, seconds, images, image_size, image_quality, estimated,
            CAST(charged AS TEXT) AS charged, repeats, route, other
          FROM usage_record ORDER BY id`,
      )
      .all();
    return rows.map(({ images, image_size: size, image_quality: quality, ...row }) => {
      const other = JSON.parse(String(row.other)) as UsageRow['other'];
      return {
        ...(row as unknown as UsageRow),
        images: images === null ? null : ({ count: images, size, quality } as Images),
        estimated: row.estimated === 1,
        charged: BigInt(row.charged ?? 0),
        attempts: (other.attempts ?? []) as UsageRow['attempts'],
        other,
      };
    });
  } finally {
    db.close();
  }
}

/** What `fillRecords` writes. */
export interface Filling {
  readonly rows: number;
  /** The first; the others come `everyMs` apart. */
  readonly fromMs: number;
  readonly everyMs: number;
  /** Whose they are: a number, or an expression with the number of the row, `i`. */
  readonly account: string;
  /** How many of each an account uses, in turn: the keys `account * 10` and following, `model-0` and following. */
  readonly keys: number;
  readonly models: number;
}

const DIGITS = "'0123456789abcdefghijklmnopqrstuv'";
const time = Array.from({ length: 10 }, (_, i) => `substr(${DIGITS}, ((ms >> ${45 - 5 * i}) & 31) + 1, 1)`).join(
  ' || ',
);

/**
 * Writes records, and their sums, faster than any gateway could. One in 20 was refused, the others cost 1,000 micro-quota and 15
 * tokens. The department is 1 to 7, by the account.
 */
export function fillRecords(
  db: BetterSqlite3.Database,
  { rows, fromMs, everyMs, account, keys, models }: Filling,
): void {
  db.exec(`
    BEGIN;
    WITH RECURSIVE line(i, ms) AS (SELECT 0, ${fromMs} UNION ALL SELECT i + 1, ms + ${everyMs} FROM line WHERE i + 1 < ${rows}),
      call AS (SELECT i, ms, ${account} AS account, i / ${keys} % ${models} AS model FROM line)
    INSERT INTO usage_record (account_id, department_id, id, at_ms, key_id, style, model, channel, stream, outcome, status, input, cache_read,
        cache_write, cache_write_long, input_audio, output, reasoning, output_audio, estimated, charged, duration_ms, ip, other)
      SELECT account, account % 7 + 1, ${time} || printf('%06d', i % 1000000) || 'fillfillfi', ms, account * 10 + i % ${keys}, 'chat', 'model-' || model,
        'channel-' || (model % 3), 1, iif(i % 20 = 0, 'refused', 'served'), iif(i % 20 = 0, 429, 200), 10, 0, 0, 0, 0, 5, 0, 0, 0,
        iif(i % 20 = 0, 0, 1000), 900, '192.0.2.1', '{"attempts":[{"channel":"main","model":"upstream","status":200,"ms":800}]}'
      FROM call;
    INSERT INTO usage_hour (begin_ms, account_id, kind, key_id, model, channel, department_id, lines, amount, input, output)
      SELECT at_ms / 3600000 * 3600000, account_id, iif(outcome = 'refused', 'error', 'use'), key_id, model, channel, department_id,
        COUNT(*), SUM(charged), COALESCE(SUM(input), 0), COALESCE(SUM(output), 0)
      FROM usage_record WHERE at_ms >= ${fromMs} GROUP BY 1, 2, 3, 4, 5, 6, 7
      ON CONFLICT DO NOTHING;
    COMMIT`);
}
