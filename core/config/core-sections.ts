/** The sections of gateway.yaml that core reads itself: `config`, `configuration`, `listen`, `store`, `backup`, `upstream`, `logger`, `pipeline`. */
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { type Accepted, type Schema, schema, typed } from '../contracts/definitions.ts';
import { LOG_LEVELS, type LogSettings } from '../runtime/logger.ts';
import { proxySchema } from '../upstream/proxy.ts';
import { backupSchema } from './backup-section.ts';
import { addressRange, byteSize, duration, durationMs, size } from './values.ts';

/** `listen` as written. */
type ListenSection = Accepted<typeof coreSections.listen>;

/** Default store driver and database file. */
export const DEFAULT_DRIVER = 'sqlite';
export const DEFAULT_STORE_FILE = './data/turnpike.db';
/** Default folder for the gateway's files if the store is a server. */
const DEFAULT_DATA = './data';

/** The members of `store` that core reads, as written. */
export interface StoreSection {
  readonly driver: string;
  /** The database file; relative to the configuration file. */
  readonly file?: string;
  /** The address of a database server, instead of a file. */
  readonly url?: string;
  /** If the store is a server: the folder of the gateway's own files. */
  readonly data?: string;
}

/** Base path of the files next to a store: the database file, or for a server `turnpike` in the gateway's folder. */
export function placeOfStore({ file, url, data }: Partial<Readonly<Record<keyof StoreSection, unknown>>>): string {
  if (typeof file === 'string') return file;
  if (typeof url !== 'string') return DEFAULT_STORE_FILE;
  return join(typeof data === 'string' ? data : DEFAULT_DATA, 'turnpike');
}

/** The name of a store without its location: the name of its file or database. */
export function nameOfStore({ file, url = '' }: StoreSection): string {
  return basename(file ?? url.replace(/\?.*$/s, ''));
}

/** `upstream` as written and as used. */
export interface UpstreamSection {
  /** Removed. */
  readonly client?: unknown;
  /** The URL of an HTTP proxy, or `none`; undefined or empty: those of the environment. */
  readonly proxy?: string;
}

/** A built-in plugin by name, or any other by file or package. */
export type PipelineEntry = Accepted<typeof coreSections.pipeline>[number];

/** Limits of request bodies, and the folder for files. */
export interface BodyLimits {
  readonly jsonBytes: number;
  readonly uploadBytes: number;
  /** Maximum nesting of objects and arrays. */
  readonly depth: number;
  /** A folder, relative to the configuration file; undefined: the system's temporary folder. */
  readonly spool: string | undefined;
  /** Limits for the bodies of all running requests together. */
  readonly inFlight: Readonly<Record<Where, Budget>>;
}

/** `listen` as used. */
export interface Listen extends Omit<ListenSection, 'port' | 'tls' | 'workers' | 'body' | 'drain'> {
  /** 0: any free port. */
  readonly port: number;
  readonly tls: ListenSection['tls'];
  /** Number of processes that serve calls; 1: a single process. */
  readonly workers: number;
  readonly body: BodyLimits;
  /** Time for running requests to finish when the gateway stops. */
  readonly drainMs: number;
}

/** Reads a validated `listen` section. */
export function readListen(value: unknown): Listen {
  const { port, tls, workers, body, drain, ...same } = value as ListenSection;
  const { json, upload, depth, spool, inFlight } = body;
  const [jsonBytes, uploadBytes] = [byteSize(json), byteSize(upload)];
  return {
    ...same,
    port: Number(port),
    tls,
    workers: workers === 'auto' ? Math.min(availableParallelism(), MOST_WORKERS) : workers,
    body: {
      jsonBytes,
      uploadBytes,
      depth,
      spool,
      inFlight: { memory: budgetOf(inFlight.memory, jsonBytes), disk: budgetOf(inFlight.disk, uploadBytes) },
    },
    drainMs: durationMs(drain),
  };
}

/** More processes do not make one machine faster. */
const MOST_WORKERS = 64;

