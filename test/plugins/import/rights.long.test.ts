/** No key of one-api, new-api or one-hub can do more after an import than before: models, channels, addresses, states, and the factor of its group. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAddressList, decimal, decimalText } from '../../../core/sdk.ts';
import type { ForeignKey, Inventory } from '../../../plugins/import/inventory.ts';
import { inventoryOf, option, type TableRow } from './tables.ts';

const HOUR = Math.floor(Date.now() / 1_000) + 3_600;
const user = (row: TableRow): TableRow => ({
  id: 1,
  username: 'ann',
  role: 1,
  status: 1,
  quota: 5,
  group: 'default',
  ...row,
});
const token = (row: TableRow): TableRow => ({
  ...{
    id: 1,
    user_id: 1,
    key: 'k'.repeat(48),
    status: 1,
    name: 'key',
    expired_time: -1,
    unlimited_quota: 1,
    remain_quota: 0,
  },
  ...row,
});
const CHANNELS: readonly TableRow[] = [
  { id: 1, type: 1, status: 1, name: 'all', key: 'a', models: 'm,n', group: 'default,vip' },
  { id: 2, type: 1, status: 1, name: 'vip only', key: 'b', models: 'm,secret', group: 'vip', priority: 20 },
  { id: 3, type: 33, status: 1, name: 'bedrock', key: 'c', models: 'claude', group: 'aws' },
];
const OPTIONS = [
  option('SelfUseModeEnabled', 'true'),
  option('GroupRatio', { default: 1, vip: 0.8, svip: 0.5, odd: 1.2345678, 'a b': 2 }),
];
const read = (
  program: 'one-api' | 'new-api',
  tokens: readonly TableRow[],
  options: readonly TableRow[] = [],
  users: readonly TableRow[] = [{}],
): Promise<Inventory> =>
  inventoryOf(program, {
    users: users.map(user),
    tokens: tokens.map(token),
    channels: CHANNELS,
    options: [...OPTIONS, ...options],
  });
const only = ({ keys }: Inventory): ForeignKey => {
  assert.equal(keys.length, 1);
  return [...keys][0]!;
};
const reasons = ({ notes }: Inventory): string =>
  notes
    .filter(({ where }) => where === 'tokens')
    .map(({ why }) => why)
    .join('; ');

describe('groups', () => {
  it('have their channels and their exact factor', async () => {
    const { groups } = await read('one-api', []);
    assert.deepEqual(
      groups.map(({ name, channels, factor }) => [name, channels, factor && decimalText(factor)]),
      [
        ['default', ['all'], '1'],
        ['vip', ['all', 'vip-only'], '0.8'],
        ['svip', [], '0.5'],
        ['odd', [], '1.2345678'],
        ['a-b', [], '2'],
        ['aws', [], undefined],
      ],
    );
  });

  it('have other factors for accounts of a group, and are open to those who may choose them', async () => {
    const { groups } = await read(
      'new-api',
      [],
      [
        option('GroupGroupRatio', { vip: { default: 0.9 } }),
        option('UserUsableGroups', { default: '', vip: '' }),
        option('group_ratio_setting.group_special_usable_group', { svip: { '-:vip': '', '+:odd': '' } }),
      ],
    );
    const byName = new Map(groups.map((group) => [group.name, group]));
    assert.deepEqual([...byName.get('default')!.factors!], [['vip', decimal(0.9)]]);
    assert.deepEqual(byName.get('vip')!.for, ['a-b', 'default', 'odd', 'vip']);
    assert.deepEqual(byName.get('odd')!.for, ['odd', 'svip']);
  });

  it('`auto` stands for those of its groups that are open to the user', async () => {
    const options = [option('AutoGroups', ['default', 'vip']), option('UserUsableGroups', { default: '' })];
    const { groups, keys } = await read(
      'new-api',
      [{ group: 'auto' }, { id: 2, key: 'l'.repeat(48), user_id: 2, group: 'auto' }],
      options,
      [{}, { id: 2, username: 'bob', group: 'vip' }],
    );
    assert.deepEqual(
      [...keys].map(({ group }) => group),
      ['auto-default', 'auto'],
    );
    assert.deepEqual(
      groups.filter(({ of }) => of).map(({ name, of }) => [name, of]),
      [
        ['auto-default', ['default']],
        ['auto', ['default', 'vip']],
      ],
    );
  });

  it('that its user cannot use, or that have no ratio, disable a key', async () => {
    for (const [group, reason] of [
      ['svip', /its user cannot use the group svip/],
      ['gone', /its user cannot use the group gone/],
    ] as const) {
      const inventory = await read('new-api', [{ group }]);
      assert.equal(only(inventory).enabled, false, group);
      assert.match(reasons(inventory), reason);
    }
    const usable = option('UserUsableGroups', { default: '', gone: '' });
    const inventory = await read('new-api', [{ group: 'gone' }], [usable]);
    assert.equal(only(inventory).enabled, false);
    assert.match(reasons(inventory), /the group gone has no ratio/);
    assert.deepEqual(
      [only(await read('new-api', [{ group: 'vip' }])).group, only(await read('new-api', [{}])).group],
      ['vip', undefined],
    );
  });

  it('of a user that have neither a ratio nor a channel disable his keys', async () => {
    const inventory = await read('new-api', [{}], [], [{ group: 'gone-group' }]);
    assert.equal(only(inventory).enabled, false);
    assert.match(reasons(inventory), /the group gone-group of its user has neither/);
  });

  it('whose users were refused there, too, are no decision', async () => {
    const { notes } = await read(
      'new-api',
      [],
      [],
      [{ group: 'gone-group' }, { id: 2, username: 'bob', group: 'aws' }],
    );
    const ofUsers = notes.filter(({ what }) => what.startsWith('users of the group'));
    assert.deepEqual(
      ofUsers.map(({ what, kind }) => [what, kind]),
      [
        ['users of the group gone-group', 'left'],
        ['users of the group aws', 'decide'],
      ],
    );
  });
});

describe('the state of a key', () => {
  it('that is refused there stays refused, and is told unless another column says it', async () => {
    const past = HOUR - 7_200;
    const cases: readonly (readonly [TableRow, enabled: boolean, RegExp | undefined])[] = [
      [{}, true, undefined],
      [{ status: 2 }, false, undefined],
      [{ status: 3, expired_time: past }, true, undefined],
      [{ status: 3, expired_time: -1 }, false, /its state is expired, and its expiry says otherwise/],
      [{ status: 3, expired_time: HOUR }, false, /its state is expired/],
      [{ status: 4, unlimited_quota: 0, remain_quota: 0 }, true, undefined],
      [{ status: 4, unlimited_quota: 1 }, false, /its state is exhausted/],
      [{ status: 4, unlimited_quota: 0, remain_quota: 9 }, false, /its state is exhausted/],
      [{ status: 0 }, false, /its state 0 is not known/],
      [{ expired_time: 0 }, false, /it expired \(expired_time 0\)/],
    ];
    for (const [row, enabled, reason] of cases) {
      const inventory = await read('new-api', [row]);
      assert.equal(only(inventory).enabled, enabled, JSON.stringify(row));
      if (reason === undefined) assert.equal(reasons(inventory), '', JSON.stringify(row));
      else assert.match(reasons(inventory), reason);
    }
  });
});

describe('the lists of a key', () => {
  it('that are on and empty disable it', async () => {
    const inventory = await read('new-api', [{ model_limits_enabled: 1, model_limits: '' }]);
    assert.equal(only(inventory).enabled, false);
    assert.match(reasons(inventory), /it is limited to models, and its list has none/);
    assert.deepEqual(
      inventory.notes.filter(({ kind, where }) => kind === 'decide' && where === 'tokens'),
      [],
      'its calls are refused there, too',
    );
    assert.equal(only(await read('new-api', [{ model_limits_enabled: 0, model_limits: 'm' }])).models, undefined);
  });

  it('name models of its group only, and nothing that is a pattern here and none there', async () => {
    const inventory = await read('new-api', [
      { model_limits_enabled: 1, model_limits: 'm,secret,later, n,*,gpt-4-gizmo-*' },
    ]);
    assert.deepEqual(only(inventory).models, ['m', 'later', 'gpt-4-gizmo-*']);
    assert.match(reasons(inventory), /match nothing there are left out: {2}n, \*/);
  });

  it('have the addresses that the program understands; if none is left, it is disabled', async () => {
    const late = { cross_group_retry: 0 };
    const cases: readonly (readonly ['one-api' | 'new-api', TableRow, readonly string[] | undefined, boolean])[] = [
      ['new-api', { ...late, allow_ips: '10.0.0.0/8\n1.2.3.4\nlocalhost\n10.0.0.*' }, ['10.0.0.0/8', '1.2.3.4'], true],
      ['new-api', { ...late, allow_ips: '10.1.2.3/8' }, ['10.0.0.0/8'], true],
      ['new-api', { ...late, allow_ips: 'localhost' }, undefined, false],
      ['new-api', { ...late, allow_ips: '1.2.3.4, 5.6.7.8' }, undefined, false],
      ['new-api', { ...late, allow_ips: ' \n' }, undefined, true],
      // Until it has networks, one matches no address.
      ['new-api', { allow_ips: '10.0.0.0/8\n1.2.3.4' }, ['1.2.3.4'], true],
      ['one-api', { subnet: '10.0.0.0/8,1.2.3.4' }, ['10.0.0.0/8'], true],
      ['one-api', { subnet: '1.2.3.4' }, undefined, false],
    ];
    for (const [program, row, addresses, enabled] of cases) {
      const inventory = await read(program, [row]);
      assert.deepEqual([only(inventory).addresses, only(inventory).enabled], [addresses, enabled], JSON.stringify(row));
    }
  });
});

