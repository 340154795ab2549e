// Loads the server: the build, which is created first if it does not exist; or the sources if it cannot be created.
import { loadCompiled } from './compiled-load.mjs';
import { buildServer, isBuilt, serverFolder } from './server-build.mjs';

/** The command line of core/main.ts. */
export async function loadServer() {
  const folder = serverFolder();
  if (isBuilt(folder) || (await build(folder))) {
    const { compiled, keep } = loadCompiled(folder);
    const { main } = await compiled.modules.get('core/main.ts')();
    return (args) => main(args, keep);
  }
  await import('./typescript.mjs');
  const { main } = await import('../core/main.ts');
  return main;
}

/** False if it cannot be created, for example in a read-only folder: the sources behave the same, but start a second later. */
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
