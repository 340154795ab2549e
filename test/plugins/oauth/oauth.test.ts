/** A provider of sign-in that lies, or talks too much: nobody is signed in by it. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { OAuth } from '../../../core/contracts/oauth.ts';
import { Site } from '../../../core/contracts/site.ts';
import accounts from '../../../plugins/accounts/index.ts';
import oauth from '../../../plugins/oauth/index.ts';
import { type Driven, drive, verdict } from '../../kit/gateway/drive.ts';

type Claims = Record<string, unknown>;

const ORIGIN = 'https://gateway.example';
const CLIENT = { id: 'gateway', secret: 'a secret for tests' };
const KEY_ID = 'k1';
const json = { 'content-type': 'application/json' };

const keys = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const otherKeys = generateKeyPairSync('rsa', { modulusLength: 2_048 });

function token(claims: Claims, key: KeyObject, alg = 'RS256'): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const said = `${part({ alg, kid: KEY_ID })}.${part(claims)}`;
  return `${said}.${alg === 'none' ? '' : sign('sha256', Buffer.from(said), key).toString('base64url')}`;
}

describe('a provider of OpenID Connect', () => {
  let issuer = '';
  /** What it answers otherwise than it should, by path. */
  let odd: Readonly<Record<string, RequestListener>> = {};
  /** What its ID token says, out of what it should say. */
  let claimed: (right: Claims) => Claims = (right) => right;
  let makeToken: (claims: Claims) => string = (claims) => token(claims, keys.privateKey);
  let asked: string[] = [];
  let nonce = '';
  let driven: Driven;

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, issuer);
    asked.push(pathname);
    const other = odd[pathname];
    if (other !== undefined) return other(request, response);
    const now = Math.floor(Date.now() / 1_000);
    const right = { iss: issuer, aud: CLIENT.id, sub: 's-1', nonce, iat: now, exp: now + 60, name: 'Ann' };
    const answers: Readonly<Record<string, () => unknown>> = {
      '/.well-known/openid-configuration': () => ({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/me`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      }),
      '/token': () => ({ access_token: 'at', token_type: 'Bearer', id_token: makeToken(claimed(right)) }),
      '/me': () => ({ sub: 's-1', email: 'ann@example.com', email_verified: true }),
      '/jwks': () => ({
        keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'RS256', use: 'sig' }],
      }),
    };
    response.writeHead(200, json).end(JSON.stringify(answers[pathname]?.() ?? {}));
  });
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const settings = { ...CLIENT, type: 'oidc', issuer, label: undefined };
    driven = await drive([accounts, oauth], {
      services: () => [[Site, { origin: ORIGIN, root: ORIGIN, oauth: { corp: settings } }]],
    });
  });
  beforeEach(() => {
    odd = {};
    claimed = (right) => right;
    makeToken = (claims) => token(claims, keys.privateKey);
    asked = [];
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  /** A flow from its beginning to its end. */
  async function flow() {
    const service = driven.use(OAuth);
    const { url, state, binding } = await service.begin('corp', 'login', undefined);
    nonce = new URL(url).searchParams.get('nonce')!;
    return service.finish('corp', { state, code: 'c', binding });
  }

  it('says who somebody is', async () => {
    const { identity, intent, accountId } = await flow();
    assert.deepEqual(identity, { provider: 'corp', subject: 's-1', name: 'Ann', email: 'ann@example.com' });
    assert.deepEqual([intent, accountId], ['login', undefined]);
  });

  it('is looked for once, and then known', async () => {
    await flow();
    assert.ok(!asked.includes('/.well-known/openid-configuration'), asked.join(' '));
    driven.clock.advance(3_600_001);
    await flow();
    assert.ok(asked.includes('/.well-known/openid-configuration'), asked.join(' '));
  });

  const lies: readonly [string, (right: Claims) => Claims][] = [
    ['another issuer', (right) => ({ ...right, iss: 'https://other.example' })],
    ['another audience', (right) => ({ ...right, aud: 'somebody-else' })],
    ['several audiences and nobody it was made for', (right) => ({ ...right, aud: [CLIENT.id, 'other'] })],
    ['the nonce of another flow', (right) => ({ ...right, nonce: 'replayed' })],
    ['no nonce', ({ nonce: _, ...right }) => right],
    ['no subject', ({ sub: _, ...right }) => right],
    ['a subject that is no text', (right) => ({ ...right, sub: 7 })],
    ['a subject that is empty', (right) => ({ ...right, sub: '' })],
    ['a subject without an end', (right) => ({ ...right, sub: 's'.repeat(300) })],
    ['a time that has passed', (right) => ({ ...right, exp: 1_000 })],
    ['somebody else than its own page about them', (right) => ({ ...right, sub: 's-2' })],
  ];
  for (const [name, lie] of lies) {
    it(`is not believed with an ID token that names ${name}`, async () => {
      claimed = lie;
      assert.equal(await verdict(flow), '502 oauth_provider_failed');
    });
  }

  it('is not believed with an ID token that it did not sign', async () => {
    for (const make of [
      (claims: Claims) => token(claims, otherKeys.privateKey),
      (claims: Claims) => token(claims, keys.privateKey, 'none'),
      (claims: Claims) => token(claims, keys.privateKey, 'HS256'),
      () => 'no.token.atall',
      () => '',
    ]) {
      makeToken = make;
      assert.equal(await verdict(flow), '502 oauth_provider_failed');
    }
  });

  it('says nothing of an e-mail address that it does not call proven', async () => {
    for (const verified of [false, undefined, 'true', 1]) {
      odd = {
        '/me': (_, response) =>
          response
            .writeHead(200, json)
            .end(JSON.stringify({ sub: 's-1', email: 'a@b.example', email_verified: verified })),
      };
      assert.equal((await flow()).identity.email, undefined);
    }
  });

  it('leads us nowhere else, and cannot talk without an end', async () => {
    for (const path of ['/token', '/me', '/jwks']) {
      odd = { [path]: (_, response) => response.writeHead(302, { location: '/elsewhere' }).end() };
      driven.clock.advance(3_600_001);
      assert.equal(await verdict(flow), '502 oauth_provider_failed', path);
      assert.ok(!asked.includes('/elsewhere'), path);
      odd = { [path]: (_, response) => response.writeHead(200, json).end(`"${'x'.repeat(300_000)}"`) };
      driven.clock.advance(3_600_001);
      assert.equal(await verdict(flow), '502 oauth_provider_failed', path);
    }
  });

  it('is somebody else where it is found under another name', async () => {
    driven.clock.advance(3_600_001);
    odd = {
      '/.well-known/openid-configuration': (_, response) =>
        response
          .writeHead(200, json)
          .end(JSON.stringify({ issuer: 'https://other.example', token_endpoint: `${issuer}/t` })),
    };
    assert.equal(await verdict(flow), '502 oauth_provider_failed');
    odd = {};
    await flow();
  });

  it('does not get a code whose state is of another flow, and does not even hear of it [T-OAUTH-01]', async () => {
    const service = driven.use(OAuth);
    const one = await service.begin('corp', 'login', undefined);
    const two = await service.begin('corp', 'bind', undefined);
    const finish = (state: string, binding: string) => service.finish('corp', { state, code: 'c', binding });
    asked = [];
    assert.equal(await verdict(() => finish(one.state, two.binding)), '400 oauth_state');
    assert.equal(await verdict(() => finish(one.state, one.binding)), '400 oauth_state', 'it is gone');
    assert.equal(await verdict(() => finish(two.state, '')), '400 oauth_state');
    assert.equal(await verdict(() => finish('', '')), '400 oauth_state');
    assert.equal(
      await verdict(() => service.finish('other', { state: two.state, code: 'c', binding: '' })),
      '404 provider_not_found',
    );
    assert.deepEqual(asked, []);
  });
});
