/** From gateway.yaml to plugins that stand in the order of their needs, and every mistake said at once. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type Assembly, assemble, type Plan, planFrom } from '../../../core/assembly/assemble.ts';
import { LastingStates } from '../../../core/assembly/lasting-state.ts';
import { ConfigError } from '../../../core/config/file.ts';
import { throwIfWrong } from '../../../core/config/sections.ts';
import { aloneOf } from '../../../core/contracts/peers.ts';
import { noAsking } from '../../../core/outgoing/vendor-request.ts';
import {
  definePlugin,
  type Parts,
  type Plugin,
  type Sections,
  type Service,
  schema,
  service,
} from '../../../core/plugin.ts';
import { createLog } from '../../../core/runtime/logger.ts';
import { createVault } from '../../../core/store/vault.ts';
import fc from '../../kit/fast-check.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { memoryStore } from '../../kit/gateway/drive.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-assembly-'));
after(() => rmSync(folder, { recursive: true }));
const configFile = join(folder, 'gateway.yaml');
/** The one plugin of the file; the others of a test are handed over beside it. */
writeFileSync(join(folder, 'first.mjs'), "export default { name: 'first', api: 2, create: () => ({}) };\n");

type AnyPlugin = Plugin<Sections>;
interface Wiring {
  readonly needs?: readonly Service<unknown>[];
  readonly wants?: readonly Service<unknown>[];
  readonly provides?: readonly Service<unknown>[];
}

const lines: string[] = [];
const around = {
  store: memoryStore(),
  log: createLog({ level: 'debug', write: (line) => lines.push(line), now: () => 0 }),
  clock: fakeClock(),
  lasting: new LastingStates(),
  peers: aloneOf('test'),
  vault: createVault(Buffer.alloc(32, 7)),
  ask: noAsking('nobody is asked here'),
  provided: new Map<string, unknown>([['from-core', 'core']]),
};

async function plan(plugins: readonly AnyPlugin[], yaml = '', env: Record<string, string> = {}): Promise<Plan> {
  writeFileSync(configFile, `pipeline: [./first.mjs]\n${yaml}`);
  const made = await planFrom(configFile, env, plugins);
  throwIfWrong(made.file);
  return made;
}
async function assembled(
  plugins: readonly AnyPlugin[],
  yaml = '',
  env: Record<string, string> = {},
): Promise<Assembly> {
  return assemble(await plan(plugins, yaml, env), around);
}
/** What was wrong, without the places. */
async function problems(run: () => Promise<unknown>): Promise<readonly string[]> {
  try {
    await run();
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.problems.map(({ message }) => message);
  }
  return assert.fail('nothing was wrong');
}

/** Patience without end. */
const never = new Promise<void>(() => {});

const A = service<string>('a');
const B = service<string>('b');
const C = service<string>('c');

/** Plugins that write down when they are created; each finds at once what is there. */
function wired(names: Readonly<Record<string, Wiring>>): { plugins: AnyPlugin[]; order: string[]; found: string[] } {
  const order: string[] = [];
  const found: string[] = [];
  const plugins = Object.entries(names).map(([name, wiring]) =>
    definePlugin({
      name,
      api: 2,
      ...wiring,
      create(host) {
        order.push(name);
        for (const it of wiring.needs ?? []) found.push(`${name} uses ${host.use(it)}`);
        for (const it of wiring.wants ?? []) found.push(`${name} finds ${host.find(it)}`);
        for (const it of wiring.provides ?? []) host.provide(it, `${it.id} of ${name}`);
        return {
          link() {
            for (const it of wiring.wants ?? []) found.push(`${name} links ${host.find(it)}`);
          },
        };
      },
    }),
  );
  return { plugins, order, found };
}

