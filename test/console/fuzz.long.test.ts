/** The whole interface, asked at random from its own description: whatever comes, the answer is one that it describes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Json, JsonObject } from '../../core/plugin.ts';
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
import { isWhole } from '../kit/console/whole.ts';
import fc from '../kit/fast-check.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';

interface Shape {
  readonly type?: string | readonly string[];
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
}
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters?: readonly { readonly name: string; readonly in: 'path' | 'query'; readonly schema: Shape }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Shape }>> };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

/** What people and attackers put where something else is wanted. */
const HOSTILE: readonly Json[] = [
  '',
  ' ',
  "' OR 1=1--",
  '%',
  '_',
  '\\',
  '../../etc/passwd',
  '{{7*7}}',
  '<img src=x onerror=alert(1)>',
  'a\r\nset-cookie: x=1',
  '\u0000',
  '\ud800',
  '🙂',
  'x'.repeat(5_000),
  '1e3',
  '0x10',
  '-1',
  '99999999999999999999',
  'NaN',
  '2026-13-45',
  'sk-not-a-key',
  0,
  -1,
  1,
  0.5,
  2 ** 31,
  2 ** 53,
  1e308,
  true,
  null,
  [],
  {},
  [[[]]],
];
const hostile = fc.constantFrom(...HOSTILE);

/** Mostly what is wanted, and now and then anything else. */
function anyValue(shape: Shape): fc.Arbitrary<Json> {
  return fc.oneof({ arbitrary: fitting(shape), weight: 4 }, { arbitrary: hostile, weight: 1 });
}

function fitting(shape: Shape): fc.Arbitrary<Json> {
  if (shape.const !== undefined) return fc.constant(shape.const);
  if (shape.enum !== undefined) return fc.constantFrom(...shape.enum);
  const either = shape.anyOf ?? shape.oneOf;
  if (either !== undefined) return fc.oneof(...either.map(fitting));
  const type = Array.isArray(shape.type) ? shape.type[0] : shape.type;
  switch (type) {
    case 'integer':
      return fc.oneof(fc.integer({ min: -2, max: 12 }), fc.maxSafeInteger());
    case 'number':
      return fc.oneof(fc.integer({ min: -2, max: 12 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
    case 'boolean':
      return fc.boolean();
    case 'string':
      return fc.oneof(
        fc.string({ maxLength: 20 }),
        fc.constantFrom('1', 'root', 'mia', 'demo', 'a@example.com', '2026-11-20'),
      );
    case 'array':
      return fc.array(anyValue(shape.items ?? {}), { maxLength: 4 });
    case 'object':
      return objectOf(shape);
    default:
      return hostile;
  }
}

function objectOf({ properties = {} }: Shape): fc.Arbitrary<JsonObject> {
  const members = Object.fromEntries(Object.entries(properties).map(([name, shape]) => [name, anyValue(shape)]));
  return fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;
}

/** Codes of requests that reach no operation, because of what stands in their path or head. */
const OF_HEADS: ReadonlySet<string> = new Set(['not_found', 'method_not_allowed', 'invalid_path', 'uri_too_long']);

const RUNS = isWhole ? 15 : 4;

describe('the whole interface', () => {
  let gateway: TestGateway;
  let operations: readonly Operation[];
  let people: readonly (readonly [string, Visitor])[];
  let key: string;
  before(async () => {
    gateway = await startGateway({ config: { pipeline: CONSOLE_PIPELINE, console: PATIENT }, env: ROOT_ENV });
    const body = await describedInterface(gateway);
    operations = Object.entries(body.paths as Readonly<Record<string, Record<string, Operation>>>).flatMap(
      ([path, all]) =>
        Object.entries(all).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
    );
    key = await gateway.customer(1_000_000);
    people = [
      ['nobody', visitor(gateway)],
      ['a key', visitor(gateway, { authorization: `Bearer ${key}`, 'anthropic-version': '2023-06-01' })],
      ['a member', await member(gateway, 'mia', { units: 1_000_000 })],
      ['an administrator', await verify(await member(gateway, 'adam', { role: 'admin' }))],
      ['root', await verify(await root(gateway))],
    ];
  });
  after(() => gateway.stop());

  it('answers no request with a failure of its own', async () => {
    assert.ok(operations.length > 100, `only ${operations.length} operations`);
    for (const operation of operations) await ask(operation);
    const failures = gateway.log.filter((line) => line.includes('a request failed'));
    assert.deepEqual(failures, []);
  });

  async function ask(operation: Operation): Promise<void> {
    const { method, path, parameters = [], requestBody } = operation;
    const described = Object.values(operation.responses)
      .map(({ description }) => description)
      .join();
    const shape = requestBody?.content['application/json']?.schema;
    const values = fc.record({
      body:
        shape === undefined
          ? fc.constant(undefined)
          : fc.oneof({ arbitrary: objectOf(shape), weight: 6 }, { arbitrary: hostile, weight: 1 }),
      parameters: fc.record(Object.fromEntries(parameters.map(({ name, schema }) => [name, anyValue(schema)])), {
        requiredKeys: parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name),
      }),
    });
    await fc.assert(
      fc.asyncProperty(values, async (asked) => {
        let target = path;
        const query = new URLSearchParams();
        for (const [name, value] of Object.entries(asked.parameters as Record<string, Json>)) {
          const said = typeof value === 'string' ? value : JSON.stringify(value);
          const inPath = parameters.some((parameter) => parameter.name === name && parameter.in === 'path');
          // Through UTF-8 and back: what is half a character cannot be in an address.
          if (inPath) target = target.replace(`{${name}}`, encodeURIComponent(Buffer.from(said).toString()) || '1');
          else query.set(name, said);
        }
        const search = query.size > 0 ? `?${query}` : '';
        for (const [who, person] of people) {
          const answer = await send(person, method, target + search, asked.body as Json | undefined);
          const told = `${who}: ${method} ${target}${search} ${JSON.stringify(asked.body)?.slice(0, 300)}: ${answer.status} ${answer.text.slice(0, 300)}`;
          // 501 to 504 are about others: what is not built, a vendor or a mail server that does not answer.
          assert.ok(answer.status !== 500 && answer.status < 505, told);
          if (answer.status < 400) continue;
          const { body } = answer;
          assert.ok(body !== undefined, told);
          const code: string = body.code ?? body.error?.code;
          assert.ok(OF_HEADS.has(code) || described.includes(`\`${code}\``), told);
          const message = body.success === false ? body.message : body.error?.message;
          assert.ok(typeof message === 'string' && message !== '', told);
        }
      }),
      { numRuns: RUNS, includeErrorInReport: true, endOnFailure: true },
    );
  }

  function send(person: Visitor, method: string, path: string, body: Json | undefined) {
    switch (method) {
      case 'GET':
        return person.get(path);
      case 'POST':
        return person.post(path, body === undefined ? {} : JSON.stringify(body));
      case 'PUT':
        return person.put(path, body === undefined ? {} : JSON.stringify(body));
      default:
        return person.delete(path, body === undefined ? undefined : JSON.stringify(body));
    }
  }
});
