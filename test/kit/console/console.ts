/** Somebody at the console of a test gateway: signed in or not, with cookies as a browser keeps them. */
import assert from 'node:assert/strict';
import { generate } from 'otplib';
import { Accounts, type NewAccount } from '../../../core/contracts/accounts.ts';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { Running } from '../../../core/contracts/running.ts';
import { Sessions } from '../../../core/contracts/sessions.ts';
import { Site } from '../../../core/contracts/site.ts';
import type { FakeClock } from '../gateway/clock.ts';
import type { TestGateway } from '../gateway/gateway.ts';

/** The pipeline of a gateway with everything that ships for people and money, for `config.pipeline`. */
export const CONSOLE_PIPELINE: readonly string[] = [
  'accounts',
  'second-factors',
  'oauth',
  'departments',
  'auth',
  'counters',
  'keys',
  'limits',
  'prices',
  'quota',
  'plans',
  'models',
  'styles',
  'vendors/openai',
  'vendors/compatible',
  'vendors/demo',
  'log',
  'audit',
  'mail',
  'notices',
  'alerts',
  'payments',
  'console',
];

/** Limits that no test runs into by accident, for `config.console`. */
export const PATIENT = { limits: { signIn: 10_000, mail: 10_000, requests: 1_000_000 } };

/** What `/api` answered. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where it was no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
  readonly text: string;
}

/** `200 ok`; of a refusal its status and its code: `403 wrong_code`. */
export function said({ status, body }: Pick<ApiAnswer, 'status' | 'body'>): string {
  return `${status} ${body?.code ?? 'ok'}`;
}

/** The status, and the field that a refusal is about: `400 quota`. */
export function fieldOf({ status, body }: ApiAnswer): string {
  return `${status} ${body?.param}`;
}

/** Status, code and field: `409 name_taken username`; `200` where it went well. */
export function verdictOf({ status, body }: ApiAnswer): string {
  return [status, body?.code, body?.param].filter(Boolean).join(' ');
}

