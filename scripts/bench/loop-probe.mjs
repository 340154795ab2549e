// Told by SIGUSR2, watches the event loop of the process that it is imported into; told again, prints the longest time between two turns
// of it, in milliseconds. The loop does not rest while it is watched, so that every turn is seen.
let watching = false;
let count = 0;

process.on('SIGUSR2', () => {
  watching = !watching;
  if (!watching) return;
  let longest = 0;
  let last = performance.now();
  const turn = () => {
    const now = performance.now();
    if (now - last > longest) longest = now - last;
    last = now;
    if (watching) setImmediate(turn);
    else process.stderr.write(`longest turn ${++count}: ${longest.toFixed(3)} ms\n`);
  };
  setImmediate(turn);
  process.stderr.write(`watching turn ${count + 1}\n`);
});
