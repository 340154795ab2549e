/** Redemption codes as a table: amount, and whether each can be redeemed. */
import { ActionIcon, Menu, Stack, Text } from '@mantine/core';
import type { RedemptionCode } from '../../api/operations.ts';
import { IconDots, IconPlayerPause, IconPlayerPlay, IconTrash } from '../../icons.ts';
import { type Column, type ListProps, QueryTable } from '../../parts/data-table.tsx';
import { Muted, Small } from '../../parts/page.tsx';
import { Copy, Money, State, type Tone, When } from '../../parts/values.tsx';
import { useText } from './text.ts';

/** A code as administrators see it. */
export type Code = RedemptionCode;

/** The states of a code in the order in which they are listed. */
export const CODE_STATES = ['unused', 'disabled', 'used', 'expired'] as const;

const MOODS: Readonly<Record<(typeof CODE_STATES)[number], Tone>> = {
  unused: 'good',
  disabled: 'idle',
  used: 'info',
  expired: 'warn',
};

/** The mask of the hidden part of a code. */
const CUT = '****';

/** True if only the beginning of the code is shown. */
export function isCutOff({ key }: Pick<Code, 'key'>): boolean {
  return key.endsWith(CUT) && !isUnreadable(key);
}

function isUnreadable(key: string): boolean {
  return key === '' || key === CUT;
}

/** The table. */
export function CodeTable({
  onEnable,
  onDelete,
  ...list
}: ListProps<Code> & {
  onEnable(id: number, enabled: boolean): void;
  onDelete(code: Code): void;
}) {
  const { codes: text, words } = useText();
  const columns: readonly Column<Code>[] = [
    {
      key: 'name',
      title: words.name,
      cell: ({ name, id }) => (
        <Stack gap={0} miw="7rem">
          {name}
          <Small>#{id}</Small>
        </Stack>
      ),
    },
    { key: 'state', title: words.state, cell: (code) => <CodeState of={code} /> },
    { key: 'amount', title: words.amount, align: 'right', cell: ({ quota }) => <Money units={quota} /> },
    {
      key: 'code',
      title: words.code,
      cell: ({ key }) =>
        isUnreadable(key) ? (
          <Muted>{text.unreadable}</Muted>
        ) : isCutOff({ key }) ? (
          <Text size="sm" ff="monospace">
            {key}
          </Text>
        ) : (
          <Copy value={key} label={text.copy} />
        ),
    },
    {
      key: 'expires',
      title: words.expires,
      from: 'lg',
      cell: ({ expired_time }) => <When at={expired_time} none={words.never} />,
    },
    {
      key: 'made',
      title: text.made,
      from: 'lg',
      cell: ({ created_time, username }) => (
        <>
          <When at={created_time} /> {username !== '' && text.madeBy(username)}
        </>
      ),
    },
    {
      key: 'used',
      title: words.usedBy,
      from: 'md',
      cell: ({ used_user_id, used_username, redeemed_time }) =>
        used_user_id === 0 ? (
          <Muted>{text.unused}</Muted>
        ) : (
          <>
            {used_username || `#${used_user_id}`} <When at={redeemed_time} />
          </>
        ),
    },
    {
      key: 'actions',
      title: words.actions,
      quiet: true,
      cell: (code) => (
        <RowMenu of={code} onEnable={(enabled) => onEnable(code.id, enabled)} onDelete={() => onDelete(code)} />
      ),
    },
  ];
  return <QueryTable {...list} caption={text.title} columns={columns} rowKey={({ id }) => id} />;
}

/** Whether the code can be redeemed, or why not. */
function stateOf({ status, expired_time }: Code): (typeof CODE_STATES)[number] {
  if (status === 3) return 'used';
  if (status === 2) return 'disabled';
  return expired_time > 0 && expired_time * 1_000 <= Date.now() ? 'expired' : 'unused';
}

function CodeState({ of }: { readonly of: Code }) {
  const { codes: text } = useText();
  const state = stateOf(of);
  return <State tone={MOODS[state]}>{text.states[state]}</State>;
}

function RowMenu({
  of,
  onEnable,
  onDelete,
}: {
  readonly of: Code;
  onEnable(enabled: boolean): void;
  onDelete(): void;
}) {
  const { codes: text, words } = useText();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={text.more(`${of.name} #${of.id}`)}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {of.status === 1 && (
          <Menu.Item leftSection={<IconPlayerPause size={16} />} onClick={() => onEnable(false)}>
            {words.disable}
          </Menu.Item>
        )}
        {of.status === 2 && (
          <Menu.Item leftSection={<IconPlayerPlay size={16} />} onClick={() => onEnable(true)}>
            {words.enable}
          </Menu.Item>
        )}
        <Menu.Item c="var(--mantine-color-red-text)" leftSection={<IconTrash size={16} />} onClick={onDelete}>
          {words.delete}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
