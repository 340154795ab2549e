/** How long calls took: percentiles and histograms of the newest ones. */
import type { CallTiming } from '../../../core/contracts/records.ts';
import { integer, named, object } from '../schemas.ts';
import { secondsOf } from '../units.ts';

/** Upper ends of what is counted together, in milliseconds; the last has none. */
const STEPS_MS = [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000] as const;

/** What there is to say of them. Times are those of calls that were served: refusals are quick, and failures as slow as can be. */
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
  /** The smallest that so many hundredths of them do not exceed. */
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

const percentile = { type: ['integer', 'null'], description: 'Null: there are none.' } as const;
const spread = (description: string) => ({
  title: 'LatencyDistribution',
  ...object({
    count: integer,
    p50_ms: percentile,
    p95_ms: percentile,
    p99_ms: percentile,
    histogram: {
      type: 'array',
      items: object({
        le_ms: { type: ['integer', 'null'], description: 'Up to and with so many milliseconds; null: longer.' },
        count: { ...integer, description: 'That are longer than the step before.' },
      }),
    },
  }),
  description,
});

/** Its schema. */
export const latencySchema = named(
  'Latency',
  object({
    calls: { ...integer, description: 'How many were looked at.' },
    since: { ...integer, description: 'When the oldest of them began, unix seconds; 0: there are none.' },
    served: integer,
    failed: integer,
    refused: integer,
    aborted: { ...integer, description: 'The client left.' },
    duration: spread('Of calls that were served: from the request to the end of the answer.'),
    first_byte: spread('Of the same: from the request to the first byte of the answer.'),
  }),
);
