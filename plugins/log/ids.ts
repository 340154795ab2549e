/**
 * Ids of lines, an exchange's as well as an event's: they begin with their moment, and so are in the order of time. In the table of
 * records an id stands as two columns, for most of it is the same for many calls: its place in time, and the run of the process that
 * made it.
 */
import { randomBytes } from 'node:crypto';

/** Characters of an id. */
const LENGTH = 26;
/** Characters of the moment, each five bits of its milliseconds. */
const OF_TIME = 10;
/** Where the name of the run begins; between it and the moment, exchanges of one millisecond are counted. */
const OF_RUN = 16;

/** A new one of this moment. */
export function newId(atMs: number): string {
  return `${timeOf(atMs)}${randomBytes(8).toString('hex')}`;
}

/** How ids of a moment begin: from here on they are of this moment, or later. */
export function timeOf(atMs: number): string {
  return Math.max(0, Math.floor(atMs)).toString(32).padStart(OF_TIME, '0');
}

/** The moment that an id begins with, or a place. */
export function msOf(id: string): number {
  const time = id.slice(0, OF_TIME);
  // It is asked several times of one id, and of many in a row with the same moment.
  if (time !== lastTime) {
    lastTime = time;
    lastMs = Number.parseInt(time, 32);
  }
  return lastMs;
}

let lastTime = '';
let lastMs = Number.NaN;

/**
 * The place of an id: its moment alone for the first of a millisecond, else its moment, how many digits the count has, and those.
 * Places of one run are in the order of its ids; `ID_OF_PLACE` is the way back.
 */
export function placeOf(id: string): string {
  let digits = OF_TIME;
  while (digits < OF_RUN && id.charCodeAt(digits) === 48) digits++;
  const moment = id.slice(0, OF_TIME);
  return digits === OF_RUN ? moment : moment + (OF_RUN - digits) + id.slice(digits, OF_RUN);
}

/** The name of the run that made it. */
export function runOf(id: string): string {
  return id.slice(OF_RUN);
}

/** The number of the run that a parameter names. */
export const RUN_NAMED = '(SELECT usage_run.id FROM usage_run WHERE name = ?)';

/** Throws where a record cannot have this id. */
export function assertId(id: string): void {
  if (id.length !== LENGTH) throw new Error(`the id of a record has ${LENGTH} characters, not ${id.length}: ${id}`);
}

/** What `placeOf` has left of an id, as it was; the name of the run follows. An expression of statements, as those below. */
export function sqlStart(place: string): string {
  const digits = `substr(${place}, ${OF_TIME + 2})`;
  return `substr(${place}, 1, ${OF_TIME}) || substr('000000', length(${digits}) + 1) || ${digits}`;
}

/** The same as `placeOf`. */
export function sqlPlace(id: string): string {
  const moment = `substr(${id}, 1, ${OF_TIME})`;
  const digits = `ltrim(substr(${id}, ${OF_TIME + 1}, ${OF_RUN - OF_TIME}), '0')`;
  return `CASE ${digits} WHEN '' THEN ${moment} ELSE ${moment} || length(${digits}) || ${digits} END`;
}

/** The same as `runOf`. */
export const sqlRun = (id: string): string => `substr(${id}, ${OF_RUN + 1})`;

/** The same as `timeOf`, of milliseconds. */
export function sqlTime(ms: string): string {
  const digit = (i: number): string => `((${ms} >> ${5 * (OF_TIME - 1 - i)}) & 31)`;
  return Array.from(
    { length: OF_TIME },
    (_, i) => `substr('0123456789abcdefghijklmnopqrstuv', CAST(${digit(i)} AS INT) + 1, 1)`,
  ).join(' || ');
}
