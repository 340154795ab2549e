/** What the last 24 hours were like, as `/api` shows it. */
import type { RecentCalls } from '../../../core/contracts/catalog.ts';
import { integer } from '../schemas.ts';
import { secondsOf } from '../units.ts';

const ms = {
  type: ['integer', 'null'],
  description: 'Milliseconds, to about a tenth; null: nothing was answered.',
} as const;

/** Its schema. */
export const recentSchema = {
  title: 'RecentAttempts',
  type: 'object',
  required: [
    ...['since', 'attempts', 'failures', 'success_share', 'p50_first_byte_ms', 'p95_first_byte_ms', 'last_success_at'],
  ],
  properties: {
    since: {
      ...integer,
      description: 'Unix seconds: a day ago, or when the process started; counts are in its memory.',
    },
    attempts: { ...integer, description: 'Without those that were refused, or left before they were answered.' },
    failures: integer,
    success_share: { type: ['number', 'null'], description: 'From 0 to 1; null: there were none.' },
    p50_first_byte_ms: ms,
    p95_first_byte_ms: ms,
    last_success_at: { ...integer, description: 'Unix seconds; 0: none since the process started.' },
  },
} as const;

/** Shows it. */
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
