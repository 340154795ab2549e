// Builds the modules that plugin authors import from the package: JavaScript and type declarations. npm runs it around `npm pack`: `prepack` builds
// both in dist/package and changes the exports of package.json to them, `postpack` reverts that.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { isThread, placesOfSources, sources, threadName, usedOfNode } from './server-build.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist/package');
const MANIFEST = join(ROOT, 'package.json');
/** The copy of the checkout's package.json, while another one is packed. */
const KEPT = join(ROOT, 'dist/package.json');
const KIT = 'test/kit/index.ts';

async function build() {
  restore();
  rmSync(DIST, { recursive: true, force: true });
  mkdirSync(DIST, { recursive: true });
  const manifest = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  /** The exports, by their names in dist/package: `plugin`, `contracts/json`. */
  const entries = new Map(Object.entries(manifest.exports).flatMap(([name, file]) => exported(name.slice(2), file)));
  await compile(entries, manifest);
  declare([...entries.values()]);
  renameSync(MANIFEST, KEPT);
  writeFileSync(MANIFEST, `${JSON.stringify(packed(manifest), null, 2)}\n`);
}

function restore() {
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
}

/** Names and sources of one export; none if it is not TypeScript. */
function exported(name, file) {
  if (!file.endsWith('.ts')) return [];
  if (!file.includes('*')) return [[name, file.slice(2)]];
  return readdirSync(join(ROOT, dirname(file)))
    .filter((found) => found.endsWith('.ts'))
    .map((found) => [name.replace('*', found.slice(0, -3)), join(dirname(file), found)]);
}

/** The package.json with the built exports, without members that only the checkout needs. */
function packed({ devDependencies: _, scripts: __, allowScripts: ___, ...manifest }) {
  const exports = Object.entries(manifest.exports).map(([name, file]) => {
    if (!file.endsWith('.ts')) return [name, file];
    const types = file.replace('./', './dist/package/types/').replace(/\.ts$/, '.d.ts');
    return [name, { types, default: name.replace('./', './dist/package/js/').concat('.js') }];
  });
  return { ...manifest, exports: Object.fromEntries(exports) };
}

/** Bundles the modules with one copy of shared code. The kit's dependencies are bundled, so that authors need not install them. */
async function compile(entries, { dependencies, optionalDependencies }) {
  const { build } = await import('esbuild');
  const threads = sources().filter(isThread);
  await build({
    absWorkingDir: ROOT,
    outdir: join(DIST, 'js'),
    entryPoints: [
      ...[...entries].map(([out, file]) => ({ in: file === KIT ? 'kit' : file, out })),
      ...threads.map((file) => ({ in: file, out: threadName(file).replace(/\.js$/, '') })),
    ],
    chunkNames: 'shared-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    legalComments: 'inline',
    external: Object.keys({ ...dependencies, ...optionalDependencies }),
    plugins: [kitWithPlugins, placesOfSources, usedOfNode],
    // Bundled CommonJS packages call `require` for Node's own modules.
    banner: {
      js: "import { createRequire as __requireOf } from 'node:module'; const require = __requireOf(import.meta.url);",
    },
    logLevel: 'warning',
  });
}

/** The kit starts gateways, so it includes every plugin that ships, like the compiled server. */
const kitWithPlugins = {
  name: 'kit-with-plugins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^kit$/ }, () => ({ path: 'kit', namespace: 'kit' }));
    onLoad({ filter: /.*/, namespace: 'kit' }, () => {
      const modules = sources()
        .filter((file) => file.startsWith('plugins/') && file.endsWith('/index.ts'))
        .map((file) => `compiled.modules.set('${file}', () => import('./${file}'));`);
      const contents = `import { compiled } from './core/compiled.ts';\n${modules.join('\n')}\nexport * from './${KIT}';`;
      return { contents, resolveDir: ROOT, loader: 'ts' };
    });
  },
};

/** Type declarations of these sources and their imports. */
function declare(files) {
  const config = join(DIST, 'tsconfig.json');
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    outDir: 'types',
    rootDir: '../..',
  };
  writeFileSync(
    config,
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions,
      include: [],
      files: files.map((f) => `../../${f}`),
    }),
  );
  const tsc = createRequire(import.meta.url)
    .resolve('typescript/package.json')
    .replace('package.json', 'bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', config], { stdio: ['ignore', 'inherit', 'inherit'] });
  rmSync(config);
  const types = join(DIST, 'types');
  for (const name of readdirSync(types, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue;
    const text = readFileSync(join(types, name), 'utf8');
    // A declaration file has the name of its JavaScript file.
    writeFileSync(join(types, name), text.replace(/((?:from|import\() ?["']\.{1,2}\/[^"']+)\.ts(["'])/g, '$1.js$2'));
  }
}

const [step] = process.argv.slice(2);
if (step === 'undo') restore();
else await build();
