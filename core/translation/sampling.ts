/** How the answer's tokens are drawn, as far as the model lets a client say. */
import type { Sampling } from '../contracts/conversation.ts';
import type { Quirks } from '../contracts/quirks.ts';
import type { Losses } from '../contracts/style.ts';

/** The fields by the names that quirks and losses have for them; `neutral` is what a model does anyway. */
const FIELDS: readonly { readonly member: keyof Sampling; readonly name: string; readonly neutral?: number }[] = [
  { member: 'temperature', name: 'temperature', neutral: 1 },
  { member: 'topP', name: 'top_p', neutral: 1 },
  { member: 'topK', name: 'top_k' },
  { member: 'seed', name: 'seed' },
  { member: 'presencePenalty', name: 'presence_penalty', neutral: 0 },
  { member: 'frequencyPenalty', name: 'frequency_penalty', neutral: 0 },
  { member: 'logitBias', name: 'logit_bias' },
  { member: 'logprobs', name: 'logprobs' },
];

/** Leaves out what is not taken, and keeps the temperature in its range. */
export function fitSampling(asked: Sampling, quirks: Quirks['sampling'], losses: Losses): Sampling {
  let fitted = asked;
  for (let i = 0; i < FIELDS.length; i++) {
    const { member, name, neutral } = FIELDS[i]!;
    const value = asked[member];
    if (value === undefined || quirks.allowed.includes(name)) continue;
    losses.drop(name, value === neutral || isEmpty(value) ? 'hint' : undefined);
    fitted = without(fitted, member);
  }
  const { temperature } = fitted;
  if (temperature !== undefined && temperature > quirks.temp_max) {
    losses.change('temperature');
    fitted = { ...fitted, temperature: quirks.temp_max };
  }
  if (quirks.temp_xor_top_p && temperature !== undefined && fitted.topP !== undefined) {
    losses.drop('top_p', fitted.topP === 1 ? 'hint' : undefined);
    fitted = without(fitted, 'topP');
  }
  return fitted;
}

function without(sampling: Sampling, member: keyof Sampling): Sampling {
  const { [member]: _, ...rest } = sampling;
  return rest;
}

/** Whether a field of this name says only what a model does anyway. */
export function isNeutral(name: string, value: unknown): boolean {
  return value === false || isEmpty(value) || FIELDS.some((field) => field.name === name && field.neutral === value);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
