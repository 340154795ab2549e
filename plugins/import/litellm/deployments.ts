/**
 * Deployments of LiteLLM, from the file and the database: channels, the models they serve, their prices, and a group of channels for each
 * team that has deployments of its own. Facts: BerriAI/litellm 1.110.2, litellm/router.py, litellm/router_strategy/simple_shuffle.py (weights),
 * `get_order_filtered_deployments` in litellm/utils.py (order), litellm/types/router.py (fields).
 */
import { type Decimal, inUnitsOf, starIn } from '../../../core/sdk.ts';
import {
  type ForeignChannel,
  type ForeignGroup,
  type ForeignModel,
  type ForeignPrice,
  type Note,
  type Setting,
  Variable,
} from '../inventory.ts';
import { uniqueName } from '../names.ts';
import { amountOf, asObject, asTexts, type Row, textOf } from '../values.ts';
import type { CostMap } from './cost-map.ts';
import { type Margins, withMargin } from './margins.ts';
import { costsIn, decideImages, decideTokens, type FoundPrice, isCost, priceOf, withInherited } from './prices.ts';
import { PROVIDERS, type Provider, type SplitModel, splitModel } from './providers.ts';
import type { Published } from './published.ts';

/** The API version of Azure if neither a deployment nor the environment has one: `AZURE_DEFAULT_API_VERSION`. */
const AZURE_VERSION = '2025-02-01-preview';
/** `os.environ/NAME`: the value is in the environment. */
const VARIABLE = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/;
/** Behind the address of Azure's service. */
const AZURE_PATH = '/openai/deployments/{model}';
/** The group of accounts without another one. */
const DEFAULT_GROUP = 'default';

/** The styles of channels of servers with OpenAI's API, by `mode` of a deployment, where they are not the usual ones. */
const STYLES: Readonly<Record<string, readonly string[]>> = {
  image_generation: ['images', 'edits'],
  image_edit: ['edits'],
  audio_speech: ['speech'],
  audio_transcription: ['transcription', 'translation'],
  responses: ['responses'],
};

/** Fields that are read here. */
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
  ...['weight', 'order', 'rpm', 'tpm', 'timeout', 'litellm_credential_name', 'use_in_pass_through', 'model_info'],
]);
/** Fields of `model_info` that are read, or only describe a model. */
const READ_INFO = new Set([
  ...['id', 'db_model', 'access_groups', 'base_model', 'mode', 'team_id', 'team_public_model_name', 'key', 'order'],
  ...['created_at', 'created_by', 'updated_at', 'updated_by', 'description', 'litellm_provider', 'direct_access'],
  ...['max_tokens', 'max_input_tokens', 'max_output_tokens', 'supported_openai_params', 'rpm', 'tpm'],
]);
/** Fields of `model_info` that only say what a model can do. */
const DESCRIBES = /^supports_/;
/** Fields that say how to sign a request, not with a key. */
const SIGNED = ['azure_ad_token', 'client_secret', 'azure_username', 'aws_access_key_id', 'aws_role_name'];
/** Why other fields are not here. */
const REASONS: Readonly<Record<string, string>> = {
  max_tokens: 'requests have no default values here: clients send it',
  temperature: 'requests have no default values here: clients send it',
  max_retries: 'one setting for all channels: `listen.attempts.max`',
  stream_timeout: 'a channel has one time limit for the beginning of an answer: `timeout.head`',
  tags: 'tags of a request choose no channel',
  max_budget: 'channels have no budget; `alerts.budget.channels` tells when one is reached',
  budget_duration: 'channels have no budget; `alerts.budget.channels` tells when one is reached',
  drop_params: 'parameters that a model does not accept are always left out, with a warning',
};

/** A deployment: an entry of `model_list`, or a row of the database with its values decrypted. */
export interface Deployment {
  /** The table or option that it is from. */
  readonly where: string;
  readonly name: string;
  readonly params: Row;
  readonly info: Row;
  /** No call reaches it. */
  readonly isBlocked?: boolean;
}

