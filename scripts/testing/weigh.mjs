// Loaded before each test file where `scripts/test.mjs --weigh` measures: writes the processor time of the file and of the processes that it started.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const folder = process.env.TURNPIKE_TEST_WEIGHTS;
/** Ticks per second in /proc. */
const TICKS = 100;

if (isMainThread && process.env.NODE_TEST_CONTEXT !== undefined && folder !== undefined) {
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    const [, , , , , , , , , , , , , childrenUser, childrenSystem] = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    const children = (Number(childrenUser) + Number(childrenSystem)) / TICKS;
    writeFileSync(
      join(folder, String(process.pid)),
      JSON.stringify([process.argv[1], (user + system) / 1e6 + children]),
    );
  });
}
