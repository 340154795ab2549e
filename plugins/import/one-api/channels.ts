/**
 * The table `channels` of one-api, new-api and one-hub: upstream accounts, their models, their groups, and their order. What a program does with a
 * column was read in its code on 2026-11-29: `model/channel.go`, `middleware/distributor.go`, `relay/channel/api_request.go` of new-api 0.6.3 to 0.10,
 * `model/channel.go`, `middleware/distributor.go` of one-api 0.6.10, `model/channel.go`, `model/balancer.go`, `providers/base/common.go` of one-hub.
 */
import { type Cells, cellsOf, unreadable } from '../cells.ts';
import { type ForeignChannel, type ForeignModel, type Note, Secret, type Setting } from '../inventory.ts';
import { asTexts, isTrue, partsOf, type Row, textOf } from '../values.ts';
import { AZURE, type ChannelType, CUSTOM, type TypeFact } from './channel-types.ts';
import { channelNames } from './names.ts';
import { isGizmo } from './rights.ts';

/** `channels.status` of a channel that is in use. */
const ENABLED = 1;
/** The most keys of a channel here. */
const MOST_KEYS = 100;
/** Channels of new-api that were created before 2025-05-10 are deployments of Azure without dots: `constant/azure.go`. */
const DOTS_SINCE = Date.UTC(2025, 4, 10) / 1_000;
/** What v0.6.3 adds to every weight. */
const SMOOTHING = 10;
/** The group of channels of no other. */
export const USUAL_GROUP = 'default';

/** What differs between the programs, their versions and their settings. */
export interface Site {
  readonly program: 'one-api' | 'new-api' | 'one-hub';
  /** A version after v0.8.5 of new-api, which has the column `channel_info`; of one-hub, one with the table `user_groups`. */
  readonly isLate: boolean;
  readonly typeOf: (type: number, cells: Cells) => TypeFact | undefined;
  /** The version of the API of Gemini, if the channel says none, and its threshold for content. */
  readonly gemini: { readonly version: string; readonly safety: string | undefined };
  /** Models whose suffix `-thinking` is a part of their name. */
  readonly thinkers: ReadonlySet<string>;
}

/** The channels and their models, without fallbacks and prices. */
export interface Upstreams {
  readonly channels: readonly ForeignChannel[];
  readonly models: Map<string, ForeignModel>;
  /** The names of the channels that serve a group, by group. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  /** All groups that channels in use serve there, also those that are left. */
  readonly allGroups: ReadonlySet<string>;
  /** The public models of a group, by group. */
  readonly modelsOf: ReadonlyMap<string, ReadonlySet<string>>;
  readonly notes: readonly Note[];
}

/** Reads the rows. */
export function readChannels(site: Site, rows: readonly Row[]): Upstreams {
  const notes: Note[] = [];
  const names = channelNames();
  const taken: Taken[] = [];
  const allGroups = new Set<string>();
  for (const row of rows) {
    if (textOf(row, 'deleted_at') !== undefined) continue;
    if (textOf(row, 'status') === String(ENABLED)) for (const group of groupsOf(row)) allGroups.add(group);
    const read = readChannel(cellsOf('channels', row), site, names);
    taken.push(...read.taken);
    notes.push(...read.notes);
  }
  const models = new Map<string, ForeignModel>();
  for (const { channel, offers } of taken) {
    for (const [name, model] of offers) {
      const entry: ForeignModel = models.get(name) ?? { from: [] };
      entry.from.push({ channel: channel.name, model });
      models.set(name, entry);
    }
  }
  if (site.program === 'new-api' && site.isLate) notes.push(...leaveWeightless(models, taken));
  const groups = new Map<string, string[]>();
  const modelsOf = new Map<string, Set<string>>();
  for (const { channel, offers, served } of taken) {
    for (const group of served) {
      groups.set(group, [...(groups.get(group) ?? []), channel.name]);
      modelsOf.set(group, new Set([...(modelsOf.get(group) ?? []), ...offers.keys()]));
    }
  }
  return { channels: withOrder(taken, site), models, groups, allGroups, modelsOf, notes };
}

