/** Several gateways that count on one Valkey server: calls, sign-ins, what operators see, and what they never see. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import { createLimiter } from '../../../plugins/console/access/limiter.ts';
import { createGuesses } from '../../../plugins/console/access/sign-in-attempts.ts';
import { LOCALHOST } from '../../kit/clients/certificates.ts';
import { defaultConfig, startGateway, type TestGateway, testStore } from '../../kit/gateway/gateway.ts';
import { startProcess } from '../../kit/gateway/process.ts';
import { onlyOnSqlite } from '../../kit/stand-ins/postgres.ts';
import { noValkey, startValkey, type ValkeyServer } from '../../kit/stand-ins/valkey.ts';
import { until as eventually } from '../../kit/until.ts';

const missing = noValkey();
if (missing !== undefined) it('gateways that share a Valkey server', { skip: missing }, () => {});
else tests();

/** Sections of a gateway that counts on the server of the variable. */
const sections = (limits: object): Record<string, unknown> => ({
  pipeline: [...(defaultConfig([]).pipeline as string[]), 'metrics'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: gateway.yaml fills it in
  counters: { driver: 'valkey', url: '${VALKEY_URL}' },
  limits,
});

function tests(): void {
  const PASSWORD = 'canary-7d20b95e';
  let server: ValkeyServer;
  before(async () => {
    server = await startValkey({ password: PASSWORD, certificate: LOCALHOST });
  });
  after(() => server.remove());

  /** Two gateways with books of their own: the first key of each has the same number, and so the same counters. */
  async function startTwo(limits: object): Promise<readonly [TestGateway, TestGateway]> {
    await server.command('FLUSHALL');
    const start = () => startGateway({ config: sections(limits), env: { VALKEY_URL: server.url } });
    return [await start(), await start()];
  }
  const stopAll = async (gateways: readonly TestGateway[]): Promise<void> => {
    for (const gateway of gateways) await gateway.stop();
  };

  const shared = async (url: string): Promise<string | undefined> =>
    /^turnpike_counters_shared (\d)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
  const status = async (gateway: TestGateway): Promise<number> => {
    const answer = await gateway.chat({ model: 'demo' });
    await answer.text();
    return answer.status;
  };
  async function until(holds: () => Promise<boolean>): Promise<void> {
    await eventually('the gateways have noticed', holds);
  }

  describe('gateways that share a Valkey server', () => {
    it('enforce one limit together, go on without the server, and come back', async () => {
      const gateways = await startTwo({ requestsPerMinute: 10 });
      try {
        const [one, two] = gateways;
        const statuses = await Promise.all(Array.from({ length: 30 }, (_, i) => status(gateways[i % 2]!)));
        assert.deepEqual([statuses.filter((each) => each === 200).length, statuses.includes(429)], [10, true]);
        assert.equal(await shared(one.url), '1');

        await server.kill();
        await until(async () => (await shared(one.url)) === '0' && (await shared(two.url)) === '0');
        assert.deepEqual([await status(one), await status(two)], [200, 200]);
        assert.equal((await fetch(`${one.url}/readyz`)).status, 200);

        await server.start();
        await until(async () => (await shared(one.url)) === '1' && (await shared(two.url)) === '1');
        const again = await Promise.all(Array.from({ length: 30 }, (_, i) => status(gateways[i % 2]!)));
        assert.equal(again.filter((each) => each === 200).length, 10);
        for (const { log } of gateways) {
          assert.equal(log.filter((line) => line.includes('Valkey cannot be reached')).length, 1);
          assert.ok(!log.some((line) => line.includes(PASSWORD)));
        }
      } finally {
        await stopAll(gateways);
      }
    });

    it('enforce the limits of a key together, those for one model too', async () => {
      const gateways = await startTwo({});
      try {
        for (const [limits, served] of [
          ['demo:requests=7', 7],
          ['requests=9', 9],
        ] as const) {
          for (const { command } of gateways) await command(`key edit 1 --limits ${limits}`);
          const statuses = await Promise.all(Array.from({ length: 30 }, (_, i) => status(gateways[i % 2]!)));
          assert.deepEqual(
            [statuses.filter((each) => each === 200).length, statuses.filter((each) => each === 429).length],
            [served, 30 - served],
            limits,
          );
        }
      } finally {
        await stopAll(gateways);
      }
    });

    it('keep what was counted over a reload', async () => {
      const gateways = await startTwo({ requestsPerMinute: 2 });
      try {
        const [one, two] = gateways;
        assert.equal(await status(one), 200);
        await one.gateway.reload();
        assert.deepEqual([await status(one), await status(one), await status(two)], [200, 429, 429]);
        assert.equal(await shared(one.url), '1');
      } finally {
        await stopAll(gateways);
      }
    });

    it('count wrong passwords and other attempts of visitors together', async () => {
      const gateways = await startTwo({});
      try {
        const guesses = gateways.map(({ host }) => createGuesses(host, { recognize: () => undefined }, 10_000));
        const limiters = gateways.map(({ host }) => createLimiter(host, { signIn: 3, mail: 5, requests: 600 }));
        const verdict = (work: Promise<unknown>): Promise<string> =>
          work.then(
            () => 'ok',
            (error: unknown) => (error instanceof GatewayError ? String(error.status) : String(error)),
          );
        const wrong = (i: number) =>
          verdict(guesses[i]!.compare({ name: 'ann', ip: '192.0.2.7', headers: {} }, async () => undefined));
        // Ten from one network, and one more in 15 seconds.
        for (let i = 0; i < 11; i++) assert.equal(await wrong(i % 2), 'ok');
        assert.deepEqual([await wrong(0), await wrong(1)], ['429', '429']);
        const attempt = (i: number) => verdict(limiters[i]!.takeOf('sign-in', '192.0.2.7'));
        assert.deepEqual(
          [await attempt(0), await attempt(1), await attempt(0), await attempt(1), await attempt(0)],
          ['ok', 'ok', 'ok', '429', '429'],
        );
      } finally {
        await stopAll(gateways);
      }
    });

    const workers = onlyOnSqlite('with `listen.workers` one process writes the file for all');
    it('may have workers, each of which asks the server itself and has a share without it', workers, async () => {
      const dir = mkdtempSync(join(tmpdir(), 'turnpike-test-'));
      await server.command('FLUSHALL');
      const file = join(dir, 'gateway.yaml');
      const listen = { host: '127.0.0.1', port: 0, workers: 2 };
      writeFileSync(file, stringify({ ...defaultConfig([]), ...sections({ requestsPerMinute: 10 }), listen }));
      const gateway = await startProcess(file, { env: { VALKEY_URL: server.url } });
      try {
        const key = String(gateway.log.find(({ msg }) => msg === 'first start')?.key);
        /** How many of thirty calls are served, and by how many processes. */
        const callAll = async () => {
          const answers = await Promise.all(
            Array.from({ length: 30 }, async () => {
              const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
                method: 'POST',
                headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
                body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello' }] }),
              });
              await answer.text();
              return { status: answer.status, epoch: answer.headers.get('x-request-id')!.slice(-10) };
            }),
          );
          return {
            served: answers.filter(({ status }) => status === 200).length,
            processes: new Set(answers.map(({ epoch }) => epoch)).size,
          };
        };
        assert.deepEqual(await callAll(), { served: 10, processes: 2 });
        assert.equal(await shared(gateway.url), '1');
        await server.kill();
        await until(async () => (await shared(gateway.url)) === '0');
        // Five for each: those that come to one of them are never more.
        const { served } = await callAll();
        assert.ok(served >= 5 && served <= 10, String(served));
      } finally {
        await gateway.stop();
        await server.start();
        rmSync(dir, { recursive: true, force: true });
      }
    });

    it('reach it by TLS, and only if they trust its certificate', async () => {
      const dir = mkdtempSync(join(tmpdir(), 'turnpike-test-'));
      try {
        const ca = join(dir, 'ca.pem');
        writeFileSync(ca, LOCALHOST.cert);
        for (const isTrusted of [true, false]) {
          const store = (await testStore(dir, String(isTrusted))).section;
          const config = { ...defaultConfig([]), ...sections({}), store };
          const file = join(dir, 'gateway.yaml');
          writeFileSync(file, stringify(config));
          const env = { VALKEY_URL: server.tlsUrl!, ...(isTrusted && { NODE_EXTRA_CA_CERTS: ca }) };
          const gateway = await startProcess(file, { env });
          try {
            const line = gateway.log.find(({ msg }) => msg.includes('Valkey cannot be reached'));
            assert.equal(line?.reason, isTrusted ? undefined : 'the connection failed (DEPTH_ZERO_SELF_SIGNED_CERT)');
            assert.equal(await shared(gateway.url), isTrusted ? '1' : '0');
            assert.ok(!gateway.stderr.includes(PASSWORD));
          } finally {
            await gateway.stop();
          }
        }
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    });
  });
}
