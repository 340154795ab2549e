/** The numbers of `npm run bench`: medians of rounds, what is a regression, and the reports on versions of Node and other gateways. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Sample } from '../../../scripts/bench/load.ts';
import type { MeasuredNodes } from '../../../scripts/bench/nodes.ts';
import { type Entrant, PEERS } from '../../../scripts/bench/peers/measure.ts';
import { notFound, programOf } from '../../../scripts/bench/peers/peer.ts';
import { nodesReport, peersReport } from '../../../scripts/bench/report.ts';
import { inTurns, median } from '../../../scripts/bench/rounds.ts';
import { regressions, type Target, timesWorse } from '../../../scripts/bench/targets.ts';
import type { VariantName } from '../../../scripts/bench/variants.ts';

const target = (value: number | undefined, better: Target['better'] = 'less'): Target => ({
  name: 'cpu',
  what: 'CPU per call',
  value,
  must: 1,
  goal: 1,
  better,
});

describe('a target', () => {
  it('has become worse where it is 12 % from what was recorded, in the direction that is worse', () => {
    assert.equal(regressions([target(1.11)], { cpu: 1 }).length, 0);
    assert.equal(regressions([target(1.13)], { cpu: 1 }).length, 1);
    assert.equal(regressions([target(0.5)], { cpu: 1 }).length, 0);
    assert.equal(regressions([target(0.88, 'more')], { cpu: 1 }).length, 1);
    assert.equal(regressions([target(2, 'more')], { cpu: 1 }).length, 0);
  });

  it('is no regression where it was not measured, or never recorded', () => {
    assert.equal(regressions([target(undefined)], { cpu: 1 }).length, 0);
    assert.equal(regressions([target(9)], {}).length, 0);
    assert.equal(timesWorse(target(undefined), 1), 1);
  });

  it('is only compared on a busy machine if it is the same on every machine', () => {
    const steady: Target = { ...target(1.13), isSteady: true };
    assert.deepEqual(regressions([target(9), steady], { cpu: 1 }, true), [steady]);
    assert.equal(regressions([target(9), steady], { cpu: 1 }).length, 2);
  });
});

describe('rounds', () => {
  it('measure everybody once in each, forwards and then backwards', async () => {
    const order: string[] = [];
    await inTurns(['a', 'b', 'c'], 2, (who) => {
      order.push(who);
      return Promise.resolve({ answered: 1 } as Sample);
    });
    assert.equal(order.join(''), 'abccba');
  });

  it('have the middle of what was measured, and nothing where nothing was', () => {
    assert.equal(median([3, undefined, 1, 2]), 2);
    assert.equal(median([4, 1, 2, 3]), 2.5);
    assert.equal(median([undefined]), undefined);
  });
});

const sample = (values: Partial<Sample>): Sample => ({
  answered: 1,
  failed: 0,
  perSecond: 100,
  p50: 1,
  p99: 1,
  cpu: undefined,
  firstByteP50: undefined,
  firstByteP99: undefined,
  cpuPerEvent: undefined,
  eventDelayP99: undefined,
  memoryBefore: undefined,
  memoryDuring: undefined,
  ...values,
});

/** The cells of the first row that begins with `name`. */
const rowOf = (report: string, name: string): readonly string[] =>
  report
    .split('\n')
    .find((line) => line.startsWith(`| ${name} `))!
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

describe('the report on versions of Node', () => {
  const measured: MeasuredNodes = {
    versions: ['v20.1.0', 'v22.2.0'],
    whole: new Map([
      ['turnpike v20.1.0', [sample({ cpu: 200 })]],
      ['bare v20.1.0', [sample({ cpu: 100 })]],
      ['turnpike v22.2.0', [sample({ cpu: 150, failed: 3 })]],
      ['bare v22.2.0', [sample({ cpu: 50 })]],
    ]),
    one: new Map([
      ['turnpike v20.1.0', [sample({ cpu: 600 })]],
      ['bare v20.1.0', [sample({ cpu: 150 })]],
    ]),
    streams: new Map(),
    idleMb: new Map([['v22.2.0', 99.6]]),
  };

  it('compares each version with the bare proxy on the same version', () => {
    assert.deepEqual(rowOf(nodesReport(measured), 'v20.1.0').slice(1, 5), ['200.0', '2.00', '600.0', '4.00']);
    assert.deepEqual(rowOf(nodesReport(measured), 'v22.2.0').slice(1, 3), ['150.0', '3.00']);
  });

  it('has a dash where nothing was measured, and the failed calls of all loads', () => {
    assert.deepEqual(rowOf(nodesReport(measured), 'v20.1.0').slice(5), ['–', '–', '–', '0']);
    assert.deepEqual(rowOf(nodesReport(measured), 'v22.2.0').slice(3), ['–', '–', '–', '–', '100', '3']);
  });
});

