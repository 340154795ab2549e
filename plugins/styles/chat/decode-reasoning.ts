/** Decodes the reasoning options of a chat request: the official field, and those that servers have added. */

import type { Losses } from '../../../core/plugin.ts';
import type { Effort, Fields, Reasoning } from '../../../core/translation/index.ts';
import { dropRest } from './leftovers.ts';

const EFFORTS: readonly string[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] satisfies readonly Effort[];

/** Undefined if the request has none. */
export function readReasoning(fields: Fields, losses: Losses): Reasoning | undefined {
  const effort = fields.text('reasoning_effort');
  const router = fields.fields('reasoning');
  const thinking = fields.fields('thinking');
  const enabled = fields.flag('enable_thinking');
  const budget = fields.number('thinking_budget');
  const settings = [
    effort === undefined ? undefined : ofEffort(effort, fields, 'reasoning_effort'),
    router && ofRouter(router, losses),
    thinking && ofThinking(thinking, losses),
    enabled === undefined ? undefined : ({ mode: enabled ? 'on' : 'off' } as const),
    budget === undefined ? undefined : ({ mode: 'on', budget } as const),
  ].filter((each) => each !== undefined);
  if (settings.length === 0) return undefined;
  const merged = Object.assign({}, ...settings) as Reasoning;
  // Chat clients show reasoning whenever it arrives.
  const summary = merged.summary ?? 'auto';
  return settings.some(({ mode }) => mode === 'off') ? { mode: 'off' } : { ...merged, summary };
}

function ofEffort(effort: string, fields: Fields, name: string): Reasoning {
  if (effort === 'none') return { mode: 'off' };
  if (effort === 'default' || effort === 'auto') return { mode: 'auto' };
  if (EFFORTS.includes(effort)) return { mode: 'on', effort: effort as Effort };
  return fields.wrong(name, `must be none, ${EFFORTS.slice(0, -1).join(', ')} or max`);
}

/** `reasoning: {effort, max_tokens, enabled, exclude}`, as model routers define it. */
function ofRouter(router: Fields, losses: Losses): Reasoning {
  const effort = router.text('effort');
  const budget = router.number('max_tokens');
  const enabled = router.flag('enabled');
  const exclude = router.flag('exclude');
  const summary = router.text('summary');
  dropRest(router, 'reasoning', losses);
  const base: Reasoning = effort === undefined ? { mode: 'on' } : ofEffort(effort, router, 'effort');
  return {
    ...base,
    ...(enabled === false && { mode: 'off' as const }),
    ...(budget !== undefined && { budget }),
    ...(isSummary(summary) && { summary }),
    ...(exclude === true && { summary: 'none' as const }),
  };
}

function isSummary(word: string | undefined): word is 'auto' | 'concise' | 'detailed' {
  return word === 'auto' || word === 'concise' || word === 'detailed';
}

/** `thinking: {type}`. */
function ofThinking(thinking: Fields, losses: Losses): Reasoning {
  const type = thinking.text('type');
  const budget = thinking.number('budget_tokens');
  dropRest(thinking, 'thinking', losses);
  if (type === 'disabled') return { mode: 'off' };
  const mode = type === 'auto' || type === 'adaptive' ? 'auto' : 'on';
  return { mode, ...(budget !== undefined && { budget }) };
}
