/** The plugin `models`: its catalog, its choice of channels, their health, its lists, and what it says about mistakes. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { LastingStates } from '../../../core/assembly/lasting-state.ts';
import { Catalog } from '../../../core/contracts/catalog.ts';
import type { KeyRecord } from '../../../core/contracts/identity.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { aloneOf } from '../../../core/contracts/peers.ts';
import type { Lasting } from '../../../core/plugin.ts';
import {
  type ApiRequest,
  type Attempt,
  type Channel,
  GatewayError,
  type Host,
  type JsonObject,
  type Known,
  type Offer,
  type Parts,
  type Service,
  type Style,
  type Vendor,
} from '../../../core/plugin.ts';
import { durationMs } from '../../../core/sdk.ts';
import { layQuirks, packOpaque, type SomeQuirks, scanJson } from '../../../core/translation/index.ts';
import { type BudgetEntry, createRetryBudget, type RetryBudget } from '../../../plugins/models/budget.ts';
import { inOrder } from '../../../plugins/models/choose.ts';
import { createHealth } from '../../../plugins/models/health.ts';
import { createHealthState, type HealthState } from '../../../plugins/models/health-state.ts';
import plugin from '../../../plugins/models/index.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';

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
  ['chat', 'responses', 'messages'].map((name) => [
    name,
    { name, ingress: { path: `/v1/${name}` } } as unknown as Style,
  ]),
);

/** Styles that can be translated: those of vendors, each with its quirks, and those of clients. */
function translating(
  vendorStyles: Readonly<Record<string, SomeQuirks | undefined>>,
  clientStyles: readonly string[],
): typeof STYLES {
  return new Map(
    [...Object.keys(vendorStyles), ...clientStyles].map((name) => {
      const style = {
        name,
        ...(STYLES.has(name) && { ingress: { path: `/v1/${name}` } }),
        ...(clientStyles.includes(name) && { client: {} }),
        ...(vendorStyles[name] && { vendor: { quirks: vendorStyles[name] } }),
      };
      return [name, style as unknown as Style];
    }),
  );
}

/** Sections as core hands them over: checked as strictly as core checks, defaults filled in. */
function sections(written: { readonly channels?: unknown; readonly models?: unknown }) {
  const ajv = new Ajv({
    allErrors: true,
    useDefaults: true,
    strict: true,
    allowUnionTypes: true,
    formats: { regex: true, uri: true },
  });
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
  readonly lasting?: LastingStates;
  readonly styles?: typeof STYLES;
  readonly vendors?: readonly Vendor[];
}

