/** Usage records: made up, read straight from the file of a running gateway, and as many as a busy year would write. */

import type { FailureKind, Outcome } from '../../../core/contracts/formats/call.ts';
import type { Images } from '../../../core/contracts/formats/usage.ts';
import type { UsageRecord } from '../../../core/contracts/records.ts';
import { readRows } from './rows.ts';

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
    id: idAt(facts.atMs ?? 0),
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

/** All usage records in this store (see `readRows`), oldest first. */
export function usageRecords(store: string): readonly UsageRow[] {
  const [rows = []] = readRows(
    store,
    `SELECT id, model, channel, outcome, status, input, output, input_image AS "inputImage",
        output_image AS "outputImage", characters, seconds, images, image_size, image_quality, estimated,
        CAST(charged AS TEXT) AS charged, repeats, route, other
      FROM usage_record ORDER BY id`,
  );
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
  db: { exec(sql: string): unknown },
  { rows, fromMs, everyMs, account, keys, models }: Filling,
): void {
  db.exec(`
    BEGIN;
    CREATE TEMP TABLE filling AS
      WITH RECURSIVE line(i, ms) AS (SELECT 0, ${fromMs} UNION ALL SELECT i + 1, ms + ${everyMs} FROM line WHERE i + 1 < ${rows}),
        call AS (SELECT i, ms, ${account} AS account, i / ${keys} % ${models} AS model FROM line)
      SELECT i, ms, account, account * 10 + i % ${keys} AS key, account % 7 + 1 AS department, 'model-' || model AS model,
        'channel-' || (model % 3) AS channel, iif(i % 20 = 0, 'refused', 'served') AS outcome, iif(i % 20 = 0, 0, 1000) AS charged
      FROM call;
    INSERT INTO usage_run (name, last_day_ms) VALUES ('fillfillfi', ${fromMs + rows * everyMs}) ON CONFLICT DO NOTHING;
    INSERT INTO usage_label (digest, last_day_ms, style, model, channel, stream, outcome, status, route, included, estimated, attempt, notes)
      SELECT DISTINCT outcome || ' ' || model, ${fromMs + rows * everyMs}, 'chat', model, channel, 1, outcome,
        iif(outcome = 'refused', 429, 200), '', 0, 0, ',"attempts":[{"channel":"main","model":"upstream","status":200,"ms":', ''
      FROM filling WHERE true ON CONFLICT DO NOTHING;
    INSERT INTO usage_row (place, run_id, account_id, department_id, key_id, label_id, input, cache_read, cache_write, cache_write_long,
        output, reasoning, charged, duration_ms, attempt_ms, ip)
      SELECT ${time} || '6' || (100000 + i % 900000), usage_run.id, account, department, key, usage_label.id, 10, 0, 0, 0, 5, 0,
        charged, 900, 800, '192.0.2.1'
      FROM filling CROSS JOIN usage_run CROSS JOIN usage_label
      WHERE usage_run.name = 'fillfillfi' AND usage_label.digest = filling.outcome || ' ' || filling.model;
    INSERT INTO usage_hour (begin_ms, account_id, kind, key_id, model, channel, department_id, lines, amount, input, output)
      SELECT ms / 3600000 * 3600000, account, iif(outcome = 'refused', 'error', 'use'), key, model, channel, department, COUNT(*),
        SUM(charged), 10 * COUNT(*), 5 * COUNT(*)
      FROM filling GROUP BY 1, 2, 3, 4, 5, 6, 7
      ON CONFLICT DO NOTHING;
    DROP TABLE filling;
    COMMIT`);
}
