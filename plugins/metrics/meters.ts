/** The metrics of this process: counters and histograms of calls, and what Node.js and the limits report. They survive a reload. */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createTally, createTimes } from './numbers.ts';
import { createStateGauges } from './state.ts';

/** The number of models with their own series. */
const MOST_MODELS = 500;

/** The sampling interval of `nodejs_eventloop_lag_…`: with a shorter one, an idle gateway would wake up too often. */
const LOOP_LOOKS_MS = 50;

/** Creates them. `isScraped`: this process answers `/metrics`; it is not a worker. */
export function createMeters(isScraped: boolean) {
  const registry = new Registry();
  const registers = [registry];
  let watching = false;
  const named = new Set<string>();
  new Gauge({ name: 'turnpike_up', help: '1 while the gateway runs.', registers, aggregator: 'max' }).set(1);
  const tally = (name: string, help: string, ...labelNames: readonly string[]) =>
    createTally({ name, help, labelNames, registers });
  const times = (name: string, help: string, label: string) =>
    createTimes({ name, help, labelNames: [label], registers });
  return {
    registry,
    /** Undefined in a worker. */
    state: isScraped ? createStateGauges(registers) : undefined,
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
    calls: tally('turnpike_calls_total', 'Calls that have ended, by outcome.', 'style', 'model', 'outcome', 'status'),
    requests: tally('turnpike_requests_total', 'Requests with a key that are not calls, by route.', 'route', 'status'),
    refusals: tally(
      'turnpike_refusals_total',
      'Calls and other requests with a key that were refused, by error code.',
      'code',
    ),
    tokens: tally('turnpike_tokens_total', 'Tokens used.', 'model', 'kind'),
    cost: tally('turnpike_cost_total', 'Charges of calls, in currency units.', 'model'),
    attempts: tally('turnpike_attempts_total', 'Upstream attempts, by result.', 'channel', 'result'),
    seconds: times('turnpike_call_seconds', 'Duration of calls, from the request to the end of the answer.', 'style'),
    firstToken: times(
      'turnpike_first_token_seconds',
      'Time to first token: from the request to the first bytes of the vendor, of streamed calls.',
      'model',
    ),
    attemptSeconds: times(
      'turnpike_attempt_seconds',
      'Duration of successful upstream attempts, from the request to the end of the answer.',
      'channel',
    ),
  };
}
