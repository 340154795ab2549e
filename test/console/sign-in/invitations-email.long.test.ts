/** Invitations by email: what is sent, what the new account gets, and what becomes of them if an administrator, a department or a plan changes before they are accepted. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Audit } from '../../../core/contracts/audit.ts';
import { Departments } from '../../../core/contracts/departments.ts';
import { type Letter, Mail } from '../../../core/contracts/mail.ts';
import { definePlugin } from '../../../core/plugin.ts';
import {
  advanced,
  CONSOLE_PIPELINE,
  checked,
  PASSWORD,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  signedIn,
  type Visitor,
  verdictOf,
  visitor,
} from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { goTo } from '../../kit/stand-ins/fake-oauth.ts';
import { mailbox } from '../../kit/stand-ins/mailbox.ts';
import { github, ORIGIN, pathOf, signIn, start } from './oauth-flows.ts';

const HOUR_MS = 3_600_000;
const PLANS = { pro: { daily: 5, balance: 2, price: 19 } };

/** The code in the link of an email, or in a link. */
const codeIn = (text: string): string => /register\?invite=([\w-]+)/.exec(text)?.[1] ?? assert.fail(text);
const seconds = (clock: FakeClock): number => Math.floor(clock.now() / 1_000);

describe('invitations by email', () => {
  const mail = mailbox();
  let clock: FakeClock;
  let gateway: TestGateway;
  let boss: Visitor;
  let adam: Visitor;
  before(async () => {
    clock = fakeClock();
    gateway = await startGateway({
      clock,
      env: ROOT_ENV,
      plugins: [mail.plugin],
      config: {
        pipeline: CONSOLE_PIPELINE.filter((name) => name !== 'mail'),
        console: { ...PATIENT, url: 'https://ai.example.com/gate', name: 'Acme AI' },
        quota: { welcome: 0 },
        plans: PLANS,
      },
    });
    boss = await checked(gateway, await root(gateway));
    adam = await checked(gateway, await signedIn(gateway, 'adam', { role: 'admin' }));
  });
  after(() => gateway?.stop());

  const invite = (who: Visitor, body: object) => who.data('POST', '/api/user/invitations', body);
  const list = async () => (await adam.data('GET', '/api/user/invitations?page_size=100')).items;
  const stateOf = async (id: number) => (await list()).find((one: { id: number }) => one.id === id);
  const register = (username: string, invite_code: string, more: object = {}) =>
    visitor(gateway).post('/api/user/register', { username, password: PASSWORD, invite_code, ...more });
  const personOf = async (name: string) => {
    const account = await gateway.host.use(Accounts).findByName(name);
    return account && gateway.host.use(Accounts).person(account.id);
  };

  it('are accepted although registration is closed; the account has the address, verified, and the preset', async () => {
    const { id: department } = await gateway.host.use(Departments).create({ name: 'Research' });
    const [invited] = await invite(adam, {
      emails: ['Ann@Example.com'],
      department_id: department,
      quota: 700,
      plan: 'pro',
    });
    assert.deepEqual(invited, {
      email: 'Ann@Example.com',
      outcome: 'email',
      id: invited.id,
      link: '',
      expires_at: seconds(clock) + 7 * 86_400,
    });
    const letter = await mail.letter();
    assert.equal(letter.to, 'Ann@Example.com');
    assert.equal(letter.subject, 'Acme AI: adam invites you');
    assert.match(letter.text, /https:\/\/ai\.example\.com\/gate\/console\/register\?invite=/);
    const code = codeIn(letter.text);

    const shown = await visitor(gateway).data('GET', `/api/invitation?code=${code}`);
    assert.deepEqual(shown, { email: 'Ann@Example.com', role: 1, invited_by: 'adam', expires_at: invited.expires_at });
    assert.equal((await register('ann', code)).status, 200);

    const person = await personOf('ann');
    assert.deepEqual([person?.role, person?.email], ['member', 'Ann@Example.com']);
    assert.equal(gateway.host.use(Departments).departmentOf(person!.id)?.name, 'Research');
    const ann = await visitor(gateway).signIn('ann@example.com', PASSWORD);
    const { quota } = await ann.data('GET', '/api/user/self');
    assert.equal(quota, 1_000_700, 'the balance of the invitation and that of the plan');
    const { plan, status } = await ann.data('GET', '/api/user/subscription/stats');
    assert.deepEqual([plan, status], ['pro', 'active']);
    const { used_by_name, email, quota: opening, department_name, sent_at, status: state } = await stateOf(invited.id);
    assert.deepEqual(
      [state, used_by_name, email, opening, department_name, sent_at > 0],
      ['used', 'ann', 'Ann@Example.com', 700, 'Research', true],
    );
    const [entry] = await gateway.host.use(Audit).page({ limit: 1, action: 'user.register' });
    assert.deepEqual(entry?.facts, { invitation: invited.id });
    assert.equal(verdictOf(await register('ann2', code)), '403 invitation_wanted invite_code');
  });

  it('are in the language of the administrator', async () => {
    await adam.data('PUT', '/api/user/setting', { language: 'zh' });
    const [{ id }] = await invite(adam, { emails: ['li@example.com'] });
    const { subject, text } = await mail.letter();
    assert.equal(subject, 'Acme AI：adam 邀请你加入');
    assert.match(text, /请在 \d{4}-\d\d-\d\d \d\d:\d\d（UTC）之前打开此链接/);
    await adam.data('PUT', '/api/user/setting', { language: 'en' });
    await adam.data('POST', `/api/user/invitations/${id}/resend`);
    assert.equal((await mail.letter()).subject, 'Acme AI: adam invites you');
  });

  it('of a list are one for each address; addresses with an account get none', async () => {
    const emails = ['bo@example.com', 'cy@example.com', 'BO@example.com', 'ann@example.com'];
    const invited = await invite(adam, { emails });
    assert.deepEqual(
      invited.map(({ email, outcome }: { email: string; outcome: string }) => `${email} ${outcome}`),
      ['BO@example.com email', 'cy@example.com email', 'ann@example.com exists'],
    );
    const to = [(await mail.letter()).to, (await mail.letter()).to];
    assert.deepEqual(to, ['BO@example.com', 'cy@example.com']);
    const created = await gateway.host.use(Audit).page({ limit: 2, action: 'invitation.create' });
    assert.deepEqual(
      created.map(({ facts }) => facts),
      [
        { email: 'cy@example.com', role: 'member' },
        { email: 'BO@example.com', role: 'member' },
      ],
    );
  });

  it('for the same address replace the open one', async () => {
    const [first] = await invite(adam, { emails: ['dee@example.com'] });
    const former = codeIn((await mail.letter()).text);
    await invite(adam, { emails: ['DEE@example.com'], quota: 9 });
    const latter = codeIn((await mail.letter()).text);
    assert.equal((await stateOf(first.id)).status, 'revoked');
    assert.equal(verdictOf(await register('dee', former)), '403 invitation_wanted invite_code');
    assert.equal((await register('dee', latter)).status, 200);
  });

  it('are sent again with another link; the old one is of no use', async () => {
    const [{ id }] = await invite(adam, { emails: ['eli@example.com'], quota: 5 });
    const former = codeIn((await mail.letter()).text);
    await advanced(gateway, clock, HOUR_MS);
    adam = await checked(gateway, await signedIn(gateway, 'adam'));
    boss = await checked(gateway, await root(gateway));
    const again = await adam.data('POST', `/api/user/invitations/${id}/resend`);
    assert.deepEqual([again.id, again.outcome, again.expires_at], [id, 'email', seconds(clock) + 7 * 86_400]);
    const latter = codeIn((await mail.letter()).text);
    assert.notEqual(former, latter);
    assert.equal(verdictOf(await register('eli', former)), '403 invitation_wanted invite_code');
    assert.equal((await register('eli', latter)).status, 200);
    assert.equal(verdictOf(await adam.post(`/api/user/invitations/${id}/resend`)), '404 invitation_not_found');
  });

  it('that have expired are refused until they are sent again', async () => {
    const [{ id }] = await invite(adam, { emails: ['fay@example.com'], expires_days: 1 });
    const code = codeIn((await mail.letter()).text);
    await gateway.host.store.run(
      'UPDATE ticket SET expires_ms = ? WHERE hash = (SELECT ticket FROM invitation WHERE id = ?)',
      clock.now(),
      id,
    );
    await gateway.host.store.run('UPDATE invitation SET expires_ms = ? WHERE id = ?', clock.now(), id);
    assert.equal((await stateOf(id)).status, 'expired');
    assert.equal(verdictOf(await register('fay', code)), '403 invitation_wanted invite_code');
    assert.equal(said(await visitor(gateway).get(`/api/invitation?code=${code}`)), '403 invitation_wanted');
    await adam.data('POST', `/api/user/invitations/${id}/resend`);
    assert.equal((await register('fay', codeIn((await mail.letter()).text))).status, 200);
  });

  it('create administrators only if root invites, and still is root then', async () => {
    assert.equal(
      verdictOf(await adam.post('/api/user/invitations', { emails: ['gus@example.com'], role: 10 })),
      '403 role_insufficient',
    );
    const [{ id }] = await invite(boss, { emails: ['gus@example.com'], role: 10 });
    const code = codeIn((await mail.letter()).text);
    assert.equal(verdictOf(await adam.post(`/api/user/invitations/${id}/resend`)), '403 role_insufficient');
    await gateway.host.store.run(
      `UPDATE invitation SET made_by = (SELECT id FROM account WHERE name = 'adam') WHERE id = ?`,
      id,
    );
    assert.equal(verdictOf(await register('gus', code)), '409 invitation_outdated invite_code');
    await gateway.host.store.run(`UPDATE invitation SET made_by = 1 WHERE id = ?`, id);
    assert.equal((await register('gus', code)).status, 200);
    assert.equal((await personOf('gus'))?.role, 'admin');
  });

  it('of an administrator who was disabled create nothing until another one sends them again', async () => {
    const [{ id }] = await invite(adam, { emails: ['flo@example.com'], quota: 5_000 });
    const code = codeIn((await mail.letter()).text);
    const by = (await personOf('adam'))!.id;
    await gateway.host.store.run('UPDATE account SET enabled = 0 WHERE id = ?', by);
    assert.equal(verdictOf(await register('flo', code)), '409 invitation_outdated invite_code');
    await gateway.host.store.run('UPDATE account SET enabled = 1 WHERE id = ?', by);
    await boss.data('POST', `/api/user/invitations/${id}/resend`);
    assert.equal((await stateOf(id)).made_by_name, 'root');
    assert.equal((await register('flo', codeIn((await mail.letter()).text))).status, 200);
  });

  it('to a department that was deleted create nothing', async () => {
    const { id: department } = await gateway.host.use(Departments).create({ name: 'Gone' });
    await invite(adam, { emails: ['hal@example.com'], department_id: department });
    const code = codeIn((await mail.letter()).text);
    await gateway.host.use(Departments).remove(department);
    assert.equal(verdictOf(await register('hal', code)), '409 invitation_outdated invite_code');
    assert.equal(await personOf('hal'), undefined);
  });

  it('that ask for what does not exist are refused, and no invitation is sent', async () => {
    const before = (await list()).length;
    const emails = ['ida@example.com'];
    for (const [body, verdict] of [
      [{ emails, department_id: 999 }, '404 department_not_found department_id'],
      [{ emails, plan: 'nothing' }, '400 invalid_request_error plan'],
      [{ emails: ['not an address'] }, '400 invalid_request_error emails.0'],
      [{ emails: [] }, '400 invalid_request_error emails'],
    ] as const) {
      assert.equal(verdictOf(await adam.post('/api/user/invitations', body)), verdict);
    }
    assert.equal((await list()).length, before);
  });

  it('need a verification, and an administrator', async () => {
    const mia = await signedIn(gateway, 'mia');
    const eve = await signedIn(gateway, 'eve', { role: 'admin' });
    const body = { emails: ['jon@example.com'] };
    assert.equal(verdictOf(await mia.post('/api/user/invitations', body)), '403 role_insufficient');
    assert.equal(verdictOf(await eve.post('/api/user/invitations', body)), '403 verification_required');
  });

  it('are made by a command, which waits until the email was sent', async () => {
    const out = await gateway.command(
      'user invite - --role admin --department Research --balance 40',
      'kim@example.com\nlee@example.com',
    );
    assert.equal(out, 'kim@example.com  sent\nlee@example.com  sent');
    const code = codeIn((await mail.letter()).text);
    await mail.letter();
    assert.equal((await register('kim', code)).status, 200);
    const kim = await personOf('kim');
    assert.equal(kim?.role, 'admin');
    assert.equal(gateway.host.use(Departments).departmentOf(kim!.id)?.name, 'Research');
    const [entry] = await gateway.host.use(Audit).page({ limit: 1, action: 'invitation.create' });
    assert.deepEqual(
      [entry?.actor.name, entry?.facts.email, entry?.facts.quota],
      ['command line', 'lee@example.com', '40'],
    );
    for (const [line, problem] of [
      ['user invite', /user invite EMAIL/],
      ['user invite nobody', /"nobody" is not an email address/],
      ['user invite a@example.com --role root', /--role/],
      ['user invite a@example.com --department Nowhere', /There is no department "Nowhere"/],
      ['user invite a@example.com --balance much', /--balance/],
      ['user invite a@example.com --balance 4000000000001', /--balance must be at most 4000000000000/],
      ['user invite a@example.com --expires 366d', /--expires must be at most 365d/],
      ['user invite a@example.com --expires 0d', /--expires must be above zero/],
    ] as const) {
      const { code: exit, stderr } = await gateway.tryCommand(line);
      assert.notEqual(exit, 0, line);
      assert.match(stderr, problem);
    }
  });
});

