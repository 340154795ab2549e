/** The table `channels` of one-api and new-api: upstream accounts, their models, and their order. */
import type { ForeignChannel, ForeignModel, Left } from '../inventory.ts';
import { uniqueName } from '../names.ts';
import { literal, numberOf, objectOf, partsOf, type Row, textOf } from '../values.ts';
import { AZURE, type ChannelType, CUSTOM, channelTypeOf } from './channel-types.ts';

/** `channels.status` of a channel that is in use. */
const ENABLED = 1;
/** The API version of Azure if a channel has none. */
const AZURE_VERSION = '2024-10-21';

/** The channels and their models, without fallbacks and prices. */
export interface Upstreams {
  readonly channels: readonly ForeignChannel[];
  readonly models: Map<string, ForeignModel>;
  readonly left: readonly Left[];
}

/** Reads the rows. */
export function readChannels(kind: 'one-api' | 'new-api', rows: readonly Row[]): Upstreams {
  const channels: ForeignChannel[] = [];
  const models = new Map<string, ForeignModel>();
  const left: Left[] = [];
  const names = new Set<string>();
  const enabled = rows.filter((row) => numberOf(row, 'status') === ENABLED);
  // There the highest number is tried first, here the lowest.
  const highest = Math.max(0, ...enabled.map((row) => numberOf(row, 'priority') ?? 0));
  const groups = new Set(enabled.map((row) => textOf(row, 'group') ?? 'default'));

  for (const row of rows) {
    const title = textOf(row, 'name') ?? `channel ${textOf(row, 'id')}`;
    const what = `channel ${title}`;
    if (numberOf(row, 'status') !== ENABLED) {
      left.push({ what, why: 'it is disabled' });
      continue;
    }
    const type = channelTypeOf(kind, numberOf(row, 'type') ?? 0);
    const url = type && urlOf(row, type, kind);
    if (type === undefined || url === undefined) {
      left.push({ what, why: `type ${textOf(row, 'type')}: there is no vendor for it, or it has no base URL` });
      continue;
    }
    const keys = keysOf(row);
    const made = keys.map((secret): ForeignChannel => {
      const weight = Math.max(1, numberOf(row, 'weight') ?? 0) / keys.length;
      const priority = highest - (numberOf(row, 'priority') ?? 0);
      return {
        name: uniqueName(title, names),
        vendor: type.vendor,
        ...(url !== `${type.base}${type.path}` || type.vendor === 'compatible' ? { url: literal(url) } : {}),
        key: { secret },
        ...(priority !== 0 && { priority }),
        ...(weight !== 1 && { weight }),
        more: moreOf(row),
      };
    });
    channels.push(...made);
    addModels(models, row, made);
    for (const why of leftOf(row, groups)) left.push({ what, why });
  }
  return { channels, models, left };
}

/** Its keys: one in each line, or a JSON list. */
function keysOf(row: Row): readonly string[] {
  const text = textOf(row, 'key') ?? '';
  if (text.startsWith('[')) {
    try {
      return (JSON.parse(text) as unknown[]).map((key) => (typeof key === 'string' ? key : JSON.stringify(key)));
    } catch {
      // It is a key that begins like this.
    }
  }
  return partsOf(text, '\n');
}

function urlOf(row: Row, { base, path }: ChannelType, kind: 'one-api' | 'new-api'): string | undefined {
  const written = (textOf(row, 'base_url') ?? base)?.replace(/\/+$/, '');
  if (written === undefined || !/^https?:\/\/[^?#\s]+$/.test(written)) return undefined;
  // new-api sends requests of this type to exactly this URL.
  if (kind === 'new-api' && numberOf(row, 'type') === CUSTOM) return written.replace(/\/chat\/completions$/, '');
  return written.endsWith(path) ? written : written + path;
}

/** Fields that only some channels have. */
function moreOf(row: Row): Readonly<Record<string, unknown>> {
  const organization = textOf(row, 'openai_organization');
  const headers = Object.fromEntries(
    Object.entries(objectOf(row, 'header_override')).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, literal(value)]] : [],
    ),
  );
  const version = textOf(objectOf(row, 'config'), 'api_version') ?? textOf(row, 'other') ?? AZURE_VERSION;
  return {
    ...(organization !== undefined && { headers: { 'OpenAI-Organization': literal(organization), ...headers } }),
    ...(organization === undefined && Object.keys(headers).length > 0 && { headers }),
    ...(numberOf(row, 'type') === AZURE && { query: { 'api-version': literal(version) }, auth: { header: 'api-key' } }),
  };
}

function addModels(models: Map<string, ForeignModel>, row: Row, channels: readonly ForeignChannel[]): void {
  const mapping = objectOf(row, 'model_mapping');
  for (const name of new Set(partsOf(textOf(row, 'models'), ','))) {
    const model = upstreamName(name, mapping);
    const entry: ForeignModel = models.get(name) ?? { from: [] };
    entry.from.push(...channels.map((channel) => ({ channel: channel.name, model })));
    models.set(name, entry);
  }
}

/** A name may be mapped to one that is mapped again. */
function upstreamName(name: string, mapping: Row): string {
  const seen = new Set([name]);
  let at = name;
  for (let next = textOf(mapping, at); next !== undefined && !seen.has(next); next = textOf(mapping, at)) {
    seen.add(next);
    at = next;
  }
  return at;
}

/** What a channel has that channels here have not. */
function leftOf(row: Row, groups: ReadonlySet<string>): readonly string[] {
  const group = textOf(row, 'group') ?? 'default';
  const codes = Object.keys(objectOf(row, 'status_code_mapping'));
  const parameters = Object.keys(objectOf(row, 'param_override'));
  const prompt = textOf(objectOf(row, 'setting'), 'system_prompt') ?? textOf(row, 'system_prompt');
  return [
    ...(groups.size > 1
      ? [`it served only the groups ${group}; here any key may use it, unless the key is limited to other models`]
      : []),
    ...(codes.length > 0 ? ['status codes are not mapped here'] : []),
    ...(parameters.length > 0 ? [`overridden parameters: ${parameters.join(', ')}`] : []),
    ...(prompt !== undefined ? ['its system prompt'] : []),
  ];
}
