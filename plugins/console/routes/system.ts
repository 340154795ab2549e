/** The health of all gateways and of this machine, for administrators. */
import {
  type BackupSchedule,
  type GatewayState,
  type Lag,
  Running,
  type Sample,
  type Vitals,
} from '../../../core/contracts/running.ts';
import { type ApiRoute, type Tools, tagged } from '../route.ts';
import { boolean, integer, listOf, number, object, objectOrNull, record, text, unixSeconds } from '../schemas.ts';
import { secondsOf } from '../units.ts';

const route = tagged('System');

const bytes = { ...integer, description: 'Bytes.' } as const;
const milliseconds = { ...number, description: 'Milliseconds.' } as const;

const lagSchema = objectOrNull('Event loop delay over the last minute; null in the first ten seconds.', {
  mean_ms: milliseconds,
  p50_ms: milliseconds,
  p99_ms: { ...milliseconds, description: 'Of the worst ten seconds, in milliseconds.' },
  max_ms: milliseconds,
});

const gatewaySchema = record('Gateway', {
  name: { ...text, description: '`HOST:PORT`' },
  version: text,
  started_at: unixSeconds,
  self: { ...boolean, description: 'True for the gateway that answers this request.' },
  report: objectOrNull('Its report; null: it did not respond within a second.', {
    readiness: {
      enum: ['starting', 'ready', 'busy', 'draining'],
      description: 'As in `/readyz`: `ready` takes calls; `busy`: the database is slow or not writable.',
    },
    configuration: { ...text, description: 'Digest of its gateway.yaml, to compare gateways.' },
    memory: object({ rss: bytes, heap_used: bytes, heap_limit: bytes, machine: bytes }),
    lag: lagSchema,
    in_flight: { ...integer, description: 'Running calls.' },
    calls: { ...integer, description: 'Calls that began within the last five minutes.' },
    store: object({
      waiting: { ...integer, description: 'Lists that wait to be written.' },
      writable: { ...boolean, description: 'False: currently not writable.' },
    }),
    counters: objectOrNull('The rate-limit counters; null: the plugin `counters` is not used.', {
      driver: { ...text, description: '`memory` or `valkey`.' },
      shared: {
        type: ['boolean', 'null'],
        description:
          'Whether the shared server is reachable; if not, each gateway enforces its share of the limits. Null: not shared.',
      },
    }),
  }),
});

