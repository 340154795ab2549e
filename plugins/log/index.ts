/**
 * Usage records: `settle` writes a record for each request of an authenticated caller, and `answered` one for requests that are not calls. Keeps
 * sums, and provides pages and statistics.
 */
import { Departments } from '../../core/contracts/departments.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import {
  type AccountEvent,
  type LogFilter,
  type LogPage,
  Records,
  type UsageRecord,
} from '../../core/contracts/records.ts';
import { definePlugin, type Exchange, type Host, type Known, type Step, typed } from '../../core/plugin.ts';
import { duration, durationMs } from '../../core/sdk.ts';
import { additionSteps, hourOf } from './additions.ts';
import type { Range } from './conditions.ts';
import { newId } from './ids.ts';
import { createImportedDays } from './imported.ts';
import { kindsOf } from './kinds.ts';
import { createRecordSteps } from './record-steps.ts';
import { isRepeatable, recordOf, recordOfRoute } from './records.ts';
import { createRepeats } from './repeats.ts';
import { createRetention, newRolled, rolledUntil } from './roll-up.ts';
import { type LineRow, readLines, toEntry } from './rows.ts';
import { createSums } from './sums.ts';
import { migrations } from './tables.ts';
import { createTags } from './tags.ts';
import { createTimings } from './timings.ts';
import { addHour, createWhere, cut, readRows, type Stretch, takesEvery } from './where.ts';

/** The maximum count of the lines of all accounts. */
const COUNTED = 10_000;

/** `keepMs`: retention of lines. */
function createPages(host: Host, keepMs: number): Records['page'] {
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

/** The maximum length of a sentence, in characters. */
const LONGEST_TEXT = 1_000;

/** The steps that write an event at `atMs`. */
function eventSteps(event: AccountEvent, atMs: number): readonly Step[] {
  const { accountId, kind, amount, text, ip } = event;
  const id = newId(atMs);
  const nothing = { keyId: 0, model: '', channel: '', departmentId: 0, repeats: 0, included: 0n, input: 0, output: 0 };
  return [
    ...additionSteps({ id, accountId, kind, lines: 1, amount, ...nothing }),
    {
      sql: 'INSERT INTO account_event (account_id, id, at_ms, kind, amount, text, ip) VALUES (?, ?, ?, ?, ?, ?, ?)',
      params: [accountId, id, atMs, kind, amount, text.slice(0, LONGEST_TEXT), ip],
    },
  ];
}

const logSection = typed({
  type: 'object',
  additionalProperties: false,
  properties: {
    keep: {
      ...duration,
      description: 'How long usage records are kept; their sums are kept forever.',
      default: '90d',
    },
    tags: {
      description:
        'Members of `metadata` in requests that are tags of the call, as `name=value`, in addition to `metadata.tags` and the header `x-turnpike-tags`. Name none whose values differ in every call.',
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: 32, pattern: '^[^,=]+$' },
      maxItems: 8,
      uniqueItems: true,
      default: [],
      examples: [['team', 'project']],
    },
  },
  default: {},
});

const isKnown = (x: Exchange): x is Known => x.identity !== undefined;

export default definePlugin({
  name: 'log',
  api: 2,
  sections: { log: logSection },
  migrations,
  wants: [Ledger, Departments],
  provides: [Records],
  create(host, { log: { keep, tags } }) {
    const readTags = createTags(tags);
    const keepMs = durationMs(keep);
    const { store, clock, log } = host;
    const rolled = host.lasting({ name: 'log.rolled', version: 1, make: newRolled });
    const retention = createRetention(host, keepMs, rolled);
    const departmentOf = ({ accountId }: UsageRecord): number =>
      host.find(Departments)?.departmentOf(accountId)?.id ?? 0;
    // Another gateway may have rolled up hours that ended recently, according to its clock.
    const closedMs = (): number => Math.max(rolled.beforeMs, hourOf(clock.now()));
    const steps = createRecordSteps(host);
    const stepsOf = (record: UsageRecord): readonly Step[] => steps.record(record, departmentOf(record), closedMs());
    const repeats = createRepeats(host, {
      record: stepsOf,
      more: (record, count) => steps.more(record, departmentOf(record), count, closedMs()),
    });
    /** Reads see everything that was counted before. */
    const upToDate =
      <Asked extends readonly unknown[], T>(read: (...asked: Asked) => Promise<T>) =>
      async (...asked: Asked): Promise<T> => {
        await repeats.written();
        return read(...asked);
      };
    const { sums, rate } = createSums(host, keepMs);
    host.provide(Records, {
      steps: stepsOf,
      eventSteps: (event) => eventSteps(event, clock.now()),
      importedDaySteps: createImportedDays(host, keepMs),
      page: upToDate(createPages(host, keepMs)),
      timings: upToDate(createTimings(host, keepMs)),
      sums: upToDate(sums),
      rate: upToDate(rate),
      async names(of) {
        // Labels are few: what many records share.
        const rows = await store.all<{ name: string }>(`SELECT DISTINCT ${of} AS name FROM usage_label`);
        return rows.flatMap(({ name }) => (name === '' ? [] : [name]));
      },
    });
    return {
      essential: true,
      settle(x) {
        if (isKnown(x)) {
          const ledger = host.find(Ledger);
          const record = recordOf(x, ledger?.charged(x) ?? 0n, ledger?.isIncluded(x) ?? false, clock, readTags);
          const alone = isRepeatable(record) ? repeats.first(record) : record;
          return alone && stepsOf(alone);
        }
        log.debug('refused before authentication', { exchange: x.id, status: x.status, ip: x.ip });
        return undefined;
      },
      answered(x, end) {
        if (end.route.uncounted !== true) repeats.count(recordOfRoute(x, end, clock));
      },
      async start() {
        if (rolled.beforeMs === Infinity) rolled.beforeMs = await rolledUntil(store);
        retention.start();
        repeats.start();
      },
      async stop() {
        await retention.stop();
        await repeats.stop();
      },
    };
  },
});