async function started(given: Written) {
  const {
    allows,
    clock = fakeClock(),
    lasting = new LastingStates(),
    styles = STYLES,
    vendors = VENDORS,
    ...written
  } = given;
  const problems: string[] = [];
  const hidden: string[] = [];
  const lines: string[] = [];
  let catalog: Catalog | undefined;
  const write = (message: string): void => void lines.push(message);
  const host = {
    clock,
    peers: aloneOf('test'),
    log: { debug: write, info: write, warn: write, error: write, hide: (secret: string) => hidden.push(secret) },
    vendors: () => new Map(vendors.map((vendor) => [vendor.name, vendor])),
    styles: () => styles,
    find: (service: Service<unknown>) => (service === Keys && allows !== undefined ? { allows } : undefined),
    provide(service: Service<unknown>, implementation: unknown) {
      assert.equal(service, Catalog);
      catalog = implementation as Catalog;
    },
    lasting: <T>(state: Lasting<T>) => lasting.get(state),
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
  readonly strict?: boolean;
  readonly body?: string;
  readonly earlier?: string;
}

/** One exchange: its offers one by one, how each went, and its end. */
async function call(parts: Parts, model: string, asking: Asking = {}) {
  const { style = 'chat', key = 1, scope, strict = false, body = '{}', earlier } = asking;
  const releases: (() => unknown)[] = [];
  const x = {
    style: { name: style },
    call: { model, style, body: scanJson(Buffer.from(body)), ...(earlier && { earlier: { channel: earlier } }) },
    identity: { key: { id: key, models: scope, strict } },
    attempts: [],
    delivered: false,
    notes: {} as JsonObject,
    note(facts: JsonObject) {
      x.notes = { ...x.notes, ...facts };
    },
    defer: (release: () => unknown) => void releases.push(release),
  };
  const offers = (await parts.route!(x as unknown as Known, (offers) => offers))![Symbol.iterator]();
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
    quirks: {},
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
        proxy: undefined,
        key: 'a-long-secret',
        keyNumber: undefined,
        headers: undefined,
        query: undefined,
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
        quirks: {},
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
      ["channels.0.vendor: no plugin provides a vendor 'alhpa'; did you mean alpha?"],
    );
  });

  it('do not take two channels of one name', async () => {
    assert.deepEqual(await mistakesOf({ channels: [alpha('a'), alpha('b'), alpha('a')] }), [
      "channels.2.name: another channel already has the name 'a'",
    ]);
  });

  it('name a style that the vendor does not speak', async () => {
    assert.deepEqual(await mistakesOf({ channels: [alpha('a', { speaks: ['chat', 'response'] })] }), [
      "channels.0.speaks.1: the vendor 'alpha' does not support 'response'; did you mean responses?",
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
      'models.b.alias: aliases form a cycle: b → c → b',
      'models.self.alias: aliases form a cycle: self → self',
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
      'models.three.fallback.0: fallbacks form a cycle: three → three',
      'models.two.fallback.1: fallbacks form a cycle: one → two → one',
    ]);
  });

  it('do not take a model for an alias', async () => {
    const problems = await mistakesOf({
      channels: [alpha('a')],
      models: { m: { from: ['a'] }, n: { alias: 'm', from: ['a'] } },
    });
    assert.deepEqual(problems, ["models.n.from: an alias has no other fields; 'from' belongs to a model"]);
  });

  it('name a style in `only` that no channel speaks, whether or not the channel is on', async () => {
    const problems = await mistakesOf({
      channels: [alpha('a', { key: '' }), { ...alpha('b'), vendor: 'gamma', region: 'eu' }],
      models: {
        m: { from: ['a'], only: ['responses'] },
        n: { from: ['b'], only: ['chat', 'responses'] },
      },
    });
    assert.deepEqual(problems, ["models.n.only.1: no channel of the model 'n' supports 'responses'"]);
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
      'model main is off, because all its channels are',
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
  const sources = (weights: Readonly<Record<string, number>>) =>
    Object.entries(weights).map(([name, weight]) => ({ channel: channel(name, { weight }), model: 'm' }));
  const firsts = (from: ReturnType<typeof sources>, keys: number, model = 'm'): Map<string, number> => {
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
    assert.equal(only.message, "The model 'pro' does not support chat. Use responses (POST /v1/responses).");
    const none = await refusal(() => call(parts, 'plain', { style: 'messages' }));
    assert.deepEqual([none.status, none.code], [404, 'model_not_found']);
    assert.match(none.message, /Use chat \(POST \/v1\/chat\) or responses \(POST \/v1\/responses\)\.$/);
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
    for (let i = 0; i < 10; i++) {
      const one = await call(parts, 'm');
      assert.notEqual(one.next(), undefined);
      one.went('refused');
      assert.notEqual(one.next(), undefined);
      retrying.push(one);
    }
    const refused = await call(parts, 'm');
    assert.notEqual(refused.next(), undefined);
    assert.equal(refused.next(), undefined);
    assert.deepEqual(refused.x.notes, { retries: 'retry budget used up' });
    await retrying[0]!.end();
    const later = await call(parts, 'm');
    assert.notEqual(later.next(), undefined);
    assert.notEqual(later.next(), undefined);
    assert.deepEqual(later.x.notes, {});
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

  it('are not for a passthrough', async () => {
    const { parts } = await started({});
    assert.equal(await parts.route!({ style: undefined } as unknown as Known, (offers) => offers), undefined);
  });
});

describe('offers to clients of another style', () => {
  const dialects = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, dialect]));
  const vendors: readonly Vendor[] = [
    ...VENDORS,
    {
      name: 'delta',
      speaks: dialects('silent', 'responses', 'chat'),
      quirks: [
        { models: ['*'], quirks: { limits: { max_output: 1_000, context: 9_000 }, prefill: false } },
        { models: ['Deep-*'], quirks: { limits: { max_output: 2_000 } } },
      ],
    },
    { name: 'epsilon', speaks: dialects('silent') },
  ];
  // `silent` cannot be translated; `messages` only for clients, `responses` for clients and vendors.
  const styles = translating(
    { chat: { roles: { developer: 'system' } }, responses: { roles: { mid_system: 'front' } }, silent: undefined },
    ['messages', 'responses'],
  );
  const at = (name: string, vendor: string, more: Readonly<Record<string, unknown>> = {}) =>
    alpha(name, { vendor, ...more });
  const stand = (
    channels: NonNullable<Written['channels']>,
    models: NonNullable<Written['models']>,
    more: Partial<Written> = {},
  ) => started({ channels, models, vendors, styles, ...more });

  it('name the style to be spoken: the client’s own where the channel has it, else the first that can be translated', async () => {
    const { parts, problems } = await stand(
      [at('both', 'delta'), at('narrow', 'delta', { speaks: ['chat'], priority: 1 })],
      { m: { from: ['both', 'narrow'] } },
    );
    assert.deepEqual(problems, []);
    const spoken = async (style: string): Promise<readonly string[]> => {
      const one = await call(parts, 'm', { style });
      const seen: string[] = [];
      for (let next = one.next(); next !== undefined; next = one.next()) seen.push(`${next} ${one.offer.style}`);
      return seen;
    };
    assert.deepEqual(await spoken('messages'), ['both/m responses', 'narrow/m chat']);
    assert.deepEqual(await spoken('responses'), ['both/m responses', 'narrow/m chat']);
    // Nobody asks it in another style than its own.
    assert.deepEqual(await spoken('chat'), ['both/m chat', 'narrow/m chat']);
    assert.deepEqual(await spoken('silent'), ['both/m silent']);
  });

  it('keep to the order of the channel’s own list of styles', async () => {
    const { parts } = await stand([at('a', 'delta', { speaks: ['chat', 'responses'] })], { m: { from: ['a'] } });
    const one = await call(parts, 'm', { style: 'messages' });
    one.next();
    assert.equal(one.offer.style, 'chat');
  });

  it('speak only the style that quirks name, where the client’s own cannot be', async () => {
    const { parts } = await stand(
      [at('a', 'delta', { quirks: { style: 'chat' } }), at('b', 'delta', { priority: 1 })],
      {
        m: { from: ['a'] },
        n: { from: ['b'], quirks: { style: 'chat' } },
      },
    );
    for (const model of ['m', 'n']) {
      for (const [style, spoken] of [
        ['messages', 'chat'],
        ['responses', 'responses'],
      ] as const) {
        const one = await call(parts, model, { style });
        one.next();
        assert.equal(one.offer.style, spoken, `${model} ${style}`);
      }
    }
  });

  it('leave out a style in which the vendor cannot be asked for this model', async () => {
    const picky: Vendor = {
      name: 'picky',
      speaks: {
        responses: { ...dialect, models: ['Pro-*'] },
        chat: dialect,
        silent: { ...dialect, models: ['old', 'older-*'] },
      },
    };
    const { parts, problems } = await stand(
      [at('a', 'picky')],
      { new: { from: ['a'] }, 'pro-1': { from: ['a'] }, ancient: { from: [{ a: 'OLDER-2' }] } },
      {
        vendors: [picky],
        styles: translating({ chat: {}, responses: {}, silent: undefined }, ['messages', 'responses', 'silent']),
      },
    );
    assert.deepEqual(problems, []);
    const spoken = async (model: string, style: string): Promise<string> => {
      const one = await call(parts, model, { style });
      one.next();
      return one.offer.style;
    };
    // Neither the client's own style nor one that it is translated to.
    assert.deepEqual([await spoken('new', 'responses'), await spoken('new', 'messages')], ['chat', 'chat']);
    assert.equal(await spoken('new', 'silent'), 'chat');
    assert.deepEqual(
      [await spoken('pro-1', 'responses'), await spoken('pro-1', 'messages')],
      ['responses', 'responses'],
    );
    assert.equal(await spoken('ancient', 'silent'), 'silent');
  });

  it('do not put a channel first because it needs no translation', async () => {
    const { parts } = await stand([at('near', 'alpha', { priority: 1 }), at('far', 'delta', { speaks: ['chat'] })], {
      m: { from: ['near', 'far'] },
    });
    assert.deepEqual(await (await call(parts, 'm', { style: 'responses' })).all(), ['far/m', 'near/m']);
  });

  it('are refused where no channel can be translated to, naming where the model does answer', async () => {
    const { parts } = await stand([at('a', 'epsilon'), at('b', 'beta'), at('c', 'delta')], {
      mute: { from: ['a'] },
      letters: { from: ['b'] },
      pro: { from: ['c'], only: ['responses'] },
    });
    const words = async (model: string, style: string): Promise<string> => {
      const error = await refusal(() => call(parts, model, { style }));
      assert.deepEqual([error.status, error.code, error.param], [404, 'model_not_found', 'model']);
      return error.message;
    };
    // No client can ask for a style without a path.
    assert.equal(await words('mute', 'messages'), "The model 'mute' does not support messages or any other style.");
    assert.equal(
      await words('letters', 'chat'),
      "The model 'letters' does not support chat. Use messages (POST /v1/messages).",
    );
    assert.equal(
      await words('pro', 'messages'),
      "The model 'pro' does not support messages. Use responses (POST /v1/responses).",
    );
  });

  it('may be all that a model answers on', async () => {
    const channels = [at('a', 'delta', { speaks: ['chat'] })];
    const { parts, problems } = await stand(channels, { m: { from: ['a'], only: ['messages'] } });
    assert.deepEqual(problems, []);
    assert.deepEqual(await (await call(parts, 'm', { style: 'messages' })).all(), ['a/m']);
    assert.equal((await refusal(() => call(parts, 'm', { style: 'chat' }))).code, 'model_not_found');
  });

  it('carry the quirks of the style, the vendor, the channel and the model, each over those before it', async () => {
    const { parts } = await stand(
      [
        at('a', 'delta', { quirks: { limits: { context: 8_000 }, stop: { max: 2 } } }),
        at('b', 'delta', { priority: 1 }),
      ],
      { m: { from: [{ a: 'deep-thought' }, 'b'], quirks: { stop: { max: 1 } } } },
    );
    const one = await call(parts, 'm', { style: 'messages' });
    one.next();
    assert.deepEqual(
      one.offer.quirks,
      layQuirks({
        roles: { mid_system: 'front' },
        prefill: false,
        limits: { max_output: 2_000, context: 8_000 },
        stop: { max: 1 },
      }),
    );
    one.next();
    assert.deepEqual(one.offer.quirks.limits, { ...layQuirks().limits, max_output: 1_000, context: 9_000 });
    const own = await call(parts, 'm', { style: 'chat' });
    own.next();
    assert.deepEqual(own.offer.quirks.roles, layQuirks({ roles: { developer: 'system' } }).roles);
  });

  it('lay the quirks once, not for every call', async () => {
    const { parts } = await stand([at('a', 'delta')], { m: { from: ['a'] }, same: { alias: 'm' } });
    const quirks = async (model: string, style: string) => {
      const one = await call(parts, model, { style });
      one.next();
      return one.offer.quirks;
    };
    const first = await quirks('m', 'messages');
    assert.equal(await quirks('m', 'messages'), first);
    assert.equal(await quirks('same', 'messages'), first);
    assert.notEqual(await quirks('m', 'chat'), first);
  });

  it('are strict where the model or the key is', async () => {
    const { parts } = await stand([at('a', 'delta')], {
      lax: { from: ['a'], fallback: ['exact'] },
      exact: { from: ['a'], strict: true },
    });
    const strictness = async (model: string, strict: boolean): Promise<readonly boolean[]> => {
      const one = await call(parts, model, { style: 'messages', strict });
      const seen: boolean[] = [];
      while (one.next() !== undefined) seen.push(one.offer.strict);
      return seen;
    };
    assert.deepEqual(await strictness('lax', false), [false, true]);
    assert.deepEqual(await strictness('lax', true), [true, true]);
    assert.deepEqual(await strictness('exact', false), [true]);
  });

  it('begin with the channel that we know the conversation from; of what its client says of one only among equals', async () => {
    const { parts } = await stand([at('a', 'delta'), at('b', 'delta'), at('c', 'delta', { priority: 1 })], {
      m: { from: ['a', 'b', 'c'] },
    });
    const order = async (asking: Asking): Promise<string> => {
      const all = await (await call(parts, 'm', { style: 'messages', ...asking })).all();
      return all.map((offer) => offer[0]).join('');
    };
    const sealed = (channel: string) =>
      packOpaque({ style: 'messages', channel, kind: 'signature', value: 'x'.repeat(5_000) });
    const saying = (...thoughts: readonly string[]) =>
      JSON.stringify({ messages: thoughts.map((signature) => ({ type: 'thinking', signature })) });

    const usual = await order({});
    const [first = '', second = ''] = usual;
    const turned = `${second}${first}c`;
    assert.equal(usual[2], 'c');
    assert.equal(await order({ earlier: 'c' }), `c${first}${second}`);
    assert.equal(await order({ body: saying(sealed(second)) }), turned);
    assert.equal(await order({ body: saying(sealed(first), sealed(second)) }), turned);
    assert.equal(await order({ earlier: 'c', body: saying(sealed(second)) }), `c${first}${second}`);
    assert.equal(await order({ earlier: 'elsewhere', body: saying(sealed(second)) }), usual);
    for (const said of [sealed('c'), sealed('elsewhere'), 'turnpike-sealed-1:', 'turnpike-sealed-1:a:%:signature::x']) {
      assert.equal(await order({ body: saying(said) }), usual, said.slice(0, 40));
    }
    assert.equal(await order({ body: saying(`turnpike-sealed-1:chat:${second}:thought:`) }), turned);
  });

  it('leave the named channel out while it is left alone', async () => {
    const { parts } = await stand([at('a', 'delta'), at('b', 'delta', { priority: 1 })], { m: { from: ['a', 'b'] } });
    const busy = await call(parts, 'm', { style: 'messages', earlier: 'b' });
    assert.equal(busy.next(), 'b/m');
    busy.went('busy', 30_000);
    await busy.end();
    assert.deepEqual(await (await call(parts, 'm', { style: 'messages', earlier: 'b' })).all(), ['a/m']);
  });

  it('come with mistakes found where they are written', async () => {
    const { problems } = await stand(
      [at('a', 'delta', { speaks: ['chat'], quirks: { style: 'responses' } }), at('b', 'epsilon')],
      {
        m: { from: ['a'], quirks: { style: 'chatt' } },
        n: { from: ['b'], only: ['messages'] },
        o: { alias: 'm', strict: true },
        p: { alias: 'm', quirks: {} },
      },
    );
    assert.deepEqual(problems, [
      "channels.0.quirks.style: the channel 'a' does not support 'responses'",
      "models.o.strict: an alias has no other fields; 'strict' belongs to a model",
      "models.p.quirks: an alias has no other fields; 'quirks' belongs to a model",
      "models.m.quirks.style: no channel of the model 'm' supports 'chatt'; did you mean chat?",
      "models.n.only.0: no channel of the model 'n' supports 'messages'",
    ]);
  });

  it('are in the report: which clients are translated, to what, and where', async () => {
    const { parts } = await stand(
      [at('a', 'delta'), at('b', 'delta'), at('c', 'delta', { speaks: ['chat'] }), at('off', 'delta', { key: '' })],
      { m: { from: ['a', 'c'] }, n: { from: ['b', 'off'], only: ['messages'] }, o: { from: ['c'], only: ['chat'] } },
    );
    assert.deepEqual(parts.report?.(), [
      '3 models, 0 aliases, 4 channels',
      'channel off is off: its key is empty',
      'translated: responses, messages → chat at c',
      'translated: messages → responses at a, b',
    ]);
  });
});