describe('with a mail server that does not accept the email', () => {
  it('the invitation stays, is listed as not sent, and can be sent again', async () => {
    let accepts = false;
    const letters: string[] = [];
    const plugin = definePlugin({
      name: 'moody-mail',
      api: 2,
      provides: [Mail],
      create(host) {
        const send = async ({ text }: Letter): Promise<void> => {
          if (!accepts) throw new Error('no such mailbox');
          letters.push(text);
        };
        host.provide(Mail, { delivers: true, send });
        return {};
      },
    });
    const gateway = await startGateway({
      env: ROOT_ENV,
      plugins: [plugin],
      config: { pipeline: CONSOLE_PIPELINE.filter((name) => name !== 'mail'), console: PATIENT },
    });
    try {
      assert.match(await gateway.command('user invite ann@example.com'), /not sent: the log says why/);
      assert.ok(gateway.log.some((line) => line.includes('no such mailbox')));
      const boss = await checked(gateway, await root(gateway));
      const [listed] = (await boss.data('GET', '/api/user/invitations')).items;
      assert.deepEqual([listed.status, listed.sent_at], ['open', 0]);
      accepts = true;
      await boss.data('POST', `/api/user/invitations/${listed.id}/resend`);
      const body = { username: 'ann', password: PASSWORD, invite_code: codeIn(letters[0] ?? '') };
      assert.equal((await visitor(gateway).post('/api/user/register', body)).status, 200);
    } finally {
      await gateway.stop();
    }
  });
});

