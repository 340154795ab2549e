/** The text format of Prometheus: parsed strictly, and checked by the rules of `promtool check metrics`. */
import assert from 'node:assert/strict';

/** One metric with its samples. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

/** One line with a value. */
export interface Sample {
  /** Of a histogram with its suffix: `_bucket`, `_sum`, `_count`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([-+0-9.eE]+|NaN|Nan|[-+]Inf)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;

/** Parses the answer of `/metrics`; fails on a line that Prometheus would not read, and on a sample without its metric. */
export function parseMetrics(text: string): readonly Family[] {
  assert.ok(text.endsWith('\n'), 'the last line has no end');
  const families: { name: string; help: string; type: string; samples: Sample[] }[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, kind, name, rest] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      assert.ok(!families.some((family) => family.name === name), `${name} comes twice`);
      families.push({ name: name!, help: rest!, type: '', samples: [] });
      continue;
    }
    const family = families.at(-1)!;
    if (kind === 'TYPE') {
      assert.equal(family.name, name);
      family.type = rest!;
      continue;
    }
    const sample = sampleOf(line);
    const suffix =
      family.type === 'histogram' ? '(_bucket|_sum|_count)' : family.type === 'summary' ? '(_sum|_count)?' : '';
    assert.match(sample.name, new RegExp(`^${family.name}${suffix}$`), line);
    const isTwice = family.samples.some((other) => keyOf(other) === keyOf(sample));
    assert.ok(!isTwice, `two samples of one series: ${line}`);
    family.samples.push(sample);
  }
  return families;
}

const keyOf = ({ name, labels }: Sample): string => JSON.stringify([name, Object.entries(labels).sort()]);

function sampleOf(line: string): Sample {
  const [, name, inside = '', value] = SAMPLE.exec(line) ?? [];
  assert.ok(name !== undefined && value !== undefined, `not a sample: ${line}`);
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < inside.length) {
    const [, label, text] = LABEL.exec(inside) ?? [];
    assert.ok(label !== undefined && text !== undefined, `not labels: ${line}`);
    labels[label] = text;
  }
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) };
}

/** Units that names must not have, and the base unit instead. Only those that a gateway could have by accident. */
const UNITS: Readonly<Record<string, string>> = {
  milliseconds: 'seconds',
  microseconds: 'seconds',
  nanoseconds: 'seconds',
  minutes: 'seconds',
  hours: 'seconds',
  days: 'seconds',
  weeks: 'seconds',
  bits: 'bytes',
  kilobytes: 'bytes',
  megabytes: 'bytes',
  gigabytes: 'bytes',
};
const ABBREVIATIONS = ['s', 'ms', 'us', 'ns', 'sec', 'b', 'kb', 'mb', 'gb', 'tb', 'pb', 'm', 'h', 'd'];
const TYPES = ['counter', 'gauge', 'histogram', 'gauge_histogram', 'summary', 'untyped'];

/** What `promtool check metrics` would complain about, one line each (the rules of promlint in client_golang). */
export function lintMetrics(families: readonly Family[]): readonly string[] {
  return families.flatMap(({ name, help, type, samples }) => {
    const found: string[] = [];
    const words = name.split('_');
    const labels = [...new Set(samples.flatMap((sample) => Object.keys(sample.labels)))];
    if (help.trim() === '') found.push('no help text');
    for (const word of words) if (word in UNITS) found.push(`use base unit ${UNITS[word]} instead of ${word}`);
    if (words.some((word) => ABBREVIATIONS.includes(word)))
      found.push('metric names should not contain abbreviated units');
    if (type === 'counter' && !name.endsWith('_total')) found.push('counter metrics should have "_total" suffix');
    if (type !== 'counter' && name.endsWith('_total'))
      found.push('non-counter metrics should not have "_total" suffix');
    if (type !== 'histogram' && name.endsWith('_bucket'))
      found.push('non-histogram metrics should not have "_bucket" suffix');
    if (type !== 'histogram' && type !== 'summary' && /_(count|sum)$/.test(name))
      found.push('non-histogram and non-summary metrics should not have "_count" or "_sum" suffix');
    if (type !== 'histogram' && labels.includes('le')) found.push('non-histogram metrics should not have "le" label');
    if (type !== 'summary' && labels.includes('quantile'))
      found.push('non-summary metrics should not have "quantile" label');
    for (const other of TYPES)
      if (`${name}_`.includes(`_${other}_`)) found.push(`metric name should not include type '${other}'`);
    if (name.includes(':')) found.push('metric names should not contain ":"');
    if ([name, ...labels].some((text) => /[a-z][A-Z]/.test(text)))
      found.push("metric and label names should be written in 'snake_case' not 'camelCase'");
    return found.map((problem) => `${name}: ${problem}`);
  });
}
