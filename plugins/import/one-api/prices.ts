/**
 * Prices of one-api and new-api, as these programs compute them: from ratios in the table `options`, in tables of their code, and by names.
 * A token costs its ratio in quota, so a million of them cost 1,000,000 × ratio / QuotaPerUnit currency units: two for a ratio of 1 at the
 * usual 500,000.
 */
import { type Decimal, decimal } from '../../../core/sdk.ts';
import type { ForeignKey, ForeignModel, ForeignPrice, ForeignUsage, Note } from '../inventory.ts';
import { numberOf, objectOf, partsOf, type Row, textOf } from '../values.ts';
import { amountText, compared, divided, ONE, ratioOf, times } from './amounts.ts';
import { priceOfExpression } from './expressions.ts';
import * as newApi from './ratios/new-api.ts';
import * as oneApi from './ratios/one-api.ts';
import type { OneApiRules } from './ratios/one-api-early.ts';
import { type NameRule, type RatioTable, type Schema, TABLES } from './ratios/table.ts';

/** The table `options`, by key. */
export type Options = Readonly<Record<string, string>>;

/** A channel in use that serves the model, and its own name for it, after `model_mapping`. */
export interface Serving {
  /** `channels.type`. */
  readonly type: number;
  readonly model: string;
}

/** How calls of a public model are charged. */
export interface Priced {
  /** Undefined: it has no price here. */
  readonly price?: ForeignPrice | undefined;
  /**
   * `refused`: that program refuses its calls, because it has no price there; the model must not be served here, where its list price might
   * apply. `accepted`: the same, except for users whose setting accepts models without a price; keys of other users must not reach it.
   */
  readonly calls: 'charged' | 'refused' | 'accepted' | 'unknown';
  readonly notes: readonly Note[];
}

/** What all prices of a database depend on. */
export interface PriceFacts {
  readonly program: 'one-api' | 'new-api';
  readonly options: Options;
  /** Tables, and columns as `table.column`: see `schemaOf`. */
  readonly schema: Schema;
  /** A user's setting accepts models without a price (`accept_unset_model_ratio_model`, new-api). */
  readonly isUnsetAccepted: boolean;
}

/** The prices of a database, by public model. */
export interface PriceList {
  /**
   * The price of a model. `served`: every channel in use that serves it; only one-api prices by channel. If its channels differ, it is the
   * dearest, with a note.
   */
  priceOf(name: string, served: readonly Serving[]): Priced;
  /** Quota units in one currency unit there. */
  readonly quotaPerUnit: Decimal;
  /** Notes on all prices. */
  readonly notes: readonly Note[];
}

/** The prices of a database, of the version that it is likely of. Throws if an option with ratios cannot be read. */
export const priceList = (facts: PriceFacts): PriceList => priceLists(facts)[0]!;

/** The same for each range of versions that it can be of, the likeliest first. */
function priceLists(facts: PriceFacts): readonly PriceList[] {
  return facts.program === 'one-api'
    ? oneApi.oneApiRules(facts.schema).map((rules) => oneApiPrices(facts, rules))
    : newApi.newApiRules(facts.schema).map((rules) => newApiPrices(facts, rules));
}

/** Recorded calls by which versions are told apart. */
const MOST_CALLS = 500;

/** The prices of a database: of the range of versions whose ratios its newest recorded calls say, if its tables leave more than one. */
export async function recordedPriceList(
  facts: PriceFacts,
  servings: ReadonlyMap<string, readonly Serving[]>,
  calls: (most: number) => AsyncIterable<ForeignUsage>,
): Promise<PriceList> {
  const lists = priceLists(facts);
  if (lists.length === 1) return lists[0]!;
  const newest = new Map<string, ForeignUsage>();
  for await (const usage of calls(MOST_CALLS)) if (!newest.has(usage.model)) newest.set(usage.model, usage);
  const agreeing = lists.map(
    (list) =>
      [...newest].filter(([name, { says }]) => {
        const { price } = list.priceOf(name, servings.get(name) ?? []);
        return price !== undefined && says?.price(price) === true;
      }).length,
  );
  return lists[agreeing.indexOf(Math.max(...agreeing))]!;
}

