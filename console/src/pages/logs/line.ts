/** A usage record and the fields in its JSON. */
import type * as api from '../../api/operations.ts';
import type { LogLine } from '../../api/operations.ts';
import type { Tone } from '../../parts/values.tsx';
import { KINDS, type Kind, OUTCOMES, type Outcome } from './view.ts';

/** A record in the list of `/api`. */
export type Line = LogLine;
/** A call in full. */
export type CallDetail = api.CallDetail;

/** The colour of each outcome. */
export const OUTCOME_TONES: Readonly<Record<Outcome, Tone>> = {
  served: 'good',
  refused: 'warn',
  failed: 'bad',
  aborted: 'idle',
  recovered: 'warn',
};

/** The fields without a column. */
export interface Facts {
  readonly outcome: Outcome | undefined;
  readonly status: number;
  readonly durationMs: number | undefined;
  readonly firstByteMs: number | undefined;
  readonly cached: number;
  readonly written: number;
  readonly reasoning: number;
  /** The requested path, if the record is not a call. */
  readonly route: string;
  /** The error code of a refusal: `model_not_found`. */
  readonly code: string;
  /** How the last failed attempt failed. */
  readonly failure: string;
}

/** Decodes these fields of a record. Unreadable ones count as missing. */
export function factsOf({ other, use_time = 0 }: Line): Facts {
  const fields = parsed(other);
  const number = (name: string): number | undefined => {
    const value = fields[name];
    return typeof value === 'number' ? value : undefined;
  };
  const attempts = Array.isArray(fields.attempts) ? (fields.attempts as readonly Record<string, unknown>[]) : [];
  const failure = attempts.findLast((attempt) => attempt.failure !== undefined)?.failure;
  return {
    outcome: OUTCOMES.find((each) => each === fields.outcome),
    status: number('status') ?? 0,
    durationMs: number('duration_ms') ?? (use_time > 0 ? use_time * 1_000 : undefined),
    firstByteMs: number('frt'),
    cached: number('cache_tokens') ?? 0,
    written: number('cache_creation_tokens') ?? 0,
    reasoning: number('reasoning_tokens') ?? 0,
    route: typeof fields.route === 'string' ? fields.route : '',
    code: typeof fields.code === 'string' ? fields.code : '',
    failure: typeof failure === 'string' ? failure : '',
  };
}

/** The kind of a record. */
export function kindOf({ type }: Pick<Line, 'type'>): Kind {
  return (Object.keys(KINDS) as Kind[]).find((kind) => KINDS[kind] === type) ?? 'system';
}

/** True for calls. Other records are events, and other requests with a key. */
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
