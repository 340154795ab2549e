/**
 * The costs of LiteLLM's deployments, in dollars per token, second, character or image, as prices here. A missing rate is that of input or
 * output, there and here; costs above a number of input tokens apply to the whole call, there and here. Facts: BerriAI/litellm 1.110.2,
 * litellm/litellm_core_utils/llm_cost_calc/utils.py (`generic_cost_per_token`, `_get_token_base_cost`, `_get_tiered_base_costs`),
 * litellm/cost_calculator.py (`_cost_map_entry_prices_anything`, `default_image_cost_calculator`), and the calculators of xai and fireworks_ai.
 */
import type { Rate } from '../../../core/contracts/formats/rates.ts';
import { type Decimal, decimalText, inUnitsOf } from '../../../core/sdk.ts';
import type { ForeignPrice } from '../inventory.ts';
import { amountOf, asObject, product, type Row, textOf } from '../values.ts';

/** Our rates by the names of its costs per token. */
const RATE_OF: Readonly<Record<string, Rate>> = {
  input_cost_per_token: 'input',
  cache_read_input_token_cost: 'cacheRead',
  cache_creation_input_token_cost: 'cacheWrite',
  cache_creation_input_token_cost_above_1hr: 'cacheWriteLong',
  input_cost_per_audio_token: 'inputAudio',
  input_cost_per_image_token: 'inputImage',
  output_cost_per_token: 'output',
  output_cost_per_reasoning_token: 'reasoning',
  output_cost_per_audio_token: 'outputAudio',
  output_cost_per_image_token: 'outputImage',
};
/** The rates that costs above a number of tokens can change; it reads no such cost of another rate. */
const TIERED: ReadonlySet<Rate> = new Set([
  'input',
  'cacheRead',
  'cacheWrite',
  'cacheWriteLong',
  'inputAudio',
  'output',
]);
/** The rates that its service tiers can change. */
const OF_SERVICES: ReadonlySet<Rate> = new Set([
  ...['input', 'cacheRead', 'cacheWrite', 'cacheWriteLong', 'inputAudio', 'inputImage'],
  ...['output', 'reasoning', 'outputImage'],
] as Rate[]);
/** The rates that it reads of an entry of `tiered_pricing`. */
const IN_TABLE: readonly Rate[] = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'];
const MILLION: Decimal = { digits: 1_000_000n, scale: 0 };
const ZERO: Decimal = { digits: 0n, scale: 0 };
/** `input_cost_per_token_above_200k_tokens`, `…_above_272000_tokens`. */
const ABOVE = /^(.+)_above_(\d+)(k?)_tokens$/;
/** `input_cost_per_token_priority`. */
const SERVICE = /^(.+)_(priority|flex|balanced|ultrafast)$/;
/** Any cost of its cost map. */
const COST =
  /(?:^|_)costs?_per_|_token_cost(?:_|$)|^tiered_pricing$|^off_peak_pricing$|^search_context_cost|_uplift_multiplier|^provider_specific_entry$/;
/** Costs that no call of a model here has: of batches, of other units that it does not multiply, and of regions that the address chooses. */
const NOT_OF_CALLS = /_batches$|_decisions$|_cache_hit$|^(?:in|out)put_dbu_|_uplift_multiplier|^explicit_/;
/** Costs, besides those per token, of which one is enough for LiteLLM to charge by a deployment's own. */
const OTHER_BASES: ReadonlySet<string> = new Set([
  ...['cost_per_second', 'input_cost_per_second', 'output_cost_per_second'],
  ...['input_cost_per_query', 'input_cost_per_text_message', 'tiered_pricing'],
]);
/** Costs by which images are charged, whatever the cost map has. */
const OF_IMAGES: ReadonlySet<string> = new Set(['output_cost_per_image', 'input_cost_per_image']);
/** Providers whose calculators there know no service tiers: calls of any cost the usual price. */
const WITHOUT_SERVICES: ReadonlySet<string> = new Set([
  ...['fireworks_ai', 'dashscope', 'qwencloud', 'qwen_ai_platform', 'deepseek', 'perplexity', 'tencent', 'xai'],
]);
/** The rates that providers have whose calculators there know no others, and no costs above a number of tokens. */
const RATES_OF: Readonly<Record<string, readonly Rate[]>> = {
  perplexity: ['input', 'cacheRead', 'output', 'reasoning'],
};
/** The rates that cost nothing before LiteLLM 1.103 if they are not named; later, they are those of input. */
const EARLY_NOTHING: Rates = { cacheRead: ZERO, cacheWrite: ZERO, cacheWriteLong: ZERO, inputAudio: ZERO };
/** Providers whose calculators did not do so. */
const EARLY_EXCEPT: ReadonlySet<string> = new Set([
  ...['fireworks_ai', 'perplexity', 'dashscope', 'qwencloud', 'qwen_ai_platform'],
]);
/** Without a cost for it, Fireworks reads from its cache at half the price. */
const FIREWORKS_CACHE: Decimal = { digits: 5n, scale: 1 };
/** Providers that report the tokens of images. */
const REPORT_IMAGES: ReadonlySet<string> = new Set(['gemini', 'openai', 'azure']);
/** Words of Anthropic's answers with a factor of their own. */
const FACTORS = ['fast', 'us'];
const NO_SUCH_COST = 'prices here cannot have this cost: calls are not charged for it';

