/** Recipes that a machine can follow are followed: step by step, as they are shown, against a gateway. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { fillStep, type Recipe } from '../../../console/src/pages/connect/recipe.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';

const run = promisify(execFile);
const REPOSITORY = resolve(import.meta.dirname, '../../..');
const ROOM = join(REPOSITORY, 'console/recipes');
/** Whose clients are installed here. */
const FOLLOWED = /^(curl-.*|.*-js|vercel-ai-sdk)\.yaml$/;
const ANSWER = /demo|hello|turnpike/i;

describe('recipes that are followed', () => {
  let gateway: TestGateway;
  let dir: string;
  before(async () => {
    gateway = await startGateway();
    dir = mkdtempSync(join(tmpdir(), 'turnpike-recipes-'));
    symlinkSync(join(REPOSITORY, 'test/node_modules'), join(dir, 'node_modules'), 'dir');
  });
  after(async () => {
    rmSync(dir, { recursive: true });
    await gateway.stop();
  });

  for (const file of readdirSync(ROOM).filter((name) => FOLLOWED.test(name))) {
    it(file, async () => {
      const recipe: Recipe = parse(readFileSync(join(ROOM, file), 'utf8'));
      const values = {
        root: gateway.url,
        base: `${gateway.url}/v1`,
        key: gateway.key,
        model: 'demo',
        name: 'Turnpike',
      };
      const own = join(dir, basename(file, '.yaml'));
      mkdirSync(own);
      const script = recipe.steps.map((step) => {
        const code = fillStep(step, values, 'sh');
        if (step.language === 'sh') return code;
        writeFileSync(join(own, step.file!), code);
        return `'${process.execPath}' ${step.file}`;
      });
      const { PATH = '', HOME = '' } = process.env;
      const { stdout } = await run('sh', ['-e', '-c', script.join('\n')], { cwd: own, env: { PATH, HOME } });
      assert.match(stdout, ANSWER);
    });
  }
});
