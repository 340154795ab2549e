/** Reads a newer price list in the format of `genai-prices`, refuses an implausible one, and finds what has changed. */
import { createHash } from 'node:crypto';
import type { MatchLogic, ModelInfo, Provider } from '@pydantic/genai-prices';
import { RATE_NAMES, RATES } from '../../core/contracts/formats/rates.ts';
import type { ChangedAmount, PriceChange } from '../../core/contracts/prices.ts';
import { decimal, decimalText } from '../../core/sdk.ts';

/** A list that was read. */
export interface PublishedList {
  readonly providers: readonly Provider[];
  /** Identifies its content. */
  readonly digest: string;
}

/** The list cannot be right. The message ends a sentence that begins with "the list". */
export class Implausible extends Error {}

/** A change, and the entry to take over. */
export interface FoundChange extends PriceChange {
  readonly info: ModelInfo;
}

/** Rates are in currency units per million tokens, or per thousand of something: no vendor charges more. */
const HIGHEST = 100_000;
/** A list with fewer of the known models is incomplete. */
const LEAST_SHARE = 0.9;

/** Reads a list. Throws `Implausible`. */
export function readList(text: string): PublishedList {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Implausible('is not JSON');
  }
  if (!Array.isArray(value) || value.length === 0) throw new Implausible('is not a list of providers');
  for (const provider of value as Partial<Provider>[]) {
    if (typeof provider?.id !== 'string' || !Array.isArray(provider.models))
      throw new Implausible('has an entry that is not a provider');
    for (const model of provider.models as Partial<ModelInfo>[]) {
      if (typeof model?.id !== 'string' || typeof model.match !== 'object' || typeof model.prices !== 'object')
        throw new Implausible(`has an entry of ${provider.id} that is not a model`);
      amountsOf(model as ModelInfo, `${provider.id} ${model.id}`);
    }
  }
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { providers: value as Provider[], digest };
}

/** How lists are compared. */
export interface CompareOptions {
  /** The public names that cost the list price of a model. Key: `provider model`. */
  readonly sold: ReadonlyMap<string, readonly string[]>;
  /** Those that it serves at a price of gateway.yaml. */
  readonly fixed: ReadonlyMap<string, readonly string[]>;
  /** The largest plausible change of an amount, in percent: 300 is four times as much, or a quarter. */
  readonly maxChange: number;
}

/** What has changed. */
export interface Changes {
  /** Those of models that this gateway sells first. */
  readonly changes: readonly FoundChange[];
  /** Models whose change is not plausible or cannot be taken over: `acme model-1: …`. */
  readonly skipped: readonly string[];
}

/**
 * The differences of a list from the current one. New providers are not taken over: calls are matched to those of this
 * version. Throws `Implausible` if the list has too few models, or if a model that is sold changes too much.
 */
export function changesOf(
  current: readonly Provider[],
  { providers }: PublishedList,
  { sold, fixed, maxChange }: CompareOptions,
): Changes {
  const published = new Map(providers.map((provider) => [provider.id, provider]));
  const changes: FoundChange[] = [];
  const skipped: string[] = [];
  let [known, found] = [0, 0];
  for (const { id, models } of current) {
    const own = new Map(models.map((model) => [model.id, model]));
    const others = published.get(id)?.models ?? [];
    known += own.size;
    found += others.filter((other) => own.has(other.id)).length;
    for (const info of others) {
      const name = `${id} ${info.id}`;
      const old = own.get(info.id);
      const names = sold.get(name) ?? [];
      const amounts = differences(old === undefined ? new Map() : amountsOf(old, name), amountsOf(info, name));
      if (amounts.length === 0) continue;
      const wild = amounts.find((amount) => isWild(amount, maxChange));
      if (wild !== undefined && names.length > 0) {
        throw new Implausible(
          `changes ${wild.field} of ${name} from ${wild.old} to ${wild.new}, which is more than ${maxChange} % (\`prices.updates.maxChange\`)`,
        );
      }
      if (wild !== undefined) skipped.push(`${name}: ${wild.field} changes from ${wild.old} to ${wild.new}`);
      else if (!isPlainMatch(info.match) && !isSame(info.match, old?.match))
        skipped.push(`${name}: its names are a new regular expression`);
      else
        changes.push({
          provider: id,
          model: info.id,
          names,
          fixed: fixed.get(name) ?? [],
          kind: kindOf(old, amounts),
          amounts,
          info,
        });
    }
  }
  if (found < known * LEAST_SHARE) throw new Implausible(`has only ${found} of the ${known} known models`);
  return { changes: changes.sort((a, b) => rankOf(a) - rankOf(b)), skipped };
}

