/** How the console is built: into `dist`, with addresses that work below any path; and served while it is worked on. */
import { icons as tabler } from '@iconify-json/tabler';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { parse } from 'yaml';
import { makeErrors } from '../scripts/console-sources.mjs';

await makeErrors();

const gateway = process.env.TURNPIKE_URL ?? 'http://127.0.0.1:8080';

/** Recipes are written as YAML, and read as data: no page has to bring a parser. */
const recipes: Plugin = {
  name: 'recipes',
  transform: {
    filter: { id: /\/recipes\/[\w-]+\.yaml$/ },
    handler: (text) => ({ code: `export default ${JSON.stringify(parse(text))};`, map: null, moduleType: 'js' }),
  },
};

const PEN = / (?:fill|stroke|stroke-width|stroke-linecap|stroke-linejoin)="[^"]*"/g;
/** `~icons/refresh`: a component of this icon of Tabler. Its lines get colour and width from the component. */
const icons: Plugin = {
  name: 'icons',
  resolveId: { filter: { id: /^~icons\// }, handler: (id) => `\0${id}` },
  load: {
    filter: { id: /^\0~icons\// },
    handler(id) {
      const name = id.slice('\0~icons/'.length);
      const { body } = tabler.icons[name] ?? this.error(`Tabler has no icon ${name}`);
      const lines = JSON.stringify(body.replaceAll(PEN, ''));
      return `import { icon } from '/src/parts/icon.tsx';\nexport default /* @__PURE__ */ icon(${lines});`;
    },
  },
};

/** `page-keys` of what begins at `pages/keys/page.tsx`. */
function pageOf(file: string): string | undefined {
  const page = /\/pages\/([\w-]+)\/page\.tsx$/.exec(file)?.[1];
  return page === undefined ? undefined : `page-${page}`;
}

/** What pages are made of; charts, and what shows them, are fetched with the pages that have some. */
const PARTS = /~icons\/|\/src\/(text|icons|(api|parts|shell)\/(?!chart|sums-table|palette)[\w-]+)\.tsx?$/;

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react(), recipes, icons],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // Nothing is inlined: the content security policy allows files of our own and nothing else.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The licences of the packages that are compiled in.
    license: { fileName: 'third-party.json' },
    rollupOptions: {
      output: {
        codeSplitting: {
          groups: [
            // What every page needs, in files that change when a package does, and not with every page.
            { name: 'react', test: /node_modules\/(react|react-dom|scheduler|@tanstack|wouter)\//, priority: 2 },
            { name: 'mantine', test: /node_modules\/@mantine\/(core|hooks|notifications)\//, priority: 1 },
            { name: 'webauthn', test: /node_modules\/@simplewebauthn\// },
            // One file, and not thirty of a few lines each.
            { name: 'parts', test: PARTS, minShareCount: 2 },
          ],
        },
        // Every page is a `page.tsx`: its folder is what tells one file from another.
        chunkFileNames: ({ facadeModuleId }) => `assets/${pageOf(facadeModuleId ?? '') ?? '[name]'}-[hash].js`,
        assetFileNames: ({ originalFileNames: [from = ''] }) => `assets/${pageOf(from) ?? '[name]'}-[hash][extname]`,
      },
    },
  },
  server: {
    proxy: Object.fromEntries(['/api', '/v1'].map((path) => [path, { target: gateway }])),
  },
});
