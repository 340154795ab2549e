/** Latency: percentiles and histograms of the most recent calls. */
import type { CallTiming } from '../../../../core/contracts/records.ts';
import { integer, list, object, record } from '../../format/schemas.ts';
import { secondsOf } from '../../format/units.ts';

/** Upper bounds of the histogram buckets, in milliseconds; the last bucket has none. */
const STEPS_MS = [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000] as const;

/** Latency is of served calls only: refusals are fast, and failures take arbitrarily long. */
export function latencyOf(timings: readonly CallTiming[]) {
  const served = timings.filter(({ outcome }) => outcome === 'served');
  const count = (which: (timing: CallTiming) => boolean): number =>
    timings.reduce((sum, timing) => sum + (which(timing) ? timing.times : 0), 0);
  return {
    calls: count(() => true),
    since: secondsOf(timings.reduce((first, { atMs }) => Math.min(first, atMs), timings[0]?.atMs ?? 0)),
    served: served.length,
    failed: count(({ outcome }) => outcome === 'failed' || outcome === 'recovered'),
    refused: count(({ outcome }) => outcome === 'refused'),
    aborted: count(({ outcome }) => outcome === 'aborted'),
    duration: spreadOf(served.map(({ durationMs }) => durationMs)),
    first_byte: spreadOf(served.flatMap(({ firstByteMs }) => firstByteMs ?? [])),
  };
}

function spreadOf(times: readonly number[]) {
  const sorted = Float64Array.from(times).sort();
  /** The percentile: the smallest value that this share of the values does not exceed. */
  const percentile = (hundredths: number): number | null =>
    sorted.length === 0 ? null : sorted[Math.ceil((hundredths * sorted.length) / 100) - 1]!;
  let below = 0;
  const histogram = [...STEPS_MS, null].map((le_ms) => {
    const before = below;
    while (below < sorted.length && (le_ms === null || sorted[below]! <= le_ms)) below++;
    return { le_ms, count: below - before };
  });
  return {
    count: sorted.length,
    p50_ms: percentile(50),
    p95_ms: percentile(95),
    p99_ms: percentile(99),
    histogram,
  };
}

const percentile = { type: ['integer', 'null'], description: 'Null: no calls.' } as const;
const spread = (description: string) => ({
  title: 'LatencyDistribution',
  ...object({
    count: integer,
    p50_ms: percentile,
    p95_ms: percentile,
    p99_ms: percentile,
    histogram: list({
      le_ms: { type: ['integer', 'null'], description: 'The inclusive upper bound in milliseconds; null: none.' },
      count: { ...integer, description: 'Calls above the previous bound and up to this one.' },
    }),
  }),
  description,
});

export const latencySchema = record('Latency', {
  calls: { ...integer, description: 'How many calls were examined.' },
  since: { ...integer, description: 'Start of the oldest of them, Unix seconds; 0: none.' },
  served: integer,
  failed: integer,
  refused: integer,
  aborted: { ...integer, description: 'The client disconnected.' },
  duration: spread('Served calls: from the request to the end of the answer.'),
  first_byte: spread('Served calls: from the request to the first byte of the answer.'),
});