/** Models that are sold at list prices come first, then those that are sold at others. */
const rankOf = ({ names, fixed }: PriceChange): number => (names.length > 0 ? 0 : fixed.length > 0 ? 1 : 2);

/** The public names of rates, by their names in the data. */
const FIELD_OF = new Map<string, string>(RATE_NAMES.map((rate) => [RATES[rate].published, rate]));

/** Every amount of a model, by a name that says when it applies: `input`, `output above 200000`, `input from 2026-01-31`. */
function amountsOf({ prices }: ModelInfo, name: string): ReadonlyMap<string, number> {
  const amounts = new Map<string, number>();
  const add = (field: string, amount: unknown): void => {
    if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0 || amount > HIGHEST)
      throw new Implausible(`has ${JSON.stringify(amount)} as ${field} of ${name}`);
    amounts.set(field, amount);
  };
  for (const { constraint, prices: own } of Array.isArray(prices) ? prices : [{ constraint: undefined, prices }]) {
    const when = constraint === undefined ? '' : ` ${timeOf(constraint)}`;
    for (const [key, price] of Object.entries(own)) {
      const field = FIELD_OF.get(key) ?? key;
      if (price === undefined || price === null) continue;
      if (typeof price !== 'object') add(field + when, price);
      else {
        add(field + when, price.base);
        for (const { start, price: above } of price.tiers) add(`${field} above ${start}${when}`, above);
      }
    }
  }
  return amounts;
}

function timeOf(constraint: object): string {
  const { start_date, start_time, end_time } = constraint as Readonly<Record<string, string | undefined>>;
  return start_date === undefined ? `${start_time}-${end_time}` : `from ${start_date}`;
}

function differences(old: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>): readonly ChangedAmount[] {
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((field) => {
    const [before, after] = [old.get(field), now.get(field)];
    if (before === after) return [];
    const percent =
      before === undefined || after === undefined || before === 0 ? undefined : (after / before - 1) * 100;
    return [
      {
        field,
        old: before === undefined ? undefined : shown(before),
        new: after === undefined ? undefined : shown(after),
        percent: percent === undefined ? undefined : Math.round(percent * 10) / 10,
      },
    ];
  });
}

const shown = (amount: number): string => decimalText(decimal(amount));

/** An amount that was there and becomes 0 is always implausible. */
function isWild({ old, new: now }: ChangedAmount, maxChange: number): boolean {
  if (old === undefined || now === undefined) return false;
  const [before, after] = [Number(old), Number(now)];
  const most = 1 + maxChange / 100;
  return before > 0 && (after > before * most || after * most < before);
}

function kindOf(old: ModelInfo | undefined, amounts: readonly ChangedAmount[]): PriceChange['kind'] {
  if (old === undefined) return 'new';
  // An amount that is added or removed may make calls cheaper or dearer.
  if (amounts.some((amount) => amount.old === undefined || amount.new === undefined)) return 'structure';
  const rises = amounts.filter((amount) => Number(amount.new) > Number(amount.old)).length;
  return rises === 0 ? 'decrease' : rises === amounts.length ? 'increase' : 'mixed';
}

/** Callers choose the names that expressions run on: a new one could be made to take forever. */
function isPlainMatch(match: MatchLogic): boolean {
  if (typeof match !== 'object' || match === null) return false;
  if ('or' in match) return Array.isArray(match.or) && match.or.every(isPlainMatch);
  if ('and' in match) return Array.isArray(match.and) && match.and.every(isPlainMatch);
  return Object.entries(match).every(
    ([key, value]) => ['equals', 'starts_with', 'ends_with', 'contains'].includes(key) && typeof value === 'string',
  );
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