describe('the order in which plugins are created', () => {
  it('is that of the pipeline without dependencies', async () => {
    const { plugins, order } = wired({ one: {}, two: {}, three: {} });
    await assembled(plugins);
    assert.deepEqual(order, ['one', 'two', 'three']);
  });

  it('puts providers before those that need them, at any distance', async () => {
    const { plugins, order, found } = wired({
      top: { needs: [B] },
      middle: { needs: [A], provides: [B] },
      bottom: { provides: [A] },
    });
    await assembled(plugins);
    assert.deepEqual(order, ['bottom', 'middle', 'top']);
    assert.deepEqual(found, ['middle uses a of bottom', 'top uses b of middle']);
  });

  it('puts providers before those that want them, and ignores an optional dependency without a provider', async () => {
    const { plugins, order, found } = wired({ asks: { wants: [A, C] }, gives: { provides: [A] } });
    await assembled(plugins);
    assert.deepEqual(order, ['gives', 'asks']);
    assert.deepEqual(found, ['asks finds a of gives', 'asks finds undefined']);
  });

  it('ignores an optional dependency that would close a cycle, and fulfils it when all are linked', async () => {
    const { plugins, order, found } = wired({
      asks: { wants: [B], provides: [A] },
      gives: { needs: [A], provides: [B] },
    });
    (await assembled(plugins)).link();
    assert.deepEqual(order, ['asks', 'gives']);
    assert.deepEqual(found, ['asks finds undefined', 'gives uses a of asks', 'asks links b of gives']);
  });

  it('allows two optional dependencies on each other', async () => {
    const { plugins, found } = wired({ one: { wants: [B], provides: [A] }, two: { wants: [A], provides: [B] } });
    (await assembled(plugins)).link();
    assert.deepEqual(found.slice(-2).sort(), ['one links b of two', 'two links a of one']);
  });

  it('does not delay a required dependency because of an optional one', async () => {
    // `asks` wants `far`, which needs `near`, which wants `asks`.
    const { plugins, order } = wired({
      asks: { wants: [B], provides: [C] },
      far: { needs: [A], provides: [B] },
      near: { wants: [C], provides: [A] },
    });
    await assembled(plugins);
    assert.ok(order.indexOf('near') < order.indexOf('far'), order.join(' '));
  });

  it('provides required dependencies at creation, and optional ones at the end, in any combination', async () => {
    const empty = await plan([]);
    const size = 7;
    const pairs = fc.uniqueArray(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { selector: String, maxLength: 15 });
    const shuffled = fc.shuffledSubarray([...Array(size).keys()], { minLength: size, maxLength: size });
    await fc.assert(
      fc.asyncProperty(pairs, pairs, shuffled, async (needs, wants, listed) => {
        const it = [...Array(size).keys()].map((i) => service<string>(`service-${i}`));
        // A need goes to a smaller number, so that there is no circle of them.
        const to = (all: readonly (readonly [number, number])[], from: number) =>
          all.filter(([a, b]) => a === from && a !== b).map(([, b]) => it[b]!);
        const wiring = listed.map((i) => [
          `plugin-${i}`,
          {
            provides: [it[i]!],
            needs: to(
              needs.filter(([a, b]) => b < a),
              i,
            ),
            wants: to(wants, i),
          },
        ]);
        const { plugins, order, found } = wired(Object.fromEntries(wiring));
        (await assemble({ ...empty, plugins }, around)).link();
        assert.equal(new Set(order).size, size);
        for (const line of found) assert.ok(line.includes('finds') || line.includes(' of plugin-'), line);
      }),
      { numRuns: 200 },
    );
  });

  it('keeps the phases in the order of the pipeline', async () => {
    const { plugins } = wired({ asks: { needs: [A] }, gives: { provides: [A] } });
    const { players } = await assembled(plugins);
    assert.deepEqual(
      players.map(({ name }) => name),
      ['first', 'asks', 'gives'],
    );
  });
});

describe('services', () => {
  it('are refused if their dependencies form a cycle', async () => {
    const { plugins, order } = wired({
      one: { needs: [C], provides: [A] },
      two: { needs: [A], provides: [B] },
      three: { needs: [B], provides: [C] },
    });
    assert.deepEqual(await problems(() => assembled(plugins)), [
      'one needs three needs two needs one: circular dependency',
    ]);
    assert.deepEqual(order, [], 'nothing may be created');
  });

  it('are reported by name if they have no provider', async () => {
    const { plugins } = wired({ one: { needs: [A, service('from-core')] }, two: { needs: [B] } });
    assert.deepEqual(await problems(() => assembled(plugins)), [
      'one needs a: add the plugin that provides it (usually called a) to the pipeline',
      'two needs b: add the plugin that provides it (usually called b) to the pipeline',
    ]);
  });

  it('have one provider', async () => {
    const { plugins } = wired({ one: { provides: [A] }, two: { provides: [A] } });
    assert.deepEqual(await problems(() => assembled(plugins)), ['two and one both provide a: keep one of them']);
  });

  it('are available to core, and to plugins that declare them', async () => {
    const { plugins } = wired({ one: { provides: [A] } });
    const nosy = definePlugin({ name: 'nosy', api: 2, create: (host) => ({ styles: [host.use(A)] as never }) });
    assert.equal((await assembled(plugins)).find(A), 'a of one');
    assert.equal((await assembled(plugins)).find(B), undefined);
    await assert.rejects(assembled([nosy, ...plugins]), {
      message: 'the plugin nosy failed in its `create`: it uses a without naming it in `needs`',
    });
  });
});

