/** Passkeys in a real browser, against a real gateway: whatever Chromium makes of our options, we have to take. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Browser, CDPSession, Page } from 'playwright-core';
import type { Json, JsonObject } from '../../core/plugin.ts';
import { freePort, startBrowser } from '../kit/console/browser.ts';
import { PATIENT, ROOT_ENV, signedIn } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';
import { FACTORS_PIPELINE } from '../kit/stand-ins/factors.ts';

/** What many consoles use. The folder `script` is what its package shows; the script for pages stands beside that. */
const LIBRARY = join(
  createRequire(import.meta.url).resolve('@simplewebauthn/browser'),
  '../../dist/bundle/index.umd.min.js',
);
const PATH = '/api/user/passkey';

/** What the page can be asked for. The gateway does not know of it: the browser is given it in its place. */
const PAGE = `<!doctype html><title>A page of tests</title><script>
  async function call(method, path, body) {
    const answer = await fetch(path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    return { status: answer.status, ...(await answer.json()) };
  }
  // Failures of the browser's own are answers, too.
  const told = (promise) => promise.catch((error) => ({ failed: error.name }));
  const create = (optionsJSON) => told(SimpleWebAuthnBrowser.startRegistration({ optionsJSON }));
  const get = (optionsJSON) => told(SimpleWebAuthnBrowser.startAuthentication({ optionsJSON }));
</script>`;

interface Said {
  readonly status: number;
  readonly success: boolean;
  readonly code?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly data: any;
}