describe('without a mail server', () => {
  it('the link is returned once, and the command prints it', async () => {
    const gateway = await startGateway({
      env: ROOT_ENV,
      config: {
        pipeline: CONSOLE_PIPELINE,
        console: { ...PATIENT, url: 'https://ai.example.com', invitations: { days: 2 } },
      },
    });
    try {
      const boss = await checked(gateway, await root(gateway));
      const [invited] = await boss.data('POST', '/api/user/invitations', { emails: ['ann@example.com'] });
      assert.equal(invited.outcome, 'link');
      assert.match(invited.link, /^https:\/\/ai\.example\.com\/console\/register\?invite=/);
      const { items } = await boss.data('GET', '/api/user/invitations');
      assert.deepEqual([items[0].sent_at, items[0].expires_at - items[0].created_at], [0, 2 * 86_400]);
      assert.ok(!JSON.stringify(items).includes(codeIn(invited.link)));
      const out = await gateway.command('user invite bo@example.com');
      const answer = await visitor(gateway).post('/api/user/register', {
        ...{ username: 'bo', password: PASSWORD, invite_code: codeIn(out) },
      });
      assert.equal(answer.status, 200, answer.text);
      assert.ok(!gateway.log.some((line) => line.includes(codeIn(out))), 'the link is in the log');
    } finally {
      await gateway.stop();
    }
  });
});

