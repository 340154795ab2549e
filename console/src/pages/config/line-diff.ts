/** Which lines of a text went and which came: the fewest that make one text of the other. */

/** A line; `before` and `after` are its numbers, from 1, where it is there. */
export interface DiffLine {
  readonly kind: 'same' | 'gone' | 'new';
  readonly text: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** Lines that stay and are far from any that do not. */
export interface Skipped {
  readonly kind: 'skipped';
  readonly count: number;
  /** The number of the first, to tell it from others. */
  readonly before: number;
}

/** Beyond so many comparisons whole stretches are taken for changed. */
const MOST = 25_000_000;

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

/** The same with what stays cut to a few lines around what does not. */
export function aroundChanges(rows: readonly DiffLine[], context = 3): readonly (DiffLine | Skipped)[] {
  const near = rows.map(() => false);
  for (const [at, { kind }] of rows.entries())
    if (kind !== 'same') near.fill(true, Math.max(0, at - context), at + context + 1);
  const shown: (DiffLine | Skipped)[] = [];
  for (let at = 0; at < rows.length; at++) {
    if (near[at]) {
      shown.push(rows[at]!);
      continue;
    }
    const from = at;
    while (at + 1 < rows.length && !near[at + 1]) at++;
    shown.push({ kind: 'skipped', count: at - from + 1, before: rows[from]!.before ?? 0 });
  }
  return shown;
}

/** A place in both texts; undefined where the line is not there. */
type Pair = readonly [number | undefined, number | undefined];

/** Pairs of places: both where a line stays, one where it went or came. By the longest sequence that both have. */
function between(a: readonly string[], b: readonly string[]): readonly Pair[] {
  const gone: readonly Pair[] = a.map((_, i) => [i, undefined]);
  const come: readonly Pair[] = b.map((_, j) => [undefined, j]);
  if (a.length === 0 || b.length === 0 || a.length * b.length > MOST) return [...gone, ...come];
  const width = b.length + 1;
  // How many lines the rests of both have in common, from each pair of places on.
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (common[(i + 1) * width + j]! >= common[i * width + j + 1]!) pairs.push([i++, undefined]);
    else pairs.push([undefined, j++]);
  }
  return [...pairs, ...gone.slice(i), ...come.slice(j)];
}

/** A newline at the end of a text begins no line. */
function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
