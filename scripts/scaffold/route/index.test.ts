/** The route `GET /v1/my-plugin`, as a client sees it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startGateway } from 'turnpike/kit';
import plugin from './index.ts';

it('answers a request with a key, and no other', async () => {
  const gateway = await startGateway({ plugins: [plugin] });
  const answer = await fetch(`${gateway.url}/v1/my-plugin`, { headers: { authorization: `Bearer ${gateway.key}` } });
  assert.equal(answer.status, 200);
  assert.equal(((await answer.json()) as { object: string }).object, 'my-plugin');
  assert.equal((await fetch(`${gateway.url}/v1/my-plugin`)).status, 401);
  await gateway.stop();
});