describe('an invitation that is accepted with an OAuth account', () => {
  it('needs the verified address that was invited', async () => {
    const gateway = await start({ registration: 'closed', url: ORIGIN });
    try {
      const boss = await checked(gateway, await root(gateway));
      const [{ link }] = await boss.data('POST', '/api/user/invitations', { emails: ['ann@example.com'], quota: 8 });
      const invite_code = codeIn(link);
      const come = async (person: { subject: string; name: string; email?: string; emailVerified?: boolean }) => {
        const who = visitor(gateway);
        github.person = person;
        const { url } = await who.data('POST', '/api/oauth/state', {
          provider: 'github',
          intent: 'login',
          invite_code,
        });
        return { who, answer: await who.get(pathOf(await goTo(github, url))) };
      };
      const other = { subject: '31', name: 'mallory', email: 'mallory@example.com', emailVerified: true };
      assert.equal(said((await come(other)).answer), '403 invitation_for_another');
      const unverified = { subject: '32', name: 'ann', email: 'ann@example.com', emailVerified: false };
      assert.equal(said((await come(unverified)).answer), '403 invitation_for_another');
      const { who, answer } = await come({ ...unverified, subject: '33', emailVerified: true });
      assert.equal(said(answer), '200 ok');
      const { email, quota, has_password } = await who.data('GET', '/api/user/self');
      assert.deepEqual([email, quota, has_password], ['ann@example.com', 8, false]);
      const late = await come({ ...unverified, subject: '34', emailVerified: true });
      assert.equal(said(late.answer), '403 invitation_wanted');
      assert.equal(said(await signIn(visitor(gateway), 'github', { subject: '33', name: 'ann' })), '200 ok');
    } finally {
      await gateway.stop();
    }
  });
});
