/**
 * How much the model shall think, in the words it understands. What comes out, by `quirks.reasoning.input`:
 * `none`: undefined. `effort`, `level`: `{mode: 'on', effort}`, the effort one of the model's levels. `budget`: `{mode: 'on',
 * budget}`, within its bounds and below the limit of the answer. `adaptive`: `{mode: 'auto'}`, with an effort where one was meant.
 * In all but the first case also `{mode: 'off'}`, only where the model can be told so, and `{mode: 'auto'}`: the model's default.
 * `summary` stays beside all but `off`.
 */
import type { Effort, Reasoning } from '../contracts/conversation.ts';
import type { Quirks } from '../contracts/quirks.ts';
import type { Losses } from '../contracts/style.ts';

const FIELD = 'reasoning_effort';

/** How many tokens an effort is worth. `max` is all that the model allows. */
const BUDGETS: Readonly<Record<Effort, number>> = {
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: Number.POSITIVE_INFINITY,
};
const EFFORTS = Object.keys(BUDGETS) as Effort[];

/** What thinking depends on. */
export interface ThinkingBounds {
  /** The limit of the answer, which thinking must leave room in. */
  readonly maxTokens: number | undefined;
  /** What the model thought before its last calls cannot be shown to it again: by a budget it would not think on. */
  readonly lost: boolean;
}

/** Fits it. */
export function fitReasoning(
  asked: Reasoning | undefined,
  bounds: ThinkingBounds,
  quirks: Quirks['reasoning'],
  losses: Losses,
): Reasoning | undefined {
  if (asked === undefined) return undefined;
  if (quirks.input === 'none') {
    const meant = asked.mode === 'on' || (asked.mode === 'auto' && (asked.effort ?? asked.budget) !== undefined);
    losses.drop(FIELD, meant ? undefined : 'hint');
    return undefined;
  }
  if (asked.mode === 'off') return withoutThinking(quirks, losses);
  const fitted =
    quirks.input === 'budget' ? fitBudget(asked, bounds, quirks, losses) : fitEffort(asked, quirks, losses);
  return fitted && { ...fitted, ...(asked.summary !== undefined && { summary: asked.summary }) };
}

/** Whether a model that is asked this thinks. One that thinks by a budget does not where none is named. */
export function isThinking(fitted: Reasoning | undefined, { input }: Quirks['reasoning']): boolean {
  if (fitted === undefined || fitted.mode === 'off') return false;
  return input !== 'budget' || fitted.budget !== undefined;
}

/** Where a model cannot be kept from thinking, it thinks as little as it can, and keeps its thoughts to itself. */
function withoutThinking(quirks: Quirks['reasoning'], losses: Losses): Reasoning | undefined {
  const { input, levels, budget_min } = quirks;
  if (levels.includes('none') || (input === 'budget' && budget_min <= 0)) return { mode: 'off' };
  const [least] = effortsOf(levels);
  if (input === 'budget' || least === undefined) {
    losses.drop(FIELD);
    return undefined;
  }
  losses.change(FIELD);
  return { mode: input === 'adaptive' ? 'auto' : 'on', effort: least, summary: 'none' };
}

function fitEffort(asked: Reasoning, quirks: Quirks['reasoning'], losses: Losses): Reasoning {
  const { input, levels } = quirks;
  const usual = asked.mode === 'on' && input !== 'adaptive' ? 'medium' : undefined;
  const wanted = asked.effort ?? (asked.budget === undefined ? usual : effortFor(asked.budget));
  if (wanted === undefined) return { mode: 'auto' };
  const effort = nearest(wanted, effortsOf(levels));
  if (asked.effort === undefined) {
    if (asked.budget !== undefined) losses.change(FIELD, 'hint');
  } else if (effort !== wanted) {
    losses.change(FIELD);
  }
  return { mode: input === 'adaptive' ? 'auto' : 'on', effort };
}

function fitBudget(
  asked: Reasoning,
  { maxTokens, lost }: ThinkingBounds,
  quirks: Quirks['reasoning'],
  losses: Losses,
): Reasoning | undefined {
  const { budget_min, budget_max } = quirks;
  if (asked.mode === 'auto' && (asked.budget ?? asked.effort) === undefined) return { mode: 'auto' };
  if (lost) {
    losses.drop(FIELD);
    return undefined;
  }
  const room = maxTokens ?? Number.POSITIVE_INFINITY;
  // A client that names a number knows what it leaves for the answer. A word is ours to count, so a fifth is left at least.
  const most = asked.budget === undefined ? Math.floor(room * 0.8) : room - 1;
  const wanted = asked.budget ?? BUDGETS[asked.effort ?? 'medium'];
  const budget = Math.max(budget_min, Math.min(wanted, budget_max, most));
  if (budget >= room) {
    losses.drop(FIELD);
    return undefined;
  }
  if (asked.budget === undefined) losses.change(FIELD, 'hint');
  else if (budget !== asked.budget) losses.change(FIELD);
  return { mode: 'on', budget };
}

function effortFor(budget: number): Effort {
  return EFFORTS.find((effort) => budget <= BUDGETS[effort]) ?? 'max';
}

/** The model's levels that are efforts, least first. */
function effortsOf(levels: readonly string[]): readonly Effort[] {
  return EFFORTS.filter((effort) => levels.includes(effort));
}

/** Of two that are as near the higher: an answer thought over a little longer disappoints nobody. */
function nearest(wanted: Effort, known: readonly Effort[]): Effort {
  const rank = (effort: Effort): number => EFFORTS.indexOf(effort);
  const far = (effort: Effort): number => Math.abs(rank(effort) - rank(wanted));
  return (
    known.reduce<Effort | undefined>((best, effort) => (best && far(best) < far(effort) ? best : effort), undefined) ??
    wanted
  );
}
