/**
 * The costs of LiteLLM's deployments, in dollars per token, second, character or image, as prices here. A missing rate is that of input or
 * output, there and here; costs above a number of input tokens apply to the whole call, there and here. Facts: BerriAI/litellm 1.110.2,
 * litellm/litellm_core_utils/llm_cost_calc/utils.py (`generic_cost_per_token`, `_get_token_base_cost`).
 */
import type { Rate } from '../../../core/contracts/rates.ts';
import { type Decimal, decimalText } from '../../../core/sdk.ts';
import type { ForeignPrice } from '../inventory.ts';
import { amountOf, type Row } from '../values.ts';

/** Our rates by the names of its costs per token. */
const RATE_OF: Readonly<Record<string, Rate>> = {
  input_cost_per_token: 'input',
  cache_read_input_token_cost: 'cacheRead',
  cache_creation_input_token_cost: 'cacheWrite',
  cache_creation_input_token_cost_above_1hr: 'cacheWriteLong',
  input_cost_per_audio_token: 'inputAudio',
  output_cost_per_token: 'output',
  output_cost_per_reasoning_token: 'reasoning',
  output_cost_per_audio_token: 'outputAudio',
  output_cost_per_image_token: 'outputImage',
};
/** Our amounts by the names of its other costs, and the number of units that ours is for. */
const UNIT_OF: Readonly<Record<string, readonly [string, bigint]>> = {
  input_cost_per_second: ['perSecond', 1n],
  output_cost_per_image: ['perImage', 1n],
  input_cost_per_character: ['characters', 1_000_000n],
};
const MILLION = 1_000_000n;
/** `input_cost_per_token_above_200k_tokens`, `…_above_272000_tokens`. */
const ABOVE = /^(.+)_above_(\d+)(k?)_tokens$/;
/** Any cost of its cost map. */
const COST = /(?:^|_)costs?_per_|_token_cost(?:_|$)|^tiered_pricing$|^search_context_cost/;

/** What the costs of a deployment become. */
export interface FoundPrice {
  /** Undefined: it states no costs. */
  readonly price: ForeignPrice | undefined;
  /** All of them are zero. */
  readonly isFree: boolean;
  /** Names of costs that a price here cannot have. */
  readonly others: readonly string[];
}

/** Whether a field is one of its costs. */
export const isCost = (field: string): boolean => COST.test(field);

/** Reads the costs among these fields. */
export function priceOf(fields: Row): FoundPrice {
  const price: Record<string, string> = {};
  const tiers = new Map<number, Record<string, string>>();
  const others: string[] = [];
  for (const [field, value] of Object.entries(fields)) {
    if (!isCost(field) || value === null || value === undefined) continue;
    const cost = amountOf(value);
    const above = ABOVE.exec(field);
    const rate = RATE_OF[above?.[1] ?? field];
    const unit = UNIT_OF[field];
    if (cost === undefined) others.push(field);
    else if (above !== null && rate !== undefined) {
      const tokens = Number(above[2]) * (above[3] === 'k' ? 1000 : 1);
      tiers.set(tokens, { ...tiers.get(tokens), [rate]: times(cost, MILLION) });
    } else if (rate !== undefined) price[rate] = times(cost, MILLION);
    else if (unit !== undefined) price[unit[0]] = times(cost, unit[1]);
    // A cost of zero adds nothing.
    else if (cost.digits !== 0n) others.push(field);
  }
  if (Object.keys(price).length === 0 && tiers.size === 0) return { price: undefined, isFree: false, others };
  const isFree = [price, ...tiers.values()].every((each) => Object.values(each).every((amount) => amount === '0'));
  const isPerToken = Object.keys(price).some((name) => Object.values<string>(RATE_OF).includes(name));
  if (isPerToken || tiers.size > 0) {
    // What it does not name costs nothing there; here it would cost as much as its parent.
    price.input ??= '0';
    price.output ??= '0';
  }
  const steps = [...tiers].sort(([a], [b]) => a - b).map(([above, rates]) => ({ above: String(above), ...rates }));
  return { price: { ...price, ...(steps.length > 0 && { tiers: steps }) }, isFree, others };
}

function times({ digits, scale }: Decimal, factor: bigint): string {
  return decimalText({ digits: digits * factor, scale });
}
