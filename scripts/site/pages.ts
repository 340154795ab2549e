/**
 * The pages of the site, generated from the READMEs of the checkout, with rewritten links, and pages for linked files
 * and folders.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path/posix';

/** The input of VitePress: page texts, and images to copy. Paths are relative to the folder of the pages. */
export interface Pages {
  readonly texts: ReadonlyMap<string, string>;
  /** Source path of an image in the checkout. */
  readonly images: ReadonlyMap<string, string>;
}

/** Folders without pages. */
const SKIPPED = ['node_modules', 'dist', 'data'];
const IMAGE = /\.(webp|png|jpe?g|svg|gif)$/;

/** Paths of all READMEs and other Markdown files in a checkout; hidden folders are skipped, except `.github`. */
export function readmesIn(root: string, folder = ''): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return path.endsWith('.md') ? [path] : [];
    const isSkipped = SKIPPED.includes(entry.name) || (entry.name.startsWith('.') && entry.name !== '.github');
    return entry.isDirectory() && !isSkipped ? readmesIn(root, path) : [];
  });
}

/** The page path of a README: `core/index.md` for `core/README.md`. */
export function placeOf(path: string): string {
  return path.replace(/^\.github\//, 'github/').replace(/(^|\/)README\.md$/, '$1index.md');
}

/** The first heading of a page. */
export function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? '';
}

/** All pages. Throws if a page links to a file that does not exist. */
export function pagesOf(root: string): Pages {
  const texts = new Map<string, string>();
  const images = new Map<string, string>();
  for (const path of readmesIn(root)) texts.set(placeOf(path), withLinks(path, readFileSync(join(root, path), 'utf8')));
  return { texts, images };

  /** The text with links rewritten to pages of the site. Code is unchanged. */
  function withLinks(path: string, text: string): string {
    return text
      .split(/(^```.*?^```$|`[^`\n]+`)/ms)
      .map((part, at) =>
        at % 2 === 1 ? part : part.replace(/\]\(([^)\s]+)\)/g, (_, link: string) => `](${linked(path, link)})`),
      )
      .join('');
  }

  function linked(path: string, link: string): string {
    if (/^([a-z]+:|#)/.test(link)) return link;
    const [target = '', anchor] = link.split('#');
    const file = join(dirname(path), target);
    if (!existsSync(join(root, file))) throw new Error(`${path} links to ${link}, which does not exist`);
    const place = placeFor(file.replace(/\/$/, ''));
    const from = relative(dirname(placeOf(path)), place);
    return `${from.startsWith('.') ? from : `./${from}`}${anchor === undefined ? '' : `#${anchor}`}`;
  }

  /** The page of a file or folder; a linked source file becomes a page, too. */
  function placeFor(file: string): string {
    if (file.endsWith('.md')) return placeOf(file);
    if (IMAGE.test(file)) {
      images.set(file, join(root, file));
      return file;
    }
    if (existsSync(join(root, file, 'README.md'))) return placeOf(join(file, 'README.md'));
    return sourcePage(file);
  }

  function sourcePage(file: string): string {
    const isFolder = statSync(join(root, file)).isDirectory();
    const place = join('source', file, isFolder ? 'index.md' : '').replace(/\/$/, '') + (isFolder ? '' : '.md');
    if (texts.has(place)) return place;
    // Source pages are reached by links; the search covers only documentation.
    const head = `---\nsearch: false\neditLink: false\noutline: false\n---\n\n# ${file}\n\n`;
    texts.set(place, head + (isFolder ? listOf(file) : codeOf(file)));
    return place;
  }

  /** The files of a folder, each with its opening sentence. */
  function listOf(folder: string): string {
    const entries = readdirSync(join(root, folder), { withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    const rows = files.sort().map((name) => `| \`${name}\` | ${purposeOf(join(root, folder, name))} |\n`);
    return `| File | Purpose |\n|---|---|\n${rows.join('')}`;
  }

  function codeOf(file: string): string {
    const language = extname(file).slice(1).replace('mjs', 'js') || (basename(file) === 'LICENSE' ? 'text' : '');
    return `~~~~~${language}\n${readFileSync(join(root, file), 'utf8').trimEnd()}\n~~~~~\n`;
  }
}

/** The opening sentence of a source file as the text of a cell; empty if there is none. */
function purposeOf(file: string): string {
  const [, sentence = ''] =
    /^\/\*\*\s*(?:\* )?(.+?)(?:\s*\*\/)?$/m.exec(readFileSync(file, 'utf8').slice(0, 1_000)) ?? [];
  return sentence.replace(/[<>{}|]/g, (sign) => `&#${sign.codePointAt(0)};`);
}
