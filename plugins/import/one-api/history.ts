/**
 * The usage of users of one-api, new-api and one-hub by UTC day, user, key and model.
 *
 * `logs` has each call (type 2), and may have been cleared up to a time; new-api's `quota_data` has hourly sums by user and model, without keys;
 * one-hub's `statistics` has daily sums of the server's time zone. Sources: QuantumNous/new-api `model/log.go`, `model/usedata.go` (2026-11);
 * songquanpeng/one-api `model/log.go` (v0.6.10); MartialBE/one-hub `model/log.go`, `model/statistics.go` (387f8bf1).
 */
import { MICRO } from '../../../core/contracts/ledger.ts';
import { decimal, decimalText } from '../../../core/sdk.ts';
import { cellsOf } from '../cells.ts';
import type { Database } from '../databases.ts';
import { createDaySums, type DaySum, type DaySums, summed } from '../day-sums.ts';
import type { ForeignDay } from '../inventory.ts';
import { unhurried } from '../unhurried.ts';
import { floored, numberOf, type Row, textOf } from '../values.ts';
import { keyIdOf } from './key-id.ts';
import { optionsOf } from './options.ts';
import { quotaPerUnitOf } from './prices.ts';

/** `logs.type` of a call. */
const CALL = 2;
const DAY_S = 86_400;

/** Columns of sums; `logs` has two counts of tokens. */
const GROUP = ['user_id', 'model_name', 'created_at', 'quota'];
const TOKENS = ['prompt_tokens', 'completion_tokens'];

/**
 * The sums, in order of days. Calls are read one by one. What `quota_data` has more than `logs` has no key. Calls were charged in quota units for the
 * `QuotaPerUnit` of their time: `unitOf` is the one that a day was imported with, which is kept if it was changed since.
 */
export async function* readHistory(
  program: 'one-api' | 'new-api' | 'one-hub',
  database: Database,
  perUnit: bigint,
  unitOf: (dayMs: number) => string | undefined = () => undefined,
): AsyncGenerator<ForeignDay, void> {
  const now = decimalText(quotaPerUnitOf(optionsOf((await database.rows('options')) ?? []).texts));
  const opened: DaySums[] = [];
  try {
    const sums = await createDaySums(keysOf(database));
    opened.push(sums);
    await addLogs(database, sums);
    const hourly = program === 'one-hub' ? undefined : await createDaySums();
    if (hourly === undefined) await addStatistics(database, sums);
    else {
      opened.push(hourly);
      await addQuotaData(database, hourly);
    }
    const days = new Set([...(await sums.days()), ...((await hourly?.days()) ?? [])]);
    for (const day of [...days].sort((a, b) => a - b)) {
      const dayMs = day * 1_000;
      const unit = unitOf(dayMs) ?? now;
      const { digits, scale } = decimal(unit);
      const here = MICRO * perUnit * 10n ** BigInt(scale);
      const ofDay = hourly === undefined ? sums.of(day) : withHourly(sums.of(day), hourly.of(day));
      for await (const { user, key, model, calls, input, output, amount } of unhurried(ofDay)) {
        const charged = floored(amount * here, digits);
        const counts = { calls, input, output, charged };
        yield { dayMs, user, key: key || undefined, model, ...counts, unit, ...(unit !== now && { unitNow: now }) };
      }
    }
  } finally {
    for (const sums of opened) sums.close();
  }
}

/** Adds the calls in `logs`. */
async function addLogs(database: Database, sums: DaySums): Promise<void> {
  const only = [...GROUP, ...TOKENS, 'id', 'type', 'token_id', 'token_name'];
  for await (const row of database.each('logs', { only })) {
    if (numberIn(row, 'type') !== CALL) continue;
    sums.add(dayOf(row), {
      ...{ user: userOf(row), key: keyNameOf(row), model: modelOf(row), calls: 1 },
      ...{ input: countOf(row, 'prompt_tokens'), output: countOf(row, 'completion_tokens') },
      amount: quotaOf(row, 'logs'),
    });
  }
}

/** Adds the hourly sums of new-api. They have one count of tokens: it counts as input. */
async function addQuotaData(database: Database, hourly: DaySums): Promise<void> {
  for await (const row of database.each('quota_data', { only: [...GROUP, 'id', 'count', 'token_used'] })) {
    hourly.add(dayOf(row), {
      ...{ user: userOf(row), key: '', model: modelOf(row), calls: countOf(row, 'count') },
      ...{ input: countOf(row, 'token_used'), output: 0, amount: quotaOf(row, 'quota_data') },
    });
  }
}

