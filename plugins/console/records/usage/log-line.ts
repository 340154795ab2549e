/** A usage record or account event in the API. */
import { RATE_NAMES, RATES, type RateKind } from '../../../../core/contracts/formats/rates.ts';
import type { LogEntry, UsageRecord } from '../../../../core/contracts/records.ts';
import type { Json, JsonObject } from '../../../../core/plugin.ts';
import { isObject } from '../../../../core/translation/index.ts';
import { boolean, integer, number, text } from '../../format/schemas.ts';
import { currencyText, quotaNumber, secondsOf } from '../../format/units.ts';
import type { Names } from '../people/names.ts';
import { ratiosOf } from '../price.ts';
import { TYPES } from './log-search.ts';

/** The viewer: administrators see IP addresses, and why upstream attempts failed. */
export interface Viewer {
  /** Quota units in one currency unit. */
  readonly perUnit: number;
  readonly isAdmin: boolean;
  readonly seesIp: boolean;
}

/** Converts lines. */
export function shownLines(entries: readonly LogEntry[], names: Names, viewer: Viewer) {
  return Promise.all(entries.map((entry) => shownLine(entry, names, viewer)));
}

/** Converts one line. Amounts in quota units, times in Unix seconds. */
export async function shownLine(entry: LogEntry, names: Names, { isAdmin, seesIp, perUnit }: Viewer) {
  const { id, atMs, accountId, kind, amount, ip, call } = entry;
  const person = await names.person(accountId);
  return {
    id: numberOf(id),
    user_id: accountId,
    created_at: secondsOf(atMs),
    type: TYPES[kind],
    times: 1 + (call?.repeats ?? 0),
    content: call === undefined ? entry.text : sentenceOf(call),
    username: person?.name ?? '',
    token_name: call === undefined ? '' : await names.key(call.keyId),
    token_id: call?.keyId ?? 0,
    model_name: call?.model ?? '',
    quota: quotaNumber(amount),
    cost: currencyText(amount, perUnit),
    prompt_tokens: call?.usage?.input ?? 0,
    completion_tokens: call?.usage?.output ?? 0,
    use_time: Math.round((call?.durationMs ?? 0) / 1_000),
    is_stream: call?.stream ?? false,
    channel: 0,
    channel_name: call?.channel ?? '',
    group: person?.group ?? '',
    ip: seesIp ? ip : '',
    request_id: id,
    other: JSON.stringify(call === undefined ? {} : otherOf(call, isAdmin)),
  };
}

/**
 * API clients expect a number. An id begins with its millisecond and a count within the run: the millisecond times 1,024 plus the low bits
 * of the count stays below 2^53 until the year 2248, keeps the order of time, and is stable. `request_id` is exact.
 */
export function numberOf(id: string): number {
  return Number.parseInt(id.slice(0, 10), 32) * 1_024 + (Number.parseInt(id.slice(10, 16), 32) % 1_024);
}

function sentenceOf(call: UsageRecord): string {
  const { repeats, route } = call;
  const sentence = route === undefined ? endOf(call) : `${route}: status ${call.status}.`;
  return repeats === undefined
    ? sentence
    : `${sentence} ${1 + repeats} such requests within a minute; this is the first.`.trim();
}

function endOf({ outcome, status, charged }: UsageRecord): string {
  switch (outcome) {
    case 'served':
      return '';
    case 'aborted':
      return 'The client disconnected before the end.';
    case 'recovered':
      return 'The gateway stopped during this call. The delivered part was charged.';
    case 'refused':
      return `Refused with status ${status}.`;
    case 'failed':
      return charged > 0n
        ? 'The answer was truncated. The delivered part was charged.'
        : `Failed with status ${status}.`;
  }
}

/** Token counts that have a member in log lines. */
const LOGGED = RATE_NAMES.flatMap((rate) => {
  const { logged }: RateKind = RATES[rate];
  return logged === undefined ? [] : [[logged, rate] as const];
});

