/** Every row of `/api` while the store answers nobody: it is said so, and nobody is let in for it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../core/plugin.ts';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV, root, type Visitor, verify, visitor } from '../../kit/console/console.ts';
import { startGateway, type TestGateway, testStore } from '../../kit/gateway/gateway.ts';

interface Row {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  readonly path: string;
  readonly security: readonly JsonObject[];
  readonly requestBody?: unknown;
}
type Reading = 'one' | 'all';
type Writing = 'run' | 'atomic';

describe('a store that is lost', () => {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-test-'));
  // The driver, with a switch for each of its methods.
  const lost = new Set<Reading | Writing>();
  let gateway: TestGateway;
  let rows: readonly Row[];
  let boss: Visitor;
  let robot: Visitor;
  before(async () => {
    Object.assign(globalThis, { turnpikeTestLost: lost });
    const home = new URL('../../..', import.meta.url).pathname;
    const store = await testStore(dir);
    const driver = join(dir, 'store.mts');
    writeFileSync(
      driver,
      `import { StoreUnavailable } from '${home}core/plugin.ts';
       import driver from '${store.driver}';
       export default {
         ...driver,
         async open(options) {
           const store = await driver.open(options);
           const unless = (name) => async (...given) => {
             if (globalThis.turnpikeTestLost.has(name)) throw new StoreUnavailable('closed');
             return store[name](...given);
           };
           return { ...store, ...Object.fromEntries(['one', 'all', 'run', 'atomic'].map((name) => [name, unless(name)])) };
         },
       };`,
    );
    gateway = await startGateway({
      dir,
      config: { pipeline: CONSOLE_PIPELINE, console: PATIENT, store: { ...store.section, driver } },
      env: ROOT_ENV,
    });
    boss = await verify(await root(gateway));
    robot = visitor(gateway, { authorization: await boss.data('GET', '/api/user/token') });
    const { body } = await boss.get('/api/openapi.json');
    rows = Object.entries(body.paths as Readonly<Record<string, Record<string, Row>>>).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, row]) => ({ ...row, method, path }) as Row),
    );
  });
  after(async () => {
    lost.clear();
    await gateway.stop();
    Reflect.deleteProperty(globalThis, 'turnpikeTestLost');
    rmSync(dir, { recursive: true });
  });

  const bySession = () =>
    rows.filter(({ path, security }) => path.startsWith('/api/') && security.some((one) => 'session' in one));

  function ask(who: Visitor, { method, path, requestBody }: Row) {
    const at = path.replace(/\{\w+\}/g, '1');
    return method === 'post' || method === 'put'
      ? who[method](at, requestBody === undefined ? undefined : {})
      : who[method](at);
  }

  it('lets nobody in, with whatever they come [T-AUTH-03]', async () => {
    for (const name of ['one', 'all', 'run', 'atomic'] as const) lost.add(name);
    assert.ok(bySession().length > 40, `only ${bySession().length} rows`);
    for (const row of bySession()) {
      for (const who of [boss, robot]) {
        const { status, body } = await ask(who, row);
        assert.deepEqual([status, body?.code], [503, 'storage_unavailable'], `${row.method} ${row.path}`);
      }
    }
    const signIn = { username: 'root', password: ROOT_ENV.TURNPIKE_ROOT_PASSWORD };
    const doors = [
      visitor(gateway).post('/api/user/login', signIn),
      visitor(gateway).post('/api/user/login', { ...signIn, password: 'a wrong one' }),
      visitor(gateway).post('/api/user/login/2fa', { code: '123456', flow_token: 'x'.repeat(43) }),
      visitor(gateway).post('/api/user/reset', { email: 'a@example.com', token: 'x' }),
      visitor(gateway).post('/api/user/passkey/login/begin'),
    ];
    for (const { status, text } of await Promise.all(doors)) assert.equal(status, 503, text);
    lost.clear();
    assert.equal((await boss.get('/api/user/self')).status, 200, 'and all is well again');
  });

  it('that can be read and not written opens no session and spends no code [T-AUTH-03]', async () => {
    lost.add('run').add('atomic');
    const signIn = { username: 'root', password: ROOT_ENV.TURNPIKE_ROOT_PASSWORD };
    const begun = await visitor(gateway).post('/api/user/login', signIn);
    assert.deepEqual([begun.status, begun.headers.getSetCookie()], [503, []]);
    for (const path of ['/api/verify', '/api/user/2fa/disable']) {
      const { status, body } = await boss.post(path, {
        ...(path === '/api/verify' && { method: '2fa' }),
        code: '123456',
      });
      assert.deepEqual([status, body.code], [503, 'storage_unavailable'], path);
    }
    lost.clear();
  });
});
