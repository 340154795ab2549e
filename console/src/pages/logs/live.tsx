/** Running calls: their number, and a list on demand. Its height is fixed, so that nothing below it moves. */
import { Box, Group, Text } from '@mantine/core';
import { useEffect, useId, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import type * as api from '../../api/operations.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Foldout, Muted, Small } from '../../parts/page.tsx';
import { State, type Tone } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';

type RunningCall = api.RunningCall & {
  /** For administrators only. */
  readonly gateway?: string | null;
};
interface Running {
  readonly total: number;
  readonly items: readonly RunningCall[];
}

const EVERY_MS = 2_000;
const SHOWN = 50;
const PHASE_MOODS: Readonly<Record<RunningCall['phase'], Tone>> = {
  waiting: 'idle',
  asking: 'info',
  answering: 'good',
};

/** The strip. `onEnded`: a call has ended. */
export function Live({ allUsers, onEnded }: { readonly allUsers: boolean; onEnded(): void }) {
  const text = useText().live;
  const format = useFormat();
  const id = useId();
  const { data, dataUpdatedAt } = useApi(allUsers ? 'GET /api/log/live' : 'GET /api/log/self/live', undefined, {
    // Not polled while the page is hidden.
    refetchInterval: EVERY_MS,
    staleTime: 0,
  });
  // The initial state depends on whether there are calls; after that only the user changes it.
  const [chosen, setChosen] = useState<boolean>();
  const isLoaded = data !== undefined;
  const first = (data?.total ?? 0) > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: for the first answer only
  useEffect(() => {
    if (isLoaded) setChosen((before) => before ?? first);
  }, [isLoaded]);
  useOnEnded(data, onEnded);
  const open = chosen === true;
  const total = data?.total ?? 0;
  return (
    <Foldout
      id={id}
      label={text.show}
      head={
        <Text id={id} component="h2" size="sm" fw={500} className="number">
          {text.title(format.number(total))}
        </Text>
      }
      open={open}
      onToggle={() => setChosen(!open)}
    >
      <Box className="logs-live">
        {data === undefined || total === 0 ? (
          <Muted px="sm" py="xs">
            {text.none}
          </Muted>
        ) : (
          <Calls data={data} readAt={dataUpdatedAt} allUsers={allUsers} />
        )}
      </Box>
    </Foldout>
  );
}

function Calls({
  data,
  readAt,
  allUsers,
}: {
  readonly data: Running;
  readonly readAt: number;
  readonly allUsers: boolean;
}) {
  const { live: text, words } = useText();
  const format = useFormat();
  const now = useNow();
  const several = data.items.some(({ gateway }) => typeof gateway === 'string');
  const columns: readonly Column<RunningCall>[] = [
    { key: 'model', title: words.model, cell: ({ model }) => model || text.unread },
    { when: allUsers, key: 'person', title: words.user, from: 'sm', cell: ({ username }) => username || text.unread },
    { key: 'key', title: words.key, from: 'md', cell: ({ token_name }) => token_name },
    {
      key: 'phase',
      title: words.phase,
      cell: ({ phase, attempts }) => (
        <Group gap={6} wrap="nowrap">
          <State tone={PHASE_MOODS[phase]}>{text.phases[phase]}</State>
          {attempts > 1 && <Small>{text.attempt(format.number(attempts))}</Small>}
        </Group>
      ),
    },
    { when: allUsers, key: 'channel', title: words.channel, from: 'md', cell: ({ channel }) => channel ?? '–' },
    { when: several, key: 'gateway', title: words.gateway, from: 'md', cell: ({ gateway }) => gateway ?? '–' },
    {
      key: 'output',
      title: words.outputTokens,
      align: 'right',
      from: 'sm',
      cell: ({ output_tokens }) => format.number(output_tokens),
    },
    {
      key: 'running',
      title: words.runningFor,
      align: 'right',
      // Whole seconds, because tenths would flicker.
      cell: ({ ms }) => format.duration(Math.max(1, Math.floor((ms + Math.max(0, now - readAt)) / 1_000)) * 1_000),
    },
  ];
  return (
    <>
      <DataTable caption={text.caption} columns={columns} rows={data.items.slice(0, SHOWN)} rowKey={({ id }) => id} />
      {data.total > SHOWN && (
        <Small px="sm" py={4}>
          {text.more(format.number(data.total - Math.min(SHOWN, data.items.length)))}
        </Small>
      )}
    </>
  );
}

/** Calls `onEnded` when a call is no longer running. */
function useOnEnded(data: Running | undefined, onEnded: () => void): void {
  const [before, setBefore] = useState<Running>();
  useEffect(() => {
    if (data === undefined || data === before) return;
    setBefore(data);
    const runs = new Set(data.items.map(({ id }) => id));
    if (before?.items.some(({ id }) => !runs.has(id)) === true) onEnded();
  }, [data, before, onEnded]);
}

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
