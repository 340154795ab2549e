/** Whether a model accepts a request that was made for another one: an alias, or a fallback, has another model answer. */
import type { Json, JsonBody } from '../../../../core/plugin.ts';
import { isNeutral, isObject, type Quirks } from '../../../../core/translation/index.ts';

const SAMPLING = ['temperature', 'top_p', 'top_k'] as const;

/** False if the model would refuse the form of reasoning, an option, a forced call, the output limit or the place of a system message. */
export function fits(body: JsonBody, quirks: Quirks): boolean {
  const { limits, roles, sampling } = quirks;
  if (Number(body.get('max_tokens') ?? 0) > (limits.max_output ?? Number.POSITIVE_INFINITY)) return false;
  if (SAMPLING.some((name) => isSaid(name, body.get(name)) && !sampling.allowed.includes(name))) return false;
  if (sampling.temp_xor_top_p && isSaid('temperature', body.get('temperature')) && isSaid('top_p', body.get('top_p')))
    return false;
  // Models of which nothing is known but that they do not reason may do so, and take such messages: their vendor decides.
  if (quirks.reasoning.input !== 'adaptive' && quirks.reasoning.input !== 'budget') return true;
  if (roles.mid_system !== 'native' && hasSystemMessage(body)) return false;
  return fitsReasoning(body, quirks);
}

function isSaid(name: string, value: Json | undefined): boolean {
  return (value ?? null) !== null && !isNeutral(name, value);
}

function fitsReasoning(body: JsonBody, { reasoning, sampling, tools }: Quirks): boolean {
  const { input, levels } = reasoning;
  const type = textOf(body.get('thinking'), 'type');
  const effort = textOf(body.get('output_config'), 'effort');
  if (type === 'disabled' && !levels.includes('none')) return false;
  if (type === 'adaptive' && input === 'budget') return false;
  // The last models with sampling options take both forms.
  if (type === 'enabled' && input === 'adaptive' && sampling.allowed.length === 0) return false;
  if (effort !== undefined && (input === 'budget' || !levels.includes(effort))) return false;
  const choice = textOf(body.get('tool_choice'), 'type');
  const isForced = choice === 'any' || choice === 'tool';
  const reasons = !levels.includes('none') || (type !== undefined && type !== 'disabled');
  return !isForced || !reasons || tools.force_with_thinking;
}

function textOf(value: Json | undefined, name: string): string | undefined {
  const member = isObject(value) ? value[name] : undefined;
  return typeof member === 'string' ? member : undefined;
}

/** Searched first, so that few long conversations are parsed for it. */
function hasSystemMessage(body: JsonBody): boolean {
  if (!['"role":"system"', '"role": "system"'].some((role) => body.holds(role))) return false;
  const messages = body.get('messages');
  return Array.isArray(messages) && messages.some((message) => isObject(message) && message.role === 'system');
}
