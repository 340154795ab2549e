/** Latency of the newest calls. */
import type { CallTiming, LogFilter, Records } from '../../core/contracts/records.ts';
import type { Host } from '../../core/plugin.ts';
import { all, type Condition } from '../../core/sdk.ts';
import { ofRecords, type Range, recordsWithin } from './conditions.ts';
import { msOf } from './ids.ts';
import { CALLS, kindsOf, type SumKinds } from './kinds.ts';
import { callKindOf } from './records.ts';
import { addHour, createWhere, cut, readRows, type Stretch, takesEvery } from './where.ts';

/** The number of hours to read if a filter matches only some of their calls. */
const MOST_HOURS = 48;

interface TimingRow {
  readonly place: string;
  /** Null: the place has the time. */
  readonly at_ms: number | null;
  readonly outcome: CallTiming['outcome'];
  readonly charged: string;
  readonly duration_ms: number;
  readonly first_byte_ms: number | null;
  readonly repeats: number;
}

/** `keepMs`: retention of records. */
export function createTimings(host: Host, keepMs: number): Records['timings'] {
  const { rangeOf, hoursOf } = createWhere(host, keepMs);
  return async (filter, most) => {
    const kinds = CALLS.filter((kind) => kindsOf(filter)?.includes(kind) ?? true);
    const range = kinds.length > 0 ? await rangeOf(filter) : undefined;
    if (range === undefined) return [];
    const isEvery = takesEvery(filter);
    const stretches: Stretch[] = [];
    let calls = 0;
    let hours = 0;
    for await (const { ms, lines } of hoursOf(filter, range, kinds)) {
      if (lines === 0) continue;
      addHour(stretches, ms, isEvery);
      calls += lines;
      hours += 1;
      if (calls >= most || (!isEvery && hours >= MOST_HOURS)) break;
    }
    const timings: CallTiming[] = [];
    for (const stretch of stretches) {
      const statement = timingsIn(filter, cut(range, stretch), kinds, most - timings.length);
      for (const row of await readRows<TimingRow>(host, statement)) timings.push(toTiming(row));
    }
    return timings;
  };
}

function timingsIn(filter: LogFilter, range: Range, kinds: SumKinds, limit: number): Condition | undefined {
  const { sql, params } = all(recordsWithin(range), ...ofRecords(filter, kinds));
  return {
    sql: `SELECT place, at_ms, outcome, CAST(charged AS TEXT) AS charged, duration_ms, first_byte_ms, repeats
      FROM usage_record WHERE ${sql} ORDER BY place DESC, run_id DESC LIMIT ?`,
    params: [...params, limit],
  };
}

function toTiming({ outcome, charged, duration_ms: durationMs, ...row }: TimingRow): CallTiming {
  const kind = callKindOf({ outcome, charged: BigInt(charged) });
  const atMs = row.at_ms ?? msOf(row.place);
  return { atMs, kind, outcome, durationMs, firstByteMs: row.first_byte_ms ?? undefined, times: 1 + row.repeats };
}
