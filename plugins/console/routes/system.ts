/** How the gateways and the machine of this one are doing, for administrators. */
import { type GatewayState, type Lag, Running, type Sample, type Vitals } from '../../../core/contracts/running.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { boolean, integer, number, text, unixSeconds } from '../schemas.ts';
import { secondsOf } from '../units.ts';

const TAG = 'System';

const bytes = { ...integer, description: 'Bytes.' } as const;
const milliseconds = { ...number, description: 'Milliseconds.' } as const;

const lagSchema = {
  type: ['object', 'null'],
  description: 'How late the event loop is, over the last minute; null in the first ten seconds.',
  required: ['mean_ms', 'p50_ms', 'p99_ms', 'max_ms'],
  properties: {
    mean_ms: milliseconds,
    p50_ms: milliseconds,
    p99_ms: { ...milliseconds, description: 'In the worst ten seconds. Milliseconds.' },
    max_ms: milliseconds,
  },
} as const;

const gatewaySchema = {
  title: 'Gateway',
  type: 'object',
  required: ['name', 'version', 'started_at', 'self', 'report'],
  properties: {
    name: { ...text, description: '`HOST:PORT`' },
    version: text,
    started_at: unixSeconds,
    self: { ...boolean, description: 'True for the gateway that answers this request.' },
    report: {
      type: ['object', 'null'],
      description: 'What it reports; null: it did not answer within a second.',
      required: ['readiness', 'configuration', 'memory', 'lag', 'in_flight', 'calls', 'store', 'counters'],
      properties: {
        readiness: {
          enum: ['starting', 'ready', 'busy', 'draining'],
          description: 'As `/readyz`: `ready` takes calls; `busy`: the database is slow or cannot be written.',
        },
        configuration: { ...text, description: 'Digest of its gateway.yaml: equal digests, equal files.' },
        memory: {
          type: 'object',
          required: ['rss', 'heap_used', 'heap_limit', 'machine'],
          properties: { rss: bytes, heap_used: bytes, heap_limit: bytes, machine: bytes },
        },
        lag: lagSchema,
        in_flight: { ...integer, description: 'Calls that run now.' },
        calls: { ...integer, description: 'Calls that began within the last five minutes.' },
        store: {
          type: 'object',
          required: ['waiting', 'writable'],
          properties: {
            waiting: { ...integer, description: 'Lists that wait to be written.' },
            writable: { ...boolean, description: 'False where it cannot write now.' },
          },
        },
        counters: {
          type: ['object', 'null'],
          description: 'Where rate limits are counted; null: it has no `counters`.',
          required: ['driver', 'shared'],
          properties: {
            driver: { ...text, description: '`memory` or `valkey`.' },
            shared: {
              type: ['boolean', 'null'],
              description: 'Whether the shared server can be reached now; null: each gateway counts by itself.',
            },
          },
        },
      },
    },
  },
} as const;

const vitalsSchema = {
  title: 'Vitals',
  type: 'object',
  required: [
    ...['version', 'node', 'platform', 'started_at', 'uptime', 'memory', 'cpu', 'lag', 'in_flight', 'configuration'],
    ...['keeps', 'store', 'backup', 'untrusted_proxy', 'gateways'],
  ],
  properties: {
    version: text,
    node: text,
    platform: { ...text, description: '`linux x64`' },
    started_at: unixSeconds,
    uptime: { ...integer, description: 'Seconds.' },
    memory: {
      type: 'object',
      required: ['rss', 'heap_used', 'heap_total', 'heap_limit', 'external', 'machine'],
      properties: {
        rss: { ...bytes, description: 'Everything that the process holds, in bytes.' },
        heap_used: bytes,
        heap_total: bytes,
        heap_limit: { ...bytes, description: 'The heap cannot grow beyond it. Bytes.' },
        external: bytes,
        machine: { ...bytes, description: 'Of the machine, or of the container where that has less. Bytes.' },
      },
    },
    cpu: {
      type: 'object',
      required: ['user', 'system', 'cores', 'load'],
      properties: {
        user: { ...number, description: 'Seconds of processor time since the process began.' },
        system: { ...number, description: 'The same inside the operating system.' },
        cores: integer,
        load: { type: 'array', items: number, description: 'Of the machine, over 1, 5 and 15 minutes.' },
      },
    },
    lag: lagSchema,
    in_flight: { ...integer, description: 'Calls that run now, in all gateways that answer.' },
    configuration: {
      type: 'object',
      required: ['generation', 'loaded_at', 'differing'],
      properties: {
        generation: { ...integer, description: 'Which configuration since the start this is; from 1.' },
        loaded_at: unixSeconds,
        differing: {
          type: 'array',
          items: text,
          description: 'Other gateways on the same database that run with another gateway.yaml: `HOST:PORT` of each.',
        },
      },
    },
    keeps: {
      type: 'object',
      additionalProperties: text,
      description: 'How long sections of gateway.yaml keep what they keep: `{"log": "90d"}`.',
    },
    store: {
      type: 'object',
      required: ['name', 'waiting', 'writable', 'keeps_responses', 'bytes', 'log_bytes', 'disk_free', 'disk_total'],
      properties: {
        name: { ...text, description: 'Of its file, without the folder.' },
        waiting: { ...integer, description: 'Lists that wait to be written.' },
        writable: { ...boolean, description: 'False where it cannot be written now.' },
        keeps_responses: {
          ...boolean,
          description: 'False while the disk is nearly full: calls are served, and their responses are not kept.',
        },
        bytes: { type: ['integer', 'null'], description: 'Null, as the next three, where the store does not say.' },
        log_bytes: { type: ['integer', 'null'], description: 'Of what is not in the file yet.' },
        disk_free: { type: ['integer', 'null'], description: 'Bytes free where it lies.' },
        disk_total: { type: ['integer', 'null'], description: 'Bytes in all there.' },
      },
    },
    backup: {
      type: ['object', 'null'],
      description: 'The last `turnpike backup`; null: there was none.',
      required: ['at', 'name', 'bytes', 'ms'],
      properties: {
        at: unixSeconds,
        name: { ...text, description: 'Of its file, without the folder.' },
        bytes: { type: ['integer', 'null'], description: 'Null where the file could not be looked at.' },
        ms: { ...integer, description: 'How long it took.' },
      },
    },
    untrusted_proxy: {
      type: ['string', 'null'],
      description:
        'The address of a proxy that forwards requests and that `listen.trustProxy` does not name: all users share it. Null: there is none.',
    },
    gateways: {
      type: 'array',
      items: gatewaySchema,
      description: 'All gateways on the same database, in the order of their names.',
    },
  },
} as const;

