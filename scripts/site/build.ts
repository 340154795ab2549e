/** Builds the documentation as a static site in `.site/`, which git ignores: installs VitePress there, stages the pages, builds, checks links. */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../bench/processes.ts';
import { deadLinksOf } from './links.ts';
import { navigationOf } from './navigation.ts';
import { pagesOf, placeOf, readmesIn, titleOf } from './pages.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, '.site');
const PAGES = join(FOLDER, 'pages');
/** The generator. It is not a dependency of the project: only building the site needs it. */
const VITEPRESS = '1.6.4';

/** The folder of the built site. */
export const SITE: string = join(FOLDER, 'dist');
/** Packages of the generator, for tests of the site. */
export const PACKAGES: string = join(FOLDER, 'node_modules');

/** Installs the generator, if missing. Rejects if npm fails. */
export async function installGenerator(): Promise<void> {
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies: { vitepress: VITEPRESS } });
  if (existsSync(join(PACKAGES, 'vitepress', 'package.json'))) return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), manifest);
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=1'];
  await run(['npm', 'install', ...flags], { cwd: FOLDER });
}

/** Builds the site for a base path (`/docs/`). Rejects if the generator fails, or with all broken links. */
export async function buildSite(base: string): Promise<void> {
  rmSync(PAGES, { recursive: true, force: true });
  rmSync(SITE, { recursive: true, force: true });
  const { texts, images } = pagesOf(ROOT);
  for (const [path, text] of texts) write(path, text);
  for (const [path, from] of images) cpSync(from, join(PAGES, path));
  write('.vitepress/site.json', JSON.stringify({ ...site(texts), base, outDir: SITE }));
  cpSync(fileURLToPath(new URL('vitepress.mjs', import.meta.url)), join(PAGES, '.vitepress', 'config.mjs'));
  await run([process.execPath, join(PACKAGES, 'vitepress', 'bin', 'vitepress.js'), 'build', PAGES], { cwd: FOLDER });
  const dead = deadLinksOf(SITE, base);
  if (dead.length > 0) throw new Error(dead.join('\n'));
}

function site(texts: ReadonlyMap<string, string>) {
  const sidebar = navigationOf(readmesIn(ROOT)).map(({ title, pages }) => ({
    text: title,
    items: pages.map((path) => {
      const place = placeOf(path);
      return { text: titleOf(texts.get(place) ?? ''), link: `/${place.replace(/(index)?\.md$/, '')}` };
    }),
  }));
  const title = 'Turnpike';
  const description = 'A self-hosted LLM gateway: one address and one API key for the models of many vendors.';
  return { title, description, themeConfig: { sidebar } };
}

function write(path: string, text: string): void {
  const file = join(PAGES, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
