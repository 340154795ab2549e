// Loads the server: what it compiles to, which is made first where it is not there; its sources where it cannot be made.
import * as module from 'node:module';
import { join } from 'node:path';
import { buildServer, isBuilt, serverFolder } from './server-build.mjs';

/** core/main.ts. */
export async function loadServer() {
  const folder = serverFolder();
  if (isBuilt(folder) || (await build(folder))) {
    // From Node 22.1 on it also keeps what the engine makes of it.
    module.enableCompileCache?.(join(folder, 'cache'));
    return import(join(folder, 'core.main.js'));
  }
  await import('./typescript.mjs');
  return import('../core/main.ts');
}

/** False where it cannot be made, in a folder that cannot be written for one: the sources do the same, and start a second later. */
async function build(folder) {
  try {
    await buildServer(folder);
    return true;
  } catch (error) {
    if (!EXPECTED.has(error.code)) process.stderr.write(`The server was not compiled: ${error.message}\n`);
    return false;
  }
}

const EXPECTED = new Set(['ERR_MODULE_NOT_FOUND', 'EACCES', 'EROFS', 'EPERM', 'ENOSPC', 'EEXIST', 'ENOTDIR']);