/** What `PriceFacts.schema` needs of a database. */
export async function schemaOf(database: {
  tables(): Promise<ReadonlyMap<string, number>>;
  columns(table: string): Promise<readonly string[]>;
}): Promise<Schema> {
  const schema = new Set((await database.tables()).keys());
  for (const table of TABLES) {
    for (const column of await database.columns(table)) schema.add(`${table}.${column}`);
  }
  return schema;
}

/** The channels in use that serve each public model: `rows` of the table `channels`. one-api maps a name once. */
export function servingsOf(rows: readonly Row[]): ReadonlyMap<string, readonly Serving[]> {
  const servings = new Map<string, Serving[]>();
  for (const row of rows) {
    if (numberOf(row, 'status') !== 1) continue;
    const mapping = objectOf(row, 'model_mapping');
    for (const name of new Set(partsOf(textOf(row, 'models'), ','))) {
      const serving = { type: numberOf(row, 'type') ?? 0, model: textOf(mapping, name) ?? name };
      servings.set(name, [...(servings.get(name) ?? []), serving]);
    }
  }
  return servings;
}

/** Models with their prices. */
export interface PricedModels {
  /** Without those whose calls are refused there. */
  readonly models: ReadonlyMap<string, ForeignModel>;
  /** Models that only users reach whose setting accepts models without a price. */
  readonly acceptedOnly: ReadonlySet<string>;
  readonly notes: readonly Note[];
}

/** Prices all models. */
export function withPrices(
  list: PriceList,
  models: ReadonlyMap<string, ForeignModel>,
  servings: ReadonlyMap<string, readonly Serving[]>,
): PricedModels {
  const priced = new Map<string, ForeignModel>();
  const acceptedOnly = new Set<string>();
  const notes: Note[] = [...list.notes];
  for (const [name, model] of models) {
    const { price, calls, notes: told } = list.priceOf(name, servings.get(name) ?? []);
    notes.push(...told);
    if (calls !== 'refused') priced.set(name, { ...model, price });
    if (calls === 'accepted') acceptedOnly.add(name);
  }
  return { models: priced, acceptedOnly, notes };
}

/** A key of a user who does not accept models without a price: without those. */
export function withoutUnpriced(key: ForeignKey, { models, acceptedOnly }: PricedModels): ForeignKey {
  if (acceptedOnly.size === 0) return key;
  const reached = (key.models ?? [...models.keys()]).filter((name) => !acceptedOnly.has(name));
  return { ...key, models: reached, enabled: key.enabled && reached.length > 0 };
}

/** Whether a row of `users` of new-api has the setting that accepts models without a price. */
export const acceptsUnpriced = (row: Row): boolean => objectOf(row, 'setting').accept_unset_model_ratio_model === true;

const MILLION: Decimal = decimal(1_000_000);
const USUAL_QUOTA_PER_UNIT = decimal(500_000);
const ZERO: Decimal = decimal(0);

/** A row of `options` with ratios by model; undefined if it was never saved. */
function storedRatios(options: Options, name: string): ReadonlyMap<string, Decimal | 'negative'> | undefined {
  const text = options[name];
  if (text === undefined || text.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`table options, key ${name}: the value is not a JSON object`);
  }
  return new Map(
    Object.entries(value).map(([model, ratio]) => {
      if (typeof ratio !== 'number')
        throw new Error(`table options, key ${name}: the value of "${model}" is not a number`);
      return [model, ratio < 0 ? 'negative' : decimal(ratio)] as const;
    }),
  );
}

/** Ratios by model: a stored row replaces the whole table of the program. */
function ratiosIn(
  options: Options,
  name: string,
  usual: RatioTable,
): (model: string) => Decimal | 'negative' | undefined {
  const stored = storedRatios(options, name);
  return (model) => (stored === undefined ? ratioOf(usual.get(model)) : stored.get(model));
}

/** Quota units in one currency unit there. */
export function quotaPerUnitOf(options: Options): Decimal {
  const text = options.QuotaPerUnit;
  if (text === undefined || text.trim() === '') return USUAL_QUOTA_PER_UNIT;
  const value = ratioOf(text.trim());
  if (value === undefined || value.digits === 0n)
    throw new Error('table options, key QuotaPerUnit: not a number above 0');
  return value;
}

