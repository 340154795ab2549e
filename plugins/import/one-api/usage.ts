/**
 * The table `logs` of one-api, new-api and one-hub: calls as they were charged there. Facts: `model/log.go` of each; the JSON in `other` of new-api
 * (`service/log_info_generate.go`, v0.6.3 to 00899e66), the texts in `content` (`relay/controller/helper.go` of one-api 8df4a267,
 * `relay/relay-text.go` of new-api), `metadata` of one-hub (`relay/relay_util/quota.go`, 03aa401f).
 */

import { RATES, type Rate } from '../../../core/contracts/formats/rates.ts';
import { MICRO } from '../../../core/contracts/ledger.ts';
import { type Decimal, decimal } from '../../../core/sdk.ts';
import type { Database } from '../databases.ts';
import type { ForeignPrice, ForeignUsage } from '../inventory.ts';
import { floored, numberOf, objectOf, partsOf, type Row, textOf } from '../values.ts';
import { priceOfExpression } from './expressions.ts';
import { IMAGE_MODELS } from './ratios/new-api.ts';
import { IMAGE_MODELS as ONE_API_IMAGES } from './ratios/one-api.ts';

/** `logs.type` of a charged call. */
const CONSUMED = 2;
/** How far a ratio with two decimal places can be from the real one. */
const TWO_PLACES = 0.0051;
const USUAL_GROUP = 'default';

/** Ratios that a row says, as numbers: they only tell causes. */
interface Ratios {
  readonly model?: number | undefined;
  readonly completion?: number | undefined;
  readonly cache?: number | undefined;
  readonly write?: number | undefined;
  readonly audio?: number | undefined;
  readonly audioCompletion?: number | undefined;
  /** Per call, in currency units. */
  readonly price?: number | undefined;
  readonly group?: number | undefined;
  readonly expression?: string | undefined;
  /** They are rounded to two decimal places. */
  readonly isRounded?: boolean;
}

type Family = 'one-api' | 'new-api' | 'one-hub';
type Read = Pick<ForeignUsage, 'tokens' | 'units' | 'unknown'> & { readonly ratios: Ratios };

/** The newest recorded calls. `perUnit`: quota units in one currency unit here. */
export async function* readUsage(
  program: Family,
  database: Database,
  perUnit: bigint,
  most: number,
): AsyncIterable<ForeignUsage> {
  const options = (await database.rows('options')) ?? [];
  const stored = options.find((row) => row.key === 'QuotaPerUnit')?.value;
  const quotaPerUnit = decimal(Number(stored) > 0 ? String(stored) : 500_000);
  const unit = floored(MICRO * perUnit * 10n ** BigInt(quotaPerUnit.scale), quotaPerUnit.digits);
  const groups = new Map(
    ((await database.rows('users')) ?? []).map((row) => [textOf(row, 'id'), textOf(row, 'group') ?? USUAL_GROUP]),
  );
  const publicName = namesOf((await database.rows('channels')) ?? []);
  let left = most;
  for await (const row of database.each('logs', { newest: Number.MAX_SAFE_INTEGER, isLook: true })) {
    if (numberOf(row, 'type') !== CONSUMED) continue;
    if (left-- <= 0) return;
    const userGroup = groups.get(textOf(row, 'user_id'));
    const { ratios, ...read } =
      program === 'new-api' ? newApiRow(row) : program === 'one-hub' ? oneHubRow(row) : oneApiRow(row);
    const logged = textOf(row, 'model_name') ?? '';
    yield {
      id: textOf(row, 'id') ?? '',
      atMs: (numberOf(row, 'created_at') ?? 0) * 1_000,
      model: program === 'one-api' ? publicName(logged, textOf(row, 'channel_id')) : wildcardName(logged, publicName),
      group: textOf(row, 'group') ?? textOf(objectOf(row, 'metadata'), 'group_name') ?? userGroup,
      userGroup,
      charged: chargedOf(row, perUnit, quotaPerUnit),
      unit,
      ...read,
      rates: wordsOf(ratios),
      says: saysOf(ratios, Number(quotaPerUnit.digits) / 10 ** quotaPerUnit.scale),
    };
  }
}

