/** What the tests of sign-in with an account elsewhere share: a gateway, its providers, and the way there and back. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { after } from 'node:test';
import {
  type ApiAnswer,
  CONSOLE_PIPELINE,
  PATIENT,
  ROOT_ENV,
  type Visitor,
  visitor,
} from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import {
  CLIENT,
  type FakeProvider,
  goTo,
  type Somebody,
  startGithub,
  startOidc,
} from '../../kit/stand-ins/fake-oauth.ts';

/** Nobody listens there: the tests carry what leads there to the gateway. */
export const ORIGIN = 'http://gateway.example';
/** What a browser sends with a page that somebody goes to; the other one, where another site has led there. */
export const PAGE = { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none', accept: 'text/html' };
const BACK = { ...PAGE, 'sec-fetch-site': 'cross-site' };

/** For the whole of a test file. */
export const github = await startGithub();
export const oidc = await startOidc([`${ORIGIN}/api/oauth/corp`]);
after(() => {
  github.close();
  oidc.close();
});

/** A gateway where `github` and `corp` are configured. `more`: of its section `console`. */
export function start(more: Readonly<Record<string, unknown>> = {}, options: Parameters<typeof startGateway>[0] = {}) {
  const client = { id: CLIENT.id, secret: CLIENT.secret };
  const oauth = {
    github: { ...client, issuer: github.issuer },
    corp: { ...client, issuer: oidc.issuer, label: 'Corporate' },
    // Off, for nobody filled it in.
    off: { issuer: 'https://id.example.com' },
  };
  const console = { ...PATIENT, url: ORIGIN, registration: 'open', oauth, ...more };
  const config = { pipeline: CONSOLE_PIPELINE, console, ...options.config };
  return startGateway({ env: ROOT_ENV, ...options, config });
}

const providerOf = (name: string): FakeProvider => (name === 'github' ? github : oidc);
/** As the gateway is asked for it. */
export const pathOf = (url: URL): string => url.pathname + url.search;

/** The way there and back, up to the address that the provider leads to. */
export async function thereAndBack(who: Visitor, name: string, somebody: Somebody, query = '') {
  providerOf(name).person = somebody;
  const begun = await who.get(`/api/oauth/${name}${query}`, { 'sec-fetch-site': 'same-origin' });
  assert.equal(begun.status, 302, begun.text);
  const back = await goTo(providerOf(name), begun.headers.get('location')!);
  assert.equal(back.origin, ORIGIN);
  return back;
}

/** All of it, as a script of the console does it. */
export async function signIn(who: Visitor, name: string, somebody: Somebody, query = ''): Promise<ApiAnswer> {
  return who.get(pathOf(await thereAndBack(who, name, somebody, query)));
}

/** Goes to a page; `fetch` would say that it is a script. The cookies are kept where those of `who` are. */
export async function visit(gateway: TestGateway, who: Visitor, path: string, headers: Record<string, string> = BACK) {
  const cookie = [...who.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const [response] = (await once(get(`${gateway.url}${path}`, { headers: { ...headers, cookie } }), 'response')) as [
    IncomingMessage,
  ];
  response.resume();
  for (const line of response.headers['set-cookie'] ?? []) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    (who.cookies as Map<string, string>).set(name, value);
  }
  return { status: response.statusCode, location: response.headers.location, cache: response.headers['cache-control'] };
}

/** A new account, signed in, that has no password. */
export async function somebodyNew(gateway: TestGateway, name: string): Promise<Visitor> {
  const who = visitor(gateway);
  const { status, text } = await signIn(who, 'corp', { subject: `sub-${name}`, name });
  assert.equal(status, 200, text);
  return who;
}
