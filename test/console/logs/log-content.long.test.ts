/** The stored prompt and answer of a call at the console: who may read it, and that the audit log says who did. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  CONSOLE_PIPELINE,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  signedIn,
  type Visitor,
  verify,
  visitor,
} from '../../kit/console/console.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { SCENARIOS, says } from '../../kit/vendors/scenarios.ts';

const QUESTION = 'Where is the canary?';
const ANSWER = SCENARIOS.text.text.join('');

for (const own of [true, false]) {
  describe(`a stored prompt and answer, if users may${own ? '' : ' not'} read their own`, () => {
    let vendor: FakeVendor;
    let gateway: TestGateway;
    let boss: Visitor;
    let ann: Visitor;
    let bob: Visitor;
    /** Administrators; the section lists one of them. */
    let adam: Visitor;
    let eve: Visitor;
    let id: string;
    before(async () => {
      vendor = await fakeVendor(says(SCENARIOS.text, { key: VENDOR_KEY }));
      const pipeline = [...CONSOLE_PIPELINE.slice(0, 8), 'prompts', ...CONSOLE_PIPELINE.slice(8)];
      gateway = await startGateway({
        vendor,
        config: { pipeline, console: PATIENT, prompts: { keep: '30d', readers: ['ad*'], own } },
        env: ROOT_ENV,
      });
      boss = await verify(await root(gateway));
      ann = await member(gateway, 'ann', { units: 10_000_000 });
      bob = await member(gateway, 'bob');
      adam = await verify(await member(gateway, 'adam', { role: 'admin' }));
      eve = await verify(await member(gateway, 'eve', { role: 'admin' }));
      const { key } = await ann.data('POST', '/api/token/', { name: 'cli', unlimited_quota: true });
      const answer = await gateway.chat({ messages: [{ role: 'user', content: QUESTION }], max_tokens: 10 }, { key });
      await answer.text();
      id = answer.headers.get('x-request-id')!;
    });
    after(async () => {
      await gateway?.stop();
      await vendor?.close();
    });

    const verdicts = (path: string, ...all: readonly Visitor[]): Promise<readonly string[]> =>
      Promise.all(all.map(async (each) => said(await each.get(path))));
    const readings = async () =>
      (await boss.data('GET', '/api/audit?action=prompt')).items.map(
        ({ actor, action, object, facts }: Record<string, unknown>) => ({ actor, action, object, facts }),
      );

    it('is for root and the listed administrators, and each reading is in the audit log before it is answered', async () => {
      const { user_id } = await boss.data('GET', `/api/log/detail/${id}`);
      assert.deepEqual(await readings(), []);
      for (const [name, reader] of [
        ['root', boss],
        ['adam', adam],
      ] as const) {
        const content = await reader.data('GET', `/api/log/content/${id}`);
        const block = { type: 'text', name: null, id: null, bytes: null, cut_bytes: 0, is_error: false };
        assert.deepEqual(content, {
          messages: [{ role: 'user', name: null, blocks: [{ ...block, text: QUESTION }] }],
          earlier_messages: 0,
          tools: [],
          parameters: { ...block, type: 'data', name: 'parameters', text: '{"maxTokens":10}' },
          answer: { blocks: [{ ...block, text: ANSWER }], finish_reason: 'stop' },
          omitted: [],
        });
        const [newest] = await readings();
        assert.deepEqual(newest, { actor: name, action: 'prompt.read', object: `call ${id}`, facts: { user_id } });
      }
      assert.doesNotMatch(JSON.stringify(await boss.data('GET', '/api/audit?page_size=100')), /canary/);
    });

    it('is for nobody else, and nothing is told of it', async () => {
      const before = (await readings()).length;
      assert.deepEqual(await verdicts(`/api/log/content/${id}`, eve, bob, ann, visitor(gateway)), [
        '403 content_not_allowed',
        '403 role_insufficient',
        '403 role_insufficient',
        '401 not_signed_in',
      ]);
      assert.deepEqual(await verdicts(`/api/log/self/content/${id}`, bob, eve, adam, visitor(gateway)), [
        '404 content_not_found',
        '404 content_not_found',
        '404 content_not_found',
        '401 not_signed_in',
      ]);
      for (const other of ['0'.repeat(26), '%25', 'x'.repeat(2_000)]) {
        assert.deepEqual(await verdicts(`/api/log/content/${other}`, adam, eve), [
          '404 content_not_found',
          '403 content_not_allowed',
        ]);
      }
      assert.equal((await readings()).length, before);
    });

    it(`is ${own ? '' : 'not '}for the account that made the call, and such a reading is not in the audit log`, async () => {
      const before = (await readings()).length;
      assert.deepEqual(await verdicts(`/api/log/self/content/${id}`, ann), [
        own ? '200 ok' : '403 content_not_allowed',
      ]);
      assert.equal((await readings()).length, before);
    });

    it('needs a second factor or the password first, if it is of another user', async () => {
      const before = (await readings()).length;
      const unchecked = await signedIn(gateway, 'adam');
      assert.deepEqual(await verdicts(`/api/log/content/${id}`, unchecked), ['403 verification_required']);
      assert.equal((await readings()).length, before);
    });

    it('is not shown if the audit log cannot be written', async () => {
      await gateway.host.store.run('ALTER TABLE audit RENAME TO audit_away');
      const { status, text } = await adam.get(`/api/log/content/${id}`);
      await gateway.host.store.run('ALTER TABLE audit_away RENAME TO audit');
      assert.equal(status, 500);
      assert.doesNotMatch(text, /canary/);
      assert.doesNotMatch(gateway.log.join(), /canary/);
    });

    it('is announced to those who may read it', async () => {
      const hasContent = async (who: Visitor, path: string): Promise<boolean> =>
        (await who.data('GET', `/api/log/${path}/${id}`)).has_content;
      assert.deepEqual(
        [
          await hasContent(boss, 'detail'),
          await hasContent(adam, 'detail'),
          await hasContent(eve, 'detail'),
          await hasContent(ann, 'self/detail'),
        ],
        [true, true, false, own],
      );
    });

    it('is gone with its user', async () => {
      const { user_id } = await boss.data('GET', `/api/log/detail/${id}`);
      assert.equal(gateway.rows('SELECT id FROM prompt_log').length, 1);
      await boss.data('POST', '/api/user/manage', { id: user_id, action: 'delete' });
      assert.deepEqual(gateway.rows('SELECT id FROM prompt_log'), []);
      assert.deepEqual(await verdicts(`/api/log/content/${id}`, boss), ['404 content_not_found']);
      const { has_content } = await boss.data('GET', `/api/log/detail/${id}`);
      assert.equal(has_content, false);
    });
  });
}

describe('without the plugin', () => {
  it('there is no content, and the routes say why', async () => {
    const gateway = await startGateway({ config: { pipeline: CONSOLE_PIPELINE, console: PATIENT }, env: ROOT_ENV });
    try {
      const boss = await verify(await root(gateway));
      for (const path of ['content', 'self/content']) {
        assert.equal(said(await boss.get(`/api/log/${path}/${'0'.repeat(26)}`)), '404 not_available');
      }
    } finally {
      await gateway.stop();
    }
  });
});
