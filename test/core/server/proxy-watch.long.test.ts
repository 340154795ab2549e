/** A proxy that is not trusted is noticed: in the log once, and by administrators. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Running } from '../../../core/contracts/running.ts';
import { createProxyWatch } from '../../../core/server/proxy-watch.ts';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV, root } from '../../kit/console/console.ts';
import { startGateway } from '../../kit/gateway/gateway.ts';

it('is reported once in the log, however many requests come through it', () => {
  const lines: string[] = [];
  const watch = createProxyWatch({ warn: (message) => void lines.push(message) });
  watch.note('10.0.0.1', (ip) => ip === '10.0.0.1');
  assert.equal(watch.untrusted, undefined);
  for (const peer of ['::ffff:127.0.0.1', '127.0.0.1', '192.0.2.1', 'fe80::1%eth0']) watch.note(peer, () => false);
  assert.equal(watch.untrusted, 'fe80::1');
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /trustProxy/);
});

it('is reported to administrators until it is trusted [T-LOCK-03]', async () => {
  const gateway = await startGateway({ config: { pipeline: CONSOLE_PIPELINE, console: PATIENT }, env: ROOT_ENV });
  try {
    const chief = await root(gateway);
    assert.equal((await chief.data('GET', '/api/system')).untrusted_proxy, null);
    await chief.get('/api/status', { 'x-forwarded-for': '203.0.113.9' });
    assert.equal((await chief.data('GET', '/api/system')).untrusted_proxy, '127.0.0.1');
    assert.deepEqual(gateway.host.use(Running).proxy(), { trusted: false, untrusted: '127.0.0.1' });
  } finally {
    await gateway.stop();
  }
});