/** A cost that a price here cannot have. */
export interface OtherCost {
  readonly field: string;
  /** What that means, in one sentence. */
  readonly why: string;
}

/** What the costs of a deployment become. */
export interface FoundPrice {
  /** Undefined: it states no costs. */
  readonly price: ForeignPrice | undefined;
  /** All of them are zero. */
  readonly isFree: boolean;
  readonly others: readonly OtherCost[];
}

/** What costs are of. */
export interface CostsOf {
  /** The provider's word. */
  readonly provider?: string | undefined;
  /** The upstream model. */
  readonly model?: string | undefined;
  /** It is LiteLLM before 1.103. */
  readonly isEarly?: boolean | undefined;
}

type Rates = Readonly<Partial<Record<Rate, Decimal>>>;
/** Rates by the number of input tokens above which they apply; 0: the usual ones. */
type Levels = Map<number, Rates>;

/** Whether a field is one of its costs. */
export const isCost = (field: string): boolean => COST.test(field);

/** The costs among these fields that are set. */
export function costsIn(fields: Row): Row {
  return Object.fromEntries(
    Object.entries(fields).filter(([field, value]) => isCost(field) && value !== null && value !== undefined),
  );
}

/** Whether LiteLLM charges tokens by these costs of a deployment. Otherwise, its cost map decides, and it ignores them. */
export function decideTokens(costs: Row): boolean {
  return Object.keys(costs).some((field) => OTHER_BASES.has(field) || (/cost_per/.test(field) && /token/.test(field)));
}

/** Whether LiteLLM charges images by these costs of a deployment. */
export function decideImages(costs: Row): boolean {
  return Object.keys(costs).some((field) => OF_IMAGES.has(field));
}

/** Cache costs that a deployment with a cost of input has from the model behind it. */
const INHERITED = new Set([
  ...['cache_creation_input_token_cost', 'cache_creation_input_token_cost_above_1hr', 'cache_read_input_token_cost'],
  ...['cache_creation_input_token_cost_above_200k_tokens', 'cache_read_input_token_cost_above_200k_tokens'],
]);

/** The costs of a deployment with what it inherits from the costs of the model behind it, as its router does. */
export function withInherited(costs: Row, model: Row): Row {
  const has = (field: string): boolean => costs[field] !== undefined;
  const inherits = (field: string): boolean =>
    (has('input_cost_per_token') && INHERITED.has(field)) ||
    ((has('input_cost_per_token') || has('output_cost_per_token')) && SERVICE.test(field)) ||
    (has('tiered_pricing') && field === 'output_cost_per_token');
  return { ...Object.fromEntries(Object.entries(model).filter(([field]) => inherits(field))), ...costs };
}

