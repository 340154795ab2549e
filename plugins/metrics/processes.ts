/**
 * Metrics of all processes of a gateway, combined by the owner: sums, or what prom-client defines for values that cannot be summed.
 * Counters never decrease: for a worker that has ended or does not respond, its last values count.
 */
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';
import type { Host, Json } from '../../core/plugin.ts';

type Numbers = readonly MetricObjectWithValues<MetricValue<string>>[];

/** The owner's state about its workers; outlives a reload. */
export interface Workers {
  /** The last values of running workers, by epoch. */
  readonly last: Map<string, Numbers>;
  /** Epochs of ended workers: later messages from them are in `ended` already. */
  readonly left: Set<string>;
  /** The sums of ended workers. */
  ended: Numbers;
}

/** The initial state. */
export function noWorkers(): Workers {
  return { last: new Map(), left: new Set(), ended: [] };
}

/** Topics: requests a worker's values; a worker's last values. */
const ASK = 'metrics';
const LAST = 'metrics.last';

/** Creates it. `registry`: the metrics of this process. */
export function createProcessMetrics(
  registry: Registry,
  workers: Workers,
  { boot, peers }: Pick<Host, 'boot' | 'peers'>,
) {
  let stopWatching: (() => void) | undefined;

  const report = async (): Promise<Json> =>
    JSON.parse(JSON.stringify({ epoch: boot, numbers: await registry.getMetricsAsJSON() }));

  function note(message: Json): void {
    const { epoch, numbers } = message as unknown as { readonly epoch: string; readonly numbers: Numbers };
    if (!workers.left.has(epoch)) workers.last.set(epoch, numbers);
  }

  function hasLeft(epoch: string): void {
    const counted = workers.last.get(epoch)?.filter(({ type }) => isCounted(type)) ?? [];
    workers.last.delete(epoch);
    workers.left.add(epoch);
    workers.ended = summed([workers.ended, counted]).getMetricsAsArray() as unknown as Numbers;
  }

  return {
    /** In the text format of Prometheus. */
    async text(): Promise<string> {
      if (peers.count > 1) for (const answer of await peers.ask(ASK, null)) note(answer);
      if (workers.last.size === 0 && workers.ended.length === 0) return registry.metrics();
      const own = (await registry.getMetricsAsJSON()) as Numbers;
      return summed([own, ...workers.last.values(), workers.ended]).metrics();
    },

    start(): void {
      // A gateway that shares only its store with others is scraped by itself.
      peers.on(ASK, () => (peers.owner === undefined ? undefined : report()));
      peers.on(LAST, (message) => {
        note(message);
        return undefined;
      });
      stopWatching = peers.onLeft(hasLeft);
    },

    /** Sends the owner this worker's last values. */
    async stop(): Promise<void> {
      stopWatching?.();
      if (peers.owner !== undefined) peers.owner.tell(LAST, await report());
    },
  };
}

/** Aggregations that differ from prom-client's: the earliest start time, and the worst event loop lag. */
function aggregatorOf({ name, aggregator }: Numbers[number]): string {
  if (name === 'process_start_time_seconds') return 'min';
  return name.startsWith('nodejs_eventloop_lag_') && aggregator === 'average' ? 'max' : aggregator;
}

function summed(all: readonly Numbers[]): Registry {
  return AggregatorRegistry.aggregate(
    all.map((numbers) =>
      numbers.map((metric) => ({
        ...metric,
        aggregator: aggregatorOf(metric),
        // NaN, which JSON cannot represent.
        values: metric.values.filter(({ value }) => Number.isFinite(value)),
      })),
    ),
  );
}

/** Whether a metric of this type only grows. */
function isCounted(type: unknown): boolean {
  return type === 'counter' || type === 'histogram';
}
