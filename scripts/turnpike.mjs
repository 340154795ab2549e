#!/usr/bin/env node
// The command `turnpike`: core/main.ts, compiled where that can be, else in a node that reads TypeScript. Every Node that knows modules can
// read this far.
const wanted = [20, 19];
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < wanted[0] || (major === wanted[0] && minor < wanted[1])) {
  process.stderr.write(`Turnpike needs Node ${wanted.join('.')} or newer; this is Node ${process.versions.node}\n`);
  process.exitCode = 1;
} else {
  import('./server-load.mjs').then(({ loadServer }) => loadServer()).then((main) => main(process.argv.slice(2)));
}
