/** Secrets and variables that change while the gateway runs: `.env`, files named by variables, files named by gateway.yaml. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { hold, wholeAnswer } from '../../kit/vendors/script.ts';

for (const config of ['file', 'store'])
  describe(`secrets of a running gateway (config: ${config})`, () => {
    const clock = fakeClock();
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-rotated-'));
    let vendor: FakeVendor;
    let gateway: TestGateway;
    const write = (name: string, text: string): void => writeFileSync(join(dir, name), text, { mode: 0o600 });
    before(async () => {
      vendor = await fakeVendor();
      write('.env', 'A_KEY=in-env-file-1\nGIVEN=in-env-file\n');
      write('b.txt', 'in-named-file-1\n');
      write('c.txt', 'in-yaml-file-1\n');
      const channel = { vendor: 'compatible', url: vendor.url };
      gateway = await startGateway({
        clock,
        dir,
        env: { B_KEY_FILE: join(dir, 'b.txt'), GIVEN: 'in-environment', GIVEN_FILE: join(dir, 'b.txt') },
        config: {
          config,
          channels: [
            // biome-ignore-start lint/suspicious/noTemplateCurlyInString: filled in from the environment
            { ...channel, name: 'a', key: '${A_KEY}' },
            { ...channel, name: 'b', key: '${B_KEY}' },
            { ...channel, name: 'c', key: '${file:./c.txt}' },
            { ...channel, name: 'given', key: '${GIVEN}' },
            { ...channel, name: 'late', key: '${LATE_KEY:-}' },
            // biome-ignore-end lint/suspicious/noTemplateCurlyInString: filled in from the environment
          ],
          models: Object.fromEntries(
            ['a', 'b', 'c', 'given', 'late'].map((name) => [name, { from: [name], free: true }]),
          ),
        },
      });
    });
    after(async () => {
      await gateway.stop();
      await vendor.close();
      rmSync(dir, { recursive: true });
    });

    const keyOf = async (model: string): Promise<string | number> => {
      const answer = await gateway.chat({ model });
      await answer.text();
      return answer.status === 200
        ? vendor.requests.at(-1)!.headers.authorization!.slice('Bearer '.length)
        : answer.status;
    };
    const reloads = (): number => gateway.log.filter((line) => line.includes('gateway.yaml was reloaded')).length;
    /** Lets the gateway look at its files until it has reloaded them. */
    const untilReloaded = async (before: number): Promise<void> => {
      while (reloads() === before) {
        clock.advance(1_000);
        await setImmediate();
      }
    };

    it('are read from `.env`, from the file of a variable, and from a file of gateway.yaml; the environment takes precedence', async () => {
      assert.deepEqual(
        [await keyOf('a'), await keyOf('b'), await keyOf('c'), await keyOf('given'), await keyOf('late')],
        ['in-env-file-1', 'in-named-file-1', 'in-yaml-file-1', 'in-environment', 404],
      );
    });

    it('are taken over by a reload, and a call that is running keeps its key', async () => {
      vendor.next([hold('answer'), ...wholeAnswer()]);
      const requests = vendor.requests.length;
      const running = gateway.chat({ model: 'a' });
      await vendor.waitFor(() => vendor.requests.length > requests);
      write('.env', 'A_KEY=in-env-file-2\nLATE_KEY=in-env-file-too\n');
      await gateway.gateway.reload();
      assert.deepEqual([await keyOf('a'), await keyOf('late')], ['in-env-file-2', 'in-env-file-too']);
      vendor.release('answer');
      assert.equal((await running).status, 200);
      assert.equal(vendor.requests[requests]!.headers.authorization, 'Bearer in-env-file-1');
    });

    for (const [name, text, model, key] of [
      ['.env', 'A_KEY=in-env-file-3\n', 'a', 'in-env-file-3'],
      ['b.txt', 'in-named-file-2\n', 'b', 'in-named-file-2'],
      ['c.txt', 'in-yaml-file-2\n', 'c', 'in-yaml-file-2'],
    ] as const) {
      it(`are taken over without a signal when ${name} has changed`, async () => {
        const before = reloads();
        write(name, text);
        await untilReloaded(before);
        assert.equal(await keyOf(model), key);
      });
    }

    it('are reloaded once for a change, and stay as they were if a file is missing', async () => {
      const before = reloads();
      write('c.txt', 'in-yaml-file-3\n');
      await untilReloaded(before);
      rmSync(join(dir, 'c.txt'));
      while (!gateway.log.some((line) => line.includes('gateway.yaml was not reloaded'))) {
        clock.advance(1_000);
        await setImmediate();
      }
      assert.equal(reloads(), before + 1);
      assert.equal(await keyOf('c'), 'in-yaml-file-3');
      write('c.txt', 'in-yaml-file-4\n');
      await untilReloaded(before + 1);
      assert.equal(await keyOf('c'), 'in-yaml-file-4');
      for (const secret of ['in-env-file', 'in-named-file', 'in-yaml-file']) {
        assert.ok(!gateway.log.join('\n').includes(secret));
      }
    });
  });
