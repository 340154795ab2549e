// `npm run pictures`: updates the screenshots in the documentation, which the tests that visit every page take.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const taken = mkdtempSync(join(tmpdir(), 'turnpike-pictures-'));
const { status } = spawnSync(process.execPath, ['scripts/test.mjs', 'browser/pages-normal'], {
  stdio: 'inherit',
  env: { ...process.env, TURNPIKE_PICTURES: taken },
});
process.exitCode = status ?? 1;
mkdirSync('console/pictures', { recursive: true });
for (const name of readdirSync(taken)) {
  const [, page] = /^([\w-]+)-normal-en-light-1280\.webp$/.exec(name) ?? [];
  if (page !== undefined) copyFileSync(join(taken, name), join('console/pictures', `${page}.webp`));
}
rmSync(taken, { recursive: true });
