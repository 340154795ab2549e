/** What plugin authors are told: that changed code is not reloaded, and why a request of a plugin failed. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withoutBackup } from '../../../core/assembly/open-store.ts';
import { defaultConfig, startGateway } from '../../kit/gateway/gateway.ts';

describe('a plugin author', () => {
  it('is told by the log which code has changed, and that only a restart loads it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-changed-'));
    const file = join(folder, 'mine.mjs');
    writeFileSync(file, "export default { name: 'mine', api: 2, create: () => ({}) };");
    const { pipeline, ...rest } = defaultConfig([]) as { readonly pipeline: readonly string[] };
    const gateway = await startGateway({ config: { ...rest, pipeline: [...pipeline, file] } });
    try {
      const warned = (): readonly string[] => gateway.log.filter((line) => line.includes('only a restart loads it'));
      await gateway.gateway.reload();
      assert.deepEqual(warned(), []);
      utimesSync(file, new Date(0), new Date(1_000));
      await gateway.gateway.reload();
      assert.equal(warned().length, 1);
      assert.ok(warned()[0]!.includes('mine.mjs'), warned()[0]);
    } finally {
      await gateway.stop();
      rmSync(folder, { recursive: true });
    }
  });

  it('is told the port that fetch refuses, and what else there is', async () => {
    const gateway = await startGateway();
    try {
      await assert.rejects(gateway.host.fetch('http://127.0.0.1:6667/'), /port 6667.*host\.agent/);
    } finally {
      await gateway.stop();
    }
  });

  it('is told by commands what a store driver without copies means', () => {
    assert.match(withoutBackup({}), /makes no copies/);
    assert.match(withoutBackup({ server: { backup: 'use pg_dump' } }), /on a server: use pg_dump/);
  });
});
