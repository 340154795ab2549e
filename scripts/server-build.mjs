// Compiles the server: core and the plugins that ship, as JavaScript that node runs as it is, in a folder named after what it was made from.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(import.meta.dirname, '..');
/** Every build has a folder of its own there: a gateway that runs on an older one still finds what it has not loaded yet. */
const DIST = join(ROOT, 'core/dist');
/** So many builds are kept. */
const KEPT = 3;

/** Sources, as paths from the root, in order. */
function sources() {
  const below = (room) =>
    readdirSync(join(ROOT, room), { recursive: true })
      .filter((name) => name.endsWith('.ts') && !name.startsWith('dist'))
      .map((name) => join(room, name));
  return [...below('core'), ...below('plugins')].sort();
}

/** The folder that holds what the present sources compile to, whether it is there or not. */
export function serverFolder() {
  const files = [...sources(), 'package-lock.json', 'scripts/server-build.mjs', 'scripts/schemas-build.mjs'];
  const seen = files
    .map((file) => {
      const { size, mtimeMs, ino } = statSync(join(ROOT, file));
      return `${file} ${size} ${mtimeMs} ${ino}`;
    })
    .join('\n');
  const known = lastSeen();
  if (known?.seen === seen) return join(DIST, known.name);
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)));
  const name = hash.digest('hex').slice(0, 16);
  remember({ seen, name });
  return join(DIST, name);
}

/** What the sources looked like when they were read last, and what they compile to: to read them all takes longer than the rest of a start. */
const SEEN = join(DIST, 'seen.json');

function lastSeen() {
  try {
    return JSON.parse(readFileSync(SEEN, 'utf8'));
  } catch {
    return undefined;
  }
}

function remember(what) {
  const making = `${SEEN}.${randomBytes(4).toString('hex')}`;
  try {
    mkdirSync(DIST, { recursive: true });
    writeFileSync(making, JSON.stringify(what));
    renameSync(making, SEEN);
  } catch {
    // Where nothing can be written, they are read again the next time.
  }
}

/** Whether it is there: it gets its name when it is complete. */
export const isBuilt = (folder) => existsSync(folder);

/** The name of a compiled module in its folder: `core/main.ts` is `core.main.js`. `core/compiled.ts` knows it as well. */
const compiledName = (file) => file.replaceAll('/', '.').replace(/\.ts$/, '');

/** What `schemas-build.mjs` works with. */
const FOR_SCHEMAS = ['core/config/core-sections.ts', 'core/config/ready.ts', 'core/config/validator.ts'];

/** Modules that are loaded by their names: the command, a worker, every plugin and driver, what runs in a thread. */
function entries() {
  const isThread = (file) =>
    /(?:^|\n)import [^\n]*\b(?:parentPort|workerData)\b/.test(readFileSync(join(ROOT, file), 'utf8'));
  return sources().filter(
    (file) =>
      file === 'core/main.ts' ||
      file === 'core/workers/process.ts' ||
      FOR_SCHEMAS.includes(file) ||
      (file.startsWith('plugins') && (basename(file) === 'index.ts' || isThread(file))),
  );
}

/** Compiles into `folder`. Rejects with `ERR_MODULE_NOT_FOUND` where the compiler is not installed. */
export async function buildServer(folder) {
  const { build } = await import('esbuild');
  const making = `${folder}.${randomBytes(4).toString('hex')}`;
  try {
    mkdirSync(making, { recursive: true });
    await build({
      absWorkingDir: ROOT,
      entryPoints: entries().map((file) => ({ in: file, out: compiledName(file) })),
      outdir: making,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      chunkNames: '[hash]',
      legalComments: 'none',
      // Libraries that are CommonJS ask for node's own modules as such.
      banner: {
        js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
      },
      external: ['better-sqlite3', 'better-sqlite3-13', 'stripe', 'alipay-sdk', '@redis/client'],
      plugins: [placesOfSources],
      logLevel: 'silent',
    });
    writeFileSync(join(making, 'package.json'), '{"type":"module"}\n');
    await build({
      absWorkingDir: ROOT,
      entryPoints: [{ in: 'core/config/formats.ts', out: 'core.config.formats' }],
      outdir: making,
      outExtension: { '.js': '.cjs' },
      bundle: true,
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      logLevel: 'silent',
    });
    await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'schemas-build.mjs'), making]);
    renameSync(making, folder);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    // Another process was faster.
    if (!isBuilt(folder)) throw error;
  }
  removeOld(folder);
}

/** Files are found from where the source lies, which stays where it is: a module asks for its own place and is told that of its source. */
const placesOfSources = {
  name: 'places-of-sources',
  setup({ onLoad }) {
    onLoad({ filter: /\/(?:core|plugins)\/.*\.ts$/ }, ({ path }) => {
      const file = relative(ROOT, path);
      if (file.startsWith('node_modules') || file === 'core/compiled.ts') return undefined;
      const source = readFileSync(path, 'utf8');
      if (!source.includes('import.meta')) return undefined;
      const place = JSON.stringify(`../../../${file}`);
      const contents = source
        .replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`)
        .replaceAll(
          'import.meta.dirname',
          `decodeURIComponent(new URL('.', new URL(${place}, import.meta.url)).pathname.slice(0, -1))`,
        );
      return { contents, loader: 'ts' };
    });
  },
};

function removeOld(folder) {
  const others = readdirSync(DIST)
    .filter((name) => name !== basename(folder) && !name.startsWith(basename(SEEN)))
    .map((name) => ({ path: join(DIST, name), made: statSync(join(DIST, name)).mtimeMs }))
    .sort((a, b) => b.made - a.made);
  for (const { path } of others.slice(KEPT - 1)) rmSync(path, { recursive: true, force: true });
}
