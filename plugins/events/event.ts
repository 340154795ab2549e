/** The event of a call: what its usage record has, as JSON for other systems. */
import { inQuota } from '../../core/contracts/ledger.ts';
import type { Attempt, Exchange, JsonObject } from '../../core/plugin.ts';

/** The longest names that clients choose. */
const LONGEST = 256;

/** The charge of a call. */
export interface Charge {
  /** Micro-quota. */
  readonly charged: bigint;
  /** Quota units in one currency unit. */
  readonly perUnit: number;
}

/** The event, as one line of JSON. `endedMs`: unix milliseconds. */
export function eventOf(x: Exchange, { charged, perUnit }: Charge, endedMs: number): string {
  const { usage, identity } = x;
  const { model, stream } = requestOf(x);
  const target = x.served ?? x.attempts.at(-1)?.offer;
  const last = x.attempts.at(-1);
  const event: JsonObject = {
    type: 'call',
    version: 1,
    id: x.id,
    started: new Date(x.startedMs).toISOString(),
    duration_ms: Math.max(0, endedMs - x.startedMs),
    ...(last?.firstByteMs !== undefined && {
      first_byte_ms: Math.max(0, last.startedMs + last.firstByteMs - x.startedMs),
    }),
    ...(identity !== undefined && {
      account: { id: identity.account.id, name: identity.account.name },
      key: { id: identity.key.id, name: identity.key.name },
    }),
    ip: x.ip,
    path: x.path,
    style: x.style?.name ?? 'passthrough',
    model,
    stream,
    outcome: x.outcome ?? 'failed',
    status: x.status,
    ...(typeof x.notes.code === 'string' && { code: x.notes.code }),
    ...(target !== undefined && { channel: target.channel.name, upstream_model: target.model }),
    attempts: x.attempts.map(attemptOf),
    // Plain data: numbers, texts and objects of them.
    ...(usage !== undefined && { usage: { ...usage } as unknown as JsonObject }),
    // The exact amount as text, and its value in currency units.
    charged: { quota: inQuota(charged), currency: Number(charged) / 1_000_000 / perUnit },
  };
  return JSON.stringify(event);
}

function attemptOf({ offer, startedMs, endedMs, status, failure }: Attempt): JsonObject {
  return {
    channel: offer.channel.name,
    model: offer.model,
    ...(status !== undefined && { status }),
    ...(failure !== undefined && { failure }),
    ...(endedMs !== undefined && { duration_ms: Math.max(0, endedMs - startedMs) }),
  };
}

/** Empty if the request was refused before its body was read. */
function requestOf(x: Exchange): { readonly model: string; readonly stream: boolean } {
  try {
    return { model: x.call.model.slice(0, LONGEST), stream: x.call.stream };
  } catch {
    return { model: '', stream: false };
  }
}
