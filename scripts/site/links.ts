/** Checks a built site for links to missing pages or headings. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Every broken link of a built site, with its page. `base`: the path that the site is served at: `/docs/`. */
export function deadLinksOf(folder: string, base: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const pages = new Map(
    files.filter((file) => file.endsWith('.html')).map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
  );
  const anchors = new Map([...pages].map(([file, html]) => [file, new Set(valuesOf(html, 'id'))]));

  /** The file that a server sends for a path. */
  function fileAt(pathname: string): string | undefined {
    if (!pathname.startsWith(base)) return undefined;
    const path = decodeURIComponent(pathname.slice(base.length));
    const found = path === '' || path.endsWith('/') ? `${path}index.html` : path;
    return statSync(join(folder, found), { throwIfNoEntry: false })?.isFile() === true ? found : undefined;
  }

  return [...pages].flatMap(([file, html]) => {
    const address = new URL(`${base}${file}`, 'http://site.invalid');
    return [...valuesOf(html, 'href'), ...valuesOf(html, 'src')].flatMap((link) => {
      const target = new URL(link, address);
      if (target.origin !== address.origin) return [];
      const there = fileAt(target.pathname);
      const anchor = decodeURIComponent(target.hash.slice(1));
      const isThere = there !== undefined && (anchor === '' || anchors.get(there)?.has(anchor) === true);
      return isThere ? [] : [`${file} links to ${link}`];
    });
  });
}

function valuesOf(html: string, attribute: string): readonly string[] {
  return [...html.matchAll(new RegExp(`\\s${attribute}="([^"]*)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&'),
  );
}
