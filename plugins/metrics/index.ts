/** `GET /metrics`: what a Prometheus server reads. For this machine, or for whoever has the token. */
import { timingSafeEqual } from 'node:crypto';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { answer, type Caller, definePlugin, refuse, schema } from '../../core/plugin.ts';

interface MetricsSection {
  /** Without one, only requests from the machine itself are answered. */
  readonly token?: string;
}

const section = schema<MetricsSection>({
  type: 'object',
  description: 'Prometheus metrics at GET /metrics.',
  additionalProperties: false,
  default: {},
  properties: {
    token: {
      type: 'string',
      minLength: 16,
      description: '`Authorization: Bearer …` with this is let in from anywhere; without it only this machine is.',
    },
  },
});

/** Seconds; from an answer out of a cache to a model that thinks for minutes. */
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

export default definePlugin({
  name: 'metrics',
  api: 1,
  sections: { metrics: section },
  create(host, { metrics: { token } }) {
    // Numbers count on through a reload.
    const meters = host.lasting('metrics', createMeters);

    return {
      attempted(_x, { offer, failure, startedMs, endedMs }) {
        const labels = { channel: offer.channel.name, result: failure ?? 'ok' };
        meters.attempts.inc(labels);
        if (failure === undefined)
          meters.attemptSeconds.observe({ channel: offer.channel.name }, ((endedMs ?? startedMs) - startedMs) / 1_000);
      },
      settle(x) {
        const model = x.served?.priced ?? '';
        meters.calls.inc({
          style: x.style?.name ?? 'passage',
          model,
          outcome: x.outcome ?? '',
          status: String(x.status),
        });
        if (x.usage !== undefined) {
          meters.tokens.inc({ model, kind: 'input' }, x.usage.input);
          meters.tokens.inc({ model, kind: 'output' }, x.usage.output);
        }
        meters.seconds.observe({ style: x.style?.name ?? 'passage' }, (host.clock.now() - x.startedMs) / 1_000);
        return undefined;
      },
      guards: { scraper: async (caller) => mayScrape(caller, token) },
      routes: [
        {
          method: 'GET',
          path: '/metrics',
          access: ['scraper'],
          async handle() {
            return answer(200, await meters.registry.metrics(), { 'content-type': meters.registry.contentType });
          },
        },
      ],
    };
  },
});

function createMeters() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({ name: 'turnpike_up', help: '1 while the gateway runs.', registers }).set(1);
  return {
    registry,
    calls: new Counter({
      name: 'turnpike_calls_total',
      help: 'Calls that have ended, by how.',
      labelNames: ['style', 'model', 'outcome', 'status'],
      registers,
    }),
    tokens: new Counter({
      name: 'turnpike_tokens_total',
      help: 'Tokens used.',
      labelNames: ['model', 'kind'],
      registers,
    }),
    seconds: new Histogram({
      name: 'turnpike_call_seconds',
      help: 'From the request to the end of the answer.',
      labelNames: ['style'],
      buckets: SECONDS,
      registers,
    }),
    attempts: new Counter({
      name: 'turnpike_attempts_total',
      help: 'Attempts at channels, by result.',
      labelNames: ['channel', 'result'],
      registers,
    }),
    attemptSeconds: new Histogram({
      name: 'turnpike_attempt_seconds',
      help: 'Attempts that went well, from the request to the end of the answer.',
      labelNames: ['channel'],
      buckets: SECONDS,
      registers,
    }),
  };
}

const LOOPBACK = /^(127\.|::1$)/;

function mayScrape(caller: Caller, token: string | undefined): undefined {
  if (token === undefined) {
    // Behind a proxy on this machine everybody seems to be from here.
    if (LOOPBACK.test(caller.ip) && caller.headers['x-forwarded-for'] === undefined) return undefined;
    return refuse(
      403,
      'metrics_not_allowed',
      'Metrics are for this machine only; give the section metrics a token to read them from elsewhere.',
    );
  }
  const given = Buffer.from(caller.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return undefined;
  return refuse(401, 'metrics_not_allowed', 'Send `Authorization: Bearer` with the token of the section metrics.');
}
