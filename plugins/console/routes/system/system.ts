/** The health of all gateways and of this machine, for administrators. */

import { Audit } from '../../../../core/contracts/audit.ts';
import { type Lag, Running, type Vitals } from '../../../../core/contracts/running.ts';
import { errors } from '../../errors.ts';
import {
  boolean,
  integer,
  list,
  listOf,
  number,
  object,
  objectOrNull,
  record,
  text,
  unixSeconds,
} from '../../format/schemas.ts';
import { shownAs } from '../../format/shown.ts';
import { secondsOf } from '../../format/units.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

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
    schema: { ...integer, description: 'The version of its schema: the number of migrations that have run.' },
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
    keep: {
      ...object({
        last: { ...integer, description: 'The newest.' },
        daily: { ...integer, description: 'The newest of each of this many days.' },
        weekly: { ...integer, description: 'The newest of each of this many weeks.' },
      }),
      description: 'Which backups are kept.',
    },
    encrypted: boolean,
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
    runs: {
      ...list({
        at: unixSeconds,
        name: { ...text, description: 'Empty: nothing was stored.' },
        bytes: { type: ['integer', 'null'], description: 'Its size; null: nothing was stored.' },
        ms: { ...integer, description: 'Duration of backup and proof in milliseconds.' },
        reason: { type: ['string', 'null'], description: 'Why it or its proof failed; null: it was proven.' },
        invariants: {
          type: ['integer', 'null'],
          description: 'The invariants that its restored copy fulfills; null: the proof failed.',
        },
        migrations: { type: ['integer', 'null'], description: 'Migrations of its restored copy.' },
      }),
      description: 'The latest, at most 20, newest first.',
    },
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

const diagnosesSchema = listOf('Diagnosis', {
  topic: { ...text, description: 'What was examined: `clock`, `channel main`.' },
  level: {
    enum: ['ok', 'warning', 'problem'],
    description: 'problem: it does not work, or will soon not. warning: it works, but is not advisable.',
  },
  text,
  advice: { type: ['string', 'null'], description: 'What to do; null: nothing.' },
});

export function systemRoutes({ host, need }: Tools): readonly ApiRoute[] {
  return [
    route('admin', 'GET', '/api/system', {
      alsoAt: ['/api/system/'],
      summary: 'Returns the health of this gateway, its machine, and each gateway on the same database.',
      answer: vitalsSchema,
      async handle() {
        const running = need(Running);
        return shownVitals(await running.vitals(), running.proxy().untrusted);
      },
    }),
    route('admin', 'GET', '/api/system/history', {
      summary: 'Returns samples of the last hour, one every ten seconds, oldest first; kept in memory.',
      answer: historySchema,
      handle: () =>
        shownAs(
          historySchema,
          need(Running)
            .history()
            .map((sample) => ({ ...sample, lagMs: sample.lag })),
        ),
    }),
    route('root', 'GET', '/api/system/doctor', {
      // It may make a test call to a vendor.
      changes: true,
      summary:
        'Examines what `turnpike doctor` does: configuration, files, disk, TLS, proxies, backups, vendors, mail server. May make a test call to a vendor whose list of models is public.',
      answer: diagnosesSchema,
      handle: async () => shownAs(diagnosesSchema, await need(Running).examine()),
    }),
    route('root', 'POST', '/api/system/backup', {
      verified: true,
      errors: ['no_backups_configured'],
      summary:
        'Starts a scheduled backup now, and returns at once. `GET /api/system` reports when it is stored and proven, or why not.',
      answer: object({ running: boolean }),
      async handle({ actor }) {
        const running = need(Running);
        if (running.backups() === undefined) throw errors.no_backups_configured();
        // A failure is recorded and logged.
        running.backUp().catch(() => {});
        await host.find(Audit)?.note({ actor, action: 'backup.start', object: 'database' });
        return { running: running.backups()?.running === true };
      },
    }),
  ];
}

function shownVitals(vitals: Vitals, untrustedProxy: string | undefined) {
  const { uptimeMs, cpu, lag, store, backup, backups, gateways } = vitals;
  return shownAs(vitalsSchema, {
    ...vitals,
    untrustedProxy,
    uptime: secondsOf(uptimeMs),
    cpu: { ...cpu, user: cpu.userMs / 1_000, system: cpu.systemMs / 1_000 },
    lag: inMs(lag),
    store: {
      ...store,
      keepsResponses: !store.scarce,
      bytes: store.room?.file,
      logBytes: store.room?.log,
      diskFree: store.room?.free,
      diskTotal: store.room?.disk,
    },
    backup: backup && timed(backup),
    backups: backups && {
      ...backups,
      every: secondsOf(backups.everyMs),
      proven: backups.proven && timed(backups.proven),
      runs: backups.runs.map((run) => ({
        ...timed(run),
        invariants: run.proof?.invariants,
        migrations: run.proof?.migrations,
      })),
    },
    // Behind a load balancer, each request may reach another gateway: the order must not change.
    gateways: gateways
      .map(({ report, ...gateway }, i) => ({
        ...gateway,
        self: i === 0,
        report: report && { ...report, lag: inMs(report.lag) },
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  });
}

const inMs = (lag: Lag | undefined) => lag && { meanMs: lag.mean, p50Ms: lag.p50, p99Ms: lag.p99, maxMs: lag.max };
const timed = <T extends { readonly tookMs: number }>(run: T) => ({ ...run, ms: run.tookMs });
