/** The last ten calls. The list changes only when the user refreshes it. */
import { IconRefresh } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { callHref } from '../../parts/links.tsx';
import { Failure } from '../../parts/notes.tsx';
import { IconButton, LinkButton, Section } from '../../parts/page.tsx';
import { Money, State, type Tone, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import type { Calls, Line } from './calls.ts';
import { useText } from './text.ts';

const OUTCOMES = ['served', 'refused', 'failed', 'aborted', 'recovered'] as const;
type Outcome = (typeof OUTCOMES)[number];
const MOODS: Readonly<Record<Outcome, Tone>> = {
  served: 'good',
  refused: 'warn',
  failed: 'bad',
  aborted: 'idle',
  recovered: 'warn',
};

/** The section. */
export function Recent({ calls }: { readonly calls: Calls }) {
  const text = useText();
  const format = useFormat();
  const [, go] = useLocation();
  const columns: readonly Column<Line>[] = [
    { key: 'time', title: text.words.time, cell: ({ created_at }) => <When at={created_at} /> },
    { key: 'model', title: text.words.model, cell: ({ model_name }) => model_name ?? '' },
    { key: 'key', title: text.words.key, from: 'md', cell: ({ token_name }) => token_name ?? '' },
    {
      key: 'tokens',
      title: text.tokens,
      align: 'right',
      from: 'sm',
      cell: ({ prompt_tokens = 0, completion_tokens = 0 }) =>
        `${format.number(prompt_tokens)} / ${format.number(completion_tokens)}`,
    },
    {
      key: 'took',
      title: text.words.duration,
      align: 'right',
      from: 'lg',
      cell: ({ use_time = 0 }) => (use_time === 0 ? `< ${format.duration(1_000)}` : format.duration(use_time * 1_000)),
    },
    { key: 'cost', title: text.words.cost, align: 'right', cell: ({ quota }) => <Money units={quota} /> },
    {
      key: 'state',
      title: text.words.result,
      from: 'sm',
      cell: (line) => {
        const outcome = outcomeOf(line);
        return outcome === undefined ? '' : <State tone={MOODS[outcome]}>{text.outcomes[outcome]}</State>;
      },
    },
  ];
  return (
    <Section
      title={text.recent}
      flush
      actions={
        <>
          <IconButton label={text.words.refresh} onClick={calls.readAgain}>
            <IconRefresh size={16} />
          </IconButton>
          <LinkButton href="/logs">{text.logs}</LinkButton>
        </>
      }
    >
      {calls.latest === undefined && calls.error !== null ? (
        <Failure error={calls.error} again={calls.readAgain} />
      ) : (
        <DataTable
          caption={text.recent}
          columns={columns}
          rows={calls.latest}
          rowKey={({ request_id }) => request_id}
          onOpen={({ request_id }) => go(callHref(request_id))}
        />
      )}
    </Section>
  );
}

/** The outcome; undefined if there is none. */
function outcomeOf({ other }: Line): Outcome | undefined {
  try {
    const { outcome } = JSON.parse(other) as { readonly outcome?: unknown };
    return OUTCOMES.find((each) => each === outcome);
  } catch {
    return undefined;
  }
}