/** What recorded calls say about the price of a model. */
export interface RecordedPrice {
  /** The costs it was charged by; undefined: none, its calls were free. */
  readonly price: ForeignPrice | undefined;
}

/** What deployments refer to. */
export interface Surroundings {
  /** Environment variables of the configuration. */
  readonly variables: ReadonlyMap<string, string>;
  /** Values by name of the credential. */
  readonly credentials: ReadonlyMap<string, Row>;
  /** Names of teams by their id. */
  readonly teams: ReadonlyMap<string, string>;
  /** Names that teams have for their own deployments, besides the public ones: internal name to names. */
  readonly teamNames: ReadonlyMap<string, readonly string[]>;
  /** Deployments are chosen by weight. */
  readonly isWeighted: boolean;
  /** By public name. */
  readonly recorded: ReadonlyMap<string, RecordedPrice>;
  /** The list price that ships with this gateway; undefined: not known here. */
  readonly published?: Published | undefined;
  /** What deployments without costs of their own are charged by; undefined: the operator has not given it. */
  readonly costMap?: CostMap | undefined;
  readonly margins: Margins;
  /** It is LiteLLM before 1.103, which charges nothing for cached tokens without a cost of their own. */
  readonly isEarly?: boolean | undefined;
}

/** A name that clients send, and who may. */
export interface PublicName {
  readonly name: string;
  /** The team whose deployments it has; undefined: it is for everybody. */
  readonly team: string | undefined;
  readonly accessGroups: ReadonlySet<string>;
}

/** What deployments become. */
export interface Deployments {
  readonly channels: readonly ForeignChannel[];
  readonly models: Map<string, ForeignModel>;
  /** Empty if no team has deployments of its own. */
  readonly groups: readonly ForeignGroup[];
  /** The group of a team with deployments of its own, by its id. */
  readonly groupOf: ReadonlyMap<string, string>;
  readonly names: readonly PublicName[];
  readonly left: Note[];
}

type Account = Omit<ForeignChannel, 'name' | 'weight' | 'priority'>;

/** A deployment that becomes a channel. */
interface Target {
  readonly where: string;
  readonly public: string;
  readonly team: string | undefined;
  readonly provider: string;
  readonly account: Account;
  readonly upstream: string;
  readonly order: number | undefined;
  readonly weights: Readonly<Record<Metric, Decimal | undefined>>;
  /** Undefined: the list price of its channel. */
  readonly price: ForeignPrice | undefined;
  readonly isFree: boolean;
  /** That list price, if it is known. */
  readonly listed: ForeignPrice | undefined;
}

const METRICS = ['weight', 'rpm', 'tpm'] as const;
type Metric = (typeof METRICS)[number];

/** Reads them. Those with the same account, weight and order share a channel. */
export function readDeployments(deployments: readonly Deployment[], around: Surroundings): Deployments {
  const left: Note[] = [];
  const targets = deployments.flatMap((each) => targetsOf(each, around, left));
  const channels = new Map<string, { channel: ForeignChannel; team: string | undefined; hidden: readonly string[] }>();
  const taken = new Set<string>();
  const names = new Map<string, string>();
  const models = new Map<string, ForeignModel>();
  for (const [name, its] of groupedBy(targets, (target) => target.public)) {
    const owners = groupedBy(its, ({ team }) => team);
    const from: { channel: string; model: string }[] = [];
    for (const [team, ofOwner] of owners) {
      // A team with deployments of its own under a name never reaches those of everybody under it.
      const hidden = team === undefined ? [...owners.keys()].filter((other) => other !== undefined).sort() : [];
      for (const { target, weight, priority } of ranked(ofOwner, around.isWeighted)) {
        const made = {
          ...target.account,
          ...(priority > 0 && { priority }),
          ...(weight !== 1 && { weight }),
        };
        const identity = JSON.stringify([made, team, hidden]);
        // A channel has one name for a model: an account that has two for it is two channels.
        const copy = from.filter(({ channel }) => names.get(channel) === identity).length;
        const found = channels.get(`${identity} ${copy}`) ?? {
          channel: { name: uniqueName(target.provider, taken), ...made },
          team,
          hidden,
        };
        channels.set(`${identity} ${copy}`, found);
        names.set(found.channel.name, identity);
        from.push({ channel: found.channel.name, model: target.upstream });
      }
    }
    models.set(name, modelOf(name, its, from, left));
  }
  const all = [...channels.values()];
  const teams = [...new Set(all.flatMap(({ team }) => team ?? []))];
  const groupNames = new Set([DEFAULT_GROUP]);
  const groupOf = new Map(teams.map((team) => [team, uniqueGroup(around.teams.get(team) ?? team, groupNames)]));
  const groups = [undefined, ...teams].map((team): ForeignGroup => {
    const reached = all.filter((each) =>
      each.team === undefined ? team === undefined || !each.hidden.includes(team) : each.team === team,
    );
    return {
      name: team === undefined ? DEFAULT_GROUP : groupOf.get(team)!,
      channels: reached.map(({ channel }) => channel.name),
    };
  });
  return {
    channels: all.map(({ channel }) => channel),
    models,
    groups: teams.length === 0 ? [] : groups.filter(({ channels }) => channels!.length > 0),
    groupOf,
    names: namesOf(deployments, around),
    left,
  };
}