/** A visitor, who may sign in. */
export interface Visitor {
  /** By name. */
  readonly cookies: ReadonlyMap<string, string>;
  get(path: string, headers?: Record<string, string>): Promise<ApiAnswer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  delete(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  /** The same, failing unless it is a success; what is in `data`. */
  // biome-ignore lint/suspicious/noExplicitAny: see `ApiAnswer`
  data(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<any>;
  /** Signs in; fails where that fails. */
  signIn(name: string, password: string): Promise<Visitor>;
}

/** Somebody new, who has no cookie but those given. `headers` go with every request. */
export function visitor(
  gateway: Pick<TestGateway, 'url'>,
  headers: Record<string, string> = {},
  given: Readonly<Record<string, string>> = {},
): Visitor {
  const cookies = new Map(Object.entries(given));

  async function ask(
    method: string,
    path: string,
    body: unknown,
    more: Record<string, string> = {},
  ): Promise<ApiAnswer> {
    const response = await fetch(`${gateway.url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        'x-requested-with': 'a test',
        ...(cookies.size > 0 && { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
        ...more,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parsed(text), text };
  }

  const self: Visitor = {
    cookies,
    get: (path, more) => ask('GET', path, undefined, more),
    post: (path, body = {}, more = {}) => ask('POST', path, body, more),
    put: (path, body = {}, more = {}) => ask('PUT', path, body, more),
    delete: (path, body, more) => ask('DELETE', path, body, more),
    async data(method, path, body) {
      const answer = await ask(method, path, body ?? (method === 'POST' || method === 'PUT' ? {} : undefined));
      assert.ok(
        answer.status === 200 && answer.body?.success === true,
        `${method} ${path}: ${answer.status} ${answer.text}`,
      );
      return answer.body.data;
    },
    async signIn(username, password) {
      await self.data('POST', '/api/user/login', { username, password });
      return self;
    },
  };
  return self;
}

/** A person with an account of that name and `PASSWORD`, signed in. */
export async function member(
  gateway: TestGateway,
  name: string,
  more: { readonly role?: 'member' | 'admin'; readonly units?: number } = {},
): Promise<Visitor> {
  const { role = 'member', units = 0 } = more;
  const { id } = await gateway.host.use(Accounts).create({ name, role });
  await gateway.host.store.run('INSERT INTO password (account_id, hash) VALUES (?, ?)', id, PASSWORD_HASH);
  if (units > 0) await gateway.command(`user credit ${name} ${units}`);
  return signedIn(gateway, name);
}

/**
 * Somebody who is signed in, without the work of a password; the account is made where there is none, and has none then.
 */
export async function signedIn(
  gateway: TestGateway,
  name: string,
  more: Partial<NewAccount> = {},
): Promise<Visitor & { readonly id: number; readonly secret: string }> {
  const { host } = gateway;
  const accounts = host.use(Accounts);
  const { id } = (await accounts.findByName(name)) ?? (await accounts.create({ role: 'member', ...more, name }));
  const opening = { accountId: id, method: 'password', ip: '127.0.0.1', userAgent: 'a test' };
  const { secret } = await host.use(Sessions).open(opening);
  const cookie = `${host.find(Site)?.secure === true ? '__Host-' : ''}turnpike_session`;
  return { ...visitor(gateway, {}, { [cookie]: secret }), id, secret };
}

/** The same person, whose session was checked just now: five minutes of verified operations, without a second factor. */
export async function checked<T extends Visitor>(gateway: TestGateway, person: T): Promise<T> {
  const sessions = gateway.host.use(Sessions);
  const [cookie, secret] = [...person.cookies].find(([name]) => name.endsWith('turnpike_session')) ?? ['', ''];
  const found = await sessions.find(secret);
  assert.ok(found !== undefined, 'nobody is signed in');
  return { ...person, ...visitor(gateway, {}, { [cookie]: (await sessions.verify(found.session.id)).secret }) };
}

/**
 * Moves the time, and waits until what chores began meanwhile is written: till then the store looks as if it had been behind for as
 * long, and refuses.
 */
export async function advanced(gateway: TestGateway, clock: FakeClock, ms: number): Promise<void> {
  clock.advance(ms);
  const running = gateway.host.use(Running);
  while ((await running.vitals()).store.waiting > 0);
}

/** Of everybody that `member` makes. */
export const PASSWORD = 'correct horse battery';
/** What is stored of it, at the cost that `startGateway` sets. */
const PASSWORD_HASH = '$scrypt$ln=10,r=8,p=1$bCiyei2wOwgy4u7COORgfA$muFNMQh5hqRFCAKmVi7CQp63Xrwfl1t4Jyfu7zJ5bxY';

/** The password of root, for `env` of `startGateway`. */
export const ROOT_ENV = { TURNPIKE_ROOT_PASSWORD: 'a root password for tests' };

/** Root, signed in. */
export function root(gateway: TestGateway): Promise<Visitor> {
  return signedIn(gateway, 'root');
}

function parsed(text: string): JsonObject | undefined {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return undefined;
  }
}

/**
 * Gives somebody who is signed in a second factor and checks it: five minutes of verified operations. Every other session of theirs
 * ends by that.
 */
export async function verify(person: Visitor): Promise<Visitor> {
  const { secret, backup_codes: codes } = await person.data('POST', '/api/user/2fa/setup');
  await person.data('POST', '/api/user/2fa/enable', { code: await generate({ secret }) });
  // A code of the authenticator is good once, and the next one comes in half a minute.
  await person.data('POST', '/api/verify', { method: '2fa', code: codes[0] });
  return person;
}

/** `GET /api/openapi.json` with the named schemas in the place of the references to them. */
// biome-ignore lint/suspicious/noExplicitAny: a document of every shape
export async function describedInterface(gateway: TestGateway): Promise<any> {
  const { body } = await visitor(gateway).get('/api/openapi.json');
  const resolved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolved);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...members } = value as JsonObject;
    const copy = Object.fromEntries(Object.entries(members).map(([name, each]) => [name, resolved(each)]));
    if (typeof $ref !== 'string') return copy;
    const [kind = '', name = ''] = $ref.replace('#/components/', '').split('/');
    assert.ok(name in body.components[kind], `nothing is called ${$ref}`);
    return { ...(resolved(body.components[kind][name]) as object), ...copy };
  };
  return { ...body, paths: resolved(body.paths) };
}
