/** How long the body of an answer is, and how long its connection may be kept (RFC 9112, sections 6 and 9). */
import type { Headers } from '../contracts/call.ts';

/** The body ends after its last chunk. */
export const CHUNKED = -1;
/** The body ends with the connection. */
export const UNTIL_CLOSE = -2;

const DIGITS = /^[0-9]{1,15}$/;

/**
 * The length of the body in bytes, `CHUNKED` or `UNTIL_CLOSE`. Undefined if the head contradicts itself: a length that is no number
 * or comes twice, a length beside a transfer coding, or a coding other than `chunked`. Such answers are how responses are smuggled.
 */
export function bodyLength(status: number, headers: Headers): number | undefined {
  const length = headers['content-length'];
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (length !== undefined || coding.toLowerCase() !== 'chunked')) return undefined;
  if (length !== undefined && !DIGITS.test(length)) return undefined;
  if (status === 204 || status === 304) return 0;
  if (coding !== undefined) return CHUNKED;
  return length === undefined ? UNTIL_CLOSE : Number(length);
}

/** Less than what vendors and their load balancers allow, so that they rarely close a connection while it is being used. */
const IDLE_MS = 30_000;
/** However long a vendor promises to keep a connection. */
const MAX_IDLE_MS = 60_000;
/** So much earlier than the vendor announces: its own clock runs from its last byte, not from ours. */
const MARGIN_MS = 2_000;

const CLOSE = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
const KEEP_ALIVE = /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i;
const TIMEOUT = /(?:^|,)[ \t]*timeout[ \t]*=[ \t]*([0-9]{1,9})/i;

/** For how long the connection may be kept after this answer, in milliseconds; 0 if it must not be used again. */
export function idleMs(minor: number, headers: Headers): number {
  const { connection } = headers;
  const announced = headers['keep-alive'];
  if (connection !== undefined && connection !== 'keep-alive' && CLOSE.test(connection)) return 0;
  // HTTP/1.0 has no transfer codings: its peers disagree about where such an answer ends.
  if (minor === 0 && headers['transfer-encoding'] !== undefined) return 0;
  if (minor === 0 && (connection === undefined || !KEEP_ALIVE.test(connection))) return 0;
  const seconds = announced === undefined ? undefined : TIMEOUT.exec(announced)?.[1];
  if (seconds === undefined) return IDLE_MS;
  return Math.max(0, Math.min(Number(seconds) * 1_000 - MARGIN_MS, MAX_IDLE_MS));
}
