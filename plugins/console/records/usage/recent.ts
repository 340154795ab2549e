/** The upstream attempts of the last 24 hours in the API. */
import type { RecentCalls } from '../../../../core/contracts/catalog.ts';
import { integer, record } from '../../format/schemas.ts';
import { secondsOf } from '../../format/units.ts';

const ms = {
  type: ['integer', 'null'],
  description: 'Milliseconds, accurate to about a tenth; null: no answers.',
} as const;

export const recentSchema = record('RecentAttempts', {
  since: {
    ...integer,
    description: 'Unix seconds: 24 hours ago, or the start of the process (counts are in memory).',
  },
  attempts: {
    ...integer,
    description: 'Attempts, without refused requests and those whose client disconnected before the answer.',
  },
  failures: integer,
  success_share: { type: ['number', 'null'], description: 'From 0 to 1; null: no attempts.' },
  p50_first_byte_ms: ms,
  p95_first_byte_ms: ms,
  last_success_at: { ...integer, description: 'Unix seconds; 0: none since the process started.' },
});

export function shownRecent({ sinceMs, served, failed, p50FirstByteMs, p95FirstByteMs, lastServedMs }: RecentCalls) {
  const attempts = served + failed;
  return {
    since: secondsOf(sinceMs),
    attempts,
    failures: failed,
    success_share: attempts === 0 ? null : Math.round((served / attempts) * 10_000) / 10_000,
    p50_first_byte_ms: p50FirstByteMs ?? null,
    p95_first_byte_ms: p95FirstByteMs ?? null,
    last_success_at: secondsOf(lastServedMs),
  };
}
