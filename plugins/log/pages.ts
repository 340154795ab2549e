/** Pages of the log. */
import type { LogFilter, LogPage, Records } from '../../core/contracts/records.ts';
import type { Host } from '../../core/plugin.ts';
import type { Range } from './conditions.ts';
import { kindsOf } from './kinds.ts';
import { type LineRow, readLines, toEntry } from './rows.ts';
import { addHour, createWhere, cut, readRows, type Stretch, takesEvery } from './where.ts';

/** The maximum count of the lines of all accounts. */
const COUNTED = 10_000;

/** `keepMs`: retention of lines. */
export function createPages(host: Host, keepMs: number): Records['page'] {
  const { rangeOf, hoursOf } = createWhere(host, keepMs);

  return async (filter, { limit, offset = 0, before }) => {
    const kinds = kindsOf(filter);
    const range = kinds?.length === 0 ? undefined : await rangeOf(filter, before);
    if (range === undefined) return EMPTY;
    if (filter.id !== undefined) return one(filter, range);
    const isEvery = takesEvery(filter);
    const enough = filter.accounts === undefined ? Math.max(offset + limit, COUNTED) : Infinity;
    const stretches: Stretch[] = [];
    let total = 0;
    let skipped = 0;
    for await (const { ms, lines } of hoursOf(filter, range, kinds)) {
      if (lines > 0 && total < offset + limit) {
        if (total + lines <= offset) skipped += lines;
        else addHour(stretches, ms, isEvery);
      }
      total += lines;
      if (total >= enough) break;
    }
    const rows: LineRow[] = [];
    let skip = offset - skipped;
    for (const stretch of stretches) {
      const lines = readLines(filter, cut(range, stretch), limit - rows.length, skip);
      rows.push(...(await readRows<LineRow>(host, lines)));
      skip = 0;
      if (rows.length >= limit) break;
    }
    return {
      total: filter.accounts === undefined ? Math.min(total, enough) : total,
      items: rows.map(toEntry),
      next: total > offset + rows.length ? rows.at(-1)?.id : undefined,
    };
  };

  async function one(filter: LogFilter, range: Range): Promise<LogPage> {
    const rows = await readRows<LineRow>(host, readLines(filter, range, 1, 0));
    return { total: rows.length, items: rows.map(toEntry), next: undefined };
  }
}

const EMPTY: LogPage = { total: 0, items: [], next: undefined };
