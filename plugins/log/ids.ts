/**
 * Ids of log lines, both of records and of events. They begin with their time, so they sort by time. In the table of records an id is
 * stored in two columns, because most of it is shared by many calls: its place in time, and the run of the process that created it.
 */
import { randomBytes } from 'node:crypto';

/** The length of an id. */
const LENGTH = 26;
/** The length of the time, five bits per character, in milliseconds. */
const OF_TIME = 10;
/** The offset of the run's name; between the time and it, requests of one millisecond are counted. */
const OF_RUN = 16;

/** Creates an id for a time. */
export function newId(atMs: number): string {
  return `${timeOf(atMs)}${randomBytes(8).toString('hex')}`;
}

/** The prefix of the ids of a time: ids from this text on are of that time or later. */
export function timeOf(atMs: number): string {
  return Math.max(0, Math.floor(atMs)).toString(32).padStart(OF_TIME, '0');
}

/** The time of an id or a place. */
export function msOf(id: string): number {
  const time = id.slice(0, OF_TIME);
  // Called several times for one id, and for many in a row with the same time.
  if (time !== lastTime) {
    lastTime = time;
    lastMs = Number.parseInt(time, 32);
  }
  return lastMs;
}

let lastTime = '';
let lastMs = Number.NaN;

/**
 * The place of an id: only its time for the first of a millisecond, otherwise its time, the number of digits of the count, and these
 * digits. Places of one run sort like its ids; `ID_OF_PLACE` is the inverse.
 */
export function placeOf(id: string): string {
  let digits = OF_TIME;
  while (digits < OF_RUN && id.charCodeAt(digits) === 48) digits++;
  const moment = id.slice(0, OF_TIME);
  return digits === OF_RUN ? moment : moment + (OF_RUN - digits) + id.slice(digits, OF_RUN);
}

/** The name of the run that created the id. */
export function runOf(id: string): string {
  return id.slice(OF_RUN);
}

/** The number of the run whose name is a parameter. */
export const RUN_NAMED = '(SELECT usage_run.id FROM usage_run WHERE name = ?)';

/** Throws for an id that cannot be stored in two columns. */
export function assertId(id: string): void {
  if (id.length !== LENGTH) throw new Error(`the id of a record has ${LENGTH} characters, not ${id.length}: ${id}`);
}

/** The part of an id that `placeOf` encodes; the run's name follows. This and the following are SQL expressions. */
export function sqlStart(place: string): string {
  const digits = `substr(${place}, ${OF_TIME + 2})`;
  return `substr(${place}, 1, ${OF_TIME}) || substr('000000', length(${digits}) + 1) || ${digits}`;
}

/** `placeOf` in SQL. */
export function sqlPlace(id: string): string {
  const moment = `substr(${id}, 1, ${OF_TIME})`;
  const digits = `ltrim(substr(${id}, ${OF_TIME + 1}, ${OF_RUN - OF_TIME}), '0')`;
  return `CASE ${digits} WHEN '' THEN ${moment} ELSE ${moment} || length(${digits}) || ${digits} END`;
}

/** `runOf` in SQL. */
export const sqlRun = (id: string): string => `substr(${id}, ${OF_RUN + 1})`;

/** `timeOf` in SQL, in milliseconds. */
export function sqlTime(ms: string): string {
  const digit = (i: number): string => `((${ms} >> ${5 * (OF_TIME - 1 - i)}) & 31)`;
  return Array.from(
    { length: OF_TIME },
    (_, i) => `substr('0123456789abcdefghijklmnopqrstuv', CAST(${digit(i)} AS INT) + 1, 1)`,
  ).join(' || ');
}
