/** A text viewer or editor with line numbers and highlighting: a transparent text field above the highlighted text. */
import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  type Ref,
  type SyntheticEvent,
  useDeferredValue,
  useImperativeHandle,
  useMemo,
  useRef,
} from 'react';
import { firstFrom, type Mark, markAt, marksOf, type Path, pathOfLine } from './marks.ts';
import type { Remark } from './remarks.tsx';

/** The position that the user points at. */
export interface PointedPosition {
  readonly path: Path;
  /** The name in `${NAME}` at the position. */
  readonly reference: string | undefined;
}

/** The imperative methods of the pane. */
export interface CodeHandle {
  /** Scrolls to an offset and puts the cursor there. */
  jump(remark: Pick<Remark, 'line' | 'column'>): void;
  /** Copies the text; false if the browser does not allow it, in which case the text is selected. */
  copy(): Promise<boolean>;
}

/** The pane. Read-only without `onText`. `onPoint` is called when the pointer or the cursor moves to another position. */
export function CodePane({
  label,
  text,
  problems,
  warnings,
  onText,
  onPoint,
  handle,
}: {
  readonly label: string;
  readonly text: string;
  readonly problems: readonly Remark[];
  readonly warnings: readonly Remark[];
  onText?(text: string): void;
  onPoint(pointed: PointedPosition | undefined): void;
  readonly handle?: Ref<CodeHandle>;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  // Highlighting is deferred so that typing stays fast.
  const deferred = useDeferredValue(text);
  const marks = useMemo(() => marksOf(deferred), [deferred]);
  const starts = useMemo(() => startsOf(text), [text]);
  const widest = useMemo(() => widestOf(text), [text]);
  const cursor = useRef<PointedPosition>(undefined);

  const pointedAt = (mark: Mark | undefined, offset: number): PointedPosition | undefined => {
    const line = starts.findLastIndex((start) => start <= offset);
    const path = mark?.path ?? pathOfLine(marks, starts[line] ?? 0, starts[line + 1] ?? text.length);
    if (path === undefined) return undefined;
    return { path, reference: mark?.kind === 'reference' ? deferred.slice(mark.start, mark.end) : undefined };
  };
  const onCursor = (offset = field.current?.selectionStart ?? 0): void => {
    cursor.current = pointedAt(markAt(marks, offset), offset);
    onPoint(cursor.current);
  };
  const onPointer = (x: number, y: number): void => {
    const below = document.elementsFromPoint(x, y).find((element) => element.hasAttribute('data-mark'));
    const first = Number(below?.closest('[data-first]')?.getAttribute('data-first') ?? 0);
    const mark = below === undefined ? undefined : marks[first + Number(below.getAttribute('data-mark'))];
    onPoint(mark?.path === undefined ? cursor.current : pointedAt(mark, mark.start));
  };

  useImperativeHandle(handle, () => ({
    jump({ line, column }) {
      const start = Math.min(text.length, (starts[line - 1] ?? 0) + column - 1);
      const end = Math.max(start, (starts[line] ?? text.length + 1) - 1);
      frame.current?.scrollIntoView({ block: 'nearest' });
      field.current?.focus({ preventScroll: true });
      field.current?.setSelectionRange(start, end);
      const { clientHeight = 0 } = frame.current ?? {};
      frame.current?.scrollTo({ top: (line - 1) * LINE_PX - clientHeight / 3, left: 0 });
      onCursor(start);
    },
    async copy() {
      const byOldWay = (): boolean => {
        field.current?.focus();
        field.current?.select();
        return document.execCommand('copy');
      };
      // `execCommand` works if the clipboard API is not available: over plain http, or if permissions forbid it.
      return window.isSecureContext ? navigator.clipboard.writeText(text).then(() => true, byOldWay) : byOldWay();
    },
  }));

  return (
    <div ref={frame} className="code-frame">
      <div className="code-inside" style={{ minWidth: `calc(${widest + 2}ch + var(--code-gutter))` }}>
        <div className="code-gutter" aria-hidden>
          <pre>{starts.map((_, line) => line + 1).join('\n')}</pre>
          <Flags remarks={warnings} kind="warning" />
          <Flags remarks={problems} kind="problem" />
        </div>
        <div className="code-field">
          <div className="code-below" aria-hidden>
            <CodeLines text={deferred} marks={marks} problems={problems} warnings={warnings} />
          </div>
          <textarea
            ref={field}
            aria-label={label}
            // Not `readOnly`: browsers would hide the cursor, and keyboard users could not move to a key.
            aria-readonly={onText === undefined}
            inputMode={onText === undefined ? 'none' : undefined}
            value={text}
            wrap="off"
            spellCheck={false}
            autoCapitalize="off"
            autoComplete="off"
            autoCorrect="off"
            onBeforeInput={onText === undefined ? refuse : undefined}
            onPaste={onText === undefined ? refuse : undefined}
            onCut={onText === undefined ? refuse : undefined}
            onDrop={onText === undefined ? refuse : undefined}
            onKeyDown={onText === undefined ? refuseEdits : undefined}
            onChange={({ currentTarget }) => onText?.(currentTarget.value)}
            onSelect={() => onCursor()}
            onPointerMove={({ clientX, clientY }) => onPointer(clientX, clientY)}
            onPointerLeave={() => onPoint(cursor.current)}
          />
        </div>
      </div>
    </div>
  );
}

function refuse(event: SyntheticEvent): void {
  event.preventDefault();
}

/** Keys that change the text; moving, selecting and copying remain possible. */
function refuseEdits(event: KeyboardEvent): void {
  if (['Backspace', 'Delete', 'Enter'].includes(event.key)) event.preventDefault();
}

/** Marks next to the line numbers. */
function Flags({ remarks, kind }: { readonly remarks: readonly Remark[]; readonly kind: 'problem' | 'warning' }) {
  return [...new Set(remarks.map(({ line }) => line))].map((line) => (
    <span key={line} className={`code-flag code-flag-${kind}`} style={{ top: (line - 1) * LINE_PX }}>
      {kind === 'problem' ? '×' : '!'}
    </span>
  ));
}

/** The width of the longest line in characters; Chinese characters count twice. */
function widestOf(text: string): number {
  let widest = 0;
  for (const line of text.split('\n')) {
    const wide = line.match(/[\u2e80-\uffdc]/g)?.length ?? 0;
    widest = Math.max(widest, line.length + wide);
  }
  return widest;
}

/** Lines are rendered in blocks; blocks out of view are skipped. */
const BLOCK = 100;
/** The number of blocks that are always rendered. */
const FEW = 500;
/** The height of a line in CSS pixels; the same as in the style sheet. */
const LINE_PX = 20;

/** A range of the text with an error or a warning. */
interface Underline {
  readonly start: number;
  readonly end: number;
  readonly kind: 'problem' | 'warning';
}

/** The offset of each line. */
function startsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The whole text. Tokens have their index (`data-mark`) within their block (`data-first`), so that the token below the pointer can be found. */
const CodeLines = memo(function CodeLines({
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
