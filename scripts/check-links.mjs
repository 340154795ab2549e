// Checks that the READMEs in the package link only to files of the package: `files` of package.json has what they link to. Part of `npm test`.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The relative links of the pages among `files`, and a sentence about each that leads to none of the files. */
export function linksWithin(files, textOf) {
  const places = new Set(files);
  for (const file of files)
    for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) places.add(folder);
  const links = [...files]
    .filter((file) => file.endsWith('.md'))
    .flatMap((page) => [...textOf(page).matchAll(/\]\(([^)#\s]+)/g)].map(([, link]) => ({ page, link })))
    .filter(({ link }) => !/^[a-z]+:/.test(link));
  const leadOut = ({ page, link }) => !places.has(join(dirname(page), link).replace(/\/$/, ''));
  return { count: links.length, wrong: links.filter(leadOut).map(({ page, link }) => `${page} links to ${link}`) };
}

/** The files of the package, without those that are built. npm adds README.md and LICENSE itself. */
function filesOfPackage() {
  const { files } = JSON.parse(readFileSync('package.json', 'utf8'));
  return ['README.md', 'LICENSE', ...files.flatMap(filesOf)];
}

/** The files that one entry of `files` names: a file, a folder, or a pattern. */
function filesOf(entry) {
  const [folder] = entry.split(/\/[^/]*\*/);
  if (!existsSync(folder)) return [];
  if (statSync(folder).isFile()) return [folder];
  const below = readdirSync(folder, { recursive: true }).map((name) => join(folder, name));
  const pattern = entry.replaceAll('.', '\\.').replace('**/', '(?:.+/)?').replaceAll('*', '[^/]*');
  return folder === entry ? below : below.filter((file) => new RegExp(`^${pattern}$`).test(file));
}

if (import.meta.filename === process.argv[1]) {
  const { wrong } = linksWithin(filesOfPackage(), (file) => readFileSync(file, 'utf8'));
  for (const each of wrong) process.stderr.write(`${each}, which is not in the package (\`files\` in package.json)\n`);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