function byName(rules: readonly NameRule[], name: string): NameRule | undefined {
  return rules.find(({ names }) => names.test(name));
}

function renamed(name: string, names: readonly (readonly [RegExp, string])[]): string {
  return names.find(([pattern]) => pattern.test(name))?.[1] ?? name;
}

const decide = (where: string, name: string, why: string): Note => ({
  kind: 'decide',
  where,
  what: `model ${name}`,
  why,
});

const NO_SUCH_PRICE =
  'its price there cannot be written here; without a price, its calls are refused or cost the list price';

/** Amounts by field; undefined if one is more than a price can be. */
export function written(amounts: Readonly<Record<string, Decimal | undefined>>): ForeignPrice | undefined {
  const price: Record<string, string> = {};
  for (const [field, amount] of Object.entries(amounts)) {
    if (amount === undefined) continue;
    const text = amountText(amount);
    if (text === undefined) return undefined;
    price[field] = text;
  }
  return price;
}

/** A price, or the note that it has none. */
export function priceOrNote(
  name: string,
  price: ForeignPrice | undefined,
  where: string,
  notes: readonly Note[] = [],
): Priced {
  if (price === undefined) return { calls: 'unknown', notes: [...notes, decide(where, name, NO_SUCH_PRICE)] };
  return { price, calls: 'charged', notes };
}

/** Below 0, both programs charge one quota unit for each call. */
const oneUnit = (quotaPerUnit: Decimal): ForeignPrice | undefined =>
  written({ perRequest: divided(ONE, quotaPerUnit) });

/** Per image by kind; a kind that the table does not have costs what the usual size does. */
function perImage(each: Decimal, kinds: Readonly<Record<string, string>>): ForeignPrice | undefined {
  const table = written(
    Object.fromEntries(
      [['default', kinds['1024x1024'] ?? '1'] as const, ...Object.entries(kinds)].map(
        ([kind, factor]) => [kind, times(each, decimal(factor))] as const,
      ),
    ),
  );
  return table && { perImage: table };
}

/** The price of a model of the image endpoint of one-api and one-hub; `each`: that of the smallest image. */
export function imagePrice(name: string, each: Decimal): ForeignPrice | undefined {
  return oneApi.IMAGE_MODELS.test(name) ? perImage(each, oneApi.IMAGE_RATIOS[name] ?? {}) : undefined;
}

// new-api

