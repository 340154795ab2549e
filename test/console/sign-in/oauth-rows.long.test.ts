/** Sign-in with an account elsewhere: what goes there, what may come back, and whose account it becomes. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { generate } from 'otplib';
import { member, root, said, visitor } from '../../kit/console/console.ts';
import { isOfThisRun } from '../../kit/gateway/clock.ts';
import type { TestGateway } from '../../kit/gateway/gateway.ts';
import { CLIENT, goTo } from '../../kit/stand-ins/fake-oauth.ts';
import { github, ORIGIN, oidc, PAGE, pathOf, signIn, somebodyNew, start, thereAndBack, visit } from './oauth-flows.ts';

describe('sign-in with an account elsewhere', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await start();
  });
  after(() => gateway.stop());

  for (const [name, subject] of [
    ['github', '1001'],
    ['corp', 'sub-1001'],
  ] as const) {
    it(`makes an account for somebody new and knows them ever after, whatever they are called then (${name})`, async () => {
      const somebody = { subject, name: `nora.${name}`, email: `nora@${name}.example`, emailVerified: true };
      const nora = visitor(gateway);
      const first = await signIn(nora, name, somebody);
      assert.equal(first.status, 200, first.text);
      assert.equal(first.body.data.username, `nora.${name}`);
      assert.equal(first.body.data.role, 1);
      const self = await nora.data('GET', '/api/user/self');
      assert.equal(self.email, `nora@${name}.example`);
      assert.equal(nora.cookies.has('turnpike_flow'), false);

      const again = await signIn(visitor(gateway), name, { subject, name: 'somebody-else' });
      assert.equal(again.body.data.id, first.body.data.id);
      const [session] = (await nora.data('GET', '/api/user/sessions')) as readonly { readonly login_method: string }[];
      assert.equal(session?.login_method, name);
    });
  }

  it('takes a browser to the console, and back to the sign-in where it fails', async () => {
    const paula = visitor(gateway);
    const back = await thereAndBack(paula, 'github', { subject: '1002', name: 'paula' });
    const { status, location, cache } = await visit(gateway, paula, pathOf(back));
    assert.deepEqual([status, location, cache], [302, `${ORIGIN}/console/`, 'no-store']);
    assert.equal((await paula.data('GET', '/api/user/self')).username, 'paula');

    const begun = await visit(gateway, visitor(gateway), '/api/oauth/github', PAGE);
    assert.ok(begun.location?.startsWith(`${github.issuer}/login/oauth/authorize?`), begun.location);
    for (const [path, code] of [
      [pathOf(back), 'oauth_state'],
      ['/api/oauth/github?error=access_denied&state=x', 'oauth_denied'],
      ['/api/oauth/nowhere', 'provider_not_found'],
      ['/api/oauth/github?intent=bind', 'not_signed_in'],
    ] as const) {
      const led = await visit(gateway, visitor(gateway), path);
      assert.deepEqual([led.status, led.location], [302, `${ORIGIN}/console/login?error=${code}`], path);
    }
    // An older browser does not say what it is about, but what it reads.
    const old = await visit(gateway, visitor(gateway), '/api/oauth/nowhere', { accept: 'text/html,*/*' });
    assert.equal(old.status, 302);
    assert.equal(said(await visitor(gateway).get('/api/oauth/github?error=access_denied')), '400 oauth_denied');
  });

  it('knows no provider that is not configured, or is off', async () => {
    for (const name of ['nowhere', 'off', '__proto__', 'constructor', '..%2Fuser']) {
      assert.equal(said(await visitor(gateway).get(`/api/oauth/${name}`)), '404 provider_not_found', name);
      assert.equal(
        said(await visitor(gateway).get(`/api/oauth/${name}?code=a&state=b`)),
        '404 provider_not_found',
        name,
      );
    }
  });

  it('begins for scripts, too: with the state alone, or the whole address', async () => {
    // Tools that name no provider mean GitHub.
    assert.match(await visitor(gateway).data('GET', '/api/oauth/state'), /^[\w-]{43}$/);
    const { url: usual } = await visitor(gateway).data('POST', '/api/oauth/state');
    const { url: named } = await visitor(gateway).data('POST', '/api/oauth/state', { provider: 'github' });
    assert.equal(new URL(usual).origin, new URL(named).origin);
    const nina = visitor(gateway);
    const state = await nina.data('GET', '/api/oauth/state?provider=github');
    assert.match(state, /^[\w-]{43}$/);
    assert.ok(nina.cookies.has('turnpike_flow'), 'its browser is known');
    const { flow_token, url, expires_at } = await nina.data('POST', '/api/oauth/state', { provider: 'corp' });
    assert.equal(new URL(url).searchParams.get('state'), flow_token);
    assert.ok(isOfThisRun((expires_at - 600) * 1_000), `${expires_at}`);
    oidc.person = { subject: 'sub-nina', name: 'nina' };
    const done = await nina.get(pathOf(await goTo(oidc, url)));
    assert.equal(done.body.data.username, 'nina');
    for (const [body, param] of [
      [{ provider: 7 }, 'provider'],
      [{ provider: 'corp', intent: 'steal' }, 'intent'],
      [{ provider: 'corp', account_id: 1 }, 'account_id'],
    ] as const) {
      const { status, body: said } = await nina.post('/api/oauth/state', body);
      assert.deepEqual([status, said.param], [400, param]);
    }
  });

  it('a state is 32 random bytes, good once, in the browser that asked for it, with its provider [T-OAUTH-01]', async () => {
    const [one, other] = [visitor(gateway), visitor(gateway)];
    const somebody = { subject: '1003', name: 'quinn' };
    const states = new Set<string>();
    for (const way of ['other', 'none', 'forged', 'twin'] as const) {
      const back = await thereAndBack(one, 'github', somebody);
      states.add(back.searchParams.get('state')!);
      if (way === 'twin') await thereAndBack(other, 'github', somebody);
      const who = way === 'none' ? visitor(gateway) : way === 'forged' ? one : other;
      const path = pathOf(back).replace(/state=./, (start) => (way === 'forged' ? 'state=-' : start));
      const asked = github.asked.length;
      assert.equal(said(await who.get(path)), '400 oauth_state', way);
      assert.equal(github.asked.length, asked, 'the provider is not even asked');
      // It was shown by somebody else: it is gone for everybody.
      if (way !== 'forged') assert.equal(said(await one.get(pathOf(back))), '400 oauth_state', way);
    }
    assert.equal(states.size, 4);
    for (const state of states) assert.ok(Buffer.from(state, 'base64url').length >= 32, state);

    const back = await thereAndBack(one, 'github', somebody);
    assert.equal((await one.get(pathOf(back))).status, 200);
    assert.equal(said(await one.get(pathOf(back))), '400 oauth_state');
    const { status } = await one.get(`/api/oauth/github?code=${back.searchParams.get('code')}`);
    assert.equal(status, 400);
  });

  it('a flow to sign in connects nothing, and a flow to connect signs nobody in [T-OAUTH-01]', async () => {
    const sam = await somebodyNew(gateway, 'sam');
    const signedIn = await signIn(sam, 'github', { subject: '1005', name: 'samuel' });
    assert.equal(signedIn.body.data.username, 'samuel', 'another account: that of the identity');

    const tess = await somebodyNew(gateway, 'tess');
    const back = await thereAndBack(tess, 'github', { subject: '1006', name: 'tess' }, '?intent=bind');
    await tess.get('/api/user/logout');
    const flow = tess.cookies.get('turnpike_flow');
    assert.equal(flow, undefined, 'signing out ends what was begun');
    assert.equal(said(await tess.get(pathOf(back))), '400 oauth_state');

    // The same, with a cookie that was kept, and with another account in that browser.
    const uma = await somebodyNew(gateway, 'uma');
    const kept = await thereAndBack(uma, 'github', { subject: '1006', name: 'tess' }, '?intent=bind');
    const cookie = uma.cookies.get('turnpike_flow');
    assert.equal(
      said(await visitor(gateway).get(pathOf(kept), { cookie: `turnpike_flow=${cookie}` })),
      '400 oauth_state',
    );
    const victor = await somebodyNew(gateway, 'victor');
    const other = await thereAndBack(uma, 'github', { subject: '1006', name: 'tess' }, '?intent=bind');
    const both = `turnpike_session=${victor.cookies.get('turnpike_session')}; turnpike_flow=${uma.cookies.get('turnpike_flow')}`;
    assert.equal(said(await visitor(gateway).get(pathOf(other), { cookie: both })), '400 oauth_state');
    assert.equal((await victor.data('GET', '/api/user/self')).github_id, '');
  });

  it('sends a challenge of PKCE, and only the address of the configuration, whatever the request says [T-OAUTH-02]', async () => {
    for (const name of ['github', 'corp']) {
      const begun = await visitor(gateway).get(`/api/oauth/${name}`, {
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
        origin: 'http://evil.example',
        forwarded: 'host=evil.example',
      });
      const sent = new URL(begun.headers.get('location')!).searchParams;
      assert.equal(sent.get('redirect_uri'), `${ORIGIN}/api/oauth/${name}`);
      assert.equal(sent.get('code_challenge_method'), 'S256');
      assert.match(sent.get('code_challenge')!, /^[\w-]{43}$/);
      assert.equal(sent.get('response_type'), 'code');
    }
    const who = visitor(gateway);
    const before = github.asked.length;
    assert.equal((await signIn(who, 'github', { subject: '1007', name: 'wanda' })).status, 200);
    const [there, exchange] = github.asked.slice(before);
    assert.equal(hash('sha256', exchange!.body.get('code_verifier')!, 'base64url'), there!.query.get('code_challenge'));
    assert.equal(exchange!.body.get('redirect_uri'), `${ORIGIN}/api/oauth/github`);
  });

  it('never links by an e-mail address, proven or not [T-OAUTH-03]', async () => {
    const victim = visitor(gateway);
    await signIn(victim, 'github', { subject: '1008', name: 'xena', email: 'xena@example.com', emailVerified: true });
    const { id } = await victim.data('GET', '/api/user/self');
    for (const [subject, emailVerified] of [
      ['sub-1008a', true],
      ['sub-1008b', false],
    ] as const) {
      const eve = visitor(gateway);
      const signed = await signIn(eve, 'corp', { subject, name: 'xena', email: 'XENA@example.com', emailVerified });
      assert.equal(signed.status, 200, signed.text);
      assert.notEqual(signed.body.data.id, id);
      assert.match(signed.body.data.username, /^xena-\d+$/);
      assert.equal((await eve.data('GET', '/api/user/self')).email, '');
    }
    // Not proven there: it is not theirs here.
    const yves = visitor(gateway);
    await signIn(yves, 'github', { subject: '1009', name: 'yves', email: 'yves@example.com', emailVerified: false });
    assert.equal((await yves.data('GET', '/api/user/self')).email, '');
  });

  it('the same word at another provider is somebody else [T-OAUTH-04]', async () => {
    const one = await signIn(visitor(gateway), 'github', { subject: '1010', name: 'zoe' });
    const two = await signIn(visitor(gateway), 'corp', { subject: '1010', name: 'zoe' });
    assert.notEqual(one.body.data.id, two.body.data.id);
  });

  it('an identity is one account, however many windows bring it at once [T-OAUTH-04]', async () => {
    const somebody = { subject: '1011', name: 'many' };
    const windows = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const who = visitor(gateway);
        return [who, await thereAndBack(who, 'github', somebody)] as const;
      }),
    );
    const answers = await Promise.all(windows.map(([who, back]) => who.get(pathOf(back))));
    const ids = new Set(answers.map(({ body }) => body.data?.id));
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array(8).fill(200),
    );
    assert.equal(ids.size, 1);
    const found = await (await root(gateway)).data('GET', '/api/user/search?keyword=many');
    assert.equal(found.total, 1);
  });

  it('connects an account elsewhere to the one that is signed in, and no other [T-OAUTH-04]', async () => {
    const abe = await somebodyNew(gateway, 'abe');
    const connected = await signIn(abe, 'github', { subject: '1012', name: 'x' }, '?intent=bind');
    assert.deepEqual(connected.body, { success: true, message: 'bind', data: { action: 'bind' } });
    const { id, github_id } = await abe.data('GET', '/api/user/self');
    assert.equal(github_id, '1012');
    assert.equal((await signIn(visitor(gateway), 'github', { subject: '1012', name: 'x' })).body.data.id, id);

    const another = await signIn(abe, 'github', { subject: '1013', name: 'x' }, '?intent=bind');
    assert.equal(said(another), '409 provider_bound');
    const bea = await somebodyNew(gateway, 'bea');
    assert.equal(
      said(await signIn(bea, 'github', { subject: '1012', name: 'x' }, '?intent=bind')),
      '409 identity_taken',
    );
    assert.equal(
      (await signIn(abe, 'github', { subject: '1012', name: 'x' }, '?intent=bind')).status,
      200,
      'it is so already',
    );
    const { items } = await (await root(gateway)).data('GET', '/api/audit?action=user.bind');
    assert.ok(items.length > 0, 'it stands in the audit');

    // A browser goes on where accounts elsewhere stand, and reads there what went wrong.
    for (const [subject, query] of [
      ['1012', 'connected=github'],
      ['1013', 'error=provider_bound'],
    ] as const) {
      const back = await thereAndBack(abe, 'github', { subject, name: 'x' }, '?intent=bind');
      const { status, location } = await visit(gateway, abe, pathOf(back));
      assert.deepEqual([status, location], [302, `${ORIGIN}/console/security?${query}`]);
    }
  });

  it('connects only for whoever is signed in and asks for it here', async () => {
    assert.equal(said(await visitor(gateway).get('/api/oauth/github?intent=bind')), '401 not_signed_in');
    assert.equal(
      said(await visitor(gateway).post('/api/oauth/state', { provider: 'github', intent: 'bind' })),
      '401 not_signed_in',
    );
    const cora = await somebodyNew(gateway, 'cora');
    for (const headers of [
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' },
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
      { origin: 'https://evil.example' },
    ]) {
      assert.equal(said(await cora.get('/api/oauth/github?intent=bind', headers)), '403 cross_site');
      const { status } = await cora.post('/api/oauth/state', { provider: 'github', intent: 'bind' }, headers);
      assert.equal(status, 403);
    }
    const { status, body } = await cora.get('/api/oauth/github?intent=steal');
    assert.deepEqual([status, body.param], [400, 'intent']);
  });

  it('connects for whoever has a second factor after a check by it', async () => {
    const nell = await somebodyNew(gateway, 'nell');
    const { secret, backup_codes: codes } = await nell.data('POST', '/api/user/2fa/setup');
    await nell.data('POST', '/api/user/2fa/enable', { code: await generate({ secret }) });
    assert.equal(said(await nell.get('/api/oauth/github?intent=bind')), '403 verification_required');
    const begin = () => nell.post('/api/oauth/state', { provider: 'github', intent: 'bind' });
    assert.equal(said(await begin()), '403 verification_required');
    await nell.data('POST', '/api/verify', { method: '2fa', code: codes[0] });
    assert.equal((await begin()).status, 200);
  });

  it('does not take away the last way to sign in [T-OAUTH-05]', async () => {
    const dora = visitor(gateway);
    await signIn(dora, 'github', { subject: '1014', name: 'dora' });
    assert.equal(said(await dora.get('/api/user/unbind/github')), '409 last_login_method');
    await signIn(dora, 'corp', { subject: 'sub-1014', name: 'dora' }, '?intent=bind');
    const elsewhere = visitor(gateway);
    await signIn(elsewhere, 'github', { subject: '1014', name: 'dora' });
    // Of two that go at the same time, one stays.
    const both = await Promise.all([dora.get('/api/user/unbind/github'), dora.delete('/api/user/unbind/corp')]);
    assert.deepEqual(both.map(said).sort(), ['200 ok', '409 last_login_method']);
    assert.equal((await elsewhere.get('/api/user/self')).status, 401, 'signed in elsewhere: signed out');
    assert.equal((await dora.get('/api/user/self')).status, 200);
  });

  it('disconnects what is connected, where a password is left', async () => {
    const emil = await member(gateway, 'emil');
    assert.equal(said(await emil.get('/api/user/unbind/github')), '404 binding_not_found');
    await signIn(emil, 'github', { subject: '1015', name: 'emil' }, '?intent=bind');
    const stranger = await somebodyNew(gateway, 'fay');
    assert.equal(said(await stranger.get('/api/user/unbind/github')), '404 binding_not_found', 'of somebody else');
    assert.equal(said(await visitor(gateway).get('/api/user/unbind/github')), '401 not_signed_in');
    assert.equal(said(await emil.get('/api/user/unbind/github', { 'sec-fetch-site': 'cross-site' })), '403 cross_site');
    const token = await emil.data('GET', '/api/user/token');
    assert.equal(
      said(await visitor(gateway, { authorization: token }).delete('/api/user/unbind/github')),
      '401 session_wanted',
    );
    await emil.data('DELETE', '/api/user/unbind/github');
    assert.equal((await emil.data('GET', '/api/user/self')).github_id, '');
    const anew = await signIn(visitor(gateway), 'github', { subject: '1015', name: 'emil-2' });
    assert.equal(anew.body.data.username, 'emil-2');
  });

  it('is free again for whoever deleted the account that it signed in to', async () => {
    const gone = visitor(gateway);
    const first = await signIn(gone, 'github', { subject: '1019', name: 'gil' });
    assert.equal((await gone.delete('/api/user/self')).status, 200);
    const anew = await signIn(visitor(gateway), 'github', { subject: '1019', name: 'gil' });
    assert.equal(anew.status, 200, anew.text);
    assert.notEqual(anew.body.data.id, first.body.data.id);
  });

  it('takes no code of another provider [T-OAUTH-06]', async () => {
    const who = visitor(gateway);
    const fromGithub = await thereAndBack(who, 'github', { subject: '1016', name: 'gus' });
    const asked = oidc.asked.length;
    assert.equal(said(await who.get(`/api/oauth/corp${fromGithub.search}`)), '400 oauth_state');
    assert.equal(oidc.asked.length, asked, 'it is not shown to the other one');

    // With a state of the right provider, and the code of the other.
    const code = fromGithub.searchParams.get('code')!;
    const right = await thereAndBack(who, 'corp', { subject: 'sub-1016', name: 'gus' });
    right.searchParams.set('code', code);
    const exchanges = (): number => oidc.asked.filter(({ path }) => path === '/token').length;
    const before = exchanges();
    assert.equal(said(await who.get(pathOf(right))), '400 oauth_code');
    assert.equal(exchanges(), before + 1);
    // With the name of another one, or none where this one always gives its own.
    for (const iss of ['https://other.example', undefined]) {
      const back = await thereAndBack(who, 'corp', { subject: 'sub-1016', name: 'gus' });
      if (iss === undefined) back.searchParams.delete('iss');
      else back.searchParams.set('iss', iss);
      assert.equal(said(await who.get(pathOf(back))), '400 oauth_state');
    }
    assert.equal(exchanges(), before + 1);
    // The other way round: this one says no with status 200.
    const there = await thereAndBack(who, 'github', { subject: '1016', name: 'gus' });
    there.searchParams.set('code', 'made-up');
    assert.equal(said(await who.get(pathOf(there))), '400 oauth_code');
  });

  it('asks for the second step as after a password [T-2FA-06]', async () => {
    const hal = visitor(gateway);
    await signIn(hal, 'github', { subject: '1017', name: 'hal' });
    const { secret, backup_codes: codes } = await hal.data('POST', '/api/user/2fa/setup');
    await hal.data('POST', '/api/user/2fa/enable', { code: await generate({ secret }) });

    const again = visitor(gateway);
    const asked = await signIn(again, 'github', { subject: '1017', name: 'hal' });
    assert.equal(asked.status, 200);
    assert.equal(asked.body.data.require_2fa, true);
    assert.equal(again.cookies.has('turnpike_session'), false);
    assert.equal((await again.get('/api/user/self')).status, 401);
    const done = await again.post('/api/user/login/2fa', { code: codes[0] });
    assert.equal(done.body.data.username, 'hal', done.text);

    const browser = visitor(gateway);
    const back = await thereAndBack(browser, 'github', { subject: '1017', name: 'hal' });
    const { location } = await visit(gateway, browser, pathOf(back));
    assert.equal(location, `${ORIGIN}/console/login?step=2fa`);
    assert.equal(browser.cookies.has('turnpike_session'), false);
    assert.equal((await browser.post('/api/user/login/2fa', { code: codes[1] })).status, 200);
  });

  it('lets nobody in whose account is disabled', async () => {
    const ivo = await signIn(visitor(gateway), 'github', { subject: '1018', name: 'ivo' });
    const admin = await root(gateway);
    await admin.data('POST', '/api/user/manage', { id: ivo.body.data.id, action: 'disable' });
    assert.equal(
      said(await signIn(visitor(gateway), 'github', { subject: '1018', name: 'ivo' })),
      '403 account_disabled',
    );
  });

  it('gives a name to whoever has none that can be one here', async () => {
    const names: string[] = [];
    for (const [i, name] of ['', '   ', '\u202e\u0000', 'root', 'x'.repeat(200), 'a b/c<d>', '名前'].entries()) {
      const { status, body, text } = await signIn(visitor(gateway), 'corp', { subject: `sub-name-${i}`, name });
      assert.equal(status, 200, text);
      names.push(body.data.username);
    }
    const [none, blank, invisible, taken, long, odd, wide] = names;
    assert.equal(none, 'corp');
    assert.match(blank!, /^corp-\d+$/);
    assert.match(invisible!, /^corp-\d+$/);
    assert.match(taken!, /^root-\d+$/);
    assert.equal(long, 'x'.repeat(30));
    assert.equal(odd, 'a-b-c-d');
    assert.equal(wide, '名前');
  });

  it('tells no secret: not in addresses, not in the log', async () => {
    const address = (await visitor(gateway).get('/api/oauth/github')).headers.get('location')!;
    assert.ok(!address.includes(CLIENT.secret), 'the address');
    assert.ok(!gateway.log.some((line) => line.includes(CLIENT.secret)), 'the log');
  });
});
