/** A master key that is lost for good: what was sealed with it is given up, and nothing else. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { generateSync } from 'otplib';
import { runCommandLine } from '../../../core/cli/main.ts';
import { recover } from '../../../core/cli/offline.ts';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Audit } from '../../../core/contracts/audit.ts';
import { Invitations } from '../../../core/contracts/invitations.ts';
import { Ledger, MICRO } from '../../../core/contracts/ledger.ts';
import { Payments } from '../../../core/contracts/payments.ts';
import { SecondFactors } from '../../../core/contracts/second-factors.ts';
import { Tickets } from '../../../core/contracts/sessions.ts';
import { silentLog } from '../../../core/runtime/logger.ts';
import { defaultConfig, startGateway, type TestGateway, testStore } from '../../kit/gateway/gateway.ts';

const PIPELINE = [
  ...(defaultConfig([]).pipeline as string[]),
  'audit',
  'second-factors',
  'payments',
  'notices',
  'prompts',
];
const PASSWORD = 'a long enough password';

describe('a lost master key', () => {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-recover-'));
  after(() => rmSync(dir, { recursive: true }));
  let keyFile: string;
  const options = { configFile: join(dir, 'gateway.yaml'), env: {}, log: silentLog };
  const start = (): Promise<TestGateway> =>
    startGateway({ dir, config: { pipeline: PIPELINE, prompts: { keep: '30d' } } });
  const demo = (gateway: TestGateway) =>
    gateway.chat({ model: 'demo', messages: [{ role: 'user', content: 'Hello' }] }, { key });

  let key: string;
  let ann: number;
  let code: string;
  let ticket: string;
  let lost: readonly string[];
  before(async () => {
    keyFile = `${(await testStore(dir)).place}.key`;
    const gateway = await start();
    const { host } = gateway;
    key = gateway.key;
    const accounts = host.use(Accounts);
    const { id } = await accounts.create({ name: 'ann', role: 'member', password: PASSWORD });
    ann = id;
    await gateway.command('user credit ann 500');
    const account = (await accounts.find(ann))!;
    const { secret } = await host.use(SecondFactors).setUp(account);
    const now = generateSync({ secret, epoch: Math.floor(Date.now() / 1_000) });
    await host.use(SecondFactors).enable(account, now, undefined);
    const webhook_secret = host.vault.seal(`account.webhook_secret ${ann}`, 'signed with this');
    await accounts.change(ann, { settings: { webhook_secret, webhook_url: 'https://example.com' } });
    const actor = { accountId: 1, name: 'root', ip: '' };
    [code = ''] = await host
      .use(Payments)
      .codes.create({ name: 'gift', quota: 100n * MICRO, count: 2, expiresMs: undefined }, actor);
    ticket = await host.use(Tickets).issue('password-reset', { accountId: ann, forMs: 3_600_000 });
    await host.use(Invitations).issue({ madeBy: 1, forMs: 3_600_000 });
    assert.equal((await demo(gateway)).status, 200);
    await gateway.stop();
  });

  it('is not given up while it is there', async () => {
    await assert.rejects(recover(options), /nothing is lost/);
    const before = readFileSync(keyFile);
    writeFileSync(keyFile, `${Buffer.alloc(32, 7).toString('base64')}\n`);
    await assert.rejects(recover(options), /is the master key of another database: move it away first/);
    writeFileSync(keyFile, before);
  });

  it('is not given up by a command that does not say so', async () => {
    rmSync(keyFile);
    const said: string[] = [];
    const terminal = { say() {}, complain: (line: string) => void said.push(line), isWatched: false };
    assert.equal(await runCommandLine(['recover', '--config', options.configFile], terminal), 2);
    assert.match(said.join('\n'), /--without-master-key is missing/);
    assert.ok(!existsSync(keyFile));
  });

  it('takes along what was sealed with it, and says what that was', async () => {
    lost = await recover(options);
    assert.deepEqual(lost, [
      '1 versions of the configuration',
      '2 links and codes that were sent and not used yet (sign-in, email, new password), 1 open invitations among them',
      'webhook secrets of 1 accounts: their notifications are not signed until they set a new one',
      '1 authenticators with their backup codes: their accounts have no such second factor any more',
      'the text of 2 unused redemption codes: they cannot be shown again, and can still be redeemed',
      'prompts and answers of 1 calls: they cannot be read any more',
    ]);
    assert.equal(statSync(keyFile).mode & 0o777, 0o600);
  });

  it('takes nothing else: accounts, keys, balances and codes are as they were, and the audit log tells of it', async () => {
    const gateway = await start();
    const { host } = gateway;
    assert.deepEqual(gateway.rows('SELECT * FROM prompt_log'), []);
    assert.equal((await demo(gateway)).status, 200);
    const balance = await host.use(Ledger).balance({ kind: 'account', owner: ann });
    assert.equal(balance?.granted, 500n * MICRO);
    assert.equal((await host.use(Accounts).checkPassword('ann', PASSWORD))?.id, ann);
    const status = await host.use(SecondFactors).status(ann);
    assert.deepEqual([status.totp, status.backupCodes], [false, 0]);
    assert.deepEqual((await host.use(Accounts).person(ann))?.settings, { webhook_url: 'https://example.com' });
    assert.equal(await host.use(Tickets).look('password-reset', ticket), undefined);
    const { items } = await host.use(Invitations).list({ offset: 0, limit: 9 });
    assert.deepEqual(
      items.map(({ revokedMs }) => revokedMs !== undefined),
      [true],
    );
    const payments = host.use(Payments);
    const actor = { accountId: ann, name: 'ann', ip: '' };
    const person = (await host.use(Accounts).find(ann))!;
    assert.equal(await payments.codes.redeem(person, code, actor), 100n * MICRO);
    const [entry] = await host.use(Audit).page({ limit: 1, action: 'master-key.replace' });
    assert.deepEqual([entry?.actor.name, entry?.facts], ['command line', { lost }]);
    assert.match(await gateway.command('audit verify'), /entries, head/);
    // A secret of the new key is sealed and opened as ever.
    assert.ok((await host.use(SecondFactors).setUp(person)).secret);
    await gateway.stop();
    await assert.rejects(recover(options), /nothing is lost/);
  });
});
