#!/usr/bin/env node
// The command `turnpike`: teaches node to read TypeScript, then hands over to core/main.ts.
import { register } from 'tsx/esm/api';

register();
const { main } = await import('../core/main.ts');
await main(process.argv.slice(2));
