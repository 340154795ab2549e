// On SIGUSR2, starts counting what the process that imports it allocates; on the next SIGUSR2, prints the bytes: what the new
// space has grown by before each collection, and after the last one.
import { GCProfiler, getHeapSpaceStatistics } from 'node:v8';

const NEW = new Set(['new_space', 'new_large_object_space']);
const usedNow = () => sum(getHeapSpaceStatistics().map(({ space_name: name, space_used_size: used }) => [name, used]));
const usedIn = ({ heapSpaceStatistics: spaces }) =>
  sum(spaces.map(({ spaceName, spaceUsedSize }) => [spaceName, spaceUsedSize]));
const sum = (spaces) => spaces.reduce((all, [name, used]) => (NEW.has(name) ? all + used : all), 0);

let profiler;
let before = 0;

process.on('SIGUSR2', () => {
  if (profiler === undefined) {
    profiler = new GCProfiler();
    profiler.start();
    before = usedNow();
    process.stderr.write('counting\n');
    return;
  }
  const { statistics } = profiler.stop();
  profiler = undefined;
  let bytes = 0;
  for (const { beforeGC, afterGC } of statistics) {
    bytes += usedIn(beforeGC) - before;
    before = usedIn(afterGC);
  }
  bytes += usedNow() - before;
  process.stderr.write(`allocated ${bytes} bytes\n`);
});
