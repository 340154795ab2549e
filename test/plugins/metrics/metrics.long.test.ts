/** Who may read the metrics. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import { CONSOLE_PIPELINE } from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';

const PIPELINE = [...CONSOLE_PIPELINE, 'metrics'];

/** The status of `GET /metrics` with these headers. */
function scrape({ url }: TestGateway, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(`${url}/metrics`, { headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .once('error', reject)
      .end();
  });
}

describe('metrics without a token', () => {
  it('are for direct requests from this machine, by its own name [T-MET-01]', async () => {
    const gateway = await startGateway({ config: { pipeline: PIPELINE } });
    try {
      const { port } = new URL(gateway.url);
      for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, 'LOCALHOST', '[::1]:9090', '127.0.0.53'])
        assert.equal(await scrape(gateway, { host }), 200, host);
      for (const host of ['gateway.example.com', `evil.example:${port}`, 'localhost.evil.example', '192.168.1.5'])
        assert.equal(await scrape(gateway, { host }), 403, host);
      for (const name of ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-port', 'x-real-ip', 'forwarded', 'via'])
        assert.equal(await scrape(gateway, { [name]: '1' }), 403, name);
    } finally {
      await gateway.stop();
    }
  });

  for (const [where, config] of [
    ['that trusts a proxy', { listen: { host: '127.0.0.1', port: 0, trustProxy: ['10.0.0.1'] } }],
    ['that people reach by https', { console: { url: 'https://gateway.example.com' } }],
  ] as const) {
    it(`are for nobody at a gateway ${where}: whoever comes through a proxy that adds nothing looks local [T-MET-02]`, async () => {
      const gateway = await startGateway({ config: { pipeline: PIPELINE, ...config } });
      try {
        assert.equal(await scrape(gateway), 403);
      } finally {
        await gateway.stop();
      }
    });
  }
});

describe('metrics with a token', () => {
  it('are for whoever has it, from wherever they come', async () => {
    const token = 'a token of sixteen and more';
    const config = { pipeline: PIPELINE, metrics: { token }, console: { url: 'https://gateway.example.com' } };
    const gateway = await startGateway({ config });
    try {
      const headers = { host: 'gateway.example.com', 'x-forwarded-for': '203.0.113.1' };
      assert.equal(await scrape(gateway, { ...headers, authorization: `Bearer ${token}` }), 200);
      assert.equal(await scrape(gateway, { ...headers, authorization: `Bearer ${token}x` }), 401);
      assert.equal(await scrape(gateway), 401);
    } finally {
      await gateway.stop();
    }
  });
});
