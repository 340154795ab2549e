/**
 * The usage of users of one-api, new-api and one-hub by UTC day, user, key and model.
 *
 * `logs` has each call (type 2), and may have been cleared up to a time; new-api's `quota_data` has hourly sums by user and model, without keys;
 * one-hub's `statistics` has daily sums of the server's time zone. Sources: QuantumNous/new-api `model/log.go`, `model/usedata.go` (2026-11);
 * songquanpeng/one-api `model/log.go` (v0.6.10); MartialBE/one-hub `model/log.go`, `model/statistics.go` (387f8bf1).
 */
import { MICRO } from '../../../core/contracts/ledger.ts';
import { cellsOf } from '../cells.ts';
import type { Database } from '../databases.ts';
import type { ForeignDay } from '../inventory.ts';
import { unhurried } from '../unhurried.ts';
import { floored, numberOf, type Row, textOf } from '../values.ts';
import { keyIdOf } from './key-id.ts';
import { optionsOf } from './options.ts';
import { quotaPerUnitOf } from './prices.ts';

/** `logs.type` of a call. */
const CALL = 2;
const DAY_S = 86_400;

/** Who called what: the key is empty if it is not known. */
interface Group {
  readonly user: string;
  readonly key: string;
  readonly model: string;
}

/** Calls, tokens and quota units there: whole numbers, exact below 2^53. */
type Counts = readonly [calls: number, input: number, output: number, quota: number];

/** The sums, in order of days. Calls are read one by one; kept are only sums. What `quota_data` has more than `logs` has no key. */
export async function* readHistory(
  program: 'one-api' | 'new-api' | 'one-hub',
  database: Database,
  perUnit: bigint,
): AsyncGenerator<ForeignDay, void> {
  const { digits, scale } = quotaPerUnitOf(optionsOf((await database.rows('options')) ?? []).texts);
  const here = MICRO * perUnit * 10n ** BigInt(scale);
  const sums = createSums();
  await addLogs(database, sums);
  if (program === 'one-hub') await addStatistics(database, sums);
  else await addQuotaData(database, sums);
  for await (const [day, group, [calls, input, output, quota]] of unhurried(sums.all())) {
    const { user, key, model } = group;
    const charged = floored(BigInt(quota) * here, digits);
    yield { dayMs: day * 1_000, user, key: key || undefined, model, calls, input, output, charged };
  }
}

/** Numbers of a sum: its day, its group, and its counts. */
const WIDTH = 6;
/** Sums of one array. */
const CHUNK = 16_384;

/** Sums by day and group. There can be a million, so each is six numbers in an array, found by a table of their places, and no object. */
function createSums() {
  const groups: Group[] = [];
  /** Numbers of groups, by model, user and key. */
  const numbers = new Map<string, Map<string, Map<string, number>>>();
  const chunks: Float64Array[] = [];
  let used = 0;
  /** Places of sums plus one, by a hash of day and group; 0: none. At most half of it is used. */
  let table = new Uint32Array(CHUNK);

  function numberOfGroup(group: Group): number {
    const ofModel = within(numbers, group.model, () => new Map<string, Map<string, number>>());
    const ofUser = within(ofModel, group.user, () => new Map<string, number>());
    return within(ofUser, group.key, () => groups.push(group) - 1);
  }

  const chunkOf = (place: number): Float64Array => chunks[Math.floor(place / CHUNK)]!;
  const offsetOf = (place: number): number => (place % CHUNK) * WIDTH;
  const dayAt = (place: number): number => chunkOf(place)[offsetOf(place)]!;
  const groupAt = (place: number): number => chunkOf(place)[offsetOf(place) + 1]!;

  /** Where the place of a sum is in the table, or would be. */
  function find(day: number, number: number): number {
    const hash = Math.imul(Math.imul(day / DAY_S, 0x9e3779b1) ^ number, 0x85ebca6b);
    for (let at = (hash ^ (hash >>> 15)) & (table.length - 1); ; at = (at + 1) & (table.length - 1)) {
      const place = table[at]! - 1;
      if (place === -1 || (dayAt(place) === day && groupAt(place) === number)) return at;
    }
  }

  function grow(): void {
    table = new Uint32Array(table.length * 2);
    for (let place = 0; place < used; place++) table[find(dayAt(place), groupAt(place))] = place + 1;
  }

  function countsAt(place: number): Counts {
    const [, , calls, input, output, quota] = chunkOf(place).subarray(offsetOf(place), offsetOf(place) + WIDTH);
    return [calls!, input!, output!, quota!];
  }

  return {
    add(second: number, group: Group, added: Counts): void {
      const day = Math.floor(second / DAY_S) * DAY_S;
      const number = numberOfGroup(group);
      const at = find(day, number);
      const place = table[at] === 0 ? used : table[at]! - 1;
      if (place === used) {
        if (used % CHUNK === 0) chunks.push(new Float64Array(CHUNK * WIDTH));
        chunkOf(place).set([day, number], offsetOf(place));
        table[at] = ++used;
        if (used * 2 > table.length) grow();
      }
      const chunk = chunkOf(place);
      for (let i = 0; i < added.length; i++) chunk[offsetOf(place) + 2 + i]! += added[i]!;
    },

    /** The counts of a group on a day. */
    of(day: number, group: Group): Counts | undefined {
      const place = table[find(day, numberOfGroup(group))]! - 1;
      return place === -1 ? undefined : countsAt(place);
    },

    /** The first second of the first day; infinite if there is none. */
    first(): number {
      let first = Number.POSITIVE_INFINITY;
      for (let place = 0; place < used; place++) first = Math.min(first, dayAt(place));
      return first;
    },

    /** All of them, in order of days. */
    *all(): Generator<readonly [day: number, group: Group, counts: Counts]> {
      const counts = new Map<number, number>();
      for (let place = 0; place < used; place++) counts.set(dayAt(place), (counts.get(dayAt(place)) ?? 0) + 1);
      const days = new Map([...counts].map(([day, count]) => [day, new Uint32Array(count)] as const));
      // From the last one, so that those of a day are in order.
      for (let place = used - 1; place >= 0; place--) {
        const at = counts.get(dayAt(place))! - 1;
        counts.set(dayAt(place), at);
        days.get(dayAt(place))![at] = place;
      }
      for (const [day, places] of [...days].sort(([a], [b]) => a - b))
        for (const place of places) yield [day, groups[groupAt(place)]!, countsAt(place)];
    },
  };
}

