#!/usr/bin/env node
// The command `turnpike`: core/main.ts, in a node that reads TypeScript.
import './typescript.mjs';

const { main } = await import('../core/main.ts');
await main(process.argv.slice(2));