const historySchema = {
  type: 'array',
  items: {
    title: 'VitalsSample',
    type: 'object',
    required: ['at', 'rss', 'heap_used', 'cpu', 'lag_ms', 'in_flight', 'waiting'],
    properties: {
      at: unixSeconds,
      rss: bytes,
      heap_used: bytes,
      cpu: { ...number, description: 'Processor time per time: 1 is one core.' },
      lag_ms: { ...number, description: 'p99 of how late the event loop was, in milliseconds.' },
      in_flight: integer,
      waiting: { ...integer, description: 'Lists that waited to be written.' },
    },
  },
} as const;

/** The rows. */
export function systemRoutes({ need }: Tools): readonly ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/system',
      alsoAt: ['/api/system/'],
      who: 'admin',
      summary: 'How this gateway and its machine are doing, and how each gateway on the same database is doing.',
      tag: TAG,
      answer: vitalsSchema,
      async handle() {
        const running = need(Running);
        return { ...shownVitals(await running.vitals()), untrusted_proxy: running.proxy().untrusted ?? null };
      },
    }),
    route({
      method: 'GET',
      path: '/api/system/history',
      who: 'admin',
      summary: 'The last hour, one moment every ten seconds, oldest first. It begins anew with the process.',
      tag: TAG,
      answer: historySchema,
      handle: () => need(Running).history().map(shownSample),
    }),
  ];
}

function shownVitals(vitals: Vitals) {
  const { memory, cpu, lag, configuration, store, backup, gateways } = vitals;
  return {
    version: vitals.version,
    node: vitals.node,
    platform: vitals.platform,
    started_at: secondsOf(vitals.startedMs),
    uptime: secondsOf(vitals.uptimeMs),
    memory: {
      rss: memory.rss,
      heap_used: memory.heapUsed,
      heap_total: memory.heapTotal,
      heap_limit: memory.heapLimit,
      external: memory.external,
      machine: memory.machine,
    },
    cpu: { user: cpu.userMs / 1_000, system: cpu.systemMs / 1_000, cores: cpu.cores, load: cpu.load },
    lag: shownLag(lag),
    in_flight: vitals.inFlight,
    configuration: {
      generation: configuration.generation,
      loaded_at: secondsOf(configuration.loadedMs),
      differing: configuration.differing,
    },
    keeps: vitals.keeps,
    store: {
      name: store.name,
      waiting: store.waiting,
      writable: store.writable,
      keeps_responses: !store.scarce,
      bytes: store.room?.file ?? null,
      log_bytes: store.room?.log ?? null,
      disk_free: store.room?.free ?? null,
      disk_total: store.room?.disk ?? null,
    },
    backup:
      backup === undefined
        ? null
        : { at: secondsOf(backup.atMs), name: backup.name, bytes: backup.bytes ?? null, ms: backup.tookMs },
    // Behind a load balancer each look may be answered by another one: the order stays.
    gateways: gateways.map((gateway, i) => shownGateway(gateway, i === 0)).sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function shownLag(lag: Lag | undefined) {
  return lag === undefined ? null : { mean_ms: lag.mean, p50_ms: lag.p50, p99_ms: lag.p99, max_ms: lag.max };
}

function shownGateway({ name, version, startedMs, report }: GatewayState, self: boolean) {
  const known = { name, version, started_at: secondsOf(startedMs), self };
  if (report === undefined) return { ...known, report: null };
  const { readiness, configuration, memory, lag, inFlight, calls, store, counters } = report;
  return {
    ...known,
    report: {
      readiness,
      configuration,
      memory: {
        rss: memory.rss,
        heap_used: memory.heapUsed,
        heap_limit: memory.heapLimit,
        machine: memory.machine,
      },
      lag: shownLag(lag),
      in_flight: inFlight,
      calls,
      store: { waiting: store.waiting, writable: store.writable },
      counters: counters === undefined ? null : { driver: counters.driver, shared: counters.shared ?? null },
    },
  };
}

function shownSample({ atMs, rss, heapUsed, cpu, lag, inFlight, waiting }: Sample) {
  return { at: secondsOf(atMs), rss, heap_used: heapUsed, cpu, lag_ms: lag, in_flight: inFlight, waiting };
}