describe('the report on other gateways', () => {
  const entrant = (name: VariantName, title: string, lacks: string | undefined): Entrant => ({
    variant: { name, title, start: () => Promise.reject(new Error('not started')) },
    does: `the work of ${title}`,
    lacks,
  });
  const all = (values: Readonly<Record<'turnpike' | 'bare' | 'litellm', Partial<Sample>>>) =>
    new Map(Object.entries(values).map(([who, value]) => [who as VariantName, [sample(value)]]));
  const report = peersReport({
    entrants: [
      entrant('turnpike', 'Turnpike', undefined),
      entrant('bare', 'bare', 'no keys.'),
      entrant('litellm', 'LiteLLM 1.2.3', 'no budgets without a database.'),
    ],
    whole: all({
      turnpike: { cpu: 200, perSecond: 5_000 },
      bare: { cpu: 100, perSecond: 10_000 },
      litellm: { cpu: 10_000, perSecond: 100, failed: 1 },
    }),
    one: all({ turnpike: { cpu: 600 }, bare: { cpu: 150 }, litellm: { cpu: 12_000, failed: 2 } }),
    streams: all({
      turnpike: { firstByteP50: 5_000, cpuPerEvent: 60, memoryBefore: 102_400 },
      bare: { firstByteP50: 2_500, cpuPerEvent: 50, memoryBefore: 51_200 },
      litellm: { firstByteP50: 300_000, cpuPerEvent: 500, memoryBefore: 307_200 },
    }),
  });
  const [calls, streams] = report.split('32 streams') as [string, string];

  it('has each relative to the bare proxy, and Turnpike relative to each', () => {
    assert.deepEqual(rowOf(calls, 'LiteLLM 1.2.3').slice(1), [
      ...['10,000.0', '100.00', '0.020'],
      ...['100', '0.010', '50.00'],
      ...['12,000.0', '80.00', '0.050'],
      '3',
    ]);
    assert.deepEqual(rowOf(streams, 'LiteLLM 1.2.3').slice(1), [
      ...['300,000', '120.00', '0.017'],
      ...['500.0', '10.00', '0.120'],
      ...['300', '6.00', '0.33'],
      '0',
    ]);
  });

  it('does not compare Turnpike with itself', () => {
    assert.deepEqual(rowOf(calls, 'Turnpike').slice(1, 4), ['200.0', '2.00', '']);
  });

  it('says what each does, and what it does not do', () => {
    assert.match(
      report,
      /\*\*LiteLLM 1\.2\.3\*\*: the work of LiteLLM 1\.2\.3\. Not here: no budgets without a database\./,
    );
    assert.match(report, /\*\*Turnpike\*\*: the work of Turnpike\.$/m);
  });

  it('says of each peer what it does not do, in a sentence', () => {
    for (const { title, lacks } of PEERS) assert.match(lacks, /^[a-z].+\.$/, title);
  });
});

describe('a peer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-peers-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const peer = { command: 'some-gateway', variable: 'BENCH_SOME_GATEWAY' };
  const file = (name: string, mode: number): string => {
    const path = join(folder, name);
    writeFileSync(path, '');
    chmodSync(path, mode);
    return path;
  };
  const inPath = file('some-gateway', 0o755);
  const named = file('another-name', 0o755);
  const PATH = [join(folder, 'missing'), folder].join(delimiter);

  it('is the program that its variable names, else the one in PATH', () => {
    assert.equal(programOf(peer, { PATH, BENCH_SOME_GATEWAY: named }), named);
    assert.equal(programOf(peer, { PATH }), inPath);
    assert.equal(programOf(peer, { PATH, BENCH_SOME_GATEWAY: '' }), inPath);
  });

  it('is not found without a program, and the bench says which variable can name one', () => {
    assert.equal(programOf(peer, { PATH: join(folder, 'missing') }), undefined);
    assert.equal(programOf(peer, {}), undefined);
    assert.match(notFound(peer), /`some-gateway`.*BENCH_SOME_GATEWAY/);
  });

  it('is not replaced by the one in PATH if its variable names a folder or a file that cannot be run', () => {
    for (const wrong of [folder, join(folder, 'missing'), file('text', 0o644)]) {
      assert.throws(() => programOf(peer, { PATH, BENCH_SOME_GATEWAY: wrong }), /BENCH_SOME_GATEWAY/, wrong);
    }
  });
});
