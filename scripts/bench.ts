/**
 * `npm run bench [-- --quick] [--gate] [--record]`: compares Turnpike with a bare proxy, installed proxies and another
 * gateway, and translated with untranslated calls, in one run. `--gate` fails if a target has become worse than
 * recorded (with `--quick`, only if it is the same on every machine), `--record` keeps better values. Others measure
 * less, each also with `--quick`:
 * `-- --stores`: Turnpike on SQLite, and one, two and three gateways on PostgreSQL.
 * `-- --outages`: Turnpike, while the receivers of telemetry, events and alerts answer, refuse and hang.
 * `-- --nodes`: Turnpike and the bare proxy, on several versions of Node.
 * `-- --peers`: Turnpike, the bare proxy and other gateways that are installed.
 */
import { removeRun } from './bench/folder.ts';
import { canLoad, loadTools } from './bench/load.ts';
import { canPin, describeMachine, watchOthers } from './bench/machine.ts';
import { FULL, measureAll, QUICK } from './bench/measurements.ts';
import { measureNodes } from './bench/nodes.ts';
import { measureOutages } from './bench/outages.ts';
import { measurePeers } from './bench/peers/measure.ts';
import { endAllAtExit } from './bench/processes.ts';
import { nodesReport, outagesReport, peersReport, report, storesReport } from './bench/report.ts';
import type { Who } from './bench/rounds.ts';
import { measureStores } from './bench/stores.ts';
import { readRecorded, record, regressions, targetsOf } from './bench/targets.ts';
import { turnpike } from './bench/turnpike.ts';
import { bareProxy, floor, httpProxy3, installedProxies, portkey, type Variant } from './bench/variants.ts';

/** Maximum CPU share of other processes while recording. */
const MOST_TAKEN = 0.05;

/** Prints the CPU share of other processes, and returns it. */
function sayOthers(others: () => number): number {
  const taken = others();
  say(`Other processes used ${(taken * 100).toFixed(0)} % of the machine in the meantime.`);
  return taken;
}

const say = (line: string): boolean => process.stderr.write(`${line}\n`);

const words = process.argv.slice(2);
const known = ['--quick', '--gate', '--record', '--stores', '--outages', '--nodes', '--peers'];
if (words.some((word) => !known.includes(word))) {
  say(`usage: npm run bench [-- ${known.map((word) => `[${word}]`).join(' ')}]`);
  process.exit(2);
}
if (!canLoad()) {
  say('The bench needs Linux and a C compiler (`cc`), because its vendor and its load generator are C programs.');
  process.exit(2);
}
removeRun();
endAllAtExit();
process.on('exit', removeRun);
say(describeMachine());
if (!canPin) say('Processes are not kept on cores of their own (needs taskset and two cores): compare ratios only.');

const tools = await loadTools(words.includes('--quick') ? 0.15 : 1);

if (words.includes('--stores')) {
  const rounds = words.includes('--quick') ? { rounds: 2, seconds: 1 } : { rounds: 7, seconds: 4 };
  process.stdout.write(storesReport(await measureStores(tools, rounds)));
  process.exit(0);
}

if (words.includes('--outages')) {
  const rounds = words.includes('--quick') ? { rounds: 2, seconds: 1 } : { rounds: 12, seconds: 2 };
  process.stdout.write(outagesReport(await measureOutages(tools, rounds)));
  process.exit(0);
}

if (words.includes('--nodes') || words.includes('--peers')) {
  const isQuick = words.includes('--quick');
  const others = watchOthers();
  if (words.includes('--nodes')) {
    const scale = isQuick
      ? { brief: { rounds: 2, seconds: 0.3 }, streams: { rounds: 1, seconds: 0.7 } }
      : { brief: { rounds: 16, seconds: 0.5 }, streams: { rounds: 3, seconds: 2 } };
    process.stdout.write(nodesReport(await measureNodes(tools, scale, say)));
  }
  if (words.includes('--peers')) {
    const scale = isQuick ? { rounds: 2, seconds: 0.5, streams: 1 } : { rounds: 7, seconds: 1, streams: 5 };
    process.stdout.write(peersReport(await measurePeers(tools, scale, say)));
  }
  sayOthers(others);
  process.exit(0);
}

// Directly after the reference, because this ratio matters most.
const variants: Variant[] = [turnpike, bareProxy, floor, httpProxy3, ...installedProxies()];
try {
  variants.push(await portkey());
} catch (error) {
  say(`Portkey is left out, because it could not be installed: ${(error as Error).message}`);
}

const others = watchOthers();
const measured = await measureAll(variants, tools, words.includes('--quick') ? QUICK : FULL, say);
const titles = new Map<Who, string>([
  ['direct', 'mock vendor, direct'],
  ...variants.map(({ name, title }) => [name, title] as const),
]);
const targets = targetsOf(measured);
const recorded = readRecorded();
process.stdout.write(report(measured, titles, targets, recorded));
const taken = sayOthers(others);
if (words.includes('--record')) {
  if (taken <= MOST_TAKEN) record(targets, recorded);
  else say('Nothing is recorded: repeat it where the machine has nothing else to do.');
}
const worse = words.includes('--gate') ? regressions(targets, recorded, words.includes('--quick')) : [];
for (const { what, value, name } of worse)
  say(`worse than recorded: ${what}: ${value?.toFixed(2)}, was ${recorded[name]}`);
process.exit(worse.length > 0 ? 1 : 0);
