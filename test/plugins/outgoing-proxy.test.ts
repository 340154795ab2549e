/** What else goes through the outgoing proxy: every server that the operator has chosen. Their names can only be resolved by the proxy. */
import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { listBackups } from '../../core/cli/backup-files.ts';
import { Alerts } from '../../core/contracts/alerts.ts';
import { OAuth } from '../../core/contracts/oauth.ts';
import { createAlipay } from '../../plugins/payments/providers/alipay.ts';
import { createStripe } from '../../plugins/payments/providers/stripe.ts';
import { type ConnectProxy, connectProxy } from '../kit/clients/connect-proxy.ts';
import { type Receiver, startReceiver } from '../kit/clients/receiver.ts';
import { CONSOLE_PIPELINE, ROOT_ENV } from '../kit/console/console.ts';
import { defaultConfig, startGateway, type TestGateway } from '../kit/gateway/gateway.ts';
import { type FakeAlipay, type FakeStripe, fakeAlipay, fakeStripe } from '../kit/stand-ins/fake-payments.ts';
import { type FakeS3, startS3 } from '../kit/stand-ins/fake-s3.ts';

describe('through the outgoing proxy', () => {
  let receiver: Receiver;
  let bucket: FakeS3;
  let alipay: FakeAlipay;
  let stripe: FakeStripe;
  let proxy: ConnectProxy;
  let gateway: TestGateway;
  before(async () => {
    [receiver, bucket, alipay, stripe] = await Promise.all([startReceiver(), startS3(), fakeAlipay(), fakeStripe()]);
    const portOf = ({ url }: { readonly url: string }): number => Number(new URL(url).port);
    const any = portOf(receiver);
    proxy = await connectProxy({
      ...{ 'alerts.test': any, 'collector.test': any, 'webhook.test': any, 'objects.test': any, 'prices.test': any },
      ...{ 'login.test': any, 'backups.test': portOf(bucket) },
      ...{ 'alipay.test': portOf(alipay), 'stripe.test': portOf(stripe) },
    });
    gateway = await startGateway({
      env: { ...ROOT_ENV, http_proxy: proxy.url },
      config: {
        pipeline: [...new Set([...CONSOLE_PIPELINE, 'alerts', 'events', 'telemetry'])],
        channels: [{ name: 'demo', vendor: 'demo' }],
        models: { demo: { from: ['demo'], free: true } },
        alerts: { to: [{ webhook: 'http://alerts.test/hook' }, { slack: 'http://alerts.test/chat' }] },
        events: {
          webhook: { url: 'http://webhook.test/calls' },
          s3: { url: 'http://objects.test/bucket', accessKey: 'a', secretKey: 's' },
        },
        telemetry: { endpoint: 'http://collector.test' },
        console: {
          url: 'https://gateway.example',
          oauth: { work: { issuer: 'http://login.test', id: 'turnpike', secret: 's' } },
        },
      },
    });
  });
  after(async () => {
    await stop();
    await Promise.all([receiver, bucket, alipay, stripe, proxy].map((each) => each.close()));
  });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= gateway.stop());
  const arrivedAt = (host: string): boolean => receiver.received.some(({ headers }) => headers.host === host);

  it('alerts are posted', async () => {
    const tests = await gateway.host.use(Alerts).test();
    assert.deepEqual(
      tests.map(({ problem }) => problem),
      [undefined, undefined],
    );
    assert.ok(arrivedAt('alerts.test'));
  });

  it('backups are listed', async () => {
    const config = join(gateway.dir, 'backups.yaml');
    const to = { ...bucket.section, endpoint: 'http://backups.test' };
    writeFileSync(config, stringify({ ...defaultConfig([]), backup: { to }, upstream: { proxy: proxy.url } }));
    assert.match((await listBackups(config, {})).text, /has no backups/);
    assert.equal(bucket.requests.length, 1);
    rmSync(config);
  });

  it('price lists are downloaded', async () => {
    const { stderr } = await gateway.tryCommand('prices update --dry-run --from http://prices.test/data.json');
    assert.match(stderr, /list/);
    assert.ok(arrivedAt('prices.test'));
  });

  it('a provider of sign-in is discovered', async () => {
    await assert.rejects(gateway.host.use(OAuth).begin('work', 'login', undefined));
    assert.ok(arrivedAt('login.test'));
  });

  it('payments are begun', async () => {
    const { fetch, clock } = gateway.host;
    const price = { digits: 1n, scale: 0 };
    const key = (text: string, type: 'pkcs8' | 'spki') =>
      ({ key: Buffer.from(text, 'base64'), format: 'der', type }) as const;
    const { privateKey, publicKey } = alipay.section;
    const wallet = createAlipay(
      {
        ...{ ...alipay.section, gateway: 'http://alipay.test/gateway.do', currency: 'CNY', price },
        privateKey: createPrivateKey({ ...key(privateKey, 'pkcs8'), type: 'pkcs8' }),
        publicKey: createPublicKey({ ...key(publicKey, 'spki'), type: 'spki' }),
      },
      { clock, fetch },
    );
    const cards = createStripe(
      { ...stripe.section, url: 'http://stripe.test', currency: 'USD', price },
      { clock, fetch },
    );
    const purchase = {
      ...{
        tradeNo: 'TP1',
        accountId: 1,
        money: 100n,
        currency: '',
        title: 'Quota',
        product: '',
        createdMs: clock.now(),
        expiresMs: clock.now() + 3_600_000,
      },
      ...{
        ownUrl: 'https://gateway.example',
        successUrl: 'https://gateway.example',
        cancelUrl: 'https://gateway.example',
      },
      noticeUrl: 'https://gateway.example',
    };
    assert.equal((await wallet.open({ ...purchase, method: 'alipay_qr' })).kind, 'code');
    assert.equal((await cards.open({ ...purchase, method: '' })).kind, 'link');
  });

  it('spans, metrics and events of calls are delivered', async () => {
    assert.equal((await gateway.chat({ model: 'demo' })).status, 200);
    await stop();
    const paths = receiver.received.map(({ headers, path }) =>
      `${headers.host}${path}`.replace(/bucket\/.*/, 'bucket'),
    );
    for (const expected of [
      ...['collector.test/v1/traces', 'collector.test/v1/metrics', 'webhook.test/calls', 'objects.test/bucket'],
    ])
      assert.ok(paths.includes(expected), `${expected} is not among ${paths.join(' ')}`);
    assert.equal(proxy.otherRequests, 0);
  });
});
