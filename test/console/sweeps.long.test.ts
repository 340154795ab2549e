/** What all rows of the interface do alike: pages of any size that is asked for, and members that a caller does not set. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
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
} from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';

interface Shape {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly description: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Shape }>> };
}
interface Row extends Operation {
  readonly method: string;
  readonly path: string;
}

describe('every row of the interface', () => {
  let gateway: TestGateway;
  let boss: Visitor;
  let rows: readonly Row[];
  before(async () => {
    gateway = await startGateway({ config: { pipeline: CONSOLE_PIPELINE, console: PATIENT }, env: ROOT_ENV });
    boss = await verify(await root(gateway));
    const body = await describedInterface(gateway);
    const paths = body.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    rows = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, row]) => ({ ...row, method: method.toUpperCase(), path })),
    );
  });
  after(() => gateway.stop());

  it('that has pages takes zero for the usual size, and nothing below it, above a hundred, or of words', async () => {
    const ann = await member(gateway, 'ann');
    const sizes = ['page_size', 'ps', 'size'];
    const paged = rows.flatMap(({ path, parameters = [] }) => {
      const sized = parameters.filter(({ name, description }) => sizes.includes(name) && description !== 'Ignored.');
      return sized.map(({ name }) => ({ path: path.replace(/\{.*?\}/g, '1'), name }));
    });
    assert.ok(paged.length > 20, `${paged.length}`);
    for (const { path, name } of paged) {
      // What is a member's own is not there for an administrator, and the other way round.
      const asked = async (target: string) => {
        const answer = await boss.get(target);
        return answer.status === 403 ? ann.get(target) : answer;
      };
      const ask = (size: string) => asked(`${path}?${name}=${size}`);
      const usual = await asked(path);
      if (usual.status === 404) continue;
      assert.equal(usual.status, 200, path);
      const zero = await ask('0');
      assert.deepEqual(
        [zero.status, zero.body.data?.page_size],
        [200, usual.body.data?.page_size],
        `${path} ${name}=0`,
      );
      const most = await ask('100');
      assert.equal(most.status, 200, `${path} ${name}=100`);
      assert.ok((most.body.data?.page_size ?? 100) === 100, `${path} ${name}=100: ${most.body.data?.page_size}`);
      for (const size of ['-1', '-9007199254740991', '101', '9007199254740991', 'ten', '1.5', '1e2', 'NaN']) {
        const { status, body } = await ask(size);
        assert.equal(status, 400, `${path} ${name}=${size}`);
        assert.ok(JSON.stringify(body).includes(name), `${path} names ${name}`);
      }
    }
  });

  /** The members that a row does not set, though tools send them. */
  const readOnlyOf = ({ requestBody }: Row): readonly string[] =>
    Object.entries(requestBody?.content['application/json']?.schema.properties ?? {}).flatMap(([name, shape]) =>
      shape.description?.startsWith('Read-only') ? [name] : [],
    );

  it('that takes settings, payments or codes refuses by its name what it does not set', async () => {
    await boss.data('POST', '/api/redemption/', { name: 'gift', quota: 5 });
    const { items } = await boss.data('GET', '/api/redemption/?whole=1');
    const code = items[0] as JsonObject;
    const bases: Readonly<Record<string, JsonObject>> = {
      '/api/user/setting': {},
      '/api/redemption/': code,
    };
    const some = rows.filter((row) => row.path in bases || /\/(pay|amount)$/.test(row.path));
    const swept = some.flatMap((row) => readOnlyOf(row).map((name) => ({ ...row, name })));
    assert.ok(swept.length > 40, `${swept.length}`);
    for (const { method, path, name } of swept) {
      const base = bases[path] ?? { amount: 10, product_id: 'p', plan: 'p' };
      const own = Object.entries(base).filter(([member]) => path in bases || isOf(path, member));
      const body = { ...Object.fromEntries(own), [name]: 'something else' };
      const answer = await boss[method === 'PUT' ? 'put' : 'post'](path, body);
      assert.equal(answer.status, 400, `${method} ${path} ${name}: ${JSON.stringify(answer.body)}`);
      assert.equal(answer.body.param, name, `${method} ${path} ${name}: ${JSON.stringify(answer.body)}`);
    }
    // As it was read, with stars or without them, it changes what it says.
    for (const key of [code.key, `${String(code.key).slice(0, 4)}****`]) {
      const { status, body } = await boss.put('/api/redemption/', { ...code, key, name: 'other' });
      assert.deepEqual([status, body.data?.name, body.data?.key], [200, 'other', code.key]);
    }
    const { body } = await boss.put('/api/redemption/', { ...code, status: 2 });
    assert.equal(body.param, 'status');
  });

  it('looks at every member that it takes, but for what browsers say of a passkey', () => {
    const unseen = rows.filter((row) => JSON.stringify(row.requestBody ?? {}).includes('"Ignored."'));
    assert.deepEqual(
      unseen.map(({ path }) => path).filter((path) => !path.includes('passkey')),
      [],
    );
  });

  /** What each of them buys. */
  function isOf(path: string, member: string): boolean {
    if (member === 'product_id') return path.includes('creem');
    return (member === 'plan') === path.includes('subscription') && !path.includes('creem');
  }
});