/** The public names of all deployments, also of those that are not here: lists of models may have them. */
function namesOf(deployments: readonly Deployment[], around: Surroundings): readonly PublicName[] {
  return deployments.flatMap(({ name, info, isBlocked }) => {
    const accessGroups = new Set(asTexts(info.access_groups));
    const team = textOf(info, 'team_id');
    if (isBlocked === true) return [];
    return publicNames(name, info, around).map((each) => ({ name: each, team, accessGroups }));
  });
}

function publicNames(name: string, info: Row, { teamNames }: Surroundings): readonly string[] {
  if (textOf(info, 'team_id') === undefined) return [name];
  return [...new Set([textOf(info, 'team_public_model_name') ?? name, ...(teamNames.get(name) ?? [])])];
}

function targetsOf(deployment: Deployment, around: Surroundings, left: Note[]): readonly Target[] {
  const { where, name, info } = deployment;
  const what = `deployment of ${textOf(info, 'team_public_model_name') ?? name}`;
  const leave = (why: string): readonly Target[] => {
    left.push({ kind: 'left', where, what, why });
    return [];
  };
  if (deployment.isBlocked === true) return leave('it is blocked there');
  const credential = textOf(deployment.params, 'litellm_credential_name');
  const values = credential === undefined ? {} : around.credentials.get(credential);
  if (values === undefined) return leave(`its credential ${credential} is not there, or cannot be decrypted`);
  const own = Object.entries(deployment.params).filter(([, value]) => value !== null && value !== undefined);
  const params: Row = { ...values, ...Object.fromEntries(own) };
  const written = textOf(params, 'model') ?? '';
  const split = splitModel(written, textOf(params, 'custom_llm_provider'));
  if (split === undefined) return leave(`${written}: there is no vendor for this provider`);
  if (params.mock_response !== undefined && params.mock_response !== null)
    return leave('it answers with `mock_response`');
  if (SIGNED.some((field) => textOf(params, field) !== undefined) && textOf(params, 'api_key') === undefined)
    return leave('it has no key: its requests are signed');
  const account = accountOf(split, params, info, around.variables);
  if (typeof account === 'string') return leave(account);
  if (split.name.startsWith('ollama') && account.url !== undefined)
    left.push({ kind: 'changed', where, what, why: 'Ollama is called by its OpenAI API (`/v1`), not by its own' });
  if (name === `${split.name}/*`) {
    const why = `models that LiteLLM knows to be of ${split.name} reach it without \`${split.name}/\` in front; here they need it, or a pattern of their own`;
    left.push({ kind: 'changed', where, what, why });
  }
  noteFields(deployment, what, left);
  const order = Number(textOf(params, 'order') ?? textOf(info, 'order'));
  return publicNames(name, info, around).map((name) => {
    const found = chargedFor({ name, split, written, account, params, info, where, what }, around, left);
    const listed = around.published?.(upstreamOf({ account, split }));
    return {
      where,
      public: name,
      team: textOf(info, 'team_id'),
      provider: split.name,
      account,
      upstream: split.upstream,
      order: Number.isInteger(order) ? order : undefined,
      weights: {
        weight: amountOf(params.weight),
        rpm: amountOf(params.rpm),
        tpm: amountOf(params.tpm),
      },
      ...withMarginOf(found, listed, split, around.margins, { where, what }, left),
      listed,
    };
  });
}

