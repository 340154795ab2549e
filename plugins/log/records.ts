/** Usage records: made from an exchange that has ended, and written. */
import type { UsageRecord } from '../../core/contracts/records.ts';
import {
  type Attempt,
  type Call,
  type Clock,
  type Entrant,
  type Exchange,
  type Json,
  type JsonObject,
  type Known,
  type RouteEnd,
  type Step,
  type Usage,
  unusualIn,
} from '../../core/plugin.ts';
import { type ADDED, type Addition, additionSteps } from './additions.ts';
import { msOf } from './ids.ts';
import { sumKindOf } from './kinds.ts';

/** How much is kept of what the client made up: an id, the name of a model that may not exist. */
const LONGEST_CLIENT_ID = 128;
const LONGEST_MODEL = 256;

/** The record of an exchange that has ended. `charged` is micro-quota; `included`: a subscription pays that. */
export function recordOf(x: Known, charged: bigint, included: boolean, clock: Clock): UsageRecord {
  const call = callOf(x);
  const last = x.attempts.at(-1);
  return {
    id: x.id,
    atMs: x.startedMs,
    accountId: x.identity.account.id,
    keyId: x.identity.key.id,
    style: x.style?.name ?? x.passage?.prefix ?? '',
    model: call?.model.slice(0, LONGEST_MODEL) ?? '',
    channel: (x.served ?? last?.offer)?.channel.name ?? '',
    stream: call?.stream ?? false,
    outcome: x.outcome ?? 'failed',
    status: x.status,
    usage: x.usage,
    charged,
    ...(included && { included }),
    // The wall clock may step back in the middle of a call.
    durationMs: Math.max(0, clock.now() - x.startedMs),
    firstByteMs:
      last?.firstByteMs === undefined ? undefined : Math.max(0, last.startedMs - x.startedMs + last.firstByteMs),
    ip: x.ip,
    other: otherOf(x),
  };
}

/** The record of a key's request for a route. */
export function recordOfRoute(x: Entrant, { route, status, code }: RouteEnd, clock: Clock): UsageRecord {
  const atMs = msOf(x.id);
  return {
    id: x.id,
    atMs,
    accountId: x.identity.account.id,
    keyId: x.identity.key.id,
    style: '',
    model: '',
    channel: '',
    stream: false,
    outcome: status < 400 ? 'served' : status < 500 ? 'refused' : 'failed',
    status,
    usage: undefined,
    charged: 0n,
    durationMs: Math.max(0, clock.now() - atMs),
    firstByteMs: undefined,
    ip: x.ip,
    other: { ...(code !== undefined && { code }), ...clientIdOf(x) },
    route: `${x.method} ${route.path}`,
  };
}

/**
 * The steps that write a record of somebody who is in that department (0: none). A list that would write one again fails, so nothing
 * is added up twice. Hours before `closedMs` may have been rolled up.
 */
