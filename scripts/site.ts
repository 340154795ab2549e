/** `npm run site [-- --base /docs/]`: builds the documentation as a static site with search, in `.site/dist`. */
import { parseArgs } from 'node:util';
import { buildSite, installGenerator, SITE } from './site/build.ts';

const { values } = parseArgs({ options: { base: { type: 'string', default: '/' } } });
if (!/^\/(.*\/)?$/.test(values.base)) throw new Error('--base must begin and end with a slash: --base /docs/');
await installGenerator();
await buildSite(values.base);
process.stdout.write(`${SITE}\n`);
