/** The OpenAPI document: forms that generators of clients read, and everything that a client must know. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { CONSOLE_PIPELINE, visitor } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document of every shape
type Any = any;
type Seen = (schema: Any, at: string, required: boolean) => void;

/** Calls `see` for each schema inside a schema. */
function walk(schema: Any, at: string, see: Seen, required = true): void {
  if (typeof schema !== 'object' || schema === null) return;
  see(schema, at, required);
  for (const name of ['items', 'additionalProperties', 'not'])
    walk(schema[name], `${at}/${name}`, see, name === 'items');
  for (const name of ['anyOf', 'oneOf', 'allOf'])
    for (const [i, each] of (schema[name] ?? []).entries()) walk(each, `${at}/${name}/${i}`, see);
  for (const [name, each] of Object.entries<Any>(schema.properties ?? {}))
    walk(each, `${at}/${name}`, see, (schema.required ?? []).includes(name));
}

describe('the OpenAPI document', () => {
  let gateway: TestGateway;
  let document: Any;
  let operations: readonly Any[];
  before(async () => {
    gateway = await startGateway({ config: { pipeline: [...CONSOLE_PIPELINE] } });
    document = (await visitor(gateway).get('/api/openapi.json')).body;
    operations = Object.entries<Any>(document.paths).flatMap(([path, methods]) =>
      Object.entries<Any>(methods).map(([method, operation]) => ({ ...operation, path, method })),
    );
  });
  after(() => gateway.stop());

  const named = (id: string): Any => operations.find(({ operationId }) => operationId === id) ?? assert.fail(id);

  /** Every schema with its place. */
  function schemas(see: Seen): void {
    for (const { operationId, parameters = [], requestBody, responses } of operations) {
      for (const { name, schema } of parameters) walk(schema, `${operationId} ${name}`, see);
      for (const { content = {} } of [requestBody ?? {}, ...Object.values<Any>(responses)])
        for (const [type, { schema }] of Object.entries<Any>(content)) walk(schema, `${operationId} ${type}`, see);
    }
    for (const [name, schema] of Object.entries(document.components.schemas)) walk(schema, name, see);
  }

  it('has no form of a schema that a generator cannot read', () => {
    const wrong: string[] = [];
    schemas((schema, at, required) => {
      const types = [schema.type].flat().filter((type) => type !== undefined && type !== 'null');
      if (types.length > 1) wrong.push(`${at}: several types`);
      if (types.includes('array') && schema.items === undefined) wrong.push(`${at}: an array without items`);
      if (schema.enum !== undefined && schema.type === undefined) wrong.push(`${at}: an enum without a type`);
      if (schema.oneOf !== undefined) wrong.push(`${at}: oneOf`);
      const isConstant = 'const' in schema && !at.endsWith('/not');
      if (isConstant && typeof schema.type !== 'string') wrong.push(`${at}: a constant without a type`);
      if (isConstant && !required && typeof schema.const !== 'string') wrong.push(`${at}: an optional constant`);
      for (const name of schema.required ?? [])
        if (schema.properties?.[name] === undefined && schema.anyOf === undefined) wrong.push(`${at}: no ${name}`);
    });
    assert.deepEqual(wrong, []);
  });

  it('has examples that its schemas accept, of every JSON body and answer and of every parameter in a path', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
    ajv.addSchema(document, 'document');
    const wrong: string[] = [];
    const check = (at: string, place: readonly string[], example: unknown): void => {
      if (example === undefined) {
        wrong.push(`${at}: no example`);
        return;
      }
      const pointer = place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
      const fits = ajv.compile({ $ref: `document#/${pointer.join('/')}/schema` });
      if (!fits(example)) wrong.push(`${at}: ${ajv.errorsText(fits.errors)}`);
    };
    for (const { path, method, operationId, parameters = [], requestBody, responses } of operations) {
      const place = ['paths', path, method];
      parameters.forEach((each: Any, i: number) => {
        if (each.in === 'path' || each.example !== undefined)
          check(`${operationId} ${each.name}`, [...place, 'parameters', String(i)], each.example);
      });
      for (const [where, content] of [
        ['requestBody', requestBody?.content],
        ...Object.entries<Any>(responses).map(([status, { content }]) => [`responses/${status}`, content]),
      ] as const) {
        const json = content?.['application/json'];
        if (json === undefined) continue;
        const at = [...place, ...where.split('/'), 'content', 'application/json'];
        check(`${operationId} ${where}`, at, json.example);
      }
    }
    assert.deepEqual(wrong, []);
  });

  it('names, describes and groups every operation', () => {
    const ids = operations.map(({ operationId }) => operationId);
    assert.equal(new Set(ids).size, ids.length);
    // A route without a name gets one of its path: add it to plugins/console/openapi/names.ts.
    assert.deepEqual(
      ids.filter((id) => id.includes('_')),
      [],
    );
    const tags = document.tags.map(({ name }: Any) => name);
    for (const { operationId, summary, description, parameters = [], tags: used } of operations) {
      assert.ok(summary && description, operationId);
      assert.ok(tags.includes(used[0]), `${operationId}: ${used}`);
      for (const each of parameters) assert.ok(each.description, `${operationId} ${each.name}`);
    }
    assert.ok(document.info.license.identifier && document.info.contact.url);
  });

  it('says which media types a list has, and that the ids of paths are integers', () => {
    for (const id of ['listKeys', 'listUsers', 'listLog', 'getUsage', 'listOrders', 'listTeamModels'])
      assert.deepEqual(Object.keys(named(id).responses[200].content), ['application/json', 'text/csv'], id);
    for (const id of ['getKey', 'deleteUser', 'getDepartment'])
      assert.equal(named(id).parameters[0].schema.type, 'integer', id);
    const { schema } = named('listKeys').parameters.find(({ name }: Any) => name === 'page_size');
    assert.deepEqual([schema.minimum, schema.maximum], [0, 100]);
    const marked = named('listKeys').parameters.filter(({ deprecated }: Any) => deprecated);
    assert.deepEqual(
      marked.map(({ name }: Any) => name),
      ['ps', 'size'],
    );
    assert.equal(named('updateKey').requestBody.content['application/json'].schema.properties.DeletedAt.readOnly, true);
  });

  it('has the headers of requests and answers', () => {
    for (const id of ['messages', 'countTokens']) {
      const version = named(id).parameters.find(({ name }: Any) => name === 'anthropic-version');
      assert.equal(version.required, true, id);
    }
    const call = Object.keys(named('chat').responses[200].headers);
    for (const name of ['x-request-id', 'x-turnpike-cost', 'x-turnpike-translation', 'x-ratelimit-remaining-tokens'])
      assert.ok(call.includes(name), name);
    for (const [name, { headers }] of Object.entries<Any>(document.components.responses))
      for (const header of ['x-request-id', 'retry-after', 'www-authenticate'])
        assert.ok(header in headers, `${name} ${header}`);
    for (const name of call) assert.ok(name in document.components.headers, name);
  });

  it('leaves the list of codes open, in the error format that each route has', async () => {
    const { ErrorCode, Failure, Error: Refusal } = document.components.schemas;
    assert.ok(ErrorCode.enum.includes('key_not_found'));
    for (const { anyOf } of [Failure.properties.code, Refusal.properties.error.properties.code])
      assert.deepEqual(anyOf, [{ $ref: '#/components/schemas/ErrorCode' }, { type: 'string' }]);
    assert.equal(named('getBillingUsage').responses[401].$ref, '#/components/responses/Error');
    const { body } = await visitor(gateway).get('/v1/dashboard/billing/usage');
    assert.equal(typeof body.error.code, 'string');
    assert.equal(named('getKey').responses[404].$ref, '#/components/responses/Failure');
  });

  it('is not sent again to a client that has it', async () => {
    const { headers } = await visitor(gateway).get('/api/openapi.json');
    const tag = headers.get('etag')!;
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`]) {
      const again = await visitor(gateway).get('/api/openapi.json', { 'if-none-match': known });
      assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', tag], known);
    }
    const other = await visitor(gateway).get('/api/openapi.json', { 'if-none-match': '"other"' });
    assert.equal(other.status, 200);
  });

  it('is asked by queries that are as strict as bodies', async () => {
    const refusal = async (path: string) => {
      const { status, body } = await visitor(gateway).get(path);
      return `${status} ${body.code} ${body.param}`;
    };
    assert.equal(await refusal('/api/status?x=1'), '400 unknown_parameter x');
    assert.equal(await refusal('/api/oauth/state?provider=a&provider=b'), '400 invalid_request_error provider');
    assert.equal(await refusal('/api/invitation?code='), '400 invalid_request_error code');
    const { status } = await visitor(gateway).post('/api/user/login?turnstile=', { username: 'x', password: 'y' });
    assert.equal(status, 401, 'the captcha of older clients is ignored');
    const hint = await visitor(gateway).get('/api/oauth/state?providr=github');
    assert.match(hint.body.message, /Did you mean `provider`\?/);
  });
});
