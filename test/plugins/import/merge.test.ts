/** What an import makes of gateway.yaml: what is there stays, what differs is told, and nothing is replaced unless the import updates. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: gateway.yaml has them
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../core/plugin.ts';
import { decimal } from '../../../core/sdk.ts';
import { gatewayFiles } from '../../../plugins/import/gateway-file.ts';
import {
  EMPTY,
  type ForeignChannel,
  type ForeignModel,
  type Inventory,
  Secret,
  Variable,
} from '../../../plugins/import/inventory.ts';
import { type Here, type Merge, type MergeOptions, mergeInto } from '../../../plugins/import/merge.ts';

const MAIN: ForeignChannel = {
  name: 'main',
  vendor: 'compatible',
  url: 'https://up.example/v1',
  key: { secret: 'k-1' },
};

const inventoryOf = (more: Partial<Inventory>): Inventory => ({ ...EMPTY, channels: [MAIN], ...more });
const modelOf = (channel = 'main', model = 'm') => ({ from: [{ channel, model }] });

/** Merges into a configuration; `own`: secrets that an earlier import has written. */
function merged(
  config: JsonObject,
  inventory: Partial<Inventory>,
  options: Partial<MergeOptions> &
    Partial<Pick<Here, 'isStored' | 'channels' | 'accountGroups'>> & { readonly own?: readonly string[] } = {},
): Merge {
  const { own = [], isStored = false, channels = new Set(), accountGroups = new Set(), ...more } = options;
  const here: Here = { config, isStored, secrets: new Map(own.map((name) => [name, true])), channels, accountGroups };
  return mergeInto(here, inventoryOf(inventory), { program: 'new-api', update: false, variables: true, ...more });
}

const states = ({ changes }: Merge): readonly string[] =>
  changes.map(({ kind, name, state }) => `${kind} ${name} ${state}`);
const IMPORTED = {
  name: 'main',
  vendor: 'compatible',
  url: 'https://up.example/v1',
  key: '${secret:IMPORTED_MAIN_KEY}',
};

