/** Compares two texts line by line. */
import { structuredPatch } from 'diff';
import type { DiffHunk, DiffLine } from '../../contracts/configuring.ts';

const KINDS: Readonly<Record<string, DiffLine['kind']>> = { ' ': 'same', '+': 'added', '-': 'removed' };
/** Unchanged lines around a change. */
const CONTEXT = 3;

/** The changes from one text to the other; none if they are equal except for CR at the ends of lines. */
export function compare(from: string, to: string): readonly DiffHunk[] {
  const { hunks } = structuredPatch('', '', from, to, '', '', { context: CONTEXT, stripTrailingCr: true });
  return hunks.map(({ oldStart, newStart, lines }) => {
    let old = oldStart;
    let now = newStart;
    return {
      lines: lines.flatMap((line): readonly DiffLine[] => {
        const kind = KINDS[line[0] ?? ''];
        // `\ No newline at end of file`
        if (kind === undefined) return [];
        return [
          {
            kind,
            text: line.slice(1),
            old: kind === 'added' ? undefined : old++,
            new: kind === 'removed' ? undefined : now++,
          },
        ];
      }),
    };
  });
}
