/**
 * Cheap counters and histograms: values are kept here and passed to prom-client when they are scraped, because adding to its metrics takes
 * a few microseconds.
 */
import type { Metric, Registry } from 'prom-client';

/** Upper bounds of the buckets, in seconds: from cached answers to models that reason for minutes. */
export const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** The name of a metric and its labels. */
export interface Described {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly registers: readonly Registry[];
}

/** The value of a label. */
export type LabelValue = string | number;

/** A cheap counter. */
export function createTally(described: Described) {
  const { labelNames } = described;
  const sums = createTree(labelNames.length, () => ({ sum: 0 }));
  const { name } = described;
  register(described, 'counter', () =>
    [...sums.all()].map(([values, { sum }]) => ({
      metricName: name,
      labels: labelsOf(labelNames, values),
      value: sum,
    })),
  );
  return {
    /** `values` are the label values, in the order of the labels. */
    add(amount: number, ...values: readonly LabelValue[]): void {
      sums.of(values).sum += amount;
    },
  };
}

/** A cheap histogram of seconds with one label. */
export function createTimes(described: Described) {
  const { name, labelNames } = described;
  // The last bucket has no upper bound.
  const times = createTree(1, () => ({ counts: new Float64Array(SECONDS.length + 1), sum: 0 }));
  register(described, 'histogram', () =>
    [...times.all()].flatMap(([values, { counts, sum }]) => {
      const labels = labelsOf(labelNames, values);
      let count = 0;
      const buckets = [...SECONDS, '+Inf'].map((le, i) => {
        count += counts[i]!;
        return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    }),
  );
  return {
    observe(seconds: number, value: LabelValue): void {
      const those = times.of([value]);
      let bucket = 0;
      while (bucket < SECONDS.length && seconds > SECONDS[bucket]!) bucket++;
      those.counts[bucket]! += 1;
      those.sum += seconds;
    },
  };
}

/** A gauge whose samples are set before each scrape; unlike prom-client's, it has none while its value is unknown. */
export function createGauge(described: Described) {
  const { name, labelNames } = described;
  let shown: readonly Value[] = [];
  register(described, 'gauge', () => shown);
  return {
    /** Replaces all samples: each a value, and its label values in the order of the labels. */
    show(samples: readonly (readonly [value: number, ...labels: LabelValue[]])[]): void {
      shown = samples.map(([value, ...labels]) => ({ metricName: name, labels: labelsOf(labelNames, labels), value }));
    },
  };
}

/** A sample in the format of prom-client. */
interface Value {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, LabelValue>>;
  readonly value: number;
}

/** Registers a metric whose values are kept here. */
function register({ name, help, registers }: Described, type: string, values: () => readonly Value[]): void {
  const metric = { name, get: async () => ({ name, help, type, aggregator: 'sum', values: values() }), reset() {} };
  for (const registry of registers) registry.registerMetric(metric as unknown as Metric);
}

function labelsOf(names: readonly string[], values: readonly LabelValue[]): Record<string, LabelValue> {
  return Object.fromEntries(names.map((name, i) => [name, values[i]!]));
}

/** A value for each combination of label values, in nested maps, so that no keys have to be built. */
interface Tree<T> {
  of(values: readonly LabelValue[]): T;
  all(): Iterable<readonly [values: readonly LabelValue[], what: T]>;
}

type Branch<T> = Map<LabelValue, Branch<T> | T>;

function createTree<T>(depth: number, make: () => T): Tree<T> {
  const root: Branch<T> = new Map();

  function* below(branch: Branch<T>, before: readonly LabelValue[]): Iterable<readonly [readonly LabelValue[], T]> {
    for (const [value, next] of branch) {
      const values = [...before, value];
      if (values.length === depth) yield [values, next as T];
      else yield* below(next as Branch<T>, values);
    }
  }

  return {
    of(values) {
      let at: Branch<T> | T = root;
      for (let i = 0; i < depth; i++) {
        const branch: Branch<T> = at as Branch<T>;
        const next = branch.get(values[i]!);
        at = next ?? (i === depth - 1 ? make() : new Map());
        if (next === undefined) branch.set(values[i]!, at);
      }
      return at as T;
    },
    all: () => below(root, []),
  };
}