export function recordSteps(record: UsageRecord, departmentId: number, closedMs: number): readonly Step[] {
  const { charged: amount, usage } = record;
  const tokens = { input: usage?.input ?? 0, output: usage?.output ?? 0 };
  const included = record.included === true ? amount : 0n;
  const added = { lines: 1, repeats: record.repeats ?? 0, amount, included, ...tokens } as const;
  return [
    ...sumSteps(record, departmentId, added, closedMs),
    {
      sql: `INSERT INTO usage_record (id, account_id, department_id, at_ms, key_id, style, model, channel, stream, outcome, status,
          input, cache_read, cache_write, cache_write_long, input_audio, output, reasoning, output_audio, estimated,
          input_image, output_image, characters, seconds, images, image_size, image_quality, uses, service,
          charged, included, duration_ms, first_byte_ms, ip, other, repeats, route)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      params: [
        record.id,
        record.accountId,
        departmentId,
        record.atMs,
        record.keyId,
        record.style,
        record.model,
        record.channel,
        record.stream ? 1 : 0,
        record.outcome,
        record.status,
        usage?.input ?? null,
        usage?.cacheRead ?? null,
        usage?.cacheWrite ?? null,
        usage?.cacheWriteLong ?? null,
        usage?.inputAudio ?? null,
        usage?.output ?? null,
        usage?.reasoning ?? null,
        usage?.outputAudio ?? null,
        usage === undefined ? null : Number(usage.estimated),
        usage?.inputImage ?? null,
        usage?.outputImage ?? null,
        usage?.characters ?? null,
        usage?.seconds ?? null,
        usage?.images?.count ?? null,
        usage?.images?.size ?? null,
        usage?.images?.quality ?? null,
        usesText(usage),
        unusualIn(usage?.service).length > 0 ? JSON.stringify(usage?.service) : null,
        record.charged,
        Number(record.included === true),
        record.durationMs,
        record.firstByteMs ?? null,
        record.ip,
        JSON.stringify(record.other),
        record.repeats ?? 0,
        record.route ?? '',
      ],
    },
  ];
}

/** What was run, without what was not. */
function usesText(usage: Usage | undefined): string | null {
  const run = Object.entries(usage?.uses ?? {}).filter(([, count]) => count > 0);
  return run.length === 0 ? null : JSON.stringify(Object.fromEntries(run));
}

/** The steps that let the record with this one's id stand for so many more like it. The list fails where there is none. */
export function repeatSteps(
  record: UsageRecord,
  departmentId: number,
  repeats: number,
  closedMs: number,
): readonly Step[] {
  const added = { lines: 0, repeats, amount: 0n, included: 0n, input: 0, output: 0 } as const;
  return [
    {
      sql: 'UPDATE usage_record SET repeats = repeats + ? WHERE id = ?',
      params: [repeats, record.id],
      must: 'record_missing',
    },
    ...sumSteps(record, departmentId, added, closedMs),
  ];
}

function sumSteps(
  record: UsageRecord,
  departmentId: number,
  added: Pick<Addition, (typeof ADDED)[number]>,
  closedMs: number,
): readonly Step[] {
  const { id, accountId, keyId, model, channel } = record;
  const kind = sumKindOf(record, kindOf(record));
  // Days are sums of calls.
  const day = kind === 'request' ? 0 : closedMs;
  return additionSteps({ id, accountId, kind, keyId, model, channel, departmentId, ...added }, day);
}

/** What is refused, or left by its client, before a vendor was asked: it may come as often as a client likes, and costs nothing. */
export function isRepeatable({ outcome, charged, other }: UsageRecord): boolean {
  return outcome !== 'served' && charged === 0n && other.attempts === undefined;
}

/** The kind of line that a record is. */
export function kindOf(record: Pick<UsageRecord, 'outcome' | 'charged' | 'route'>): 'use' | 'error' | 'request' {
  return record.route === undefined ? callKindOf(record) : 'request';
}

/** The same of a call. One that failed after it had delivered something was charged for that: it was use. */
export function callKindOf({ outcome, charged }: Pick<UsageRecord, 'outcome' | 'charged'>): 'use' | 'error' {
  return (outcome === 'refused' || outcome === 'failed') && charged === 0n ? 'error' : 'use';
}

/** What was asked for; undefined where the exchange was refused before its body had been read. */
function callOf(x: Exchange): Call | undefined {
  try {
    return x.call;
  } catch {
    return undefined;
  }
}

function otherOf(x: Known): UsageRecord['other'] {
  const other: Record<string, Json> = Object.assign({}, x.notes);
  if (x.attempts.length > 0) other.attempts = x.attempts.map(describeAttempt);
  return Object.assign(other, clientIdOf(x));
}

/** What the client calls its request. */
function clientIdOf({ headers }: Pick<Entrant, 'headers'>): JsonObject {
  const clientId = headers['x-request-id'];
  return clientId === undefined ? {} : { clientRequestId: clientId.slice(0, LONGEST_CLIENT_ID) };
}

function describeAttempt({ offer, status, failure, reason, startedMs, endedMs }: Attempt): JsonObject {
  const facts: Record<string, Json> = { channel: offer.channel.name, model: offer.model };
  if (status !== undefined) facts.status = status;
  if (failure !== undefined) facts.failure = failure;
  if (reason !== undefined) facts.reason = reason;
  facts.ms = endedMs === undefined ? null : endedMs - startedMs;
  return facts;
}
