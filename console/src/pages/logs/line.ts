/** A line of the log, and what is packed into it. */

import type * as api from '../../api/operations.ts';
import type { LogLine } from '../../api/operations.ts';
import type { Mood } from '../../parts/values.tsx';
import { KINDS, type Kind, OUTCOMES, type Outcome } from './view.ts';

/** A line, as `/api` lists it. */
export type Line = LogLine;
/** A call with all that is known of it. */
export type CallDetail = api.CallDetail;

/** How good that is. */
export const OUTCOME_MOODS: Readonly<Record<Outcome, Mood>> = {
  served: 'good',
  refused: 'warn',
  failed: 'bad',
  aborted: 'idle',
  recovered: 'warn',
};

/** What there is no column for. */
export interface Facts {
  readonly outcome: Outcome | undefined;
  readonly status: number;
  readonly durationMs: number | undefined;
  readonly firstByteMs: number | undefined;
  readonly cached: number;
  readonly written: number;
  readonly reasoning: number;
  /** What was asked for, where that is no call. */
  readonly route: string;
  /** Of a refusal, as its answer had it: `model_not_found`. */
  readonly code: string;
  /** How the last attempt that failed did so. */
  readonly failure: string;
}

/** Of a line. What cannot be read is as if it were not there. */
export function factsOf({ other, use_time = 0 }: Line): Facts {
  const said = parsed(other);
  const number = (name: string): number | undefined => {
    const value = said[name];
    return typeof value === 'number' ? value : undefined;
  };
  const attempts = Array.isArray(said.attempts) ? (said.attempts as readonly Record<string, unknown>[]) : [];
  const failure = attempts.findLast((attempt) => attempt.failure !== undefined)?.failure;
  return {
    outcome: OUTCOMES.find((each) => each === said.outcome),
    status: number('status') ?? 0,
    durationMs: number('duration_ms') ?? (use_time > 0 ? use_time * 1_000 : undefined),
    firstByteMs: number('frt'),
    cached: number('cache_tokens') ?? 0,
    written: number('cache_creation_tokens') ?? 0,
    reasoning: number('reasoning_tokens') ?? 0,
    route: typeof said.route === 'string' ? said.route : '',
    code: typeof said.code === 'string' ? said.code : '',
    failure: typeof failure === 'string' ? failure : '',
  };
}

/** The kind of a line. */
export function kindOf({ type }: Pick<Line, 'type'>): Kind {
  return (Object.keys(KINDS) as Kind[]).find((kind) => KINDS[kind] === type) ?? 'system';
}

/** True of calls: other lines are events, and what else a key asked for. */
export function isCall({ type }: Pick<Line, 'type'>): boolean {
  return type === KINDS.use || type === KINDS.error;
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