/** A channel that is taken over. */
interface Taken {
  readonly channel: ForeignChannel;
  /** Its upstream models by public name. */
  readonly offers: ReadonlyMap<string, string>;
  /** The groups that it serves. */
  readonly served: readonly string[];
  /** There the highest is tried first. */
  readonly priority: number;
  readonly weight: number;
}

interface ReadChannel {
  readonly taken: readonly Taken[];
  readonly notes: readonly Note[];
}

function readChannel(cells: Cells, site: Site, names: ReturnType<typeof channelNames>): ReadChannel {
  const id = cells.text('id') ?? '0';
  const title = cells.text('name') ?? `channel ${id}`;
  const what = `channel ${title}`;
  const leave = (why: string): ReadChannel => ({ taken: [], notes: [{ kind: 'left', where: 'channels', what, why }] });
  if (cells.number('status') !== ENABLED) return leave(disabledBecause(cells));
  const number = cells.number('type') ?? 0;
  const type = site.typeOf(number, cells);
  if (type === undefined) return leave(`type ${number} is not known here`);
  if ('left' in type) return leave(`type ${number} (${type.name}): ${type.left}`);
  const address = addressOf(cells, number, type, site);
  if ('why' in address) return leave(address.why);
  const proxy = proxyOf(cells, site);
  if (proxy !== undefined && 'why' in proxy) return leave(proxy.why);
  const keys = keysOf(cells, site, number);
  if ('why' in keys) return leave(keys.why);

  const notes: Note[] = [];
  const tell = (kind: Note['kind'], why: string, count?: number): void =>
    void notes.push({ kind, where: 'channels', what, why, ...(count !== undefined && { count }) });
  if (type.changed !== undefined) tell('changed', type.changed);
  for (const why of address.changed) tell('changed', why);
  if (keys.disabled.length > 0) tell('left', `its keys ${keys.disabled.join(', ')} are disabled`);
  const offers = offersOf(cells, number, type, site, notes, what);
  const name = names(title, id);
  const headers = headersOf(cells, type, site, keys.own, tell);
  for (const [kind, why] of untold(cells, site)) tell(kind, why);

  const isOwnAddress = address.url !== `${type.base}${type.path}`;
  const vendor = type.vendor === 'openai' && isOwnAddress ? 'compatible' : type.vendor;
  const more: Record<string, Setting> = {
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(Object.keys(address.query).length > 0 && { query: address.query }),
    ...(number === AZURE && { auth: { header: 'api-key' } }),
    ...(proxy !== undefined && { proxy: proxyEntry(name, proxy.url) }),
    ...(vendor === 'compatible' && type.styles !== undefined && { speaks: stylesOf(cells, type.styles) }),
    ...(vendor === 'gemini' && site.gemini.safety !== undefined && { safety: site.gemini.safety }),
  };
  const chunks = chunked(keys.all);
  if (chunks.length > 1)
    tell('changed', `it has ${keys.all.length} keys and becomes ${chunks.length} channels of the same weight`);
  const taken = chunks.map((chunk, i): Taken => {
    const [first, ...others] = chunk;
    return {
      channel: {
        name: i === 0 ? name : names(title, `${id}-${i + 1}`),
        title,
        type: number,
        vendor,
        ...((isOwnAddress || vendor === 'compatible') && { url: address.url }),
        key: first === undefined ? { none: true } : { secret: first },
        ...(others.length > 0 && { moreKeys: others }),
        more,
      },
      offers,
      served: groupsOf(cells.row),
      priority: cells.number('priority') ?? 0,
      weight: cells.number('weight') ?? 0,
    };
  });
  return { taken, notes };
}

/** The groups that a channel serves. */
const groupsOf = (row: Row): readonly string[] => [...new Set(partsOf(textOf(row, 'group') ?? USUAL_GROUP, ','))];

/** The program says why it disabled a channel itself. */
function disabledBecause(cells: Cells): string {
  const reason = textOf(cells.object('other_info'), 'status_reason');
  return reason === undefined ? 'it is disabled' : `it is disabled: ${reason}`;
}

/** The address of its requests, or why there is none. */
type Address =
  | { readonly url: string; readonly query: Readonly<Record<string, string>>; readonly changed: readonly string[] }
  | { readonly why: string };

