/**
 * Counters and histograms that are cheap to add to: the numbers are kept here and told to prom-client when they are read, for there each
 * addition costs a few microseconds.
 */
import type { Metric, Registry } from 'prom-client';

/** Bounds of the buckets, in seconds; from an answer out of a cache to a model that thinks for minutes. */
export const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** What a metric is called, and which labels its numbers have. */
export interface Described {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly registers: readonly Registry[];
}

/** What a label says. */
export type LabelValue = string | number;

/** A counter that is cheap to add to. */
export interface Tally {
  /** `values` are those of the labels, in their order. */
  add(amount: number, ...values: readonly LabelValue[]): void;
}

/** Makes one. */
export function createTally(described: Described): Tally {
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
    add(amount, ...values) {
      sums.of(values).sum += amount;
    },
  };
}

/** A histogram of seconds that is cheap to add to, with one label. */
export interface Times {
  observe(seconds: number, value: LabelValue): void;
}

/** Makes one. */
export function createTimes(described: Described): Times {
  const { name, labelNames } = described;
  // Behind the buckets what is longer than all of them.
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
    observe(seconds, value) {
      const those = times.of([value]);
      let bucket = 0;
      while (bucket < SECONDS.length && seconds > SECONDS[bucket]!) bucket++;
      those.counts[bucket]! += 1;
      those.sum += seconds;
    },
  };
}

/** A number as prom-client writes it down. */
interface Value {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, LabelValue>>;
  readonly value: number;
}

/** Has prom-client write down numbers that are kept here. */
function register({ name, help, registers }: Described, type: string, values: () => readonly Value[]): void {
  const metric = { name, get: async () => ({ name, help, type, aggregator: 'sum', values: values() }), reset() {} };
  for (const registry of registers) registry.registerMetric(metric as unknown as Metric);
}

function labelsOf(names: readonly string[], values: readonly LabelValue[]): Record<string, LabelValue> {
  return Object.fromEntries(names.map((name, i) => [name, values[i]!]));
}

/** Something for each combination of values; found by one look into a map for each of them, so that no key has to be made. */
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