function newApiPrices({ options, isUnsetAccepted }: PriceFacts, rules: newApi.NewApiRules): PriceList {
  const quotaPerUnit = quotaPerUnitOf(options);
  const inUnits = (quota: Decimal): Decimal => divided(quota, quotaPerUnit);
  const prices = ratiosIn(options, 'ModelPrice', rules.price);
  const models = ratiosIn(options, 'ModelRatio', rules.model);
  const completions = ratiosIn(options, 'CompletionRatio', rules.completion);
  const caches = ratiosIn(options, 'CacheRatio', rules.cache);
  const writes = ratiosIn(rules.hasCreateCacheOption ? options : {}, 'CreateCacheRatio', rules.createCache);
  const images = ratiosIn(rules.image.size > 0 ? options : {}, 'ImageRatio', rules.image);
  const audios = ratiosIn(options, 'AudioRatio', rules.audio);
  const audioCompletions = ratiosIn(options, 'AudioCompletionRatio', rules.audioCompletion);
  const isSelfUse = options.SelfUseModeEnabled === 'true';
  const expressions = expressionsIn(options);
  const tools = toolPrices(options, rules);

  const positive = (ratio: Decimal | 'negative' | undefined): Decimal | undefined =>
    ratio === 'negative' ? ZERO : ratio;

  /** A name with a wildcard of its own: `gpt-5-openai-compact`. */
  const COMPACT = '-openai-compact';
  const wildcard = (lookUp: typeof prices, name: string): Decimal | 'negative' | undefined =>
    lookUp(name) ?? (name.endsWith(COMPACT) ? lookUp(`*${COMPACT}`) : undefined);

  function completionOf(name: string): Decimal {
    const formatted = renamed(name, rules.names);
    const stored = positive(completions(renamed(name, rules.completionNames)));
    if (stored !== undefined && name.includes('/')) return stored;
    const rule = byName(rules.completionRules, formatted);
    if (rule?.isFixed) return decimal(rule.ratio);
    return stored ?? decimal(rule?.ratio ?? 1);
  }

  /** The ratios of audio input and output; undefined: audio costs what text does. */
  function audioOf(name: string): { readonly input: Decimal; readonly output: Decimal } | undefined {
    if (rules.audioRules !== undefined) {
      const { models: named, input, output } = rules.audioRules;
      return named.test(name)
        ? { input: decimal(byName(input, name)?.ratio ?? 1), output: decimal(output) }
        : undefined;
    }
    const formatted = renamed(name, rules.names);
    const [input, output] = [positive(audios(formatted)), positive(audioCompletions(formatted))];
    if (input === undefined && output === undefined) return undefined;
    return { input: input ?? ONE, output: output ?? ONE };
  }

  /** Factors of images of a model, by kind. */
  function imageKinds(name: string): Readonly<Record<string, string>> {
    if (rules.hasOnlyDallEKinds && !name.startsWith('dall-e')) return {};
    return { ...newApi.IMAGE_RATIOS, ...(name === 'dall-e-3' && newApi.HD_IMAGE_RATIOS) };
  }

  function tokenPrice(name: string, ratio: Decimal): ForeignPrice | undefined {
    if (rules.imageRatioPrice !== undefined && newApi.IMAGE_MODELS.test(name)) {
      return perImage(times(ratio, decimal(rules.imageRatioPrice)), imageKinds(name));
    }
    const input = inUnits(times(ratio, MILLION));
    // Characters are its tokens.
    if (/^tts-/.test(name)) return written({ characters: input });
    // A minute is a thousand tokens.
    if (/^whisper/.test(name))
      return written({ perSecond: divided(inUnits(times(ratio, decimal(1_000))), decimal(60)) });
    const cache = positive(caches(name)) ?? ONE;
    const isClaude = name.includes('claude');
    const known = positive(writes(name));
    const write = known ?? (isClaude || rules.hasCreateCacheOption ? decimal(newApi.CREATE_CACHE_RATIO) : ONE);
    const image = positive(images(name)) ?? ONE;
    const audio = audioOf(name);
    const audioInput = byName(rules.audioInput, name);
    const part = (of: Decimal): Decimal | undefined =>
      input.digits === 0n || compared(of, ONE) === 0 ? undefined : times(input, of);
    const price = written({
      input,
      // Calls of these models are charged by their audio, and then nothing is cheaper because it was cached.
      cacheRead: audio !== undefined && rules.audioRules !== undefined ? undefined : part(cache),
      cacheWrite: part(write),
      cacheWriteLong:
        rules.hasLongWrites && (isClaude || known) ? part(times(write, decimal(newApi.LONG_WRITE))) : undefined,
      inputAudio: audioInput ? decimal(audioInput.ratio) : audio && times(input, audio.input),
      inputImage: part(image),
      output: times(input, completionOf(name)),
      outputAudio: audio && times(input, audio.input, audio.output),
    });
    const perUse = tools(name);
    return price && (perUse ? { ...price, perUse } : price);
  }

  function expressed(name: string, expression: string): Priced {
    const { price, why } = priceOfExpression(expression);
    if (price !== undefined) return { price, calls: 'charged', notes: [] };
    const where = 'options.billing_setting.billing_expr';
    return {
      calls: 'unknown',
      notes: [decide(where, name, `its billing expression cannot be said as a price here: ${why}`)],
    };
  }

  function priceOf(name: string): Priced {
    const expression = expressions.of(name);
    if (expression !== undefined) return expressed(name, expression);
    const perCall = wildcard(prices, renamed(name, rules.names));
    if (perCall === 'negative') return priceOrNote(name, undefined, 'options.ModelPrice');
    if (perCall !== undefined) {
      if (!newApi.IMAGE_MODELS.test(name))
        return priceOrNote(name, written({ perRequest: perCall }), 'options.ModelPrice');
      return priceOrNote(name, perImage(perCall, imageKinds(name)), 'options.ModelPrice');
    }
    const ratio = wildcard(models, renamed(name, rules.ratioNames));
    if (ratio === 'negative') return priceOrNote(name, oneUnit(quotaPerUnit), 'options.ModelRatio');
    if (ratio !== undefined) return priceOrNote(name, tokenPrice(name, ratio), 'options.ModelRatio', notesOn(name));
    const own = expressions.isStored(name) ? undefined : rules.expressions.get(name);
    if (own !== undefined) return expressed(name, own);
    if (rules.unset !== undefined) {
      const why = `it has no ratio there, where it is charged ${rules.unset} times the basic price`;
      const notes = [decide('options.ModelRatio', name, why)];
      return { price: tokenPrice(name, decimal(rules.unset)), calls: 'charged', notes };
    }
    if (!isSelfUse && !isUnsetAccepted) {
      const why =
        'it has neither a ratio nor a price there, where its calls are refused: it was left out; give it a price to sell it';
      return { calls: 'refused', notes: [decide('options.ModelRatio', name, why)] };
    }
    const why = isSelfUse
      ? `it has no ratio there, where self-use mode charges ${newApi.UNSET_RATIO} times the basic price`
      : `it has no ratio there; users who accept that in their settings are charged ${newApi.UNSET_RATIO} times the basic price, others are refused`;
    const price = tokenPrice(name, decimal(newApi.UNSET_RATIO));
    const notes = [decide('options.ModelRatio', name, why)];
    return { price, calls: isSelfUse ? 'charged' : 'accepted', notes };
  }

  function notesOn(name: string): readonly Note[] {
    if (!/^whisper/.test(name)) return [];
    const why = 'there the duration is rounded up to a second; here it is charged to the microsecond';
    return [{ kind: 'changed', where: 'options.ModelRatio', what: `model ${name}`, why }];
  }

  return { priceOf, quotaPerUnit, notes: [] };
}

