/** Alerts: what is open, what was told, and the state of the targets. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { call } from '../../api/client.ts';
import { isRoot, useAction, useApi, useSelf } from '../../api/hooks.ts';
import type * as api from '../../api/operations.ts';
import { IconSend } from '../../icons.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { LinkButton, Muted, Page, Section, Small } from '../../parts/page.tsx';
import { State, type Tone, useLanguage, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';
import { inChinese, usedOf } from './words.ts';

const REFRESH_MS = 10_000;
/** Where the section `alerts` is changed. */
const RULES = '/config?tab=draft';

export default function AlertsPage() {
  const text = useText();
  const query = useApi('GET /api/alerts', undefined, { refetchInterval: REFRESH_MS, retry: false });
  const test = useAction(() => call('POST /api/alerts/test'), {
    changes: ['GET /api/alerts'],
    done(results) {
      for (const { target, problem } of results) {
        const message = problem === null ? text.accepted(target) : text.notAccepted(target, problem);
        notifications.show({ message, ...(problem !== null && { color: 'red', role: 'alert' }) });
      }
    },
  });
  const canEdit = isRoot(useSelf());
  const hasTargets = (query.data?.targets.length ?? 0) > 0;
  return (
    <Page
      name="alerts"
      about={text.about}
      actions={
        <>
          {canEdit && <LinkButton href={RULES}>{text.edit}</LinkButton>}
          {hasTargets && (
            <Button leftSection={<IconSend size={16} />} loading={test.isPending} onClick={() => test.mutate()}>
              {text.test}
            </Button>
          )}
        </>
      }
    >
      <Loaded query={query} height={320}>
        {({ open, events, targets, quiet }) => (
          <Stack gap="md">
            <Section flush title={text.open}>
              <OpenAlerts open={open} />
            </Section>
            <Section
              flush
              title={text.targets}
              about={quiet === null ? undefined : quiet.now ? text.quietNow(quiet.time) : text.quiet(quiet.time)}
            >
              <Targets targets={targets} />
            </Section>
            <Section flush title={text.history}>
              <Events events={events} />
            </Section>
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

/** The title of an alert with its explanation. */
function What({ alert }: { readonly alert: api.OpenAlert | api.AlertEvent }) {
  const isChinese = useLanguage() === 'zh';
  const format = useFormat();
  const over = 'over' in alert && alert.over;
  const { title, text } = (isChinese ? inChinese(alert.facts, format, over) : undefined) ?? {
    title: alert.title,
    text: usedOf(alert.facts, format, over) ?? alert.text,
  };
  return (
    <Stack gap={0} maw="40rem" style={{ whiteSpace: 'normal' }}>
      <Text size="sm">{title}</Text>
      <Small>{text}</Small>
    </Stack>
  );
}

/** Budgets are bad when they are used up, every other condition is. */
function toneOf({ level }: { readonly level: number }): Tone {
  return level >= 100 ? 'bad' : 'warn';
}

function OpenAlerts({ open }: { readonly open: readonly api.OpenAlert[] }) {
  const text = useText();
  const format = useFormat();
  const columns: readonly Column<api.OpenAlert>[] = [
    { key: 'alert', title: text.alert, cell: (alert) => <What alert={alert} /> },
    {
      key: 'state',
      title: text.words.state,
      from: 'sm',
      cell: (alert) => (
        <State tone={toneOf(alert)}>
          {alert.kind === 'budget' ? text.level(format.percent(alert.level / 100)) : text.isOpen}
        </State>
      ),
    },
    { key: 'kind', title: text.kind, from: 'md', cell: ({ kind }) => text.kinds[kind] },
    { key: 'since', title: text.since, from: 'sm', cell: ({ since }) => <When at={since} /> },
    { key: 'resets', title: text.resets, from: 'lg', cell: ({ resets_at: at }) => <When at={at} none="–" /> },
  ];
  return (
    <DataTable
      caption={text.open}
      columns={columns}
      rows={open}
      rowKey={({ subject }) => subject}
      empty={<Empty title={text.noneOpen}>{text.noneOpenAbout}</Empty>}
    />
  );
}

function Targets({ targets }: { readonly targets: readonly api.AlertTarget[] }) {
  const text = useText();
  const format = useFormat();
  const columns: readonly Column<api.AlertTarget>[] = [
    {
      key: 'target',
      title: text.target,
      cell: ({ name, type }) => (
        <Stack gap={0}>
          <span className="name">{name}</span>
          <Small>{text.types[type]}</Small>
        </Stack>
      ),
    },
    {
      key: 'state',
      title: text.words.state,
      cell: ({ problem }) =>
        problem === null ? (
          <State tone="good">{text.works}</State>
        ) : (
          <Stack gap={0} maw="24rem" style={{ whiteSpace: 'normal' }}>
            <State tone="bad">{text.fails}</State>
            <Small lang="en">{problem}</Small>
          </Stack>
        ),
    },
    { key: 'waiting', title: text.waiting, align: 'right', cell: ({ waiting }) => format.number(waiting) },
    {
      key: 'sent',
      title: text.sent,
      from: 'sm',
      cell: ({ sent_at: at }) => <When at={at} none={text.never} />,
    },
  ];
  return (
    <DataTable
      caption={text.targets}
      columns={columns}
      rows={targets}
      rowKey={({ name }) => name}
      empty={<Empty title={text.noTargets}>{text.noTargetsAbout}</Empty>}
    />
  );
}

const DELIVERY_TONES: Readonly<Record<api.AlertDelivery['state'], Tone>> = {
  waiting: 'warn',
  sent: 'good',
  failed: 'bad',
};

function Events({ events }: { readonly events: readonly api.AlertEvent[] }) {
  const text = useText();
  const columns: readonly Column<api.AlertEvent>[] = [
    { key: 'what', title: text.words.event, cell: (event) => <What alert={event} /> },
    { key: 'kind', title: text.kind, from: 'md', cell: ({ kind }) => text.kinds[kind] },
    { key: 'when', title: text.words.time, from: 'sm', cell: ({ at }) => <When at={at} /> },
    {
      key: 'delivery',
      title: text.delivery,
      cell: ({ deliveries }) =>
        deliveries.length === 0 ? (
          <Muted>{text.nowhere}</Muted>
        ) : (
          <Group gap={6}>
            {deliveries.map(({ target, state }) => (
              <State key={target} tone={DELIVERY_TONES[state]}>
                {target === 'owner' ? text.owner : target}: {text.states[state]}
              </State>
            ))}
          </Group>
        ),
    },
  ];
  return (
    <DataTable
      caption={text.history}
      columns={columns}
      rows={events}
      rowKey={({ at, subject, level, over }) => `${at} ${subject} ${level} ${over}`}
      empty={<Empty title={text.noHistory}>{text.noHistoryAbout}</Empty>}
    />
  );
}
