/** Sampling parameters, as far as the model supports them. */

import type { Sampling } from '../../contracts/formats/conversation.ts';
import type { Quirks } from '../../contracts/formats/quirks.ts';
import type { Warnings } from '../../contracts/formats/warnings.ts';

/** Field names in quirks and warnings; `neutral` is the default of models. */
export const SAMPLING_FIELDS: Readonly<Record<keyof Sampling, { readonly name: string; readonly neutral?: number }>> = {
  temperature: { name: 'temperature', neutral: 1 },
  topP: { name: 'top_p', neutral: 1 },
  topK: { name: 'top_k' },
  seed: { name: 'seed' },
  presencePenalty: { name: 'presence_penalty', neutral: 0 },
  frequencyPenalty: { name: 'frequency_penalty', neutral: 0 },
  logitBias: { name: 'logit_bias' },
  logprobs: { name: 'logprobs' },
};
const MEMBERS = Object.keys(SAMPLING_FIELDS) as (keyof Sampling)[];
const FIELDS = Object.values(SAMPLING_FIELDS);

/** Drops unsupported fields, and clamps the temperature. */
export function fitSampling(requested: Sampling, quirks: Quirks['sampling'], warnings: Warnings): Sampling {
  let fitted = requested;
  for (let i = 0; i < MEMBERS.length; i++) {
    const member = MEMBERS[i]!;
    const { name, neutral } = FIELDS[i]!;
    const value = requested[member];
    if (value === undefined || quirks.allowed.includes(name)) continue;
    warnings.drop(name, value === neutral || isEmpty(value) ? 'hint' : undefined);
    fitted = without(fitted, member);
  }
  const { temperature } = fitted;
  if (temperature !== undefined && temperature > quirks.temp_max) {
    warnings.change('temperature');
    fitted = { ...fitted, temperature: quirks.temp_max };
  }
  if (quirks.temp_xor_top_p && temperature !== undefined && fitted.topP !== undefined) {
    warnings.drop('top_p', fitted.topP === 1 ? 'hint' : undefined);
    fitted = without(fitted, 'topP');
  }
  return fitted;
}

function without(sampling: Sampling, member: keyof Sampling): Sampling {
  const { [member]: _, ...rest } = sampling;
  return rest;
}

/** Whether the value is a model's default. */
export function isNeutral(name: string, value: unknown): boolean {
  return value === false || isEmpty(value) || FIELDS.some((field) => field.name === name && field.neutral === value);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