describe('the retry budget', () => {
  const enter = (budget: RetryBudget, count: number): readonly BudgetEntry[] =>
    Array.from({ length: count }, () => budget.enter(() => false));

  it('lets ten retry whatever the traffic', () => {
    const entries = enter(createRetryBudget(), 20);
    assert.equal(entries.filter((entry) => entry.retry()).length, 10);
  });

  it('lets a fifth of the requests in flight retry, and no more', () => {
    const entries = enter(createRetryBudget(), 109);
    assert.equal(entries.filter((entry) => entry.retry()).length, 21);
  });

  it('counts a request once, however often it retries and leaves', () => {
    const [first, ...others] = enter(createRetryBudget(), 12);
    for (let i = 0; i < 5; i++) assert.equal(first!.retry(), true);
    assert.equal(others.filter((entry) => entry.retry()).length, 9);
    first!.leave();
    first!.leave();
    assert.equal(others.filter((entry) => entry.retry()).length, 10);
  });

  it('does not count a request whose answer has begun: its stream may take minutes', () => {
    const budget = createRetryBudget();
    let isAnswered = false;
    const streams = Array.from({ length: 10 }, () => budget.enter(() => isAnswered));
    assert.equal(
      streams.every((stream) => stream.retry()),
      true,
    );
    const [next] = enter(budget, 1);
    assert.equal(next!.retry(), false);
    isAnswered = true;
    assert.equal(next!.retry(), true);
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
  const health = createHealth(
    state,
    { clock, log, peers: aloneOf('test') },
    typeof random === 'number' ? () => random : random,
  );
  const a = channel('a');
  const quirks = layQuirks();
  const offer = (model = 'm', on = a): Offer => ({
    channel: on,
    model,
    style: 'chat',
    quirks,
    strict: false,
    priced: 'm',
  });
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

  it('logs when a circuit opens and when it closes', () => {
    const { attempt, wait, lines } = watched();
    attempt('status', 5);
    wait();
    attempt();
    assert.deepEqual(
      lines.map(({ level, message }) => `${level}: ${message}`),
      ['warn: circuit opened', 'info: circuit closed'],
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
    { query = '', headers = {} }: { readonly query?: string; readonly headers?: Record<string, string> } = {},
  ) => {
    const route = parts.routes!.find((candidate) => candidate.path === path)!;
    assert.deepEqual([route.method, route.access], ['GET', ['key']]);
    const request = { params, holder: { key: { models } }, headers, query: new URLSearchParams(query) };
    return route.handle(request as unknown as ApiRequest) as JsonObject;
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

  it('is read in three styles, chosen by the headers and the query', async () => {
    const { parts } = await started(written);
    const shape = (headers: Record<string, string>, query = '', path = '/v1/models'): string =>
      Object.keys(ask(parts, path, {}, undefined, { headers, query })).join();
    const [plain, messages, gemini] = ['object,data', 'data,has_more,first_id,last_id', 'models'];
    assert.equal(shape({ authorization: 'Bearer k' }), plain);
    assert.equal(shape({ 'x-api-key': 'k' }), plain);
    assert.equal(shape({ 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }), messages);
    assert.equal(shape({ authorization: 'Bearer k', 'anthropic-version': '2026-10-21' }), messages);
    assert.equal(shape({ 'x-goog-api-key': 'k' }), gemini);
    assert.equal(shape({ authorization: 'Bearer k' }, 'key=k'), gemini);
    assert.equal(shape({ 'anthropic-version': '2023-06-01', 'x-goog-api-key': 'k' }), gemini);
    assert.equal(shape({ authorization: 'Bearer k' }, '', '/v1beta/models'), gemini);
  });

  it('shows one model in three styles, too', async () => {
    const { parts } = await started(written);
    const one = (headers: Record<string, string>, path = '/v1/models/:id*') =>
      ask(parts, path, { id: 'tiny' }, undefined, { headers });
    assert.deepEqual([one({}).object, one({}).id], ['model', 'tiny']);
    const messages = one({ 'anthropic-version': '2023-06-01' });
    assert.deepEqual([messages.type, messages.id], ['model', 'tiny']);
    assert.equal(one({ 'x-goog-api-key': 'k' }).name, 'models/tiny');
    assert.equal(one({}, '/v1beta/models/:id*').name, 'models/tiny');
  });

  it('tells the lowest limits that are known, from quirks', async () => {
    const limits = (max_output: number, context?: number) => ({
      quirks: { limits: { max_output, ...(context !== undefined && { context }) } },
    });
    const { parts } = await started({
      channels: [alpha('a', limits(4_096)), alpha('b', limits(8_192, 200_000)), alpha('c')],
      models: { m: { from: ['a', 'b', 'c'] }, n: { from: ['c'] }, o: { from: ['a'], ...limits(1_000) } },
    });
    const list = await ask(parts, '/v1beta/models');
    const told = (list.models as readonly JsonObject[]).map(({ inputTokenLimit, outputTokenLimit }) => [
      inputTokenLimit,
      outputTokenLimit,
    ]);
    assert.deepEqual(told, [
      [200_000, 4_096],
      [0, 0],
      [0, 1_000],
    ]);
  });

  it('lists only what the key may call', async () => {
    const { parts } = await started(written);
    for (const [headers, list, name] of [
      [{}, 'data', 'id'],
      [{ 'anthropic-version': '2023-06-01' }, 'data', 'id'],
      [{ 'x-goog-api-key': 'k' }, 'models', 'displayName'],
    ] as const) {
      const shown = ask(parts, '/v1/models', {}, ['small'], { headers })[list] as readonly JsonObject[];
      assert.deepEqual(
        shown.map((model) => model[name]),
        ['small'],
      );
    }
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
