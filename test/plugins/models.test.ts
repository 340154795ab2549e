/** The plugin `models`: its catalog, its choice of channels, their health, its lists, and what it says about mistakes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { Catalog } from '../../core/contracts/catalog.ts';
import { type KeyRecord, Keys } from '../../core/contracts/keys.ts';
import {
  type ApiRequest,
  type Attempt,
  type Channel,
  durationMs,
  GatewayError,
  type Host,
  type JsonObject,
  type Known,
  type Offer,
  type Parts,
  type Service,
  type Style,
  type Vendor,
} from '../../core/plugin.ts';
import { createRetryBudget } from '../../plugins/models/budget.ts';
import { inOrder, type Source } from '../../plugins/models/choose.ts';
import { createHealth, createHealthState, type HealthState } from '../../plugins/models/health.ts';
import plugin from '../../plugins/models/index.ts';
import { fakeClock } from '../kit/clock.ts';

// ---- a gateway around the plugin

const dialect = { path: '/x', headers: () => ({}) };
const VENDORS: readonly Vendor[] = [
  { name: 'alpha', speaks: { chat: dialect, responses: dialect } },
  { name: 'beta', speaks: { messages: dialect } },
  {
    name: 'gamma',
    speaks: { chat: dialect, responses: dialect },
    defaultStyles: ['chat'],
    options: {
      type: 'object',
      required: ['region'],
      properties: { region: { type: 'string' }, tier: { type: 'integer', default: 2 } },
    },
  },
  { name: 'local', keyless: true, speaks: { chat: dialect }, url: () => 'http://127.0.0.1:9' },
];
const STYLES = new Map(
  ['chat', 'responses', 'messages'].map((name) => [name, { name, path: `/v1/${name}` } as unknown as Style]),
);

/** Sections as core hands them over: checked as strictly as core checks, defaults filled in. */
function sections(written: { readonly channels?: unknown; readonly models?: unknown }) {
  const ajv = new Ajv({ allErrors: true, useDefaults: true, strict: true, allowUnionTypes: true });
  const filled = structuredClone(written);
  const check = ajv.compile({ type: 'object', properties: plugin.sections });
  assert.ok(check(filled), JSON.stringify(check.errors));
  return filled as never;
}

interface Written {
  readonly channels?: readonly Readonly<Record<string, unknown>>[];
  readonly models?: Readonly<Record<string, unknown>>;
  /** `Keys.allows`; undefined: nobody provides keys. */
  readonly allows?: (key: KeyRecord, model: string) => boolean;
  readonly clock?: ReturnType<typeof fakeClock>;
  readonly lasting?: Map<string, unknown>;
}

async function started({ allows, clock = fakeClock(), lasting = new Map(), ...written }: Written) {
  const problems: string[] = [];
  const hidden: string[] = [];
  const lines: string[] = [];
  let catalog: Catalog | undefined;
  const write = (message: string): void => void lines.push(message);
  const host = {
    clock,
    log: { debug: write, info: write, warn: write, error: write, hide: (secret: string) => hidden.push(secret) },
    vendors: () => new Map(VENDORS.map((vendor) => [vendor.name, vendor])),
    styles: () => STYLES,
    find: (service: Service<unknown>) => (service === Keys && allows !== undefined ? { allows } : undefined),
    provide(service: Service<unknown>, implementation: unknown) {
      assert.equal(service, Catalog);
      catalog = implementation as Catalog;
    },
    lasting<T>(name: string, make: () => T): T {
      if (!lasting.has(name)) lasting.set(name, make());
      return lasting.get(name) as T;
    },
    problem: (path: readonly (string | number)[], message: string) => problems.push(`${path.join('.')}: ${message}`),
  } as unknown as Host;
  const parts: Parts = await plugin.create(host, sections(written));
  parts.link?.();
  assert.ok(catalog !== undefined);
  return { parts, catalog, problems, hidden, lines, clock, lasting };
}

/** The problems of a configuration, and that there is nothing else. */
async function mistakesOf(written: Written): Promise<readonly string[]> {
  return (await started(written)).problems;
}

interface Asking {
  readonly style?: string;
  readonly key?: number;
  readonly scope?: readonly string[];
}

/** One exchange: its offers one by one, how each went, and its end. */
async function call(parts: Parts, model: string, { style = 'chat', key = 1, scope }: Asking = {}) {
  const releases: (() => unknown)[] = [];
  const x = {
    style: STYLES.get(style),
    call: { model, style },
    identity: { key: { id: key, models: scope } },
    delivered: false,
    notes: {} as JsonObject,
    note(facts: JsonObject) {
      x.notes = { ...x.notes, ...facts };
    },
    defer: (release: () => unknown) => void releases.push(release),
  };
  const offers = (await parts.route!(x as unknown as Known))![Symbol.iterator]();
  let offer: Offer | undefined;
  return {
    x,
    /** Pulls the next offer, as `channel/model`; undefined when there is none. */
    next(): string | undefined {
      const pulled = offers.next();
      offer = pulled.done === true ? undefined : pulled.value;
      return offer && `${offer.channel.name}/${offer.model}`;
    },
    get offer(): Offer {
      assert.ok(offer !== undefined);
      return offer;
    },
    /** Tells how the attempt at the last offer went. */
    went(failure?: Attempt['failure'], retryAfterMs?: number): void {
      assert.ok(offer !== undefined);
      parts.attempted!(x as unknown as Known, attemptAt(offer, failure, retryAfterMs));
    },
    /** The client left in the middle of the last attempt. */
    wasCut(): void {
      assert.ok(offer !== undefined);
      parts.attempted!(x as unknown as Known, { ...attemptAt(offer), cut: true });
    },
    async end(): Promise<void> {
      for (const release of releases.splice(0).reverse()) await release();
    },
    /** Every offer, as if each had been refused for a reason that says nothing about the channel. */
    async all(): Promise<readonly string[]> {
      const pulled: string[] = [];
      for (let next = this.next(); next !== undefined; next = this.next()) {
        pulled.push(next);
        this.went('refused');
      }
      await this.end();
      return pulled;
    },
  };
}

