/** Request ids: 26 characters, unique across gateways, ordered by time, so that their tables grow at the end. */
import { randomBytes } from 'node:crypto';

/** Identifies one run of the process: 10 characters, random. */
export const boot: string = randomBytes(8).readBigUInt64BE().toString(32).padStart(13, '0').slice(-10);

let lastMs = -1;
let prefix = '';
let count = 0;

/** 10 characters of time (milliseconds), 6 of a counter, 10 that identify the run. */
export function newId(nowMs: number): string {
  // If the clock steps back, ids must not repeat.
  if (nowMs > lastMs) {
    lastMs = nowMs;
    prefix = nowMs.toString(32).padStart(10, '0');
    count = 0;
  }
  return prefix + (count++).toString(32).padStart(6, '0') + boot;
}
