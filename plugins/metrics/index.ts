/** `GET /metrics`, for a Prometheus server: with the token, or from this machine if no proxy is in front of the gateway. */
import { timingSafeEqual } from 'node:crypto';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { Counters } from '../../core/contracts/counters.ts';
import { Running } from '../../core/contracts/running.ts';
import { Site } from '../../core/contracts/site.ts';
import { answer, type Caller, definePlugin, type Host, schema } from '../../core/plugin.ts';
import { settings } from '../../core/sdk.ts';
import { errors } from './errors.ts';
import { createTally, createTimes } from './numbers.ts';
import { createProcessMetrics, noWorkers } from './processes.ts';

interface MetricsSection {
  /** Without a token, only direct requests from this machine are answered. */
  readonly token?: string;
}

const section = schema<MetricsSection>(
  settings('Prometheus metrics at GET /metrics.', {
    token: {
      type: 'string',
      minLength: 16,
      description:
        'The bearer token that allows requests from anywhere. Without a token, only direct requests from this machine are allowed, and none if a proxy is in front of the gateway (`listen.trustProxy`, or an https `console.url`).',
    },
  }),
);

export default definePlugin({
  name: 'metrics',
  api: 2,
  errors,
  sections: { metrics: section },
  wants: [Counters, Running, Site],
  create(host, { metrics: { token } }) {
    // Metrics survive a reload.
    const meters = host.lasting({ name: 'metrics', version: 1, make: createMeters });
    const processes = createProcessMetrics(
      meters.registry,
      host.lasting({ name: 'metrics.workers', version: 1, make: noWorkers }),
      host,
    );

    return {
      attempted(_x, { offer, failure, startedMs, endedMs }) {
        meters.attempts.add(1, offer.channel.name, failure ?? 'ok');
        if (failure === undefined)
          meters.attemptSeconds.observe(((endedMs ?? startedMs) - startedMs) / 1_000, offer.channel.name);
      },
      settle(x) {
        const model = meters.label(x.served?.priced ?? x.attempts.at(-1)?.offer.priced ?? '');
        meters.calls.add(1, x.style?.name ?? 'passthrough', model, x.outcome ?? '', x.status);
        const { usage } = x;
        if (usage !== undefined) {
          meters.tokens.add(usage.input, model, 'input');
          meters.tokens.add(usage.output, model, 'output');
        }
        meters.seconds.observe((host.clock.now() - x.startedMs) / 1_000, x.style?.name ?? 'passthrough');
        return undefined;
      },
      answered(x, { route, status }) {
        meters.requests.add(1, `${x.method} ${route.path}`, status);
      },
      guards: {
        scraper: async (caller) => (token === undefined ? refuseDistant(caller, host) : refuseWithout(caller, token)),
      },
      routes: [
        {
          method: 'GET',
          path: '/metrics',
          access: ['scraper'],
          handle: async () => answer(200, await processes.text(), { 'content-type': meters.registry.contentType }),
        },
      ],
      start() {
        meters.watchProcess();
        meters.watchCounters(() => host.find(Counters)?.shared);
        processes.start();
      },
      stop: processes.stop,
    };
  },
});

/** The number of models with their own series. */
const MOST_MODELS = 500;

/** The sampling interval of `nodejs_eventloop_lag_…`: with a shorter one, an idle gateway would wake up too often. */
const LOOP_LOOKS_MS = 50;

function createMeters() {
  const registry = new Registry();
  const registers = [registry];
  let watching = false;
  const named = new Set<string>();
  new Gauge({ name: 'turnpike_up', help: '1 while the gateway runs.', registers, aggregator: 'max' }).set(1);
  return {
    registry,
    /**
     * The model's name, or a common label for models beyond the maximum: clients choose the names that match patterns, and each is a
     * series.
     */
    label(model: string): string {
      if (named.has(model)) return model;
      if (named.size >= MOST_MODELS) return 'other';
      named.add(model);
      return model;
    },
    /** Adds the process metrics, once: each call would leave an observer that cannot be removed. */
    watchProcess(): void {
      if (!watching) {
        collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_LOOKS_MS });
        // Gauges with the names of counters; `nodejs_active_…` has the same values by kind.
        for (const kind of ['handles', 'requests', 'resources'])
          registry.removeSingleMetric(`nodejs_active_${kind}_total`);
      }
      watching = true;
    },
    /** Adds whether all gateways enforce limits together, according to the counters of this generation. */
    watchCounters(shared: () => boolean | undefined): void {
      const name = 'turnpike_counters_shared';
      registry.removeSingleMetric(name);
      if (shared() === undefined) return;
      new Gauge({
        name,
        help: '1 while all gateways enforce limits together; 0 while each enforces its share, because Valkey cannot be reached.',
        registers,
        aggregator: 'min',
        collect() {
          this.set(shared() === true ? 1 : 0);
        },
      });
    },
    calls: createTally({
      name: 'turnpike_calls_total',
      help: 'Calls that have ended, by outcome.',
      labelNames: ['style', 'model', 'outcome', 'status'],
      registers,
    }),
    requests: createTally({
      name: 'turnpike_requests_total',
      help: 'Requests with a key that are not calls, by route.',
      labelNames: ['route', 'status'],
      registers,
    }),
    tokens: createTally({
      name: 'turnpike_tokens_total',
      help: 'Tokens used.',
      labelNames: ['model', 'kind'],
      registers,
    }),
    seconds: createTimes({
      name: 'turnpike_call_seconds',
      help: 'Duration of calls, from the request to the end of the answer.',
      labelNames: ['style'],
      registers,
    }),
    attempts: createTally({
      name: 'turnpike_attempts_total',
      help: 'Upstream attempts, by result.',
      labelNames: ['channel', 'result'],
      registers,
    }),
    attemptSeconds: createTimes({
      name: 'turnpike_attempt_seconds',
      help: 'Duration of successful upstream attempts, from the request to the end of the answer.',
      labelNames: ['channel'],
      registers,
    }),
  };
}

const LOOPBACK = /^(127\.|::1$)/;
/** Host names of this machine in requests. */
const LOOPBACK_HOST = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i;
/** Headers that proxies add; some add none, so their absence proves nothing. */
const FORWARDED = /^(x-forwarded-|x-real-ip$|forwarded$|via$)/;

/** Behind a proxy on this machine all requests seem local: refuses (403) if there may be one. */
function refuseDistant({ ip, headers }: Caller, host: Pick<Host, 'find'>): undefined {
  const isDirect =
    LOOPBACK.test(ip) &&
    LOOPBACK_HOST.test(headers.host ?? '') &&
    !Object.keys(headers).some((name) => FORWARDED.test(name)) &&
    host.find(Running)?.proxy().trusted !== true &&
    host.find(Site)?.secure !== true;
  if (isDirect) return;
  throw errors
    .metrics_not_allowed(
      'Without a token, only direct requests from this machine to a gateway without a proxy are allowed: set metrics.token.',
    )
    .with({ status: 403 });
}

/** Refuses (401) a caller without the token. */
function refuseWithout({ headers }: Caller, token: string): undefined {
  const given = Buffer.from(headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return;
  throw errors.metrics_not_allowed('Send `Authorization: Bearer` with the token of the section metrics.');
}
