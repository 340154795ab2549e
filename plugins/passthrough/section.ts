/** The section `passthrough` of gateway.yaml: which paths are forwarded to which channel, and their price. */
import { schema } from '../../core/plugin.ts';

/** A path and everything below it. */
export interface PassthroughEntry {
  /** `/v1/files` */
  readonly prefix: string;
  /** The name of a channel. */
  readonly channel: string;
  /** The path below the channel's url; undefined: the prefix without `/v1`. */
  readonly path?: string;
  /** Quota units per request. */
  readonly price?: number;
  readonly free: boolean;
}

const SEGMENTS = '(/[A-Za-z0-9_-][A-Za-z0-9._~-]*)+';

export const passthroughSection = schema<readonly PassthroughEntry[]>({
  type: 'array',
  description: 'Paths whose requests are forwarded to a channel unchanged, WebSockets included.',
  default: [],
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['prefix', 'channel'],
    properties: {
      prefix: {
        type: 'string',
        title: 'path below /v1',
        pattern: `^/v1${SEGMENTS}$`,
        examples: ['/v1/files'],
        description: 'This path and everything below it.',
      },
      channel: { type: 'string', minLength: 1, description: 'The channel that serves it.' },
      path: {
        type: 'string',
        title: 'path below the url of the channel',
        pattern: `^${SEGMENTS}$`,
        examples: ['/files'],
        description: 'The path at the channel; default: the prefix without /v1.',
      },
      price: { type: 'integer', minimum: 1, maximum: 1_000_000_000, description: 'Quota units per request.' },
      free: { type: 'boolean', default: false, description: 'True: requests cost nothing.' },
    },
  },
});
