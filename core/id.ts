/** Ids of exchanges: 26 characters, unique over all gateways, in the order of time, so that tables keyed by them grow at their end. */
import { randomBytes } from 'node:crypto';

/** One run of the process: 10 characters, random. */
export const boot: string = randomBytes(8).readBigUInt64BE().toString(32).padStart(13, '0').slice(-10);

let lastMs = -1;
let prefix = '';
let count = 0;

/** 10 characters of time (milliseconds), 6 that count up within this run, 10 that name the run. */
export function newId(nowMs: number): string {
  // A clock that steps back must not make ids that were handed out before.
  if (nowMs > lastMs) {
    lastMs = nowMs;
    prefix = nowMs.toString(32).padStart(10, '0');
    count = 0;
  }
  return prefix + (count++).toString(32).padStart(6, '0') + boot;
}
