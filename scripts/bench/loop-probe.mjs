// On SIGUSR2, starts watching the event loop of the process that imports it; on the next SIGUSR2, prints the longest time between two turns in
// milliseconds. The loop does not idle while it is watched, so that every turn is measured.
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
