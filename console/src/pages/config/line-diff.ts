/** A line diff: the smallest set of removed and added lines. */
import { diffArrays } from 'diff';

/** A line; `before` and `after`: its 1-based line number in the old and the new text, if it is there. */
export interface DiffLine {
  readonly kind: 'same' | 'gone' | 'new';
  readonly text: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** A run of unchanged lines that is folded. */
export interface Skipped {
  readonly kind: 'skipped';
  readonly count: number;
  /** The number of the first line, as a key. */
  readonly before: number;
}

/** Beyond this number of changed lines, whole ranges count as changed: the time grows with its square. */
const MOST = 5_000;

/** Compares two texts line by line. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const rows: DiffLine[] = [];
  const same = (i: number, j: number): void => {
    rows.push({ kind: 'same', text: a[i]!, before: i + 1, after: j + 1 });
  };
  for (let i = 0; i < head; i++) same(i, i);
  for (const [i, j] of between(a.slice(head, a.length - tail), b.slice(head, b.length - tail))) {
    if (i !== undefined && j !== undefined) same(head + i, head + j);
    else if (i !== undefined) rows.push({ kind: 'gone', text: a[head + i]!, before: head + i + 1, after: undefined });
    else if (j !== undefined) rows.push({ kind: 'new', text: b[head + j]!, before: undefined, after: head + j + 1 });
  }
  for (let t = tail; t > 0; t--) same(a.length - t, b.length - t);
  return rows;
}

/** Folds unchanged lines except a few around each change. */
export function aroundChanges(rows: readonly DiffLine[], context = 3): readonly (DiffLine | Skipped)[] {
  const isNear = rows.map(() => false);
  for (const [at, { kind }] of rows.entries())
    if (kind !== 'same') isNear.fill(true, Math.max(0, at - context), at + context + 1);
  const folded: (DiffLine | Skipped)[] = [];
  for (let at = 0; at < rows.length; at++) {
    if (isNear[at]) {
      folded.push(rows[at]!);
      continue;
    }
    const from = at;
    while (at + 1 < rows.length && !isNear[at + 1]) at++;
    folded.push({ kind: 'skipped', count: at - from + 1, before: rows[from]!.before ?? 0 });
  }
  return folded;
}

/** A line in both texts; undefined on the side that lacks it. */
type Pair = readonly [number | undefined, number | undefined];

/** Pairs of lines: both sides for unchanged lines, one side for removed or added ones. */
function between(a: readonly string[], b: readonly string[]): readonly Pair[] {
  const changes = diffArrays([...a], [...b], { maxEditLength: MOST }) ?? [
    { removed: true, added: false, count: a.length },
    { removed: false, added: true, count: b.length },
  ];
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  for (const { added, removed, count } of changes)
    for (let n = 0; n < count; n++) pairs.push([added ? undefined : i++, removed ? undefined : j++]);
  return pairs;
}

/** A trailing newline does not begin another line. */
function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
