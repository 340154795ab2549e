/** The saved versions of the configuration: who, when, why; what has changed since, and one step back. */
import { Drawer, Group, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { call } from '../../api/client.ts';
import { KEEPS_DATA, useAction, useApi } from '../../api/hooks.ts';
import type { ConfigVersion } from '../../api/operations.ts';
import { IconHistory } from '../../icons.ts';
import { pageOf, useAddress } from '../../parts/address.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { type Column, QueryTable } from '../../parts/data-table.tsx';
import { FactList } from '../../parts/facts.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { GuardedButton, Section, Small } from '../../parts/page.tsx';
import { State, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { DiffView } from './diff-view.tsx';
import { CHANGED_BY_SAVING, type Editor } from './editor.ts';
import { useText } from './settings-text.ts';

const PAGE_SIZE = 20;

/** The list. */
export function Versions({ editor }: { readonly editor: Editor }) {
  const text = useText();
  const [address, change] = useAddress({ page: '1', version: '' });
  const page = pageOf(address.page);
  const versions = useApi('GET /api/config/versions', { search: { p: page, page_size: PAGE_SIZE } }, KEEPS_DATA);
  const id = /^[1-9]\d*$/.test(address.version) ? Number(address.version) : undefined;
  const columns: readonly Column<ConfigVersion>[] = [
    {
      key: 'id',
      title: text.version,
      cell: (version) => (
        <Group gap={6} component="span">
          {version.id}
          {version.revision === editor.config.revision && <State tone="good">{text.current}</State>}
        </Group>
      ),
    },
    { key: 'at', title: text.words.when, cell: ({ at }) => <When at={at} /> },
    { key: 'by', title: text.savedBy, cell: ({ by }) => by ?? <Small span>{text.outside}</Small> },
    {
      key: 'note',
      title: text.note,
      from: 'sm',
      cell: ({ note }) => (note === '' ? <Small span>–</Small> : <span translate="no">{note}</span>),
    },
  ];
  return (
    <Section flush title={text.versions} about={text.versionsAbout}>
      <QueryTable
        caption={text.versions}
        columns={columns}
        query={versions}
        rowKey={(version) => version.id}
        open={id}
        onOpen={(version) => change({ version: `${version.id}` })}
        page={page}
        pageSize={PAGE_SIZE}
        onPage={(next) => change({ page: `${next}` })}
        empty={<Empty title={text.noVersions}>{text.noVersionsAbout}</Empty>}
      />
      <Drawer
        opened={id !== undefined}
        onClose={() => change({ version: '' })}
        title={text.versionTitle(address.version)}
        size="xl"
      >
        {id !== undefined && <Version key={id} id={id} editor={editor} onClose={() => change({ version: '' })} />}
      </Drawer>
    </Section>
  );
}

function Version({ id, editor, onClose }: { readonly id: number; readonly editor: Editor; onClose(): void }) {
  const text = useText();
  const format = useFormat();
  const query = useApi('GET /api/config/versions/{id}', { params: { id } });
  const confirming = useDialog<true>();
  const restoring = useAction(
    () =>
      call('POST /api/config/versions/{id}/restore', {
        params: { id },
        body: { revision: editor.config.revision, note: text.restoreNote(`${id}`) },
      }),
    {
      changes: CHANGED_BY_SAVING,
      done({ version }) {
        editor.copy.discard();
        confirming.close();
        notifications.show({ color: 'pine', message: text.restored(`${id}`, `${version}`) });
        onClose();
      },
    },
  );
  return (
    <Loaded query={query} height={320}>
      {(version) => {
        const isCurrent = version.revision === editor.config.revision;
        return (
          <Stack gap="md">
            <FactList
              facts={[
                [text.words.when, format.moment(version.at)],
                [text.savedBy, version.by ?? text.outside],
                [text.note, version.note === '' ? undefined : version.note],
              ]}
            />
            <DiffView
              title={text.sinceVersion(`${id}`)}
              before={version.text}
              after={editor.config.text}
              same={text.sameVersion}
            />
            <Group justify="flex-end">
              <GuardedButton
                variant="filled"
                leftSection={<IconHistory size={16} />}
                why={editor.why ?? (isCurrent ? text.isCurrent : undefined)}
                onClick={() => confirming.open(true)}
              >
                {text.restore}
              </GuardedButton>
            </Group>
            <Confirm
              dialog={confirming}
              title={text.restoreTitle(`${id}`)}
              action={text.restore}
              danger={false}
              doing={restoring}
              onConfirm={() => restoring.mutate()}
            >
              <Text size="sm">
                {text.restoreAbout}
                {editor.copy.isChanged && ` ${text.restoreDiscards}`}
              </Text>
            </Confirm>
          </Stack>
        );
      }}
    </Loaded>
  );
}