/** Details without a column, under the names that API clients know, and the notes. */
function otherOf(call: UsageRecord, isAdmin: boolean): JsonObject {
  const { clientRequestId, price, priceFactor } = call.other;
  const { usage } = call;
  const other: Record<string, Json> = {
    ...notesOf(call),
    outcome: call.outcome,
    status: call.status,
    style: call.style,
    duration_ms: call.durationMs,
  };
  if (call.route !== undefined) other.route = call.route;
  if (call.firstByteMs !== undefined) other.frt = call.firstByteMs;
  if (clientRequestId !== undefined) other.client_request_id = clientRequestId;
  if (call.other.attempts !== undefined) other.attempts = shownAttempts(call, isAdmin);
  if (isObject(price))
    Object.assign(other, { price, group_ratio: priceFactor ?? 1 }, ratiosOf({ free: false, ...price }));
  if (usage === undefined) return other;
  const counts: Readonly<Record<string, number | undefined>> = {
    cache_tokens: usage.cacheRead,
    cache_creation_tokens: usage.cacheWrite + usage.cacheWriteLong,
    cache_creation_tokens_5m: usage.cacheWrite,
    cache_creation_tokens_1h: usage.cacheWriteLong,
    ...Object.fromEntries(LOGGED.map(([name, rate]) => [name, usage[rate]])),
    characters: usage.characters,
    seconds: usage.seconds,
    images: usage.images?.count,
    ...usage.uses,
  };
  for (const [name, count] of Object.entries(counts)) if (count !== undefined && count > 0) other[name] = count;
  if (usage.estimated) other.estimated = true;
  for (const [choice, word] of Object.entries(usage.service ?? {})) other[`service_${choice}`] = word;
  return other;
}

/** The notes of a call, without those that have a member. */
export function notesOf({ other }: UsageRecord): JsonObject {
  const { attempts, clientRequestId, price, priceFactor, priced, held, unpriced, ...notes } = other;
  return notes;
}

/** The upstream attempts, as the viewer may see them. */
export function shownAttempts({ other: { attempts } }: UsageRecord, isAdmin: boolean): readonly Json[] {
  if (!Array.isArray(attempts)) return [];
  return attempts.map((attempt) => (isAdmin ? attempt : forMembers(attempt)));
}

/** Only the operator sees the channel's upstream model and the reason of a failure. */
function forMembers(attempt: Json): Json {
  const { channel = '', status, failure, ms } = attempt as JsonObject;
  return {
    channel,
    ...(status !== undefined && { status }),
    ...(failure !== undefined && { failure }),
    ms: ms ?? null,
  };
}

export const lineSchema = {
  title: 'LogLine',
  type: 'object',
  required: ['id', 'user_id', 'created_at', 'type', 'times', 'content', 'quota', 'request_id', 'other'],
  properties: {
    id: { ...integer, description: 'Derived from the time: later lines have larger ids.' },
    user_id: integer,
    created_at: { ...integer, description: 'Start time, Unix seconds.' },
    type: {
      ...integer,
      description:
        '1 top-up, 2 use, 3 managed by an administrator, 4 system, 5 error, 6 refund, 7 sign-in, 8 other request of a key (tokens counted, a stored response read …).',
    },
    times: {
      ...integer,
      description:
        'How many requests it stands for. Requests of one key that ended alike within a minute, before an upstream attempt, are combined; all other members are those of the first.',
    },
    content: { ...text, description: 'A sentence that describes the line.' },
    username: text,
    token_name: { ...text, description: 'The name of the key; the last name of a deleted key.' },
    token_id: integer,
    model_name: { ...text, description: 'The requested model.' },
    quota: { ...number, description: 'Cost or amount in quota units, with a fraction if there is one.' },
    cost: { ...text, description: 'The same in currency units, a decimal number.' },
    prompt_tokens: integer,
    completion_tokens: integer,
    use_time: { ...integer, description: 'Duration in seconds.' },
    is_stream: boolean,
    channel: { ...integer, description: 'Always 0: channels have names.' },
    channel_name: text,
    group: text,
    ip: { ...text, description: 'In your own log only if the setting record_ip_log is on.' },
    request_id: { ...text, description: 'The `x-request-id` of the answer.' },
    other: {
      ...text,
      description:
        'A JSON object as text: outcome, status, upstream attempts, milliseconds in total (duration_ms) and to the first byte (frt), the error code of a refusal, tokens read from caches (cache_tokens) and written to them.',
    },
  },
} as const;

/** A line in a CSV file. */
export const LINE_COLUMNS = [
  ...['created_at', 'type', 'username', 'token_name', 'model_name', 'quota', 'cost', 'prompt_tokens'],
  ...['completion_tokens', 'use_time', 'is_stream', 'channel_name', 'ip', 'content', 'request_id', 'times'],
] as const;

/** Its cells; times are ISO 8601 in UTC. */
export function cellsOf(line: Awaited<ReturnType<typeof shownLine>>): readonly (string | number)[] {
  return LINE_COLUMNS.map((column) => {
    if (column === 'created_at') return new Date(line.created_at * 1_000).toISOString();
    const value = line[column];
    return typeof value === 'boolean' ? String(value) : value;
  });
}

/** The cells of the total; `amount`: micro-quota. */
export function totalCells(amount: bigint, times: number, perUnit: number): readonly (string | number)[] {
  const sums: Partial<Record<string, string | number>> = {
    created_at: 'total',
    times,
    quota: quotaNumber(amount),
    cost: currencyText(amount, perUnit),
  };
  return LINE_COLUMNS.map((column) => sums[column] ?? '');
}
