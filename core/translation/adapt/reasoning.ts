/**
 * The amount of reasoning, in terms the model supports. The result, by `quirks.reasoning.input`: `none`: undefined.
 * `effort`, `level`: `{mode: 'on', effort}`, the effort one of the model's levels. `budget`: `{mode: 'on', budget}`,
 * within its bounds and below the output limit. `adaptive`: `{mode: 'auto'}`, with an effort if one was requested. In
 * all except the first case also `{mode: 'off'}`, only if the model can disable it, and `{mode: 'auto'}`: the model's
 * default. `summary` stays in all except `off`.
 */

import type { Effort, Reasoning } from '../../contracts/formats/conversation.ts';
import type { Json } from '../../contracts/formats/json.ts';
import type { Quirks } from '../../contracts/formats/quirks.ts';
import type { Warnings } from '../../contracts/formats/warnings.ts';
import { dropSummaryLength } from '../warnings/dropped-extras.ts';

const FIELD = 'reasoning_effort';

/** The budget in tokens for an effort. `max` is the model's maximum. */
const BUDGETS: Readonly<Record<Effort, number>> = {
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: Number.POSITIVE_INFINITY,
};
const EFFORTS = Object.keys(BUDGETS) as Effort[];

/** The inputs for the amount of reasoning. */
export interface ThinkingBounds {
  /** The output limit, which includes reasoning. */
  readonly maxTokens: number | undefined;
  /** Reasoning before the last tool calls cannot be sent back: with a budget the model would refuse to continue. */
  readonly reasoningLost: boolean;
}

/** Adapts it. */
export function fitReasoning(
  requested: Reasoning | undefined,
  bounds: ThinkingBounds,
  quirks: Quirks['reasoning'],
  warnings: Warnings,
): Reasoning | undefined {
  if (requested === undefined) return undefined;
  if (quirks.input === 'none') {
    const meant =
      requested.mode === 'on' || (requested.mode === 'auto' && (requested.effort ?? requested.budget) !== undefined);
    // A model that is not known to take an effort does its own usual, which mostly is none.
    if (requested.mode === 'off') warnings.change(FIELD, 'hint');
    else warnings.drop(FIELD, meant ? undefined : 'hint');
    dropSummaryLength(requested, warnings);
    return undefined;
  }
  if (requested.mode === 'off') return withoutThinking(quirks, warnings);
  const fitted =
    quirks.input === 'budget' ? fitBudget(requested, bounds, quirks, warnings) : fitEffort(requested, quirks, warnings);
  return fitted && { ...fitted, ...(requested.summary !== undefined && { summary: requested.summary }) };
}

/** The effort of a request for another model of its style, as this one has it: the nearest one. The same if nothing is known of its efforts. */
export function effortAt(effort: Json | undefined, { input, levels }: Quirks['reasoning']): Json | undefined {
  if (typeof effort !== 'string' || input !== 'effort' || levels.includes(effort)) return effort;
  const target = effort === 'none' ? 'minimal' : EFFORTS.find((each) => each === effort);
  return target === undefined || effortsOf(levels).length === 0 ? effort : nearest(target, effortsOf(levels));
}

/** Whether a model does reasoning with this request. One with budgets does not if none is set, one that cannot turn it off always does. */
export function isThinking(fitted: Reasoning | undefined, { input, levels }: Quirks['reasoning']): boolean {
  if (input === 'adaptive' && !levels.includes('none')) return true;
  if (fitted === undefined || fitted.mode === 'off') return false;
  return input !== 'budget' || fitted.budget !== undefined;
}

/** If a model cannot disable reasoning, it gets the least effort, and its reasoning is hidden. */
function withoutThinking(quirks: Quirks['reasoning'], warnings: Warnings): Reasoning | undefined {
  const { input, levels, budget_min } = quirks;
  if (levels.includes('none') || (input === 'budget' && budget_min <= 0)) return { mode: 'off' };
  const [least] = effortsOf(levels);
  if (input === 'budget' || least === undefined) {
    warnings.drop(FIELD);
    return undefined;
  }
  warnings.change(FIELD);
  return { mode: input === 'adaptive' ? 'auto' : 'on', effort: least, summary: 'none' };
}

function fitEffort(requested: Reasoning, quirks: Quirks['reasoning'], warnings: Warnings): Reasoning {
  const { input, levels } = quirks;
  const usual = requested.mode === 'on' && input !== 'adaptive' ? 'medium' : undefined;
  const target = requested.effort ?? (requested.budget === undefined ? usual : effortFor(requested.budget));
  if (target === undefined) return { mode: 'auto' };
  const effort = nearest(target, effortsOf(levels));
  if (requested.effort === undefined) {
    if (requested.budget !== undefined) warnings.change(FIELD, 'hint');
  } else if (effort !== target) {
    warnings.change(FIELD);
  }
  return { mode: input === 'adaptive' ? 'auto' : 'on', effort };
}

function fitBudget(
  requested: Reasoning,
  { maxTokens, reasoningLost }: ThinkingBounds,
  quirks: Quirks['reasoning'],
  warnings: Warnings,
): Reasoning | undefined {
  const { budget_min, budget_max } = quirks;
  if (requested.mode === 'auto' && (requested.budget ?? requested.effort) === undefined) return { mode: 'auto' };
  if (reasoningLost) {
    warnings.drop(FIELD);
    return undefined;
  }
  const room = maxTokens ?? Number.POSITIVE_INFINITY;
  // A client that gives a number knows what remains for the answer. For an effort, at least a fifth is reserved for it.
  const most = requested.budget === undefined ? Math.floor(room * 0.8) : room - 1;
  const target = requested.budget ?? BUDGETS[requested.effort ?? 'medium'];
  const budget = Math.max(budget_min, Math.min(target, budget_max, most));
  if (budget >= room) {
    warnings.drop(FIELD);
    return undefined;
  }
  if (requested.budget === undefined) warnings.change(FIELD, 'hint');
  else if (budget !== requested.budget) warnings.change(FIELD);
  return { mode: 'on', budget };
}

function effortFor(budget: number): Effort {
  return EFFORTS.find((effort) => budget <= BUDGETS[effort]) ?? 'max';
}

/** The model's levels that are efforts, least first. */
function effortsOf(levels: readonly string[]): readonly Effort[] {
  return EFFORTS.filter((effort) => levels.includes(effort));
}

/** If two are equally near, the higher one. */
function nearest(target: Effort, known: readonly Effort[]): Effort {
  const rank = (effort: Effort): number => EFFORTS.indexOf(effort);
  const far = (effort: Effort): number => Math.abs(rank(effort) - rank(target));
  return (
    known.reduce<Effort | undefined>((best, effort) => (best && far(best) < far(effort) ? best : effort), undefined) ??
    target
  );
}
