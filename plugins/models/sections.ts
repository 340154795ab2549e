/** The sections `channels` and `models` of gateway.yaml. */
import { type Accepted, typed } from '../../core/plugin.ts';
import { duration, proxySchema } from '../../core/sdk.ts';
import { quirksSchema } from '../../core/translation/index.ts';

const name = { type: 'string', minLength: 1 } as const;
const names = { type: 'array', minItems: 1, uniqueItems: true, items: name } as const;

const channelFields = {
  name: {
    // The name is sent in the header `x-turnpike-channel`.
    type: 'string',
    title: 'name of letters, digits, dots, dashes and underscores',
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
    examples: ['main'],
  },
  vendor: { ...name, description: 'The vendor whose API it has.' },
  url: {
    type: 'string',
    title: 'URL without user and query',
    pattern: '^https?://[^/?#@{}\\s]+(/([^?#{}\\s]|\\{model\\})*)?$',
    format: 'uri',
    examples: ['https://api.example.com/v1'],
    description:
      'Its base URL; optional for vendors with a fixed one. `{model}` in its path is replaced by the upstream model.',
  },
  key: { type: 'string', default: '', description: 'Its API key. A channel with an empty key is off.' },
  keys: {
    type: 'array',
    minItems: 1,
    maxItems: 100,
    items: { type: 'string' },
    description:
      'Several API keys, instead of `key`: a conversation uses one of them, and one that is refused or rate limited is paused. Empty ones are left out.',
  },
  proxy: {
    ...proxySchema,
    description:
      'The HTTP proxy for all requests to it, or `none`. Default: `upstream.proxy`, otherwise HTTPS_PROXY and HTTP_PROXY of the environment.',
  },
  headers: {
    type: 'object',
    propertyNames: { title: 'name of a header', pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" },
    additionalProperties: {
      type: 'string',
      title: 'value of a header, in one line of Latin characters',
      pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]*$',
    },
    description: 'Headers of every request to it. They replace those of its vendor; empty ones are not sent.',
  },
  query: {
    type: 'object',
    propertyNames: name,
    additionalProperties: { type: 'string' },
    description: 'Query parameters of every request to it; empty ones are not sent.',
  },
  weight: {
    type: 'number',
    exclusiveMinimum: 0,
    default: 1,
    description: 'Its share of the calls among channels of its priority.',
  },
  priority: {
    type: 'integer',
    minimum: 0,
    default: 0,
    description: 'Channels with the lowest number are tried first.',
  },
  timeout: {
    type: 'object',
    additionalProperties: false,
    default: {},
    properties: {
      connect: { ...duration, default: '5s', description: 'Timeout for connecting.' },
      head: { ...duration, description: 'Timeout until the answer begins; default: 60s for a stream, 10m otherwise.' },
      idle: { ...duration, default: '120s', description: 'Timeout between two pieces of the answer.' },
      total: { ...duration, default: '30m', description: 'Timeout from the request to the end of the answer.' },
    },
  },
  speaks: {
    ...names,
    description:
      'The styles to use with it; default: those of its vendor. Calls in other styles are translated to the first.',
  },
  models: {
    enum: ['list'],
    description:
      "`list`: the vendor's list of models is read every hour, and model lists show those that patterns match.",
  },
  stream: {
    type: 'object',
    additionalProperties: false,
    default: {},
    properties: {
      usage: {
        enum: ['include_usage', 'always', 'never'],
        default: 'include_usage',
        description: 'How its streams report usage: on request, always, or never.',
      },
    },
  },
  quirks: { ...quirksSchema, default: {} },
} as const;

/** The fields that every channel may have. */
export const CHANNEL_FIELDS: readonly string[] = Object.keys(channelFields);

/** The schema of the section `channels`. Other fields belong to the vendor and are validated with it. */
export const channels = typed({
  type: 'array',
  description: 'The upstream channels that serve the models.',
  default: [],
  items: { type: 'object', required: ['name', 'vendor'], properties: channelFields },
});

/** A channel's common fields; its vendor defines more. */
export type ChannelEntry = Accepted<typeof channels>[number] & { readonly [option: string]: unknown };

export const models = typed({
  type: 'object',
  description: 'The public model names, and the channels of each.',
  default: {},
  propertyNames: name,
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    properties: {
      alias: { ...name, description: 'The name of another model, which this name stands for.' },
      from: {
        type: 'array',
        minItems: 1,
        description: 'Channels, or `channel: upstream model`.',
        items: {
          anyOf: [name, { type: 'object', minProperties: 1, maxProperties: 1, additionalProperties: name }],
        },
      },
      fallback: { ...names, description: 'Models to try, in order, if all channels have failed.' },
      only: {
        ...names,
        description:
          'The supported styles; default: all that its channels support, and all that can be translated to these.',
      },
      free: { type: 'boolean', default: false, description: 'True: calls cost nothing.' },
      strict: { type: 'boolean', description: 'True: translations that would change the answer are refused.' },
      quirks: quirksSchema,
      price: { description: 'Its price, instead of one in `prices`; `list`: the list price of its vendor.' },
    },
  },
});

/** A model: an alias, or its channels. */
export type ModelEntry = Accepted<typeof models>[string];
