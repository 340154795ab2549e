/** The drawer of one record: a call or an event. It can be opened by its address. */
import { Drawer, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useApi } from '../../api/hooks.ts';
import { IconArrowLeft, IconArrowRight } from '../../icons.ts';
import type { Step } from '../../parts/address.ts';
import { FactList, Links } from '../../parts/facts.tsx';
import { Empty, Failure, Loaded } from '../../parts/notes.tsx';
import { IconButton, Section } from '../../parts/page.tsx';
import { Copy, Money } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { CallDetails } from './call-details.tsx';
import { useDetailText } from './detail-text.ts';
import { factsOf, isCall, kindOf, type Line } from './line.ts';
import { LineState } from './lines.tsx';
import { useReason } from './reasons.ts';
import { type Change, isId, type View } from './view.ts';

/** The drawer; open if the address names a record. `lines` provide the previous and the next one. */
export function LineDrawer({
  view,
  change,
  lines,
}: {
  readonly view: View;
  change(change: Change, step?: Step): void;
  readonly lines: readonly Line[];
}) {
  const text = useDetailText();
  const { open } = view;
  const at = lines.findIndex(({ request_id }) => request_id === open);
  const newer = at > 0 ? lines[at - 1] : undefined;
  const older = at >= 0 ? lines[at + 1] : undefined;
  const go = (line: Line | undefined): void => {
    if (line !== undefined) change({ open: line.request_id }, 'replace');
  };
  useEffect(() => {
    if (open === '') return;
    const onKey = (event: KeyboardEvent): void => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      // Elements that use the arrow keys keep them: fields, and areas that scroll sideways.
      if ((event.target as Element).closest('input, textarea, select, .table-frame, .snippet-scroll') !== null) return;
      if (event.key === 'ArrowLeft') go(newer);
      else if (event.key === 'ArrowRight') go(older);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  });
  return (
    <Drawer opened={open !== ''} onClose={() => change({ open: '' })} title={titleOf(lines[at], text)}>
      <Stack gap="md">
        {at >= 0 && (
          <Group gap="xs">
            <Turn label={text.newer} line={newer} onGo={go} icon={<IconArrowLeft size={16} />} about={text.arrows} />
            <Turn label={text.older} line={older} onGo={go} icon={<IconArrowRight size={16} />} about={text.arrows} />
          </Group>
        )}
        {open !== '' && <Content id={open} listed={lines[at]} view={view} />}
      </Stack>
    </Drawer>
  );
}

function titleOf(line: Line | undefined, text: ReturnType<typeof useDetailText>): string {
  if (line === undefined || isCall(line)) return text.words.call;
  return kindOf(line) === 'request' ? text.request : text.words.event;
}

function Turn({
  label,
  line,
  onGo,
  icon,
  about,
}: {
  readonly label: string;
  readonly line: Line | undefined;
  onGo(line: Line | undefined): void;
  readonly icon: ReactNode;
  readonly about: string;
}) {
  return (
    <IconButton
      label={label}
      hint={about}
      variant="default"
      // Not `disabled`, because the button would lose the focus at the last record.
      aria-disabled={line === undefined}
      data-disabled={line === undefined || undefined}
      onClick={() => onGo(line)}
    >
      {icon}
    </IconButton>
  );
}

/** A record that is not in the list is fetched; only then it is known whether it is a call. */
function Content({
  id,
  listed,
  view,
}: {
  readonly id: string;
  readonly listed: Line | undefined;
  readonly view: View;
}) {
  const query = useApi(
    view.admin ? 'GET /api/log/' : 'GET /api/log/self',
    { search: { request_id: id, page_size: 1 } as object },
    { enabled: listed === undefined && isId(id), staleTime: 60_000, refetchOnWindowFocus: false },
  );
  if (listed !== undefined) return <Details line={listed} view={view} />;
  if (!isId(id)) return <Missing />;
  return (
    <Loaded query={query} height={300}>
      {({ items: [line] }) => (line === undefined ? <Missing /> : <Details line={line} view={view} />)}
    </Loaded>
  );
}

function Details({ line, view }: { readonly line: Line; readonly view: View }) {
  const detail = useApi(
    view.admin ? 'GET /api/log/detail/{request_id}' : 'GET /api/log/self/detail/{request_id}',
    { params: { request_id: line.request_id } },
    { enabled: isCall(line), staleTime: 60_000, refetchOnWindowFocus: false },
  );
  if (!isCall(line)) return <EventDetails line={line} view={view} />;
  if (detail.isError && detail.error.status === 404) return <Missing />;
  if (detail.isError && detail.data === undefined)
    return <Failure error={detail.error} again={() => void detail.refetch()} />;
  return (
    <Loaded query={detail} height={400}>
      {(call) => <CallDetails call={call} view={view} />}
    </Loaded>
  );
}

function Missing() {
  const text = useDetailText();
  return <Empty title={text.missing}>{text.missingAbout}</Empty>;
}

function EventDetails({ line, view }: { readonly line: Line; readonly view: View }) {
  const text = useDetailText();
  const format = useFormat();
  const kind = kindOf(line);
  const facts = factsOf(line);
  const reason = useReason()(facts);
  const links: (readonly [string, string])[] = [];
  if (view.admin && (line.username ?? '') !== '')
    links.push([text.links.person, `/logs?${new URLSearchParams({ whose: 'all', username: line.username ?? '' })}`]);
  if (kind === 'login') links.push([text.words.security, '/security']);
  else if (kind !== 'request') links.push([text.words.wallet, '/wallet']);
  return (
    <Stack gap="md">
      <Text fw={600} style={{ overflowWrap: 'anywhere' }} {...(kind !== 'request' && { lang: 'en' })}>
        {kind === 'request' ? `${facts.route}${reason === '' ? '' : `: ${reason}`}` : line.content}
      </Text>
      <Section title={text.words.event}>
        <FactList
          facts={[
            [text.words.when, format.moment(line.created_at)],
            [text.words.state, <LineState key="state" line={line} />],
            [text.words.status, facts.status === 0 ? undefined : `${facts.status}`],
            [text.facts.times, line.times > 1 ? text.facts.timesOf(format.number(line.times)) : undefined],
            [text.words.key, line.token_name || undefined],
            [text.words.user, view.admin ? line.username : undefined],
            [text.words.amount, line.quota === 0 ? undefined : <Money key="money" units={line.quota} sign />],
            [text.words.ipAddress, (line.ip ?? '') === '' ? undefined : line.ip],
            [text.words.requestId, <Copy key="id" value={line.request_id} what={text.words.requestId} />],
          ]}
        />
      </Section>
      {links.length > 0 && <Links links={links} />}
    </Stack>
  );
}
