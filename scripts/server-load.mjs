// Loads the server: the compiled one of an installed package; in a checkout the build, which is created first if it does not exist, or the sources if
// it cannot be created.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadCompiled } from './compiled-load.mjs';

const ROOT = resolve(import.meta.dirname, '..');
/** The compiled server of the package; a checkout may have an old one there, which `npm pack` left. */
const PACKED = join(ROOT, 'dist/package/server');

/** The command line of core/cli/main.ts. */
export async function loadServer() {
  const folder = existsSync(join(ROOT, 'core/cli/main.ts')) ? await built() : PACKED;
  if (folder !== undefined) {
    const { compiled, keep } = loadCompiled(folder);
    const { main } = await compiled.modules.get('core/cli/main.ts')();
    return (args) => main(args, keep);
  }
  await import('./typescript.mjs');
  const { main } = await import('../core/cli/main.ts');
  return main;
}

/**
 * The folder of the build. Undefined if it cannot be created, for example in a read-only folder: the sources behave the same, but start a second
 * later.
 */
async function built() {
  const { buildServer, isBuilt, serverFolder } = await import('./server-build.mjs');
  const folder = serverFolder();
  if (isBuilt(folder)) return folder;
  try {
    await buildServer(folder);
    return folder;
  } catch (error) {
    if (!EXPECTED.has(error.code)) process.stderr.write(`The server was not compiled: ${error.message}\n`);
    return undefined;
  }
}

const EXPECTED = new Set(['ERR_MODULE_NOT_FOUND', 'EACCES', 'EROFS', 'EPERM', 'ENOSPC', 'EEXIST', 'ENOTDIR']);
