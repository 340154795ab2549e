/** Every row of `/api`, at the door: who is turned away, before anything else is looked at, and with which words. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { JsonObject } from '../../core/plugin.ts';
import {
  CONSOLE_PIPELINE,
  describedInterface,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  type Visitor,
  verify,
  visitor,
} from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';

interface Operation {
  readonly operationId: string;
  readonly description?: string;
  readonly security: readonly JsonObject[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Shape }>> };
  readonly responses: JsonObject;
}
interface Shape {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}
interface Row extends Operation {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  readonly path: string;
}

/** Changing requests that begin something for whoever comes: a strange site may not have a browser send them either. */
const METHODS = ['get', 'post', 'put', 'delete'] as const;

describe('the table of /api', () => {
  let gateway: TestGateway;
  let rows: readonly Row[];
  let people: Readonly<Record<'member' | 'admin' | 'root', Visitor>>;
  before(async () => {
    gateway = await startGateway({ config: { pipeline: CONSOLE_PIPELINE, console: PATIENT }, env: ROOT_ENV });
    const body = await describedInterface(gateway);
    rows = Object.entries(body.paths as Readonly<Record<string, Record<string, Operation>>>).flatMap(
      ([path, operations]) =>
        METHODS.flatMap((method) => {
          const operation = operations[method];
          return operation === undefined ? [] : [{ ...operation, method, path }];
        }),
    );
    people = {
      member: await member(gateway, 'mia'),
      admin: await member(gateway, 'adam', { role: 'admin' }),
      root: await root(gateway),
    };
  });
  after(() => gateway.stop());

  const ours = (): readonly Row[] => rows.filter(({ path }) => path.startsWith('/api/'));
  const bySession = (): readonly Row[] => ours().filter(({ security }) => security.some((one) => 'session' in one));
  const mine = (path: string): string => path.replace(/\{\w+\}/g, '999999');
  const ask = (who: Visitor, row: Row, body?: unknown, headers: Record<string, string> = {}) => {
    const { method, path, requestBody } = row;
    if (method === 'get') return who.get(mine(path), headers);
    // What nobody describes is not sent: there are methods whose body is refused before anybody is asked who comes.
    const sent = requestBody === undefined ? undefined : (body ?? {});
    return method === 'delete' ? who.delete(mine(path), sent, headers) : who[method](mine(path), sent ?? {}, headers);
  };

  it('is a sound document of OpenAPI 3.1', async () => {
    const { body } = await visitor(gateway).get('/api/openapi.json');
    const result = await new Validator().validate(body);
    assert.ok(result.valid, JSON.stringify(result.errors, null, 1));
    assert.equal(body.openapi, '3.1.0');
    const ids = rows.map(({ operationId }) => operationId);
    assert.deepEqual(ids, [...new Set(ids)], 'every operation has a name of its own');
  });

  it('refers to schemas by names, each of which means one schema', async () => {
    const { body } = await visitor(gateway).get('/api/openapi.json');
    const { Key, KeyPage, ...others } = body.components.schemas;
    assert.equal(KeyPage.properties.items.items.$ref, '#/components/schemas/Key');
    assert.ok('accessed_time' in Key.properties);
    assert.ok(Object.keys(others).length > 50, `only ${Object.keys(others)}`);
    // A schema keeps its title if another one has the same name.
    const titles = JSON.stringify([body.paths, body.components]).match(/"title":"[A-Z]\w*"/g);
    assert.equal(titles, null);
  });

  it('has every row of the interface', () => {
    const there = new Set(rows.map(({ method, path }) => `${method.toUpperCase()} ${path}`));
    assert.deepEqual(
      INTERFACE.filter((row) => !there.has(row)),
      [],
    );
  });

  it('turns strangers away where somebody has to be signed in', async () => {
    assert.ok(bySession().length > 40, `only ${bySession().length} rows`);
    for (const row of bySession()) {
      for (const cookie of ['', 'turnpike_session=', 'turnpike_session=null', `turnpike_session=${'x'.repeat(43)}`]) {
        const { status, body } = await ask(visitor(gateway), row, {}, cookie === '' ? {} : { cookie });
        assert.deepEqual([status, body?.success], [401, false], `${row.method} ${row.path} with "${cookie}"`);
      }
    }
  });

  it('turns members away where administrators are wanted, and administrators where root is', async () => {
    const wanted = bySession().filter(({ description }) => /^For (administrators|root)/.test(description ?? ''));
    assert.ok(wanted.length > 15, `only ${wanted.length} rows`);
    for (const row of wanted) {
      const who = row.description!.startsWith('For root') ? people.admin : people.member;
      const { status, body } = await ask(who, row);
      assert.deepEqual([status, body?.code], [403, 'role_insufficient'], `${row.method} ${row.path}`);
    }
  });

  it('wants a check for what is sensitive, and a recent sign-in at least for what is a way in [T-VER-03]', async () => {
    const sensitive = bySession().filter(({ description }) => /Requires a verification/.test(description ?? ''));
    const [afterSignIn, always] = [true, false].map((isRecentEnough) =>
      sensitive.filter(({ description }) => /may have signed in within/.test(description!) === isRecentEnough),
    );
    assert.ok(
      afterSignIn!.length >= 10 && always!.length >= 15,
      `only ${afterSignIn!.length} and ${always!.length} rows`,
    );
    const long = await root(gateway);
    await gateway.host.store.run('UPDATE session SET created_ms = created_ms - 300001');
    for (const [who, rows] of [
      [people.root, always!],
      [long, sensitive],
    ] as const) {
      for (const row of rows) {
        const { status, body } = await ask(who, row);
        assert.deepEqual([status, body?.code], [403, 'verification_required'], `${row.method} ${row.path}`);
      }
    }
    people = { ...people, root: await root(gateway) };
  });

  it('takes nothing from another site that would change something [T-CSRF-01]', async () => {
    for (const row of ours().filter(({ method }) => method !== 'get')) {
      if (row.security.some((one) => 'apiKey' in one)) continue;
      for (const headers of [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { origin: 'https://evil.example' },
        { origin: 'null' },
      ] as const) {
        const { status, body } = await ask(people.root, row, {}, headers);
        assert.deepEqual(
          [status, body?.code],
          [403, 'cross_site'],
          `${row.method} ${row.path} ${JSON.stringify(headers)}`,
        );
      }
    }
  });

  it('refuses bodies of the wrong kind with the name of what is wrong', async () => {
    const checked = await verify(await root(gateway));
    people = { ...people, root: checked };
    for (const row of ours()) {
      const schema = row.requestBody?.content['application/json']?.schema;
      if (schema === undefined) continue;
      for (const body of ['[]', '"x"', '1', 'null', '{', '']) {
        const { status } = await ask(checked, row, body);
        // Where nothing is needed, nothing may be sent.
        assert.ok(status === 400 || (body === '' && status < 500), `${row.method} ${row.path} ${body}: ${status}`);
      }
      for (const name of Object.keys(schema.properties ?? {})) {
        const { type } = schema.properties![name]!;
        // Some are for tools that send them, and not looked at.
        if (type === undefined) continue;
        const wrong = [type].flat().includes('object') ? 'x' : { nested: [true] };
        const { status, body } = await ask(checked, row, { [name]: wrong });
        assert.ok(
          status === 400 || status === 409,
          `${row.method} ${row.path} ${name}: ${status} ${JSON.stringify(body)}`,
        );
        assert.ok(typeof body.message === 'string' && body.message !== '', 'it says why');
      }
    }
  });

  it('refuses in the words of the row what nobody asks the row about', async () => {
    const { port } = new URL(gateway.url);
    const raw = async (head: string): Promise<string> => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.end(`${head}\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`);
      let said = '';
      for await (const chunk of socket) said += chunk;
      return said;
    };
    for (const [head, code] of [
      ['POST /api/user/self HTTP/1.1', 'method_not_allowed'],
      ['PATCH /api/token/7 HTTP/1.1', 'method_not_allowed'],
      ['GET /api/nothing HTTP/1.1', 'not_found'],
      ['GET /api/%zz HTTP/1.1', 'invalid_path'],
      ['DELETE /api/token/7 HTTP/1.1\r\ncontent-length: 2', 'unexpected_body'],
      ['POST /api/user/login HTTP/1.1\r\ncontent-encoding: compress', 'unsupported_content_encoding'],
      ['GET /api/user/self?x=1 HTTP/1.1\r\ncookie: a=b\r\ncookie: a=b', 'duplicate_header'],
    ]) {
      const body = JSON.parse((await raw(head!)).split('\r\n\r\n')[1]!);
      assert.deepEqual([body.success, body.code], [false, code], head);
    }
    const usage = await raw('POST /v1/dashboard/billing/usage HTTP/1.1');
    assert.match(usage, /\{"error":\{/, 'this one speaks as calls do');
  });

  it('does not let members in that no row names', async () => {
    for (const row of ours()) {
      const schema = row.requestBody?.content['application/json']?.schema;
      if (schema === undefined) continue;
      assert.equal(schema.additionalProperties, false, `${row.method} ${row.path} takes any member`);
    }
  });
});

/** What the specification lists; `github` and `oidc` are configured words of one path. */
const INTERFACE: readonly string[] = [
  'POST /api/user/register',
  'POST /api/user/login',
  'POST /api/user/login/2fa',
  'GET /api/user/logout',
  'GET /api/oauth/{provider}',
  'GET /api/oauth/email/bind',
  'GET /api/user/unbind/{provider}',
  'GET /api/user/self',
  'PUT /api/user/self',
  'DELETE /api/user/self',
  'PUT /api/user/setting',
  'GET /api/token/',
  'POST /api/token/',
  'PUT /api/token/',
  'DELETE /api/token/{id}',
  'POST /api/token/batch',
  'GET /api/token/default',
  'GET /api/user/topup/info',
  'GET /api/user/topup/self',
  'POST /api/user/topup',
  'POST /api/user/stripe/pay',
  'POST /api/user/creem/pay',
  'POST /api/user/alipay/pay',
  'POST /api/user/pay',
  'GET /api/log/self',
  'GET /api/log/self/stat',
  'GET /api/user/subscription/stats',
  'GET /api/usage/token/',
  'GET /api/status',
  'POST /api/user/2fa/setup',
  'POST /api/user/2fa/enable',
  'GET /api/user/2fa/status',
  'POST /api/user/2fa/disable',
  'POST /api/user/2fa/backup_codes',
  'POST /api/user/passkey/login/begin',
  'POST /api/user/passkey/login/finish',
  'POST /api/user/passkey/register/begin',
  'POST /api/user/passkey/register/finish',
  'GET /api/user/passkey',
  'DELETE /api/user/passkey',
  'POST /api/user/passkey/verify/begin',
  'POST /api/user/passkey/verify/finish',
  'POST /api/verify',
  'GET /api/verify/status',
  'GET /api/department/',
  'POST /api/department/',
  'GET /api/team/overview',
  'GET /api/team/cost-trend',
  'GET /api/team/budgets',
  'GET /api/user/',
  'POST /api/user/manage',
];
