/** Saves a list as CSV; for lists of all users, `/api` requires a second factor. */
import { type Operation, saveFile } from '../api/client.ts';
import { useAction } from '../api/hooks.ts';
import { IconDownload } from '../icons.ts';
import { texts } from '../text.ts';
import { PlainButton } from './page.tsx';
import { dateOf } from './range.ts';

const useText = texts({});

/** The button. `name`: of the file, without date and ending; `search`: the filters and the order of the list; `label`: if there are several. */
export function CsvButton({
  of,
  name,
  search,
  label,
}: {
  readonly of: Operation;
  readonly name: string;
  readonly search: Readonly<Record<string, string | number | undefined>>;
  readonly label?: string;
}) {
  const { words } = useText();
  const file = `${name}-${dateOf(Date.now() / 1_000)}.csv`;
  const save = useAction(() => saveFile(of, file, { search: { ...search, format: 'csv' } }));
  return (
    <PlainButton leftSection={<IconDownload size={14} />} loading={save.isPending} onClick={() => save.mutate()}>
      {label ?? words.downloadCsv}
    </PlainButton>
  );
}
