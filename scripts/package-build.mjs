// Builds the package: the compiled server, the console, and the modules that plugin authors import, as JavaScript and type declarations. npm runs it
// around `npm pack`: `prepack` builds everything and changes package.json to it, `postpack` reverts that. Packages in JavaScript are compiled in, so
// that an installation needs few others; their licences are in dist/package/THIRD-PARTY.txt.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { buildConsole, DIST as CONSOLE, stampOf, stampOfSources } from './console-build.mjs';
import {
  COMMON_JS,
  compileServer,
  INSTALLED,
  isThread,
  ON_DEMAND,
  placesOfSources,
  sources,
  threadName,
  usedOfNode,
} from './server-build.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist/package');
/** The name of the package. Authors install it as `turnpike`, the name that they import. */
const NAME = '@turnpike-gateway/turnpike';
/** The packages that are installed with it: those of the server, and what loads plugins in TypeScript. */
const DEPENDENCIES = [...INSTALLED, 'esbuild', 'tsx'];
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
  /** The folders of packages that are compiled in. */
  const folders = new Set();
  await compile(entries, folders);
  await compilePackages(folders);
  await compileServer(join(DIST, 'server'), [fromCompiledPackages, recordPackages(folders)]);
  declare([...entries.values()]);
  if (stampOf(CONSOLE) !== stampOfSources()) await buildConsole(CONSOLE);
  writeFileSync(join(DIST, 'THIRD-PARTY.txt'), licencesOf([...folders].sort()));
  renameSync(MANIFEST, KEPT);
  writeFileSync(MANIFEST, `${JSON.stringify(packed(manifest), null, 2)}\n`);
}

function restore() {
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
}

/** Names and sources of one export; none if it is not TypeScript. */
function exported(name, file) {
  if (!file.endsWith('.ts')) return [];
  return [[name, file.slice(2)]];
}

/** The package.json with the built exports and the dependencies that remain, without members that only the checkout needs. */
function packed({ devDependencies: _, scripts: __, allowScripts: ___, private: ____, ...manifest }) {
  const exports = Object.entries(manifest.exports).map(([name, file]) => {
    if (!file.endsWith('.ts')) return [name, file];
    const types = file.replace('./', './dist/package/types/').replace(/\.ts$/, '.d.ts');
    return [name, { types, default: name.replace('./', './dist/package/js/').concat('.js') }];
  });
  const installed = Object.entries(manifest.dependencies).filter(([name]) => DEPENDENCIES.includes(name));
  return { ...manifest, name: NAME, exports: Object.fromEntries(exports), dependencies: Object.fromEntries(installed) };
}

/** Compiles the modules of the exports, with one copy of shared code. */
async function compile(entries, folders) {
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
    legalComments: 'none',
    external: DEPENDENCIES,
    plugins: [kitWithPlugins, placesOfSources, usedOfNode, recordPackages(folders)],
    // Bundled CommonJS packages call `require` for Node's own modules.
    banner: {
      js: "import { createRequire as __requireOf } from 'node:module'; const require = __requireOf(import.meta.url);",
    },
    logLevel: 'warning',
  });
}

/** The compiled file of a package that the server loads on demand. */
const fileOf = (name) => `packages/${name.replace('@', '').replace('/', '-')}`;

/** Compiles each package that the server loads on demand. */
async function compilePackages(folders) {
  const { build } = await import('esbuild');
  await build({
    ...COMMON_JS,
    outdir: join(DIST, 'server'),
    entryPoints: ON_DEMAND.map((name) => ({ in: `package:${name}`, out: fileOf(name) })),
    plugins: [
      {
        name: 'packages',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^package:/ }, ({ path }) => ({
            path: path.slice('package:'.length),
            namespace: 'package',
          }));
          onLoad({ filter: /.*/, namespace: 'package' }, ({ path }) => ({
            contents: `module.exports = require('${path}');`,
            resolveDir: ROOT,
          }));
        },
      },
      recordPackages(folders),
    ],
  });
}

/** The server loads those files instead of the packages. */
const fromCompiledPackages = {
  name: 'from-compiled-packages',
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`^(?:${ON_DEMAND.join('|')})$`) }, ({ path }) => ({
      path: `./${fileOf(path)}.js`,
      external: true,
    }));
  },
};

/** Adds the folders of the packages whose code is in the output. */
const recordPackages = (folders) => ({
  name: 'record-packages',
  setup({ initialOptions, onEnd }) {
    initialOptions.metafile = true;
    onEnd(({ metafile = { outputs: {} } }) => {
      const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
      for (const [path, { bytesInOutput }] of inputs) {
        const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0];
        if (folder !== undefined && bytesInOutput > 0) folders.add(folder);
      }
    });
  },
});

/** Names, versions and licences of packages, with the texts that they bring. */
function licencesOf(folders) {
  const chapters = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    const texts = readdirSync(join(ROOT, folder))
      .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
      .map((file) => readFileSync(join(ROOT, folder, file), 'utf8').trim());
    return [`${name} ${version} (${license})`, ...texts].join('\n\n');
  });
  const line = `\n\n${'-'.repeat(80)}\n\n`;
  return `Packages that are compiled into this one. Those of the console are in console/dist/third-party.json.${line}${chapters.join(line)}\n`;
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
      const contents = `import { compiled } from './core/runtime/compiled.ts';\n${modules.join('\n')}\nexport * from './${KIT}';`;
      return { contents, resolveDir: ROOT, loader: 'ts' };
    });
  },
};

/** Type declarations of these sources, and of those that these declarations import. */
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
  const imported = new Set();
  const read = (name) => {
    if (imported.has(name)) return;
    imported.add(name);
    const text = readFileSync(join(types, name), 'utf8')
      .replace(OF_PACKAGE, (_, names) => untyped(names))
      .replace(FOR_EFFECT, '');
    for (const [, path] of text.matchAll(RELATIVE)) read(join(dirname(name), `${path}.d.ts`));
    // A declaration file has the name of its JavaScript file.
    writeFileSync(
      join(types, name),
      text.replace(RELATIVE, (found) => found.replace(/\.ts(?=["']$)/, '.js')),
    );
  };
  for (const file of files) read(file.replace(/\.ts$/, '.d.ts'));
  for (const name of readdirSync(types, { recursive: true }))
    if (name.endsWith('.d.ts') && !imported.has(name)) rmSync(join(types, name));
}

/** An import of types of a package in a declaration; their names. Only internal declarations have one. */
const OF_PACKAGE = /^import (?:type )?\{([^}]*)\} from ["'](?!node:|\.)[^"']+["'];$/gm;

/** An import for its effect, which a declaration does not need. */
const FOR_EFFECT = /^import ["']\.[^"']+["'];\n/gm;

/** The same names without their types: the package is compiled in, so an author's compiler does not find it. */
function untyped(names) {
  const words = names.split(',').map((name) => name.replace('type ', '').trim());
  return words.map((name) => `type ${name}<_A = any, _B = any, _C = any> = any;`).join('\n');
}

/** An import of another source in a declaration; its path without `.ts`. */
const RELATIVE = /(?:from|import\() ?["'](\.{1,2}\/[^"']+)\.ts["']/g;

const [step] = process.argv.slice(2);
if (step === 'undo') restore();
else await build();
