/** The audit log after all kinds of things were done with secrets: it tells of them, and holds none. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV, root, type Visitor, verify, visitor } from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';

describe('the audit log', () => {
  let gateway: TestGateway;
  let boss: Visitor;
  before(async () => {
    gateway = await startGateway({ config: { pipeline: CONSOLE_PIPELINE, console: PATIENT }, env: ROOT_ENV });
    boss = await verify(await root(gateway));
  });
  after(() => gateway.stop());

  it('holds no secret, whatever is done with secrets [T-SEC-01]', async () => {
    const secrets = [ROOT_ENV.TURNPIKE_ROOT_PASSWORD];
    await visitor(gateway).signIn('root', ROOT_ENV.TURNPIKE_ROOT_PASSWORD);
    const canary = (word: string): string => {
      const secret = `canary-${word}-3fa9c1d7`;
      secrets.push(secret);
      return secret;
    };
    const username = 'carol';
    const made = await boss.data('POST', '/api/user/', { username, password: canary('first') });
    await boss.data('PUT', '/api/user/', { id: made.id, password: canary('second') });
    const carol = await visitor(gateway).signIn(username, 'canary-second-3fa9c1d7');
    const wrong = await visitor(gateway).post('/api/user/login', { username, password: canary('wrong') });
    assert.equal(wrong.status, 401);
    // A password in the wrong place of the form.
    await visitor(gateway).post('/api/user/login', { username: 'nobody', password: canary('nobody') });
    const self = await carol.put('/api/user/self', {
      password: canary('third'),
      original_password: 'canary-second-3fa9c1d7',
    });
    assert.equal(self.status, 200, self.text);
    const setup = await carol.data('POST', '/api/user/2fa/setup');
    secrets.push(setup.secret, ...setup.backup_codes);
    await carol.post('/api/user/2fa/enable', { code: '000000' });
    secrets.push((await carol.data('POST', '/api/token/', { name: 'k', unlimited_quota: true })).key);
    secrets.push((await carol.data('GET', '/api/token/default')).key);
    secrets.push(await carol.data('GET', '/api/user/token'));
    secrets.push(...carol.cookies.values(), ...boss.cookies.values(), gateway.key);
    await boss.data('DELETE', `/api/user/${made.id}`);

    const log = JSON.stringify(gateway.rows('SELECT * FROM audit'));
    assert.match(log, /user\.password/);
    assert.match(log, /user\.delete/);
    for (const secret of secrets) {
      assert.ok(typeof secret === 'string' && secret.length >= 8, 'a secret to look for');
      const forms = [secret, Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')];
      for (const form of forms) assert.ok(!log.includes(form), `the audit log tells ${secret}`);
    }
    assert.match(await gateway.command('audit verify'), /^\d+ entries, head \d+:[0-9a-f]{64}$/);
    const books = await gateway.command('reconcile');
    assert.match(books, /ok {6}audit-chain-is-whole/);
  });
});