/** Addresses that new-api knows by a name: `ChannelSpecialBases` in `constant/channel.go`. */
const PLANS: Readonly<Record<string, string>> = {
  'glm-coding-plan': 'https://open.bigmodel.cn/api/coding/paas/v4',
  'glm-coding-plan-international': 'https://api.z.ai/api/coding/paas/v4',
  'kimi-coding-plan': 'https://api.kimi.com/coding/v1',
  'doubao-coding-plan': 'https://ark.cn-beijing.volces.com/api/coding/v3',
};
/** What a channel's URL can be here. */
const ADDRESS = /^https?:\/\/[^/?#@{}\s]+(?:\/(?:[^?#{}\s]|\{model\})*)?$/;
/** Cloudflare's gateway has no `/v1` for OpenAI, and no `/openai/deployments` for Azure. */
const CLOUDFLARE = 'https://gateway.ai.cloudflare.com';

function addressOf(cells: Cells, number: number, type: ChannelType, site: Site): Address {
  const written = (cells.text('base_url') ?? type.base)?.replace(/\/+$/, '');
  if (written === undefined) return { why: `type ${number} (${type.name}): it has no address` };
  const changed: string[] = [];
  let base = written;
  let path = type.path;
  const query: Record<string, string> = {};
  if (Object.hasOwn(PLANS, written) && site.program === 'new-api') {
    [base, path] = [PLANS[written]!, ''];
  } else if (site.program === 'new-api' && number === CUSTOM) {
    // It sends every request to exactly this URL.
    const [front = '', search = ''] = written.split(/\?(.*)/s);
    for (const [name, value] of new URLSearchParams(search)) query[name] = value;
    if (!front.endsWith('/chat/completions')) {
      return { why: `its address ${written} does not end in /chat/completions, the only path that is called here` };
    }
    base = front.slice(0, -'/chat/completions'.length);
  } else if (written.startsWith(CLOUDFLARE)) {
    if (number === AZURE) path = '/{model}';
    else if (type.vendor === 'openai' || (site.program === 'one-hub' && path.startsWith('/v1')))
      path = path.replace(/^\/v1/, '');
    else if (path.includes('{account}')) path = '/v1';
  }
  const account = cells.text('other') ?? textOf(cells.object('config'), 'user_id');
  if (path.includes('{account}')) {
    if (account === undefined) return { why: `type ${number} (${type.name}): it has no account of the vendor` };
    path = path.replace('{account}', account);
  }
  if (path.includes('{version}')) path = path.replace('{version}', versionOf(cells, site) ?? site.gemini.version);
  if (number === AZURE)
    query['api-version'] = versionOf(cells, site) ?? (site.isLate ? '2025-04-01-preview' : '2024-12-01-preview');
  if (path !== '' && base.endsWith(path)) {
    changed.push(
      `its address ends in ${path}, and the program adds ${path} once more, and so it is here: correct the address if it never worked`,
    );
  }
  const url = base + path;
  return ADDRESS.test(url) ? { url, query, changed } : { why: `its address ${written} cannot be an address here` };
}

/** The version of the vendor's API that the channel says: `config.api_version` of one-api, `other` of all. */
function versionOf(cells: Cells, site: Site): string | undefined {
  const number = cells.number('type');
  // new-api has versions of Gemini in a setting.
  if (site.program === 'new-api' && number !== AZURE) return undefined;
  return textOf(cells.object('config'), 'api_version') ?? cells.text('other');
}

/** What `proxy` of a channel can be here. */
const PROXY = /^https?:\/\/(?:[^/?#@\s]*@)?(?:[^/?#@:\s[\]]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?\/?$/;

/** Its proxy. A channel whose proxy cannot be used is left: without it, it would call its vendor from another address. */
function proxyOf(cells: Cells, site: Site): { readonly url: string } | { readonly why: string } | undefined {
  const url = site.program === 'one-hub' ? cells.text('proxy') : textOf(cells.object('setting'), 'proxy');
  if (url === undefined) return undefined;
  if (PROXY.test(url)) return { url };
  const scheme = /^[a-z0-9+]+:\/\//i.exec(url)?.[0] ?? 'no scheme';
  return { why: `it has a proxy that cannot be used here (${scheme}): HTTP proxies only` };
}

/** A proxy with a password is a secret. */
const proxyEntry = (name: string, url: string): Setting => (url.includes('@') ? new Secret(`${name}_PROXY`, url) : url);

/** `channels.key`: the keys to use, the positions of the disabled ones from 1, and headers that a part of them stands for. */
interface ChannelKeys {
  readonly all: readonly string[];
  readonly disabled: readonly number[];
  readonly own: Readonly<Record<string, string>>;
}

function keysOf(cells: Cells, site: Site, number: number): ChannelKeys | { readonly why: string } {
  const text = cells.text('key') ?? '';
  const info = cells.object('channel_info');
  const states = isTrue(info, 'is_multi_key') ? info.multi_key_status_list : undefined;
  const stateOf = (i: number): unknown =>
    (typeof states === 'object' && states !== null ? (states as Row)[i] : undefined) ?? ENABLED;
  const each = keyTexts(text).map((key, i) => ({ key, place: i + 1, isOn: Number(stateOf(i)) === ENABLED }));
  const on = each.filter(({ isOn }) => isOn);
  // Other credentials of the account, which must not be sent, are behind the key.
  if (site.program === 'new-api' && number === 45 && on.some(({ key }) => key.includes('|')))
    return { why: 'its key has several parts: set up a channel of the vendor with the API key alone' };
  if (each.length > 0 && on.length === 0) return { why: 'all of its keys are disabled' };
  const disabled = each.filter(({ isOn }) => !isOn).map(({ place }) => place);
  if (site.program === 'new-api' && number === 46) {
    // The key and an application, which goes into a header.
    const applications = new Set(on.map(({ key }) => key.split('|')[1] ?? ''));
    const [application = ''] = applications;
    if (applications.size > 1)
      return { why: 'its keys belong to several applications, and a channel here has one: create a channel for each' };
    const own: Record<string, string> = application === '' ? {} : { appid: application };
    return { all: unique(on.map(({ key }) => key.split('|')[0]!)), disabled, own };
  }
  return { all: unique(on.map(({ key }) => key)), disabled, own: {} };
}

const unique = (keys: readonly string[]): readonly string[] => [...new Set(keys)].filter((key) => key !== '');

/** One in each line, or a JSON list. */
function keyTexts(text: string): readonly string[] {
  if (text.startsWith('[')) {
    try {
      return (JSON.parse(text) as unknown[]).map((key) => (typeof key === 'string' ? key : JSON.stringify(key)));
    } catch {
      // It is a key that begins like this.
    }
  }
  return partsOf(text, '\n');
}

function chunked(keys: readonly string[]): readonly (readonly string[])[] {
  if (keys.length <= MOST_KEYS) return [keys];
  return Array.from({ length: Math.ceil(keys.length / MOST_KEYS) }, (_, i) =>
    keys.slice(i * MOST_KEYS, (i + 1) * MOST_KEYS),
  );
}

/** Its upstream models by public name; those that are switches of the program are left by name. */
function offersOf(
  cells: Cells,
  number: number,
  type: ChannelType,
  site: Site,
  notes: Note[],
  what: string,
): ReadonlyMap<string, string> {
  const mapping = cells.object('model_mapping');
  const undotted =
    number === AZURE &&
    (site.program === 'one-api' ||
      (site.program === 'one-hub' && !site.isLate) ||
      (site.program === 'new-api' && (cells.number('created_time') ?? 0) < DOTS_SINCE));
  const offers = new Map<string, string>();
  for (const name of new Set(partsOf(cells.text('models'), ','))) {
    // Here it would be a pattern, with which keys reach more models than there.
    if (name.includes('*') && !matchesThere(name, site)) {
      const why = 'names with a star match nothing there: name the models that this channel serves';
      notes.push({ kind: 'left', where: 'channels.models', what: `model ${name} of ${what}`, why });
      continue;
    }
    const upstream = upstreamName(name, mapping, site);
    const keepsSuffix = upstream.endsWith('-thinking') && (site.thinkers.has(name) || site.thinkers.has(upstream));
    if (type.isSwitch?.(upstream) === true && !keepsSuffix) {
      const why =
        'the end of its name is a switch for the program, which calls another model: send that name and the parameter instead';
      notes.push({ kind: 'left', where: 'channels.models', what: `model ${name} of ${what}`, why });
      continue;
    }
    if (type.elsewhere?.test(upstream) === true) {
      const why = 'the program calls it at another path of its vendor, which is not called here';
      notes.push({ kind: 'left', where: 'channels.models', what: `model ${name} of ${what}`, why });
      continue;
    }
    offers.set(name, undotted ? upstream.replaceAll('.', '') : upstream);
  }
  return offers;
}

/** Whether requests of a program can match a name with a star: one-hub has such names, new-api a few, all with the star at the end. */
const matchesThere = (name: string, { program, isLate }: Site): boolean =>
  (program === 'one-hub' && /^[^*]*\*$/.test(name)) ||
  (program === 'new-api' &&
    (isGizmo(name) || (isLate && /^gemini-2\.5-(?:flash|flash-lite|pro)-thinking-\*$/.test(name))));

/** In new-api, a name may be mapped to one that is mapped again; one-hub writes `+` before one whose calls cost what the public name costs. */
function upstreamName(name: string, mapping: Row, { program }: Site): string {
  if (program !== 'new-api') return (textOf(mapping, name) ?? name).replace(program === 'one-hub' ? /^\+/ : /^$/, '');
  const seen = new Set([name]);
  let at = name;
  for (let next = textOf(mapping, at); next !== undefined && !seen.has(next); next = textOf(mapping, at)) {
    seen.add(next);
    at = next;
  }
  return at;
}

/** The APIs of a channel; one-hub has channels for conversations only. */
const stylesOf = (cells: Cells, styles: readonly string[]): readonly string[] =>
  cells.truth('only_chat') ? ['chat'] : styles;

/** Headers that channels here cannot set, because the gateway sets them or the key is in them. */
const RESERVED =
  /^(?:accept-encoding|connection|content-encoding|content-length|content-type|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*|sec-websocket-.*|authorization|api-key|x-api-key|x-goog-api-key|anthropic-version)$/i;

function headersOf(
  cells: Cells,
  type: ChannelType,
  site: Site,
  own: Readonly<Record<string, string>>,
  tell: (kind: Note['kind'], why: string) => void,
): Readonly<Record<string, string>> {
  const organization = cells.text('open_ai_organization') ?? cells.text('openai_organization');
  const headers: Record<string, string> = {
    ...own,
    ...(organization !== undefined && type.vendor === 'openai' && { 'OpenAI-Organization': organization }),
  };
  const left: string[] = [];
  for (const [name, value] of Object.entries(
    cells.object(site.program === 'one-hub' ? 'model_headers' : 'header_override'),
  )) {
    // The usual credential.
    if (type.vendor !== 'gemini' && /^authorization$/i.test(name) && value === 'Bearer {api_key}') continue;
    const isPlain =
      typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]+$/.test(value) && !/\{[a-z_]+(?::[^}]*)?\}/.test(value);
    if (isPlain && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && name !== '*' && !RESERVED.test(name))
      headers[name] = value;
    else left.push(name);
  }
  if (left.length > 0)
    tell(
      'decide',
      `its headers ${left.join(', ')} have placeholders, or are set by the gateway itself, and are not sent`,
    );
  return headers;
}

/** Members of `setting` and `settings` that concern no request, or are read by other code. */
const SILENT = new Set(['proxy', 'system_prompt', 'system_prompt_override', 'vertex_key_type', 'aws_key_type']);

/** What a channel has that channels here have not. */
function untold(cells: Cells, { program }: Site): readonly (readonly [Note['kind'], string])[] {
  const parameters = Object.keys(cells.object(program === 'one-hub' ? 'custom_parameter' : 'param_override'));
  const setting = cells.object('setting');
  const prompt = textOf(setting, 'system_prompt') ?? cells.text('system_prompt');
  const switches = [...Object.entries(setting), ...Object.entries(cells.object('settings'))]
    .filter(
      ([name, value]) =>
        !SILENT.has(name) &&
        !name.startsWith('upstream_model_update_') &&
        value !== false &&
        value !== '' &&
        value !== null,
    )
    .map(([name]) => name);
  const plugin = Object.keys(cells.object('plugin'));
  const unstreamed = asTexts(listOf(cells, 'disabled_stream'));
  const facts: readonly (readonly [boolean, Note['kind'], string])[] = [
    [Object.keys(cells.object('status_code_mapping')).length > 0, 'changed', 'status codes are not mapped here'],
    [parameters.length > 0, 'decide', `parameters that it sets in every request: ${parameters.join(', ')}`],
    [prompt !== undefined, 'decide', 'its system prompt: put it into the section `prompts`, or send it'],
    [switches.length > 0, 'changed', `settings without a counterpart: ${switches.join(', ')}`],
    [plugin.length > 0, 'changed', `settings without a counterpart: ${plugin.join(', ')}`],
    [unstreamed.length > 0, 'changed', `models without streams there: ${unstreamed.join(', ')}`],
    [cells.truth('allow_extra_body'), 'changed', 'fields that are not known are sent to vendors of the same API only'],
    [cells.truth('compatible_response'), 'changed', 'the Responses API is translated for every vendor here'],
    [
      cells.text('auto_ban') === '0',
      'changed',
      'it is never disabled there; here a failing channel is left alone for a while',
    ],
    [cells.text('tag') !== undefined, 'left', 'its tag: channels here have none'],
    [cells.text('remark') !== undefined, 'left', 'its remark: write it as a comment into gateway.yaml'],
    [cells.text('test_model') !== undefined, 'left', 'its model for tests'],
  ];
  return facts.filter(([is]) => is).map(([, kind, why]) => [kind, why] as const);
}

function listOf(cells: Cells, column: string): unknown {
  const value = cells.row[column];
  if (typeof value !== 'string') return value ?? undefined;
  if (value.trim() === '') return undefined;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return unreadable(`channels, id ${cells.text('id')}, ${column}`, value, 'a JSON list');
  }
}

