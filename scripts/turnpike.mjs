#!/usr/bin/env node
// The command `turnpike`: runs core/cli/main.ts, compiled if possible, otherwise with a TypeScript loader. Every version of Node with ES modules can
// parse this file.
const wanted = [20, 19];
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < wanted[0] || (major === wanted[0] && minor < wanted[1])) {
  process.stderr.write(`Turnpike needs Node ${wanted.join('.')} or newer; this is Node ${process.versions.node}\n`);
  process.exitCode = 1;
} else {
  import('./server-load.mjs').then(({ loadServer }) => loadServer()).then((main) => main(process.argv.slice(2)));
}
