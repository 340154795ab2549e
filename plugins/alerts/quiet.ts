/** The quiet time: a part of each day, in a time zone. */

/** Whether a moment (unix milliseconds) is in it. */
export type Quiet = (atMs: number) => boolean;

/** Whether this is a known IANA time zone. */
export function isZone(zone: string): boolean {
  // The default: asking for it would load Node's data of time zones, 14 ms and 8 MB, at every start.
  if (zone === 'UTC') return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** The quiet time `22:00-07:00`, its end excluded; undefined for an empty text. A time that ends when it begins is the whole day. */
export function quietTime(text: string, zone: string): Quiet | undefined {
  if (text === '') return undefined;
  const [from = 0, until = 0] = text.split('-').map(minuteOf);
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return (atMs) => {
    const minute = minuteOf(format.format(atMs));
    return from < until ? minute >= from && minute < until : minute >= from || minute < until;
  };
}

function minuteOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return hours * 60 + minutes;
}