/** A deployment, and how it is told. */
interface Priced {
  readonly name: string;
  readonly split: SplitModel;
  /** `litellm_params.model`. */
  readonly written: string;
  readonly account: Account;
  readonly params: Row;
  readonly info: Row;
  readonly where: string;
  readonly what: string;
}

type Charged = Pick<FoundPrice, 'price' | 'isFree'>;

/**
 * The price of a deployment: its own costs with those that it inherits from the model behind it, or those of LiteLLM's cost map, as the operator
 * gives it, recorded calls were charged by it, or the list prices here have it.
 */
function chargedFor(deployment: Priced, around: Surroundings, left: Note[]): Charged {
  const { split, params, info, where, what } = deployment;
  const stated = costsIn({ ...info, ...params });
  const mode = textOf(info, 'mode');
  const behind = costsBehind(deployment, around.costMap);
  const of = { provider: split.name, model: split.upstream, isEarly: around.isEarly };
  const told = ({ price, isFree, others }: FoundPrice, kind: 'decide' | 'left'): Charged => {
    for (const { field, why } of others) left.push({ kind, where: `${where}.${field}`, what, why });
    return { price, isFree };
  };
  if (decideTokens(stated) || decideImages(stated)) {
    const found = priceOf({ ...withInherited(stated, behind ?? {}), mode: mode ?? behind?.mode }, of);
    const own = told(found, 'decide');
    if (split.name === 'together_ai' && found.price !== undefined) {
      const why =
        'LiteLLM reads a size of the model from the identifier of such a deployment, and may charge by that; here it costs what it states';
      left.push({ kind: 'changed', where, what, why });
    }
    if (behind !== undefined || own.price === undefined || stated.input_cost_per_token === undefined) return own;
    return withListedCache(own, deployment, around, left);
  }
  if (Object.keys(stated).length > 0) {
    const why = `LiteLLM ignores ${Object.keys(stated).join(', ')}, because the deployment states no cost of input or output`;
    left.push({ kind: 'changed', where, what, why });
  }
  if (behind !== undefined) {
    const found = priceOf({ ...behind, mode: mode ?? behind.mode }, of);
    const own = told(found, 'left');
    if (own.price !== undefined) return own;
    if (found.others.length > 0) {
      const why =
        'a price here cannot say its costs: it has the list price, if one is known here, otherwise its calls are refused until it has a price';
      left.push({ kind: 'decide', where, what, why });
      return own;
    }
    left.push({
      kind: 'decide',
      where,
      what,
      why: 'the cost map has no price for it: its calls cost nothing, as there',
    });
    return { price: undefined, isFree: true };
  }
  const isListed = around.published?.(upstreamOf(deployment)) !== undefined || around.recorded.has(deployment.name);
  if (stated.input_cost_per_character !== undefined && !isListed) {
    const why = 'LiteLLM charges nothing for it, because its cost map does not have it; here it costs what it states';
    left.push({ kind: 'decide', where, what, why });
    return priceOf(stated, of);
  }
  return unstatedPrice(deployment, around, left);
}

/** What a list price is looked up by. */
const upstreamOf = ({ account, split }: Pick<Priced, 'account' | 'split'>): Parameters<Published>[0] => ({
  vendor: account.vendor,
  url: account.url ?? '',
  model: split.upstream,
});

