/** Creates usage records from calls that have ended, and from requests for routes. */
import type { UsageRecord } from '../../core/contracts/records.ts';
import type { Attempt, Call, Clock, Entrant, Exchange, Json, JsonObject, Known, RouteEnd } from '../../core/plugin.ts';
import { msOf } from './ids.ts';
import type { ReadTags } from './tags.ts';

/** The maximum length of texts that clients choose: a request id, the name of a model that may not exist. */
const LONGEST_CLIENT_ID = 128;
const LONGEST_MODEL = 256;

/** The record of an ended call. `charged` is micro-quota; `included`: a subscription pays it. */
export function recordOf(x: Known, charged: bigint, included: boolean, clock: Clock, readTags: ReadTags): UsageRecord {
  const call = callOf(x);
  const last = x.attempts.at(-1);
  return {
    id: x.id,
    atMs: x.startedMs,
    accountId: x.identity.account.id,
    keyId: x.identity.key.id,
    style: x.style?.name ?? x.passthrough?.prefix ?? '',
    model: call?.model.slice(0, LONGEST_MODEL) ?? '',
    channel: (x.served ?? last?.offer)?.channel.name ?? '',
    stream: call?.stream ?? false,
    outcome: x.outcome ?? 'failed',
    status: x.status,
    usage: x.usage,
    charged,
    ...(included && { included }),
    // The wall clock may be set back during a call.
    durationMs: Math.max(0, clock.now() - x.startedMs),
    firstByteMs:
      last?.firstByteMs === undefined ? undefined : Math.max(0, last.startedMs - x.startedMs + last.firstByteMs),
    ip: x.ip,
    other: otherOf(x, isCounted(x) ? readTags(x, call) : undefined),
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

/** Refused, or aborted by the client, before an upstream attempt: clients can cause these at any rate, for free. */
export function isRepeatable({ outcome, charged, other }: UsageRecord): boolean {
  return outcome !== 'served' && charged === 0n && other.attempts === undefined;
}

/** The kind of a record's line. */
export function kindOf(record: Pick<UsageRecord, 'outcome' | 'charged' | 'route'>): 'use' | 'error' | 'request' {
  return record.route === undefined ? callKindOf(record) : 'request';
}

/** The kind of a call's line. A call that failed after a partial answer was charged for it: it counts as use. */
export function callKindOf({ outcome, charged }: Pick<UsageRecord, 'outcome' | 'charged'>): 'use' | 'error' {
  return (outcome === 'refused' || outcome === 'failed') && charged === 0n ? 'error' : 'use';
}

/** The requested model; undefined if the request was refused before its body was read. */
function callOf(x: Exchange): Call | undefined {
  try {
    return x.call;
  } catch {
    return undefined;
  }
}

/** Whether a call has tags: of refused calls one record stands for many, which may have different ones. */
function isCounted({ outcome, attempts }: Known): boolean {
  return outcome === 'served' || attempts.length > 0;
}

function otherOf(x: Known, tags: readonly string[] | undefined): UsageRecord['other'] {
  const other: Record<string, Json> = Object.assign({}, x.notes);
  if (tags !== undefined) other.tags = tags;
  if (x.attempts.length > 0) other.attempts = x.attempts.map(describeAttempt);
  return Object.assign(other, clientIdOf(x));
}

/** The client's own request id. */
function clientIdOf({ headers }: Pick<Entrant, 'headers'>): JsonObject {
  const clientId = headers['x-request-id'];
  return clientId === undefined ? {} : { clientRequestId: clientId.slice(0, LONGEST_CLIENT_ID) };
}

function describeAttempt({ offer, status, failure, reason, startedMs, endedMs }: Attempt): JsonObject {
  const { channel, model } = offer;
  const facts: Record<string, Json> = { channel: channel.name, model };
  if (channel.keyNumber !== undefined) facts.key = channel.keyNumber;
  if (status !== undefined) facts.status = status;
  if (failure !== undefined) facts.failure = failure;
  if (reason !== undefined) facts.reason = reason;
  facts.ms = endedMs === undefined ? null : endedMs - startedMs;
  return facts;
}
