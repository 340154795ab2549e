/** The length of an answer's body, and how long its connection may be kept (RFC 9112, sections 6 and 9). */
import type { Headers } from '../contracts/call.ts';

/** The body ends after its last chunk. */
export const CHUNKED = -1;
/** The body ends with the connection. */
export const UNTIL_CLOSE = -2;

const DIGITS = /^[0-9]{1,15}$/;

/**
 * The length of the body in bytes, `CHUNKED` or `UNTIL_CLOSE`. Undefined if the head is contradictory: an invalid or
 * repeated length, a length beside a transfer coding, or a coding other than `chunked`. Such answers enable response
 * smuggling.
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

/**
 * Less than the limits of vendors and their load balancers, so that they rarely close a connection while it is being
 * used.
 */
const IDLE_MS = 30_000;
/** Maximum, whatever a vendor announces. */
const MAX_IDLE_MS = 60_000;
/** Margin before the time that the vendor announces: its clock starts with its last byte, not with ours. */
const MARGIN_MS = 2_000;

const CLOSE = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
const KEEP_ALIVE = /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i;
const TIMEOUT = /(?:^|,)[ \t]*timeout[ \t]*=[ \t]*([0-9]{1,9})/i;

/** How long the connection may be kept after this answer, in milliseconds; 0 if it must not be reused. */
export function idleMs(minor: number, headers: Headers): number {
  const { connection } = headers;
  const announced = headers['keep-alive'];
  if (connection !== undefined && connection !== 'keep-alive' && CLOSE.test(connection)) return 0;
  // HTTP/1.0 has no transfer codings: implementations disagree about the end of such an answer.
  if (minor === 0 && headers['transfer-encoding'] !== undefined) return 0;
  if (minor === 0 && (connection === undefined || !KEEP_ALIVE.test(connection))) return 0;
  const seconds = announced === undefined ? undefined : TIMEOUT.exec(announced)?.[1];
  if (seconds === undefined) return IDLE_MS;
  return Math.max(0, Math.min(Number(seconds) * 1_000 - MARGIN_MS, MAX_IDLE_MS));
}