/** The entry of the cost map for the model behind a deployment. */
function costsBehind({ split, written, params, info }: Priced, costMap: CostMap | undefined): Row | undefined {
  const base = baseModelOf(params, info);
  if (base === undefined) return costMap?.of(split.name, written) ?? costMap?.of(split.name, split.upstream);
  const found = costMap?.of(split.name, base);
  return found !== undefined && decideTokens(costsIn(found)) ? found : (costMap?.named(base) ?? found);
}

/** The model that LiteLLM is told to charge for. */
const baseModelOf = (params: Row, info: Row): string | undefined =>
  textOf(info, 'base_model') ?? textOf(params, 'base_model');

/** A price of costs that state none for a cache: LiteLLM has these from its cost map; the list price has them, too. */
function withListedCache(own: Charged, deployment: Priced, around: Surroundings, left: Note[]): Charged {
  const { where, what } = deployment;
  const listed = listedFor(deployment, around)?.price;
  const missing = Object.entries(listed ?? {}).filter(
    ([rate, cost]) => rate.startsWith('cache') && typeof cost === 'string' && own.price![rate] === undefined,
  );
  if (missing.length === 0 || own.isFree) return own;
  const why = `it states no costs for cached tokens, for which LiteLLM takes those of its cost map; they cost the list price here. ${GIVE_MAP}`;
  left.push({ kind: 'changed', where, what, why });
  return { price: { ...own.price, ...Object.fromEntries(missing) }, isFree: false };
}

/** How the operator makes prices equal. */
const GIVE_MAP = 'Pass the cost map with `--litellm-costs FILE` to charge the same';

/** The price of a deployment that states no costs, of which the cost map is not known. */
function unstatedPrice(deployment: Priced, around: Surroundings, left: Note[]): Charged {
  const { name, split, params, info, where, what } = deployment;
  const { published, costMap } = around;
  const note = (kind: Note['kind'], why: string): void => {
    left.push({ kind, where, what, why });
  };
  const charged = around.recorded.get(name);
  if (charged !== undefined) {
    note(
      'changed',
      charged.price === undefined
        ? 'LiteLLM has no price for it: its recorded calls cost nothing, and so they do here'
        : 'it states no costs; the price is that of its recorded calls',
    );
    return { price: charged.price, isFree: charged.price === undefined };
  }
  const base = baseModelOf(params, info);
  if (PROVIDERS[split.name]!.own === true && base === undefined) {
    note('decide', 'it states no costs: its calls cost nothing, as there');
    return { price: undefined, isFree: true };
  }
  if (published === undefined) return { price: undefined, isFree: false };
  if (name.includes('*')) {
    note('decide', patternNote(deployment, around));
    return { price: undefined, isFree: false };
  }
  const own = published(upstreamOf(deployment));
  const isOwn = own !== undefined && base === undefined;
  const listed = isOwn ? undefined : listedFor(deployment, around)?.price;
  const why =
    costMap === undefined
      ? 'it states no costs, and LiteLLM charges by a cost map of its own'
      : 'it states no costs, and the cost map does not have it: LiteLLM charges by the model that an answer names, if the map has that, otherwise nothing';
  const hint = costMap === undefined ? `. ${GIVE_MAP}` : '';
  if (isOwn || listed !== undefined) note('decide', `${why}; it costs the list price here${hint}`);
  else
    note(
      'decide',
      `${why}; no list price is known here: unless another deployment of the name has a price, its calls are refused until it has one, or is \`free: true\`${hint}`,
    );
  return { price: listed, isFree: false };
}

/** Names that a note lists. */
const MOST_NAMES = 20;
/** Rates that two prices are compared by, each with the one that it has if it is not there. */
const COMPARED = { input: undefined, cacheRead: 'input', cacheWrite: 'input', output: undefined } as const;

