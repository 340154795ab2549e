/** Spending by user and by model, with links to their usage. */
import { useLocation } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import { logsHref, usageHref } from '../../parts/links.ts';
import { Failure } from '../../parts/notes.tsx';
import { Section } from '../../parts/page.tsx';
import { type SumRow, SumsTable } from '../../parts/sums-table.tsx';
import { useText } from '../../text.ts';
import { CsvButton } from './csv-button.tsx';
import { NoCalls } from './no-calls.tsx';
import { TEXT } from './text.ts';
import { type Change, searchOf, type View } from './view.ts';

interface ListProps {
  readonly view: View;
  change(change: Change): void;
}

/** All users with calls. */
export function Members({ view, change }: ListProps) {
  const text = useText(TEXT);
  const [, go] = useLocation();
  const members = useApi('GET /api/team/members', { search: searchOf(view) }, { refetchOnWindowFocus: false });
  const departments = new Map(members.data?.items.map((row) => [`${row.user_id}`, row.department]));
  const which = { range: view.range, allUsers: true };
  const rows = members.data?.items.map(
    (row): SumRow => ({
      key: `${row.user_id}`,
      name: row.display_name || row.username || `#${row.user_id}`,
      note: row.display_name !== '' && row.display_name !== row.username ? row.username : undefined,
      sums: row,
      logs: logsHref({ user_id: `${row.user_id}` }, which),
    }),
  );
  return (
    <Section
      title={text.members}
      about={text.open.usage}
      flush
      actions={<CsvButton of="GET /api/team/members" view={view} what={text.members} />}
    >
      {members.isError && rows === undefined ? (
        <Failure error={members.error} again={() => void members.refetch()} />
      ) : (
        <SumsTable
          caption={text.members}
          of={text.member}
          measure="cost"
          rows={rows}
          extra={[
            {
              key: 'department',
              title: text.department,
              from: 'md',
              cell: ({ key }) => departments.get(key) || text.nameless.department,
            },
          ]}
          find={view.find}
          page={view.page}
          onView={change}
          onOpen={({ key }) => go(usageHref({ user_id: key }, which))}
          empty={<NoCalls view={view} change={change} />}
        />
      )}
    </Section>
  );
}

/** All called models. */
export function Models({ view, change }: ListProps) {
  const text = useText(TEXT);
  const [, go] = useLocation();
  const models = useApi('GET /api/team/models', { search: searchOf(view) }, { refetchOnWindowFocus: false });
  const of: Record<string, string> = view.department === '' ? {} : { department_id: view.department };
  const which = { range: view.range, allUsers: true };
  const rows = models.data?.items.map(
    (row): SumRow => ({
      key: row.model,
      name: row.model || text.nameless.model,
      sums: row,
      closed: row.model === '',
      logs: row.model === '' ? undefined : logsHref({ ...of, model: row.model }, which),
    }),
  );
  return (
    <Section
      title={text.models}
      about={text.open.usage}
      flush
      actions={<CsvButton of="GET /api/team/models" view={view} what={text.models} />}
    >
      {models.isError && rows === undefined ? (
        <Failure error={models.error} again={() => void models.refetch()} />
      ) : (
        <SumsTable
          caption={text.models}
          of={text.model}
          measure="cost"
          rows={rows}
          find={view.find}
          page={view.page}
          onView={change}
          onOpen={({ key }) => go(usageHref({ ...of, model: key }, which))}
          empty={<NoCalls view={view} change={change} />}
        />
      )}
    </Section>
  );
}
