/** The examples for authors of plugins: they compile, pass their tests, and run outside the checkout as they stand. */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { CHAT_DELTAS, chatEvents } from '../../kit/gateway/fixtures.ts';
import { testStore } from '../../kit/gateway/gateway.ts';
import { type GatewayProcess, startProcess, turnpike } from '../../kit/gateway/process.ts';
import { fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { chunk, head, jsonAnswer, lastChunk, wholeAnswer } from '../../kit/vendors/script.ts';
import {
  block,
  EXAMPLES,
  firstKey,
  folder,
  page,
  ROOT,
  run,
  type Section,
  shippedSections,
  write,
} from './readme-kit.ts';

describe('the examples for authors of plugins', () => {
  let place: ReturnType<typeof folder>;
  before(() => {
    place = folder(['turnpike', '@types/node']);
    for (const [path, code] of EXAMPLES) write(place.dir, path, code);
  });
  after(() => place.remove());

  /** The sections that ship, with one of them at the end of the pipeline. */
  const withPlugin = async (plugin: string, more: Section): Promise<Section> => {
    const shipped = shippedSections((await testStore(place.dir, basename(plugin))).section);
    return { ...shipped, pipeline: [...(shipped.pipeline as string[]), plugin], ...more };
  };
  const start = async (plugin: string, more: Section = {}): Promise<GatewayProcess> =>
    startProcess(write(place.dir, 'gateway.yaml', stringify(await withPlugin(plugin, more))));
  const ask = (gateway: GatewayProcess, model: string, stream = false): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${firstKey(gateway)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hello?' }] }),
    });

  it('are in order for the compiler', async () => {
    const files = [...EXAMPLES.keys()];
    const { compilerOptions } = JSON.parse(block('tsconfig')) as Section;
    write(place.dir, 'tsconfig.json', JSON.stringify({ compilerOptions, files }));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    await run(process.execPath, [tsc, '-p', place.dir]).catch((error: { readonly stdout: string }) =>
      assert.fail(error.stdout),
    );
  });

  it('pass their own tests, run outside the checkout', async () => {
    const command = /^Run them with `node ([^`]+)`\.$/m.exec(page('plugins/TESTING.md'))?.[1] ?? '';
    // A runner inside a runner would report to it instead of printing.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { stdout } = await run(process.execPath, command.split(' '), { cwd: place.dir, env }).catch(
      (error: { readonly stdout: string }) => assert.fail(error.stdout),
    );
    assert.match(stdout, /on the wire/);
    assert.match(stdout, /takes no calls at night/);
    assert.ok(Number(/^(?:#|ℹ) pass (\d+)$/m.exec(stdout)?.[1]) >= 11, stdout);
  });

  it('refuse with their own words, and say in `check` what they do', async () => {
    const from = (new Date().getUTCHours() + 12) % 24;
    const hours = { from, to: from + 1 };
    const gateway = await start('./plugins/hours.ts', { hours });
    try {
      const answer = await ask(gateway, 'demo');
      const { error } = (await answer.json()) as { readonly error: Section };
      assert.deepEqual([answer.status, error.code], [403, 'closed']);
      const { stdout } = await turnpike(['check', '--config', join(place.dir, 'gateway.yaml')]);
      assert.match(stdout, new RegExp(`^hours +open from ${hours.from} to ${hours.to} o'clock UTC$`, 'm'));
    } finally {
      await gateway.stop();
    }
    const mistaken = stringify(await withPlugin('./plugins/hours.ts', { hours: { from: 9, to: 8 } }));
    const { code, stderr } = await turnpike(['check', '--config', write(place.dir, 'wrong.yaml', mistaken)]);
    assert.equal(code, 78);
    assert.match(stderr, /hours\.to: must be later than `from`/);
  });

  it('have errors of a table, which `turnpike errors` lists', async () => {
    const from = [{ demo: 'demo' }];
    const models = { demo: { from, free: true }, 'beta-demo': { from, free: true } };
    const gateway = await start('./plugins/released.ts', { models });
    try {
      assert.equal((await ask(gateway, 'demo')).status, 200);
      const answer = await ask(gateway, 'beta-demo');
      const { error } = (await answer.json()) as { readonly error: Section };
      assert.deepEqual(
        [answer.status, error.code, error.message],
        [403, 'not_released', 'The model "beta-demo" is not released.'],
      );
      const { stdout } = await turnpike(['errors', '--config', join(place.dir, 'gateway.yaml')]);
      assert.match(stdout, /^403 +not_released +released +The model is not released\. Use another one\.$/m);
    } finally {
      await gateway.stop();
    }
  });

  it('keep a tally', async () => {
    const gateway = await start('./plugins/tally.ts');
    try {
      for (let i = 0; i < 3; i++) assert.equal((await ask(gateway, 'demo')).status, 200);
      assert.equal((await ask(gateway, 'nothing')).status, 404);
      const config = ['--config', join(place.dir, 'gateway.yaml')];
      assert.equal((await turnpike(['tally', ...config])).stdout, 'demo 3\n');
      assert.match((await turnpike(['help', ...config])).stdout, /^ {2}tally +how many calls each model has served$/m);
      const books = await turnpike(['reconcile', ...config]);
      assert.equal(books.code, 0);
      assert.match(books.stdout, /tally-counts-up/);
      const path = `${gateway.url}/v1/tally`;
      const told = await fetch(path, { headers: { authorization: `Bearer ${firstKey(gateway)}` } });
      assert.deepEqual(await told.json(), [{ model: 'demo', calls: 3 }]);
      assert.equal((await fetch(path)).status, 401);
    } finally {
      await gateway.stop();
    }
  });

  it('talk to a vendor with fields of its own', async () => {
    const vendor = await fakeVendor(() => wholeAnswer());
    const channel = { vendor: 'regional', url: vendor.url, key: 'secret' };
    const gateway = await start('./vendors/regional.ts', {
      channels: [
        { ...channel, name: 'plain' },
        { ...channel, name: 'full', version: '2027-05-05', project: 'p1' },
      ],
      models: {
        plain: { from: [{ plain: 'my model' }], free: true },
        full: { from: ['full'], free: true },
      },
    });
    try {
      for (const model of ['plain', 'full']) assert.equal((await ask(gateway, model)).status, 200);
      assert.deepEqual(
        vendor.requests.map(({ path, headers }) => [path, headers['api-key'], headers['x-project']]),
        [
          ['/v1/deployments/my%20model/chat?version=2026-01-01', 'secret', undefined],
          ['/v1/deployments/full/chat?version=2027-05-05', 'secret', 'p1'],
        ],
      );
    } finally {
      await gateway.stop();
      await vendor.close();
    }
  });

  it('talk to a vendor of another style whose models are a little different', async () => {
    const said = { type: 'message', id: 'msg_1', role: 'assistant', model: 'birch-small', stop_reason: 'end_turn' };
    const usage = { input_tokens: 3, output_tokens: 1 };
    const whole = { ...said, content: [{ type: 'text', text: 'Hello.' }], stop_sequence: null, usage };
    const vendor = await fakeVendor(({ path }) => jsonAnswer(200, path === '/v1/tokens' ? { tokens: 42 } : whole));
    const gateway = await start('./vendors/birch.ts', {
      channels: [{ name: 'birch', vendor: 'birch', url: vendor.url, key: 'secret' }],
      models: { 'birch-small': { from: ['birch'], free: true } },
    });
    const post = (path: string, body: Section): Promise<Response> =>
      fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${firstKey(gateway)}`,
          'content-type': 'application/json',
          'x-birch-beta': 'rings',
          'anthropic-version': '2023-06-01',
        },
        body: JSON.stringify({ model: 'birch-small', messages: [{ role: 'user', content: 'Hello?' }], ...body }),
      });
    try {
      const chat = await post('/v1/chat/completions', { temperature: 1.7, seed: 4, max_tokens: 5_000 });
      const { choices } = (await chat.json()) as { readonly choices: readonly [{ readonly message: Section }] };
      assert.equal(choices[0].message.content, 'Hello.');
      assert.deepEqual(chat.headers.get('x-turnpike-translation')?.split(', ').sort(), [
        'max_tokens:changed',
        'seed:dropped',
        'temperature:changed',
      ]);
      const [first] = vendor.requests;
      assert.deepEqual([first?.json.temperature, first?.json.max_tokens], [1, 4_096]);
      assert.deepEqual([first?.headers['x-birch-key'], first?.headers['x-birch-beta']], ['secret', undefined]);
      // What clients of the style read and this vendor leaves out is there.
      const told = { ...usage, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
      assert.deepEqual(await (await post('/v1/messages', { max_tokens: 10 })).json(), { ...whole, usage: told });
      assert.equal(vendor.requests.at(-1)?.headers['x-birch-beta'], 'rings');
      const counted = await post('/v1/messages/count_tokens', {});
      assert.equal(counted.headers.get('x-turnpike-translation'), null);
      assert.deepEqual(await counted.json(), { input_tokens: 42 });
    } finally {
      await gateway.stop();
      await vendor.close();
    }
  });

  it('talk to a vendor that says vectors in a way of its own', async () => {
    const vendor = await fakeVendor(() => jsonAnswer(200, { vectors: [[0.6, 0.8]], tokens: 3 }));
    const gateway = await start('./vendors/cedar.ts', {
      channels: [{ name: 'cedar', vendor: 'cedar', url: vendor.url, key: 'secret' }],
      models: { 'cedar-1': { from: ['cedar'], free: true } },
    });
    const embed = (body: Section): Promise<Response> =>
      fetch(`${gateway.url}/v1/embeddings`, {
        method: 'POST',
        headers: { authorization: `Bearer ${firstKey(gateway)}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'cedar-1', ...body }),
      });
    try {
      const answer = await embed({ input: 'Hello?', encoding_format: 'base64', user: 'u1' });
      assert.equal(answer.headers.get('x-turnpike-translation'), 'user:dropped');
      const embedding = Buffer.from(Float32Array.of(0.6, 0.8).buffer).toString('base64');
      assert.deepEqual(await answer.json(), {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding }],
        model: 'cedar-1',
        usage: { prompt_tokens: 3, total_tokens: 3 },
      });
      const [sent] = vendor.requests;
      assert.deepEqual(
        [sent?.path, sent?.headers['x-cedar-key'], sent?.json],
        ['/v1/vectors/cedar-1', 'secret', { texts: ['Hello?'] }],
      );
      const { error } = (await (await embed({ input: [1, 2] })).json()) as { readonly error: Section };
      assert.deepEqual([error.code, error.param], ['unsupported_parameter', 'input']);
    } finally {
      await gateway.stop();
      await vendor.close();
    }
  });

  it('sign their requests', async () => {
    const vendor = await fakeVendor(() => wholeAnswer());
    const gateway = await start('./vendors/elm.ts', {
      channels: [{ name: 'elm', vendor: 'elm', url: vendor.url, key: 'elm-secret' }],
      models: { 'elm-1': { from: ['elm'], free: true } },
    });
    try {
      assert.equal((await ask(gateway, 'elm-1')).status, 200);
      const [{ headers, body } = assert.fail('there was no request')] = vendor.requests;
      const hash = createHash('sha256').update(body).digest('hex');
      const signed = `POST\n/v1/chat/completions\n${headers['x-elm-date']}\n${hash}`;
      assert.equal(headers['x-elm-signature'], createHmac('sha256', 'elm-secret').update(signed).digest('hex'));
    } finally {
      await gateway.stop();
      await vendor.close();
    }
  });

  it('read streams of frames', async () => {
    const frames = chatEvents().map((event) => {
      const data = Buffer.from(event.slice('data: '.length).trim());
      const length = Buffer.alloc(4);
      length.writeUInt32BE(data.length);
      return chunk(Buffer.concat([length, data]));
    });
    const start200 = head(200, { 'content-type': 'application/x-fir-stream', 'transfer-encoding': 'chunked' });
    const vendor = await fakeVendor(() => [start200, ...frames, lastChunk()]);
    const gateway = await start('./vendors/fir.ts', {
      channels: [{ name: 'fir', vendor: 'fir', url: vendor.url, key: 'secret' }],
      models: { 'fir-1': { from: ['fir'], free: true } },
    });
    try {
      const text = await (await ask(gateway, 'fir-1', true)).text();
      for (const delta of CHAT_DELTAS) assert.ok(text.includes(JSON.stringify(delta)), text);
      assert.match(text, /^data: \[DONE\]$/m);
    } finally {
      await gateway.stop();
      await vendor.close();
    }
  });

  it('find the names they import inside the checkout, too, without anything installed', async () => {
    for (const name of ['plugin', 'kit', 'contracts/catalog', 'typescript']) {
      const file = createRequire(import.meta.url).resolve(`turnpike/${name}`);
      assert.ok(existsSync(file), file);
    }
    const { definePlugin } = await import('turnpike/plugin');
    assert.equal(typeof definePlugin, 'function');
  });
});
