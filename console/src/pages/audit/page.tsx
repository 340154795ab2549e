/** The audit log: filtered entries as sentences, their details, and the verification of the hash chain. */
import { Alert, Group, Progress, Select, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { call, type Data, type Search, saveFile } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { IconCheck, IconChevronRight, IconChevronsLeft, IconDownload, IconLinkOff, IconRefresh } from '../../icons.ts';
import { useAddress } from '../../parts/address.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { Muted, Page, PlainButton, Section, Small } from '../../parts/page.tsx';
import { momentFrom } from '../../parts/range.ts';
import { SearchField } from '../../parts/search-field.tsx';
import { Copy, Snippet, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { type Entry, EntryDrawer, useSentence } from './entry-drawer.tsx';
import { ACTIONS } from './sentences.ts';
import { useText } from './text.ts';

const PAGE_SIZE = 50;
/** How often the page looks for new entries. */
const LOOK_MS = 15_000;

export default function AuditPage() {
  const text = useText();
  const format = useFormat();
  const sentenceOf = useSentence();
  const [address, setAddress] = useAddress({ actor: '', action: '', from: '', until: '', before: '', entry: '' });
  const from = momentFrom(address.from, 'start');
  const until = momentFrom(address.until, 'end');
  const filters: Search<'GET /api/audit/export'> = {
    ...(address.actor !== '' && { actor: address.actor }),
    ...(address.action !== '' && { action: address.action }),
    ...(from !== undefined && { start_timestamp: from }),
    ...(until !== undefined && { end_timestamp: until }),
  };
  const isFiltered = Object.keys(filters).length > 0;
  const before = Number(address.before) || undefined;
  const entries = useApi(
    'GET /api/audit',
    { search: { ...filters, before, page_size: PAGE_SIZE } },
    // Rows do not move while the user reads: a button shows the number of new entries.
    {
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 0,
      refetchOnWindowFocus: false,
      placeholderData: (previous) => previous,
    },
  );
  const latest = useApi('GET /api/audit', { search: { page_size: 1 } }, { refetchInterval: LOOK_MS });
  const newCount =
    before === undefined ? (latest.data?.total ?? 0) - (entries.data?.total ?? Number.POSITIVE_INFINITY) : 0;
  const save = useAction(() => saveFile('GET /api/audit/export', 'audit.csv', { search: filters }));
  const filter = (change: Partial<typeof address>): void => setAddress({ ...change, before: '' });
  const open = entries.data?.items.find(({ seq }) => seq === Number(address.entry));

  const columns: readonly Column<Entry>[] = [
    { key: 'what', title: text.words.event, cell: sentenceOf },
    {
      key: 'action',
      title: text.words.action,
      from: 'md',
      cell: ({ action }) => <Small ff="monospace">{action}</Small>,
    },
    { key: 'ip', title: text.words.ipAddress, from: 'sm', cell: ({ ip }) => ip },
    { key: 'when', title: text.words.when, align: 'right', cell: ({ created_at: at }) => <When at={at} /> },
  ];
  return (
    <Page
      name="audit"
      about={text.about}
      actions={
        <PlainButton
          leftSection={<IconDownload size={16} />}
          aria-label={text.csvAloud}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          {text.words.downloadCsv}
        </PlainButton>
      }
    >
      <Section flush>
        <Group gap="xs" className="section-head" align="center">
          <SearchField
            label={text.words.user}
            value={address.actor}
            onSearch={(actor) => filter({ actor })}
            maxLength={200}
          />
          <ActionSelect value={address.action} onChange={(action) => filter({ action })} />
          <Group gap={6} maw="100%">
            <Muted aria-hidden>{text.days}</Muted>
            <Group gap={6} wrap="nowrap" maw="100%">
              <TextInput
                type="date"
                miw={0}
                aria-label={text.words.firstDayUtc}
                value={address.from}
                onChange={(event) => filter({ from: event.currentTarget.value })}
              />
              <Text size="sm" aria-hidden>
                –
              </Text>
              <TextInput
                type="date"
                miw={0}
                aria-label={text.words.lastDayUtc}
                value={address.until}
                onChange={(event) => filter({ until: event.currentTarget.value })}
              />
            </Group>
          </Group>
        </Group>
        <div aria-live="polite">
          {newCount > 0 && (
            <Group justify="center" p={6}>
              <PlainButton
                leftSection={<IconRefresh size={16} />}
                loading={entries.isFetching}
                onClick={() => void entries.refetch()}
              >
                {text.fresh(format.number(newCount))}
              </PlainButton>
            </Group>
          )}
        </div>
        <Loaded query={entries} height={180}>
          {({ items }) => (
            <DataTable
              caption={text.list}
              columns={columns}
              rows={items}
              rowKey={({ seq }) => seq}
              open={open?.seq}
              onOpen={({ seq }) => setAddress({ entry: `${seq}` })}
              empty={
                isFiltered ? (
                  <Empty
                    title={text.words.noMatchingEntries}
                    action={
                      <PlainButton onClick={() => filter({ actor: '', action: '', from: '', until: '' })}>
                        {text.words.clearFilters}
                      </PlainButton>
                    }
                  >
                    {text.noneAbout}
                  </Empty>
                ) : (
                  <Empty title={text.empty}>{text.emptyAbout}</Empty>
                )
              }
            />
          )}
        </Loaded>
        <Group justify="flex-end" gap="xs" p="xs">
          <Muted>{entries.data !== undefined && text.total(format.number(entries.data.total))}</Muted>
          <PlainButton
            leftSection={<IconChevronsLeft size={16} />}
            disabled={before === undefined}
            onClick={() => setAddress({ before: '' })}
          >
            {text.words.newest}
          </PlainButton>
          <PlainButton
            rightSection={<IconChevronRight size={16} />}
            disabled={typeof entries.data?.before !== 'number'}
            onClick={() => setAddress({ before: `${entries.data?.before ?? ''}` })}
          >
            {text.words.older}
          </PlainButton>
        </Group>
      </Section>
      <Chain />
      <EntryDrawer
        entry={open}
        onFilter={(change) => filter({ ...change, entry: '' })}
        onClose={() => setAddress({ entry: '' })}
      />
    </Page>
  );
}

/** The filter for actions: one action, or all of a kind. */
function ActionSelect({ value, onChange }: { readonly value: string; onChange(action: string): void }) {
  const text = useText();
  const options = Object.entries(text.kinds).map(([kind, label]) => ({
    group: label,
    items: [
      { value: kind, label: text.everything(label) },
      ...ACTIONS.filter((action) => action.startsWith(`${kind}.`)).map((action) => ({ value: action, label: action })),
    ],
  }));
  const isKnown = value === '' || options.some(({ items }) => items.some((item) => item.value === value));
  return (
    <Select
      aria-label={text.words.action}
      placeholder={text.anyAction}
      // Third-party plugins may have their own actions.
      data={isKnown ? options : [{ value, label: value }, ...options]}
      value={value === '' ? null : value}
      onChange={(action) => onChange(action ?? '')}
      searchable
      clearable
      maxDropdownHeight={320}
    />
  );
}

type ChainPart = Data<'GET /api/audit/chain'>;

function Chain() {
  const text = useText();
  const format = useFormat();
  const [piece, setPiece] = useState<ChainPart>();
  const mounted = useRef(true);
  useEffect(() => {
    mounted.current = true;
    return () => {
      mounted.current = false;
    };
  }, []);
  const check = useAction(async () => {
    setPiece(undefined);
    for (let after = 0; mounted.current; ) {
      const next = await call('GET /api/audit/chain', { search: { after } });
      setPiece(next);
      if (next.broken !== null || next.checked >= next.total) return;
      after = next.checked;
    }
  });
  return (
    <Section
      title={text.chain}
      actions={
        <PlainButton loading={check.isPending} onClick={() => check.mutate()}>
          {piece === undefined ? text.chainCheck : text.chainAgain}
        </PlainButton>
      }
    >
      <Stack gap="sm">
        <Text size="sm" maw="52rem">
          {text.chainAbout}
        </Text>
        <div aria-live="polite">
          {piece !== undefined && check.isPending && (
            <>
              <Text size="sm">{text.chainBusy(format.number(piece.checked), format.number(piece.total))}</Text>
              <Progress
                value={(piece.checked / Math.max(1, piece.total)) * 100}
                aria-label={text.chainBusy(format.number(piece.checked), format.number(piece.total))}
              />
            </>
          )}
          {piece !== undefined && !check.isPending && <ChainResult piece={piece} />}
        </div>
        <div>
          <Text size="sm">{text.chainCommand}</Text>
          <Snippet label={text.chainCommand} code="turnpike audit verify --head SEQ:HASH" />
        </div>
      </Stack>
    </Section>
  );
}

function ChainResult({ piece: { broken, total, head } }: { readonly piece: ChainPart }) {
  const text = useText();
  const format = useFormat();
  if (broken !== null) {
    return (
      <Alert color="red" icon={<IconLinkOff />} title={text.chainBroken(format.number(broken.seq), broken.why)}>
        {text.chainBrokenAbout}
      </Alert>
    );
  }
  return (
    <Stack gap="xs">
      <Group gap={6}>
        <IconCheck size={18} aria-hidden />
        <Text size="sm" fw={600}>
          {text.chainWhole(format.number(total))}
        </Text>
      </Group>
      <div>
        <Text size="sm">{text.chainHead}</Text>
        <Copy value={head} what={text.chainHead} />
      </div>
    </Stack>
  );
}