function chargedOf(row: Row, perUnit: bigint, { digits, scale }: Decimal): bigint {
  const quota = BigInt(Math.trunc(numberOf(row, 'quota') ?? 0));
  return floored(quota * MICRO * perUnit * 10n ** BigInt(scale), digits);
}

/** The public model of one-api's rows, which have the name that the channel maps it to; and of new-api's wildcards. */
function namesOf(channels: readonly Row[]): (logged: string, channel?: string) => string {
  const byChannel = new Map<string, Map<string, string>>();
  const all = new Map<string, string>();
  for (const row of channels) {
    const mapping = objectOf(row, 'model_mapping');
    const names = new Map<string, string>();
    for (const name of partsOf(textOf(row, 'models'), ',')) {
      const mapped = textOf(mapping, name) ?? name;
      // A name that is not mapped comes first.
      if (!names.has(mapped) || mapped === name) names.set(mapped, name);
      if (!all.has(mapped) || mapped === name) all.set(mapped, name);
    }
    byChannel.set(textOf(row, 'id') ?? '', names);
  }
  return (logged, channel) => byChannel.get(channel ?? '')?.get(logged) ?? all.get(logged) ?? logged;
}

/** new-api logs all names that begin with `gpt-4-gizmo` as one. */
function wildcardName(logged: string, publicName: (logged: string) => string): string {
  return logged.endsWith('*') ? publicName(logged) : logged;
}

function newApiRow(row: Row): Read {
  const other = objectOf(row, 'other');
  const content = textOf(row, 'content') ?? '';
  const model = textOf(row, 'model_name') ?? '';
  const [input, output] = [numberOf(row, 'prompt_tokens') ?? 0, numberOf(row, 'completion_tokens') ?? 0];
  const count = (name: string): number => numberOf(other, name) ?? 0;
  const ratios = ratiosOfOther(other) ?? ratiosOfText(content);
  const uses = usesOf(other);
  const units = uses === undefined ? {} : { units: { uses } };

  if (other.audio === true || other.ws === true) {
    const [inputAudio, outputAudio] = [count('audio_input'), count('audio_output')];
    const tokens = {
      input: count('text_input') + inputAudio,
      inputAudio,
      output: count('text_output') + outputAudio,
      outputAudio,
    };
    return { ratios, tokens, ...units };
  }
  const size = wordAfter('大小', content);
  if (size !== undefined || (IMAGE_MODELS.test(model) && ratios.price !== undefined)) {
    const quality = wordAfter('品质', content) ?? '';
    const images = Number(wordAfter('生成数量', content) ?? Math.max(1, input));
    // The price in such a row is that of all its images.
    const { price: _all, ...others } = ratios;
    return { ratios: others, tokens: {}, units: { images, size: size ?? '', quality } };
  }
  if (/^tts-/.test(model)) return { ratios, tokens: {}, units: { characters: input } };
  // A minute is a thousand tokens.
  if (/^whisper/.test(model)) return { ratios, tokens: {}, units: { seconds: (input * 60) / 1_000 } };
  const isSeparate =
    other.usage_semantic === 'anthropic' || (other.claude === true && other.usage_semantic === undefined);
  const [cacheRead, written, long] = [count('cache_tokens'), writtenOf(other), count('cache_creation_tokens_1h')];
  const inputImage = other.image === true ? count('image_output') : 0;
  const inputAudio = other.audio_input_seperate_price === true ? count('audio_input_token_count') : 0;
  if (!isSeparate && cacheRead > input) {
    return { ratios, tokens: {}, unknown: 'it has more cached tokens than input' };
  }
  const tokens = {
    input: isSeparate ? input + cacheRead + written : input,
    cacheRead,
    cacheWrite: Math.max(0, written - long),
    cacheWriteLong: long,
    output,
    ...(inputImage > 0 && { inputImage }),
    ...(inputAudio > 0 && { inputAudio }),
  };
  return { ratios, tokens, ...units };
}