/** Reads the costs among these fields. */
export function priceOf(fields: Row, of: CostsOf = {}): FoundPrice {
  const costs = costsIn(fields);
  const others: OtherCost[] = [];
  const levels: Levels = new Map();
  const services = new Map<string, Levels>();
  const units = new Map<string, Decimal>();
  for (const [field, value] of Object.entries(costs)) {
    if (NOT_OF_CALLS.test(field) || typeof value === 'object' || field === 'provider_specific_entry') continue;
    const cost = costOf(value);
    const word = SERVICE.exec(field);
    const above = ABOVE.exec(word?.[1] ?? field);
    const rate = RATE_OF[above?.[1] ?? word?.[1] ?? field];
    if (cost === undefined) others.push({ field, why: NO_SUCH_COST });
    else if (rate === undefined) units.set(field, cost);
    else if (word !== null && WITHOUT_SERVICES.has(of.provider ?? '')) services.set(word[2]!, new Map());
    else if (isRead(rate, of, above !== null, word !== null)) {
      const tokens = above === null ? 0 : Number(above[2]) * (above[3] === 'k' ? 1000 : 1);
      const into = word === null ? levels : (services.get(word[2]!) ?? new Map());
      if (word !== null) services.set(word[2]!, into);
      // xAI charges the higher costs from that number of tokens on.
      const from = of.provider === 'xai' && tokens > 0 ? tokens - 1 : tokens;
      into.set(from, { ...into.get(from), [rate]: product(cost, MILLION) });
    }
  }
  if (costs.tiered_pricing !== undefined) {
    const table = tableOf(costs.tiered_pricing, levels.get(0) ?? {});
    if (table === undefined) others.push({ field: 'tiered_pricing', why: NO_SUCH_COST });
    else {
      const { input, cacheRead, cacheWrite, cacheWriteLong, output, reasoning, ...media } = levels.get(0) ?? {};
      levels.clear();
      for (const [above, rates] of table) {
        const long = of.isEarly === true && rates.cacheWrite !== undefined ? { cacheWriteLong: rates.cacheWrite } : {};
        levels.set(above, { ...(above === 0 && media), ...rates, ...long });
      }
      // With such a table, its service tiers change nothing.
      services.clear();
    }
  }
  if (costs.off_peak_pricing !== undefined)
    others.push({ field: 'off_peak_pricing', why: 'prices here do not depend on the hour: they are the usual ones' });
  const price: Record<string, ForeignPrice[string]> = unitsOf(units, fields, levels, of, others);
  const isPerToken = levels.size > 0;
  if (!isPerToken && Object.keys(price).length === 0) return { price: undefined, isFree: false, others };
  if (!isPerToken) return { price, isFree: Object.values(price).every((amount) => amount === '0'), others };

  const base = completed(levels.get(0) ?? {}, of);
  levels.set(0, base);
  for (const [rate, cost] of Object.entries(base)) price[rate] = decimalText(cost);
  const tiers = [...levels]
    .filter(([above]) => above > 0)
    .sort(([a], [b]) => a - b)
    .map(([above, rates]) => ({ above: String(above), ...textsOf(rates) }));
  if (tiers.length > 0) price.tiers = tiers;
  const isFree = Object.values(price).every((amount) => amount === '0') && [...levels.values()].every(areZero);
  const service = servicesOf(levels, services, others);
  if (of.provider === 'anthropic')
    for (const word of FACTORS) {
      const factor = costOf(asObject(costs.provider_specific_entry)[word]);
      if (factor !== undefined) service[word] = decimalText(factor);
    }
  if (Object.keys(service).length > 0 && !isFree) price.service = service;
  const search = searchOf(costs.search_context_cost_per_query, others);
  if (search !== undefined && !isFree) price.perUse = { web_search: decimalText(search) };
  return { price, isFree, others };
}

/** Whether it reads the cost of a rate there. */
function isRead(rate: Rate, { provider, isEarly }: CostsOf, isAbove: boolean, isOfService: boolean): boolean {
  // Its calculator for xAI charges every token of an answer as text.
  if (provider === 'xai' && ['reasoning', 'outputAudio', 'outputImage'].includes(rate)) return false;
  if (isEarly === true && provider === 'perplexity' && rate === 'cacheRead') return false;
  const known = RATES_OF[provider ?? ''];
  if (known !== undefined) return known.includes(rate) && !isAbove;
  return (!isAbove || TIERED.has(rate)) && (!isOfService || OF_SERVICES.has(rate));
}

