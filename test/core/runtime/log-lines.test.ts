/** The section `logger` of gateway.yaml: it applies from the start, to single plugins, and after a reload. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import { startGateway } from '../../kit/gateway/gateway.ts';

describe('the section logger', () => {
  it('sets the level, also of a single plugin, and is applied by a reload', async () => {
    const gateway = await startGateway({ config: { logger: { level: 'error', plugins: { log: 'debug' } } } });
    try {
      await (await gateway.chat({}, { key: 'sk-unknown' })).text();
      const refused = gateway.log.filter((line) => line.includes('refused before authentication'));
      assert.equal(JSON.parse(refused[0]!).plugin, 'log');
      const others = gateway.log.map((line) => JSON.parse(line)).filter(({ plugin }) => plugin !== 'log');
      assert.deepEqual(
        others.filter(({ level }) => level !== 'error'),
        [],
      );
      const config = parse(readFileSync(gateway.configFile, 'utf8'));
      writeFileSync(gateway.configFile, stringify({ ...config, logger: { level: 'info', format: 'text' } }));
      await gateway.gateway.reload();
      assert.match(gateway.log.at(-1)!, /^\S+Z INFO {2}gateway\.yaml was reloaded$/);
      const { length } = gateway.log;
      await (await gateway.chat({}, { key: 'sk-unknown' })).text();
      assert.deepEqual(gateway.log.slice(length), []);
    } finally {
      await gateway.stop();
    }
  });

  it('is wrong if it names a plugin that does not run', async () => {
    await assert.rejects(startGateway({ config: { logger: { plugins: { modls: 'debug' } } } }), (error: Error) => {
      assert.match(
        error.message,
        /logger\.plugins\.modls: no plugin of the pipeline has this name; did you mean models\?/,
      );
      return true;
    });
  });
});
