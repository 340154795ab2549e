// `npm run build`: the server and the console, or what is named; with `--if-stale`, as `npm start` asks, only what its sources or packages
// have changed for.
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

/** Installed without what only building needs, the gateway runs all the same. */
async function made(what, without, build) {
  try {
    process.stderr.write(`Building the ${what} …\n`);
    await build();
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !ifStale) throw error;
    process.stderr.write(`What building the ${what} needs is not installed (npm ci without --omit=dev): ${without}.\n`);
  }
}