describe('keys of one-hub', () => {
  const hub = (setting: unknown, row: TableRow = {}): Promise<Inventory> =>
    inventoryOf('one-hub', {
      users: [user({})],
      tokens: [token({ setting: JSON.stringify(setting), ...row })],
      channels: CHANNELS,
      user_groups: [
        { id: 1, symbol: 'default', ratio: 1, public: 1, enable: 1 },
        { id: 2, symbol: 'vip', ratio: 0.5, public: 0, enable: 1 },
        { id: 3, symbol: 'off', ratio: 1, public: 1, enable: 0 },
      ],
    });
  const limits = (models: unknown, addresses: unknown): unknown => ({
    limits: { limit_model_setting: models, limits_ip_setting: addresses },
  });

  it('have their limits', async () => {
    const on = await hub(limits({ enabled: true, models: ['m'] }, { enabled: true, whitelist: ['10.0.0.0/8', 'x'] }));
    assert.deepEqual([only(on).models, only(on).addresses], [['m'], ['10.0.0.0/8']]);
    const off = await hub(limits({ enabled: false, models: ['m'] }, { enabled: false, whitelist: ['10.0.0.1'] }));
    assert.deepEqual([only(off).models, only(off).addresses, only(off).enabled], [undefined, undefined, true]);
    const none = await hub(limits({ enabled: true, models: [] }, { enabled: true, whitelist: [] }));
    assert.equal(only(none).enabled, false);
  });

  it('have their group, and their second one for models that this does not serve', async () => {
    const inventory = await hub({}, { group: 'vip', backup_group: 'default' });
    assert.equal(only(inventory).group, 'vip-or-default');
    assert.deepEqual(
      inventory.groups.map(({ name, channels, of, factor, for: users }) => [
        name,
        channels ?? of,
        factor && decimalText(factor),
        users,
      ]),
      [
        ['default', ['all'], '1', ['default', 'vip']],
        ['vip', ['all', 'vip-only'], '0.5', []],
        ['vip-or-default', ['vip', 'default'], undefined, []],
      ],
    );
    assert.equal(only(await hub({}, { group: 'off' })).enabled, false);
  });

  it('have the group of their user at the ratio of an option before groups were a table', async () => {
    const inventory = await inventoryOf('one-hub', {
      users: [user({ group: 'vip' })],
      tokens: [token({})],
      channels: CHANNELS,
      options: [option('GroupRatio', { default: 1, vip: 0.5 })],
    });
    assert.deepEqual([only(inventory).enabled, inventory.users[0]!.group], [true, 'vip']);
    const vip = inventory.groups.find(({ name }) => name === 'vip');
    assert.deepEqual(
      [vip?.channels, vip?.factor && decimalText(vip.factor), vip?.for],
      [['all', 'vip-only'], '0.5', []],
    );
  });
});

