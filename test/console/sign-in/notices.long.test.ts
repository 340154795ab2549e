/** Notices of low balances in a whole gateway: a call, the ledger, a letter; and webhooks that must not lead inside. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { CONSOLE_PIPELINE, member, PATIENT, type Visitor } from '../../kit/console/console.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeSmtp, startSmtp } from '../../kit/stand-ins/fake-smtp.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

const pipeline = CONSOLE_PIPELINE.includes('notices') ? CONSOLE_PIPELINE : [...CONSOLE_PIPELINE, 'notices'];

describe('notices in a gateway', () => {
  const clock = fakeClock(Date.now());
  let server: FakeSmtp;
  let vendor: FakeVendor;
  let gateway: TestGateway;
  let ann: Visitor;
  let key: string;
  before(async () => {
    server = await startSmtp();
    vendor = await fakeVendor();
    gateway = await startGateway({
      config: {
        pipeline,
        console: { ...PATIENT, url: 'http://console.example' },
        mail: { smtp: server.url, from: 'no-reply@console.example' },
      },
      vendor,
      clock,
    });
    ann = await member(gateway, 'ann', { units: 1_000_000 });
    key = await gateway.command('key create --name one --user ann --unlimited');
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
    await server.close();
  });

  async function call(): Promise<void> {
    const response = await gateway.chat({}, { key });
    assert.equal(response.status, 200);
    await response.text();
  }
  /** Lets turns of the chore go by until something has happened. */
  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('tell by letter, with what the ledger says', async () => {
    const notification_email = 'ops@example.com';
    await ann.data('PUT', '/api/user/setting', {
      notify_type: 'email',
      quota_warning_threshold: 1_000_000,
      notification_email,
    });
    await call();
    await until(() => server.letters.length > 0);
    const { to, text } = await server.letter();
    assert.deepEqual(to, [notification_email]);
    const { quota } = await ann.data('GET', '/api/user/self');
    assert.match(text, new RegExp(`ann has ${quota} quota left, which is below the 1000000 `));
    assert.match(text, /http:\/\/console\.example\/console\/topup/);
  });

  it('post to no webhook inside: none is taken, and one that an older version took is not asked [T-SSRF-02]', async () => {
    let reached = 0;
    const inside = createServer((_request, response) => {
      reached++;
      response.end();
    });
    inside.listen(0, '127.0.0.1');
    await once(inside, 'listening');
    try {
      const { port } = inside.address() as AddressInfo;
      const failures = (): number => gateway.log.filter((line) => line.includes('could not deliver')).length;
      for (const [i, webhook_url] of [
        `http://127.0.0.1:${port}/`,
        'http://169.254.169.254/',
        'http://[::1]/',
      ].entries()) {
        // Above what is set, and below it with the next call; an hour after the last notice.
        clock.advance(3_600_000);
        await gateway.command('user credit ann 100000');
        const { quota } = await ann.data('GET', '/api/user/self');
        const settings = { notify_type: 'webhook', quota_warning_threshold: quota };
        const secret = { webhook_secret: 'a shared secret' };
        const { status, body } = await ann.put('/api/user/setting', { ...settings, ...secret, webhook_url });
        assert.deepEqual([status, body.param], [400, 'webhook_url']);
        const id = (await gateway.host.use(Accounts).findByName('ann'))!.id;
        await gateway.host.use(Accounts).change(id, { settings: { ...settings, webhook_url } });
        await call();
        await until(() => failures() > i);
      }
      assert.equal(reached, 0);
      assert.ok(!gateway.log.some((line) => line.includes('a shared secret')), 'a secret is not logged');
    } finally {
      inside.close();
    }
  });
});
