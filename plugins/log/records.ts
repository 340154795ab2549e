/** Usage records: made from an exchange that has ended, and written. */
import type { UsageRecord } from '../../core/contracts/records.ts';
import type { Attempt, Call, Clock, Exchange, Json, JsonObject, Known, Step } from '../../core/plugin.ts';

/** How much of an id that the client made up is kept. */
const LONGEST_CLIENT_ID = 128;

/** The record of an exchange that has ended. `charged` is micro-quota. */
export function recordOf(x: Known, charged: bigint, clock: Clock): UsageRecord {
  const call = callOf(x);
  const last = x.attempts.at(-1);
  return {
    id: x.id,
    atMs: x.startedMs,
    accountId: x.identity.account.id,
    keyId: x.identity.key.id,
    style: x.style?.name ?? x.passage?.prefix ?? '',
    model: call?.model ?? '',
    channel: (x.served ?? last?.offer)?.channel.name ?? '',
    stream: call?.stream ?? false,
    outcome: x.outcome ?? 'failed',
    status: x.status,
    usage: x.usage,
    charged,
    // The wall clock may step back in the middle of a call.
    durationMs: Math.max(0, clock.now() - x.startedMs),
    firstByteMs:
      last?.firstByteMs === undefined ? undefined : Math.max(0, last.startedMs - x.startedMs + last.firstByteMs),
    ip: x.ip,
    other: otherOf(x),
  };
}

/** The steps that write a record; one that is there already stays as it is. */
export function recordSteps(record: UsageRecord): readonly Step[] {
  const { usage } = record;
  return [
    {
      sql: `INSERT INTO usage_record (account_id, id, at_ms, key_id, style, model, channel, stream, outcome, status,
          input, cache_read, cache_write, cache_write_long, input_audio, output, reasoning, output_audio, estimated,
          charged, duration_ms, first_byte_ms, ip, other)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING`,
      params: [
        record.accountId,
        record.id,
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
        record.charged,
        record.durationMs,
        record.firstByteMs ?? null,
        record.ip,
        JSON.stringify(record.other),
      ],
    },
  ];
}

/** What was asked for; undefined where the exchange was refused before its body had been read. */
function callOf(x: Exchange): Call | undefined {
  try {
    return x.call;
  } catch {
    return undefined;
  }
}

function otherOf(x: Exchange): UsageRecord['other'] {
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
