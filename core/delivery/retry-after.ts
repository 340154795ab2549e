/** When a vendor wants the next request: in headers, in members of its error, or in the words of its message. */
import type { Headers } from '../contracts/definitions.ts';

/** Maximum `retry-after` forwarded to clients. */
const MAX_RETRY_AFTER_MS = 60_000;
/** Only this many characters of a message are searched. */
const MAX_READ = 1_000;
/** An error is small; only this many of its values are looked at. */
const MAX_VALUES = 500;

/** The time until the next request in milliseconds, at most a minute; undefined if the vendor names none. */
export function retryAfter(headers: Headers, nowMs: number, body?: Buffer): number | undefined {
  const ms = fromHeaders(headers, nowMs) ?? (body === undefined ? undefined : fromBody(body, nowMs));
  return ms === undefined || !Number.isFinite(ms) || ms < 0 ? undefined : Math.min(ms, MAX_RETRY_AFTER_MS);
}

/** The two headers from which clients read when to retry. */
export function retryHeaders(ms: number): Record<string, string> {
  const capped = Math.min(Math.max(ms, 1), MAX_RETRY_AFTER_MS);
  return { 'retry-after': String(Math.ceil(capped / 1_000)), 'retry-after-ms': String(Math.ceil(capped)) };
}

/** The time in a sentence such as `Please try again in 1m2.5s`. */
export function delayIn(message: string): number | undefined {
  const words = IN_WORDS.exec(message.slice(0, MAX_READ))?.[1];
  return words === undefined ? undefined : durationOf(words);
}

const UNITS: readonly (readonly [unit: RegExp, ms: number])[] = [
  [/^(ms|milli)/, 1],
  [/^s/, 1_000],
  [/^m/, 60_000],
  [/^h/, 3_600_000],
];
const STEP = String.raw`(\d+(?:\.\d+)?)\s*(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h)`;
const STEPS = new RegExp(STEP, 'g');
const DURATION = new RegExp(String.raw`^(?:${STEP}\s*){1,4}$`, 'i');
const IN_WORDS = new RegExp(
  String.raw`\b(?:try again|retry|wait)(?:\s+your\s+request)?(?:\s+(?:in|after|for))?\s+((?:${STEP}\s*){1,4})`,
  'i',
);

/** `34s`, `1m30.5s`, `20 seconds`, in milliseconds. */
function durationOf(text: string): number | undefined {
  let total: number | undefined;
  for (const [, amount, unit] of text.toLowerCase().matchAll(STEPS)) {
    total = (total ?? 0) + Number(amount) * UNITS.find(([pattern]) => pattern.test(unit!))![1];
  }
  return total;
}

const NUMBER = /^\d+(\.\d+)?$/;

function fromHeaders(headers: Headers, nowMs: number): number | undefined {
  for (const name of ['retry-after-ms', 'x-ms-retry-after-ms']) {
    const text = headers[name]?.trim() ?? '';
    if (NUMBER.test(text)) return Number(text);
  }
  const senderMs = Date.parse(headers.date ?? '');
  const wanted = headers['retry-after'] ?? headers['x-retry-after'];
  const asked = wanted === undefined ? undefined : momentOf(wanted, Number.isFinite(senderMs) ? senderMs : nowMs);
  return asked ?? untilReset(headers, nowMs);
}

/** Limits that are used up: the one that is reset last decides. */
function untilReset(headers: Headers, nowMs: number): number | undefined {
  let latest: number | undefined;
  for (const name in headers) {
    if (!name.includes('ratelimit') || !name.includes('reset')) continue;
    if (headers[name.replace('reset', 'remaining')]?.trim() !== '0') continue;
    const ms = momentOf(headers[name]!, nowMs);
    if (ms !== undefined && ms >= 0) latest = Math.max(latest ?? 0, ms);
  }
  return latest;
}

/** Seconds since 1970 from here on, milliseconds further on; less are seconds to wait. */
const AS_EPOCH_S = 1e9;
const AS_EPOCH_MS = 1e12;

/** A wait: seconds, a duration, a date, or a point in time as a number. */
function momentOf(text: string, nowMs: number): number | undefined {
  const trimmed = text.trim();
  if (NUMBER.test(trimmed)) {
    const number = Number(trimmed);
    if (number >= AS_EPOCH_MS) return number - nowMs;
    return number >= AS_EPOCH_S ? number * 1_000 - nowMs : number * 1_000;
  }
  if (DURATION.test(trimmed)) return durationOf(trimmed);
  const ms = Date.parse(trimmed) - nowMs;
  return Number.isFinite(ms) ? ms : undefined;
}

/** Members of errors, without case and separators. */
const IN_SECONDS: ReadonlySet<string> = new Set(['retryafter', 'retryafterseconds', 'retrydelay', 'xratelimitreset']);
const IN_MS: ReadonlySet<string> = new Set(['retryafterms', 'retryaftermilliseconds']);
const IN_MESSAGES: ReadonlySet<string> = new Set(['message', 'detail', 'error', 'msg']);

function fromBody(body: Buffer, nowMs: number): number | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return delayIn(body.toString('utf8', 0, MAX_READ));
  }
  let inWords: number | undefined;
  let left = MAX_VALUES;
  const pending: unknown[] = [value];
  while (pending.length > 0 && left-- > 0) {
    const at = pending.shift();
    if (typeof at === 'string') inWords ??= delayIn(at);
    if (typeof at !== 'object' || at === null) continue;
    for (const [name, member] of Object.entries(at)) {
      const ms = waitOf(name.toLowerCase().replaceAll(/[-_]/g, ''), member, nowMs);
      if (ms !== undefined && ms >= 0) return ms;
      if (typeof member === 'object' || IN_MESSAGES.has(name) || Array.isArray(at)) pending.push(member);
    }
  }
  return inWords;
}

function waitOf(name: string, value: unknown, nowMs: number): number | undefined {
  const isWord = typeof value === 'string' || typeof value === 'number';
  if (IN_MS.has(name) && isWord) return NUMBER.test(String(value)) ? Number(value) : undefined;
  if (!IN_SECONDS.has(name)) return undefined;
  if (isWord) return momentOf(String(value), nowMs);
  const { seconds, nanos = 0 } = (value ?? {}) as { readonly seconds?: unknown; readonly nanos?: unknown };
  return seconds === undefined ? undefined : Number(seconds) * 1_000 + Number(nanos) / 1e6;
}
