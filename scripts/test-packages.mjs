// Installs what only tests and checks need (test/packages) into test/node_modules. These packages are not in package.json, so that an installation
// that only runs the gateway is smaller.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

const FOLDER = 'test/packages';
const MODULES = 'test/node_modules';
const INSTALLED = `${MODULES}/.turnpike-lock`;

const wanted = createHash('sha256')
  .update(readFileSync(`${FOLDER}/package-lock.json`))
  .digest('hex');
if (!existsSync(INSTALLED) || readFileSync(INSTALLED, 'utf8') !== wanted) {
  process.stderr.write('Installing the packages of the tests …\n');
  const args = ['ci', '--prefix', FOLDER, '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
  // A package.json in test/ would hide the one of the root, which tests import by name as plugin authors do.
  rmSync(MODULES, { recursive: true, force: true });
  renameSync(`${FOLDER}/node_modules`, MODULES);
  writeFileSync(INSTALLED, wanted);
}
