/** Usage records: made from an exchange that has ended, and written. */
import type { UsageRecord } from '../../core/contracts/records.ts';
import type { Attempt, Call, Clock, Exchange, Json, JsonObject, Known, Step } from '../../core/plugin.ts';
import { additionSteps } from './additions.ts';

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

/**
 * The steps that write a record of somebody who is in that department (0: none). A list that would write one again fails, so nothing
 * is added up twice. Hours before `closedMs` may have been rolled up.
 */
export function recordSteps(record: UsageRecord, departmentId: number, closedMs: number): readonly Step[] {
  const { id, accountId, keyId, model, channel, charged: amount, usage } = record;
  const tokens = { input: usage?.input ?? 0, output: usage?.output ?? 0 };
  const included = record.included === true ? amount : 0n;
  const sum = { id, accountId, kind: kindOf(record), keyId, model, channel, departmentId, amount, included, ...tokens };
  return [
    ...additionSteps(sum, closedMs),
    {
      sql: `INSERT INTO usage_record (id, account_id, department_id, at_ms, key_id, style, model, channel, stream, outcome, status,
          input, cache_read, cache_write, cache_write_long, input_audio, output, reasoning, output_audio, estimated,
          input_image, output_image, characters, seconds, images, image_size, image_quality,
          charged, included, duration_ms, first_byte_ms, ip, other)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
        record.charged,
        Number(record.included === true),
        record.durationMs,
        record.firstByteMs ?? null,
        record.ip,
        JSON.stringify(record.other),
      ],
    },
  ];
}

/** A call that failed after it had delivered something was charged for that: it was use. */
export function kindOf({ outcome, charged }: Pick<UsageRecord, 'outcome' | 'charged'>): 'use' | 'error' {
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
  const clientId = x.headers['x-request-id'];
  const other: Record<string, Json> = Object.assign({}, x.notes);
  if (x.attempts.length > 0) other.attempts = x.attempts.map(describeAttempt);
  if (clientId !== undefined) other.clientRequestId = clientId.slice(0, LONGEST_CLIENT_ID);
  return other;
}

function describeAttempt({ offer, status, failure, reason, startedMs, endedMs }: Attempt): JsonObject {
  const facts: Record<string, Json> = { channel: offer.channel.name, model: offer.model };
  if (status !== undefined) facts.status = status;
  if (failure !== undefined) facts.failure = failure;
  if (reason !== undefined) facts.reason = reason;
  facts.ms = endedMs === undefined ? null : endedMs - startedMs;
  return facts;
}