describe('passkeys in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let origin: string;
  before(async () => {
    const port = await freePort();
    origin = `http://localhost:${port}`;
    gateway = await startGateway({
      config: {
        listen: { host: '127.0.0.1', port },
        pipeline: FACTORS_PIPELINE,
        console: { ...PATIENT, url: origin },
      },
      env: ROOT_ENV,
    });
    browser = await startBrowser();
  });
  after(async () => {
    await browser.close();
    await gateway.stop();
  });

  let page: Page;
  let authenticator: CDPSession;
  let authenticatorId: string;
  let name: string;
  let people = 0;

  /** Somebody new, signed in, in a browser of their own, with an authenticator that knows them. */
  beforeEach(async () => {
    name = `person-${++people}`;
    const context = await browser.newContext();
    await context.route('**/a-page-of-tests', (route) => route.fulfill({ contentType: 'text/html', body: PAGE }));
    page = await context.newPage();
    authenticator = await context.newCDPSession(page);
    await authenticator.send('WebAuthn.enable');
    authenticatorId = await plugIn({ hasUserVerification: true, isUserVerified: true });
    const { cookies } = await signedIn(gateway, name);
    await context.addCookies([...cookies].map(([cookie, value]) => ({ name: cookie, value, url: origin })));
    await visit(origin);
  });

  async function plugIn(verification: {
    readonly hasUserVerification: boolean;
    readonly isUserVerified: boolean;
  }): Promise<string> {
    const { authenticatorId: id } = await authenticator.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        automaticPresenceSimulation: true,
        ...verification,
      },
    });
    return id;
  }

  async function visit(site: string): Promise<void> {
    await page.goto(`${site}/a-page-of-tests`);
    await page.addScriptTag({ path: LIBRARY });
  }

  const ask = <T>(what: string, ...given: readonly (Json | undefined)[]): Promise<T> =>
    page.evaluate<T>(`${what}(${given.map((each) => JSON.stringify(each) ?? 'undefined').join(', ')})`);
  const call = (method: string, path: string, body?: JsonObject): Promise<Said> =>
    ask<Said>('call', method, path, body);

  /** One ceremony: begun, answered by the browser, finished. `lies`: what the page changes in the options. */
  async function ceremony(
    what: 'register' | 'login' | 'verify',
    lies: JsonObject = {},
    elsewhere?: string,
  ): Promise<Said> {
    const begun = await call('POST', `${PATH}/${what}/begin`);
    assert.equal(begun.status, 200, begun.code);
    const { options, flow_token } = begun.data;
    if (elsewhere !== undefined) await visit(elsewhere);
    const asked = what === 'register' ? 'create' : 'get';
    const credential = await ask<JsonObject>(asked, { ...options, ...lies });
    if (elsewhere !== undefined) await visit(origin);
    assert.equal(credential.failed, undefined, `the browser refused: ${credential.failed}`);
    return call('POST', `${PATH}/${what}/finish`, { flow_token, credential });
  }

  const said = ({ status, code = 'ok' }: Said): string => `${status} ${code}`;

  /** It was refused, and for that reason, as the log says. */
  function assertRefused(answer: Said, why: RegExp): void {
    assert.equal(said(answer), '403 passkey_refused');
    assert.match(gateway.log.findLast((line) => line.includes('a passkey was refused')) ?? '', why);
  }

  it('are registered, sign in without a name or a password, check, and are removed', async () => {
    assert.equal(said(await ceremony('register')), '200 ok');
    const { credentials } = await authenticator.send('WebAuthn.getCredentials', { authenticatorId });
    assert.deepEqual(
      credentials.map(({ rpId, isResidentCredential }) => [rpId, isResidentCredential]),
      [['localhost', true]],
    );

    await page.context().clearCookies();
    assert.equal(said(await call('GET', PATH)), '401 not_signed_in');
    const signedIn = await ceremony('login');
    assert.equal(said(signedIn), '200 ok');
    assert.equal(signedIn.data.username, name);
    assert.equal((await call('GET', '/api/user/self')).data.username, name);
    const cookies = await page.context().cookies();
    assert.deepEqual(cookies.map((cookie) => [cookie.name, cookie.httpOnly, cookie.sameSite]).sort(), [
      ['turnpike_browser', true, 'Lax'],
      ['turnpike_session', true, 'Lax'],
    ]);

    assert.equal(said(await call('DELETE', PATH)), '403 verification_required');
    const checked = await ceremony('verify');
    assert.deepEqual([checked.status, checked.data.verified], [200, true]);
    assert.equal((await call('GET', '/api/verify/status')).data.verified, true);
    assert.equal(said(await call('DELETE', PATH)), '200 ok');
    assert.deepEqual((await call('GET', PATH)).data, { enabled: false });
    assertRefused(await ceremony('login'), /no account has this passkey/);
  });

  it('are read by the browser itself, without a library', async () => {
    const begun = await call('POST', `${PATH}/register/begin`);
    const made = await page.evaluate(`navigator.credentials
      .create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(${JSON.stringify(begun.data.options.publicKey)}) })
      .then((credential) => credential.toJSON())`);
    // The bare credential: the ticket is in the cookie.
    assert.equal(said(await call('POST', `${PATH}/register/finish`, made as JsonObject)), '200 ok');
    const login = await call('POST', `${PATH}/login/begin`);
    const shown = await page.evaluate(`navigator.credentials
      .get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(${JSON.stringify(login.data.options.publicKey)}) })
      .then((credential) => credential.toJSON())`);
    const answer = await call('POST', `${PATH}/login/finish`, shown as JsonObject);
    assert.equal(said(answer), '200 ok');
    assert.equal(answer.data.username, name);
  });

  it('are not made, and not used, without the person being verified', async () => {
    await authenticator.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    const begun = await call('POST', `${PATH}/register/begin`);
    assert.deepEqual(await ask('create', begun.data.options), { failed: 'NotAllowedError' });
    // And where the page does not ask for it, the gateway does.
    const lie = { userVerification: 'discouraged' };
    await authenticator.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    const simple = await plugIn({ hasUserVerification: false, isUserVerified: false });
    const selection = { authenticatorSelection: { residentKey: 'discouraged', ...lie } };
    assertRefused(await ceremony('register', selection), /user verification/i);
    await authenticator.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: simple });

    authenticatorId = await plugIn({ hasUserVerification: true, isUserVerified: true });
    assert.equal(said(await ceremony('register')), '200 ok');
    await authenticator.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    assertRefused(await ceremony('login', lie), /user verification/i);
    assertRefused(await ceremony('verify', lie), /user verification/i);
    assert.equal((await call('GET', '/api/verify/status')).data.verified, false);
    await authenticator.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    assert.equal(said(await ceremony('verify')), '200 ok');
  });

  it('are refused from a page of another origin, though the browser took it for the same site [T-PK-02]', async () => {
    const elsewhere = `http://localhost:${gateway.port + 1}`;
    assertRefused(await ceremony('register', {}, elsewhere), /origin/i);
    await authenticator.send('WebAuthn.clearCredentials', { authenticatorId });
    assert.equal(said(await ceremony('register')), '200 ok');
    assertRefused(await ceremony('login', {}, elsewhere), /origin/i);
    assertRefused(await ceremony('verify', {}, elsewhere), /origin/i);
    assert.equal(said(await ceremony('verify')), '200 ok');
  });

  it('are refused where they are of another site [T-PK-02]', async () => {
    const host = 'evil.localhost';
    const elsewhere = `http://${host}:${gateway.port}`;
    const rp = { id: host, name: 'Evil' };
    assertRefused(await ceremony('register', { rp }, elsewhere), /origin/i);
    // Of that site there is one now; it signs nobody in here.
    assertRefused(await ceremony('login', { rpId: host }, elsewhere), /no account has this passkey/);

    // Ours is not even offered there.
    assert.equal(said(await ceremony('register')), '200 ok');
    const begun = await call('POST', `${PATH}/login/begin`);
    await visit(elsewhere);
    assert.deepEqual(await ask('get', begun.data.options), { failed: 'SecurityError' });
  });

  it('count how often they were used, and are refused where that goes back', async () => {
    assert.equal(said(await ceremony('register')), '200 ok');
    const copies = await authenticator.send('WebAuthn.getCredentials', { authenticatorId });
    const [copy] = copies.credentials;
    assert.ok(copy, 'the authenticator has it');
    assert.equal(said(await ceremony('login')), '200 ok');
    assert.equal(said(await ceremony('login')), '200 ok');
    await authenticator.send('WebAuthn.clearCredentials', { authenticatorId });
    await authenticator.send('WebAuthn.addCredential', { authenticatorId, credential: copy });
    assertRefused(await ceremony('login'), /counter went back/);
  });
});
