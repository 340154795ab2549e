/** Highlighted text with underlined errors: the layer below the transparent text field. */
import { memo, type ReactNode, useMemo } from 'react';
import { firstFrom, type Mark } from './marks.ts';
import type { Remark } from './remarks.tsx';

/** Lines are rendered in blocks; blocks out of view are skipped. */
const BLOCK = 100;
/** The number of blocks that are always rendered. */
const FEW = 500;
/** The height of a line in CSS pixels; the same as in the style sheet. */
export const LINE_PX = 20;

/** A range of the text with an error or a warning. */
interface Underline {
  readonly start: number;
  readonly end: number;
  readonly kind: 'problem' | 'warning';
}

/** The offset of each line. */
export function startsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The whole text. Tokens have their index (`data-mark`) within their block (`data-first`), so that the token below the pointer can be found. */
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
        <Tokens
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
  /** The offset of the block in the text. */
  readonly offset: number;
  readonly marks: readonly Mark[];
  readonly underlines: readonly Underline[];
}

/** A block of text, split where tokens and underlines begin and end. Rerendered only if its appearance changes, not if it moves. */
const Tokens = memo(function Pieces({ text, offset, marks, underlines }: PiecesProps) {
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
    const token = marks[mark];
    const isMarked = token !== undefined && token.start <= start;
    const under = underlines.find((each) => each.start <= start && each.end >= stop);
    const piece = text.slice(start - offset, stop - offset);
    if (!isMarked && under === undefined) return piece;
    const names = [...(isMarked ? [`code-${token.kind}`] : []), ...(under === undefined ? [] : [`code-${under.kind}`])];
    return (
      <span key={start - offset} className={names.join(' ')} {...(isMarked && { 'data-mark': mark })}>
        {piece}
      </span>
    );
  });
}, isEqualAppearance);

function isEqualAppearance(a: PiecesProps, b: PiecesProps): boolean {
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

/** The token that a remark concerns, or the rest of its line. */
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
  // At the end of a line, underline the whole line.
  const from = lineStart + text.slice(lineStart, lineEnd).search(/\S|$/);
  return from < start ? [{ start: from, end: start, kind }] : [];
}
