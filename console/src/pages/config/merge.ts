/** Merges two changes of one text, line by line. */
import { diffLines } from './line-diff.ts';

/** A run of lines of the original that a change replaces; an empty run is an insertion before `from`. */
interface Change {
  /** The first line and the one after the last, from 0. */
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/** Applies both changes to the original; undefined if they touch the same or neighbouring lines in different ways. */
export function merged(base: string, mine: string, theirs: string): string | undefined {
  const [own, other] = [changesOf(base, mine), changesOf(base, theirs)];
  const all = [...own];
  for (const change of other) {
    const rival = own.find(({ from, to }) => from <= change.to && change.from <= to);
    if (rival === undefined) all.push(change);
    else if (!isSameChange(rival, change)) return undefined;
  }
  const lines = base.split('\n');
  for (const { from, to, lines: next } of all.sort((a, b) => b.from - a.from)) lines.splice(from, to - from, ...next);
  return lines.join('\n');
}

function isSameChange(a: Change, b: Change): boolean {
  return a.from === b.from && a.to === b.to && a.lines.join('\n') === b.lines.join('\n');
}

function changesOf(before: string, after: string): readonly Change[] {
  const changes: Change[] = [];
  let at = 0;
  let open: { from: number; to: number; lines: string[] } | undefined;
  for (const { kind, text } of diffLines(before, after)) {
    if (kind === 'same') {
      if (open !== undefined) changes.push(open);
      open = undefined;
      at++;
      continue;
    }
    open ??= { from: at, to: at, lines: [] };
    if (kind === 'new') open.lines.push(text);
    else open.to = ++at;
  }
  if (open !== undefined) changes.push(open);
  return changes;
}
