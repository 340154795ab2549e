// Makes the two sources of the console that are not committed: `errors.ts`, from the tables of errors, and `operations.ts`, the types of `/api`, from the
// schemas of its routes. Each begins with a hash of what it is made from, and is made again only if that has changed. `npm run verify` needs both; a
// build only needs `errors.ts`, because types are removed.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { buildServer, isBuilt, serverFolder } from './server-build.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const ERRORS = 'console/src/api/errors.ts';
const TYPES = 'console/src/api/operations.ts';
/** The files that are made. */
export const MADE = [ERRORS, TYPES].map((file) => join(ROOT, file));
/** The operations of `/api`, each with a hash of its types: committed, so that a review shows which ones have changed. */
const LIST = 'test/console/operations.txt';

const textOf = (file) => readFileSync(join(ROOT, file), 'utf8');
const hashOf = (texts) => createHash('sha256').update(texts.join('\0')).digest('hex');

/** What `errors.ts` is made from, by its paths from the root. */
export function sourcesOfErrors() {
  const tables = readdirSync(join(ROOT, 'plugins')).map((plugin) => `plugins/${plugin}/errors.ts`);
  return [
    'core/contracts/errors.ts',
    'core/contracts/gateway-error.ts',
    'scripts/errors.ts',
    ...tables.filter((file) => existsSync(join(ROOT, file))),
  ];
}

/** Makes `errors.ts` if it is missing or old. */
export async function makeErrors() {
  const hash = hashOf(sourcesOfErrors().map(textOf));
  if (isMadeFrom(hash, ERRORS)) return;
  const { forConsole } = await tsImport('./errors.ts', import.meta.url);
  write(ERRORS, hash, await forConsole());
}

/** Makes `operations.ts` if it is missing or old. Rejects if the list is not current, unless it is to be written. */
async function makeTypes(isToWrite) {
  const hash = () =>
    hashOf([
      basename(serverFolder()),
      ...['test/console/api-types.ts', 'test/packages/package-lock.json', LIST].map(textOf),
    ]);
  if (isMadeFrom(hash(), TYPES)) return;
  const folder = serverFolder();
  if (!isBuilt(folder)) await buildServer(folder);
  const { describedTypes } = await tsImport('../test/console/api-types.ts', import.meta.url);
  const { list, types } = await describedTypes();
  if (isToWrite) writeFileSync(join(ROOT, LIST), list);
  else if (list !== textOf(LIST)) throw new Error(`${LIST} is not current: npm run api-types`);
  write(TYPES, hash(), types);
}

const isMadeFrom = (hash, file) => existsSync(join(ROOT, file)) && textOf(file).startsWith(`// ${hash}\n`);
const write = (file, hash, text) => writeFileSync(join(ROOT, file), `// ${hash}\n${text}`);

if (import.meta.filename === process.argv[1]) {
  try {
    await makeErrors();
    await makeTypes(process.argv[2] === 'write');
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