/** What the models of a pattern cost. */
function patternNote({ split, account }: Priced, { published, costMap }: Surroundings): string {
  const usual = 'LiteLLM charges the models of a pattern by its cost map; each of them costs its list price here';
  if (costMap === undefined) return `${usual}. ${GIVE_MAP}, or tell which differ`;
  const others = costMap.models(split.name).flatMap(([model, costs]) => {
    const there = priceOf(costs, { provider: split.name, model }).price;
    if (there?.input === undefined || starIn(split.upstream, model) === undefined) return [];
    const here = published!({ ...upstreamOf({ split, account }), model });
    const rateOf = (price: ForeignPrice | undefined, rate: keyof typeof COMPARED) =>
      Number(price?.[rate] ?? price?.[COMPARED[rate] ?? rate] ?? Number.NaN);
    const isAlike = (Object.keys(COMPARED) as (keyof typeof COMPARED)[]).every(
      (rate) => rateOf(there, rate) === rateOf(here, rate),
    );
    return isAlike ? [] : [model];
  });
  if (others.length === 0) return usual;
  const named = others.slice(0, MOST_NAMES).join(', ');
  const more = others.length > MOST_NAMES ? ` and ${others.length - MOST_NAMES} more` : '';
  return `${usual}. By the map, these cost something else, or have no list price: ${named}${more}: write those that are used as models of their own`;
}

/** The list price of the model behind a deployment, at its provider. */
function listedFor(
  { split: { name: provider, upstream }, params, info }: Priced,
  { published }: Surroundings,
): { readonly price: ForeignPrice } | undefined {
  const base = baseModelOf(params, info);
  const [word = '', ...rest] = (base ?? '').split('/');
  const isPrefixed = rest.length > 0 && Object.hasOwn(PROVIDERS, word);
  const of = isPrefixed ? word : provider;
  const vendor = of === 'azure' ? 'openai' : of;
  const model = isPrefixed ? rest.join('/') : (base ?? upstream);
  const price = published?.({ vendor, url: PROVIDERS[of]!.url ?? '', model });
  return price && { price };
}

/** The price with the margin or discount of its provider. */
function withMarginOf(
  { price, isFree }: Charged,
  listed: ForeignPrice | undefined,
  { name: provider, upstream }: SplitModel,
  margins: Margins,
  note: { readonly where: string; readonly what: string },
  left: Note[],
): Charged {
  const margin = margins.of(provider, upstream);
  if (margin === undefined) return { price, isFree };
  if (isFree)
    return margin.perCall.digits === 0n
      ? { price, isFree }
      : { price: withMargin({ perRequest: '0' }, margin), isFree: false };
  const before = price ?? listed;
  if (before === undefined) {
    const why = 'it has a margin or discount there, and no price is known here: write a price with it in `prices`';
    left.push({ kind: 'decide', ...note, why });
    return { price, isFree };
  }
  return { price: withMargin(before, margin), isFree };
}

