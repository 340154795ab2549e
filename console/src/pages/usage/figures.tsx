/** Totals of the view, compared with the previous period. */
import { Skeleton } from '@mantine/core';
import { useApi } from '../../api/hooks.ts';
import { rangeBefore } from '../../parts/range.ts';
import type { Sums } from '../../parts/trend-series.ts';
import { Figure, Money } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';
import { searchOf, type View } from './view.ts';

const HOUR_S = 3_600;
const MANY_TIMES = 10;

/** The figures at the top. */
export function Figures({ view, total }: { readonly view: View; readonly total: Sums | undefined }) {
  const text = useText(TEXT).figures;
  const format = useFormat();
  // Whole hours, so that the query stays the same for a while and its answer is cached.
  const now = Math.floor(Date.now() / 1_000 / HOUR_S) * HOUR_S + HOUR_S - 1;
  const { data: earlier } = useApi(view.allUsers ? 'GET /api/usage/sums' : 'GET /api/usage/self/sums', {
    search: { ...searchOf(view, rangeBefore(view.range, now)), group_by: 'none' },
  });
  if (total === undefined) return <Skeleton height={84} aria-hidden />;
  const before = earlier?.total;
  const compared = (now: number, then: number | undefined): string | undefined => {
    if (then === undefined || (now === 0 && then === 0)) return undefined;
    if (then === 0) return text.none;
    const change = now / then - 1;
    // Large changes are shown as a factor instead of thousands of percent.
    if (change >= MANY_TIMES - 1) return text.times(format.number(Math.round(now / then)));
    if (Math.abs(change) < 0.005) return text.same;
    return text.than(
      `${change > 0 ? '+' : '−'}${format.percent(Math.abs(change) >= 0.1 ? Math.round(Math.abs(change) * 100) / 100 : Math.abs(change))}`,
    );
  };
  const all = total.requests + total.errors;
  const tokens = total.prompt_tokens + total.completion_tokens;
  const each = total.requests === 0 ? undefined : Math.round(total.quota / total.requests);
  const eachBefore = before === undefined || before.requests === 0 ? undefined : before.quota / before.requests;
  return (
    <div className="grid-figures">
      <Figure label={text.cost} value={<Money units={total.quota} />} note={compared(total.quota, before?.quota)} />
      <Figure
        label={text.requests}
        value={format.number(all)}
        note={compared(all, before && before.requests + before.errors)}
      />
      <Figure
        label={text.errors}
        value={all === 0 ? '–' : format.percent(total.errors / all)}
        note={all === 0 ? text.noRequests : text.failed(format.number(total.errors))}
      />
      <Figure
        label={text.each}
        value={each === undefined ? '–' : <Money units={each} />}
        note={each === undefined ? undefined : compared(each, eachBefore)}
      />
      <Figure
        label={text.input}
        value={<span title={format.number(total.prompt_tokens)}>{format.short(total.prompt_tokens)}</span>}
        note={compared(total.prompt_tokens, before?.prompt_tokens)}
      />
      <Figure
        label={text.output}
        value={<span title={format.number(total.completion_tokens)}>{format.short(total.completion_tokens)}</span>}
        note={tokens === 0 ? undefined : text.ofAll(format.percent(total.completion_tokens / tokens))}
      />
    </div>
  );
}
