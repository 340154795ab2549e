/** Groups of channels: the arithmetic of their factors, and what the plugin is without its section. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decimal } from '../../core/sdk.ts';
import { readGroups } from '../../plugins/groups/section.ts';
import { factorPpmOf } from '../../plugins/quota/terms.ts';
import { defaultConfig, startGateway } from '../kit/gateway.ts';

describe('the factor of a group times that of a department', () => {
  it('is the exact product, rounded up to a millionth once', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 12n), fc.nat(12), fc.nat(10_000_000), (digits, scale, departmentPpm) => {
        const unit = 10n ** BigInt(scale);
        const ppm = factorPpmOf(departmentPpm, { digits, scale }) ?? 1_000_000n;
        const above = ppm * unit - digits * BigInt(departmentPpm);
        assert.ok(above >= 0n && above < unit);
      }),
    );
  });

  it('is no factor if it is 1, and nothing if it is 0', () => {
    assert.equal(factorPpmOf(1_000_000, undefined), undefined);
    assert.equal(factorPpmOf(500_000, decimal(2)), undefined);
    assert.equal(factorPpmOf(1_000_000, decimal(0)), 0n);
    assert.equal(factorPpmOf(1_000_000, decimal(0.0000001)), 1n);
    assert.equal(factorPpmOf(1_000_000, decimal(1.1)), 1_100_000n);
  });
});

describe('a section of groups', () => {
  const read = (section: Parameters<typeof readGroups>[0]) => {
    const told: string[] = [];
    const tell = (path: readonly (string | number)[], message: string) =>
      void told.push(`${path.join('.')}: ${message}`);
    return { groups: readGroups(section, { problem: tell, warn: tell }), told };
  };

  it('stands for the groups at the end of `of`, each once, in order', () => {
    const { groups, told } = read({
      default: {},
      a: { channels: ['x'] },
      b: { of: ['a', 'default'] },
      c: { of: ['b', 'a'] },
    });
    assert.deepEqual(told, []);
    assert.deepEqual(groups.get('c')?.members, ['a', 'default']);
  });

  it('reports each member of a cycle, and still has an end', () => {
    const { groups, told } = read({ default: {}, a: { of: ['b'] }, b: { of: ['c', 'default'] }, c: { of: ['a'] } });
    assert.deepEqual(
      told.map((line) => line.split(':')[0]),
      ['groups.a.of', 'groups.b.of', 'groups.c.of'],
    );
    assert.deepEqual(groups.get('a')?.members, ['default']);
  });

  it('warns if there is no `default`, and has factors for accounts of a group', () => {
    const { groups, told } = read({ vip: { factor: 0.8, factors: { one: 1, none: 0 } } });
    assert.match(told.join(), /there is no group `default`/);
    const factor = (account: string) => groups.get('vip')?.factorFor(account);
    assert.deepEqual(factor('anyone'), decimal(0.8));
    assert.deepEqual([factor('one'), factor('none')], [undefined, decimal(0)]);
  });
});

describe('without the section', () => {
  it('the plugin takes no part in calls, and a group that is set does not restrict', async () => {
    const { pipeline } = defaultConfig([]) as { pipeline: readonly string[] };
    const gateway = await startGateway({ config: { pipeline: [...pipeline, 'groups'] } });
    try {
      await gateway.host.store.run('UPDATE api_key SET group_name = ?', 'gone');
      const key = await gateway.customer(0);
      await gateway.host.store.run('UPDATE api_key SET group_name = ?', 'gone');
      assert.equal((await gateway.chat({ model: 'demo' }, { key })).status, 200);
      const { code, stderr } = await gateway.tryCommand('key create --name k --group vip');
      assert.deepEqual([code, stderr.trim()], [1, 'There is no group "vip".']);
    } finally {
      await gateway.stop();
    }
  });
});
