/**
 * Recorded calls of LiteLLM (`LiteLLM_SpendLogs`) and its sums by day (`LiteLLM_DailyUserSpend`). Facts: BerriAI/litellm 1.110.2, schema.prisma,
 * `SpendLogsMetadata` in litellm/proxy/_types.py, `Usage` in litellm/types/utils.py.
 */
import type { Rate } from '../../../core/contracts/formats/rates.ts';
import { type Decimal, inUnitsOf } from '../../../core/sdk.ts';
import type { Database } from '../databases.ts';
import { createDaySums } from '../day-sums.ts';
import type { ForeignDay, ForeignUsage } from '../inventory.ts';
import { unhurried } from '../unhurried.ts';
import { amountOf, asObject, numberOf, objectOf, type Row, textOf } from '../values.ts';
import type { RecordedPrice } from './deployments.ts';
import { costsIn, priceOf } from './prices.ts';

const CALLS = 'LiteLLM_SpendLogs';
const DAYS = 'LiteLLM_DailyUserSpend';
/** Recorded calls that are read to learn prices. */
const MOST_CALLS = 10_000;
const DAY_MS = 86_400_000;
const MICRO_SCALE = 6;

/** Calls that are charged by their tokens alone. */
const BY_TOKENS =
  /^a?(?:completion|text_completion|embedding|responses|anthropic_messages|generate_content|generate_content_stream)$/;

/** The newest recorded calls first. */
export async function* usageOf(database: Database, perUnit: number, most: number): AsyncIterable<ForeignUsage> {
  for await (const row of database.each(CALLS, { by: 'startTime', newest: most })) {
    const metadata = objectOf(row, 'metadata');
    const costs = costsOf(metadata);
    yield {
      id: textOf(row, 'request_id') ?? '',
      atMs: timeOf(row, 'startTime'),
      model: modelOf(row),
      charged: chargedOf(row.spend, perUnit),
      tokens: tokensOf(row, metadata),
      rates: costs && textOfCosts(costs),
      unknown: reasonOf(row, metadata),
    };
  }
}

/** What recorded calls say about prices: the newest of each model. `isEarly`: it is LiteLLM before 1.103. */
export async function recordedPrices(database: Database, isEarly = false): Promise<ReadonlyMap<string, RecordedPrice>> {
  const found = new Map<string, RecordedPrice>();
  for await (const row of database.each(CALLS, { by: 'startTime', newest: MOST_CALLS })) {
    const name = modelOf(row);
    const metadata = objectOf(row, 'metadata');
    if (name === '' || found.has(name) || reasonOf(row, metadata) !== undefined) continue;
    const information = metadata.model_map_information;
    if (information === undefined || information === null) continue;
    const costs = costsOf(metadata);
    const of = { provider: textOf(row, 'custom_llm_provider'), model: textOf(row, 'model'), isEarly };
    const price = costs && priceOf(costs, of);
    const isFree = amountOf(row.spend)?.digits === 0n && Number(row.total_tokens) > 0;
    if (price?.price !== undefined && !price.isFree) found.set(name, { price: price.price });
    else if (isFree) found.set(name, { price: undefined });
  }
  return found;
}

/** Sums by day, in order of days. `ownerOf`: the user that a key, or its user there, has here. */
export async function* daysOf(
  database: Database,
  perUnit: number,
  ownerOf: (key: string, user: string | undefined) => string,
): AsyncIterable<ForeignDay> {
  const isSummed = ((await database.tables()).get(DAYS) ?? 0) > 0;
  // In the order of their ids: a page in the order of times would cost the more the later it is.
  const rows = database.each(isSummed ? DAYS : CALLS, { only: COLUMNS });
  const sums = await createDaySums();
  try {
    for await (const row of rows) {
      const atMs = isSummed ? Date.parse(`${textOf(row, 'date')}T00:00:00Z`) : timeOf(row, 'startTime');
      const dayMs = Math.floor(atMs / DAY_MS) * DAY_MS;
      const model = modelOf(row);
      if (!Number.isSafeInteger(dayMs) || model === '') continue;
      const key = textOf(row, 'api_key') ?? '';
      sums.add(dayMs, {
        ...{ user: ownerOf(key, textOf(row, isSummed ? 'user_id' : 'user')), key, model },
        calls: isSummed ? (numberOf(row, 'api_requests') ?? 0) : 1,
        input: numberOf(row, 'prompt_tokens') ?? 0,
        output: numberOf(row, 'completion_tokens') ?? 0,
        amount: chargedOf(row.spend, perUnit),
      });
    }
    for (const dayMs of await sums.days()) {
      for await (const { key, amount, ...sum } of unhurried(sums.of(dayMs)))
        yield { dayMs, ...sum, key: key || undefined, charged: amount };
    }
  } finally {
    sums.close();
  }
}

