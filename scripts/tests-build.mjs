// Compiles test files together with what they import, for a run of many files: loading the sources takes over a second of processor time per file.
import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { sources } from './server-build.mjs';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * Compiles groups of files, paths from the root, into `folder`: one compiled file for the files that share a process. `server` has the compiled
 * server, whose threads and schemas they use. Returns the compiled files in the same order. Modules stay single: all files share their parts, and
 * packages are loaded from their folders.
 */
export async function buildTests(groups, folder, server) {
  const entries = groups.map((files, i) => ({ in: `group:${i}`, out: `${basename(files[0], '.ts')}.${i}` }));
  await build({
    absWorkingDir: ROOT,
    entryPoints: entries,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // As Node resolves packages: without the condition that bundlers add.
    conditions: [],
    mainFields: ['main'],
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'error',
    plugins: [groupsOf(groups), packagesOutside, placesOf(server)],
  });
  return entries.map(({ out }) => join(folder, `${out}.mjs`));
}

/** The files of a group as one module. */
const groupsOf = (groups) => ({
  name: 'groups-of-tests',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^group:/ }, ({ path }) => ({ path, namespace: 'group' }));
    onLoad({ filter: /./, namespace: 'group' }, ({ path }) => {
      const files = groups[Number(path.slice('group:'.length))];
      return { contents: files.map((file) => `import './${file}';\n`).join(''), resolveDir: ROOT, loader: 'js' };
    });
  },
});

/** Packages are not compiled: Node loads the same file of them that it would load for the source. */
const packagesOutside = {
  name: 'packages-outside',
  setup({ onResolve, resolve: find }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (pluginData === packagesOutside || kind === 'entry-point' || path.startsWith('node:')) return undefined;
      const found = await find(path, { kind, resolveDir, pluginData: packagesOutside });
      // Without a result, Node gives the error when the module is loaded. This package also refers to itself by its name.
      if (found.errors.length > 0) return { path, external: true };
      return found.path.includes('/node_modules/') ? { path: found.path, external: true } : found;
    });
  },
};

/** `import.meta` of a compiled module refers to its source; only core/runtime/compiled.ts has the place of the compiled server, and all plugins. */
const placesOf = (server) => ({
  name: 'places-of-tests',
  setup({ onLoad }) {
    onLoad({ filter: /\.m?[jt]s$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      const isCompiled = path === join(ROOT, 'core/runtime/compiled.ts');
      const place = isCompiled ? join(server, 'compiled.js') : path;
      const contents = source
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(place).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(place)));
      return { contents: isCompiled ? contents + everyPlugin() : contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
    });
  },
});

/** Plugins are loaded by their names. */
function everyPlugin() {
  const plugins = sources().filter((file) => file.startsWith('plugins') && basename(file) === 'index.ts');
  return plugins.map((file) => `compiled.modules.set('${file}', () => import('../../${file}'));\n`).join('');
}
