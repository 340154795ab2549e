// `npm run build`: builds the server and the console, or only the named one; with `--if-stale`, which `npm start` uses, only those whose sources or
// packages have changed.
import { buildConsole, DIST, stampOf, stampOfSources } from './console-build.mjs';
import { buildServer, isBuilt, serverFolder } from './server-build.mjs';

const ifStale = process.argv.includes('--if-stale');
const named = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const isWanted = (what) => named.length === 0 || named.includes(what);

const folder = serverFolder();
if (isWanted('server') && !(ifStale && isBuilt(folder))) {
  await made('server', 'it starts from its sources, which takes longer', () => buildServer(folder));
}
if (isWanted('console') && !(ifStale && stampOf(DIST) === stampOfSources())) {
  const without = stampOf(DIST) === undefined ? 'there is no console' : 'the console is an older one';
  await made('console', without, () => buildConsole(DIST));
}

/** If the packages for building are not installed, the gateway runs without a build. */
async function made(what, without, build) {
  try {
    process.stderr.write(`Building the ${what} …\n`);
    await build();
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !ifStale) throw error;
    process.stderr.write(`What building the ${what} needs is not installed (npm ci without --omit=dev): ${without}.\n`);
  }
}