/** The account that a deployment calls; a sentence if it cannot be one. */
function accountOf(
  { name, isResponses, upstream }: SplitModel,
  params: Row,
  info: Row,
  variables: ReadonlyMap<string, string>,
): Account | string {
  const provider = PROVIDERS[name]!;
  const isAzure = name === 'azure';
  if (isAzure && upstream.startsWith('responses/')) return 'the Responses API of Azure is not supported';
  const mode = textOf(info, 'mode');
  if (mode === 'rerank' || mode === 'realtime' || mode === 'video_generation')
    return `its mode ${mode} is not supported`;
  const written = textOf(params, 'api_base') ?? textOf(params, 'base_url');
  const base = fromEnvironment(
    written ?? provider.bases.map((each) => variables.get(each)).find((each) => each !== undefined),
    variables,
  );
  // The vendor's own channels also speak styles that a compatible server may lack.
  const vendor = base !== undefined && provider.vendor === 'openai' ? 'compatible' : provider.vendor;
  if (base !== undefined && provider.vendor === 'gemini') return 'Gemini at another address is not supported';
  const address =
    base instanceof Variable
      ? { urlFrom: new Variable(base.name, isAzure ? AZURE_PATH : (provider.suffix ?? '')) }
      : urlOf(base ?? provider.url, provider, isAzure);
  if (address === undefined && vendor === 'compatible') return 'it has no api_base';
  const headers = Object.fromEntries(
    Object.entries(asObject(params.extra_headers)).flatMap(([field, value]) =>
      typeof value === 'string' ? [[field, fromEnvironment(value, variables)]] : [],
    ),
  );
  const organization = textOf(params, 'organization');
  const speaks = isResponses
    ? ['responses']
    : (provider.speaks ?? (vendor === 'compatible' ? STYLES[mode ?? ''] : undefined));
  const version = textOf(params, 'api_version') ?? variables.get('AZURE_API_VERSION') ?? AZURE_VERSION;
  const timeout = durationOf(textOf(params, 'timeout'));
  const all: Record<string, Setting> = {
    ...(organization !== undefined &&
      vendor === 'openai' && { organization: fromEnvironment(organization, variables) }),
    ...(organization !== undefined &&
      vendor === 'compatible' &&
      name === 'openai' && {
        headers: { ...headers, 'OpenAI-Organization': fromEnvironment(organization, variables) },
      }),
    ...(Object.keys(headers).length > 0 && (organization === undefined || vendor === 'openai') && { headers }),
    ...(isAzure && { query: { 'api-version': fromEnvironment(version, variables) }, auth: { header: 'api-key' } }),
    ...(speaks !== undefined && { speaks: [...speaks] }),
    ...(timeout !== undefined && { timeout: { head: timeout } }),
  };
  return {
    vendor,
    ...address,
    key: keyOf(textOf(params, 'api_key') ?? variables.get(provider.variable), provider, variables),
    ...(Object.keys(all).length > 0 && { more: all }),
  };
}

/** The base URL of a channel. */
function urlOf(
  written: string | undefined,
  { vendor, suffix = '' }: Provider,
  isAzure: boolean,
): { readonly url: string } | undefined {
  const base = written?.replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
  if (base === undefined) return undefined;
  if (isAzure) return { url: base.replace(/\/openai(?:\/.*)?$/, '') + AZURE_PATH };
  // LiteLLM adds `/v1/messages` to the address of Anthropic's API, if it is not there.
  if (vendor === 'anthropic') return { url: `${base.replace(/\/v1(?:\/messages)?$/, '')}/v1` };
  return { url: base.endsWith(suffix) ? base : base + suffix };
}

function keyOf(
  written: string | undefined,
  provider: { readonly variable: string; readonly own?: true },
  variables: ReadonlyMap<string, string>,
): ForeignChannel['key'] {
  if (written === undefined) return provider.own === true ? { none: true } : { variable: provider.variable };
  const variable = VARIABLE.exec(written)?.[1];
  const value = variable === undefined ? written : variables.get(variable);
  return value === undefined ? { variable: variable! } : { secret: value };
}

/** A value, which may be in the environment; one that the configuration sets is known. */
function fromEnvironment<T extends string | undefined>(
  text: T,
  variables: ReadonlyMap<string, string>,
): T | string | Variable {
  const variable = VARIABLE.exec(text ?? '')?.[1];
  if (variable === undefined) return text;
  return variables.get(variable) ?? new Variable(variable);
}

