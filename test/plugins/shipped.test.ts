/** All plugins that ship, created and linked: that alone leaves nothing behind, for `check` and every reload do it. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import performanceHooks, { PerformanceObserver } from 'node:perf_hooks';
import { after, afterEach, before, describe, it, mock } from 'node:test';
import { parse, stringify } from 'yaml';
import { planFrom, rehearse } from '../../core/assembly/assemble.ts';
import { Catalog } from '../../core/contracts/catalog.ts';
import type { LimitsSection } from '../../plugins/limits/rules.ts';
import { startGateway } from '../kit/gateway/gateway.ts';

/** The gateway.yaml that everybody starts with. */
const { pipeline, limits, channels, models } = parse(
  readFileSync(new URL('../../gateway.yaml', import.meta.url), 'utf8'),
) as {
  readonly pipeline: readonly string[];
  readonly limits: LimitsSection;
  readonly channels: readonly { readonly key?: string }[];
  readonly models: Readonly<Record<string, object>>;
};

describe('the limits that ship', () => {
  it('bound an account, however many keys it makes', () => {
    const { requestsPerMinute = Infinity, concurrent = Infinity, perAccount = {} } = limits;
    assert.ok(perAccount.requestsPerMinute! >= requestsPerMinute && perAccount.requestsPerMinute! <= 10_000);
    assert.ok(perAccount.concurrent! >= concurrent && perAccount.concurrent! <= 1_000);
  });
});

describe('the models that ship', () => {
  it('are known to take images or not, if they are models to talk to', async () => {
    const on = channels.map((channel) => ('key' in channel ? { ...channel, key: 'sk-a-test' } : channel));
    const gateway = await startGateway({ config: { pipeline, channels: on, models } });
    try {
      const catalog = gateway.host.use(Catalog);
      const talk = catalog.names().filter((name) => /^(gpt-\d|claude|gemini-[\d.]+-(pro|flash)$)/.test(name));
      assert.ok(talk.length >= 8, talk.join());
      const unknown = talk.filter((name) => catalog.facts(name).abilities.vision !== true);
      assert.deepEqual(unknown, []);
    } finally {
      await gateway.stop();
    }
  });
});

/** What keeps the process busy for longer than a turn: the garbage collector can leave an `Immediate` at any time. */
const lasting = (): readonly string[] => process.getActiveResourcesInfo().filter((kind) => kind !== 'Immediate');

describe('the plugins that ship', () => {
  let dir: string;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'turnpike-shipped-'));
    writeFileSync(join(dir, 'gateway.yaml'), stringify({ pipeline }));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));
  afterEach(() => mock.restoreAll());

  it('open nothing and watch nothing where they are only created and linked', async () => {
    const file = join(dir, 'gateway.yaml');
    // What they load is loaded once; only then can be seen what each rehearsal adds.
    await rehearse(await planFrom(file, {}));
    const handles = lasting();
    const started = [
      mock.method(PerformanceObserver.prototype, 'observe'),
      mock.method(performanceHooks, 'monitorEventLoopDelay'),
      mock.method(globalThis, 'setInterval'),
      mock.method(globalThis, 'setTimeout'),
      mock.method(process, 'on'),
    ];
    await rehearse(await planFrom(file, {}));
    for (const { mock: seen } of started) assert.equal(seen.callCount(), 0);
    assert.deepEqual(lasting(), handles);
  });

  it('watch the process once, however often the configuration is reloaded', async () => {
    const observe = mock.method(PerformanceObserver.prototype, 'observe');
    const monitor = mock.method(performanceHooks, 'monitorEventLoopDelay');
    const gateway = await startGateway({ config: { pipeline } });
    try {
      for (let i = 0; i < 3; i++) await gateway.gateway.reload();
      assert.deepEqual([observe.mock.callCount(), monitor.mock.callCount()], [1, 1]);
      const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
      assert.match(metrics, /^nodejs_eventloop_lag_seconds /m);
      assert.match(metrics, /^turnpike_up 1$/m);
    } finally {
      await gateway.stop();
    }
  });
});