/** The value of a name, made if there is none. */
function within<T>(map: Map<string, T>, name: string, make: () => T): T {
  let found = map.get(name);
  if (found === undefined) {
    found = make();
    map.set(name, found);
  }
  return found;
}

type Sums = ReturnType<typeof createSums>;

/** Adds the calls in `logs`. */
async function addLogs(database: Database, sums: Sums): Promise<void> {
  // Here, so that it is not kept while the sums are written.
  const keyOf = await createKeyOf(database);
  for await (const row of database.each('logs')) {
    if (numberIn(row, 'type') !== CALL) continue;
    sums.add(secondOf(row), groupOf(row, keyOf(row)), [
      1,
      countOf(row, 'prompt_tokens'),
      countOf(row, 'completion_tokens'),
      quotaOf(row, 'logs'),
    ]);
  }
}

/** Adds what the hourly sums of new-api have more of a user, a model and a day than `logs`. They have one count of tokens: it counts as input. */
async function addQuotaData(database: Database, sums: Sums): Promise<void> {
  const hourly = createSums();
  for await (const row of database.each('quota_data')) {
    hourly.add(secondOf(row), groupOf(row, ''), [
      countOf(row, 'count'),
      countOf(row, 'token_used'),
      0,
      quotaOf(row, 'quota_data'),
    ]);
  }
  // Whatever the key.
  const logged = createSums();
  if (Number.isFinite(hourly.first()))
    for await (const [day, group, counts] of unhurried(sums.all())) logged.add(day, { ...group, key: '' }, counts);
  for await (const [day, group, [calls, tokens, , quota]] of unhurried(hourly.all())) {
    const [ofCalls, input, output, ofQuota] = logged.of(day, group) ?? [0, 0, 0, 0];
    const rest = [calls - ofCalls, tokens - input - output, 0, quota - ofQuota].map((each) => Math.max(0, each));
    if (rest[0]! > 0 || rest[3]! > 0) sums.add(day, group, rest as unknown as Counts);
  }
}

/** Adds `statistics` of days before the first one in `logs`: its days are of another time zone, so both cannot be compared. */
async function addStatistics(database: Database, sums: Sums): Promise<void> {
  const first = sums.first();
  for await (const row of database.each('statistics')) {
    const second = Date.parse(`${(textOf(row, 'date') ?? '').slice(0, 10)}T00:00:00Z`) / 1_000;
    if (!Number.isFinite(second) || second >= first) continue;
    sums.add(second, groupOf(row, ''), [
      countOf(row, 'request_count'),
      countOf(row, 'prompt_tokens'),
      countOf(row, 'completion_tokens'),
      quotaOf(row, 'statistics'),
    ]);
  }
}

/** The key of a row of `logs`: by its id, or, where that is not recorded, by its name if its user has only one of that name. Empty: not known. */
async function createKeyOf(database: Database): Promise<(row: Row) => string> {
  const byId = new Map<string, string>();
  const byName = new Map<string, Map<string, string>>();
  for await (const row of database.each('tokens')) {
    const id = keyIdOf(row);
    byId.set(textOf(row, 'id') ?? '', id);
    const ofUser = within(byName, textOf(row, 'user_id') ?? '', () => new Map<string, string>());
    const name = textOf(row, 'name') ?? '';
    ofUser.set(name, ofUser.has(name) ? '' : id);
  }
  return (row) => {
    const id = textOf(row, 'token_id');
    const found =
      id !== undefined && id !== '0'
        ? byId.get(id)
        : byName.get(textOf(row, 'user_id') ?? '')?.get(textOf(row, 'token_name') ?? '');
    return found ?? '';
  };
}

function groupOf(row: Row, key: string): Group {
  return { user: textOf(row, 'user_id') ?? '', key, model: textOf(row, 'model_name') ?? '' };
}

function secondOf(row: Row): number {
  return numberIn(row, 'created_at') ?? 0;
}

function countOf(row: Row, column: string): number {
  return Math.max(0, Math.trunc(numberIn(row, column) ?? 0));
}

/** Quota units; below zero counts as none. */
function quotaOf(row: Row, table: string): number {
  const { quota } = row;
  return Math.max(0, Number.isSafeInteger(quota) ? (quota as number) : (cellsOf(table, row).number('quota') ?? 0));
}

/** `numberOf`, without the way over a text: there may be a million. */
function numberIn(row: Row, column: string): number | undefined {
  const value = row[column];
  return typeof value === 'number' ? value : numberOf(row, column);
}
