/** The sections of gateway.yaml that core reads itself: where it listens, where it stores, what runs. */
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { type Schema, schema } from '../definitions.ts';
import type { Budget, Where } from '../intake.ts';
import type { UpstreamClient } from '../upstream.ts';
import { addressRange, byteSize, duration, durationMs, size } from './values.ts';

/** What happens to a running call when its client goes away: it is cancelled, or runs to its end for the records. */
export type OnDisconnect = 'cancel' | 'drain';

/** `listen` as it is written. */
export interface ListenSection {
  readonly host: string;
  readonly port: number | string;
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly workers: number | 'auto';
  readonly trustProxy: readonly string[];
  readonly cors: readonly string[];
  readonly body: {
    readonly json: string;
    readonly upload: string;
    readonly depth: number;
    readonly spool?: string;
    readonly inFlight: Readonly<Record<Where, BudgetSection>>;
  };
  readonly drain: string;
  readonly onDisconnect: { readonly stream: OnDisconnect; readonly whole: OnDisconnect };
  readonly attempts: { readonly max: number };
}

interface BudgetSection {
  readonly total: string;
  readonly perAccount: string;
}

/** What keeps the database when nobody says, and where. */
export const DEFAULT_DRIVER = 'sqlite';
export const DEFAULT_STORE_FILE = './data/turnpike.db';
/** Where the files of a gateway are whose store is a server, when nobody says. */
const DEFAULT_DATA = './data';

/** `store` as it is written, as far as core reads it. */
export interface StoreSection {
  readonly driver: string;
  /** The database; relative to the file's directory. */
  readonly file?: string;
  /** The address of a server, which has the database instead. */
  readonly url?: string;
  /** Of a gateway whose store is a server: the folder of its own files. */
  readonly data?: string;
}

/** What the files beside a store are named after: its own file, or `turnpike` in the folder that a gateway has whose store is a server. */
export function placeOfStore({ file, url, data }: Partial<Readonly<Record<keyof StoreSection, unknown>>>): string {
  if (typeof file === 'string') return file;
  if (typeof url !== 'string') return DEFAULT_STORE_FILE;
  return join(typeof data === 'string' ? data : DEFAULT_DATA, 'turnpike');
}

/** What a store is called where its place is nobody's business: the name of its file, or of its database. */
export function nameOfStore({ file, url = '' }: StoreSection): string {
  return basename(file ?? url.replace(/\?.*$/s, ''));
}

/** `upstream` as it is written, and as core uses it. */
export interface UpstreamSection {
  readonly client: UpstreamClient;
}

/** Reads a checked `upstream` section. */
export function readUpstream(value: unknown): UpstreamSection {
  return value as UpstreamSection;
}

/** A plugin that ships by its name, or any other by its file or package. */
export type PipelineEntry = string | { readonly use: string };

/** `pipeline` as it is written: never empty. */
export type PipelineSection = readonly PipelineEntry[];

/** How large a request's body may be, and where files are kept meanwhile. */
export interface BodyLimits {
  readonly jsonBytes: number;
  readonly uploadBytes: number;
  /** Objects and arrays inside each other. */
  readonly depth: number;
  /** A directory, relative to the file's own; undefined: the system's for temporary files. */
  readonly spool: string | undefined;
  /** What the bodies of running requests may be together. */
  readonly inFlight: Readonly<Record<Where, Budget>>;
}

/** `listen` as core uses it. */
export interface Listen {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Files, relative to the configuration's directory; undefined: plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** How many processes serve calls; 1: the one that was started, alone. */
  readonly workers: number;
  /** Addresses and ranges whose word about the client's address is believed. */
  readonly trustProxy: readonly string[];
  /** Origins whose pages may call with a key; `*`: any. */
  readonly cors: readonly string[];
  readonly body: BodyLimits;
  /** How long running exchanges may finish when the gateway stops. */
  readonly drainMs: number;
  readonly onDisconnect: { readonly stream: OnDisconnect; readonly whole: OnDisconnect };
  /** How many channels one exchange may try. */
  readonly attempts: { readonly max: number };
}

/** Reads a checked `listen` section. */
export function readListen(value: unknown): Listen {
  const listen = value as ListenSection;
  const jsonBytes = byteSize(listen.body.json);
  const uploadBytes = byteSize(listen.body.upload);
  const { memory, disk } = listen.body.inFlight;
  return {
    host: listen.host,
    port: Number(listen.port),
    tls: listen.tls,
    workers: listen.workers === 'auto' ? Math.min(availableParallelism(), MOST_WORKERS) : listen.workers,
    trustProxy: listen.trustProxy,
    cors: listen.cors,
    body: {
      jsonBytes,
      uploadBytes,
      depth: listen.body.depth,
      spool: listen.body.spool,
      inFlight: { memory: budgetOf(memory, jsonBytes), disk: budgetOf(disk, uploadBytes) },
    },
    drainMs: durationMs(listen.drain),
    onDisconnect: listen.onDisconnect,
    attempts: listen.attempts,
  };
}

/** More processes than that do not make one machine faster. */
const MOST_WORKERS = 64;

