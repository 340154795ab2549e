/** Latency of the filtered calls: percentiles, and a distribution on demand. */
import { Box, Group, Stack, Table, Text, Tooltip } from '@mantine/core';
import { useId } from 'react';
import { KEEPS_DATA, useApi } from '../../api/hooks.ts';
import type { LatencyDistribution } from '../../api/operations.ts';
import { Foldout, Muted, Small } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';
import { type Change, filterOf, searchOf, type View } from './view.ts';

type Spread = LatencyDistribution;

/** The section; renders nothing if the filters exclude calls. */
export function Latency({ view, change }: { readonly view: View; change(change: Change): void }) {
  const { latency: text, words } = useText();
  const format = useFormat();
  const id = useId();
  const { request_id: _, ...search } = searchOf(view);
  const kind = filterOf(view, 'kind');
  const outcome = filterOf(view, 'outcome');
  // Latency is measured for served calls only.
  const aboutCalls =
    (kind === '' || kind === 'use') && (outcome === '' || outcome === 'served') && filterOf(view, 'request_id') === '';
  const { data } = useApi(
    view.allUsers ? 'GET /api/log/latency' : 'GET /api/log/self/latency',
    { search: search as object },
    { enabled: aboutCalls, staleTime: 60_000, refetchOnWindowFocus: false, ...KEEPS_DATA },
  );
  const percentiles = usePercentiles();
  if (!aboutCalls) return null;
  const open = view.latency;
  return (
    <Foldout
      id={id}
      label={text.show}
      head={
        <Group gap={12} miw={0}>
          <Text id={id} component="h2" size="sm" fw={500}>
            {text.title}
          </Text>
          <Muted>{data === undefined ? '…' : (percentiles(data.duration) ?? text.none)}</Muted>
        </Group>
      }
      open={open}
      onToggle={() => change({ latency: open ? '' : 'open' })}
    >
      {data !== undefined && data.served > 0 && (
        <Stack gap="xs" p="sm" pt={4}>
          <Small>
            {text.of(format.number(data.served))}, {text.since(format.moment(data.since))}.{' '}
            {text.others(format.number(data.refused), format.number(data.failed), format.number(data.aborted))}
          </Small>
          <Box className="two-columns">
            <Histogram title={text.duration} spread={data.duration} />
            <Histogram title={words.firstByte} spread={data.first_byte} />
          </Box>
        </Stack>
      )}
    </Foldout>
  );
}

function usePercentiles(): (spread: Spread) => string | undefined {
  const text = useText().latency;
  const { duration } = useFormat();
  return ({ p50_ms, p95_ms, p99_ms }) =>
    p50_ms === null || p95_ms === null || p99_ms === null
      ? undefined
      : text.percentiles(duration(p50_ms), duration(p95_ms), duration(p99_ms));
}

function Histogram({ title, spread }: { readonly title: string; readonly spread: Spread }) {
  const text = useText().latency;
  const format = useFormat();
  const percentiles = usePercentiles()(spread) ?? text.none;
  const last = spread.histogram.findLast(({ le_ms }) => le_ms !== null)?.le_ms ?? 0;
  const nameOf = (le: number | null): string =>
    le === null ? text.longer(format.duration(last)) : text.upTo(format.duration(le));
  const steps = spread.histogram;
  const most = Math.max(1, ...steps.map(({ count }) => count));
  const label = (le: number | null | undefined): string => (le === undefined ? '' : nameOf(le));
  return (
    <Box miw={0}>
      <Text component="h3" size="sm" fw={500}>
        {title}
      </Text>
      <Small mb={6}>{percentiles}</Small>
      <Box className="logs-bars" role="img" aria-label={text.label(title, percentiles)}>
        {steps.map(({ le_ms, count }) => (
          <Tooltip key={le_ms ?? 'over'} label={`${nameOf(le_ms)}: ${format.number(count)}`}>
            <Box className="logs-bar" h={count === 0 ? 0 : `${Math.max(3, (count / most) * 100)}%`} />
          </Tooltip>
        ))}
      </Box>
      <Box className="logs-ticks" aria-hidden>
        <span>{label(steps[0]?.le_ms)}</span>
        <span>{label(steps.at(-1)?.le_ms)}</span>
      </Box>
      <details className="chart-table">
        <summary>{text.table}</summary>
        <Table aria-label={title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{text.time}</Table.Th>
              <Table.Th scope="col">{text.calls}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {steps.map(({ le_ms, count }) => (
              <Table.Tr key={le_ms ?? 'over'}>
                <Table.Td>{nameOf(le_ms)}</Table.Td>
                <Table.Td className="number">{format.number(count)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </details>
    </Box>
  );
}