function attemptAt(offer: Offer, failure?: Attempt['failure'], retryAfterMs?: number): Attempt {
  return {
    offer,
    startedMs: 0,
    endedMs: 0,
    firstByteMs: undefined,
    status: undefined,
    failure,
    reason: undefined,
    retryAfterMs,
    cut: false,
  };
}

/** Lets one exchange fail, or succeed, at its first offer. */
async function once(parts: Parts, model: string, failure?: Attempt['failure'], retryAfterMs?: number): Promise<string> {
  const one = await call(parts, model);
  const tried = one.next()!;
  one.went(failure, retryAfterMs);
  await one.end();
  return tried;
}

async function refusal(run: () => unknown): Promise<GatewayError> {
  try {
    await run();
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return error;
  }
  assert.fail('it was not refused');
}

const alpha = (name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  name,
  vendor: 'alpha',
  url: `https://${name}.example/v1`,
  key: 'k',
  ...more,
});

function channel(name: string, more: Partial<Channel> = {}): Channel {
  return {
    name,
    vendor: 'alpha',
    url: `https://${name}.example`,
    key: 'k',
    weight: 1,
    priority: 0,
    timeout: { connectMs: 1, headMs: undefined, idleMs: 1, totalMs: 1 },
    speaks: undefined,
    streamUsage: 'always',
    options: {},
    ...more,
  };
}

// ---- the configuration

