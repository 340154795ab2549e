/** A gateway.yaml with a mistake never starts a gateway and never replaces a running one. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { planFrom } from '../../../core/assembly/assemble.ts';
import { describeAssembly } from '../../../core/cli/check.ts';
import { ConfigError } from '../../../core/config/file.ts';
import { openGateway } from '../../../core/gateway/gateway.ts';
import { editorSchema } from '../../../core/operations/config-editing/editor-schema.ts';
import { silentLog } from '../../../core/runtime/logger.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';

/** What is wrong with text and shape, and what is wrong between the sections. */
const folders = [join(import.meta.dirname, '../../core/config/wrong'), join(import.meta.dirname, 'bad-config')];
const cases = folders.flatMap((folder) => readdirSync(folder).map((name) => ({ name, dir: join(folder, name) })));
const silent = silentLog;

/** The problems as `turnpike check` shows them, with the file's name alone. */
async function problems(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return `${error.message.replace(/^.*(?=gateway\.yaml:)/gm, '')}\n`;
  }
  return assert.fail('nothing was found wrong');
}

describe('a bad gateway.yaml', () => {
  let running: TestGateway;
  before(async () => {
    running = await startGateway();
  });
  after(() => running.stop());

  it('comes in many kinds', () => assert.ok(cases.length >= 20));

  // The same reading stands before a start and a reload; one mistake of each kind shows that nothing goes past it.
  for (const name of ['tab', 'unknown-key', 'unknown-plugin', 'unknown-channel', 'price-misspelt']) {
    const { dir } = cases.find((candidate) => candidate.name === name)!;

    it(`${name}: no gateway starts on it`, async () => {
      await problems(() => openGateway({ configFile: join(dir, 'gateway.yaml'), env: {}, log: silent }));
      assert.deepEqual(readdirSync(dir).sort(), ['expected.txt', 'gateway.yaml']);
    });

    it(`${name}: a running gateway stays as it is`, async () => {
      const good = readFileSync(running.configFile);
      writeFileSync(running.configFile, readFileSync(join(dir, 'gateway.yaml')));
      await problems(() => running.gateway.reload());
      writeFileSync(running.configFile, good);
      assert.equal((await running.chat({ model: 'demo' })).status, 200);
    });
  }

  for (const { name, dir } of cases) {
    const file = join(dir, 'gateway.yaml');
    const expected = (): string => readFileSync(join(dir, 'expected.txt'), 'utf8');

    it(`${name}: check says what is wrong and what would be right`, async () => {
      assert.equal(await problems(() => describeAssembly(file, {})), expected());
    });
  }
});

it('the schema that editors read is the one that the plugins check with', async () => {
  const root = join(import.meta.dirname, '../../..');
  const { sections } = await planFrom(join(root, 'gateway.yaml'), {});
  const written: unknown = JSON.parse(readFileSync(join(root, 'core/schema.json'), 'utf8'));
  assert.deepEqual(written, JSON.parse(JSON.stringify(editorSchema(sections))), 'run `npx turnpike schema`');
});
