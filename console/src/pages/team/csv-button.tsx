/** Saves a part of the page as CSV; `/api` requires a second factor. */

import { type Operation, saveFile } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { IconDownload } from '../../icons.ts';
import { PlainButton } from '../../parts/page.tsx';
import { dateOf } from '../../parts/range.ts';
import { useText } from './text.ts';
import { searchOf, type View } from './view.ts';

/** The button. `what`: what it saves, for screen readers. */
export function CsvButton({
  of,
  view,
  what,
  more,
}: {
  readonly of: Operation & `GET /api/team/${string}`;
  readonly view: View;
  readonly what: string;
  readonly more?: Readonly<Record<string, string | number>>;
}) {
  const text = useText();
  const { range } = view;
  const name = `team-${of.slice(of.lastIndexOf('/') + 1)}-${dateOf(range.start)}-${dateOf(range.end)}.csv`;
  const save = useAction(() => saveFile(of, name, { search: { ...searchOf(view), ...more, format: 'csv' } }));
  return (
    <PlainButton
      leftSection={<IconDownload size={14} />}
      loading={save.isPending}
      onClick={() => save.mutate()}
      aria-label={text.csvOf(what)}
    >
      {text.words.downloadCsv}
    </PlainButton>
  );
}