/** The usual rates, with those that it assumes. What it does not name costs nothing there; here it would cost as much as its parent. */
function completed({ input = ZERO, output = ZERO, ...others }: Rates, { provider, isEarly }: CostsOf): Rates {
  const isHalf = isEarly !== true && provider === 'fireworks_ai' && others.cacheRead === undefined && input.digits > 0n;
  return {
    input,
    ...(isEarly === true && !EARLY_EXCEPT.has(provider ?? '') && EARLY_NOTHING),
    ...others,
    ...(isHalf && { cacheRead: product(input, FIREWORKS_CACHE) }),
    // An answer of images alone has no other cost.
    output: output.digits === 0n ? (others.outputImage ?? output) : output,
  };
}

/** `tiered_pricing`: ranges of input tokens with complete rates. Undefined if they leave gaps. */
function tableOf(written: unknown, flat: Rates): Levels | undefined {
  const rows = (Array.isArray(written) ? written.map(asObject) : []).map((row) => {
    const [from = -1, to = -1] = (Array.isArray(row.range) ? row.range : []).map(Number);
    return { from, to, row };
  });
  rows.sort((a, b) => a.from - b.from);
  const isChain = rows.every(({ from, to }, i) => from === (i === 0 ? 0 : rows[i - 1]!.to) && to > from);
  if (rows.length === 0 || !isChain) return undefined;
  const levels: Levels = new Map();
  for (const { from, row } of rows) {
    const own: Partial<Record<Rate, Decimal>> = {};
    for (const [field, rate] of Object.entries(RATE_OF)) {
      if (!IN_TABLE.includes(rate) || row[field] === undefined) continue;
      const cost = costOf(row[field]);
      if (cost === undefined) return undefined;
      own[rate] = product(cost, MILLION);
    }
    const { input } = own;
    if (input === undefined) return undefined;
    const reasoning = own.reasoning ?? own.output ?? flat.reasoning;
    // Here a tier has what it does not name from the one below; there, it has it from its own input.
    const { cacheRead = input, cacheWrite = input, output = flat.output ?? ZERO } = own;
    levels.set(from, { input, cacheRead, cacheWrite, output, ...(reasoning !== undefined && { reasoning }) });
  }
  return levels;
}

/** What it charges per second, character and image. */
function unitsOf(
  units: ReadonlyMap<string, Decimal>,
  fields: Row,
  levels: Levels,
  { provider, model = '' }: CostsOf,
  others: OtherCost[],
): Record<string, string> {
  const price: Record<string, string> = {};
  const mode = textOf(fields, 'mode');
  const left = new Map(units);
  const take = (field: string): Decimal | undefined => {
    const cost = left.get(field);
    left.delete(field);
    return cost;
  };
  const isPositive = (cost: Decimal | undefined): boolean => (cost?.digits ?? 0n) > 0n;
  const { input, output, outputImage } = levels.get(0) ?? {};
  const ofAudio = take('input_cost_per_second');
  const ofAnswer = take('output_cost_per_second');
  const ofTime = take('cost_per_second');
  const seconds = isPositive(ofAnswer) ? ofAnswer : (ofAudio ?? ofAnswer ?? ofTime);
  // A call that is charged by its tokens is not charged by its duration, too.
  if (seconds !== undefined && !isPositive(input) && !isPositive(output) && levels.size < 2) {
    price.perSecond = decimalText(seconds);
    if (mode !== 'audio_transcription' && isPositive(seconds)) {
      const why =
        'LiteLLM charges a call by the time it takes; here only audio is charged by its duration, and other calls are refused until the model has another price';
      others.push({ field: 'input_cost_per_second', why });
    }
  }
  if (seconds !== undefined && price.perSecond === undefined && mode === 'audio_transcription' && isPositive(seconds)) {
    const why =
      'answers that report no tokens are charged by the second there; here they are charged by their tokens alone';
    others.push({ field: 'input_cost_per_second', why });
  }
  const characters = take('input_cost_per_character');
  if (characters !== undefined) price.characters = decimalText(product(characters, MILLION));
  if (mode === 'audio_speech' && levels.size > 0) {
    if (characters === undefined) {
      const why =
        'LiteLLM counts the tokens of a text that is spoken; here speech is charged per character, so write a price with `characters`';
      others.push({ field: 'input_cost_per_token', why });
    }
    levels.clear();
  }
  const isOfImages = mode === undefined || mode.startsWith('image_');
  const ofInput = isOfImages ? take('input_cost_per_image') : undefined;
  const perImage = ofInput ?? take('output_cost_per_image');
  left.delete('output_cost_per_image');
  // Of both, its calculators of these providers charge the tokens, which their answers report; all others charge each image.
  const isByTokens =
    (isPositive(outputImage) || (model.includes('gpt-image') && levels.size > 0)) && REPORT_IMAGES.has(provider ?? '');
  if (perImage !== undefined && !isByTokens) {
    price.perImage = decimalText(perImage);
    if (mode?.startsWith('image_') === true) levels.clear();
  }
  // A cost of zero adds nothing.
  for (const [field, cost] of left) if (cost.digits !== 0n) others.push({ field, why: NO_SUCH_COST });
  return price;
}

