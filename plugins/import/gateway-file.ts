/** Writes channels, models and prices as a part of gateway.yaml, and their secrets as environment variables. */
import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { stringify } from 'yaml';
import type { ForeignChannel, ForeignModel, ForeignPrice, Inventory } from './inventory.ts';
import { variableOf } from './names.ts';
import { literal } from './values.ts';

/** A channel with this key needs none; any word. */
const NO_KEY = 'none';

/** The texts of both files. */
export interface GatewayFiles {
  readonly yaml: string;
  readonly env: string;
}

/** The files; undefined if there is neither a channel nor a model. */
export function gatewayFiles(
  kind: string,
  { channels, models, aliases }: Pick<Inventory, 'channels' | 'models' | 'aliases'>,
): GatewayFiles | undefined {
  if (channels.length === 0) return undefined;
  const secrets = new Map<string, string>();
  const names = new Set(channels.map(({ name }) => name));
  const content = {
    channels: channels.map((channel) => channelEntry(channel, secrets)),
    models: {
      ...Object.fromEntries([...models].map(([name, model]) => [name, modelEntry(name, model, names)])),
      ...Object.fromEntries([...aliases].map(([name, alias]) => [name, { alias: literal(alias) }])),
    },
    prices: Object.fromEntries([...models].flatMap(([name, { price }]) => (price ? [[name, priceEntry(price)]] : []))),
  };
  const { prices, ...others } = content;
  const sections = Object.keys(prices).length > 0 ? content : others;
  const head = `# Imported from ${kind} by \`turnpike import\`: copy these sections into gateway.yaml. The secrets are environment variables,
# in the file of the same name that ends in .env.
`;
  return {
    yaml: head + stringify(sections, { lineWidth: 0, flowCollectionPadding: true }),
    env: [...secrets].map(([name, value]) => `${variableLine(name, value)}\n`).join(''),
  };
}

function channelEntry(
  { name, vendor, url, key, priority, weight, more }: ForeignChannel,
  secrets: Map<string, string>,
) {
  return {
    name,
    vendor,
    ...(url !== undefined && { url }),
    key: keyEntry(name, key, secrets),
    ...(priority !== undefined && { priority }),
    ...(weight !== undefined && { weight }),
    ...more,
  };
}

/** The channel is off as long as the variable is empty. */
function keyEntry(channel: string, key: ForeignChannel['key'], secrets: Map<string, string>): string {
  if ('none' in key) return NO_KEY;
  if ('variable' in key) return `\${${key.variable}:-}`;
  const base = variableOf(channel);
  let variable = base;
  for (let number = 2; secrets.has(variable); number++) variable = `${base}_${number}`;
  secrets.set(variable, key.secret);
  return `\${${variable}:-}`;
}

function modelEntry(name: string, { from, fallback }: ForeignModel, channels: ReadonlySet<string>) {
  const known = from.filter(({ channel }) => channels.has(channel));
  const isPattern = name.includes('*');
  return {
    from: known.map(({ channel, model }) => (model === name && !isPattern ? channel : { [channel]: literal(model) })),
    ...(fallback !== undefined && { fallback: fallback.map(literal) }),
  };
}

const priceEntry = (price: ForeignPrice) =>
  Object.fromEntries(Object.entries(price).map(([unit, amount]) => [unit, Number(amount)]));

/** For shells, systemd, containers and this gateway alike, if the value has usual characters; otherwise for all but containers. */
function variableLine(name: string, value: string): string {
  if (/^[\w./:@%+=,-]*$/.test(value)) return `${name}=${value}`;
  if (!value.includes("'")) return `${name}='${value}'`;
  if (!/["\\$`\r\n]/.test(value)) return `${name}="${value}"`;
  return `# ${name}: this secret has characters that cannot be written here. Set the variable in another way.`;
}

/** Writes a new file that only its user can read. `same`: it has this content already; `kept`: it has another one. */
export function writeNew(file: string, text: string): 'written' | 'same' | 'kept' {
  if (existsSync(file)) return readFileSync(file, 'utf8') === text ? 'same' : 'kept';
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    writeSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
  return 'written';
}
