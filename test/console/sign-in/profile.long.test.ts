/** One's own account: what it shows, what of it can be changed by whom, and how it ends. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Audit } from '../../../core/contracts/audit.ts';
import { Ledger, MICRO } from '../../../core/contracts/ledger.ts';
import { createGuesses } from '../../../plugins/console/access/sign-in-attempts.ts';
import { shownPerson } from '../../../plugins/console/records/people/person.ts';
import { member, PASSWORD, PATIENT, ROOT_ENV, root, signedIn, verdictOf, visitor } from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { authenticator } from '../../kit/stand-ins/authenticator.ts';
import { addPasskey, enableTotp, FACTORS_PIPELINE, verifyByPasskey } from '../../kit/stand-ins/factors.ts';

describe('the own account', () => {
  let gateway: TestGateway;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    gateway = await startGateway({
      config: { pipeline: FACTORS_PIPELINE, console: PATIENT },
      env: ROOT_ENV,
      clock,
    });
  });
  after(() => gateway.stop());

  const enter = (name: string, more = {}) => signedIn(gateway, name, more);
  const rowOf = (id: number) =>
    gateway.host.store.one<Record<string, unknown>>('SELECT * FROM account WHERE id = ?', id);
  const settingOf = async (who: { data(method: 'GET', path: string): Promise<{ setting: string }> }) =>
    JSON.parse((await who.data('GET', '/api/user/self')).setting);

  it('is shown with what is left, as tools read it, and with nothing that is a secret', async () => {
    const ann = await enter('ann', { email: 'ann@example.com', displayName: 'Ann' });
    await gateway.host.use(Accounts).change(ann.id, { group: 'vip', remark: 'pays late' });
    const layer = { kind: 'account', owner: ann.id } as const;
    await gateway.host.use(Ledger).credit(layer, 1_234_567n * MICRO + 999_999n, 'r', 'test');
    const { body, text } = await ann.get('/api/user/self', { 'New-Api-User': '1' });
    assert.deepEqual(body, {
      success: true,
      message: '',
      data: {
        id: ann.id,
        username: 'ann',
        display_name: 'Ann',
        role: 1,
        status: 1,
        email: 'ann@example.com',
        github_id: '',
        oidc_id: '',
        discord_id: '',
        wechat_id: '',
        telegram_id: '',
        linux_do_id: '',
        bindings: {},
        has_password: false,
        group: 'vip',
        quota: 1_234_567,
        used_quota: 0,
        held_quota: 0,
        debt: 0,
        unlimited_quota: false,
        request_count: 0,
        aff_code: '',
        aff_count: 0,
        aff_quota: 0,
        aff_history_quota: 0,
        inviter_id: 0,
        setting: '{"webhook_secret":"","webhook_secret_set":false}',
        stripe_customer: '',
        sidebar_modules: '',
        permissions: { sidebar_settings: true, sidebar_modules: { admin: false }, admin_permissions: {} },
      },
    });
    assert.ok(!text.includes('pays late'), 'what administrators noted is shown');
    const { unlimited_quota, role, has_password } = await (await root(gateway)).data('GET', '/api/user/self');
    assert.deepEqual([unlimited_quota, role, has_password], [true, 100, true]);
  });

  it('is shown with what it is called elsewhere, and with what it owes', async () => {
    const { id } = await enter('ann-l');
    const person = (await gateway.host.use(Accounts).person(id))!;
    const balance = { granted: 5n * MICRO, used: 5n * MICRO, held: 0n, unlimited: false, debt: 3n * MICRO + 1n };
    const bindings = [
      { provider: 'github', subject: '583231' },
      { provider: 'company', subject: 'a-b-c' },
    ];
    const shown = shownPerson(person, { balance, bindings, calls: 7 });
    assert.deepEqual([shown.quota, shown.used_quota, shown.request_count], [-4, 5, 7]);
    assert.deepEqual([shown.github_id, shown.oidc_id], ['583231', '']);
    assert.deepEqual(shown.bindings, { github: '583231', company: 'a-b-c' });
  });

  it('is changed where something is said, and nowhere else', async () => {
    const ann = await enter('ann-b');
    assert.equal(await ann.data('PUT', '/api/user/self', { display_name: 'Ann B.' }), null);
    assert.equal(await ann.data('PUT', '/api/user/self', { language: 'en' }), null);
    assert.equal(await ann.data('PUT', '/api/user/self', { sidebar_modules: '{"a":1}' }), null);
    assert.equal(await ann.data('PUT', '/api/user/self', { username: 'ann-c', password: '' }), null);
    assert.equal(await ann.data('PUT', '/api/user/self', {}), null);
    const { username, display_name, sidebar_modules } = await ann.data('GET', '/api/user/self');
    assert.deepEqual([username, display_name, sidebar_modules], ['ann-c', 'Ann B.', '{"a":1}']);
    assert.equal((await settingOf(ann)).language, 'en');
    const [entry] = await gateway.host.use(Audit).page({ limit: 1, action: 'user.change' });
    assert.deepEqual([entry?.object, entry?.facts], [`user ${ann.id}`, { name: { from: 'ann-b', to: 'ann-c' } }]);
  });

  it('has a name that nobody else has, and that can be seen', async () => {
    const ann = await enter('ann-d');
    assert.equal(verdictOf(await ann.put('/api/user/self', { username: 'ROOT' })), '409 name_taken username');
    assert.equal(verdictOf(await ann.put('/api/user/self', { username: 'a\u202eb' })), '400 invalid_name username');
    for (const display_name of ['', 'x'.repeat(65), 7, null]) {
      assert.equal((await ann.put('/api/user/self', { display_name })).status, 400, `${display_name}`);
    }
  });

  it('is not made more of by its owner, whatever columns there are [T-AUTHZ-01]', async () => {
    const ann = await enter('ann-e');
    const before = await rowOf(ann.id);
    const columns = Object.keys(before ?? {});
    assert.ok(columns.includes('role') && columns.includes('deleted_ms'), `${columns}`);
    const wishes = [
      ...columns.filter((name) => name !== 'display_name'),
      'prices',
      'quota',
      'used_quota',
      'group',
      'status',
      'is_admin',
      'department_id',
      'email',
      '__proto__',
      'constructor',
    ];
    for (const path of ['/api/user/self', '/api/user/setting']) {
      for (const wish of wishes) {
        for (const value of ['100', '"root"', '{"role":"root"}']) {
          const { status } = await ann.put(path, `{"${wish}":${value}}`);
          assert.equal(status, 400, `${path} ${wish} ${value}`);
        }
      }
    }
    assert.deepEqual(await rowOf(ann.id), before);
    assert.equal((await ann.data('GET', '/api/user/self')).quota, 0);
  });

  it('gets a new password for the one that was, by who is signed in; other sessions end', async () => {
    const ann = await member(gateway, 'ann-f');
    const put = (body: object) => ann.put('/api/user/self', body);
    const next = { password: 'thirteen eggs' };
    assert.equal(verdictOf(await put(next)), '403 wrong_password original_password');
    assert.equal(
      verdictOf(await put({ ...next, original_password: 'wrong one' })),
      '403 wrong_password original_password',
    );
    assert.equal(
      verdictOf(await put({ password: 'password1', original_password: PASSWORD })),
      '400 common_password password',
    );
    const token = await ann.data('GET', '/api/user/token');
    const robot = visitor(gateway, { authorization: token });
    assert.equal(
      verdictOf(await robot.put('/api/user/self', { ...next, original_password: PASSWORD })),
      '401 session_wanted',
    );
    const elsewhere = await enter('ann-f');
    assert.equal((await put({ ...next, original_password: PASSWORD })).status, 200);
    assert.equal((await elsewhere.get('/api/user/self')).status, 401);
    await visitor(gateway).signIn('ann-f', 'thirteen eggs');
    const [entry] = await gateway.host.use(Audit).page({ limit: 1, action: 'user.password' });
    assert.equal(entry?.actor.name, 'ann-f');
  });

  it('lets nobody guess the password that was: ten an hour', async () => {
    const ann = await member(gateway, 'ann-g');
    const guesses = createGuesses(gateway.host, { recognize: () => undefined }, 10_000);
    const { id } = await ann.data('GET', '/api/user/self');
    for (let i = 0; i < 10; i++) await guesses.compareOwn(id, async () => undefined);
    const guess = () => ann.put('/api/user/self', { password: 'thirteen eggs', original_password: 'wrong one' });
    const answers = [verdictOf(await guess()), verdictOf(await guess())];
    assert.deepEqual(answers, ['403 wrong_password original_password', '429 rate_limit_exceeded']);
  });

  it('that has no password gets its first one without another', async () => {
    const ann = await enter('ann-h');
    assert.equal((await ann.put('/api/user/self', { password: 'thirteen eggs' })).status, 200);
    assert.equal((await ann.data('GET', '/api/user/self')).has_password, true);
    assert.equal(
      verdictOf(await ann.put('/api/user/self', { password: 'fourteen eggs' })),
      '403 wrong_password original_password',
    );
  });

  it('that has no password but a second factor gets one after a check by it', async () => {
    const ann = await enter('ann-n');
    const { backupCodes } = await enableTotp(ann, clock);
    const put = () => ann.put('/api/user/self', { password: 'thirteen eggs' });
    assert.equal(verdictOf(await put()), '403 verification_required');
    await ann.data('POST', '/api/verify', { method: '2fa', code: backupCodes[0] });
    assert.equal((await put()).status, 200);
  });

  it('keeps settings that are not mentioned; a secret is sealed and never shown', async () => {
    const ann = await enter('ann-i');
    const put = (body: object) => ann.put('/api/user/setting', body);
    assert.equal(verdictOf(await put({ notify_type: 'webhook' })), '400 webhook_url_wanted webhook_url');
    await ann.data('PUT', '/api/user/self', { language: 'de' });
    const secret = 'whsec-canary-1';
    const all = {
      notify_type: 'webhook',
      quota_warning_threshold: 500_000,
      webhook_url: 'https://hooks.example/a',
      webhook_secret: secret,
      notification_email: 'me@example.com',
      record_ip_log: true,
      bark_url: '',
      gotify_priority: 5,
    };
    const answer = await put(all);
    assert.deepEqual([answer.status, answer.body], [200, { success: true, message: '', data: null }]);
    const { bark_url: _, gotify_priority: __, ...kept } = all;
    assert.deepEqual(await settingOf(ann), { ...kept, language: 'de', webhook_secret: '', webhook_secret_set: true });
    const sealed = async () => (await gateway.host.use(Accounts).person(ann.id))?.settings.webhook_secret;
    const first = String(await sealed());
    assert.equal(gateway.host.vault.open(`account.webhook_secret ${ann.id}`, first), secret);

    await put({ webhook_secret: '', quota_warning_threshold: 1.5, notification_email: '' });
    assert.equal(await sealed(), first);
    assert.equal((await settingOf(ann)).notification_email, undefined);
    await put({ webhook_secret: null, notify_type: 'email', webhook_url: null });
    assert.deepEqual(await settingOf(ann), {
      notify_type: 'email',
      quota_warning_threshold: 1.5,
      record_ip_log: true,
      language: 'de',
      webhook_secret: '',
      webhook_secret_set: false,
    });
    assert.ok(!JSON.stringify(await rowOf(ann.id)).includes(secret), 'the store holds the secret');
    await put({ quota_warning_threshold: null });
    assert.equal((await settingOf(ann)).quota_warning_threshold, undefined, 'no notice is wanted');
  });

  it('refuses settings that make no sense, and names them', async () => {
    const ann = await enter('ann-j');
    const wrong = [
      ['notify_type', 'bark'],
      ['quota_warning_threshold', 0],
      ['quota_warning_threshold', '5'],
      ['quota_warning_threshold', 1e300],
      ['webhook_url', 'ftp://hooks.example'],
      ['webhook_url', 'not an address'],
      // Posted to it would not be, but nobody would be told [T-SSRF-09].
      ['webhook_url', 'http://127.0.0.1:9/'],
      ['webhook_url', 'http://169.254.169.254/latest'],
      ['webhook_url', 'https://[::1]/'],
      ['webhook_url', 'https://[::ffff:10.0.0.1]/'],
      ['webhook_url', 'http://2130706433/'],
      ['webhook_url', 'http://0x7f.1/'],
      ['webhook_url', 'https://localhost/'],
      ['webhook_url', 'https://localhost./'],
      ['webhook_url', 'https://router/'],
      ['webhook_url', 'https://metadata.google.internal/'],
      ['webhook_url', 'https://a:b@hooks.example/'],
      ['webhook_url', `https://${'a'.repeat(2_000)}.example`],
      ['notification_email', 'nobody'],
      ['record_ip_log', 'yes'],
      ['language', 'x'.repeat(36)],
      ['sidebar_modules', { a: 1 }],
      ['billing_preference', 'wallet_first'],
    ] as const;
    for (const [name, value] of wrong) {
      const { status, body } = await ann.put('/api/user/setting', { [name]: value });
      assert.deepEqual([status, body.param], [400, name], `${name}: ${JSON.stringify(value)}`);
    }
    assert.deepEqual(await settingOf(ann), { webhook_secret: '', webhook_secret_set: false });
  });

  it('ends with its keys and sessions; its name stays taken, and its money in the books', async () => {
    const ann = await member(gateway, 'ann-k', { units: 1_000 });
    const { id } = await ann.data('GET', '/api/user/self');
    const key = await gateway.command('key create --name k --user ann-k --unlimited');
    const models = () => fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal((await models()).status, 200);
    const elsewhere = await enter('ann-k');
    const token = await ann.data('GET', '/api/user/token');
    assert.equal(await ann.data('DELETE', '/api/user/self'), null);

    assert.equal((await models()).status, 401);
    assert.equal(ann.cookies.size, 0);
    assert.equal((await elsewhere.get('/api/user/self')).status, 401);
    assert.equal((await visitor(gateway, { authorization: token }).get('/api/user/self')).status, 401);
    const again = await visitor(gateway).post('/api/user/login', { username: 'ann-k', password: PASSWORD });
    assert.equal(verdictOf(again), '401 wrong_credentials');
    const made = await gateway.tryCommand('user create --name ann-k --role member --password-stdin', PASSWORD);
    assert.match(made.stderr, /the name "ann-k" already exists/);
    const balance = await gateway.host.use(Ledger).balance({ kind: 'account', owner: id });
    assert.equal(balance?.granted, 1_000n * MICRO);
    const [entry] = await gateway.host.use(Audit).page({ limit: 1, action: 'user.delete' });
    assert.deepEqual([entry?.object, entry?.actor.name], [`user ${id}`, 'ann-k']);
  });

  it('of root does not end', async () => {
    const boss = await enter('root');
    assert.equal(verdictOf(await boss.delete('/api/user/self')), '403 root_protected');
    assert.equal((await boss.get('/api/user/self')).status, 200);
  });

  it('that has a second factor ends only after a check by it', async () => {
    const two = await member(gateway, 'two');
    const { backupCodes } = await enableTotp(two, clock);
    assert.equal(verdictOf(await two.delete('/api/user/self')), '403 verification_required');
    await two.data('POST', '/api/verify', { method: '2fa', code: backupCodes[0] });
    assert.equal(await two.data('DELETE', '/api/user/self'), null);

    const pat = await member(gateway, 'pat');
    const key = authenticator('http://localhost:8080');
    await addPasskey(pat, key);
    assert.equal(verdictOf(await pat.delete('/api/user/self')), '403 verification_required');
    await verifyByPasskey(pat, key);
    assert.equal(await pat.data('DELETE', '/api/user/self'), null);
  });
});
