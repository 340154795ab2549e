/** Users who were moved from another program: what they signed in with there signs them in here. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { verifyRegistrationResponse } from '@simplewebauthn/server';
import { hashSync } from 'bcryptjs';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { OAuth } from '../../../core/contracts/oauth.ts';
import type { ForeignPasskey, ForeignUser } from '../../../plugins/import/inventory.ts';
import { type IdentitySteps, identitySteps } from '../../../plugins/import/take-over/identities.ts';
import { ROOT_ENV, said, visitor } from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import type { TestGateway } from '../../kit/gateway/gateway.ts';
import { type Authenticator, authenticator } from '../../kit/stand-ins/authenticator.ts';
import { nextCodeOf } from '../../kit/stand-ins/factors.ts';
import { github, ORIGIN, oidc, signIn, start } from './oauth-flows.ts';

const RP_ID = new URL(ORIGIN).hostname;
const OLD = 'pw-old-12345678';
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const TOKEN = 'fbaxeDN3G/z7M37jSRgaMiSPd0LY+3NQ';

/** A passkey that another program registered for the user with the id 4 there. */
async function passkeyOf(key: Authenticator): Promise<ForeignPasskey> {
  const challenge = Buffer.from('a challenge').toString('base64url');
  const userHandle = Buffer.from('4').toString('base64url');
  const response = key.create({ challenge, rp: { id: RP_ID }, user: { id: userHandle } });
  const { registrationInfo } = await verifyRegistrationResponse({
    response: response as unknown as Parameters<typeof verifyRegistrationResponse>[0]['response'],
    expectedChallenge: challenge,
    expectedOrigin: ORIGIN,
    expectedRPID: RP_ID,
  });
  const { id, publicKey, counter } = registrationInfo!.credential;
  const encoded = Buffer.from(publicKey).toString('base64url');
  return { id: '1', rpId: RP_ID, userHandle, credentialId: id, publicKey: encoded, counter };
}