/** Prices by service tier: a factor if that says all of it, otherwise other rates, which cannot depend on the length of a prompt. */
function servicesOf(
  levels: Levels,
  services: ReadonlyMap<string, Levels>,
  others: OtherCost[],
): Record<string, string | ForeignPrice> {
  const found: Record<string, string | ForeignPrice> = {};
  for (const [word, own] of services) {
    const all = new Map([...levels].map(([above, rates]) => [above, { ...rates, ...own.get(above) }] as const));
    for (const [above, rates] of own) if (!all.has(above)) all.set(above, rates);
    const first = all.get(0)!;
    // Reasoning is charged as the rest of the answer if only that has a cost in the tier.
    const isAsAnswer = own.get(0)?.reasoning === undefined && own.get(0)?.output !== undefined;
    if (isAsAnswer && first.reasoning !== undefined) all.set(0, { ...first, reasoning: first.output! });
    const factor = factorOf(levels, all);
    if (factor !== undefined) found[word] = decimalText(factor);
    else if (all.size === 1) found[word] = textsOf(all.get(0)!);
    else {
      const why = `the price of the service tier ${word} depends on the length of the prompt otherwise than the usual one: calls that request it are refused`;
      others.push({ field: `input_cost_per_token_${word}`, why });
    }
  }
  return found;
}

/** Decimal places of a factor. */
const PLACES = 6;

/** The number that all rates of `from` are multiplied with to get those of `to`; undefined if there is none. */
function factorOf(from: Levels, to: Levels): Decimal | undefined {
  const { input } = from.get(0) ?? {};
  const other = to.get(0)?.input;
  if (input === undefined || other === undefined || input.digits === 0n || from.size !== to.size) return undefined;
  const ratio = (Number(decimalText(other)) / Number(decimalText(input))).toFixed(PLACES);
  const factor = costOf(ratio)!;
  const isRatio = (rates: Rates, others: Rates = {}): boolean =>
    Object.keys({ ...rates, ...others }).every((rate) => {
      const [a, b] = [rates[rate as Rate], others[rate as Rate]];
      return a !== undefined && b !== undefined && isEqual(product(a, factor), b);
    });
  return [...from].every(([above, rates]) => isRatio(rates, to.get(above))) ? factor : undefined;
}

function isEqual(a: Decimal, b: Decimal): boolean {
  const scale = Math.max(a.scale, b.scale);
  return inUnitsOf(a, scale) === inUnitsOf(b, scale);
}

/** The cost of a search in the web, if it does not depend on how much is read. */
function searchOf(written: unknown, others: OtherCost[]): Decimal | undefined {
  const sizes = Object.values(asObject(written)).flatMap((value) => costOf(value) ?? []);
  const [first] = sizes;
  if (first === undefined || sizes.every(({ digits }) => digits === 0n)) return undefined;
  if (sizes.every((each) => isEqual(each, first))) return first;
  const why = 'a search in the web has one price here, whatever its context size: write it in `perUse` of the price';
  others.push({ field: 'search_context_cost_per_query', why });
  return undefined;
}

/** A cost as YAML, JSON or Python write it: `6e-7`, `1E-06`, `.5`. */
function costOf(value: unknown): Decimal | undefined {
  if (typeof value !== 'string') return amountOf(value);
  const text = value
    .trim()
    .toLowerCase()
    .replace(/^\./, '0.')
    .replace(/e(?=\d)/, 'e+');
  return amountOf(text);
}

const areZero = (rates: Rates): boolean => Object.values(rates).every(({ digits }) => digits === 0n);

function textsOf(rates: Rates): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(rates).map(([rate, cost]) => [rate, decimalText(cost)]));
}