function writtenOf(other: Row): number {
  const parts = (numberOf(other, 'cache_creation_tokens_5m') ?? 0) + (numberOf(other, 'cache_creation_tokens_1h') ?? 0);
  return Math.max(numberOf(other, 'cache_creation_tokens') ?? 0, parts);
}

/** Uses of tools by their names here. */
function usesOf(other: Row): Readonly<Record<string, number>> | undefined {
  const uses: Record<string, number> = {};
  const add = (name: string, times: number | undefined): void => {
    if (times === undefined || times === 0) return;
    const here = ['web_search_preview', 'google_search'].includes(name) ? 'web_search' : name;
    uses[here] = (uses[here] ?? 0) + times;
  };
  if (Array.isArray(other.tool_surcharges)) {
    for (const each of other.tool_surcharges as readonly Row[])
      add(textOf(each, 'name') ?? '', numberOf(each, 'count'));
  } else {
    add('web_search', numberOf(other, 'web_search_call_count'));
    add('file_search', numberOf(other, 'file_search_call_count'));
    if (other.image_generation_call === true) add('image_generation', 1);
  }
  return Object.keys(uses).length > 0 ? uses : undefined;
}

function ratiosOfOther(other: Row): Ratios | undefined {
  if (other.billing_mode === 'tiered_expr' && typeof other.expr_b64 === 'string') {
    return { expression: Buffer.from(other.expr_b64, 'base64').toString(), group: numberOf(other, 'group_ratio') };
  }
  const [price, model] = [numberOf(other, 'model_price'), numberOf(other, 'model_ratio')];
  const group = numberOf(other, 'group_ratio');
  if (price !== undefined && price >= 0) return { price, group };
  if (model === undefined) return undefined;
  return {
    model,
    group,
    completion: numberOf(other, 'completion_ratio'),
    cache: (numberOf(other, 'cache_tokens') ?? 0) > 0 ? numberOf(other, 'cache_ratio') : undefined,
    write: writtenOf(other) > 0 ? numberOf(other, 'cache_creation_ratio') : undefined,
    audio: numberOf(other, 'audio_ratio'),
    audioCompletion: numberOf(other, 'audio_completion_ratio'),
  };
}

/** Model ratio, group ratio and completion ratio of one-api: `倍率：2.50 × 1.00 × 4.00`, in escapes because the built server is ASCII. */
const PRODUCT = /\u500d\u7387\uff1a([\d.]+) \u00d7 ([\d.]+) \u00d7 ([\d.]+)/;

/** A word of a text such as `大小 1024x1024, 品质 hd`. */
function wordAfter(label: string, content: string): string | undefined {
  return new RegExp(`${label} ([^\\s,，]+)`).exec(content)?.[1];
}

/** As texts say them, with two decimal places. */
function ratiosOfText(content: string): Ratios {
  const product = PRODUCT.exec(content);
  if (product !== null) {
    const [model, group, completion] = product.slice(1).map(Number);
    return { model, group, completion, isRounded: true };
  }
  const found = (name: string): number | undefined => {
    const number = new RegExp(`(?:^|[^\\p{Letter}])${name} ?([\\d.]+)`, 'u').exec(content)?.[1];
    return number === undefined ? undefined : Number(number);
  };
  return {
    model: found('模型倍率'),
    completion: found('补全倍率'),
    price: found('模型价格'),
    group: found('分组倍率'),
    isRounded: true,
  };
}

function oneApiRow(row: Row): Read {
  const ratios = ratiosOfText(textOf(row, 'content') ?? '');
  const [input, output] = [numberOf(row, 'prompt_tokens') ?? 0, numberOf(row, 'completion_tokens') ?? 0];
  if (input + output > 0 || (numberOf(row, 'quota') ?? 0) === 0) return { ratios, tokens: { input, output } };
  const isImage = ONE_API_IMAGES.test(textOf(row, 'model_name') ?? '');
  const unknown = `the row does not say how many ${isImage ? 'images of which size' : 'characters or seconds'} it was for`;
  return { ratios, tokens: {}, unknown };
}

