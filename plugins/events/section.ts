/** The section `events` of gateway.yaml. */
import { schema } from '../../core/plugin.ts';
import { settings, size } from '../../core/sdk.ts';

/** Posts to a URL. */
export interface WebhookSection {
  readonly url: string;
  /** The key of the signature; empty: not signed. */
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Files in a folder. */
export interface FileSection {
  /** Relative to the working folder of the gateway. */
  readonly folder: string;
  readonly maxBytes: string;
  /** In days; 0: forever. */
  readonly keepDays: number;
}

/** Objects in a bucket of S3 or of storage with its API. */
export interface S3Section {
  /** Up to the bucket, without the objects' prefix. */
  readonly url: string;
  readonly prefix: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** The section. */
export interface EventsSection {
  readonly webhook?: WebhookSection;
  readonly file?: FileSection;
  readonly s3?: S3Section;
  readonly queue: number;
}

const url = { type: 'string', pattern: '^https?://[^\\s]+$' };

/** How the section must look. */
export const eventsSection = schema<EventsSection>(
  settings('A JSON event for each call, for other systems.', {
    webhook: {
      type: 'object',
      description: 'Posts events to a URL.',
      additionalProperties: false,
      required: ['url'],
      properties: {
        url: { ...url, description: 'The URL; unlike those of users, it may be in a private network.' },
        secret: {
          type: 'string',
          default: '',
          description: 'The key of the HMAC-SHA256 signature in `x-turnpike-signature`; empty: not signed.',
        },
        headers: {
          type: 'object',
          additionalProperties: { type: 'string' },
          default: {},
          description: 'Headers of every request, such as `authorization`.',
        },
      },
    },
    file: {
      type: 'object',
      description: 'Appends events to files, one JSON object per line.',
      additionalProperties: false,
      required: ['folder'],
      properties: {
        folder: {
          type: 'string',
          minLength: 1,
          description: 'The folder of the files, relative to the working folder.',
        },
        maxBytes: {
          ...size,
          default: '100mb',
          description: 'The size at which a new file begins; one also begins each day (UTC).',
        },
        keepDays: { type: 'integer', minimum: 0, default: 30, description: 'How long files are kept; 0: forever.' },
      },
    },
    s3: {
      type: 'object',
      description: 'Writes events to objects in S3, or in storage with its API.',
      additionalProperties: false,
      required: ['url', 'accessKey', 'secretKey'],
      properties: {
        url: {
          ...url,
          description: 'The URL of the bucket.',
          examples: ['https://my-bucket.s3.eu-central-1.amazonaws.com'],
        },
        prefix: { type: 'string', default: 'turnpike/', description: 'Begins the name of each object.' },
        region: { type: 'string', minLength: 1, default: 'us-east-1', description: 'The region, for the signature.' },
        accessKey: { type: 'string', minLength: 1, description: 'The access key id.' },
        secretKey: { type: 'string', minLength: 1, description: 'The secret access key.' },
      },
    },
    queue: {
      type: 'integer',
      minimum: 100,
      maximum: 1_000_000,
      default: 10_000,
      description:
        'The most events in memory, per destination and process. Further ones are dropped, and counted in the log.',
    },
  }),
);
