/** Clients whose paths are those of one vendor, and that can change nothing but the address of the server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI, { AzureOpenAI } from 'openai';
import { SCENARIOS } from '../kit/vendors/scenarios.ts';
import { openStand, type Stand } from './stand.ts';

describe('clients with paths of their own', () => {
  let stand: Stand;
  before(async () => {
    stand = await openStand(1);
  });
  after(() => stand.stop());
  const messages = [{ role: 'user' as const, content: 'Hello' }];

  it('find chat completions where Azure has them, with its header of the key', async () => {
    const { root: endpoint, key: apiKey } = stand;
    const client = new AzureOpenAI({ endpoint, apiKey, apiVersion: '2024-10-21', maxRetries: 0 });
    for (const model of ['chat-0', 'messages-0']) {
      stand.next(SCENARIOS.text);
      const { choices } = await client.chat.completions.create({ model, messages });
      assert.equal(choices[0]?.message.content, SCENARIOS.text.text.join(''));
    }
  });

  it('find responses and models where Azure has them: beside the deployments', async () => {
    const { root: endpoint, key: apiKey } = stand;
    const client = new AzureOpenAI({ endpoint, apiKey, apiVersion: '2025-04-01-preview', maxRetries: 0 });
    const { data } = await client.models.list();
    assert.ok(data.some(({ id }) => id === 'chat-0'));
    for (const model of ['responses-0', 'messages-0']) {
      stand.next(SCENARIOS.text);
      const { id, output_text: text } = await client.responses.create({ model, input: 'Hello' });
      assert.equal(text, SCENARIOS.text.text.join(''));
      if (model === 'messages-0') assert.equal((await client.responses.retrieve(id)).id, id);
    }
  });

  it('find everything below /openai/v1', async () => {
    const client = new OpenAI({ baseURL: `${stand.root}/openai/v1`, apiKey: stand.key, maxRetries: 0 });
    const { data } = await client.models.list();
    assert.ok(data.some(({ id }) => id === 'chat-0'));
    stand.next(SCENARIOS.text);
    const { output_text: text } = await client.responses.create({ model: 'responses-0', input: 'Hello' });
    assert.equal(text, SCENARIOS.text.text.join(''));
  });

  it('are told of the path that they asked for if there is nothing', async () => {
    for (const path of ['/openai/v1/none', '/openai/deployments/x', '/openai/v2/models', '/openai/v1/', '/openai/v1']) {
      const answer = await fetch(`${stand.root}${path}`, { headers: { 'api-key': stand.key } });
      assert.equal(answer.status, 404);
      const { error } = (await answer.json()) as { error: { message: string } };
      assert.ok(error.message.startsWith(`The path ${path} does not exist.`), error.message);
    }
  });
});
