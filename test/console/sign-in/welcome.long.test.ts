/** What a new account begins with, whichever way it is made. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PASSWORD, root, type Visitor, verify, visitor } from '../../kit/console/console.ts';
import type { TestGateway } from '../../kit/gateway/gateway.ts';
import { somebodyNew, start } from './oauth-flows.ts';

const WELCOME = 25;

describe('a new account is welcomed with what gateway.yaml says', () => {
  let gateway: TestGateway;
  let boss: Visitor;
  before(async () => {
    gateway = await start({}, { config: { quota: { welcome: WELCOME } } });
    boss = await verify(await root(gateway));
  });
  after(() => gateway.stop());

  const quotaOf = async (who: Visitor): Promise<number> => (await who.data('GET', '/api/user/self')).quota;

  it('where it registers', async () => {
    const ann = visitor(gateway);
    await ann.data('POST', '/api/user/register', { username: 'ann', password: PASSWORD });
    assert.equal(await quotaOf(await ann.signIn('ann', PASSWORD)), WELCOME);
  });

  it('where it signs in with an account elsewhere, the first time and no other', async () => {
    await somebodyNew(gateway, 'bea');
    assert.equal(await quotaOf(await somebodyNew(gateway, 'bea')), WELCOME);
  });

  it('where an administrator makes it, or the command line; an administrator, too', async () => {
    for (const [username, role] of [
      ['cleo', 1],
      ['dora', 10],
    ] as const) {
      const made = await boss.data('POST', '/api/user/', { username, password: PASSWORD, role });
      assert.equal(made.quota, WELCOME, username);
    }
    await gateway.command('user create --name eve --role member --password-stdin', PASSWORD);
    assert.equal(await quotaOf(await visitor(gateway).signIn('eve', PASSWORD)), WELCOME);
  });

  it('but for root, who has no limit and was given nothing', async () => {
    const { unlimited_quota: unlimited, quota } = await boss.data('GET', '/api/user/self');
    assert.deepEqual([unlimited, quota], [true, 0]);
  });
});