describe('sections', () => {
  const shop = schema<{ readonly name: string; readonly open: boolean }>({
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: { name: { type: 'string' }, open: { type: 'boolean', default: true } },
  });

  it('reach their plugin validated with defaults, and no other', async () => {
    let config: unknown;
    const keeper = definePlugin({
      name: 'keeper',
      api: 2,
      sections: { shop },
      create(_host, given) {
        config = given;
        const name: string = given.shop.name;
        return { report: () => [name] };
      },
    });
    const other = definePlugin({
      name: 'other',
      api: 2,
      sections: { till: schema({ type: 'object' }) },
      create: () => ({}),
    });
    await assembled([keeper, other], 'shop: { name: Corner }\ntill: {}\n');
    assert.deepEqual(config, { shop: { name: 'Corner', open: true } });
  });

  it('have one reader, or readers with the same schema', async () => {
    const reader = (name: string, sections: Sections) => definePlugin({ name, api: 2, sections, create: () => ({}) });
    const yaml = 'shop: { name: Corner }\n';
    await assembled([reader('one', { shop }), reader('two', { shop })], yaml);
    const another = { shop: schema({ type: 'object' }) };
    assert.deepEqual(await problems(() => plan([reader('one', { shop }), reader('two', another)], yaml)), [
      'two and one both read the section shop',
    ]);
    assert.deepEqual(await problems(() => plan([reader('one', { pipeline: schema({ type: 'array' }) })])), [
      'one and core both read the section pipeline',
    ]);
  });

  it('contain no secret that the log would show', async () => {
    const talker = definePlugin({
      name: 'talker',
      api: 2,
      sections: {
        shop: schema<{ readonly apiKey: string }>({ type: 'object', properties: { apiKey: { type: 'string' } } }),
      },
      create(host, { shop: { apiKey } }) {
        host.log.info(`calling with ${apiKey}`, { url: `https://shop.example/${apiKey}` });
        return {};
      },
    });
    lines.splice(0);
    await assembled([talker], `shop: { apiKey: "$\{SHOP_KEY}" }\n`, { SHOP_KEY: 'open sesame, please' });
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /calling with \[secret\]/);
    assert.ok(!/sesame/.test(lines[0]!), lines[0]);
  });
});

describe('mistakes of plugins', () => {
  const troubled = (name: string, at: 'create' | 'link') =>
    definePlugin({
      name,
      api: 2,
      create(host) {
        const report = () => host.problem(['pipeline', 0], `${name} is unhappy`);
        if (at === 'create') report();
        return { link: at === 'link' ? report : () => {} };
      },
    });

  it('at creation are reported together', async () => {
    const plugins = [troubled('one', 'create'), troubled('two', 'link'), troubled('three', 'create')];
    assert.deepEqual(await problems(() => assembled(plugins)), ['one is unhappy', 'three is unhappy']);
  });

  it('after creation are reported together', async () => {
    const assembly = await assembled([troubled('one', 'link'), troubled('two', 'link')]);
    assert.deepEqual(await problems(async () => assembly.link()), ['one is unhappy', 'two is unhappy']);
  });

  it('include two plugins with the same vendor, guard or route', async () => {
    const bringing = (name: string): AnyPlugin =>
      definePlugin({
        name,
        api: 2,
        create: () => ({
          vendors: [{ name: 'acme', speaks: {} }],
          guards: { badge: async () => undefined },
          routes: [{ method: 'GET', path: '/hours', access: 'public', handle: () => 9 }],
          commands: [{ name: 'acme hours', summary: 'says when', run: () => '9' }],
        }),
      });
    assert.deepEqual(await problems(() => assembled([bringing('one'), bringing('two')])), [
      'one already provides the vendor acme',
      'one already provides the guard badge',
      'one already provides the route GET /hours',
      'one already provides the command acme hours',
    ]);
  });

  it('include a route or a command that core has', async () => {
    const greedy = definePlugin({
      name: 'greedy',
      api: 2,
      create: () => ({
        routes: ['/healthz', '/readyz'].map((path) => ({
          method: 'GET',
          path,
          access: 'public',
          handle: () => 'all is well',
        })),
        commands: ['backup', 'start'].map((name) => ({ name, summary: 'does something else', run: () => '' })),
      }),
    });
    assert.deepEqual(await problems(() => assembled([greedy])), [
      'core already provides the route GET /healthz',
      'core already provides the route GET /readyz',
      'core already provides the command backup',
      'core already provides the command start',
    ]);
  });

  it('include a route whose guard does not exist, also if its plugin comes before the one that could provide it', async () => {
    const route = (path: string, ...access: string[]) => ({ method: 'GET', path, access, handle: () => 9 }) as const;
    const house = definePlugin({
      name: 'house',
      api: 2,
      create: () => ({ routes: [route('/door', 'badge'), route('/safe', 'badge', 'code')] }),
    });
    const porter = definePlugin({
      name: 'porter',
      api: 2,
      create: () => ({ guards: { badge: async () => undefined } }),
    });
    const assembly = await assembled([house, porter]);
    assert.deepEqual(await problems(async () => assembly.link()), [
      'GET /safe requires the guard code, which no plugin provides',
    ]);
  });

  it('in the pipeline are all reported, each with its line', async () => {
    writeFileSync(configFile, 'pipeline:\n  - ./first.mjs\n  - kyes\n  - ./first.mjs\n  - { use: ./nothing.ts }\n');
    const { file } = await planFrom(configFile, {});
    const { problems } = new ConfigError(file.file, file.problems);
    assert.deepEqual(
      problems.map(({ line, message }) => `${line}: ${message.split(';')[0]}`),
      [
        '3: kyes is neither shipped with the gateway nor an installed package',
        '4: is the same as entry 1',
        '5: ./nothing.ts does not exist',
      ],
    );
  });
});