describe('random keys of new-api', () => {
  it('reach no more than there', async () => {
    let seed = 26;
    /** The generator of Park and Miller: the same keys in each run. */
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const pick = <T>(...of: readonly T[]): T => of[random(of.length)]!;
    const tokens = Array.from({ length: 400 }, (_, i) => ({
      ...{ id: i + 1, user_id: pick(1, 2, 3), key: String(i).padStart(48, 'k'), name: `k${i}`, cross_group_retry: 0 },
      ...{ status: pick(1, 1, 1, 2, 3, 4, 0), expired_time: pick(-1, -1, HOUR, HOUR - 7_200, 0) },
      ...{ unlimited_quota: pick(0, 1), remain_quota: pick(-5, 0, 7) },
      ...{ group: pick('', '', 'vip', 'svip', 'auto', 'gone', 'default') },
      ...{ model_limits_enabled: pick(0, 1), model_limits: pick('', 'm', 'm,secret', 'secret', ' m', '*', 'n,*') },
      ...{ allow_ips: pick('', '', '10.0.0.0/8', 'localhost', '10.0.0.1, 10.0.0.2', '10.0.0.1\n10.0.0.2') },
    }));
    const users = [{}, { id: 2, username: 'bob', group: 'vip' }, { id: 3, username: 'eve', group: 'gone-group' }];
    const options = [
      option('UserUsableGroups', { default: '', gone: '' }),
      option('AutoGroups', ['default', 'vip']),
      option('group_ratio_setting.group_special_usable_group', { vip: { '+:svip': '' } }),
    ];
    const { keys, groups, models } = await read('new-api', tokens, options, users);
    const groupOfUser = new Map([
      ['1', 'default'],
      ['2', 'vip'],
      ['3', 'gone-group'],
    ]);
    const usable: Readonly<Record<string, readonly string[]>> = {
      default: ['default', 'gone'],
      vip: ['default', 'gone', 'vip', 'svip'],
      'gone-group': ['default', 'gone', 'gone-group'],
    };
    const served: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
      default: { all: ['m', 'n'] },
      vip: { all: ['m', 'n'], 'vip-only': ['m', 'secret'] },
    };
    /** What the program serves: the groups to look into, in order. */
    const groupsThere = ({ group, user_id }: (typeof tokens)[number]): readonly string[] => {
      const own = groupOfUser.get(String(user_id))!;
      if (group === '') return [own];
      if (group === 'auto') return ['default', 'vip'].filter((name) => usable[own]!.includes(name));
      return usable[own]!.includes(group) && ['default', 'vip', 'svip'].includes(group) ? [group] : [];
    };
    let usableKeys = 0;
    for (const [i, key] of [...keys].entries()) {
      const row = tokens[i]!;
      const isOver = row.expired_time !== -1 && row.expired_time < HOUR;
      const isOn = row.status === 1 && !isOver && (row.unlimited_quota === 1 || row.remain_quota > 0);
      const isOnHere =
        key.enabled &&
        (key.expiresMs === undefined || key.expiresMs > Date.now()) &&
        (key.allowance === undefined || key.allowance > 0n);
      assert.ok(isOn || !isOnHere, `state ${JSON.stringify(row)}`);
      if (!isOnHere) continue;
      const name = key.group ?? groupOfUser.get(key.user)!;
      const entry = groups.find((group) => group.name === name);
      const members = (entry?.of ?? (entry ? [name] : [])).map((each) => groups.find((group) => group.name === each)!);
      const list = row.model_limits_enabled === 1 ? row.model_limits.split(',') : undefined;
      for (const model of ['m', 'n', 'secret', 'later']) {
        const here = members.find(({ channels = [] }) =>
          (models.get(model)?.from ?? []).some(({ channel }) => channels.includes(channel)),
        );
        const isListedHere = key.models === undefined || key.models.some((each) => each === model || each === '*');
        if (here === undefined || !isListedHere) continue;
        usableKeys++;
        const there = groupsThere(row).find((group) =>
          Object.values(served[group] ?? {}).some((each) => each.includes(model)),
        );
        assert.ok(list === undefined || list.includes(model), `models ${JSON.stringify(row)} ${model}`);
        assert.equal(here.name, there, `group ${JSON.stringify(row)} ${model}`);
        for (const { channel } of models.get(model)!.from.filter((each) => here.channels!.includes(each.channel))) {
          assert.ok(served[there!]![channel]?.includes(model), `channel ${JSON.stringify(row)} ${model}`);
        }
      }
      const entries = row.allow_ips
        .replaceAll(/[ ,]/g, '')
        .split('\n')
        .filter((each) => each !== '');
      const isAllowed = key.addresses === undefined ? () => true : createAddressList(key.addresses);
      for (const ip of ['10.0.0.1', '10.0.0.2', '10.9.9.9', '192.0.2.1']) {
        const there =
          entries.length === 0 || entries.includes(ip) || (entries.includes('10.0.0.0/8') && ip.startsWith('10.'));
        assert.ok(there || !isAllowed(ip), `addresses ${JSON.stringify(row)} ${ip}`);
      }
    }
    assert.ok(usableKeys > 30, String(usableKeys));
  });
});
