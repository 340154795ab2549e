/** The section `events` of gateway.yaml. */
import { type Accepted, typed } from '../../core/plugin.ts';
import { settings, size } from '../../core/sdk.ts';

const url = { type: 'string', pattern: '^https?://[^\\s]+$' } as const;

/** How the section must look. */
export const eventsSection = typed(
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

type EventsSection = Accepted<typeof eventsSection>;
/** Posts to a URL. */
export type WebhookSection = NonNullable<EventsSection['webhook']>;
/** Files in a folder. */
export type FileSection = NonNullable<EventsSection['file']>;
/** Objects in a bucket of S3 or of storage with its API. */
export type S3Section = NonNullable<EventsSection['s3']>;
