/** Lines of gateway.yaml that set a price. */

import { yamlName } from '../../parts/yaml-name.ts';

/** Billing units of models. */
export const SOLD = ['tokens', 'images', 'speech', 'sound', 'free'] as const;
/** A value of `SOLD`. */
export type Sold = (typeof SOLD)[number];

const PRICES: Readonly<Record<Exclude<Sold, 'free'>, string>> = {
  tokens: '{ input: 1, output: 4 }',
  images: '{ perImage: 0.04 }',
  speech: '{ characters: 15 }',
  sound: '{ perSecond: 0.0001 }',
};

/** The lines. `comment`: the unit of the numbers, as a YAML comment. `channel`: the channel that serves the model. */
export function priceLinesOf(
  model: string,
  sold: Sold,
  comment: Readonly<Record<Sold, string>>,
  channel: string,
): string {
  const name = yamlName(model);
  if (sold === 'free') return `models:\n  ${name}: { from: [${yamlName(channel)}], free: true }   # ${comment.free}`;
  return `prices:\n  ${name}: ${PRICES[sold]}   # ${comment[sold]}`;
}
