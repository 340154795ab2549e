// `npm run build:console`; with `--if-stale`, as `npm start` asks, only where its sources or packages are not those it was built from.
import { buildConsole, DIST, stampOf, stampOfSources } from './console-build.mjs';

if (!process.argv.includes('--if-stale') || stampOf(DIST) !== stampOfSources()) {
  try {
    process.stderr.write('Building the console …\n');
    await buildConsole(DIST);
  } catch (error) {
    // Installed without what only building needs: the gateway runs all the same, with the console that was built before, if any.
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !process.argv.includes('--if-stale')) throw error;
    const has = stampOf(DIST) === undefined ? 'There is no console' : 'The console is an older one';
    process.stderr.write(`${has}: what building it needs is not installed (npm ci without --omit=dev).\n`);
  }
}
