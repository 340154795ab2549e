/** Lines of gateway.yaml for a new vendor. */
import { yamlName } from '../../parts/yaml-name.ts';

/** The vendors to choose from. */
export const VENDOR_KINDS = ['openai', 'anthropic', 'gemini', 'compatible'] as const;
/** A value of `VENDOR_KINDS`. */
export type VendorKind = (typeof VENDOR_KINDS)[number];

/** The values of the lines. */
export interface NewVendor {
  readonly kind: VendorKind;
  readonly channel: string;
  /** For `compatible`. */
  readonly url: string;
  /** The vendor's model names. */
  readonly models: readonly string[];
  readonly keyFrom: 'variable' | 'file';
}

/** The initial values. */
export const USUAL: Readonly<Record<VendorKind, Pick<NewVendor, 'channel' | 'url' | 'models'>>> = {
  openai: { channel: 'openai', url: '', models: ['gpt-5', 'gpt-5-mini'] },
  anthropic: { channel: 'anthropic', url: '', models: ['claude-opus-5', 'claude-sonnet-5'] },
  gemini: { channel: 'gemini', url: '', models: ['gemini-2.5-pro', 'gemini-3.5-flash'] },
  compatible: {
    channel: 'groq',
    url: 'https://api.groq.com/openai/v1',
    models: ['llama-3.3-70b-versatile'],
  },
};

/** True for a valid channel name. */
export function isChannelName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
}

/** True for a valid base URL. */
export function isChannelUrl(url: string): boolean {
  return /^https?:\/\/[^/?#@\s]+(\/[^?#\s]*)?$/.test(url);
}

/** The environment variable for the key: `GROQ_API_KEY`. */
function variableOf(channel: string): string {
  const name = channel.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
  return `${/^\d/.test(name) ? '_' : ''}${name}_API_KEY`;
}

/** The file for the key, relative to gateway.yaml. */
export function fileOf(channel: string): string {
  return `${channel}.key`;
}

/** The lines. `priceComment` is the comment after a price that the user must fill in. */
export function linesOf({ kind, channel, url, models, keyFrom }: NewVendor, priceComment: string): string {
  const key = keyFrom === 'file' ? `\${file:./${fileOf(channel)}}` : `\${${variableOf(channel)}:-}`;
  const price = kind === 'compatible' ? ', price: { input: 1, output: 4 }' : '';
  const named = models.map((model) => `  ${yamlName(model)}: { from: [${yamlName(channel)}]${price} }`);
  return [
    'channels:',
    `  - name: ${yamlName(channel)}`,
    `    vendor: ${kind}`,
    ...(kind === 'compatible' ? [`    url: ${url}`] : []),
    `    key: ${key}`,
    '',
    'models:',
    ...named.map((line, at) => (price !== '' && at === 0 ? `${line}   # ${priceComment}` : line)),
  ].join('\n');
}

/** The shell command that writes the key to that variable or file. */
export function commandFor({ channel, keyFrom }: NewVendor): string {
  return keyFrom === 'file' ? `(umask 077; cat > ${fileOf(channel)})` : `export ${variableOf(channel)}='…'`;
}