/** The sums of a day, and what the hourly ones have more of a user and a model, whatever the key. */
function withHourly(sums: readonly DaySum[], hourly: readonly DaySum[]): readonly DaySum[] {
  if (hourly.length === 0) return sums;
  const nameOf = ({ user, model }: DaySum): string => JSON.stringify([user, model]);
  const logged = new Map<string, DaySum>();
  const keyless = new Map<string, DaySum>();
  for (const sum of sums) {
    const name = nameOf(sum);
    const before = logged.get(name);
    logged.set(name, before === undefined ? sum : summed(before, sum));
    if (sum.key === '') keyless.set(name, sum);
  }
  for (const sum of hourly) {
    const name = nameOf(sum);
    const { calls, input, output, amount } = logged.get(name) ?? { calls: 0, input: 0, output: 0, amount: 0n };
    const more = {
      ...sum,
      calls: Math.max(0, sum.calls - calls),
      input: Math.max(0, sum.input - input - output),
      amount: sum.amount > amount ? sum.amount - amount : 0n,
    };
    if (more.calls === 0 && more.amount === 0n) continue;
    const before = keyless.get(name);
    keyless.set(name, before === undefined ? more : summed(before, more));
  }
  return [...sums.filter(({ key }) => key !== ''), ...keyless.values()];
}

/** Adds `statistics` of days before the first one in `logs`: its days are of another time zone, so both cannot be compared. */
async function addStatistics(database: Database, sums: DaySums): Promise<void> {
  const [first = Number.POSITIVE_INFINITY] = await sums.days();
  const only = ['date', 'user_id', 'model_name', 'request_count', ...TOKENS, 'quota'];
  for await (const row of database.each('statistics', { only })) {
    const second = Date.parse(`${(textOf(row, 'date') ?? '').slice(0, 10)}T00:00:00Z`) / 1_000;
    if (!Number.isFinite(second) || second >= first) continue;
    sums.add(second, {
      ...{ user: userOf(row), key: NO_KEY, model: modelOf(row), calls: countOf(row, 'request_count') },
      ...{ input: countOf(row, 'prompt_tokens'), output: countOf(row, 'completion_tokens') },
      amount: quotaOf(row, 'statistics'),
    });
  }
}

/** The name of no key. */
const NO_KEY = '';

/** The keys by the names that rows of `logs` have for them: the id, and the name, which counts if its user has only one key of it. */
async function* keysOf(database: Database): AsyncGenerator<readonly [name: string, key: string]> {
  for await (const row of database.each('tokens', { only: ['id', 'user_id', 'name', 'key'] })) {
    const key = keyIdOf(row);
    yield [`id ${textOf(row, 'id') ?? ''}`, key];
    yield [nameOfKey(row, 'name'), key];
  }
}

/** The name of the key of a row of `logs`: its id, or, where that is not recorded, its user and its name. */
function keyNameOf(row: Row): string {
  const id = textOf(row, 'token_id');
  return id !== undefined && id !== '0' ? `id ${id}` : nameOfKey(row, 'token_name');
}

const nameOfKey = (row: Row, column: string): string =>
  JSON.stringify([textOf(row, 'user_id') ?? '', textOf(row, column) ?? '']);

const userOf = (row: Row): string => textOf(row, 'user_id') ?? '';
const modelOf = (row: Row): string => textOf(row, 'model_name') ?? '';

/** The first second of the UTC day of a row. */
function dayOf(row: Row): number {
  return Math.floor((numberIn(row, 'created_at') ?? 0) / DAY_S) * DAY_S;
}

function countOf(row: Row, column: string): number {
  return Math.max(0, Math.trunc(numberIn(row, column) ?? 0));
}

/** Quota units; below zero counts as none. */
function quotaOf(row: Row, table: string): bigint {
  const { quota } = row;
  return BigInt(
    Math.max(0, Number.isSafeInteger(quota) ? (quota as number) : (cellsOf(table, row).number('quota') ?? 0)),
  );
}

/** `numberOf`, without the way over a text: there may be a million. */
function numberIn(row: Row, column: string): number | undefined {
  const value = row[column];
  return typeof value === 'number' ? value : numberOf(row, column);
}
