/** The models and users with the highest cost of the last seven days, for administrators. */
import { Anchor, Text } from '@mantine/core';
import { Link } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { usageHref } from '../../parts/links.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { Section } from '../../parts/page.tsx';
import { Money } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { lastMonth } from './calls.ts';
import { useText } from './text.ts';

const SHOWN = 5;
const WEEK_S = 7 * 86_400;

/** Both sections. */
export function Leaders() {
  return (
    <div className="two-columns">
      <Leading by="model" filter="model" />
      <Leading by="account" filter="user_id" />
    </div>
  );
}

function Leading({ by, filter }: { readonly by: 'model' | 'account'; readonly filter: 'model' | 'user_id' }) {
  const text = useText();
  const format = useFormat();
  const { end } = lastMonth();
  const sums = useApi('GET /api/usage/sums', {
    search: { start_timestamp: end - WEEK_S + 1, end_timestamp: end, group_by: by },
  });
  type Row = NonNullable<typeof sums.data>['items'][number];
  const title = by === 'model' ? text.topModels : text.topUsers;
  const columns: readonly Column<Row>[] = [
    {
      key: 'name',
      title: by === 'model' ? text.words.model : text.words.user,
      cell: ({ group, name }) =>
        group === '' || group === '0' ? (
          text.noModel
        ) : (
          <Anchor component={Link} href={usageHref({ [filter]: group, range: '7d' }, { allUsers: true })} size="sm">
            {name || `#${group}`}
          </Anchor>
        ),
    },
    {
      key: 'calls',
      title: text.words.calls,
      align: 'right',
      cell: ({ requests, errors }) => format.number(requests + errors),
    },
    { key: 'cost', title: text.words.cost, align: 'right', cell: ({ quota }) => <Money units={quota} /> },
  ];
  return (
    <Section title={title} about={text.topAbout} flush>
      <Loaded query={sums} height={220}>
        {({ items }) => (
          <DataTable
            caption={title}
            columns={columns}
            rows={items.slice(0, SHOWN)}
            rowKey={({ group }) => group}
            empty={
              <Text size="sm" p="md">
                {text.quietWeek}
              </Text>
            }
          />
        )}
      </Loaded>
    </Section>
  );
}