/** Columns of both tables that sums are made of. */
const COLUMNS: readonly string[] = [
  ...['date', 'startTime', 'api_key', 'user', 'user_id', 'model_group', 'model'],
  ...['api_requests', 'prompt_tokens', 'completion_tokens', 'spend'],
];

/** The public model; older versions have only the one that was called. */
const modelOf = (row: Row): string => textOf(row, 'model_group') ?? textOf(row, 'model') ?? '';

function timeOf(row: Row, column: string): number {
  const text = textOf(row, column) ?? '';
  return Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
}

/** Dollars in micro-quota, to the nearest: LiteLLM adds them as binary fractions. */
function chargedOf(spend: unknown, perUnit: number): bigint {
  const dollars: Decimal = amountOf(spend) ?? { digits: 0n, scale: 0 };
  const scale = Math.max(dollars.scale, MICRO_SCALE);
  const divisor = 10n ** BigInt(scale - MICRO_SCALE);
  return (inUnitsOf(dollars, scale) * BigInt(perUnit) + divisor / 2n) / divisor;
}

/** Its tokens; details are parts of the totals. */
function tokensOf(row: Row, metadata: Row): Readonly<Partial<Record<Rate, number>>> {
  const usage = { ...objectOf(metadata, 'additional_usage_values'), ...objectOf(metadata, 'usage_object') };
  const [input, output] = [asObject(usage.prompt_tokens_details), asObject(usage.completion_tokens_details)];
  const written = numberOf(usage, 'cache_creation_input_tokens') ?? numberOf(input, 'cache_creation_tokens');
  const long = numberOf(asObject(input.cache_creation_token_details), 'ephemeral_1h_input_tokens') ?? 0;
  const all: Partial<Record<Rate, number | undefined>> = {
    input: numberOf(row, 'prompt_tokens'),
    output: numberOf(row, 'completion_tokens'),
    cacheRead: numberOf(input, 'cached_tokens') ?? numberOf(usage, 'cache_read_input_tokens'),
    cacheWrite: written === undefined ? undefined : written - long,
    cacheWriteLong: long,
    inputAudio: numberOf(input, 'audio_tokens'),
    inputImage: numberOf(input, 'image_tokens'),
    reasoning: numberOf(output, 'reasoning_tokens'),
    outputAudio: numberOf(output, 'audio_tokens'),
    outputImage: numberOf(output, 'image_tokens'),
  };
  const isTotal = (rate: string): boolean => rate === 'input' || rate === 'output';
  return Object.fromEntries(
    Object.entries(all).flatMap(([rate, count]) =>
      count === undefined || (count <= 0 && !isTotal(rate)) ? [] : [[rate, count]],
    ),
  );
}

/** The costs that a call was charged by. */
function costsOf(metadata: Row): Row | undefined {
  const value = asObject(asObject(metadata.model_map_information).model_map_value);
  const costs = costsIn(value);
  return Object.keys(costs).length === 0 ? undefined : costs;
}

function textOfCosts(costs: Row): string {
  return Object.entries(costs)
    .map(([field, cost]) => `${field} ${typeof cost === 'object' ? JSON.stringify(cost) : cost}`)
    .join(', ');
}

/** Why a call cannot be computed from its tokens; undefined: it can. */
function reasonOf(row: Row, metadata: Row): string | undefined {
  const breakdown = asObject(metadata.cost_breakdown);
  const status = textOf(row, 'status') ?? textOf(metadata, 'status');
  const isSet = (field: string): boolean => Number(breakdown[field] ?? 0) !== 0;
  const tier = textOf(breakdown, 'service_tier');
  if (status === 'failure') return 'it failed';
  if (textOf(row, 'cache_hit')?.toLowerCase() === 'true') return 'LiteLLM answered it from its cache';
  if (!BY_TOKENS.test(textOf(row, 'call_type') ?? '')) return `a call of the kind ${textOf(row, 'call_type') ?? '?'}`;
  if (tier !== undefined && tier !== 'default' && tier !== 'auto') return `service tier ${tier}`;
  if (['tool_usage_cost', 'guardrail_cost'].some(isSet)) return 'it has costs of tools or guardrails';
  return undefined;
}