/** One body of the maximum size always fits; otherwise it could never be sent. */
function budgetOf(section: ListenSection['body']['inFlight'][Where], largest: number): Budget {
  const perAccount = Math.max(byteSize(section.perAccount), largest);
  return { total: Math.max(byteSize(section.total), perAccount), perAccount };
}

const budget = (description: string, total: string, perAccount: string) =>
  ({
    type: 'object',
    description,
    additionalProperties: false,
    properties: {
      total: {
        ...size,
        description: 'Limit for all requests together. If exceeded, the accounts that use most get 503.',
        default: total,
      },
      perAccount: {
        ...size,
        description: 'Limit for the requests of one account. If exceeded, its requests get 429.',
        default: perAccount,
      },
    },
    default: {},
  }) as const;

const onDisconnect = (normally: 'cancel' | 'drain') => ({ enum: ['cancel', 'drain'], default: normally }) as const;

/** The schemas of core's own sections. */
export const coreSections = {
  listen: typed({
    type: 'object',
    description: 'Where and how the gateway accepts requests.',
    additionalProperties: false,
    properties: {
      host: {
        type: 'string',
        description:
          'The address to listen on. If clients connect from other machines, use a TLS-terminating proxy or set tls.',
        minLength: 1,
        examples: ['127.0.0.1', '0.0.0.0'],
        default: '127.0.0.1',
      },
      port: {
        title: 'port number from 0 to 65535',
        description: 'The port to listen on; 0 selects a free port.',
        // A string, too, for `${PORT}`.
        anyOf: [
          { type: 'integer', minimum: 0, maximum: 65535 },
          {
            type: 'string',
            pattern: '^(\\d{1,4}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])$',
          },
        ],
        default: 8080,
      },
      tls: {
        type: 'object',
        description: 'Serves HTTPS with these PEM files.',
        additionalProperties: false,
        required: ['cert', 'key'],
        properties: {
          cert: { type: 'string', description: 'The certificate chain.', minLength: 1, examples: ['./cert.pem'] },
          key: { type: 'string', description: 'Its private key.', minLength: 1, examples: ['./key.pem'] },
        },
      },
      workers: {
        title: `number of processes from 1 to ${MOST_WORKERS}, or "auto"`,
        description: 'Number of processes that serve calls; `auto`: one per CPU core. A change needs a restart.',
        anyOf: [{ type: 'integer', minimum: 1, maximum: MOST_WORKERS }, { const: 'auto' }],
        default: 1,
      },
      trustProxy: {
        type: 'array',
        description: 'Addresses of trusted proxies, whose X-Forwarded-For header is used.',
        items: addressRange,
        default: [],
      },
      cors: {
        type: 'array',
        description:
          'CORS origins whose pages may make calls with an API key; `*`: any; an empty list: none. Cookies are never accepted.',
        items: {
          title: 'origin without a path, such as https://chat.example.com, or "*"',
          type: 'string',
          pattern: '^(\\*|https?://[^/?#@\\s*]+)$',
          format: 'origin',
        },
        default: ['*'],
      },
      body: {
        type: 'object',
        description: 'Maximum sizes of request bodies.',
        additionalProperties: false,
        properties: {
          json: { ...size, description: 'Maximum size of a JSON body.', default: '16mb' },
          upload: { ...size, description: 'Maximum size of a multipart body.', default: '32mb' },
          depth: {
            type: 'integer',
            description: 'Maximum nesting depth of a JSON body.',
            minimum: 1,
            maximum: 1000,
            default: 64,
          },
          spool: {
            type: 'string',
            description: "Folder for uploaded files, relative to this file; default: the system's temporary folder.",
            minLength: 1,
            examples: ['./data'],
          },
          inFlight: {
            type: 'object',
            description:
              'Limits for the bodies of all running requests together; one body of the maximum size always fits.',
            additionalProperties: false,
            properties: {
              memory: budget('Bodies in memory: JSON and small multipart bodies.', '512mb', '128mb'),
              disk: budget('Bodies on disk: multipart bodies over 1 MB or of unknown length.', '2gb', '512mb'),
            },
            default: {},
          },
        },
        default: {},
      },
      drain: { ...duration, description: 'Time for running requests to finish on shutdown.', default: '30s' },
      onDisconnect: {
        type: 'object',
        description: 'Whether a call is cancelled or finished if its client disconnects.',
        additionalProperties: false,
        properties: {
          stream: { ...onDisconnect('cancel'), description: 'A streamed answer.' },
          whole: {
            ...onDisconnect('drain'),
            description: 'Non-streaming calls, which the vendor charges for anyway.',
          },
        },
        default: {},
      },
      attempts: {
        type: 'object',
        description: 'Limits for upstream attempts.',
        additionalProperties: false,
        properties: {
          max: {
            type: 'integer',
            description: 'Maximum number of channels that one request may try.',
            minimum: 1,
            maximum: 20,
            default: 3,
          },
        },
        default: {},
      },
    },
  }),
  store: schema<StoreSection>({
    type: 'object',
    description: 'The database.',
    additionalProperties: false,
    properties: {
      driver: {
        type: 'string',
        description: 'The store driver: a built-in name, or a package.',
        minLength: 1,
        examples: [DEFAULT_DRIVER],
        default: DEFAULT_DRIVER,
      },
      file: {
        type: 'string',
        description: 'The database file, relative to this file.',
        minLength: 1,
        examples: [DEFAULT_STORE_FILE],
        default: DEFAULT_STORE_FILE,
      },
    },
  }),
  backup: backupSchema,
  upstream: schema<UpstreamSection>({
    type: 'object',
    description: 'Requests to other servers.',
    additionalProperties: false,
    properties: {
      client: { description: 'Removed: there is only one HTTP client.', deprecated: true },
      proxy: {
        ...proxySchema,
        description:
          'The HTTP proxy for requests to vendors and providers; `none`: no proxy. Default: HTTPS_PROXY and HTTP_PROXY of the environment. NO_PROXY lists hosts that are reached directly.',
      },
    },
    default: {},
  }),
  config: typed({
    type: 'string',
    description:
      'Where the configuration is: in this file, or, except for listen and store, in the database. A change needs a restart.',
    enum: ['file', 'store'],
    default: 'file',
  }),
  configuration: typed({
    type: 'object',
    description: 'The configuration editor.',
    additionalProperties: false,
    properties: {
      editor: {
        type: 'boolean',
        description: 'Whether root can change the configuration in the console and through /api.',
        default: true,
      },
    },
    default: {},
  }),
  logger: typed({
    type: 'object',
    description: 'The log of the gateway on standard error.',
    additionalProperties: false,
    properties: {
      level: {
        description:
          'The lowest level that is written; `debug` also writes stacks of errors. Default: TURNPIKE_LOG_LEVEL, or info.',
        enum: LOG_LEVELS,
      },
      format: {
        description: 'json: one object per line. text: for people.',
        enum: ['json', 'text'],
        default: 'json',
      },
      plugins: {
        type: 'object',
        description: 'Levels of single plugins, by their names.',
        additionalProperties: { enum: LOG_LEVELS },
        default: {},
      },
    },
    default: {},
  }) satisfies Schema<LogSettings>,
  pipeline: typed({
    type: 'array',
    description: 'The plugins to run. Their order matters only for plugins that implement the same phase.',
    minItems: 1,
    uniqueItems: true,
    items: {
      anyOf: [
        { type: 'string', description: 'A built-in plugin.', minLength: 1, examples: ['auth', 'vendors/compatible'] },
        {
          type: 'object',
          description: 'An external plugin: a file, or a package.',
          additionalProperties: false,
          required: ['use'],
          properties: { use: { type: 'string', minLength: 1, examples: ['./vendors/acme.ts'] } },
        },
      ],
    },
  }),
};

/** Byte limits. */
export interface Budget {
  readonly total: number;
  readonly perAccount: number;
}

/** The storage of the bytes. */
export type Where = 'memory' | 'disk';