describe('the sections channels and models', () => {
  it('become channels with defaults, milliseconds and the options of their vendor', async () => {
    const { catalog, problems, hidden } = await started({
      channels: [
        alpha('a', { url: 'https://a.example/v1//', key: 'a-long-secret' }),
        {
          name: 'c',
          vendor: 'gamma',
          url: 'https://c.example',
          key: 'none',
          weight: 2.5,
          priority: 1,
          timeout: { connect: '250ms', head: '10s', total: '1h' },
          stream: { usage: 'never' },
          region: 'eu',
        },
        { name: 'l', vendor: 'local' },
      ],
      models: { m: { from: ['a', { c: 'upstream-m' }, 'l'] } },
    });
    assert.deepEqual(problems, []);
    // A word is no secret.
    assert.deepEqual(hidden, ['a-long-secret']);
    const [a, c, l] = catalog.require('m').from;
    assert.deepEqual(
      { ...a?.channel },
      {
        name: 'a',
        vendor: 'alpha',
        url: 'https://a.example/v1',
        key: 'a-long-secret',
        weight: 1,
        priority: 0,
        timeout: {
          connectMs: durationMs('5s'),
          headMs: undefined,
          idleMs: durationMs('120s'),
          totalMs: durationMs('30m'),
        },
        speaks: undefined,
        streamUsage: 'include_usage',
        options: {},
      },
    );
    assert.equal(a?.model, 'm');
    assert.equal(c?.model, 'upstream-m');
    assert.deepEqual(c?.channel.options, { region: 'eu', tier: 2 });
    assert.deepEqual(c?.channel.timeout, { connectMs: 250, headMs: 10_000, idleMs: 120_000, totalMs: 3_600_000 });
    assert.equal(c?.channel.streamUsage, 'never');
    assert.equal(l?.channel.url, 'http://127.0.0.1:9');
  });

  it('name an unknown vendor, and the one that was meant', async () => {
    assert.deepEqual(
      await mistakesOf({ channels: [{ ...alpha('a'), vendor: 'alhpa' }], models: { m: { from: ['a'] } } }),
      ["channels.0.vendor: no plugin brings a vendor 'alhpa'; did you mean alpha?"],
    );
  });

  it('do not take two channels of one name', async () => {
    assert.deepEqual(await mistakesOf({ channels: [alpha('a'), alpha('b'), alpha('a')] }), [
      "channels.2.name: another channel is called 'a' already",
    ]);
  });

  it('name a style that the vendor does not speak', async () => {
    assert.deepEqual(await mistakesOf({ channels: [alpha('a', { speaks: ['chat', 'response'] })] }), [
      "channels.0.speaks.1: the vendor 'alpha' does not speak 'response'; did you mean responses?",
    ]);
  });

  it('want an address where the vendor has none', async () => {
    assert.deepEqual(await mistakesOf({ channels: [{ name: 'a', vendor: 'alpha', key: 'k' }] }), [
      "channels.0: a channel of the vendor 'alpha' needs a `url`",
    ]);
  });

  it('name a field that neither channels nor the vendor know', async () => {
    assert.deepEqual(await mistakesOf({ channels: [alpha('a', { wieght: 2 }), alpha('b', { region: 'eu' })] }), [
      'channels.0.wieght: unknown key; did you mean weight?',
      'channels.1.region: unknown key',
    ]);
  });

  it('check the fields of the vendor by its own schema', async () => {
    const problems = await mistakesOf({
      channels: [
        { ...alpha('a'), vendor: 'gamma', regoin: 'eu' },
        { ...alpha('b'), vendor: 'gamma', region: 'eu', tier: 'high' },
      ],
    });
    assert.equal(problems.length, 3);
    assert.equal(problems[0], 'channels.0.regoin: unknown key; did you mean region?');
    assert.match(problems[1]!, /^channels\.0\.region: is missing/);
    assert.match(problems[2]!, /^channels\.1\.tier: must be a whole number/);
  });

  it('name an unknown channel, and the one that was meant', async () => {
    const problems = await mistakesOf({
      channels: [alpha('main'), alpha('spare')],
      models: { m: { from: ['main', 'sparee', { other: 'x' }] } },
    });
    assert.deepEqual(problems, [
      "models.m.from.1: there is no channel 'sparee'; did you mean spare?",
      "models.m.from.2.other: there is no channel 'other'",
    ]);
  });

  it('want a channel for every model', async () => {
    assert.deepEqual(await mistakesOf({ models: { m: { free: true } } }), [
      "models.m: the model 'm' has no channel: name one in `from`",
    ]);
  });

  it('name unknown fallbacks and aliases, and the models that were meant', async () => {
    const problems = await mistakesOf({
      channels: [alpha('a')],
      models: {
        'model-one': { from: ['a'], fallback: ['model-two', 'model-thre'] },
        'model-two': { from: ['a'] },
        'model-three': { from: ['a'] },
        fast: { alias: 'model-on' },
      },
    });
    assert.deepEqual(problems, [
      "models.fast.alias: there is no model 'model-on'; did you mean model-one?",
      "models.model-one.fallback.1: there is no model 'model-thre'; did you mean model-three?",
    ]);
  });

  it('do not let aliases go round in a circle', async () => {
    const problems = await mistakesOf({
      models: { a: { alias: 'b' }, b: { alias: 'c' }, c: { alias: 'b' }, self: { alias: 'self' } },
    });
    assert.deepEqual(problems, [
      'models.b.alias: aliases go round in a circle: b → c → b',
      'models.self.alias: aliases go round in a circle: self → self',
    ]);
  });

  it('do not let fallbacks go round in a circle, through aliases either', async () => {
    const problems = await mistakesOf({
      channels: [alpha('a')],
      models: {
        one: { from: ['a'], fallback: ['two'] },
        two: { from: ['a'], fallback: ['three', 'uno'] },
        three: { from: ['a'], fallback: ['three'] },
        uno: { alias: 'one' },
        fine: { from: ['a'], fallback: ['one', 'two'] },
      },
    });
    assert.deepEqual(problems, [
      'models.three.fallback.0: fallbacks go round in a circle: three → three',
      'models.two.fallback.1: fallbacks go round in a circle: one → two → one',
    ]);
  });

  it('do not take a model for an alias', async () => {
    const problems = await mistakesOf({
      channels: [alpha('a')],
      models: { m: { from: ['a'] }, n: { alias: 'm', from: ['a'] } },
    });
    assert.deepEqual(problems, ["models.n.from: an alias has nothing else; 'from' belongs to a model"]);
  });

  it('name a style in `only` that no channel speaks, whether or not the channel is on', async () => {
    const problems = await mistakesOf({
      channels: [alpha('a', { key: '' }), { ...alpha('b'), vendor: 'gamma', region: 'eu' }],
      models: {
        m: { from: ['a'], only: ['responses'] },
        n: { from: ['b'], only: ['chat', 'responses'] },
      },
    });
    assert.deepEqual(problems, ["models.n.only.1: no channel of the model 'n' speaks 'responses'"]);
  });

  it('report what there is, and what is off', async () => {
    const { parts, catalog, problems } = await started({
      channels: [alpha('a-main', { key: '' }), alpha('a-spare'), { name: 'l', vendor: 'local' }],
      models: {
        both: { from: ['a-main', 'a-spare'] },
        main: { from: ['a-main'] },
        mine: { from: ['l'] },
        fast: { alias: 'main' },
      },
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(parts.report?.(), [
      '3 models, 1 alias, 3 channels',
      'channel a-main is off: its key is empty',
      'model main is off: so are all its channels',
    ]);
    assert.deepEqual(catalog.names(), ['both', 'mine']);
    assert.deepEqual(
      catalog.require('both').from.map((source) => source.channel.name),
      ['a-spare'],
    );
  });
});

// ---- the catalog

describe('the catalog', () => {
  const sound = {
    channels: [alpha('a'), alpha('off', { key: '' })],
    models: {
      one: { from: ['a'], fallback: ['two', 'dark', 'also-three'] },
      two: { from: ['a'], fallback: ['four'] },
      three: { from: ['a'], fallback: ['two'], free: true, price: { input: 1 }, only: ['chat'] },
      four: { from: ['a'] },
      dark: { from: ['off'], fallback: ['four'] },
      'also-three': { alias: 'also-also-three' },
      'also-also-three': { alias: 'three' },
    },
  };

  it('follows aliases', async () => {
    const { catalog } = await started(sound);
    const model = catalog.require('also-three');
    assert.equal(model.name, 'three');
    assert.equal(model.free, true);
    assert.deepEqual(model.price, { input: 1 });
    assert.deepEqual(model.only, ['chat']);
  });

  it('lists the model and each fallback once, its own before theirs, none that is off', async () => {
    const { catalog, problems } = await started(sound);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      catalog.chain('one').map((model) => model.name),
      ['one', 'two', 'three', 'four'],
    );
  });

  it('knows no model whose channels are all off, and nothing that only looks like one', async () => {
    const { catalog } = await started(sound);
    for (const name of ['dark', 'toString', '__proto__', 'constructor', '']) {
      const error = await refusal(() => catalog.require(name));
      assert.deepEqual([error.status, error.code, error.param], [404, 'model_not_found', 'model']);
    }
  });

  it('suggests a name only to a key that may call every model', async () => {
    const { parts, catalog } = await started(sound);
    assert.match((await refusal(() => call(parts, 'thre'))).message, /no model 'thre'; did you mean three\?/);
    assert.equal((await refusal(() => call(parts, 'thre', { scope: ['thre'] }))).message, "There is no model 'thre'.");
    assert.equal((await refusal(() => catalog.require('thre'))).message, "There is no model 'thre'.");
  });

  it('shows a very long name back only in part', async () => {
    const { parts } = await started(sound);
    assert.ok((await refusal(() => call(parts, 'x'.repeat(1_000_000)))).message.length < 200);
  });

  it('remembers over a reload when it first saw a model', async () => {
    const before = await started({ channels: [alpha('a')], models: { m: { from: ['a'] } } });
    const created = Math.floor(before.clock.now() / 1_000);
    assert.equal(before.catalog.require('m').created, created);
    before.clock.advance(3_600_000);
    const { clock, lasting } = before;
    const after = await started({
      channels: [alpha('a')],
      models: { m: { from: ['a'] }, n: { from: ['a'] } },
      clock,
      lasting,
    });
    assert.equal(after.catalog.require('m').created, created);
    assert.equal(after.catalog.require('n').created, created + 3_600);
  });
});

// ---- the choice

describe('the order of channels', () => {
  const sources = (weights: Readonly<Record<string, number>>): Source[] =>
    Object.entries(weights).map(([name, weight]) => ({ channel: channel(name, { weight }), model: 'm' }));
  const firsts = (from: readonly Source[], keys: number, model = 'm'): Map<string, number> => {
    const counts = new Map<string, number>();
    for (let key = 1; key <= keys; key++) {
      const name = inOrder(from, key, model)[0]!.channel.name;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  };

  it('holds the weights over many keys', () => {
    const keys = 20_000;
    const counts = firsts(sources({ a: 5, b: 3, c: 2 }), keys);
    for (const [name, share] of [
      ['a', 0.5],
      ['b', 0.3],
      ['c', 0.2],
    ] as const) {
      // Four standard deviations; the draws are fixed, so this fails always or never.
      const tolerance = 4 * Math.sqrt(keys * share * (1 - share));
      assert.ok(Math.abs(counts.get(name)! - keys * share) < tolerance, `${name}: ${counts.get(name)} of ${keys}`);
    }
  });

  it('holds the weights over many models of one key, too', () => {
    const from = sources({ a: 3, b: 1 });
    const models = 8_000;
    let a = 0;
    for (let i = 0; i < models; i++) if (inOrder(from, 7, `model-${i}`)[0]!.channel.name === 'a') a++;
    assert.ok(Math.abs(a - models * 0.75) < 4 * Math.sqrt(models * 0.75 * 0.25), `${a} of ${models}`);
  });

  it('holds the weights among the others when the first has failed', () => {
    const from = sources({ a: 6, b: 3, c: 1 });
    let b = 0;
    let all = 0;
    for (let key = 1; key <= 20_000; key++) {
      const order = inOrder(from, key, 'm');
      if (order[0]!.channel.name !== 'a') continue;
      all++;
      if (order[1]!.channel.name === 'b') b++;
    }
    assert.ok(Math.abs(b - all * 0.75) < 4 * Math.sqrt(all * 0.75 * 0.25), `${b} of ${all}`);
  });

  it('is the same for the same key, and does not depend on the order in the file', () => {
    const from = sources({ a: 1, b: 1, c: 1, d: 1 });
    for (let key = 1; key <= 100; key++) {
      const names = inOrder(from, key, 'm').map((source) => source.channel.name);
      assert.deepEqual(
        inOrder([...from].reverse(), key, 'm').map((source) => source.channel.name),
        names,
      );
    }
  });

  it('moves only the keys that preferred a channel when it is gone', () => {
    const all = sources({ a: 1, b: 1, c: 1 });
    const fewer = all.filter((source) => source.channel.name !== 'b');
    let moved = 0;
    for (let key = 1; key <= 1_000; key++) {
      const before = inOrder(all, key, 'm')[0]!.channel.name;
      if (before === 'b') moved++;
      else assert.equal(inOrder(fewer, key, 'm')[0]!.channel.name, before);
    }
    assert.ok(moved > 200);
  });

  it('puts a lower priority number first, whatever the weights', () => {
    const from = [
      { channel: channel('second', { priority: 1, weight: 1_000 }), model: 'm' },
      { channel: channel('third', { priority: 2, weight: 1_000 }), model: 'm' },
      { channel: channel('first', { priority: 0, weight: 0.001 }), model: 'm' },
    ];
    for (let key = 1; key <= 200; key++) {
      assert.deepEqual(
        inOrder(from, key, 'm').map((source) => source.channel.name),
        ['first', 'second', 'third'],
      );
    }
  });
});

describe('offers', () => {
  it('name the channel, its own name for the model, and the model whose price applies', async () => {
    const { parts } = await started({
      channels: [alpha('a'), alpha('b')],
      models: { m: { from: [{ a: 'a-m' }], fallback: ['n'] }, n: { from: [{ b: 'b-n' }] }, same: { alias: 'm' } },
    });
    const one = await call(parts, 'same');
    assert.equal(one.next(), 'a/a-m');
    assert.equal(one.offer.priced, 'm');
    assert.equal(one.next(), 'b/b-n');
    assert.equal(one.offer.priced, 'n');
    assert.equal(one.next(), undefined);
  });

  it('are for the channels that speak the style', async () => {
    const { parts } = await started({
      channels: [
        alpha('chat-only', { speaks: ['chat'] }),
        alpha('both', { priority: 1 }),
        { name: 'messages', vendor: 'beta', url: 'https://b.example', key: 'k', priority: 2 },
        { name: 'by-default', vendor: 'gamma', url: 'https://g.example', key: 'k', region: 'eu', priority: 3 },
        {
          name: 'told',
          vendor: 'gamma',
          url: 'https://g.example',
          key: 'k',
          region: 'eu',
          priority: 4,
          speaks: ['responses'],
        },
      ],
      models: { m: { from: ['chat-only', 'both', 'messages', 'by-default', 'told'] } },
    });
    const served = async (style: string) => (await call(parts, 'm', { style })).all();
    assert.deepEqual(await served('chat'), ['chat-only/m', 'both/m', 'by-default/m']);
    assert.deepEqual(await served('responses'), ['both/m', 'told/m']);
    assert.deepEqual(await served('messages'), ['messages/m']);
  });

  it('are refused where the model answers on other styles only, with the names and paths of those', async () => {
    const { parts } = await started({
      channels: [alpha('a'), { name: 'b', vendor: 'beta', url: 'https://b.example', key: 'k' }],
      models: { pro: { from: ['a'], only: ['responses'] }, plain: { from: ['a'] } },
    });
    const only = await refusal(() => call(parts, 'pro', { style: 'chat' }));
    assert.deepEqual([only.status, only.code], [404, 'model_not_found']);
    assert.equal(only.message, "The model 'pro' does not answer on chat, but on responses (POST /v1/responses).");
    const none = await refusal(() => call(parts, 'plain', { style: 'messages' }));
    assert.deepEqual([none.status, none.code], [404, 'model_not_found']);
    assert.match(none.message, /on chat \(POST \/v1\/chat\), responses \(POST \/v1\/responses\)\.$/);
    assert.equal((await call(parts, 'pro', { style: 'responses' })).next(), 'a/pro');
  });

  it('go through the priorities, then through the fallbacks in turn, each model once', async () => {
    const { parts } = await started({
      channels: [alpha('a', { priority: 1 }), alpha('b'), alpha('c')],
      models: {
        one: { from: ['a', 'b'], fallback: ['two', 'deux', 'three'] },
        two: { from: ['c'], fallback: ['three', 'four'] },
        three: { from: ['c'], only: ['responses'] },
        four: { from: ['a'] },
        deux: { alias: 'two' },
      },
    });
    assert.deepEqual(await (await call(parts, 'one')).all(), ['b/one', 'a/one', 'c/two', 'a/four']);
  });

  it('hold no fallback that the key may not call', async () => {
    const { parts } = await started({
      channels: [alpha('a')],
      models: { one: { from: ['a'], fallback: ['two', 'three'] }, two: { from: ['a'] }, three: { from: ['a'] } },
      allows: (key, model) => key.models?.includes(model) ?? true,
    });
    assert.deepEqual(await (await call(parts, 'one', { scope: ['one', 'three'] })).all(), ['a/one', 'a/three']);
    assert.deepEqual(await (await call(parts, 'one')).all(), ['a/one', 'a/two', 'a/three']);
  });

  it('stay with one channel for one key as long as it is well', async () => {
    const { parts } = await started({
      channels: [alpha('a'), alpha('b'), alpha('c')],
      models: { m: { from: ['a', 'b', 'c'] } },
    });
    const used = new Set<string>();
    for (let key = 1; key <= 50; key++) {
      const first = (await call(parts, 'm', { key })).next();
      for (let i = 0; i < 5; i++) assert.equal((await call(parts, 'm', { key })).next(), first);
      used.add(first!);
    }
    assert.equal(used.size, 3);
  });

  it('leave out a channel that fails, and come back to it with one probe', async () => {
    const { parts, clock } = await started({
      channels: [alpha('a'), alpha('b', { priority: 1 })],
      models: { m: { from: ['a', 'b'] } },
    });
    for (let i = 0; i < 5; i++) assert.equal(await once(parts, 'm', 'status'), 'a/m');
    assert.deepEqual(await (await call(parts, 'm')).all(), ['b/m']);
    clock.advance(12_001);
    const probe = await call(parts, 'm');
    assert.equal(probe.next(), 'a/m');
    // While it is probed, everybody else stays away.
    for (let i = 0; i < 20; i++) assert.equal((await call(parts, 'm')).next(), 'b/m');
    probe.went();
    await probe.end();
    assert.equal(await once(parts, 'm'), 'a/m');
  });

  it('ask a fallback before a channel that is left alone', async () => {
    const { parts } = await started({
      channels: [alpha('a'), alpha('b')],
      models: { m: { from: ['a'], fallback: ['n'] }, n: { from: ['b'] } },
    });
    for (let i = 0; i < 5; i++) await once(parts, 'm', 'connect');
    assert.deepEqual(await (await call(parts, 'm')).all(), ['b/n']);
  });

  it('are never none: where nobody is well, the one that recovers soonest is asked', async () => {
    const { parts, clock } = await started({
      channels: [alpha('a'), alpha('b', { priority: 1 }), alpha('c', { priority: 2 })],
      models: { m: { from: ['a', 'b', 'c'] } },
    });
    assert.equal(await once(parts, 'm', 'busy', 30_000), 'a/m');
    assert.equal(await once(parts, 'm', 'busy', 5_000), 'b/m');
    assert.equal(await once(parts, 'm', 'busy', 10_000), 'c/m');
    assert.deepEqual(await (await call(parts, 'm')).all(), ['b/m']);
    clock.advance(5_000);
    assert.deepEqual(await (await call(parts, 'm')).all(), ['b/m']);
    clock.advance(5_000);
    assert.deepEqual(await (await call(parts, 'm')).all(), ['b/m', 'c/m']);
  });

  it('do not end for the only channel there is', async () => {
    const { parts } = await started({ channels: [alpha('a')], models: { m: { from: ['a'] } } });
    for (let i = 0; i < 20; i++) assert.equal(await once(parts, 'm', 'status'), 'a/m');
  });

  it('end with a note when the retry budget is used up, and go on when it is free again', async () => {
    const { parts } = await started({ channels: [alpha('a'), alpha('b')], models: { m: { from: ['a', 'b'] } } });
    const retrying = [];
    for (let i = 0; i < 3; i++) {
      const one = await call(parts, 'm');
      assert.notEqual(one.next(), undefined);
      one.went('refused');
      assert.notEqual(one.next(), undefined);
      retrying.push(one);
    }
    const fourth = await call(parts, 'm');
    assert.notEqual(fourth.next(), undefined);
    assert.equal(fourth.next(), undefined);
    assert.deepEqual(fourth.x.notes, { retries: 'retry budget used up' });
    await retrying[0]!.end();
    const fifth = await call(parts, 'm');
    assert.notEqual(fifth.next(), undefined);
    assert.notEqual(fifth.next(), undefined);
    assert.deepEqual(fifth.x.notes, {});
  });

  it('take no notice of a client that leaves', async () => {
    const { parts } = await started({
      channels: [alpha('a'), alpha('b', { priority: 1 })],
      models: { m: { from: ['a', 'b'] } },
    });
    for (let i = 0; i < 4; i++) await once(parts, 'm', 'timeout');
    const left = await call(parts, 'm');
    left.next();
    left.wasCut();
    await left.end();
    // It neither was the fifth failure nor the success that forgives the four.
    assert.equal(await once(parts, 'm', 'timeout'), 'a/m');
    assert.equal(await once(parts, 'm'), 'b/m');
  });

  it('remember over a reload which channels fail, but not for one that has moved', async () => {
    const written = {
      channels: [alpha('a'), alpha('b', { priority: 1 })],
      models: { m: { from: ['a', 'b'] } },
    };
    const { parts, clock, lasting } = await started(written);
    for (let i = 0; i < 5; i++) await once(parts, 'm', 'status');
    const reloaded = await started({ ...written, clock, lasting });
    assert.equal(await once(reloaded.parts, 'm'), 'b/m');
    const channels = [alpha('a', { url: 'https://elsewhere.example' }), alpha('b', { priority: 1 })];
    const moved = await started({ ...written, channels, clock, lasting });
    assert.equal(await once(moved.parts, 'm'), 'a/m');
  });

  it('are not for a passage', async () => {
    const { parts } = await started({});
    assert.equal(await parts.route!({ style: undefined } as unknown as Known), undefined);
  });
});

describe('the retry budget', () => {
  it('lets three retry whatever the traffic', () => {
    const budget = createRetryBudget();
    const seats = Array.from({ length: 10 }, () => budget.enter());
    assert.equal(seats.filter((seat) => seat.retry()).length, 3);
  });

  it('lets a fifth of the exchanges in flight retry, and no more', () => {
    const budget = createRetryBudget();
    const seats = Array.from({ length: 109 }, () => budget.enter());
    assert.equal(seats.filter((seat) => seat.retry()).length, 21);
  });

  it('counts an exchange once, however often it retries and leaves', () => {
    const budget = createRetryBudget();
    const [first, ...others] = Array.from({ length: 5 }, () => budget.enter());
    for (let i = 0; i < 5; i++) assert.equal(first!.retry(), true);
    assert.deepEqual(
      others.map((seat) => seat.retry()),
      [true, true, false, false],
    );
    first!.leave();
    first!.leave();
    assert.deepEqual(
      others.map((seat) => seat.retry()),
      [true, true, true, false],
    );
  });
});

// ---- health

/** A health with a fixed chance, and shorthands to try one offer. */
function watched(random: number | (() => number) = 0.5, state: HealthState = createHealthState()) {
  const clock = fakeClock();
  const lines: { level: string; message: string; facts: unknown }[] = [];
  const write = (level: string) => (message: string, facts?: unknown) => void lines.push({ level, message, facts });
  const log = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    hide: () => {},
  };
  const health = createHealth(state, clock, log, typeof random === 'number' ? () => random : random);
  const a = channel('a');
  const offer = (model = 'm', on = a): Offer => ({ channel: on, model, priced: 'm' });
  const begin = (exchange = { delivered: false }, made = offer()) => {
    health.begin(made, exchange);
    return {
      end: (failure?: Attempt['failure'], retryAfterMs?: number, aborted = false) =>
        health.end(attemptAt(made, failure, retryAfterMs), aborted),
      release: () => health.release(made),
    };
  };
  return {
    clock,
    health,
    lines,
    offer,
    begin,
    /** Tries and ends at once, so many times. */
    attempt(failure?: Attempt['failure'], times = 1) {
      for (let i = 0; i < times; i++) begin().end(failure);
    },
    ready: (made = offer()) => health.ready(made),
    /** Waits until it may be tried, and says how long that was. */
    wait(): number {
      const ms = health.readyAtMs(offer()) - clock.mono();
      clock.advance(ms - 1);
      assert.equal(health.ready(offer()), false);
      clock.advance(1);
      assert.equal(health.ready(offer()), true);
      return ms;
    },
  };
}

describe('health', () => {
  it('opens after five failures in a row, of any kind that is the vendor’s', () => {
    const { attempt, ready } = watched();
    for (const failure of ['connect', 'timeout', 'status', 'broken'] as const) attempt(failure);
    assert.equal(ready(), true);
    attempt('broken');
    assert.equal(ready(), false);
  });

  it('forgives failures that a success interrupts', () => {
    const { attempt, ready, clock } = watched();
    for (let i = 0; i < 4; i++) {
      attempt('status', 4);
      attempt(undefined, 5);
      clock.advance(31_000);
    }
    assert.equal(ready(), true);
  });

  it('opens when half of at least twenty attempts within thirty seconds have failed', () => {
    const { attempt, ready, clock } = watched();
    for (let i = 0; i < 9; i++) {
      attempt();
      attempt('status');
      clock.advance(1_000);
    }
    attempt();
    assert.equal(ready(), true);
    attempt('status');
    assert.equal(ready(), false);
  });

  it('does not add up failures over more than thirty seconds', () => {
    const { attempt, ready, clock } = watched();
    for (let i = 0; i < 100; i++) {
      attempt();
      attempt('status');
      clock.advance(4_000);
    }
    assert.equal(ready(), true);
  });

  it('does not hold against a channel what the vendor says is the client’s mistake', () => {
    const { attempt, ready } = watched();
    attempt('refused', 100);
    assert.equal(ready(), true);
  });

  it('watches every model of a channel by itself', () => {
    const { attempt, ready, offer } = watched();
    attempt('status', 5);
    assert.equal(ready(), false);
    assert.equal(ready(offer('other')), true);
  });

  it('stays open for 10 s, then twice as long after each failed probe, 300 s at most', () => {
    const { attempt, wait } = watched();
    attempt('status', 5);
    const waits: number[] = [];
    for (let i = 0; i < 7; i++) {
      waits.push(wait());
      attempt('status');
    }
    assert.deepEqual(waits, [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  });

  it('begins with 10 s again after it was closed', () => {
    const { attempt, wait } = watched();
    attempt('status', 5);
    wait();
    attempt('status');
    wait();
    attempt();
    attempt('status', 5);
    assert.equal(wait(), 10_000);
  });

  it('comes back up to a fifth earlier or later, by chance', () => {
    for (const [random, ms] of [
      [0, 8_000],
      [1, 12_000],
    ] as const) {
      const { attempt, health, offer, clock } = watched(random);
      attempt('status', 5);
      assert.equal(Math.round(health.readyAtMs(offer()) - clock.mono()), ms);
    }
  });

  it('lets exactly one probe through at a time', () => {
    const { attempt, wait, ready, begin } = watched();
    attempt('status', 5);
    wait();
    const probe = begin();
    assert.equal(ready(), false);
    probe.end('refused');
    assert.equal(ready(), true);
    const second = begin();
    assert.equal(ready(), false);
    second.end();
    assert.equal(ready(), true);
    begin();
    assert.equal(ready(), true);
  });

  it('frees the place of a probe whose exchange ended without an attempt', () => {
    const { attempt, wait, ready, begin } = watched();
    attempt('status', 5);
    wait();
    const probe = begin();
    probe.release();
    assert.equal(ready(), true);
  });

  it('hears from a probe that was released before its attempt was reported', () => {
    const { attempt, wait, ready, begin } = watched();
    attempt('status', 5);
    wait();
    const probe = begin();
    probe.release();
    probe.end('status');
    assert.equal(ready(), false);
    assert.equal(wait(), 20_000);
    const better = begin();
    better.release();
    better.end();
    begin();
    assert.equal(ready(), true);
  });

  it('does not wait for the end of a probe whose answer is under way', () => {
    const { attempt, wait, ready, begin } = watched();
    attempt('status', 5);
    wait();
    const exchange = { delivered: false };
    begin(exchange);
    assert.equal(ready(), false);
    exchange.delivered = true;
    assert.equal(ready(), true);
    begin();
    assert.equal(ready(), true);
  });

  it('is not impressed by calls that were under way when it opened', () => {
    const { attempt, ready, wait, begin, clock } = watched();
    const late = [begin(), begin(), begin()];
    clock.advance(10);
    attempt('status', 5);
    clock.advance(10);
    late[0]!.end();
    assert.equal(ready(), false);
    late[1]!.end('status');
    late[2]!.end('status');
    assert.equal(wait(), 10_000 - 10);
  });

  it('is closed by the success of a call that was sent although it was open', () => {
    const { attempt, ready, begin, clock } = watched();
    attempt('status', 5);
    clock.advance(5);
    begin().end('status');
    assert.equal(ready(), false);
    begin().end();
    assert.equal(ready(), true);
  });

  it('does not count a client that leaves, neither as a failure nor as a success', () => {
    const { attempt, ready, begin, wait } = watched();
    attempt('status', 4);
    begin().end(undefined, undefined, true);
    attempt('status');
    assert.equal(ready(), false);
    wait();
    begin().end(undefined, undefined, true);
    begin();
    assert.equal(ready(), false, 'it is still half open, with a new probe');
  });

  it('lets a busy channel rest as long as it asks, from one second to sixty', () => {
    for (const [asked, ms] of [
      [undefined, 1_000],
      [0, 1_000],
      [5_000, 5_000],
      [120_000, 60_000],
    ] as const) {
      const { begin, wait, ready, offer } = watched();
      begin().end('busy', asked);
      assert.equal(ready(offer('another model')), false);
      assert.equal(ready(offer('m', channel('b'))), true);
      assert.equal(wait(), ms);
    }
  });

  it('does not shorten a rest, and does not count it as a failure', () => {
    const { begin, attempt, wait } = watched();
    const [one, two] = [begin(), begin()];
    one.end('busy', 30_000);
    two.end('busy', 1_000);
    assert.equal(wait(), 30_000);
    attempt('status', 4);
    for (let i = 0; i < 10; i++) {
      begin().end('busy', 1_000);
      wait();
    }
  });

  it('leaves a channel whose key is not accepted alone for a minute, and says so once', () => {
    const { begin, wait, lines, attempt, clock } = watched();
    const errors = () => lines.filter((line) => line.level === 'error').length;
    begin().end('credential');
    assert.equal(wait(), 60_000);
    begin().end('credential');
    assert.equal(wait(), 60_000);
    assert.equal(errors(), 1);
    assert.equal(JSON.stringify(lines).includes('"k"'), false);
    clock.advance(1);
    attempt();
    begin().end('credential');
    assert.equal(errors(), 2);
  });

  it('says when a channel is left alone and when it is well again', () => {
    const { attempt, wait, lines } = watched();
    attempt('status', 5);
    wait();
    attempt();
    assert.deepEqual(
      lines.map(({ level, message }) => `${level}: ${message}`),
      ['warn: a channel fails and is left alone', 'info: a channel is well again'],
    );
  });
});

// ---- the lists

describe('GET /v1/models', () => {
  const written = {
    channels: [alpha('a'), { name: 'l', vendor: 'local' }],
    models: { 'org/big model': { from: ['a', 'l'] }, small: { from: ['l'] }, tiny: { alias: 'small' } },
    allows: (key: KeyRecord, model: string) => key.models?.includes(model) ?? true,
  };
  const ask = (
    parts: Parts,
    path: string,
    params: Readonly<Record<string, string>> = {},
    models?: readonly string[],
  ) => {
    const route = parts.routes!.find((candidate) => candidate.path === path)!;
    assert.deepEqual([route.method, route.access], ['GET', ['key']]);
    return route.handle({ params, holder: { key: { models } } } as unknown as ApiRequest);
  };

  it('lists the models in their order, aliases among them', async () => {
    const { parts, clock } = await started(written);
    const created = Math.floor(clock.now() / 1_000);
    assert.deepEqual(await ask(parts, '/v1/models'), {
      object: 'list',
      data: [
        { id: 'org/big model', object: 'model', created, owned_by: 'alpha' },
        { id: 'small', object: 'model', created, owned_by: 'local' },
        { id: 'tiny', object: 'model', created, owned_by: 'local' },
      ],
    });
  });

  it('lists only what the key may call', async () => {
    const { parts } = await started(written);
    const list = (await ask(parts, '/v1/models', {}, ['small'])) as { data: { id: string }[] };
    assert.deepEqual(
      list.data.map((model) => model.id),
      ['small'],
    );
  });

  it('shows one model, also one with a slash in its name', async () => {
    const { parts, clock } = await started(written);
    const created = Math.floor(clock.now() / 1_000);
    assert.deepEqual(await ask(parts, '/v1/models/:id*', { id: 'org/big model' }), {
      id: 'org/big model',
      object: 'model',
      created,
      owned_by: 'alpha',
    });
  });

  it('answers alike for a model that does not exist and one that the key may not call', async () => {
    const { parts } = await started(written);
    const hidden = await refusal(() => ask(parts, '/v1/models/:id*', { id: 'small' }, ['tiny']));
    const absent = await refusal(() => ask(parts, '/v1/models/:id*', { id: 'smoll' }, ['tiny']));
    assert.deepEqual([hidden.status, hidden.code, hidden.param], [404, 'model_not_found', 'model']);
    assert.equal(hidden.message.replace('small', '?'), absent.message.replace('smoll', '?'));
    assert.equal(hidden.status, absent.status);
  });

  it('works without keys of any scope', async () => {
    const { allows: _, ...open } = written;
    const { parts } = await started(open);
    assert.equal(((await ask(parts, '/v1/models')) as { data: unknown[] }).data.length, 3);
  });
});
