// `npm run release`: makes the package in dist/release, lists what is in it, and writes an SBOM and checksums next to it. Fails if the package has
// anything that is not expected.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { surprises } from './release-content.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'dist/release');

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
npm('pack', '--silent', '--pack-destination', FOLDER);
const [packed] = readdirSync(FOLDER);
const unpacked = mkdtempSync(join(tmpdir(), 'turnpike-release-'));
try {
  execFileSync('tar', ['-xzf', join(FOLDER, packed), '-C', unpacked]);
  const content = join(unpacked, 'package');
  const { name, version } = JSON.parse(readFileSync(join(content, 'package.json'), 'utf8'));
  const base = `${name.replace('@', '').replace('/', '-')}-${version}`;
  renameSync(join(FOLDER, packed), join(FOLDER, `${base}.tgz`));

  const files = readdirSync(content, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(content.length + 1))
    .sort();
  const sizes = new Map(files.map((file) => [file, statSync(join(content, file)).size]));
  for (const [file, size] of sizes) process.stdout.write(`${String(size).padStart(9)}  ${file}\n`);
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  process.stdout.write(`${String(total).padStart(9)}  bytes in ${files.length} files\n`);
  const found = files.flatMap((file) => surprises(file, readFileSync(join(content, file), 'latin1'), ROOT));
  if (found.length > 0) throw new Error(`the package has what it should not have:\n  ${found.join('\n  ')}`);

  const sbom = join(FOLDER, `${base}.cdx.json`);
  writeFileSync(sbom, `${JSON.stringify(billOf(content, name), null, 2)}\n`);
  const sums = readdirSync(FOLDER).map(
    (file) =>
      `${createHash('sha256')
        .update(readFileSync(join(FOLDER, file)))
        .digest('hex')}  ${file}\n`,
  );
  writeFileSync(join(FOLDER, 'SHA256SUMS'), sums.join(''));
  process.stdout.write(`made ${readdirSync(FOLDER).join(', ')} in dist/release\n`);
} finally {
  rmSync(unpacked, { recursive: true });
}

/** The SBOM, as npm writes it of the lock files: the packages that are installed with this one, and those that are compiled in. */
function billOf(content, name) {
  const compiledIn = new Set([
    ...[...readFileSync(join(content, 'dist/package/THIRD-PARTY.txt'), 'utf8').matchAll(/^(\S+) (\d\S*) \(/gm)].map(
      ([, name, version]) => `${name}@${version}`,
    ),
    ...JSON.parse(readFileSync(join(content, 'console/dist/third-party.json'), 'utf8')).map(
      ({ name, version }) => `${name}@${version}`,
    ),
  ]);
  const installed = new Set(installedWith(content));
  const [bill, ofTests] = [ROOT, join(ROOT, 'test/packages')].map((cwd) =>
    JSON.parse(npm({ cwd }, 'sbom', '--sbom-format', 'cyclonedx', '--package-lock-only')),
  );
  const components = new Map(
    [...bill.components, ...ofTests.components]
      .filter(({ name, version }) => installed.has(`${name}@${version}`) || compiledIn.has(`${name}@${version}`))
      .map((component) => [component['bom-ref'], component]),
  );
  const listed = new Set([...components.values()].map(({ name, version }) => `${name}@${version}`));
  const missing = [...compiledIn].filter((each) => !listed.has(each));
  if (missing.length > 0) throw new Error(`the lock files do not have what is compiled in: ${missing.join(', ')}`);
  const root = bill.metadata.component;
  const dependencies = [...bill.dependencies, ...ofTests.dependencies]
    .filter(({ ref }) => ref === root['bom-ref'] || components.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => components.has(each)) }));
  return {
    ...bill,
    metadata: {
      ...bill.metadata,
      component: { ...root, name, purl: `pkg:npm/${name.replace('@', '%40')}@${root.version}` },
    },
    components: [...components.values()],
    dependencies: [...new Map(dependencies.map((each) => [each.ref, each])).values()],
  };
}

/** The packages that npm installs with the package: its dependencies and theirs, as the lock file has them. */
function installedWith(content) {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(content, 'package.json'), 'utf8'));
  const found = new Map();
  const add = (name, from) => {
    const path = [`${from}/node_modules/${name}`, `node_modules/${name}`].find((each) => packages[each] !== undefined);
    if (path === undefined || found.has(path)) return;
    const entry = packages[path];
    found.set(path, `${name}@${entry.version}`);
    for (const needed of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) add(needed, path);
  };
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) add(name, '');
  return found.values();
}

/** Runs npm and returns its output; the first argument may be options of the process. */
function npm(...words) {
  const options = typeof words[0] === 'object' ? words.shift() : {};
  return execFileSync('npm', words, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  });
}
