/** Converts rows to log lines. */
import type { Images } from '../../core/contracts/formats/usage.ts';
import type { LogEntry, LogFilter, UsageRecord } from '../../core/contracts/records.ts';
import type { JsonObject, ServedAs, Usage, Uses } from '../../core/plugin.ts';
import { all, type Condition, condition } from '../../core/sdk.ts';
import { eventsWithin, ofEvents, ofRecords, type Range, recordsWithin, recordWith } from './conditions.ts';
import { msOf } from './ids.ts';
import { kindsOf, type SumKinds, tablesOf } from './kinds.ts';
import { kindOf } from './records.ts';
import { countOfLine } from './tokens.ts';

/** A row of either table; for an event, most columns are null. */
export interface LineRow {
  readonly id: string;
  readonly account_id: number;
  /** Null: the id has the time. */
  readonly at_ms: number | null;
  readonly amount: string;
  readonly ip: string;
  /** Null: the line is a call. */
  readonly kind: LogEntry['kind'] | null;
  readonly text: string | null;
  readonly key_id: number;
  readonly style: string;
  readonly model: string;
  readonly channel: string;
  readonly stream: number;
  readonly outcome: UsageRecord['outcome'];
  readonly status: number;
  readonly input: number | null;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly cache_write_long: number;
  readonly input_audio: number;
  readonly output: number;
  readonly reasoning: number;
  readonly output_audio: number;
  readonly estimated: number;
  readonly input_image: number | null;
  readonly output_image: number | null;
  readonly characters: number | null;
  readonly seconds: number | null;
  readonly images: number | null;
  readonly image_size: Images['size'];
  readonly image_quality: Images['quality'];
  readonly uses: string | null;
  readonly service: string | null;
  readonly included: number;
  readonly duration_ms: number;
  readonly first_byte_ms: number | null;
  readonly other: string;
  readonly repeats: number;
  readonly route: string;
}

/** Counts of tokens and the like. */
const COUNTS = [
  ...['input', 'cache_read', 'cache_write', 'cache_write_long', 'input_audio', 'output', 'reasoning', 'output_audio'],
  ...['input_image', 'output_image', 'characters', 'images'],
];
/** Columns that only calls have. */
const OF_CALLS = [
  ...['key_id', 'style', 'model', 'channel', 'stream', 'outcome', 'status', 'input', 'cache_read', 'cache_write'],
  ...['cache_write_long', 'input_audio', 'output', 'reasoning', 'output_audio', 'estimated', 'input_image'],
  ...['output_image', 'characters', 'seconds', 'images', 'image_size', 'image_quality', 'uses', 'service', 'included'],
  ...['duration_ms', 'first_byte_ms', 'other', 'repeats', 'route'],
];
const BOTH = 'id, account_id, at_ms, ip';
const FROM_RECORDS = `SELECT place, run_id, ${BOTH}, CAST(charged AS TEXT) AS amount, NULL AS kind, NULL AS text,
    ${OF_CALLS.map((column) => (COUNTS.includes(column) ? countOfLine(column) : column)).join(', ')}
  FROM usage_record`;
const FROM_EVENTS = `SELECT id AS place, 0 AS run_id, ${BOTH}, CAST(amount AS TEXT) AS amount, kind, text, ${OF_CALLS.map((c) => `NULL AS ${c}`).join(', ')}
  FROM account_event`;

/** The statement that reads lines of both tables within a range, newest first; undefined if there can be none. */
export function readLines(filter: LogFilter, range: Range, limit: number, offset: number): Condition | undefined {
  const parts = partsOf(filter, range, kindsOf(filter), FROM_RECORDS, FROM_EVENTS);
  if (parts.length === 0) return undefined;
  const sql = `${parts.map((part) => part.sql).join(' UNION ALL ')} ORDER BY place DESC, run_id DESC LIMIT ? OFFSET ?`;
  return { sql, params: [...parts.flatMap(({ params }) => params), limit, offset] };
}

/** The statement that counts lines of some kinds; `n` in several rows. */
export function countLines(filter: LogFilter, range: Range, kinds: SumKinds): Condition | undefined {
  const count = (table: string): string => `SELECT COUNT(*) AS n FROM ${table}`;
  const parts = partsOf(filter, range, kinds, count('usage_brief'), count('account_event'));
  if (parts.length === 0) return undefined;
  return { sql: parts.map((part) => part.sql).join(' UNION ALL '), params: parts.flatMap(({ params }) => params) };
}

function partsOf(
  filter: LogFilter,
  range: Range,
  kinds: SumKinds,
  records: string,
  events: string,
): readonly Condition[] {
  const tables = tablesOf(kinds);
  const parts: Condition[] = [];
  const add = (select: string, ...conditions: readonly (Condition | undefined)[]): void => {
    const { sql, params } = all(...conditions);
    parts.push({ sql: `${select} WHERE ${sql}`, params });
  };
  const { id } = filter;
  if (tables.records) add(records, recordsWithin(range), recordWith(id), ...ofRecords(filter, kinds));
  if (tables.events) add(events, eventsWithin(range), condition('id = ?', id), ...ofEvents(filter, kinds));
  return parts;
}

/** Converts a row. */
export function toEntry(row: LineRow): LogEntry {
  const { id, account_id: accountId, ip, kind, text } = row;
  const amount = BigInt(row.amount);
  const line = { id, atMs: row.at_ms ?? msOf(id), accountId, amount, ip };
  if (kind !== null) return { ...line, kind, text: text ?? '', call: undefined };
  const call = toRecord(row, line.atMs, amount);
  return { ...line, kind: kindOf(call), text: '', call };
}

function toRecord(row: LineRow, atMs: number, charged: bigint): UsageRecord {
  return {
    id: row.id,
    atMs,
    accountId: row.account_id,
    keyId: row.key_id,
    style: row.style,
    model: row.model,
    channel: row.channel,
    stream: row.stream === 1,
    outcome: row.outcome,
    status: row.status,
    usage: toUsage(row),
    charged,
    ...(row.included === 1 && { included: true }),
    durationMs: row.duration_ms,
    firstByteMs: row.first_byte_ms ?? undefined,
    ip: row.ip,
    other: JSON.parse(row.other) as JsonObject,
    ...(row.repeats > 0 && { repeats: row.repeats }),
    ...(row.route !== '' && { route: row.route }),
  };
}

function toUsage(row: LineRow): Usage | undefined {
  if (row.input === null) return undefined;
  return {
    input: row.input,
    cacheRead: row.cache_read,
    cacheWrite: row.cache_write,
    cacheWriteLong: row.cache_write_long,
    inputAudio: row.input_audio,
    output: row.output,
    reasoning: row.reasoning,
    outputAudio: row.output_audio,
    estimated: row.estimated === 1,
    ...(row.input_image !== null && { inputImage: row.input_image }),
    ...(row.output_image !== null && { outputImage: row.output_image }),
    ...(row.characters !== null && { characters: row.characters }),
    ...(row.seconds !== null && { seconds: row.seconds }),
    ...(row.images !== null && { images: { count: row.images, size: row.image_size, quality: row.image_quality } }),
    ...(row.uses !== null && { uses: JSON.parse(row.uses) as Uses }),
    ...(row.service !== null && { service: JSON.parse(row.service) as ServedAs }),
  };
}
