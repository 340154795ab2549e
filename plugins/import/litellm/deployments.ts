/** Deployments of LiteLLM, from the file or the database: channels, the models they serve, and their prices. */
import { decimalText } from '../../../core/sdk.ts';
import type { ForeignChannel, ForeignModel, ForeignPrice, Left } from '../inventory.ts';
import { uniqueName } from '../names.ts';
import { amountOf, asObject, literal, type Row, textOf } from '../values.ts';
import { PROVIDERS, type Provider, splitModel } from './providers.ts';

/** The API version of Azure if a deployment has none. */
const AZURE_VERSION = '2024-10-21';
/** `os.environ/NAME`: the value is in the environment. */
const VARIABLE = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/;

/** Our units by the names of a deployment's costs: per token, and per second. */
const PER_TOKEN: Readonly<Record<string, string>> = {
  input: 'input_cost_per_token',
  cacheRead: 'cache_read_input_token_cost',
  cacheWrite: 'cache_creation_input_token_cost',
  inputAudio: 'input_cost_per_audio_token',
  output: 'output_cost_per_token',
  outputAudio: 'output_cost_per_audio_token',
};
/** Fields of a deployment that are read, and those that mean nothing here. */
const READ = new Set([
  ...[
    'model',
    'api_key',
    'api_base',
    'base_url',
    'api_version',
    'organization',
    'extra_headers',
    'custom_llm_provider',
  ],
  ...['weight', 'order', 'mock_response', 'use_in_pass_through', 'input_cost_per_second', ...Object.values(PER_TOKEN)],
]);

/** What deployments become. */
export interface Deployments {
  readonly channels: readonly ForeignChannel[];
  readonly models: Map<string, ForeignModel>;
  readonly left: Left[];
}

/** Rows with `model_name`, `litellm_params` and `model_info`. Those with the same account share a channel. */
export function readDeployments(rows: readonly Row[]): Deployments {
  const channels = new Map<string, ForeignChannel>();
  const names = new Set<string>();
  const models = new Map<string, ForeignModel>();
  const left: Left[] = [];
  for (const row of rows) {
    const name = textOf(row, 'model_name') ?? '';
    const params = asObject(row.litellm_params);
    const what = `deployment of ${name}`;
    const target = splitModel(textOf(params, 'model') ?? '', textOf(params, 'custom_llm_provider'));
    if (target === undefined) {
      left.push({ what, why: `${textOf(params, 'model')}: there is no vendor for this provider` });
      continue;
    }
    const channel = channelOf(target.name, params);
    if (typeof channel === 'string') {
      left.push({ what, why: channel });
      continue;
    }
    const identity = JSON.stringify(channel);
    const made = channels.get(identity) ?? { ...channel, name: uniqueName(target.name, names) };
    channels.set(identity, made);
    const price = priceOf({ ...asObject(row.model_info), ...params });
    const before = models.get(name);
    const entry: ForeignModel = before ?? { from: [], price };
    // `openai/*` under the same name: the star stands for what the client sent.
    entry.from.push({ channel: made.name, model: target.upstream });
    models.set(name, entry);
    if (before !== undefined && JSON.stringify(before.price) !== JSON.stringify(price)) {
      left.push({ what: `price of ${name}`, why: 'its deployments have different prices; that of the first is used' });
    }
    const others = Object.keys(params).filter((field) => !READ.has(field));
    if (others.length > 0) left.push({ what, why: `${others.join(', ')}: not imported` });
  }
  return { channels: [...channels.values()], models, left };
}

/** The channel of a deployment without its name; a sentence if it cannot be one. */
function channelOf(name: string, params: Row): Omit<ForeignChannel, 'name'> | string {
  const provider = PROVIDERS[name]!;
  const base = urlOf(textOf(params, 'api_base') ?? textOf(params, 'base_url'));
  // The vendor's own channels also speak styles that a compatible server may lack.
  const vendor = base !== undefined && provider.vendor === 'openai' ? 'compatible' : provider.vendor;
  const isAzure = name === 'azure';
  const url = isAzure && base !== undefined ? `${base}/openai/deployments/{model}` : (base ?? provider.url);
  if (url === undefined && vendor === 'compatible') return 'it has no api_base';
  const headers = Object.fromEntries(
    Object.entries(asObject(params.extra_headers)).flatMap(([field, value]) =>
      typeof value === 'string' ? [[field, interpolated(value)]] : [],
    ),
  );
  const organization = textOf(params, 'organization');
  const more = {
    ...(organization !== undefined && vendor === 'openai' && { organization: interpolated(organization) }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(isAzure && {
      query: { 'api-version': interpolated(textOf(params, 'api_version') ?? AZURE_VERSION) },
      auth: { header: 'api-key' },
    }),
  };
  const weight = Number(textOf(params, 'weight') ?? 1);
  const order = Number(textOf(params, 'order') ?? 1);
  return {
    vendor,
    ...(url !== undefined && { url }),
    key: keyOf(textOf(params, 'api_key'), provider),
    ...(weight > 0 && weight !== 1 && { weight }),
    // The lowest order is tried first, as the lowest priority here.
    ...(order > 1 && { priority: order - 1 }),
    ...(Object.keys(more).length > 0 && { more }),
  };
}

function urlOf(written: string | undefined): string | undefined {
  return (
    written &&
    interpolated(written)
      .replace(/\/+$/, '')
      .replace(/\/chat\/completions$/, '')
  );
}

function keyOf(written: string | undefined, provider: Provider): ForeignChannel['key'] {
  if (written === undefined) return provider.keyless === true ? { none: true } : { variable: provider.variable };
  const variable = VARIABLE.exec(written)?.[1];
  return variable === undefined ? { secret: written } : { variable };
}

/** A value of the environment, as gateway.yaml writes it. */
function interpolated(text: string): string {
  const variable = VARIABLE.exec(text)?.[1];
  return variable === undefined ? literal(text) : `\${${variable}}`;
}

/** Dollars per token and per second; undefined if the deployment has none: then the list price applies, there and here. */
function priceOf(costs: Row): ForeignPrice | undefined {
  const price: Record<string, string> = {};
  for (const [rate, field] of Object.entries(PER_TOKEN)) {
    const cost = amountOf(costs[field]);
    if (cost !== undefined) price[rate] = decimalText({ digits: cost.digits * 1_000_000n, scale: cost.scale });
  }
  const perSecond = amountOf(costs.input_cost_per_second);
  if (perSecond !== undefined) price.perSecond = decimalText(perSecond);
  if (price.input === undefined && price.perSecond === undefined) return undefined;
  // Output that costs nothing there would cost as much as input here.
  if (price.input !== undefined && price.output === undefined) price.output = '0';
  return price;
}
