/** `npm run site`: the documentation as a static site, with every link alive and a search that needs no server. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { buildSite, installGenerator, PACKAGES, SITE } from '../../../scripts/site/build.ts';
import { deadLinksOf } from '../../../scripts/site/links.ts';
import { navigationOf } from '../../../scripts/site/navigation.ts';
import { pagesOf } from '../../../scripts/site/pages.ts';
import { PAGES } from './readme-kit.ts';

/** A folder with these files, which is removed behind the test. */
function folder(files: Readonly<Record<string, string>>): { readonly dir: string; [Symbol.dispose](): void } {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-site-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return { dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true }) };
}

/** What the search of the built site is made with. */
interface MiniSearch {
  search(query: string): readonly { readonly id: string }[];
}

describe('the pages of the site', () => {
  it('are all in its navigation, each once', () => {
    const paths = [...PAGES.keys(), 'CHANGELOG.md', 'plugins/new/README.md'];
    const listed = navigationOf(paths).flatMap(({ pages }) => pages);
    assert.deepEqual(listed.toSorted(), paths.toSorted());
  });

  it('link to pages, and to sources as pages; code stays as it is', () => {
    using checkout = folder({
      'README.md':
        '# Top\n\n[core](core/README.md#life) [file](core/a.ts) [folder](core/parts)\n\n```md\n[x](none.md)\n```\n',
      'core/README.md': '# Core\n\n[top](../README.md) `[x](none.md)` [code](https://example.com/)\n',
      'core/a.ts': '/** Adds. */\nexport const a = `~~~`;\n',
      'core/parts/b.ts': '/** Counts {{ all }} of them. */\n',
      'node_modules/x/README.md': '[x](none.md)',
    });
    const { texts } = pagesOf(checkout.dir);
    assert.match(
      texts.get('index.md')!,
      /\[core\]\(\.\/core\/index\.md#life\) \[file\]\(\.\/source\/core\/a\.ts\.md\) \[folder\]\(\.\/source\/core\/parts\/index\.md\)/,
    );
    assert.match(texts.get('index.md')!, /```md\n\[x\]\(none\.md\)\n```/);
    assert.match(
      texts.get('core/index.md')!,
      /\[top\]\(\.\.\/index\.md\) `\[x\]\(none\.md\)` \[code\]\(https:\/\/example/,
    );
    assert.match(texts.get('source/core/a.ts.md')!, /~~~~~ts\n\/\*\* Adds\. \*\/\nexport const a = `~~~`;\n~~~~~/);
    assert.match(
      texts.get('source/core/parts/index.md')!,
      /\| `b\.ts` \| Counts &#123;&#123; all &#125;&#125; of them\. \|/,
    );
    assert.equal(texts.size, 4);
  });

  it('fail the build if they link to a file that does not exist', () => {
    using checkout = folder({ 'README.md': '[gone](gone.md)' });
    assert.throws(() => pagesOf(checkout.dir), /README\.md links to gone\.md, which does not exist/);
  });
});

it('a link to a missing page, heading or image of a built site is reported with its page', () => {
  using built = folder({
    'index.html': '<a href="/docs/a/#there">a</a> <a href="./a/#gone">b</a> <a href="/a/">c</a> <img src="x.png">',
    'a/index.html':
      '<h2 id="there">A</h2> <a href="../b.html">d</a> <a href="https://example.com/x">e</a> <a href="#there">f</a>',
  });
  assert.deepEqual(deadLinksOf(built.dir, '/docs/').toSorted(), [
    'a/index.html links to ../b.html',
    'index.html links to ./a/#gone',
    'index.html links to /a/',
    'index.html links to x.png',
  ]);
});

it('the built site has every page, and its search finds headings of the documentation', async (t) => {
  try {
    await installGenerator();
  } catch (error) {
    t.skip(`the generator could not be installed: ${String(error).slice(0, 200)}`);
    return;
  }
  await buildSite('/docs/');
  const html = (page: string): string => readFileSync(join(SITE, page), 'utf8');
  assert.match(html('index.html'), /<h1 id="turnpike"[^>]*>Turnpike/);
  assert.match(html('plugins/index.html'), /href="[^"]*vendors\/WRITING\.html"/);
  assert.match(html('core/index.html'), /href="[^"]*source\/core\/plugin\.ts\.html"/);
  assert.match(html('github/CONTRIBUTING.html'), /<h2 id="house-rules"/);
  for (const path of PAGES.keys()) {
    const page = path
      .replace(/^\.github/, 'github')
      .replace(/README\.md$/, 'index.html')
      .replace(/\.md$/, '.html');
    assert.ok(
      html('index.html').includes(`href="/docs/${page.replace(/index\.html$/, '')}"`),
      `${path} is in the side bar`,
    );
    assert.match(html(page), /<h1 id=/, path);
  }

  const chunks = join(SITE, 'assets', 'chunks');
  const name = readdirSync(chunks).find((file) => file.startsWith('@localSearchIndex'));
  assert.ok(name !== undefined, 'there is an index');
  writeFileSync(join(SITE, '..', 'index.mjs'), readFileSync(join(chunks, name)));
  const { default: index } = (await import(join(SITE, '..', 'index.mjs'))) as { readonly default: string };
  const { default: MiniSearch } = (await import(createRequire(join(PACKAGES, 'x')).resolve('minisearch'))) as {
    readonly default: { loadJSON(json: string, options: object): MiniSearch };
  };
  const search = MiniSearch.loadJSON(index, { fields: ['title', 'titles', 'text'] });
  const found = search.search('rolling upgrade').map(({ id }) => id);
  assert.ok(found.includes('/docs/plugins/stores/#rolling-restart-and-upgrade'), found.slice(0, 9).join(' '));
  assert.ok(!index.includes('/docs/source/'), 'sources are not in the index');
});
