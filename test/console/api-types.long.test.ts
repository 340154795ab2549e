/** The types that the console is compiled against are those of the routes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { CONSOLE_PIPELINE } from '../kit/console.ts';
import { startGateway } from '../kit/gateway.ts';
import { apiTypes, type Described, FILE } from './api-types.ts';

it('the types of /api are what its routes say: `npm run api-types` was run', async () => {
  const gateway = await startGateway({ config: { pipeline: [...CONSOLE_PIPELINE] } });
  try {
    const described = (await (await fetch(`${gateway.url}/api/openapi.json`)).json()) as Described;
    assert.equal(await apiTypes(described), readFileSync(FILE, 'utf8'));
  } finally {
    await gateway.stop();
  }
});