/** The stored expression of a model that is billed by one, and whether any way of billing it is stored. */
function expressionsIn(options: Options): { of(name: string): string | undefined; isStored(name: string): boolean } {
  const read = (key: string): Readonly<Record<string, unknown>> => {
    const text = options[key];
    if (text === undefined || text.trim() === '') return {};
    try {
      return { ...(JSON.parse(text) as object) };
    } catch {
      throw new Error(`table options, key ${key}: the value is not a JSON object`);
    }
  };
  const modes = read('billing_setting.billing_mode');
  const expressions = read('billing_setting.billing_expr');
  return {
    of: (name) => (modes[name] === 'tiered_expr' ? String(expressions[name] ?? '') : undefined),
    isStored: (name) => modes[name] !== undefined,
  };
}

/** Per use of vendor-side tools; undefined if the program charges none, or the vendor of the model has none. */
function toolPrices(options: Options, { tools }: newApi.NewApiRules): (name: string) => ForeignPrice | undefined {
  const stored = storedRatios(options, 'tool_price_setting.prices') ?? new Map<string, Decimal>();
  /** Dollars per thousand uses; stored ones are by tool, or by tool and beginning of the model: `web_search:gpt-5*`. */
  function dollars(tool: string, model: string): Decimal | undefined {
    const rule = tools.find((each) => each.tool === tool && each.names.test(model));
    if (rule === undefined) return undefined;
    const usual = decimal(rule.dollars);
    const beginnings = [...stored.keys()]
      .filter((key) => key.startsWith(`${tool}:`) && model.startsWith(key.slice(tool.length + 1).replace(/\*$/, '')))
      .sort((a, b) => b.length - a.length);
    const found = stored.get(beginnings[0] ?? '') ?? (rule.isOverride ? usual : (stored.get(tool) ?? usual));
    return found === 'negative' ? usual : found;
  }
  return (name) => {
    const kinds = TOOLS_OF.find(([names]) => names.test(name))?.[1] ?? {};
    const perUse = Object.entries(kinds).flatMap(([here, there]) => {
      const each = there.flatMap((tool) => dollars(tool, name) ?? []);
      // Two tools there that have one name here cost what the dearer one does.
      const most = each.length === 0 ? undefined : each.reduce((a, b) => (compared(a, b) < 0 ? b : a));
      return most === undefined ? [] : [[here, divided(most, decimal(1_000))] as const];
    });
    return perUse.length === 0 ? undefined : written(Object.fromEntries(perUse));
  };
}

