/** Groups of channels: the arithmetic of their factors, and what the plugin is without its section. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { partOf, productOfFactors } from '../../../core/contracts/prices.ts';
import { decimal, decimalText } from '../../../core/sdk.ts';
import { readGroups } from '../../../plugins/groups/section.ts';
import { defaultConfig, startGateway } from '../../kit/gateway/gateway.ts';

describe('the factor of a group times that of a department', () => {
  const any = fc.record({ digits: fc.bigInt(0n, 10n ** 18n), scale: fc.integer({ min: 15, max: 30 }) });

  it('is the exact product up to 15 digits, rounded up once, and the same when it was a number of a usage record', () => {
    fc.assert(
      fc.property(any, any, (group, department) => {
        const product = productOfFactors([group, department]) ?? decimal(1);
        const exact = { digits: group.digits * department.digits, scale: group.scale + department.scale };
        const above = product.digits * 10n ** BigInt(exact.scale - product.scale) - exact.digits;
        assert.ok(above >= 0n && above * 10n ** 14n <= exact.digits, decimalText(product));
        const noted = decimal(Number(decimalText(product)));
        assert.equal(decimalText(noted), decimalText(product));
      }),
    );
  });

  it('is no factor if it is 1, and nothing if it is 0', () => {
    const product = (...factors: readonly (number | undefined)[]) => {
      const found = productOfFactors(factors.map((each) => (each === undefined ? undefined : decimal(each))));
      return found && decimalText(found);
    };
    assert.deepEqual(
      [product(), product(1, undefined), product(0.5, 2), product(1, 0)],
      [undefined, undefined, undefined, '0'],
    );
    assert.deepEqual([product(1, 0.0000001), product(1, 1.1)], ['0.0000001', '1.1']);
  });

  it('costs a third of a price to the unit, however large the call is', () => {
    const price = 3_000_000_000n * 1_000_000n;
    const third = productOfFactors([decimal(1 / 3)]);
    assert.equal(partOf(price, third), 1_000_000_000_000_002n);
    assert.equal(partOf(price, productOfFactors([decimal(0.3333333)])), 999_999_900_000_000n);
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
