/** A text with its parts in colours and its mistakes underlined: what lies below the field in which it is read or edited. */
import { memo, type ReactNode, useMemo } from 'react';
import { firstFrom, type Mark } from './marks.ts';
import type { Remark } from './remarks.tsx';

/** Lines that are drawn together, or not at all where nobody sees them. */
const BLOCK = 100;
/** So many are drawn in any case. */
const FEW = 500;
/** Of a line, in CSS pixels; the same stands in the style sheet. */
export const LINE_PX = 20;

/** A stretch of the text that somebody has to look at. */
interface Underline {
  readonly start: number;
  readonly end: number;
  readonly kind: 'problem' | 'warning';
}

/** Where each line begins. */
export function startsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The whole text. Parts carry their number (`data-mark`) in their block (`data-first`), so that what the pointer is at can be found. */
export const CodeLines = memo(function CodeLines({
  text,
  marks,
  problems,
  warnings,
}: {
  readonly text: string;
  readonly marks: readonly Mark[];
  readonly problems: readonly Remark[];
  readonly warnings: readonly Remark[];
}) {
  const starts = useMemo(() => startsOf(text), [text]);
  const underlines = useMemo(() => {
    const of = (remarks: readonly Remark[], kind: Underline['kind']): readonly Underline[] =>
      remarks.flatMap((remark) => underlineOf(remark, kind, text, starts, marks));
    return [...of(problems, 'problem'), ...of(warnings, 'warning')];
  }, [text, starts, marks, problems, warnings]);
  const blocks: ReactNode[] = [];
  for (let from = 0; from < starts.length; from += BLOCK) {
    const until = Math.min(from + BLOCK, starts.length);
    const [start, end] = [starts[from]!, starts[until] ?? text.length];
    const at = Math.max(0, firstFrom(marks, start) - 1);
    blocks.push(
      <div
        key={from}
        className={starts.length > FEW ? 'code-block-far' : undefined}
        style={{ height: (until - from) * LINE_PX }}
        data-first={at}
      >
        <Pieces
          text={text.slice(start, end)}
          offset={start}
          marks={marks.slice(at, firstFrom(marks, end))}
          underlines={underlines.filter((each) => each.end > start && each.start < end)}
        />
      </div>,
    );
  }
  return <>{blocks}</>;
});

interface PiecesProps {
  readonly text: string;
  /** Where it begins in the whole text. */
  readonly offset: number;
  readonly marks: readonly Mark[];
  readonly underlines: readonly Underline[];
}

/** A stretch of the text, cut where parts and underlines begin and end. It is drawn anew where it looks different, wherever it stands. */
const Pieces = memo(function Pieces({ text, offset, marks, underlines }: PiecesProps) {
  const end = offset + text.length;
  const cuts = new Set([offset, end]);
  for (const each of [...marks, ...underlines]) {
    cuts.add(Math.min(end, Math.max(offset, each.start)));
    cuts.add(Math.min(end, Math.max(offset, each.end)));
  }
  const at = [...cuts].sort((a, b) => a - b);
  let mark = 0;
  return at.slice(0, -1).map((start, index) => {
    const stop = at[index + 1]!;
    while (mark < marks.length && marks[mark]!.end <= start) mark++;
    const here = marks[mark];
    const isMarked = here !== undefined && here.start <= start;
    const under = underlines.find((each) => each.start <= start && each.end >= stop);
    const piece = text.slice(start - offset, stop - offset);
    if (!isMarked && under === undefined) return piece;
    const names = [...(isMarked ? [`code-${here.kind}`] : []), ...(under === undefined ? [] : [`code-${under.kind}`])];
    return (
      <span key={start - offset} className={names.join(' ')} {...(isMarked && { 'data-mark': mark })}>
        {piece}
      </span>
    );
  });
}, looksAlike);

function looksAlike(a: PiecesProps, b: PiecesProps): boolean {
  const same = (
    these: readonly Underline[] | readonly Mark[],
    those: readonly Underline[] | readonly Mark[],
  ): boolean =>
    these.length === those.length &&
    these.every(({ start, end, kind }, at) => {
      const other = those[at]!;
      return (
        start - a.offset === other.start - b.offset && end - start === other.end - other.start && kind === other.kind
      );
    });
  return a.text === b.text && same(a.marks, b.marks) && same(a.underlines, b.underlines);
}

/** The part that a remark is about, else the rest of its line. */
function underlineOf(
  { line, column }: Remark,
  kind: Underline['kind'],
  text: string,
  starts: readonly number[],
  marks: readonly Mark[],
): readonly Underline[] {
  const lineStart = starts[line - 1];
  if (lineStart === undefined) return [];
  const start = Math.min(text.length, lineStart + column - 1);
  const mark = marks[firstFrom(marks, start)];
  if (mark?.start === start && mark.kind !== 'comment') return [{ start, end: mark.end, kind }];
  const lineEnd = (starts[line] ?? text.length + 1) - 1;
  const end = start + text.slice(start, lineEnd).trimEnd().length;
  if (end > start) return [{ start, end, kind }];
  // At the end of a line there is nothing to underline but the line itself.
  const from = lineStart + text.slice(lineStart, lineEnd).search(/\S|$/);
  return from < start ? [{ start: from, end: start, kind }] : [];
}
