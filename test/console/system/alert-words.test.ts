/** Alerts in Chinese: each kind that the gateway tells has words, with everything that it knows. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inChinese, usedOf } from '../../../console/src/pages/alerts/words.ts';
import type { AlertFacts } from '../../../core/contracts/alerts.ts';

const format = {
  money: (units: number) => `$${units / 500_000}`,
  percent: (share: number) => `${share * 100}%`,
  moment: (seconds: number) => `<${seconds}>`,
};
const wordsOf = (facts: AlertFacts, over = false) => inChinese({ ...facts }, format, over);

/** One of each kind; the compiler says which are missing. */
const KINDS: Readonly<Record<NonNullable<AlertFacts['about']>, AlertFacts>> = {
  budget: {
    scope: 'key',
    name: 'ci',
    user: 'ann',
    period: 'day',
    model: 'gpt-*',
    used: '90',
    limit: '100',
    percent: 90,
  },
  credential: { name: 'main', status: 401 },
  circuit: { name: 'main', minutes: 7, failure: 'timeout', status: 504 },
  price: { name: 'gpt-5', drift: 'input: 2, published 3', list: 'list 1' },
  disk: { free: 2 ** 31, disk: 2 ** 35 },
  'backup-failed': { to: '/backups', reason: 'no room', proven_at: 5 },
  'backup-overdue': { to: '/backups' },
};

describe('alerts in Chinese', () => {
  for (const [about, facts] of Object.entries(KINDS) as [keyof typeof KINDS, AlertFacts][]) {
    it(`say what they know: ${about}`, () => {
      const words = wordsOf({ about, ...facts });
      const text = `${words?.title} ${words?.text}`;
      assert.match(text, /\p{Script=Han}/u);
      assert.doesNotMatch(text, /undefined|NaN/);
      for (const name of ['name', 'user', 'model', 'status', 'minutes', 'drift', 'list', 'to', 'reason'] as const) {
        if (facts[name] !== undefined) assert.ok(text.includes(`${facts[name]}`), `${name} is not in: ${text}`);
      }
    });
  }

  it('show amounts of budgets as money, as in English', () => {
    const facts = { about: 'budget', used: '450000', limit: '500000', percent: 90 } as const;
    assert.equal(wordsOf(facts)?.text, '已用 $0.9，共 $1。');
    assert.equal(usedOf({ ...facts }, format, false), '$0.9 of $1 is used.');
    assert.deepEqual(
      [usedOf({ ...facts }, format, true), usedOf({ about: 'disk' }, format, false)],
      [undefined, undefined],
    );
  });

  it('say that a condition has ended', () => {
    assert.equal(wordsOf({ about: 'disk' }, true)?.title, '已解除：磁盘空间即将用完');
  });

  it('name whose budget it is', () => {
    const titleOf = (facts: AlertFacts) => wordsOf({ about: 'budget', percent: 50, ...facts })?.title;
    assert.equal(titleOf({ scope: 'key', name: 'ci', user: 'ann' }), 'ann 的密钥“ci”的额度：已用 50%');
    assert.equal(
      titleOf({ scope: 'plan', name: 'pro', user: 'ann', period: 'week' }),
      'ann 的套餐“pro”的每周限额：已用 50%',
    );
    assert.equal(titleOf({ scope: 'department', name: 'R&D' }), '部门“R&D”的总预算：已用 50%');
    assert.equal(titleOf({ scope: 'gateway', period: 'month' }), '网关的每月费用：已用 50%');
  });

  it('of older releases have none, and the gateway’s own are shown', () => {
    assert.equal(wordsOf({}), undefined);
  });
});
