/** What `/metrics` says about a gateway, how it is named, and that the dashboard and the alert rules ask for nothing else. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { Ledger } from '../../../core/contracts/ledger.ts';
import { CONSOLE_PIPELINE } from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { isOnPostgres, onlyOnSqlite } from '../../kit/stand-ins/postgres.ts';
import { type Family, parseMetrics, promtool, WITH_PROMTOOL } from '../../kit/stand-ins/prometheus.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, hold, jsonAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

const DEPLOY = fileURLToPath(new URL('../../../scripts/deploy/', import.meta.url));
const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

const pipeline = [...CONSOLE_PIPELINE, 'metrics'];

const textOf = async ({ url }: TestGateway): Promise<string> => (await fetch(`${url}/metrics`)).text();
const metricsOf = async (gateway: TestGateway) => parseMetrics(await textOf(gateway));

/** The value of one series; undefined if there is none. */
function valueIn(families: readonly Family[], name: string, labels: Readonly<Record<string, string>> = {}) {
  return families
    .flatMap(({ samples }) => samples)
    .find(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
    )?.value;
}

describe('the metrics of a gateway', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  let text: string;
  let families: readonly Family[];

  before(async () => {
    vendor = await fakeVendor();
    gateway = await startGateway({
      vendor,
      config: {
        pipeline,
        limits: { requestsPerMinute: 20 },
        // A file, in which nothing can be stored.
        ...(!isOnPostgres() && { backup: { to: './gateway.yaml/backups' } }),
      },
    });
    await (await gateway.chat({})).text();
    await (await gateway.chat({ stream: true })).text();
    assert.equal((await gateway.chat({ model: 'nobody-has-it' })).status, 404);
    vendor.next(jsonAnswer(400, { error: { message: 'No.', code: 'a_code_of_the_vendor' } }));
    assert.equal((await gateway.chat({})).status, 400);
    for (let i = 0; i < 5; i++) vendor.next(errorAnswer(500));
    for (let i = 0; i < 5; i++) assert.ok((await gateway.chat({})).status >= 500);
    const authorization = `Bearer ${gateway.key}`;
    assert.equal((await fetch(`${gateway.url}/v1/responses/none`, { headers: { authorization } })).status, 404);
    if (!isOnPostgres()) {
      await gateway.command(`backup ${join(gateway.dir, 'copy.db')}`);
      assert.equal((await gateway.tryCommand('backup now')).code, 1);
    }
    text = await textOf(gateway);
    families = parseMetrics(text);
  });
  after(async () => {
    await gateway?.stop();
    await vendor?.close();
  });

  it('are named as Prometheus wants them', WITH_PROMTOOL, () => {
    assert.deepEqual(promtool(['check', 'metrics'], text), { ok: true, output: '' });
    assert.ok(families.length > 40, `${families.length}`);
  });

  it('have the charges of calls in currency units', async () => {
    const charged = Number(gateway.rows("SELECT SUM(charged) AS n FROM usage_record WHERE model = 'test-model'")[0]!.n);
    assert.ok(charged > 0);
    const { perUnit } = gateway.host.find(Ledger)!;
    const cost = valueIn(families, 'turnpike_cost_total', { model: 'test-model' });
    assert.ok(Math.abs(cost! - charged / 1e6 / perUnit) < 1e-12, `${cost}, ${charged}`);
  });

  it('have the time to first token of streamed calls only, in buckets from 5 ms', () => {
    const labels = { model: 'test-model' };
    assert.equal(valueIn(families, 'turnpike_first_token_seconds_count', labels), 1);
    assert.notEqual(valueIn(families, 'turnpike_first_token_seconds_bucket', { ...labels, le: '0.005' }), undefined);
  });

  it('count refusals by code, those of vendors under one', () => {
    assert.equal(valueIn(families, 'turnpike_refusals_total', { code: 'model_not_found' }), 1);
    assert.equal(valueIn(families, 'turnpike_refusals_total', { code: 'upstream_refusal' }), 1);
    assert.equal(valueIn(families, 'turnpike_refusals_total', { code: 'a_code_of_the_vendor' }), undefined);
  });

  it('have the circuit of each channel', () => {
    const circuit = (channel: string) =>
      ['closed', 'half-open', 'open'].map((state) => valueIn(families, 'turnpike_channel_circuit', { channel, state }));
    assert.deepEqual(circuit('demo'), [1, 0, 0]);
    // An open circuit is half-open after a while.
    assert.ok(['0,0,1', '0,1,0'].includes(circuit('main').join()), `${circuit('main')}`);
  });

  it('have the state of the gateway and of its database', onlyOnSqlite('the file of its database'), () => {
    assert.equal(valueIn(families, 'turnpike_info', { version, node_version: process.version }), 1);
    assert.equal(valueIn(families, 'turnpike_ready'), 1);
    assert.equal(valueIn(families, 'turnpike_store_writable'), 1);
    assert.ok(valueIn(families, 'turnpike_store_size_bytes')! > 0);
    assert.ok(valueIn(families, 'turnpike_store_disk_free_bytes')! > 0);
    const ageS = Date.now() / 1_000 - valueIn(families, 'turnpike_last_backup_timestamp_seconds')!;
    assert.ok(ageS >= 0 && ageS < 600, `${ageS}`);
  });

  it('say that scheduled backups fail, and that none was proven', onlyOnSqlite('a server has dumps'), () => {
    assert.equal(valueIn(families, 'turnpike_backup_interval_seconds'), 86_400);
    assert.equal(valueIn(families, 'turnpike_backup_proven_timestamp_seconds'), 0);
    assert.equal(valueIn(families, 'turnpike_backup_failed'), 1);
  });

  it('say that scheduled backups are proven', onlyOnSqlite('a server has dumps'), async () => {
    const other = await startGateway({ config: { pipeline, backup: { to: './backups' } } });
    try {
      await other.command('backup now');
      const its = await metricsOf(other);
      const ageS = Date.now() / 1_000 - valueIn(its, 'turnpike_backup_proven_timestamp_seconds')!;
      assert.ok(ageS >= 0 && ageS < 600, `${ageS}`);
      assert.equal(valueIn(its, 'turnpike_backup_failed'), 0);
    } finally {
      await other.stop();
    }
  });

  it('have no sample of a backup before there is one', async () => {
    const other = await startGateway({ config: { pipeline } });
    try {
      const its = await metricsOf(other);
      assert.ok(its.some(({ name }) => name === 'turnpike_last_backup_timestamp_seconds'));
      assert.equal(valueIn(its, 'turnpike_last_backup_timestamp_seconds'), undefined);
      assert.equal(valueIn(its, 'turnpike_backup_failed'), undefined);
    } finally {
      await other.stop();
    }
  });

  it('count a call while it runs', async () => {
    vendor.next([hold(), ...wholeAnswer()]);
    const requests = vendor.requests.length;
    const running = gateway.chat({ model: 'free-model' });
    await vendor.waitFor(requests + 1);
    assert.equal(valueIn(await metricsOf(gateway), 'turnpike_calls_in_flight'), 1);
    vendor.release();
    await (await running).text();
  });

  describe('asked for by the dashboard and the alert rules', () => {
    const dashboard = JSON.parse(readFileSync(join(DEPLOY, 'grafana/dashboard.json'), 'utf8'));
    const { groups } = parse(readFileSync(join(DEPLOY, 'prometheus/alerts.yaml'), 'utf8'));
    const rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly labels: { readonly severity: string };
      readonly annotations: { readonly summary: string; readonly description: string };
    }[] = groups[0].rules;
    const expressions: readonly (readonly [where: string, expression: string])[] = [
      ...dashboard.panels.flatMap(({ title, targets = [] }: { title: string; targets?: { expr: string }[] }) =>
        targets.map(({ expr }) => [title, expr] as const),
      ),
      ...dashboard.annotations.list.map(({ name, expr }: { name: string; expr: string }) => [name, expr] as const),
      ...rules.map(({ alert, expr }) => [alert, expr] as const),
    ];
    /** What Prometheus adds to every series, and the metric that it makes itself. */
    const ADDED = ['instance', 'job'];
    const OF_PROMETHEUS = ['up'];

    it('exist, with the labels and values that are asked for', () => {
      assert.ok(expressions.length > 50, `${expressions.length}`);
      const samples = families.flatMap((family) => family.samples);
      const names = new Set([
        ...families.map(({ name }) => name),
        ...samples.map(({ name }) => name),
        ...OF_PROMETHEUS,
      ]);
      for (const [where, expression] of expressions) {
        const { metrics, labels, matchers } = readPromQl(expression, where);
        assert.ok(metrics.length > 0, where);
        for (const name of metrics) assert.ok(isKnown(name), `${where}: ${name}`);
        const having = samples.filter(({ name }) => metrics.includes(name));
        for (const label of labels)
          assert.ok(
            ADDED.includes(label) || having.some((sample) => label in sample.labels) || having.length === 0,
            `${where}: ${label}`,
          );
        for (const [label, value] of matchers) {
          if (ADDED.includes(label) || label === 'code' || having.length === 0) continue;
          assert.ok(
            having.some((sample) => sample.labels[label] === value) || ['credential', 'half-open'].includes(value),
            `${where}: ${label}="${value}"`,
          );
        }
      }

      function isKnown(name: string): boolean {
        // Only with counters on Valkey, and with the first call of each kind.
        return names.has(name) || name === 'turnpike_counters_shared';
      }
    });

    it('are raised and worded as the tests of the rules say', WITH_PROMTOOL, () => {
      const { ok, output } = promtool(['test', 'rules', fileURLToPath(new URL('alert-rules.yaml', import.meta.url))]);
      assert.ok(ok, output);
    });

    it('have a summary and a description for the person who is paged', () => {
      for (const { alert, labels, annotations } of rules) {
        assert.match(labels.severity, /^(critical|warning|info)$/);
        assert.ok(annotations.summary && annotations.description, alert);
      }
      assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
    });
  });
});

/** Metrics, labels and exact matchers of a PromQL expression, by Prometheus's own grammar; fails on a syntax error. */
function readPromQl(expression: string, where: string) {
  const text = expression.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*');
  const metrics: string[] = [];
  const labels: string[] = [];
  const matchers: (readonly [string, string])[] = [];
  parser.parse(text).iterate({
    enter({ type, from, to, node }) {
      const written = text.slice(from, to);
      assert.ok(!type.isError, `${where}: a syntax error at ${from} of ${text}`);
      if (type.name === 'Identifier') metrics.push(written);
      if (type.name === 'LabelName') labels.push(written);
      if (
        type.name === 'StringLiteral' &&
        node.prevSibling?.name === 'MatchOp' &&
        node.prevSibling.to - node.prevSibling.from === 1
      )
        matchers.push([text.slice(node.parent!.firstChild!.from, node.parent!.firstChild!.to), written.slice(1, -1)]);
    },
  });
  return { metrics, labels, matchers };
}