function oneHubRow(row: Row): Read {
  const metadata = objectOf(row, 'metadata');
  const extra = { ...metadata, ...objectOf(metadata, 'extra_tokens') };
  const count = (name: string): number => numberOf(extra, name) ?? 0;
  const [model, output] = [numberOf(metadata, 'input_ratio'), numberOf(metadata, 'output_ratio')];
  const isPerCall = metadata.price_type === 'times';
  const group = numberOf(metadata, 'group_ratio');
  return {
    ratios:
      isPerCall || model === undefined
        ? { price: isPerCall && model !== undefined ? (model * 1_000) / 500_000 : undefined, group }
        : { model, group, completion: model > 0 && output !== undefined ? output / model : undefined },
    tokens: {
      input: numberOf(row, 'prompt_tokens') ?? 0,
      output: numberOf(row, 'completion_tokens') ?? 0,
      cacheRead: count('cached_tokens') || count('cached_read_tokens'),
      cacheWrite: count('cached_write_tokens'),
      inputAudio: count('input_audio_tokens'),
      outputAudio: count('output_audio_tokens'),
      reasoning: count('reasoning_tokens'),
    },
  };
}

const WORDS: readonly (readonly [keyof Ratios, string])[] = [
  ['price', 'price per call'],
  ['model', 'model ratio'],
  ['completion', 'completion ratio'],
  ['cache', 'cache ratio'],
  ['write', 'cache creation ratio'],
  ['audio', 'audio ratio'],
  ['audioCompletion', 'audio completion ratio'],
  ['expression', 'expression'],
  ['group', 'group ratio'],
];

function wordsOf(ratios: Ratios): string | undefined {
  const words = WORDS.flatMap(([name, word]) => (ratios[name] === undefined ? [] : [`${word} ${ratios[name]}`]));
  return words.length === 0 ? undefined : words.join(', ');
}

function saysOf(ratios: Ratios, quotaPerUnit: number): ForeignUsage['says'] {
  const { model, price, group, expression } = ratios;
  if (model === undefined && price === undefined && expression === undefined && group === undefined) return undefined;
  const near = (there: number | undefined, here: number, slack = 1e-9): boolean =>
    there === undefined ||
    Math.abs(there - here) <= Math.max(ratios.isRounded ? TWO_PLACES : 0, Math.abs(there) * slack);
  return {
    factor: (factor) => near(group, factor),
    price(written) {
      if (expression !== undefined)
        return JSON.stringify(priceOfExpression(expression).price) === JSON.stringify(written);
      if (price !== undefined) return near(price, Number(written.perRequest ?? Number.NaN));
      if (model === undefined) return true;
      const rate = (name: Rate): number => rateIn(written, name);
      const isOther =
        written.characters !== undefined || written.perSecond !== undefined || written.perImage !== undefined;
      if (isOther) return true;
      const part = (of: number | undefined, name: Rate, base: number): boolean =>
        of === undefined || base === 0 || near(of, rate(name) / base);
      return (
        near(model, (rate('input') * quotaPerUnit) / 1e6) &&
        part(ratios.completion, 'output', rate('input')) &&
        part(ratios.cache, 'cacheRead', rate('input')) &&
        part(ratios.write, 'cacheWrite', rate('input')) &&
        part(ratios.audio, 'inputAudio', rate('input')) &&
        part(ratios.audioCompletion, 'outputAudio', rate('inputAudio'))
      );
    },
  };
}

/** The rate of a price, or that of its parent. */
function rateIn(price: ForeignPrice, rate: Rate): number {
  const amount = price[rate];
  if (typeof amount === 'string') return Number(amount);
  const { parent } = RATES[rate];
  return parent === undefined ? 0 : rateIn(price, parent);
}
