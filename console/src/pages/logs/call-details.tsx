/** A call in full: summary, timing, usage, translation warnings and receipt. */
import { Anchor, Group, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { FactList, Links } from '../../parts/facts.tsx';
import { usageHref } from '../../parts/links.tsx';
import { Muted, Section, Small } from '../../parts/page.tsx';
import { Copy } from '../../parts/values.tsx';
import { WarningList } from '../../parts/warning-notes.tsx';
import { useFormat } from '../../shell/format.ts';
import { CallContents } from './content.tsx';
import { useDetailText } from './detail-text.ts';
import { type CallDetail, factsOf } from './line.ts';
import { LineState } from './lines.tsx';
import { useReason } from './reasons.ts';
import { LedgerEntries, ReceiptTable } from './receipt.tsx';
import { Timing } from './timing.tsx';
import type { View } from './view.ts';

const SHORTEST_MS = 200;

/** The details. */
export function CallDetails({ call, view }: { readonly call: CallDetail; readonly view: View }) {
  const text = useDetailText();
  return (
    <Stack gap="md">
      <Summary call={call} />
      <CallFacts call={call} view={view} />
      {call.has_content && <CallContents key={call.request_id} call={call} />}
      <Timing call={call} admin={view.admin} />
      <Section title={text.words.usage} flush>
        <Usage call={call} />
      </Section>
      {call.translation.length > 0 && <Translation call={call} />}
      <Section title={text.receipt.title} flush>
        <ReceiptTable call={call} />
      </Section>
      <Section title={text.ledger.title} about={text.ledger.about} flush>
        <LedgerEntries call={call} />
      </Section>
      <Section title={text.links.title}>
        <Links links={linksOf(call, view, text.links)} />
      </Section>
    </Stack>
  );
}

function Summary({ call }: { readonly call: CallDetail }) {
  const { summary: text } = useDetailText();
  const format = useFormat();
  const reason = useReason()(factsOf(call));
  const model = call.model_name || text.nameless;
  const time = format.duration(call.duration_ms);
  const cost = format.money(call.quota);
  const summary =
    call.outcome === 'served'
      ? call.quota > 0
        ? text.served(model, time, cost)
        : text.free(model, time)
      : call.quota > 0
        ? text.other(reason, model, cost)
        : text.otherFree(reason, model);
  return (
    <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
      {summary}
    </Text>
  );
}

/** The tags, as links to the usage with each of them. */
function TagLinks({ call, view }: { readonly call: CallDetail; readonly view: View }) {
  return (
    <Group gap="xs" component="span">
      {call.tags.map((tag) => (
        <Anchor key={tag} component={Link} href={usageHref({ tag }, { allUsers: view.allUsers })} size="sm">
          {tag}
        </Anchor>
      ))}
    </Group>
  );
}

function CallFacts({ call, view }: { readonly call: CallDetail; readonly view: View }) {
  const { facts: text, words } = useDetailText();
  const format = useFormat();
  // The receipt names the budgets.
  const { code: _code, layers: _layers, usageAnomalies, ...notes } = call.notes;
  return (
    <Section title={text.title}>
      <FactList
        facts={[
          [words.when, format.moment(call.created_at)],
          [words.state, <LineState key="state" line={call} />],
          [words.status, `${call.status}`],
          [text.times, call.times > 1 ? text.timesOf(format.number(call.times)) : undefined],
          [words.user, view.admin ? call.username : undefined],
          [words.key, call.token_name || undefined],
          [words.model, call.model_name || undefined],
          [text.style, call.stream ? `${call.style}, ${text.stream}` : call.style || undefined],
          [words.channel, call.channel_name || undefined],
          [
            text.speed,
            call.tokens_per_second === null || !wasTimed(call)
              ? undefined
              : text.perSecond(format.number(call.tokens_per_second)),
          ],
          [text.tags, call.tags.length === 0 ? undefined : <TagLinks key="tags" call={call} view={view} />],
          [words.ipAddress, call.ip || undefined],
          [words.requestId, <Copy key="id" value={call.request_id} what={words.requestId} />],
          [
            text.clientId,
            call.client_request_id === null ? undefined : (
              <Copy key="c" value={call.client_request_id} what={text.clientId} />
            ),
          ],
          [text.anomalies, usageAnomalies === undefined ? undefined : <Lines key="anomalies" of={usageAnomalies} />],
          [
            text.notes,
            Object.keys(notes).length === 0 ? undefined : (
              <Lines key="notes" of={Object.entries(notes).map(([name, value]) => `${name}: ${written(value)}`)} />
            ),
          ],
        ]}
      />
    </Section>
  );
}

/** If all tokens arrived within a few milliseconds, the rate is meaningless. */
function wasTimed({ stream, duration_ms: total, first_byte_ms: first }: CallDetail): boolean {
  return stream && first !== null && total - first >= SHORTEST_MS;
}

function Lines({ of }: { readonly of: unknown }) {
  const lines = Array.isArray(of) ? of : [of];
  return (
    <>
      {lines.map((line) => (
        <div key={written(line)}>{written(line)}</div>
      ))}
    </>
  );
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface Count {
  readonly name: string;
  readonly count: number;
}

function Usage({ call }: { readonly call: CallDetail }) {
  const { usage: text, counts, words } = useDetailText();
  const format = useFormat();
  const rows: readonly Count[] = Object.entries(call.usage).map(([name, count]) => ({ name, count }));
  if (rows.length === 0) return <Muted p="sm">{text.none}</Muted>;
  const columns: readonly Column<Count>[] = [
    {
      key: 'name',
      title: text.what,
      cell: ({ name }) => (Object.hasOwn(counts, name) ? counts[name as keyof typeof counts] : name),
    },
    { key: 'count', title: words.count, align: 'right', cell: ({ count }) => format.number(count) },
  ];
  return (
    <>
      <DataTable caption={words.usage} columns={columns} rows={rows} rowKey={({ name }) => name} />
      {(call.estimated || call.image !== null) && (
        <Small p="sm" pt={4}>
          {call.image !== null && `${text.image(call.image.size, call.image.quality)} `}
          {call.estimated && text.estimated}
        </Small>
      )}
    </>
  );
}

function Translation({ call }: { readonly call: CallDetail }) {
  const { translation: text, words } = useDetailText();
  return (
    <Section title={words.translationWarnings} about={text.about}>
      <Stack gap="xs">
        <WarningList warnings={call.translation} />
        <Text size="sm">
          {text.strict}{' '}
          <Anchor component={Link} href="/keys" size="sm">
            {text.keys}
          </Anchor>
        </Text>
      </Stack>
    </Section>
  );
}

type Names = ReturnType<typeof useDetailText>['links'];

function linksOf(call: CallDetail, { allUsers, admin }: View, text: Names): readonly (readonly [string, string])[] {
  const scope: Record<string, string> = allUsers ? { whose: 'all' } : {};
  const to = (page: string, search: Record<string, string>): string => `${page}?${new URLSearchParams(search)}`;
  const { model_name: model = '', token_id: key = 0, username = '', user_id: person } = call;
  const links: (readonly [string, string])[] = [];
  if (model !== '') links.push([text.model, to('/logs', { ...scope, model })]);
  if (key !== 0) links.push([text.key, to('/logs', { ...scope, token_id: `${key}` })]);
  if (admin && username !== '') links.push([text.person, to('/logs', { whose: 'all', username })]);
  if (admin && factsOf(call).code === 'QUOTA_USER_INSUFFICIENT')
    links.push([text.give, to('/users', { user: `${person}` })]);
  if (model !== '') links.push([text.playground, to('/playground', { model })]);
  if (!allUsers && key !== 0) links.push([text.keys, to('/keys', { open: `${key}` })]);
  if (model !== '') links.push([text.usage, to('/usage', { ...scope, model })]);
  return links;
}
