/** Ids of lines, an exchange's as well as an event's: they begin with their moment, and so are in the order of time. */
import { randomBytes } from 'node:crypto';

/** Characters of the moment, each five bits of its milliseconds. */
const OF_TIME = 10;

/** Above every id. */
export const LAST_ID = '~';

/** A new one of this moment. */
export function newId(atMs: number): string {
  return `${timeOf(atMs)}${randomBytes(8).toString('hex')}`;
}

/** How ids of a moment begin: from here on they are of this moment, or later. */
export function timeOf(atMs: number): string {
  return Math.max(0, Math.floor(atMs)).toString(32).padStart(OF_TIME, '0');
}

/** The moment that an id begins with. */
export function msOf(id: string): number {
  return Number.parseInt(id.slice(0, OF_TIME), 32);
}