describe('a plugin', () => {
  it('finds its lasting values again after a reload', async () => {
    const kept: object[] = [];
    const keeper = definePlugin({
      name: 'keeper',
      api: 2,
      create(host) {
        kept.push(host.lasting({ name: 'keeper', version: 1, make: () => ({}) }));
        return {};
      },
    });
    await assembled([keeper]);
    await assembled([keeper]);
    assert.equal(kept.length, 2);
    assert.equal(kept[0], kept[1]);
  });

  it('is started after its providers, and stopped before them', async () => {
    const told: string[] = [];
    const make = (name: string, wiring: Wiring) =>
      definePlugin({
        name,
        api: 2,
        ...wiring,
        create(host) {
          for (const it of wiring.provides ?? []) host.provide(it, name);
          return { start: () => void told.push(`start ${name}`), stop: () => void told.push(`stop ${name}`) };
        },
      });
    const assembly = await assembled([make('asks', { needs: [A] }), make('gives', { provides: [A] })]);
    await assembly.start();
    await assembly.stop(never);
    await assembly.stop(never);
    assert.deepEqual(told, ['start gives', 'start asks', 'stop asks', 'stop gives']);
  });

  it('that does not start is stopped, together with those before it and none after it', async () => {
    const told: string[] = [];
    const make = (name: string, fails: boolean) =>
      definePlugin({
        name,
        api: 2,
        create: () => ({
          start() {
            told.push(`start ${name}`);
            if (fails) throw new Error('no');
          },
          stop: () => void told.push(`stop ${name}`),
        }),
      });
    const assembly = await assembled([make('one', false), make('two', true), make('three', false)]);
    await assert.rejects(assembly.start(), { message: 'the plugin two failed in its `start`: no' });
    await assembly.stop(never);
    assert.deepEqual(told, ['start one', 'start two', 'stop two', 'stop one']);
  });

  it('is named if it fails, in every phase', async () => {
    for (const step of ['create', 'link', 'start'] as const) {
      const no = (): never => {
        throw new TypeError('x is undefined');
      };
      const clumsy = definePlugin({
        name: 'clumsy',
        api: 2,
        create: (): Parts => (step === 'create' ? no() : { [step]: no }),
      });
      await assert.rejects(
        async () => {
          const assembly = await assembled([clumsy]);
          assembly.link();
          await assembly.start();
        },
        { message: `the plugin clumsy failed in its \`${step}\`: x is undefined` },
      );
    }
  });

  it('that does not stop does not prevent others from being stopped, and is named in the log', async () => {
    const told: string[] = [];
    const make = (name: string, stop: () => void | Promise<void>) =>
      definePlugin({
        name,
        api: 2,
        create: () => ({
          stop() {
            told.push(name);
            return stop();
          },
        }),
      });
    const assembly = await assembled([
      make('first-to-start', () => {}),
      make('hangs', () => new Promise(() => {})),
      make('rejects', async () => Promise.reject(new Error('not now'))),
      make('throws', () => {
        throw new Error('never');
      }),
    ]);
    await assembly.start();
    lines.splice(0);
    let enough = (): void => {};
    const stopped = assembly.stop(
      new Promise((done) => {
        enough = done;
      }),
    );
    while (told.at(-1) !== 'hangs') await new Promise((resolve) => setImmediate(resolve));
    enough();
    await stopped;
    assert.deepEqual(told, ['throws', 'rejects', 'hangs', 'first-to-start']);
    const logged = lines.map((line) => JSON.parse(line) as { level: string; msg: string; plugin: string });
    assert.deepEqual(
      logged.map(({ level, msg, plugin }) => `${level} ${plugin}: ${msg}`),
      [
        'error throws: a plugin failed to stop',
        'error rejects: a plugin failed to stop',
        'error hangs: a plugin took too long to stop',
      ],
    );
    assert.match(lines[0]!, /never/);
  });
});