const vitalsSchema = record('Vitals', {
  version: text,
  node: text,
  platform: { ...text, description: '`linux x64`' },
  started_at: unixSeconds,
  uptime: { ...integer, description: 'Seconds.' },
  memory: object({
    rss: { ...bytes, description: 'Resident memory of the process, in bytes.' },
    heap_used: bytes,
    heap_total: bytes,
    heap_limit: { ...bytes, description: 'Maximum heap size in bytes.' },
    external: bytes,
    machine: { ...bytes, description: 'Memory of the machine, or of the container if it has less, in bytes.' },
  }),
  cpu: object({
    user: { ...number, description: 'CPU seconds in user mode since the start.' },
    system: { ...number, description: 'CPU seconds in the kernel.' },
    cores: integer,
    load: { type: 'array', items: number, description: 'Load average over 1, 5 and 15 minutes.' },
  }),
  lag: lagSchema,
  in_flight: { ...integer, description: 'Running calls in all gateways that responded.' },
  configuration: object({
    generation: { ...integer, description: 'Number of the running configuration since the start, from 1.' },
    loaded_at: unixSeconds,
    differing: {
      type: 'array',
      items: text,
      description: 'Other gateways on the same database with a different gateway.yaml: their `HOST:PORT`.',
    },
  }),
  keeps: {
    type: 'object',
    additionalProperties: text,
    description: 'Retention by section of gateway.yaml: `{"log": "90d"}`.',
  },
  store: object({
    name: { ...text, description: 'Its file name without the folder.' },
    waiting: { ...integer, description: 'Lists that wait to be written.' },
    writable: { ...boolean, description: 'False: currently not writable.' },
    keeps_responses: {
      ...boolean,
      description: 'False while the disk is nearly full: calls are served, but responses are not stored.',
    },
    bytes: {
      type: ['integer', 'null'],
      description: 'Size of the database file. Null, like the next three members, if the store does not report it.',
    },
    log_bytes: { type: ['integer', 'null'], description: 'Size of the write-ahead log.' },
    disk_free: { type: ['integer', 'null'], description: 'Free bytes on its disk.' },
    disk_total: { type: ['integer', 'null'], description: 'Size of its disk in bytes.' },
  }),
  backup: objectOrNull('The last backup, scheduled or by `turnpike backup`; null: none.', {
    at: unixSeconds,
    name: { ...text, description: 'Its file name without the folder.' },
    bytes: { type: ['integer', 'null'], description: 'Null if the file cannot be read.' },
    ms: { ...integer, description: 'Duration in milliseconds.' },
  }),
  backups: objectOrNull('Scheduled backups; null: none are configured (`backup:` in gateway.yaml).', {
    every: { ...integer, description: 'Their interval in seconds.' },
    to: { ...text, description: 'The folder, or bucket and prefix.' },
    running: { ...boolean, description: 'One is running in this gateway.' },
    proven: objectOrNull('The last that was restored, migrated and reconciled; null: none.', {
      at: unixSeconds,
      name: text,
      bytes: { type: ['integer', 'null'], description: 'Its size.' },
      ms: { ...integer, description: 'Duration of backup and proof in milliseconds.' },
    }),
    failed: objectOrNull('The last failure since; null: none.', {
      at: unixSeconds,
      name: { ...text, description: 'The stored copy whose proof failed; empty: none was stored.' },
      reason: text,
    }),
  }),
  untrusted_proxy: {
    type: ['string', 'null'],
    description:
      'The address of a proxy that is missing in `listen.trustProxy`, so that all users share its address. Null: none.',
  },
  gateways: {
    type: 'array',
    items: gatewaySchema,
    description: 'All gateways on the same database, by name.',
  },
});

const historySchema = listOf('VitalsSample', {
  at: unixSeconds,
  rss: bytes,
  heap_used: bytes,
  cpu: { ...number, description: 'CPU seconds per second: 1 is one core.' },
  lag_ms: { ...number, description: 'p99 of the event loop delay, in milliseconds.' },
  in_flight: integer,
  waiting: { ...integer, description: 'Lists that waited to be written.' },
});

export function systemRoutes({ need }: Tools): readonly ApiRoute[] {
  return [
    route('admin', 'GET', '/api/system', {
      alsoAt: ['/api/system/'],
      summary: 'Returns the health of this gateway, its machine, and each gateway on the same database.',
      answer: vitalsSchema,
      async handle() {
        const running = need(Running);
        return { ...shownVitals(await running.vitals()), untrusted_proxy: running.proxy().untrusted ?? null };
      },
    }),
    route('admin', 'GET', '/api/system/history', {
      summary: 'Returns samples of the last hour, one every ten seconds, oldest first; kept in memory.',
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
    backups: shownBackups(vitals.backups),
    // Behind a load balancer, each request may reach another gateway: the order must not change.
    gateways: gateways.map((gateway, i) => shownGateway(gateway, i === 0)).sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function shownBackups(schedule: BackupSchedule | undefined) {
  if (schedule === undefined) return null;
  const { everyMs, to, running, proven, failed } = schedule;
  return {
    every: secondsOf(everyMs),
    to,
    running,
    proven:
      proven === undefined
        ? null
        : { at: secondsOf(proven.atMs), name: proven.name, bytes: proven.bytes ?? null, ms: proven.tookMs },
    failed:
      failed === undefined ? null : { at: secondsOf(failed.atMs), name: failed.name, reason: failed.reason ?? '' },
  };
}

function shownLag(lag: Lag | undefined) {
  return lag === undefined ? null : { mean_ms: lag.mean, p50_ms: lag.p50, p99_ms: lag.p99, max_ms: lag.max };
}

function shownGateway({ name, version, startedMs, report }: GatewayState, self: boolean) {
  const identity = { name, version, started_at: secondsOf(startedMs), self };
  if (report === undefined) return { ...identity, report: null };
  const { readiness, configuration, memory, lag, inFlight, calls, store, counters } = report;
  return {
    ...identity,
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