/** One body of the largest size always fits, or it could never be sent. */
function budgetOf(section: BudgetSection, largest: number): Budget {
  const perAccount = Math.max(byteSize(section.perAccount), largest);
  return { total: Math.max(byteSize(section.total), perAccount), perAccount };
}

const budget = (description: string, total: string, perAccount: string) => ({
  type: 'object',
  description,
  additionalProperties: false,
  properties: {
    total: {
      ...size,
      description: 'Of all requests together; beyond it 503 for those that hold most.',
      default: total,
    },
    perAccount: { ...size, description: 'Of the requests of one account; beyond it 429.', default: perAccount },
  },
  default: {},
});

const onDisconnect = (normally: OnDisconnect) => ({ enum: ['cancel', 'drain'], default: normally });

/** The schemas of core's own sections. */
export const coreSections: {
  readonly listen: Schema<ListenSection>;
  readonly store: Schema<StoreSection>;
  readonly upstream: Schema<UpstreamSection>;
  readonly pipeline: Schema<PipelineSection>;
} = {
  listen: schema<ListenSection>({
    type: 'object',
    description: 'Where and how the gateway accepts requests.',
    additionalProperties: false,
    properties: {
      host: {
        type: 'string',
        description:
          'The address to listen at. Put a TLS terminator in front of anything but this machine, or fill in tls.',
        minLength: 1,
        examples: ['127.0.0.1', '0.0.0.0'],
        default: '127.0.0.1',
      },
      port: {
        title: 'port number from 0 to 65535',
        description: 'The port to listen at; 0 takes any that is free.',
        // As text, too, for `${PORT}`.
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
        description: 'How many processes serve calls; `auto` is one for each core. Changing it needs a restart.',
        anyOf: [{ type: 'integer', minimum: 1, maximum: MOST_WORKERS }, { const: 'auto' }],
        default: 1,
      },
      trustProxy: {
        type: 'array',
        description: 'Proxies whose X-Forwarded-For is believed.',
        items: addressRange,
        default: [],
      },
      cors: {
        type: 'array',
        description:
          'Origins whose pages may call with a key from the browser; `*` is any, an empty list none. Cookies never count.',
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
        description: 'The largest bodies that are accepted.',
        additionalProperties: false,
        properties: {
          json: { ...size, description: 'Of a JSON body.', default: '16mb' },
          upload: { ...size, description: 'Of a form with files.', default: '32mb' },
          depth: {
            type: 'integer',
            description: 'How deep objects and arrays may stand inside each other in a JSON body.',
            minimum: 1,
            maximum: 1000,
            default: 64,
          },
          spool: {
            type: 'string',
            description:
              "The directory for files on their way, relative to this file; else the system's for temporary files.",
            minLength: 1,
            examples: ['./data'],
          },
          inFlight: {
            type: 'object',
            description:
              'What the bodies of running requests may be together; one body of the largest size always fits.',
            additionalProperties: false,
            properties: {
              memory: budget('Bodies in memory: JSON, and small forms.', '512mb', '128mb'),
              disk: budget('Bodies that lie on disk: forms beyond 1 MB or of unknown length.', '2gb', '512mb'),
            },
            default: {},
          },
        },
        default: {},
      },
      drain: { ...duration, description: 'How long running exchanges may finish on shutdown.', default: '30s' },
      onDisconnect: {
        type: 'object',
        description: 'Whether a call goes on when its client goes away.',
        additionalProperties: false,
        properties: {
          stream: { ...onDisconnect('cancel'), description: 'A streamed answer.' },
          whole: {
            ...onDisconnect('drain'),
            description: 'An answer in one piece, which the vendor charges for anyway.',
          },
        },
        default: {},
      },
      attempts: {
        type: 'object',
        description: 'How hard the gateway tries.',
        additionalProperties: false,
        properties: {
          max: {
            type: 'integer',
            description: 'Channels that one exchange may try.',
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
    description: 'Where the gateway keeps what must last.',
    additionalProperties: false,
    properties: {
      driver: {
        type: 'string',
        description: 'The store, by name or package.',
        minLength: 1,
        examples: [DEFAULT_DRIVER],
        default: DEFAULT_DRIVER,
      },
      file: {
        type: 'string',
        description: 'The database, relative to this file.',
        minLength: 1,
        examples: [DEFAULT_STORE_FILE],
        default: DEFAULT_STORE_FILE,
      },
    },
  }),
  upstream: schema<UpstreamSection>({
    type: 'object',
    description: 'How calls are sent to vendors.',
    additionalProperties: false,
    properties: {
      client: {
        description: 'The HTTP client of calls: the one that is part of the gateway, or the package undici.',
        enum: ['own', 'undici'],
        default: 'own',
      },
    },
    default: {},
  }),
  pipeline: schema<PipelineSection>({
    type: 'array',
    description: 'What runs. Order matters only between plugins that play the same phase.',
    minItems: 1,
    uniqueItems: true,
    items: {
      anyOf: [
        { type: 'string', description: 'A plugin that ships.', minLength: 1, examples: ['auth', 'vendors/compatible'] },
        {
          type: 'object',
          description: 'A plugin of your own: a file, or a package.',
          additionalProperties: false,
          required: ['use'],
          properties: { use: { type: 'string', minLength: 1, examples: ['./vendors/acme.ts'] } },
        },
      ],
    },
  }),
};