/** The tools that models of a vendor can use: names here, and their names there. */
const TOOLS_OF: readonly (readonly [RegExp, Readonly<Record<string, readonly newApi.ToolRule['tool'][]>>])[] = [
  [/^claude/, { web_search: ['web_search'] }],
  [/^gemini-/, { web_search: ['google_search'] }],
  [
    /^o\d|^gpt-|^chatgpt/,
    {
      web_search: ['web_search', 'web_search_preview'],
      file_search: ['file_search'],
      image_generation: ['image_generation'],
    },
  ],
];

// one-api

function oneApiPrices({ options }: PriceFacts, rules: OneApiRules): PriceList {
  const quotaPerUnit = quotaPerUnitOf(options);
  const models = storedRatios(options, 'ModelRatio');
  const completions = storedRatios(options, 'CompletionRatio');
  type Found = Decimal | 'negative' | undefined;
  const look = (stored: typeof models, usual: RatioTable, name: string, type: number): Found => {
    const inTable = (key: string): Found => {
      const own = rules.keepsOwn || stored === undefined ? usual.get(key) : undefined;
      return own?.startsWith('-') ? 'negative' : ratioOf(own);
    };
    const at = `${name}(${type})`;
    return (rules.hasTypes ? (stored?.get(at) ?? inTable(at)) : undefined) ?? stored?.get(name) ?? inTable(name);
  };

  function priceAt({ model, type }: Serving): ForeignPrice | undefined | 'unknown' {
    const name = model.replace(oneApi.IGNORED_END, '$1');
    const ratio = look(models, rules.model, name, type) ?? decimal(oneApi.UNKNOWN_RATIO);
    if (ratio === 'negative') return oneUnit(quotaPerUnit);
    const input = divided(times(ratio, MILLION), quotaPerUnit);
    if (/^tts-/.test(name)) return written({ characters: input });
    if (/^whisper/.test(name)) return 'unknown';
    const image = imagePrice(name, divided(times(ratio, decimal(1_000)), quotaPerUnit));
    if (image !== undefined) return image;
    const completionName = model.replace(oneApi.COMPLETION_IGNORED_END, '$1');
    const stored = look(completions, rules.completion, completionName, type);
    const rule = byName(rules.completionRules, completionName);
    const completion = stored === 'negative' ? ZERO : (stored ?? decimal(rule?.ratio ?? 1));
    return written({ input, output: times(input, completion) });
  }

  function priceOf(name: string, served: readonly Serving[]): Priced {
    const where = 'options.ModelRatio';
    const found = served.map(priceAt);
    if (found.includes('unknown')) {
      const why = 'there it costs one quota unit for each token of the transcript; here seconds of audio are charged';
      return { calls: 'unknown', notes: [decide(where, name, why)] };
    }
    const prices = found.filter((price) => price !== undefined && price !== 'unknown');
    if (prices.length < found.length || prices.length === 0) return priceOrNote(name, undefined, where);
    const different = new Set(prices.map((price) => JSON.stringify(price)));
    if (different.size === 1) return priceOrNote(name, prices[0], where);
    const why = 'its channels have different prices there; here each call costs the dearest';
    const note: Note = { kind: 'changed', where, what: `model ${name}`, why };
    return priceOrNote(name, dearest(prices), where, [note]);
  }

  return { priceOf, quotaPerUnit, notes: [] };
}

/** Each field at its highest; a table of images as a whole. */
function dearest(prices: readonly ForeignPrice[]): ForeignPrice {
  const most: Record<string, ForeignPrice[string]> = {};
  for (const price of prices) {
    for (const [field, amount] of Object.entries(price)) {
      const before = most[field];
      if (before === undefined) most[field] = amount;
      else if (typeof amount === 'string' && typeof before === 'string') {
        if (compared(decimal(amount), decimal(before)) > 0) most[field] = amount;
      } else if (
        typeof amount === 'object' &&
        typeof before === 'object' &&
        !Array.isArray(amount) &&
        !Array.isArray(before)
      ) {
        most[field] = dearest([before as ForeignPrice, amount as ForeignPrice]);
      }
    }
  }
  return most;
}
