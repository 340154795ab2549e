/** Usage records as a table with paging. */
import { Box, Button, Group, Stack, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { PlainButton, Small } from '../../parts/page.tsx';
import { Money, State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { factsOf, isCall, kindOf, type Line, OUTCOME_TONES } from './line.ts';
import { useReason } from './reasons.ts';
import { useText } from './text.ts';

/** The table. */
export function Lines({
  lines,
  allUsers,
  open,
  onOpen,
  hrefOf,
  empty,
}: {
  readonly lines: readonly Line[] | undefined;
  readonly allUsers: boolean;
  readonly open: string;
  onOpen(line: Line): void;
  hrefOf(line: Line): string;
  readonly empty: ReactNode;
}) {
  const { columns: text, lines: caption, words } = useText();
  const format = useFormat();
  const columns: readonly Column<Line>[] = [
    { key: 'time', title: `${words.time} (${format.zone})`, cell: ({ created_at }) => <Moment at={created_at} /> },
    { when: allUsers, key: 'person', title: words.user, from: 'sm', cell: ({ username }) => username ?? '' },
    { key: 'state', title: words.state, from: 'sm', cell: (line) => <LineState line={line} /> },
    { key: 'model', title: words.model, cell: (line) => <Subject line={line} /> },
    {
      key: 'key',
      title: words.key,
      from: 'md',
      cell: ({ token_name }) => <span className="logs-name">{token_name}</span>,
    },
    { key: 'tokens', title: text.tokens, align: 'right', from: 'sm', cell: (line) => <Tokens line={line} /> },
    {
      key: 'cost',
      title: words.cost,
      align: 'right',
      cell: (line) => (isCall(line) || line.quota !== 0 ? <Money units={line.quota} sign={!isCall(line)} /> : ''),
    },
    {
      key: 'took',
      title: words.duration,
      align: 'right',
      from: 'md',
      cell: (line) => durationOf(factsOf(line).durationMs, format.duration),
    },
    {
      key: 'first',
      title: words.firstByte,
      align: 'right',
      from: 'lg',
      cell: (line) => durationOf(factsOf(line).firstByteMs, format.duration),
    },
    { when: allUsers, key: 'channel', title: words.channel, from: 'lg', cell: (line) => line.channel_name ?? '' },
  ];
  return (
    <DataTable
      caption={caption}
      columns={columns}
      rows={lines}
      rowKey={({ request_id }) => request_id}
      open={open === '' ? undefined : open}
      onOpen={onOpen}
      hrefOf={hrefOf}
      empty={empty}
    />
  );
}

/** To the second, because the order matters; the relative time is in a tooltip. */
function Moment({ at }: { readonly at: number }) {
  const { shortDay, clock, ago } = useFormat();
  return (
    <Tooltip label={ago(at)}>
      <time className="logs-time" dateTime={new Date(at * 1_000).toISOString()}>
        <span className="number">{shortDay(at)}</span> <span className="number">{clock(at)}</span>
      </time>
    </Tooltip>
  );
}

function durationOf(ms: number | undefined, write: (ms: number) => string): string {
  return ms === undefined ? '' : write(ms);
}

/** The outcome of a call, or the kind of an event. */
export function LineState({ line }: { readonly line: Line }) {
  const text = useText();
  const { outcome } = factsOf(line);
  if (outcome === undefined) return <State tone="info">{text.kind[kindOf(line)]}</State>;
  return <State tone={OUTCOME_TONES[outcome]}>{text.outcomes[outcome]}</State>;
}

/** The number of requests that the record stands for, if more than one. */
function Times({ line }: { readonly line: Line }) {
  const text = useText();
  const format = useFormat();
  if (line.times <= 1) return null;
  const count = format.number(line.times);
  return (
    <Tooltip label={text.timesAbout(count)}>
      <span className="number logs-repeats">×{count}</span>
    </Tooltip>
  );
}

/** The model or the requested path, and the reason of a failure; for an event, its message. */
function Subject({ line }: { readonly line: Line }) {
  const facts = factsOf(line);
  const reason = useReason()(facts);
  // Phones do not have a column for it.
  const state = (
    <Box hiddenFrom="sm">
      <LineState line={line} />
    </Box>
  );
  if (!isCall(line) && facts.route === '')
    return (
      <div className="logs-what">
        {state}
        <span lang="en">{line.content}</span>
      </div>
    );
  return (
    <Stack gap={0} className="logs-what">
      {state}
      <span>
        <span className="name">{line.model_name || facts.route || '–'}</span> <Times line={line} />
      </span>
      {reason !== '' && <Small>{reason}</Small>}
    </Stack>
  );
}

/** Tokens in and out; cached tokens in a tooltip. */
function Tokens({ line }: { readonly line: Line }) {
  const { tokensAbout: text } = useText();
  const format = useFormat();
  const { prompt_tokens = 0, completion_tokens = 0 } = line;
  if (!isCall(line) || prompt_tokens + completion_tokens === 0) return null;
  const { cached, written, reasoning } = factsOf(line);
  const about = [
    cached > 0 ? text.cached(format.number(cached)) : '',
    written > 0 ? text.written(format.number(written)) : '',
    reasoning > 0 ? text.reasoning(format.number(reasoning)) : '',
  ].filter((words) => words !== '');
  return (
    <Tooltip label={about.length === 0 ? text.none : about.join(' · ')}>
      <span className="number">
        {format.number(prompt_tokens)} / {format.number(completion_tokens)}
      </span>
    </Tooltip>
  );
}

/** Paging by cursor, so that every page costs the same. */
export function PageControls({
  newest,
  newer,
  older,
}: {
  /** Undefined: there is no such page. */
  readonly newest: (() => void) | undefined;
  readonly newer: (() => void) | undefined;
  readonly older: (() => void) | undefined;
}) {
  const text = useText();
  if (newest === undefined && older === undefined) return null;
  return (
    <Box component="nav" aria-label={text.paging}>
      <Group justify="flex-end" gap="xs" p="xs">
        {newest !== undefined && (
          <Button variant="subtle" onClick={newest}>
            {text.words.newest}
          </Button>
        )}
        <PlainButton disabled={newer === undefined} onClick={newer}>
          {text.newer}
        </PlainButton>
        <PlainButton disabled={older === undefined} onClick={older}>
          {text.words.older}
        </PlainButton>
      </Group>
    </Box>
  );
}