describe('a user from another program', () => {
  let gateway: TestGateway;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock(Date.now());
    gateway = await start({}, { clock });
  });
  after(() => gateway.stop());

  /** Moves a user, as an import does. */
  async function move(
    name: string,
    fields: Partial<ForeignUser>,
    to = gateway,
  ): Promise<IdentitySteps & { readonly id: number }> {
    const user: ForeignUser = {
      id: '4',
      name,
      role: 'member',
      enabled: true,
      balance: 0n,
      isPerson: true,
      passwordHash: hashSync(OLD, 4),
      ...fields,
    };
    let identity: IdentitySteps | undefined;
    const { id } = await to.host.use(Accounts).create({ name, role: 'member' }, async (own) => {
      identity = await identitySteps(to.host, own, user);
      return identity.steps;
    });
    return { ...identity!, id };
  }
  const login = (username: string, password: string) =>
    visitor(gateway).post('/api/user/login', { username, password });
  const isOld = (id: number): boolean =>
    !String(gateway.rows(`SELECT hash FROM password WHERE account_id = ${id}`)[0]?.hash).startsWith('$scrypt$');

  it('signs in with the old password, whose hash is replaced by that', async () => {
    const { id, told, notes } = await move('ann', {});
    assert.deepEqual([told, notes], [['old password'], []]);
    assert.equal(said(await login('ann', 'pw-new-12345678')), '401 wrong_credentials');
    assert.ok(isOld(id));
    assert.equal(said(await login('ann', OLD)), '200 ok');
    assert.ok(!isOld(id));
    assert.equal(said(await login('ann', OLD)), '200 ok');
    assert.equal(said(await login('ann', 'pw-new-12345678')), '401 wrong_credentials');
  });

  it('is asked for a code of the old authenticator, which is good once', async () => {
    const { told } = await move('bob', { totpSecret: SECRET });
    assert.deepEqual(told, ['old password', 'authenticator']);
    const who = visitor(gateway);
    const { flow_token, require_2fa } = await who.data('POST', '/api/user/login', { username: 'bob', password: OLD });
    assert.equal(require_2fa, true);
    const code = nextCodeOf(SECRET, clock);
    const wrong = await who.post('/api/user/login/2fa', { flow_token, code: code === '000000' ? '000001' : '000000' });
    assert.equal(said(wrong), '403 wrong_code');
    assert.equal((await who.data('POST', '/api/user/login/2fa', { flow_token, code })).username, 'bob');
    const again = visitor(gateway);
    const second = await again.data('POST', '/api/user/login', { username: 'bob', password: OLD });
    assert.equal(
      said(await again.post('/api/user/login/2fa', { flow_token: second.flow_token, code })),
      '403 wrong_code',
    );
  });

  it('signs in with the old passkey', async () => {
    const key = authenticator(ORIGIN);
    const { id, told, notes } = await move('cleo', { passkeys: [await passkeyOf(key)] });
    assert.deepEqual([told, notes], [['old password', 'passkey'], []]);
    const who = visitor(gateway);
    const { options, flow_token } = await who.data('POST', '/api/user/passkey/login/begin');
    const credential = key.get(options);
    assert.equal((await who.data('POST', '/api/user/passkey/login/finish', { flow_token, credential })).id, id);
  });

  it('is told which passkeys cannot be used', async () => {
    const passkey = await passkeyOf(authenticator(ORIGIN));
    const { notes, told } = await move('dan', {
      passkeys: [
        { ...passkey, rpId: 'old.example' },
        { ...passkey, publicKey: 'def' },
        { ...passkey, userHandle: Buffer.from('5').toString('base64url') },
        passkey,
      ],
    });
    assert.deepEqual(told, ['old password', 'passkey']);
    const [domain, key, another] = notes.map(({ why }) => why);
    assert.match(domain ?? '', /belongs to the domain old\.example, and the domain of passkeys is gateway\.example/);
    assert.equal(key, 'its stored key cannot be read');
    assert.equal(another, 'an account has one passkey');
    const taken = await move('dora', {
      passkeys: [{ ...passkey, userHandle: Buffer.from('5').toString('base64url') }],
    });
    assert.deepEqual(
      taken.notes.map(({ why }) => why),
      ['another account here has its user handle'],
    );
  });

  it('calls /api with the old access token, as clients of that program do', async () => {
    const { id, told } = await move('eve', { accessToken: TOKEN });
    assert.deepEqual(told, ['old password', 'access token']);
    for (const authorization of [TOKEN, `Bearer ${TOKEN}`]) {
      const { status, body } = await visitor(gateway, { authorization, 'new-api-user': '4' }).get('/api/user/self');
      assert.deepEqual([status, body.data.id], [200, id]);
    }
    const wrong = await visitor(gateway, { authorization: `${TOKEN.slice(0, -1)}R` }).get('/api/user/self');
    assert.equal(said(wrong), '401 invalid_access_token');
    for (const accessToken of ['short', `sk-${'a'.repeat(40)}`, `${'a'.repeat(40)} b`]) {
      const { notes } = await move(`eve${accessToken.length}`, { accessToken });
      assert.deepEqual(
        notes.map(({ where }) => where),
        ['users.access_token'],
      );
    }
  });

  it('signs in with the linked account of the same provider', async () => {
    const hub = { type: 'github', issuer: github.issuer, provider: 'github', subject: '583231' } as const;
    const corp = { type: 'oidc', issuer: `${oidc.issuer}/`, provider: 'oidc', subject: 'sub-fay' } as const;
    const { id, told, notes } = await move('fay', { links: [hub, corp], passwordHash: undefined });
    assert.deepEqual([told, notes], [['linked to github', 'linked to corp'], []]);
    for (const [name, subject] of [
      ['github', '583231'],
      ['corp', 'sub-fay'],
    ] as const) {
      const { status, body } = await signIn(visitor(gateway), name, { subject, name: 'somebody' });
      assert.deepEqual([status, body.data.id], [200, id]);
    }
  });

  it('is linked to no account at another provider, whatever its name', async () => {
    const other = { type: 'github', issuer: 'https://github.com', provider: 'github', subject: '583232' } as const;
    const { id, told, notes } = await move('gil', { links: [other] });
    assert.deepEqual(told, ['old password']);
    assert.deepEqual(
      notes.map(({ why }) => why),
      ['the provider github of console.oauth is not https://github.com'],
    );
    const { body } = await signIn(visitor(gateway), 'github', { subject: '583232', name: 'gil-2' });
    assert.notEqual(body.data.id, id);
  });

  it('is linked before the provider is configured, and by that one only', async () => {
    const later = { type: 'oidc', issuer: oidc.issuer, provider: 'corp', subject: 'sub-hal' } as const;
    const elsewhere = { ...later, issuer: 'https://id.example.com', subject: 'sub-ida' };
    const empty = await start({ oauth: {} }, { clock });
    try {
      const hal = await move('hal', { links: [later] }, empty);
      const ida = await move('ida', { links: [elsewhere] }, empty);
      assert.match(hal.notes[0]?.why ?? '', /as soon as console\.oauth has the provider corp/);
      assert.equal(hal.notes[0]?.kind, 'decide');
      const id = gateway.rows('SELECT MAX(id) AS id FROM account')[0]?.id as number;
      const links = empty.host.use(OAuth);
      assert.deepEqual(await links.bindings(hal.id), [{ provider: 'corp', subject: 'sub-hal' }]);
      // The same rows where the provider is configured.
      for (const [own, link] of [
        [hal.id + id, later],
        [ida.id + id, elsewhere],
      ] as const) {
        const sql = 'INSERT INTO oauth_link (provider, subject, account_id, created_ms, issuer) VALUES (?, ?, ?, 1, ?)';
        await gateway.host.store.run(sql, link.provider, link.subject, own, link.issuer);
      }
      const { accountOf } = gateway.host.use(OAuth);
      const identity = { provider: 'corp', name: '', email: undefined };
      assert.equal(await accountOf({ ...identity, subject: 'sub-hal' }), hal.id + id);
      assert.equal(await accountOf({ ...identity, subject: 'sub-ida' }), undefined);
    } finally {
      await empty.stop();
    }
  });

  it('keeps the settings for notifications', async () => {
    const settings = { notify_type: 'webhook', webhook_url: 'https://hook.example.com/x', language: 'zh' };
    const { told } = await move('jon', { settings, webhookSecret: 'a webhook secret', lowBalance: 1_000_500_001n });
    assert.deepEqual(told, ['old password', 'settings']);
    const jon = await visitor(gateway).signIn('jon', OLD);
    const { setting } = await jon.data('GET', '/api/user/self');
    const shown = JSON.parse(setting) as Record<string, unknown>;
    assert.deepEqual(
      [shown.notify_type, shown.webhook_url, shown.language, shown.quota_warning_threshold],
      ['webhook', 'https://hook.example.com/x', 'zh', 1_001],
    );
  });

  it('without a password that works here is named, and gets a link by `user link`, even without an email address', async () => {
    const { id, notes, told } = await move('kim', { passwordHash: 'plain text' });
    assert.deepEqual(told, []);
    assert.deepEqual(
      notes.map(({ kind, what, why }) => [kind, what, why]),
      [
        ['left', 'user kim', 'its password hash has a format that is not supported'],
        [
          'decide',
          'user kim',
          'it has no password that works here: make a link for a new one with `turnpike user link NAME`',
        ],
      ],
    );
    const link = new URL(await gateway.command('user link kim'));
    assert.equal(link.origin + link.pathname, `${ORIGIN}/console/reset`);
    const [email, token] = [link.searchParams.get('email'), link.searchParams.get('code')];
    const other = await visitor(gateway).post('/api/user/reset', { email: 'jon', token, password: 'thirteen eggs' });
    assert.equal(said(other), '403 reset_refused');
    await visitor(gateway).data('POST', '/api/user/reset', { email, token, password: 'thirteen eggs' });
    assert.equal(
      (
        await visitor(gateway)
          .signIn('kim', 'thirteen eggs')
          .then((who) => who.data('GET', '/api/user/self'))
      ).id,
      id,
    );
    const used = await visitor(gateway).post('/api/user/reset', { email, token, password: 'fourteen eggs' });
    assert.equal(said(used), '403 reset_refused');
    const json = JSON.parse(await gateway.command('user link kim --json'));
    assert.deepEqual([json.id, json.username], [id, 'kim']);
    await gateway.host.use(Accounts).change(id, { enabled: false });
    assert.equal((await gateway.tryCommand('user link kim')).code, 1);
  });

  it('without a password that works here is no decision if a link is sent to an email address', async () => {
    const { notes } = await move('lea', { passwordHash: 'plain text', email: 'lea@example.com' });
    assert.deepEqual(
      notes.map(({ kind, where }) => [kind, where]),
      [['left', 'users.password']],
    );
  });

  it('who was root there gets neither its password nor its second factors into the root account here', async () => {
    const { id } = (await gateway.host.use(Accounts).findByName('root'))!;
    const user: ForeignUser = {
      id: '1',
      name: 'root',
      role: 'root',
      enabled: true,
      balance: 0n,
      isPerson: true,
      passwordHash: hashSync(OLD, 4),
      totpSecret: SECRET,
      accessToken: 'f68797ffb2974d4cb8d7bda10c19c122',
    };
    const { steps, told, notes } = await identitySteps(gateway.host, id, user);
    assert.deepEqual(told, ['access token']);
    assert.deepEqual(
      notes.map(({ why }) => why),
      ['root keeps its password and second factors of this gateway'],
    );
    assert.equal(await gateway.host.store.atomic(steps), undefined);
    assert.equal(said(await login('root', OLD)), '401 wrong_credentials');
    assert.equal(said(await login('root', ROOT_ENV.TURNPIKE_ROOT_PASSWORD)), '200 ok');
  });
});

describe('old passwords and guesses', () => {
  it('are limited as for everybody: after the limit, the next guess has to wait', async () => {
    const gateway = await start({ limits: { signIn: 3, mail: 5, requests: 600 } });
    try {
      const passwordHash = hashSync(OLD, 4);
      await gateway.host.use(Accounts).create({ name: 'ann', role: 'member', passwordHash });
      const guess = (username: string) =>
        visitor(gateway).post('/api/user/login', { username, password: 'pw-new-12345678' });
      const verdicts: string[] = [];
      for (let i = 0; i < 5; i++) verdicts.push(said(await guess(i % 2 === 0 ? 'ann' : 'nobody')));
      assert.deepEqual(verdicts.slice(0, 3), Array(3).fill('401 wrong_credentials'));
      assert.ok(verdicts.slice(3).includes('429 rate_limit_exceeded'), verdicts.join());
    } finally {
      await gateway.stop();
    }
  });
});
