/** The health of channels over a restart: what failed before it is skipped after it, for as long as it would have been. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Catalog } from '../../../core/contracts/catalog.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer } from '../../kit/vendors/script.ts';

const MINUTE_MS = 60_000;
const body = { model: 'free-model', messages: [{ role: 'user', content: 'Hi' }] };

describe('after a restart', () => {
  let clock: FakeClock;
  let main: FakeVendor;
  let spare: FakeVendor;
  let gateway: TestGateway;
  let key: string;
  let dir: string;
  beforeEach(async () => {
    clock = fakeClock();
    [main, spare] = await Promise.all([fakeVendor(), fakeVendor()]);
    dir = mkdtempSync(join(tmpdir(), 'turnpike-health-'));
    gateway = await startGateway({ vendor: [main, spare], clock, dir });
    ({ key } = gateway);
  });
  afterEach(async () => {
    await gateway.stop();
    await Promise.all([main.close(), spare.close()]);
    rmSync(dir, { recursive: true, force: true });
  });

  const restart = async (): Promise<void> => {
    await gateway.stop();
    gateway = await startGateway({ vendor: [main, spare], clock, dir });
  };
  const call = async (): Promise<string | null> => {
    const response = await gateway.chat(body, { key });
    await response.text();
    assert.equal(response.status, 200);
    return response.headers.get('x-turnpike-channel');
  };
  const stateOf = (name: string) =>
    gateway.host
      .use(Catalog)
      .channels()
      .find((channel) => channel.name === name);
  /** Opens the circuit of the first channel. */
  const fail = async (): Promise<void> => {
    main.always(errorAnswer(500));
    for (let i = 0; i < 5; i++) await call();
    assert.equal(stateOf('main')?.state, 'open');
  };

  it('a circuit that was open still is, until the same time, and keeps its last failure', async () => {
    await fail();
    const before = stateOf('main');
    clock.advance(2_000);
    await restart();
    const after = stateOf('main');
    assert.deepEqual([after?.state, after?.lastFailure], ['open', before?.lastFailure]);
    assert.ok(Math.abs(after!.untilMs! - before!.untilMs!) <= 1, `${after?.untilMs} is not ${before?.untilMs}`);
    const asked = main.requests.length;
    assert.equal(await call(), 'spare');
    assert.equal(main.requests.length, asked, 'the failing vendor gets no call');
  });

  it('a circuit whose time is over is half-open: one call probes it', async () => {
    await fail();
    await gateway.stop();
    clock.advance(MINUTE_MS);
    gateway = await startGateway({ vendor: [main, spare], clock, dir });
    assert.equal(stateOf('main')?.state, 'half-open');
    const asked = main.requests.length;
    // An attempt of the same instant would say nothing new.
    clock.advance(1);
    assert.equal(await call(), 'spare');
    assert.equal(main.requests.length, asked + 1, 'the probe');
    assert.equal(stateOf('main')?.state, 'open', 'which failed');
  });

  it('a pause that the vendor asked for goes on', async () => {
    main.next(errorAnswer(429, 'Slow down.', { 'retry-after': '50' }));
    assert.equal(await call(), 'spare');
    await restart();
    const asked = main.requests.length;
    assert.equal(await call(), 'spare');
    assert.equal(main.requests.length, asked);
    clock.advance(51_000);
    assert.equal(await call(), 'main');
  });

  it('problems that are older than a quarter of an hour are forgotten', async () => {
    await fail();
    await gateway.stop();
    clock.advance(16 * MINUTE_MS);
    gateway = await startGateway({ vendor: [main, spare], clock, dir });
    assert.deepEqual([stateOf('main')?.state, stateOf('main')?.lastFailure], ['closed', undefined]);
  });

  it('a channel without problems costs no write', async () => {
    const rows = () => gateway.host.store.all('SELECT problems FROM channel_health');
    await restart();
    assert.deepEqual(await rows(), []);
    await fail();
    await restart();
    assert.equal((await rows()).length, 1);
  });
});
