/** The difference of two texts: removed and added lines. */
import { useMemo } from 'react';
import { Empty } from '../../parts/notes.tsx';
import { Muted, Section } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import { aroundChanges, type DiffLine, diffLines, type Skipped } from './line-diff.ts';
import { useText } from './text.ts';

/** The largest number of rows that are rendered. */
const MOST = 3_000;
const SIGNS = { same: ' ', gone: '−', new: '+' } as const;

/** The difference. `same` is shown if there is none. */
export function DiffView({
  title,
  before,
  after,
  same,
}: {
  readonly title: string;
  readonly before: string;
  readonly after: string;
  readonly same: string;
}) {
  const text = useText();
  const format = useFormat();
  const rows = useMemo(() => diffLines(before, after), [before, after]);
  const removed = rows.filter(({ kind }) => kind === 'gone').length;
  const added = rows.filter(({ kind }) => kind === 'new').length;
  if (removed + added === 0) return <Empty title={text.sameTitle}>{same}</Empty>;
  const folded = aroundChanges(rows);
  return (
    <Section
      flush
      title={title}
      about={`${text.diffLegend} ${text.diffCounts(format.number(removed), format.number(added))}`}
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be focusable */}
      <section className="diff-frame" tabIndex={0} aria-label={title}>
        <table className="diff">
          <thead className="aloud">
            <tr>
              <th scope="col">{text.oldLine}</th>
              <th scope="col">{text.newLine}</th>
              <th scope="col">{text.sign}</th>
              <th scope="col">{text.text}</th>
            </tr>
          </thead>
          <tbody>
            {folded.slice(0, MOST).map((row) => (
              <DiffRow key={`${row.kind} ${row.before} ${'after' in row ? row.after : ''}`} row={row} />
            ))}
          </tbody>
        </table>
      </section>
      {folded.length > MOST && <Muted p="xs">{text.tooMany(format.number(MOST))}</Muted>}
    </Section>
  );
}

function DiffRow({ row }: { readonly row: DiffLine | Skipped }) {
  const text = useText();
  const format = useFormat();
  if (row.kind === 'skipped')
    return (
      <tr className="diff-skipped">
        <td colSpan={4}>{text.skipped(format.number(row.count))}</td>
      </tr>
    );
  return (
    <tr className={`diff-${row.kind}`}>
      <td className="diff-number">{row.before}</td>
      <td className="diff-number">{row.after}</td>
      <td className="diff-sign">{SIGNS[row.kind]}</td>
      <td className="diff-text">{row.text}</td>
    </tr>
  );
}
