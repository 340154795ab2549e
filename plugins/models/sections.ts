/** The sections `channels` and `models` of gateway.yaml: how they must look. */
import type { Channel } from '../../core/plugin.ts';
import { schema } from '../../core/plugin.ts';
import { duration } from '../../core/sdk.ts';
import type { SomeQuirks } from '../../core/translation/index.ts';
import { quirksSchema } from '../../core/translation/index.ts';

/** One channel as it is written; besides these fields it has those of its vendor. */
export interface ChannelEntry {
  readonly name: string;
  readonly vendor: string;
  readonly url?: string;
  readonly key: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly weight: number;
  readonly priority: number;
  /** Durations with their units. */
  readonly timeout: {
    readonly connect: string;
    readonly head?: string;
    readonly idle: string;
    readonly total: string;
  };
  readonly speaks?: readonly string[];
  readonly stream: { readonly usage: Channel['streamUsage'] };
  readonly quirks: SomeQuirks;
  readonly [option: string]: unknown;
}

/** One model as it is written: an alias, or where it may be had. */
export interface ModelEntry {
  readonly alias?: string;
  /** A channel's name, or that name with the channel's own name for the model. */
  readonly from?: readonly (string | Readonly<Record<string, string>>)[];
  readonly fallback?: readonly string[];
  readonly only?: readonly string[];
  readonly free: boolean;
  readonly strict?: boolean;
  readonly quirks?: SomeQuirks;
  readonly price?: unknown;
}

const name = { type: 'string', minLength: 1 };
const names = { type: 'array', minItems: 1, uniqueItems: true, items: name };

const channelFields = {
  name: {
    // It goes into the header `x-turnpike-channel`.
    type: 'string',
    title: 'name of letters, digits, dots, dashes and underscores',
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
    examples: ['main'],
  },
  vendor: { ...name, description: 'The vendor that knows how to talk to it.' },
  url: {
    type: 'string',
    title: 'URL without user and query',
    pattern: '^https?://[^/?#@{}\\s]+(/([^?#{}\\s]|\\{model\\})*)?$',
    format: 'uri',
    examples: ['https://api.example.com/v1'],
    description:
      "Where it is; some vendors know. `{model}` in its path is replaced by the vendor's name for the model.",
  },
  key: { type: 'string', default: '', description: 'Its credential. A channel whose key is empty is off.' },
  headers: {
    type: 'object',
    propertyNames: { title: 'name of a header', pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" },
    additionalProperties: {
      type: 'string',
      title: 'value of a header, in one line of Latin characters',
      pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]*$',
    },
    description:
      'Headers of every request to it. They replace those of its vendor; one whose value is empty is not sent.',
  },
  query: {
    type: 'object',
    propertyNames: name,
    additionalProperties: { type: 'string' },
    description: 'Query parameters of every request to it. One whose value is empty is not sent.',
  },
  weight: { type: 'number', exclusiveMinimum: 0, default: 1, description: 'Its share beside others of its priority.' },
  priority: { type: 'integer', minimum: 0, default: 0, description: 'Channels of the lowest number are tried first.' },
  timeout: {
    type: 'object',
    additionalProperties: false,
    default: {},
    properties: {
      connect: { ...duration, default: '5s', description: 'Until the connection stands.' },
      head: { ...duration, description: 'Until the answer begins; else 60s for a stream, 10m for a whole answer.' },
      idle: { ...duration, default: '120s', description: 'Between two pieces of the answer.' },
      total: { ...duration, default: '30m', description: 'From the request to the end of the answer.' },
    },
  },
  speaks: {
    ...names,
    description:
      'The styles to be spoken there; else those usual for its vendor. Clients of others are translated to the first.',
  },
  stream: {
    type: 'object',
    additionalProperties: false,
    default: {},
    properties: {
      usage: {
        enum: ['include_usage', 'always', 'never'],
        default: 'include_usage',
        description: 'How its streams tell their usage: when asked to, always, or never.',
      },
    },
  },
  quirks: { ...quirksSchema, default: {} },
};

/** The fields that every channel may have. */
export const CHANNEL_FIELDS: readonly string[] = Object.keys(channelFields);

/** How the section `channels` must look. Fields that are not known here belong to the vendor and are checked with it. */
export const channels = schema<readonly ChannelEntry[]>({
  type: 'array',
  description: 'The upstreams: who serves the models.',
  default: [],
  items: { type: 'object', required: ['name', 'vendor'], properties: channelFields },
});

/** How the section `models` must look. */
export const models = schema<Readonly<Record<string, ModelEntry>>>({
  type: 'object',
  description: 'The public names of the models, and where each may be had.',
  default: {},
  propertyNames: name,
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    properties: {
      alias: { ...name, description: 'Another name of a model.' },
      from: {
        type: 'array',
        minItems: 1,
        description: 'Channels, or `channel: its own name for the model`.',
        items: {
          anyOf: [name, { type: 'object', minProperties: 1, maxProperties: 1, additionalProperties: name }],
        },
      },
      fallback: { ...names, description: 'Models tried in turn when every channel has failed.' },
      only: {
        ...names,
        description: 'The styles it answers on; else all that its channels speak, and all that can be translated.',
      },
      free: { type: 'boolean', default: false, description: 'True: calls cost nothing.' },
      strict: { type: 'boolean', description: 'True: a translation that would change the answer is refused.' },
      quirks: quirksSchema,
      price: { description: 'Its price, where `prices` does not say.' },
    },
  },
});