/**
 * Later versions of new-api give nothing to a channel of weight 0 beside others of its priority with a weight: there it serves a model in none of
 * its groups, so it does not here. Takes it from those models.
 */
function leaveWeightless(models: ReadonlyMap<string, ForeignModel>, taken: readonly Taken[]): readonly Note[] {
  const byName = new Map(taken.map((each) => [each.channel.name, each]));
  const notes: Note[] = [];
  for (const [name, { from }] of models) {
    const serving = from.map(({ channel }) => byName.get(channel)!);
    const isIdle = ({ weight, priority, served }: Taken): boolean =>
      weight === 0 &&
      served.every((group) =>
        serving.some((peer) => peer.weight > 0 && peer.priority === priority && peer.served.includes(group)),
      );
    const idle = serving.filter(isIdle);
    if (idle.length === 0) continue;
    const idleNames = new Set(idle.map(({ channel }) => channel.name));
    from.splice(0, from.length, ...from.filter(({ channel }) => !idleNames.has(channel)));
    for (const { channel } of idle) {
      const why =
        'its weight is 0 beside others, so the program gives it no calls of some models, and it does not serve these here';
      notes.push({ kind: 'changed', where: 'channels', what: `channel ${channel.title}: ${name}`, why });
    }
  }
  return notes;
}

/** Priorities and weights as they are here: the lowest number first, and the smallest whole weights of the same proportions. */
function withOrder(taken: readonly Taken[], { program, isLate }: Site): readonly ForeignChannel[] {
  const highest = Math.max(...taken.map(({ priority }) => priority));
  const weightOf = ({ weight }: Taken): number => {
    if (program === 'one-api') return 1;
    if (program === 'new-api' && !isLate) return weight + SMOOTHING;
    return Math.max(1, weight);
  };
  const divisor = taken.map(weightOf).reduce(gcd, 0);
  return taken.map((each) => {
    const [priority, weight] = [highest - each.priority, weightOf(each) / divisor];
    return { ...each.channel, ...(priority !== 0 && { priority }), ...(weight !== 1 && { weight }) };
  });
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
