/** A text viewer or editor with line numbers and highlighting: a transparent text field above the highlighted text. */
import {
  type KeyboardEvent,
  type Ref,
  type SyntheticEvent,
  useDeferredValue,
  useImperativeHandle,
  useMemo,
  useRef,
} from 'react';
import { CodeLines, LINE_PX, startsOf } from './code-lines.tsx';
import { type Mark, markAt, marksOf, type Path, pathOfLine } from './marks.ts';
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
