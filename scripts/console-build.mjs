// Builds the console into a folder, each file with its compressed variants, and a stamp of its sources.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { MADE, sourcesOfErrors } from './console-sources.mjs';

const room = resolve(import.meta.dirname, '../console');
/** The folder that `npm start` uses. */
export const DIST = join(room, 'dist');

/** A hash of its sources and packages. */
export function stampOfSources() {
  const hash = createHash('sha256');
  const sources = readdirSync(room, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.startsWith(`${DIST}`) && !MADE.includes(file))
    .sort();
  const others = ['package-lock.json', ...sourcesOfErrors()].map((file) => resolve(room, '..', file));
  for (const file of [...sources, ...others]) {
    hash
      .update(`${file.slice(room.length)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

/** The stamp of a folder; undefined if there is no complete build in it. */
export function stampOf(dir) {
  const file = join(dir, '.stamp');
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Builds it into a folder, replacing its content. Rejects with `ERR_MODULE_NOT_FOUND` if the packages for building are not installed. */
export async function buildConsole(dir) {
  const stamp = stampOfSources();
  const { build } = await import('vite');
  await build({
    configFile: join(room, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: dir, emptyOutDir: true },
  });
  addIcons(join(dir, 'third-party.json'));
  compress(dir);
  writeFileSync(join(dir, '.stamp'), stamp);
}

/** Adds the package of the icons to the list of licences: they are taken from its data, so the compiler does not see a module of it. */
function addIcons(file) {
  const { name, version, license } = JSON.parse(
    readFileSync(resolve(room, '../node_modules/@iconify-json/tabler/package.json'), 'utf8'),
  );
  const packages = [...JSON.parse(readFileSync(file, 'utf8')), { name, version, identifier: license }];
  writeFileSync(file, JSON.stringify(packages, null, 2));
}

/** Only text is compressed; images already are. */
function compress(dir) {
  for (const name of readdirSync(dir, { recursive: true })) {
    if (!/\.(js|css|svg)$/.test(name)) continue;
    const bytes = readFileSync(join(dir, name));
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(dir, `${name}.gz`), gzipSync(bytes, { level: 9 }));
    writeFileSync(join(dir, `${name}.br`), brotliCompressSync(bytes, { params }));
  }
}