/** Seconds, as gateway.yaml writes a duration. */
function durationOf(seconds: string | undefined): string | undefined {
  const ms = Math.round(Number(seconds) * 1000);
  if (!Number.isSafeInteger(ms) || ms <= 0 || ms > 999_999_999) return undefined;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

/**
 * Deployments of one name in the order in which they are tried. The lowest `order` is tried first; those without one come last. Within an
 * order, the first of weight, rpm and tpm that one of them has is their share; those without it get calls only if all others fail. Equal ones are
 * merged.
 */
function ranked(
  targets: readonly Target[],
  isWeighted: boolean,
): readonly { readonly target: Target; readonly weight: number; readonly priority: number }[] {
  const last = Number.POSITIVE_INFINITY;
  const byOrder = groupedBy(targets, ({ order }) => order ?? last);
  const ranks = [...byOrder.keys()].sort((a, b) => a - b);
  let priority = -1;
  return ranks.flatMap((rank) => {
    const merged = [
      ...groupedBy(byOrder.get(rank)!, ({ account, upstream }) => JSON.stringify([account, upstream])).values(),
    ];
    const metric = isWeighted
      ? METRICS.find((each) => byOrder.get(rank)!.some(({ weights }) => (weights[each]?.digits ?? 0n) > 0n))
      : undefined;
    const shares = merged.map((same) =>
      same.flatMap(({ weights }) => (metric === undefined ? [] : (weights[metric] ?? []))),
    );
    const scale = Math.max(0, ...shares.flat().map((share) => share.scale));
    const whole = shares.map((each) => each.reduce((sum, share) => sum + inUnitsOf(share, scale), 0n));
    const divisor = whole.reduce(greatestDivisor, 0n);
    priority++;
    const first = priority;
    const isSpare = (i: number): boolean => metric !== undefined && whole[i] === 0n;
    if (merged.some((_, i) => isSpare(i))) priority++;
    const isAlone = merged.filter((_, i) => !isSpare(i)).length === 1;
    return merged.map(([target], i) => ({
      target: target!,
      weight: metric === undefined || isAlone || isSpare(i) ? 1 : Number(whole[i]! / divisor),
      priority: isSpare(i) ? first + 1 : first,
    }));
  });
}

function greatestDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestDivisor(b, a % b);
}

function modelOf(
  name: string,
  targets: readonly Target[],
  from: { channel: string; model: string }[],
  left: Note[],
): ForeignModel {
  const first = targets[0]!;
  const charged = ({ isFree, price, listed }: Target): string => (isFree ? 'free' : JSON.stringify(price ?? listed));
  const isAlike = targets.every((target) => charged(target) === charged(first));
  // Each channel has its own list price.
  const isByChannel = targets.every(
    ({ price, isFree, listed }) => price === undefined && !isFree && listed !== undefined,
  );
  if (!isAlike && !isByChannel) {
    const why =
      'its deployments have different prices, and a model has one here, whichever channel serves it: that of the first deployment. Set its price in `prices` if it should be another one';
    left.push({ kind: 'decide', where: first.where, what: `price of ${name}`, why });
  }
  if (first.isFree) return { from, free: true };
  // A channel without a list price needs it in writing.
  const isListed = isByChannel || (targets.every(({ price }) => price === undefined) && isAlike);
  const known = targets.map(({ price, listed }) => price ?? listed).find((each) => each !== undefined);
  return { from, price: isListed ? undefined : (first.price ?? first.listed ?? known) };
}

/** The fields that say something that is not here. */
function noteFields({ where, params, info }: Deployment, what: string, left: Note[]): void {
  const isEmpty = (value: unknown): boolean =>
    value === null ||
    value === undefined ||
    value === false ||
    value === '' ||
    JSON.stringify(value) === '[]' ||
    JSON.stringify(value) === '{}';
  for (const [field, value] of Object.entries(params)) {
    if (READ.has(field) || isCost(field) || isEmpty(value)) continue;
    const why = REASONS[field] ?? 'there is no such setting of a channel';
    left.push({ kind: 'left', where: `${where}.${field}`, what, why });
  }
  for (const [field, value] of Object.entries(info)) {
    if (READ_INFO.has(field) || DESCRIBES.test(field) || isCost(field) || isEmpty(value)) continue;
    left.push({
      kind: 'left',
      where: `${where}.model_info.${field}`,
      what,
      why: 'there is no such setting of a model',
    });
  }
}

function groupedBy<T, K>(values: readonly T[], keyOf: (value: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

/** A name as the section `groups` takes it. */
function uniqueGroup(title: string, taken: Set<string>): string {
  const plain = title.normalize('NFC').replace(/[^\p{L}\p{M}\p{N}_.-]+/gu, '-');
  const base = [...plain].slice(0, 56).join('');
  let name = base;
  for (let number = 2; taken.has(name); number++) name = `${base}-${number}`;
  taken.add(name);
  return name;
}
