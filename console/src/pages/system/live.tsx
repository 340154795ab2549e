/** Running calls: new ones are appended, and ended ones stay while the pointer is over the list. */
import { useMemo, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { RunningCalls } from '../../api/operations.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { Muted, Section, Small } from '../../parts/page.tsx';
import { State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';

type Live = RunningCalls;
type Call = Live['items'][number];

const MOODS = { waiting: 'idle', asking: 'info', answering: 'good' } as const;

/** The list. `every`: the polling interval in milliseconds; false: paused. */
export function LiveCalls({ every }: { readonly every: number | false }) {
  const text = useText();
  const live = useApi('GET /api/log/live', undefined, { refetchInterval: every });
  const [held, setHeld] = useState(false);
  return (
    <Section flush title={text.words.runningCalls} about={text.liveAbout}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: only detects the pointer */}
      <div
        className="live"
        onPointerEnter={() => setHeld(true)}
        onPointerLeave={() => setHeld(false)}
        onFocus={() => setHeld(true)}
        onBlur={() => setHeld(false)}
      >
        <Loaded query={live} height={80}>
          {(data) => <LiveTable live={data} held={held} />}
        </Loaded>
      </div>
    </Section>
  );
}

function LiveTable({ live: { items, total }, held }: { readonly live: Live; readonly held: boolean }) {
  const text = useText();
  const format = useFormat();
  const oldestFirst = useMemo(() => items.toReversed(), [items]);
  const rows = useSteadyRows(oldestFirst, held);
  const several = items.some(({ gateway }) => gateway !== null);
  const columns: readonly Column<SteadyRow<Call>>[] = [
    {
      key: 'model',
      title: text.words.model,
      cell: ({ row: { model, style, stream } }) => (
        <>
          {model === '' ? text.passage : model}
          <Small span display="block">
            {[style, ...(stream ? [text.stream] : [])].filter((word) => word !== '').join(' · ')}
          </Small>
        </>
      ),
    },
    {
      key: 'phase',
      title: text.words.phase,
      cell: ({ row: { phase }, ended }) =>
        ended ? (
          <State tone="idle">{text.phases.ended}</State>
        ) : (
          <State tone={MOODS[phase]}>{text.phases[phase]}</State>
        ),
    },
    { key: 'running', title: text.words.runningFor, align: 'right', cell: ({ row }) => format.duration(row.ms) },
    {
      key: 'who',
      title: text.words.user,
      from: 'sm',
      cell: ({ row: { username, token_name: key } }) => (
        <>
          {username}
          <Small span display="block">
            {key}
          </Small>
        </>
      ),
    },
    {
      key: 'channel',
      title: text.words.channel,
      from: 'sm',
      cell: ({ row: { channel, attempts } }) => (
        <>
          {channel ?? '–'}
          {attempts > 1 && (
            <Small span display="block">
              {text.attempt(format.number(attempts))}
            </Small>
          )}
        </>
      ),
    },
    ...(several
      ? [
          {
            key: 'gateway',
            title: text.words.gateway,
            from: 'sm' as const,
            cell: ({ row }: SteadyRow<Call>) => row.gateway ?? '–',
          },
        ]
      : []),
    {
      key: 'tokens',
      title: text.words.outputTokens,
      align: 'right',
      from: 'md',
      cell: ({ row }) => format.number(row.output_tokens),
    },
    {
      key: 'started',
      title: `${text.started} (${format.zone})`,
      align: 'right',
      from: 'md',
      cell: ({ row }) => format.clock(row.started_at_ms / 1_000),
    },
  ];
  return (
    <>
      <DataTable
        caption={text.words.runningCalls}
        columns={columns}
        rows={rows}
        rowKey={({ row }) => row.id}
        empty={<Muted p="md">{text.liveNone}</Muted>}
      />
      {total > items.length && <Small p="xs">{text.liveMore(format.number(items.length), format.number(total))}</Small>}
    </>
  );
}

/** A row that may have ended since the last refresh. */
interface SteadyRow<Row> {
  readonly row: Row;
  readonly ended: boolean;
}

/**
 * The rows in the order of their first appearance. While `held`, ended rows stay and are marked; otherwise they are removed.
 */
function useSteadyRows<Row extends { readonly id: string }>(
  rows: readonly Row[],
  held: boolean,
): readonly SteadyRow<Row>[] {
  const [state, setKept] = useState<{
    readonly of: readonly Row[];
    readonly held: boolean;
    readonly rows: readonly SteadyRow<Row>[];
  }>({
    of: [],
    held: false,
    rows: [],
  });
  if (state.of === rows && state.held === held) return state.rows;
  const now = new Map(rows.map((row) => [row.id, row]));
  const before = state.rows.flatMap(({ row }): readonly SteadyRow<Row>[] => {
    const still = now.get(row.id);
    if (still !== undefined) return [{ row: still, ended: false }];
    return held ? [{ row, ended: true }] : [];
  });
  const ids = new Set(before.map(({ row }) => row.id));
  const added = rows.filter(({ id }) => !ids.has(id)).map((row) => ({ row, ended: false }));
  const next = { of: rows, held, rows: [...before, ...added] };
  // State is derived from props during rendering, so that no outdated row is rendered.
  setKept(next);
  return next.rows;
}
