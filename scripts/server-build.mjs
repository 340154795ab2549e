// Compiles the server (core and the plugins that ship) to JavaScript, in a folder named after a hash of its sources.
import { isAscii } from 'node:buffer';
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { SERVER } from './compiled-load.mjs';

const ROOT = resolve(import.meta.dirname, '..');
/** Every build has its own folder there, so that a gateway that runs on an older build can still load the rest of it. */
const DIST = join(ROOT, 'core/dist');
/** The number of builds to keep. */
const KEPT = 3;

/** Sources, as paths from the root, in order. */
export function sources() {
  return [...below('core'), ...below('plugins')].sort();
}

/** One recursive listing would take Node ten times as long. */
function below(folder) {
  return readdirSync(`${ROOT}/${folder}`, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return path === 'core/dist' ? [] : below(path);
    return path.endsWith('.ts') ? [path] : [];
  });
}

/** The folder of the build of the current sources, which may not exist. */
export function serverFolder() {
  const files = [
    ...sources(),
    // An installed package has no lock file; npm keeps one next to it.
    ...['package-lock.json', '../.package-lock.json'].filter((file) => existsSync(`${ROOT}/${file}`)),
    'scripts/server-build.mjs',
    'scripts/schemas-build.mjs',
    'scripts/compiled-load.mjs',
  ];
  const seen = files
    .map((file) => {
      const { size, mtimeMs, ino } = statSync(`${ROOT}/${file}`);
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

/** Sizes and times of the sources when they were last read, and their build: reading all sources takes longer than the rest of a start. */
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
    // If it cannot be written, they are read again the next time.
  }
}

/** Whether the build exists: it gets its final name when it is complete. */
export const isBuilt = (folder) => existsSync(folder);

/** The entry points of threads and processes, by their names in the folder; `core/runtime/compiled.ts` has the same names. */
export const threadName = (file) => file.replaceAll('/', '.').replace(/\.ts$/, '');

/** The loader. */
const LOADER = 'compiled-load.mjs';

/** The entry point for `schemas-build.mjs`. */
const FOR_SCHEMAS = ['core/config/core-sections.ts', 'core/config/compiled-schemas.ts', 'core/config/validator.ts'];

/** The entry points of processes: workers, and the end of a backup. */
const PROCESSES = ['core/gateway/worker-process.ts', 'core/operations/backups/process.ts'];

/** Loaded by their names: the command, other processes, every plugin and driver. */
const isEntry = (file) =>
  file === 'core/cli/main.ts' ||
  PROCESSES.includes(file) ||
  FOR_SCHEMAS.includes(file) ||
  (file.startsWith('plugins') && basename(file) === 'index.ts');

export const isThread = (file) =>
  file.startsWith('plugins') &&
  /(?:^|\n)import [^\n]*\b(?:parentPort|workerData)\b/.test(readFileSync(join(ROOT, file), 'utf8'));

/** A module that loads the others on demand. `validators`: the compiled schemas, once they exist. */
function serverEntry(validators) {
  const modules = sources()
    .filter(isEntry)
    .map((file) => `compiled.modules.set('${file}', () => import('./${file}'));`);
  const schemas = validators === undefined ? '' : `compiled.schemas = () => require('${validators}');`;
  return `import { compiled } from './core/runtime/compiled.ts';
    ${modules.join('\n')}
    ${schemas}
    export { compiled };`;
}

/**
 * Packages that are loaded when they are needed: a start without them is faster. The package for npm has them compiled (`package-build.mjs`).
 * `@opentelemetry/api` is not one: prom-client loads it with every start, and from the compiled server that is much faster.
 */
export const ON_DEMAND = [
  'stripe',
  'alipay-sdk',
  'undici',
  'mysql2',
  'nodemailer',
  '@simplewebauthn/server',
  'qrcode',
  '@redis/client',
  '@opentelemetry/core',
  '@opentelemetry/exporter-metrics-otlp-http',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/sdk-trace-base',
];

/** Packages that are installed wherever the server runs: native modules, and the data of prices, which is read as a file. */
export const INSTALLED = ['better-sqlite3', 'better-sqlite3-13', '@pydantic/genai-prices'];

/** Options for compiling modules that are loaded with `require`. */
export const COMMON_JS = {
  absWorkingDir: ROOT,
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  legalComments: 'none',
  // Without comments it contains only ASCII, which takes half the memory; with line breaks, stack traces are useful.
  minifyWhitespace: true,
  lineLimit: 120,
  define: { 'import.meta.url': '__here' },
  banner: { js: "const __here = require('node:url').pathToFileURL(__filename).href;" },
  logLevel: 'silent',
};

/** Compiles into `folder`, which gets its name when it is complete. Rejects with `ERR_MODULE_NOT_FOUND` if the compiler is not installed. */
export async function buildServer(folder) {
  const making = `${folder}.${randomBytes(4).toString('hex')}`;
  try {
    await compileServer(making);
    renameSync(making, folder);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    // Another process was faster.
    if (!isBuilt(folder)) throw error;
  }
  removeOld(folder);
}

/** Compiles into the folder `making`. `plugins` of the compiler run first. */
export async function compileServer(making, plugins = []) {
  const { build } = await import('esbuild');
  const bundled = {
    ...COMMON_JS,
    outdir: making,
    // See `Compiled.import`: packages are required.
    supported: { 'dynamic-import': false },
    external: [...INSTALLED, ...ON_DEMAND],
    plugins: [...plugins, placesOfSources, usedOfNode],
  };
  mkdirSync(making, { recursive: true });
  writeFileSync(join(making, 'package.json'), '{"type":"commonjs"}\n');
  copyFileSync(join(import.meta.dirname, LOADER), join(making, LOADER));
  for (const entry of PROCESSES)
    writeFileSync(
      join(making, `${threadName(entry)}.js`),
      `import('./${LOADER}').then(({ loadCompiled }) => loadCompiled(__dirname).compiled.modules.get('${entry}')());\n`,
    );
  const threads = sources().filter(isThread);
  await build({
    ...bundled,
    entryPoints: [
      ...threads.map((file) => ({ in: file, out: threadName(file) })),
      { in: 'core/config/formats.ts', out: 'core.config.formats' },
    ],
  });
  const buildModule = (validators) =>
    build({
      ...bundled,
      stdin: { contents: serverEntry(validators), resolveDir: ROOT, sourcefile: 'server.ts', loader: 'ts' },
      entryNames: basename(SERVER, '.cjs'),
      outExtension: { '.js': '.cjs' },
      banner: { js: `(function (exports, require, module, __filename, __dirname) { ${COMMON_JS.banner.js}` },
      footer: { js: '})' },
    });
  // The schemas can be read once the plugins can be loaded.
  await buildModule();
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'schemas-build.mjs'), making]);
  await buildModule(join(making, 'validators.cjs'));
  if (!isAscii(readFileSync(join(making, SERVER)))) throw new Error(`${SERVER} is not ASCII, as which it is read`);
}

/** Modules find files relative to their source, which is not moved: `import.meta` of a compiled module refers to its source. */
export const placesOfSources = {
  name: 'places-of-sources',
  setup({ onLoad }) {
    onLoad({ filter: /\/(?:core|plugins|test)\/.*\.ts$/ }, ({ path }) => {
      const file = relative(ROOT, path);
      if (file.startsWith('node_modules') || file === 'core/runtime/compiled.ts') return undefined;
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

/** Loads only the Node modules that a module uses, so that threads start fast. */
export const usedOfNode = {
  name: 'used-of-node',
  setup({ onResolve }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, external: true, sideEffects: false }));
  },
};

function removeOld(folder) {
  const others = readdirSync(DIST)
    .filter((name) => name !== basename(folder) && !name.startsWith(basename(SEEN)))
    .map((name) => ({ path: join(DIST, name), made: statSync(join(DIST, name)).mtimeMs }))
    .sort((a, b) => b.made - a.made);
  for (const { path } of others.slice(KEPT - 1)) rmSync(path, { recursive: true, force: true });
}