describe('a merge into gateway.yaml', () => {
  it('adds channels whose keys are secrets of the database', () => {
    const merge = merged({}, {});
    assert.deepEqual(merge.additions, [{ path: ['channels'], value: [IMPORTED] }]);
    assert.deepEqual([...merge.secrets], [['IMPORTED_MAIN_KEY', 'k-1']]);
  });

  it('gives a channel another name if another channel has its name, and models and groups follow', () => {
    const merge = merged(
      { channels: [{ name: 'main', vendor: 'openai', key: 'x' }] },
      { models: new Map([['m', modelOf()]]), groups: [{ name: 'vip', channels: ['main'], factor: decimal(0.8) }] },
    );
    assert.deepEqual(states(merge), ['channel main-new-api new', 'model m new', 'group own new', 'group vip new']);
    const values = Object.fromEntries(merge.additions.map(({ path, value }) => [path.join('.'), value]));
    assert.deepEqual(values.models, { m: { from: ['main-new-api'] } });
    assert.deepEqual(values.groups, {
      own: { channels: ['main'] },
      vip: { channels: ['main-new-api'], factor: 0.8 },
    });
    assert.match(merge.notes[0]!.why, /the imported one is called main-new-api/);
  });

  it('asks to check a new channel whose base URL is on a private network or on the machine itself', () => {
    const asks = (url: string, config: JsonObject = {}, own: readonly string[] = []): boolean =>
      merged(config, { channels: [{ ...MAIN, url }] }, { own }).notes.some(
        ({ kind, what, why }) => kind === 'decide' && what === 'channel main' && /private network/.test(why),
      );
    const local = ['http://127.0.0.1:11434', 'http://169.254.169.254/v1', 'http://0x0a000005/v1', 'http://[::1]/v1'];
    for (const url of [...local, 'http://localhost:1', 'http://ollama:11434', 'https://db.internal/v1'])
      assert.equal(asks(url), true, url);
    for (const url of ['https://up.example/v1', 'https://8.8.8.8/v1', 'https://[2606:4700::1111]'])
      assert.equal(asks(url), false, url);
    const url = local[0]!;
    assert.equal(asks(url, { channels: [{ ...IMPORTED, url }] }, ['IMPORTED_MAIN_KEY']), false);
  });

  it('tells which imported channels are off or deleted there now, and leaves them', () => {
    const config = { channels: [IMPORTED, { ...IMPORTED, name: 'gone' }, { ...IMPORTED, name: 'own' }] };
    const merge = merged(config, {}, { own: ['IMPORTED_MAIN_KEY'], channels: new Set(['main', 'gone', 'removed']) });
    assert.deepEqual(
      merge.notes.filter(({ kind }) => kind === 'decide').map(({ what, why }) => `${what}: ${why}`),
      ['channel gone: it is off or deleted there since it was imported: it stays here until you remove it'],
    );
    assert.deepEqual(states(merge), ['channel main unchanged']);
  });

  it('recognizes a channel that it has written before, by its secret', () => {
    const again = merged({ channels: [IMPORTED] }, {}, { own: ['IMPORTED_MAIN_KEY'] });
    assert.deepEqual(states(again), ['channel main unchanged']);
    assert.deepEqual([...again.edits, ...again.additions], []);
    // The same secret of another import: it is another channel.
    assert.deepEqual(states(merged({ channels: [IMPORTED] }, {})), ['channel main-new-api new']);
  });

  it('recognizes a channel whose variable was set by hand', () => {
    const byHand = { ...IMPORTED, key: '${IMPORTED_MAIN_KEY:-}' };
    assert.deepEqual(states(merged({ channels: [byHand] }, {})), ['channel main unchanged']);
  });

  it('tells what differs, and changes it with an update only', () => {
    const config = { channels: [{ ...IMPORTED, weight: 2 }] };
    const channels = [{ ...MAIN, weight: 5 }];
    const own = ['IMPORTED_MAIN_KEY'];
    const told = merged(config, { channels }, { own });
    assert.deepEqual(told.changes, [
      { kind: 'channel', name: 'main', state: 'differs', text: 'weight 2 here, 5 there' },
    ]);
    assert.deepEqual(told.edits, []);
    const updated = merged(config, { channels }, { own, update: true });
    assert.deepEqual(updated.edits, [{ path: ['channels', 0], value: { ...IMPORTED, weight: 5 } }]);
  });

  it('adds imported channels behind those of a model that is here', () => {
    const merge = merged({ models: { m: { from: ['openai'] } } }, { models: new Map([['m', modelOf()]]) });
    assert.deepEqual(merge.edits, [{ path: ['models', 'm', 'from'], value: ['openai', 'main'] }]);
    assert.match(merge.notes.map(({ why }) => why).join(), /behind its own/);
  });

  it('leaves an alias that is here, and the price of the imported model', () => {
    const model = { ...modelOf(), price: { input: '1', output: '2' } };
    const merge = merged(
      { models: { m: { alias: 'other' }, other: { from: ['openai'] } } },
      { models: new Map([['m', model]]) },
    );
    assert.deepEqual(
      merge.notes.map(({ kind, what }) => `${kind} ${what}`),
      ['decide model m'],
    );
    assert.ok(!states(merge).some((state) => state.startsWith('price')));
  });

  it('writes every digit of a price, and tells one that differs', () => {
    const price = { input: '16.4383561644', cacheRead: '0.000000075', output: '2' };
    const models = new Map([['m', { ...modelOf(), price }]]);
    const written = { input: 16.4383561644, cacheRead: 7.5e-8, output: 2 };
    const fresh = merged({ prices: null }, { models });
    assert.deepEqual(fresh.additions.at(-1), { path: ['prices'], value: { m: written } });
    const config = { models: { m: { from: ['main'] } }, prices: { m: { ...written, input: 3 } } };
    assert.ok(states(merged(config, { models })).includes('price m differs'));
    assert.deepEqual(merged(config, { models }, { update: true }).edits.at(-1), {
      path: ['prices', 'm'],
      value: written,
    });
  });

  it('rounds a price with more digits than a number keeps up, never down', () => {
    const files = gatewayFiles(
      'new-api',
      inventoryOf({ models: new Map([['m', { ...modelOf(), price: { input: '16.438356164383561643' } }]]) }),
    );
    assert.match(files!.yaml, /input: 16\.4383561644\n/);
  });

  const USUAL = [{ name: 'default', channels: ['main'], factor: decimal(1) }];
  const DEMO = { name: 'demo', vendor: 'demo' };
  const user = {
    id: '1',
    name: 'ann',
    role: 'member',
    enabled: true,
    group: 'default',
    balance: 0n,
    isPerson: true,
  } as const;
  const key = { id: 'k', user: '1', name: 'key', secret: undefined, allowance: undefined, enabled: true } as const;
  const written = ({ additions }: Merge) =>
    Object.fromEntries(additions.map(({ path, value }) => [path.join('.'), value]));

  it('puts the channels that are here in no group of imported keys', () => {
    const merge = merged({ channels: [DEMO] }, { groups: USUAL, users: [user] });
    const groups = { own: { channels: ['demo'] }, default: { channels: ['main'] } };
    assert.deepEqual(written(merge).groups, groups);
    assert.match(merge.notes.map(({ why }) => why).join(), /do not reach the channels that were here already \(demo\)/);
    const again = merged(
      { channels: [DEMO, IMPORTED], groups },
      { groups: USUAL, users: [user] },
      {
        own: ['IMPORTED_MAIN_KEY'],
      },
    );
    assert.deepEqual(states(again), ['channel main unchanged', 'group default unchanged']);
  });

  it('keeps imported accounts and those of this gateway in different groups', () => {
    const groups = [...USUAL, { name: 'vip', channels: ['main'], factor: decimal(0.5), for: ['default'] }];
    const accountGroups = new Set(['default', 'vip']);
    const given = { groups, users: [user, { ...user, id: '2', group: 'vip' }], keys: [{ ...key, group: 'vip' }] };
    const merge = merged({ channels: [DEMO] }, given, { accountGroups });
    const expected = {
      default: { channels: ['demo'] },
      vip: { channels: ['demo'] },
      'default-new-api': { channels: ['main'] },
      'vip-new-api': { channels: ['main'], factor: 0.5, for: ['default-new-api'] },
    };
    assert.deepEqual(written(merge).groups, expected);
    assert.deepEqual(
      merge.inventory.users.map(({ group }) => group),
      ['default-new-api', 'vip-new-api'],
    );
    assert.equal([...merge.inventory.keys][0]!.group, 'vip-new-api');
    // Also if an administrator has given an imported channel to the accounts of this gateway since.
    const config = { channels: [DEMO, IMPORTED], groups: { ...expected, default: { channels: ['demo', 'main'] } } };
    const again = merged(config, given, { accountGroups, own: ['IMPORTED_MAIN_KEY'] });
    assert.deepEqual(again.inventory.users, merge.inventory.users);
    assert.deepEqual([...again.edits, ...again.additions], []);
  });

  it('leaves a group that is here to the accounts that use it', () => {
    for (const vip of [{}, { channels: ['demo'] }, { of: ['staff'] }]) {
      const config = { channels: [DEMO], groups: { default: { channels: ['demo'] }, staff: {}, vip } };
      const groups = [{ name: 'vip', channels: ['main'], factor: decimal(0.8) }];
      const merge = merged(config, { groups, users: [{ ...user, group: 'vip' }] });
      assert.deepEqual(states(merge), ['channel main new', 'group vip-new-api new']);
      assert.equal(merge.inventory.users[0]!.group, 'vip-new-api');
    }
  });

  it('keeps keys of a program without groups from the channels that are here', () => {
    const given = { users: [{ ...user, group: undefined }], keys: [key] };
    const merge = merged({ channels: [DEMO] }, given, { program: 'litellm' });
    const groups = { own: { channels: ['demo'] }, default: { channels: ['main'] } };
    assert.deepEqual(written(merge).groups, groups);
    // An earlier import made no groups: what was added to the gateway since is for everyone.
    const other = { name: 'file', vendor: 'openai', key: '${OPENAI_API_KEY:-}' };
    const both = merged({ channels: [DEMO, other] }, given, { program: 'litellm', channels: new Set(['file']) });
    assert.equal(written(both).groups, undefined);
    assert.equal(written(merged({}, given, { program: 'litellm' })).groups, undefined);
    // Its models are in a file that was not given.
    const without = { ...given, channels: [] };
    assert.equal(written(merged({ channels: [DEMO] }, without, { program: 'litellm' })).groups, undefined);
    assert.deepEqual(written(merged({ channels: [DEMO] }, without)).groups, { ...groups, default: { channels: [] } });
  });

  it('adds the plugin of groups to a pipeline that lacks it', () => {
    const { additions } = merged({ pipeline: ['auth', 'keys'] }, { groups: USUAL });
    assert.deepEqual(additions.at(-1), { path: ['pipeline', 2], value: 'groups' });
    assert.equal(written(merged({ pipeline: ['auth', 'groups'] }, { groups: USUAL }))['pipeline.2'], undefined);
  });

  it('gives keys of root the group that root had there, because our root keeps its own', () => {
    const groups = [...USUAL, { name: 'vip', channels: ['main'], factor: decimal(0.5) }];
    const users = [{ ...user, role: 'root', group: 'vip' } as const];
    assert.equal([...merged({}, { groups, users, keys: [key] }).inventory.keys][0]!.group, 'vip');
  });

  it('merges other sections member by member, and tells what stays', () => {
    const sections = {
      console: { name: 'Shop', url: 'https://ai.example.com' },
      mail: { smtp: new Secret('SMTP', "smtps://a:it's$b@mail.example.com"), from: 'a ${b}' },
    };
    const merge = merged({ console: { url: 'http://localhost:8080' } }, { sections, channels: [] });
    assert.deepEqual(states(merge), ['section console.name new', 'section console.url differs', 'section mail new']);
    assert.deepEqual(
      merge.additions.map(({ path, value }) => [path.join('.'), value]),
      [
        ['console.name', 'Shop'],
        ['mail', { smtp: '${secret:IMPORTED_SMTP}', from: 'a $${b}' }],
      ],
    );
  });

  it('does not write sections of the file of each gateway into a configuration in the database', () => {
    const merge = merged({}, { channels: [], sections: { listen: { attempts: { max: 3 } } } }, { isStored: true });
    assert.deepEqual(
      [merge.additions, merge.notes.map(({ kind, what }) => `${kind} ${what}`)],
      [[], ['decide listen']],
    );
  });

  it('turns channels off that name variables of the machine, if they may not be named', () => {
    const channel = {
      name: 'env',
      vendor: 'compatible',
      urlFrom: new Variable('BASE', '/v1'),
      key: { variable: 'SECRET_OF_THE_MACHINE' },
    };
    const free = merged({}, { channels: [channel] });
    assert.deepEqual(free.additions[0]?.value, [
      { name: 'env', vendor: 'compatible', url: '${BASE}/v1', key: '${SECRET_OF_THE_MACHINE:-}' },
    ]);
    const refused = merged({}, { channels: [channel] }, { variables: false });
    assert.deepEqual(refused.additions[0]?.value, [
      { name: 'env', vendor: 'compatible', url: 'https://unset.invalid', key: '' },
    ]);
    assert.equal(refused.notes[0]?.kind, 'decide');
  });

  it('leaves fallbacks and aliases of models that do not exist', () => {
    const merge = merged(
      {},
      {
        models: new Map<string, ForeignModel>([
          ['m', { ...modelOf(), fallback: ['gone', 'n'] }],
          ['n', modelOf()],
        ]),
        aliases: new Map([
          ['fast', 'gone'],
          ['slow', 'm'],
        ]),
      },
    );
    const models = merge.additions.find(({ path }) => path[0] === 'models')!.value as JsonObject;
    assert.deepEqual(models.m, { from: ['main'], fallback: ['n'] });
    assert.deepEqual([models.slow, models.fast], [{ alias: 'm' }, undefined]);
  });
});
