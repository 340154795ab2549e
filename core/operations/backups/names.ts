/** The names of backups, and which of them are kept. */
import type { KeepSection } from '../../config/backup-section.ts';

/** `turnpike-20261126T103000Z.db`, `….dump` of a server; `-unproven` if its proof failed; `.enc` if it is encrypted. */
const NAME = /^turnpike-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(-unproven)?\.(?:db|dump)(?:\.enc)?$/;
const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;
/** The first of January 1970 was a Thursday, three days after a Monday. */
const DAYS_AFTER_MONDAY = 3;

/** The properties of a backup. */
export interface NamedBackup {
  readonly atMs: number;
  readonly kind: 'db' | 'dump';
  readonly proven: boolean;
  readonly encrypted: boolean;
}

/** The name of a backup that was started at a time, to the second. */
export function nameOfBackup({ atMs, kind, proven, encrypted }: NamedBackup): string {
  const time = new Date(atMs)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:]/g, '');
  return `turnpike-${time}${proven ? '' : '-unproven'}.${kind}${encrypted ? '.enc' : ''}`;
}

/** The properties in a name; undefined if it is not the name of a backup. */
export function backupOfName(name: string): NamedBackup | undefined {
  const match = NAME.exec(name);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
  const atMs = Date.UTC(year!, month! - 1, day, hour, minute, second);
  const bare = name.replace(/\.enc$/, '');
  return { atMs, kind: bare.endsWith('.db') ? 'db' : 'dump', proven: match[7] === undefined, encrypted: bare !== name };
}

/**
 * The names to delete. Of the backups whose proof failed, the newest is kept until a proven one is newer. Names of
 * other files are never among them.
 */
export function expendable(names: readonly string[], keep: KeepSection): readonly string[] {
  const backups = names
    .flatMap((name) => {
      const backup = backupOfName(name);
      return backup === undefined ? [] : [{ name, ...backup }];
    })
    .sort((a, b) => b.atMs - a.atMs);
  const proven = backups.filter((each) => each.proven);
  const kept = new Set(proven.slice(0, keep.last).map(({ name }) => name));
  const newestOfEach = (most: number, periodOf: (atMs: number) => number): void => {
    const periods = new Set<number>();
    for (const { name, atMs } of proven) {
      const period = periodOf(atMs);
      if (periods.has(period)) continue;
      if (periods.size === most) return;
      periods.add(period);
      kept.add(name);
    }
  };
  newestOfEach(keep.daily, dayOf);
  newestOfEach(keep.weekly, (atMs) => Math.floor((dayOf(atMs) + DAYS_AFTER_MONDAY) / WEEK_DAYS));
  if (backups[0]?.proven === false) kept.add(backups[0].name);
  return backups.map(({ name }) => name).filter((name) => !kept.has(name));
}

const dayOf = (atMs: number): number => Math.floor(atMs / DAY_MS);
