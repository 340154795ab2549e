/** The text format of Prometheus, parsed strictly, and its own checks. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';

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

/** Prometheus's own checks: the output of `promtool`, and whether it found nothing. */
export function promtool(args: readonly string[], input = ''): { readonly ok: boolean; readonly output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { ok: status === 0, output: stdout + stderr };
}

/** The option of a test that needs `promtool`. */
export const WITH_PROMTOOL = { skip: spawnSync('promtool', ['--version']).error ? 'promtool is not installed' : false };
