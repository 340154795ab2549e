/** Sums of calls that another gateway has served: statistics count them, and the log has no lines of them. */
import { Departments } from '../../core/contracts/departments.ts';
import type { ImportedUsage, Records } from '../../core/contracts/records.ts';
import type { Host, Step, Value } from '../../core/plugin.ts';
import { ADDED, dayOf, SUM_KEY } from './additions.ts';
import { rolledUntil } from './roll-up.ts';

/** Rows per statement: larger ones are slower, and need more memory. */
const BITE = 10;
const COLUMNS = `${SUM_KEY}, ${ADDED.join(', ')}`;
const ROW = `(${COLUMNS.split(', ')
  .map(() => '?')
  .join(', ')})`;
/** A day's rows of one gateway, by `begin_ms` and channel. */
const OF_DAY = `begin_ms = ? AND kind = 'imported' AND channel = ?`;

interface Row {
  readonly account_id: number;
  readonly key_id: number;
  readonly model: string;
  readonly calls: number;
  readonly charged: string;
  readonly input: number;
  readonly output: number;
}

/**
 * The steps that replace the sums of a day. They are written to the day at once, never rolled up, and to its first hour while hours are kept, or the
 * day is not rolled up, because it is read by the hour then. `lines` stays 0: pages of the log count it.
 */
export function createImportedDays(host: Host, keepMs: number): Records['importedDaySteps'] {
  const { store, clock } = host;
  return async (dayMs, from, usage) => {
    const channel = `imported (${from})`;
    const sums = added(usage);
    const rows = await store.all<Row>(
      `SELECT account_id, key_id, model, repeats AS calls, CAST(amount AS TEXT) AS charged, input, output
        FROM usage_day WHERE ${OF_DAY}`,
      dayMs,
      channel,
    );
    const isSame = (row: Row): boolean => {
      const sum = sums.get(nameOf({ accountId: row.account_id, keyId: row.key_id, model: row.model }));
      const { calls, charged, input, output } = sum ?? { calls: -1 };
      return calls === row.calls && `${charged}` === row.charged && input === row.input && output === row.output;
    };
    if (rows.length === sums.size && rows.every(isSame)) return undefined;
    const departments = host.find(Departments);
    const values = [...sums.values()].map(
      ({ accountId, keyId, model, calls, charged, input, output }): readonly Value[] => [
        ...[dayMs, accountId, 'imported', keyId, model, channel, departments?.departmentOf(accountId)?.id ?? 0],
        ...[0, calls, charged, 0, input, output],
      ],
    );
    const isInHours = dayMs >= dayOf(clock.now() - keepMs) || dayMs >= dayOf(await rolledUntil(store));
    return ['usage_day', 'usage_hour'].flatMap((table): readonly Step[] => [
      { sql: `DELETE FROM ${table} WHERE ${OF_DAY}`, params: [dayMs, channel] },
      ...(table === 'usage_day' || isInHours ? insertions(table, values) : []),
    ]);
  };
}

function* insertions(table: string, rows: readonly (readonly Value[])[]): Generator<Step> {
  for (let at = 0; at < rows.length; at += BITE) {
    const bite = rows.slice(at, at + BITE);
    yield {
      sql: `INSERT INTO ${table} (${COLUMNS}) VALUES ${bite.map(() => ROW).join(', ')}`,
      params: bite.flat(),
    };
  }
}

/** Added up by account, key and model: two accounts there may be one here. */
function added(usage: readonly ImportedUsage[]): ReadonlyMap<string, ImportedUsage> {
  const sums = new Map<string, ImportedUsage>();
  for (const one of usage) {
    const name = nameOf(one);
    const before = sums.get(name);
    sums.set(
      name,
      before === undefined
        ? one
        : {
            ...one,
            calls: before.calls + one.calls,
            charged: before.charged + one.charged,
            input: before.input + one.input,
            output: before.output + one.output,
          },
    );
  }
  return sums;
}

function nameOf({ accountId, keyId, model }: Pick<ImportedUsage, 'accountId' | 'keyId' | 'model'>): string {
  return `${accountId} ${keyId} ${model}`;
}
