/** Providers of sign-in: a real one of OpenID Connect, one that speaks as GitHub does, and the browser that goes there and back. */
import { generateKeyPairSync, hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
// @ts-expect-error: it brings no types
import OidcProvider from 'oidc-provider';

/** Somebody with an account at a provider. */
export interface Somebody {
  /** A number as text, for GitHub. */
  readonly subject: string;
  readonly name: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
}

/** A running provider. */
export interface FakeProvider {
  /** `http://127.0.0.1:PORT` */
  readonly issuer: string;
  /** Who is signed in there. */
  person: Somebody;
  /** Addresses and bodies of what it was asked, in order. */
  readonly asked: { readonly path: string; readonly query: URLSearchParams; readonly body: URLSearchParams }[];
  close(): void;
}

/** What a gateway is known by there. */
export const CLIENT = { id: 'turnpike-tests', secret: 'oauth-canary-0d51f2c6a7b34e' };

/** Of everybody who signs in with OpenID Connect: the library `oidc-provider`, with nothing left out. */
export async function startOidc(redirectUris: readonly string[]): Promise<FakeProvider> {
  const { server, issuer } = await listen();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const asked: FakeProvider['asked'] = [];
  const fake: FakeProvider = { issuer, person: { subject: 'sub-1', name: 'ann' }, asked, close: closing(server) };
  const provider = new OidcProvider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: redirectUris,
        grant_types: ['authorization_code'],
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' }] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    pkce: { required: () => true },
    claims: { openid: ['sub'], profile: ['preferred_username'], email: ['email', 'email_verified'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => claimsOf({ ...fake.person, subject: id }),
    }),
    renderError(context: { body: string }, { error, error_description }: Record<string, string>) {
      context.body = `${error}: ${error_description}`;
    },
  });
  const serve = provider.callback() as RequestListener;
  server.on('request', async (request, response) => {
    note(asked, request, '');
    if (!request.url?.startsWith('/interaction/')) return serve(request, response);
    const grant = new provider.Grant({ accountId: fake.person.subject, clientId: CLIENT.id });
    grant.addOIDCScope('openid profile email');
    const result = { login: { accountId: fake.person.subject }, consent: { grantId: await grant.save() } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  });
  return fake;
}

function claimsOf({ subject, name, email, emailVerified }: Somebody): Record<string, unknown> {
  return { sub: subject, preferred_username: name, email, email_verified: emailVerified };
}

/** One that has numbers and names instead of claims, and says no with status 200. */
export async function startGithub(): Promise<FakeProvider> {
  const { server, issuer } = await listen();
  const asked: FakeProvider['asked'] = [];
  const fake: FakeProvider = { issuer, person: { subject: '4711', name: 'octo' }, asked, close: closing(server) };
  const codes = new Map<string, { readonly challenge: string; readonly person: Somebody }>();
  const tokens = new Map<string, Somebody>();

  server.on('request', async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { path, query, body } = note(asked, request, Buffer.concat(chunks).toString());
    const json = (value: unknown, status = 200): void =>
      void response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value));
    const person = tokens.get((request.headers.authorization ?? '').replace(/^bearer /i, ''));

    if (path === '/login/oauth/authorize') {
      const code = randomBytes(10).toString('hex');
      codes.set(code, { challenge: query.get('code_challenge') ?? '', person: fake.person });
      const back = new URL(query.get('redirect_uri') ?? '');
      back.searchParams.set('code', code);
      back.searchParams.set('state', query.get('state') ?? '');
      response.writeHead(302, { location: back.href }).end();
    } else if (path === '/login/oauth/access_token') {
      const code = codes.get(body.get('code') ?? '');
      codes.delete(body.get('code') ?? '');
      const proven = hash('sha256', body.get('code_verifier') ?? '', 'base64url') === code?.challenge;
      if (code === undefined || !proven || body.get('client_secret') !== CLIENT.secret) {
        json({ error: 'bad_verification_code', error_description: 'The code passed is incorrect or expired.' });
        return;
      }
      const token = `gho_${randomBytes(18).toString('hex')}`;
      tokens.set(token, code.person);
      json({ access_token: token, token_type: 'bearer', scope: 'read:user,user:email' });
    } else if (person === undefined) json({ message: 'Bad credentials' }, 401);
    else if (path === '/api/v3/user') json({ id: Number(person.subject), login: person.name, email: person.email });
    else if (path === '/api/v3/user/emails') {
      json([
        { email: 'other@example.com', primary: false, verified: true },
        ...(person.email === undefined
          ? []
          : [{ email: person.email, primary: true, verified: person.emailVerified === true }]),
      ]);
    } else json({ message: 'Not Found' }, 404);
  });
  return fake;
}

/** Goes where a provider leads, as a browser that is signed in there does, until it leads back: that address. */
export async function goTo(provider: Pick<FakeProvider, 'issuer'>, address: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let at = new URL(address);
  while (at.origin === provider.issuer) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null)
      throw new Error(`the provider does not lead on: ${response.status} ${await response.text()}`);
    at = new URL(location, at);
  }
  return at;
}

async function listen(): Promise<{ readonly server: Server; readonly issuer: string }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function closing(server: Server): () => void {
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

function note(
  asked: FakeProvider['asked'],
  { url = '' }: IncomingMessage,
  body: string,
): FakeProvider['asked'][number] {
  const { pathname: path, searchParams: query } = new URL(url, 'http://localhost');
  const one = { path, query, body: new URLSearchParams(body) };
  asked.push(one);
  return one;
}
