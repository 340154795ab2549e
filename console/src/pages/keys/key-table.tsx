/** The list of keys: limits, usage, actions. */
import { ActionIcon, Group, Menu, Stack, Switch, Text, Tooltip, UnstyledButton } from '@mantine/core';
import { Link } from 'wouter';
import type { KeyUsage } from '../../api/operations.ts';
import { IconDots, IconEdit, IconListDetails, IconPlugConnected, IconRefresh, IconTrash } from '../../icons.ts';
import { type Column, type ListProps, QueryTable } from '../../parts/data-table.tsx';
import { logsHref } from '../../parts/links.tsx';
import { Muted, Small } from '../../parts/page.tsx';
import { useSelectColumn } from '../../parts/selection-bar.tsx';
import { Meter, Money, State, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { type Key, STATE_TONES, stateOf } from './key-values.ts';
import { useText } from './text.ts';

/** Usage of a key on each of the last days. */
export type KeyUse = KeyUsage;

/** The orders of the list. */
export const KEY_ORDERS = ['name', 'expired_time', 'accessed_time'] as const;

/** The actions on a key. */
export interface KeyActions {
  edit(key: Key): void;
  rotate(key: Key): void;
  remove(key: Key): void;
  enable(key: Key, enabled: boolean): void;
}

/** The list. `uses` is undefined while loading. */
export function KeyTable({
  uses,
  selected,
  onSelect,
  actions,
  ...list
}: ListProps<Key> & {
  readonly uses: ReadonlyMap<number, KeyUse> | undefined;
  readonly selected: ReadonlySet<number>;
  onSelect(ids: ReadonlySet<number>): void;
  readonly actions: KeyActions;
}) {
  const text = useText();
  const select = useSelectColumn<Key>(selected, onSelect, ({ name }) => name);
  const hasGroups = list.query.data?.items.some((key) => key.group !== '') === true;
  const group: Column<Key> = {
    key: 'group',
    title: text.words.group,
    from: 'lg',
    cell: (key) => key.group,
  };
  const columns: readonly Column<Key>[] = [
    select,
    {
      key: 'name',
      sort: 'name',
      title: text.words.name,
      cell: (key) => (
        <Stack gap={0} miw={0} maw="18rem">
          <UnstyledButton className="row-opener" fz="sm" ta="start" onClick={() => actions.edit(key)}>
            <Text span inherit lineClamp={2}>
              {key.name}
            </Text>
          </UnstyledButton>
          <Small ff="monospace" className="number">
            {key.key}
          </Small>
        </Stack>
      ),
    },
    { key: 'state', title: text.words.state, cell: (key) => <KeyStateBadge of={key} /> },
    { key: 'allowance', title: text.words.limit, from: 'sm', cell: (key) => <Allowance of={key} /> },
    {
      key: 'expires',
      sort: 'expired_time',
      title: text.words.expires,
      from: 'md',
      cell: (key) => <Nowrap at={key.expired_time} none={text.words.never} />,
    },
    ...(hasGroups ? [group] : []),
    { key: 'models', title: text.words.models, from: 'lg', cell: (key) => <Scope of={key} /> },
    { key: 'addresses', title: text.words.addresses, from: 'lg', cell: (key) => <Addresses of={key} /> },
    {
      key: 'used',
      sort: 'accessed_time',
      sortsFirst: 'descending',
      title: text.lastUsed,
      from: 'md',
      cell: (key) => <Nowrap at={key.accessed_time} none={text.notUsed} />,
    },
    {
      key: 'fortnight',
      title: text.fortnight,
      from: 'sm',
      cell: (key) => <Fortnight of={key} use={uses?.get(key.id)} />,
    },
    {
      key: 'switch',
      title: text.words.enabled,
      quiet: true,
      from: 'sm',
      cell: (key) => (
        <Switch
          size="xs"
          aria-label={text.switch(key.name)}
          checked={key.status !== 2}
          onChange={({ currentTarget }) => actions.enable(key, currentTarget.checked)}
        />
      ),
    },
    { key: 'actions', title: text.words.actions, quiet: true, cell: (key) => <RowMenu of={key} actions={actions} /> },
  ];
  return <QueryTable {...list} caption={text.list} columns={columns} rowKey={({ id }) => id} />;
}

/** The state of a key, with a tooltip on hover and focus. */
export function KeyStateBadge({ of }: { readonly of: Key }) {
  const text = useText();
  const state = stateOf(of);
  return (
    <Tooltip label={text.stateAbout[state]}>
      <span>
        <State tone={STATE_TONES[state]}>{text.states[state]}</State>
      </span>
    </Tooltip>
  );
}

function Allowance({ of }: { readonly of: Key }) {
  const text = useText();
  if (of.unlimited_quota)
    return (
      <Stack gap={0}>
        <span>
          {text.words.used} <Money units={of.used_quota} />
        </span>
        <Small>{text.words.noLimit}</Small>
      </Stack>
    );
  return (
    <div style={{ minWidth: '10rem' }}>
      <Meter used={of.used_quota} limit={of.used_quota + of.remain_quota} label={text.words.used} />
    </div>
  );
}

function Scope({ of }: { readonly of: Key }) {
  const text = useText();
  const format = useFormat();
  if (!of.model_limits_enabled) return <>{text.words.all}</>;
  const names = of.model_limits.split(',');
  return (
    <Listed
      summary={names.length === 1 ? (names[0] ?? text.oneModel) : text.someModels(format.number(names.length))}
      all={names}
    />
  );
}

function Addresses({ of }: { readonly of: Key }) {
  const text = useText();
  const format = useFormat();
  if (of.allow_ips === '') return <>{text.anywhere}</>;
  const all = of.allow_ips.split('\n');
  return (
    <Listed summary={all.length === 1 ? (all[0] ?? '') : text.someAddresses(format.number(all.length))} all={all} />
  );
}

/** Longer lists are shown in the form. */
const MOST_LISTED = 12;

/** A short form of a list, with its first items in a tooltip. */
function Listed({ summary, all }: { readonly summary: string; readonly all: readonly string[] }) {
  const first = all.slice(0, MOST_LISTED).join(', ');
  return (
    <Tooltip label={all.length > MOST_LISTED ? `${first}, …` : first}>
      <Text span size="sm" truncate display="inline-block" maw="10rem">
        {summary}
      </Text>
    </Tooltip>
  );
}

function Fortnight({ of, use }: { readonly of: Key; readonly use: KeyUse | undefined }) {
  const text = useText();
  const format = useFormat();
  if (use === undefined) return null;
  const calls = use.calls.reduce((sum, count) => sum + count, 0);
  const spent = use.quota.reduce((sum, units) => sum + units, 0);
  if (calls === 0) return <Muted>{text.noCalls}</Muted>;
  return (
    <Group gap="xs" wrap="nowrap">
      <Sparkline values={use.quota} label={text.fortnightOf(of.name, format.money(spent), format.number(calls))} />
      <Money units={spent} />
    </Group>
  );
}

function RowMenu({ of, actions }: { readonly of: Key; readonly actions: KeyActions }) {
  const text = useText();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={text.more(of.name)}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconEdit size={16} />} onClick={() => actions.edit(of)}>
          {text.words.edit}
        </Menu.Item>
        <Menu.Item leftSection={<IconPlugConnected size={16} />} component={Link} href={`/connect?key=${of.id}`}>
          {text.words.connectAClient}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconListDetails size={16} />}
          component={Link}
          href={logsHref({ token_id: `${of.id}` })}
        >
          {text.calls}
        </Menu.Item>
        <Menu.Item leftSection={<IconRefresh size={16} />} onClick={() => actions.rotate(of)}>
          {text.rotate}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          c="var(--mantine-color-red-text)"
          leftSection={<IconTrash size={16} />}
          onClick={() => actions.remove(of)}
        >
          {text.words.delete}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function Nowrap(props: Parameters<typeof When>[0]) {
  return (
    <span className="number">
      <When {...props} />
    </span>
  );
}

/** A line without axes for a table cell; without uPlot, so that tables do not wait for it. */
function Sparkline({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  const most = Math.max(...values, 0);
  const [width, height] = [84, 20];
  const step = width / Math.max(1, values.length - 1);
  const at = (value: number): number => height - 1 - (most === 0 ? 0 : (value / most) * (height - 2));
  const points = values.map((value, index) => `${(index * step).toFixed(1)},${at(value).toFixed(1)}`).join(' ');
  return (
    <svg width={width} height={height} role="img" aria-label={label} className="sparkline">
      <polyline points={points} fill="none" stroke="currentColor" strokeWidth="1.5" />
    </svg>
  );
}
