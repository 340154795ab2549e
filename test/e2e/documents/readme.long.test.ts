/** The examples of the documentation run as they stand, and so do those of gateway.yaml. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import { planFrom } from '../../../core/assembly/assemble.ts';
import { CERTIFICATES } from '../../kit/clients/certificates.ts';
import { CHAT_DELTAS, chatBody, chatEvents } from '../../kit/gateway/fixtures.ts';
import { startGateway, type TestStore, testStore } from '../../kit/gateway/gateway.ts';
import { type GatewayProcess, startProcess, turnpike } from '../../kit/gateway/process.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, jsonAnswer, streamAnswer, wholeAnswer } from '../../kit/vendors/script.ts';
import {
  BLOCKS,
  block,
  example,
  firstKey,
  folder,
  page,
  run,
  type Section,
  SHIPPED_CONFIG,
  shippedSections,
  write,
} from './readme-kit.ts';

describe('the vendor example', () => {
  let place: ReturnType<typeof folder>;
  let main: FakeVendor;
  let spare: FakeVendor;
  let store: TestStore;
  let gateway: GatewayProcess;
  before(async () => {
    place = folder();
    main = await fakeVendor(({ json }) => (json.stream === true ? streamAnswer() : wholeAnswer()));
    spare = await fakeVendor(() => wholeAnswer());
    write(place.dir, 'vendors/acme.ts', example('vendors/acme.ts'));
    const own = parse(block('acme-config')) as {
      readonly pipeline: readonly string[];
      readonly channels: readonly [Section];
      readonly models: { readonly 'acme-large': { readonly from: readonly string[] } };
    };
    store = await testStore(place.dir);
    const sections = shippedSections(store.section);
    const acme = own.models['acme-large'];
    const config = {
      ...sections,
      pipeline: [...(sections.pipeline as string[]), ...own.pipeline],
      channels: [
        { ...own.channels[0], url: `http://127.0.0.1:${main.port}` },
        { ...own.channels[0], name: 'other', url: `http://127.0.0.1:${spare.port}`, priority: 1 },
      ],
      models: { 'acme-large': { ...acme, from: [...acme.from, 'other'] } },
    };
    const file = write(place.dir, 'gateway.yaml', stringify(config));
    gateway = await startProcess(file, { env: { ACME_KEY: 'acme-secret' } });
  });
  after(async () => {
    // There is none where it did not start, and its vendors must not keep the test alive.
    await gateway?.stop();
    await Promise.all([main.close(), spare.close()]);
    place.remove();
  });

  const ask = (more: Section = {}): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${firstKey(gateway)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme-large', messages: [{ role: 'user', content: 'Hi' }], user: 'ann', ...more }),
    });

  it('has about thirty lines and needs nothing installed', () => {
    const code = example('vendors/acme.ts');
    assert.doesNotMatch(code, /import(?! type\b)/);
    assert.ok(code.split('\n').length <= 33, `${code.split('\n').length} lines`);
    assert.equal(existsSync(join(place.dir, 'node_modules')), false);
  });

  it('serves whole answers, asked for as its vendor wants it, and charges its price', async () => {
    const answer = await ask();
    assert.equal(answer.status, 200);
    assert.deepEqual(await answer.json(), chatBody());
    const sent = main.requests.at(-1)!;
    assert.equal(sent.path, '/v2/chat');
    assert.equal(sent.headers.authorization, 'Token acme-secret');
    assert.deepEqual(sent.json, { model: 'acme-large', messages: [{ role: 'user', content: 'Hi' }] });
    // 11 and 7 tokens at 1 and 4 currency units per million.
    assert.equal(answer.headers.get('x-turnpike-cost'), '19.5');
    assert.equal(usageRecords(store.address).at(-1)?.charged, 19_500_000n);
  });

  it('serves streams, metered without having said how', async () => {
    const answer = await ask({ stream: true });
    const events = chatEvents();
    assert.equal(await answer.text(), events.filter((_, place) => place !== events.length - 2).join(''));
    assert.deepEqual(main.requests.at(-1)?.json.stream_options, { include_usage: true });
    const { charged, estimated } = usageRecords(store.address).at(-1)!;
    assert.deepEqual([charged, estimated], [19_500_000n, false]);
  });

  it('asks the next channel when its vendor says 420', async () => {
    main.next(errorAnswer(420, 'Enhance your calm.'));
    const answer = await ask();
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('x-turnpike-channel'), 'other');
    assert.equal(spare.requests.length, 1);
  });
});

describe('the vendor example in YAML', () => {
  const own = parse(block('compatible-vendor')) as {
    readonly channels: readonly [Section];
    readonly models: Section;
  };

  it('is all that a vendor of the usual style needs', async () => {
    const vendor = await fakeVendor();
    const gateway = await startGateway({
      env: { GROQ_API_KEY: 'a-secret-of-its-own' },
      config: {
        channels: [{ ...own.channels[0], url: vendor.url }],
        models: own.models,
        prices: { llama: { input: 1, output: 2 } },
      },
    });
    try {
      for (const stream of [false, true]) {
        const answer = await gateway.chat({ model: 'llama', stream });
        assert.equal(answer.status, 200);
        assert.equal((await answer.text()).includes(CHAT_DELTAS.at(-1)!), true);
        const sent = vendor.requests.at(-1)!;
        assert.equal(sent.path, '/v1/chat/completions');
        assert.equal(sent.headers.authorization, 'Bearer a-secret-of-its-own');
        assert.equal(sent.json.model, 'llama-3.3-70b-versatile');
      }
    } finally {
      await gateway.stop();
      await vendor.close();
    }
  });

  it('has a price without naming one', async () => {
    const place = folder();
    try {
      const { channels, models } = own;
      const file = write(place.dir, 'gateway.yaml', stringify({ ...shippedSections(), channels, models }));
      const { code, stdout, stderr } = await turnpike(['check', '--config', file], { env: { GROQ_API_KEY: 'secret' } });
      assert.equal(code, 0, stderr);
      assert.match(stdout, /price of llama: input 0\.59, .*output 0\.79/);
      assert.doesNotMatch(stdout, /warning/);
    } finally {
      place.remove();
    }
  });
});

describe('the example of a channel for Azure', () => {
  it('needs no code', async () => {
    const { channels, models } = parse(block('azure')) as { channels: [Section]; models: Section };
    const vendor = await fakeVendor(() => wholeAnswer());
    const url = String(channels[0].url).replace('https://NAME.openai.azure.com', `http://127.0.0.1:${vendor.port}`);
    const gateway = await startGateway({
      env: { AZURE_OPENAI_API_KEY: 'a-secret-of-its-own' },
      config: { channels: [{ ...channels[0], url }], models, prices: { 'gpt-5-mini': { input: 1, output: 2 } } },
    });
    try {
      assert.equal((await gateway.chat({ model: 'gpt-5-mini' })).status, 200);
      const [{ path, headers } = assert.fail('there was no request')] = vendor.requests;
      assert.equal(path, '/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21');
      assert.deepEqual([headers['api-key'], headers.authorization], ['a-secret-of-its-own', undefined]);
    } finally {
      await gateway.stop();
      await vendor.close();
    }
  });
});

describe('the gateway.yaml that ships', () => {
  it('is right without any environment, and then offers the demo model alone', async () => {
    const { code, stdout, stderr } = await turnpike(['check', '--config', SHIPPED_CONFIG]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /channel openai is off/);
    assert.match(stdout, /price of demo: free/);
    assert.doesNotMatch(stdout, /warning|price of gpt/);
  });

  it('offers the models that README.md names, with their prices, when one variable is set', async () => {
    const env = { OPENAI_API_KEY: 'sk-something' };
    const { code, stdout, stderr } = await turnpike(['check', '--config', SHIPPED_CONFIG], { env });
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stdout, /(openai|gpt.*|fast) is off|warning/);
    const sentence = /^The models (.*) are available now/m.exec(page('README.md'))?.[1] ?? '';
    const names = [...sentence.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    assert.deepEqual(names, ['gpt-5', 'gpt-5.5', 'gpt-5.6-sol', 'gpt-4.1', 'fast']);
    for (const name of names.slice(0, -1))
      assert.match(stdout, new RegExp(`price of ${name}: input [\\d.]+, .*output`));
  });

  it('offers the models that each variable is said to bring', () => {
    const { channels, models } = parse(readFileSync(SHIPPED_CONFIG, 'utf8')) as {
      readonly channels: readonly { readonly name: string; readonly key?: string }[];
      readonly models: Readonly<Record<string, { readonly from?: readonly string[] }>>;
    };
    const text = page('plugins/vendors/README.md');
    const start = text.indexOf('`OPENAI_API_KEY` brings');
    const sentence = text.slice(start, text.indexOf('\n\n', start));
    const brought = sentence.split(/(?=`[A-Z_]+` brings)/).map((part) => part.match(/(?<=`)[\w.-]+(?=`)/g) ?? []);
    assert.deepEqual(
      brought.map(([variable]) => variable),
      ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY'],
    );
    for (const [variable, ...names] of brought) {
      const channel = channels.find(({ key }) => key?.includes(`{${variable}:-}`))?.name ?? '';
      const served = Object.keys(models).filter((name) => !name.includes('*') && models[name]?.from?.includes(channel));
      assert.deepEqual(names, served);
    }
  });
});

describe('the example of images and sound of your own', () => {
  it('is right, serves each of its models where it says, and charges the price that stands there', async () => {
    const own = parse(block('own-media')) as {
      readonly channels: readonly [Section];
      readonly models: Section;
    };
    const vendor = await fakeVendor(({ path }) => {
      if (path.endsWith('/embeddings')) {
        const data = [{ object: 'embedding', index: 0, embedding: [0.6, 0.8] }];
        return jsonAnswer(200, {
          object: 'list',
          data,
          model: 'bge-m3',
          usage: { prompt_tokens: 50, total_tokens: 50 },
        });
      }
      if (path.endsWith('/generations')) return jsonAnswer(200, { created: 1, data: [{ b64_json: 'AAAA' }] });
      return jsonAnswer(200, { text: 'Hello.', duration: 10 });
    });
    const gateway = await startGateway({
      config: { channels: [{ ...own.channels[0], url: vendor.url }], models: own.models },
    });
    const post = (path: string, body: Section | FormData): Promise<Response> =>
      fetch(`${gateway.url}/v1/${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${gateway.key}`,
          ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        },
        body: body instanceof FormData ? body : JSON.stringify(body),
      });
    const form = new FormData();
    form.append('model', 'listener');
    form.append('file', new Blob(['sound '.repeat(4_000)]), 'speech.mp3');
    try {
      const answers = await Promise.all([
        post('embeddings', { model: 'vectors', input: 'a gate' }),
        post('images/generations', { model: 'painter', prompt: 'a gate' }),
        post('audio/transcriptions', form),
      ]);
      assert.deepEqual(
        answers.map(({ status, headers }) => [status, headers.get('x-turnpike-cost')]),
        [
          [200, '0.5'],
          [200, '20000'],
          [200, '500'],
        ],
      );
      const voice = { model: 'voice', input: 'Hello.' };
      assert.match(await (await post('audio/speech', { ...voice, voice: 'alloy' })).text(), /af_heart, bf_emma/);
      const chat = await gateway.chat({ model: 'painter' });
      assert.equal(chat.status, 404);
      assert.match(await chat.text(), /images \(POST \/v1\/images\/generations\)/);
    } finally {
      await gateway.stop();
      await vendor.close();
    }
  });
});

describe('the quirks example', () => {
  it('is right, and its models are there', async () => {
    const place = folder();
    try {
      const own = parse(block('quirks')) as Section;
      const file = write(place.dir, 'gateway.yaml', stringify({ ...shippedSections(), ...own }));
      const { code, stdout, stderr } = await turnpike(['check', '--config', file]);
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stdout, /is off|warning/);
      assert.match(stdout, /2 models/);
    } finally {
      place.remove();
    }
  });
});

describe('the parts of gateway.yaml that the documentation shows', () => {
  let place: ReturnType<typeof folder>;
  before(() => {
    place = folder();
  });
  after(() => place.remove());

  const ADDRESSES: Readonly<Record<string, string>> = {
    DATABASE_URL: 'postgres://turnpike@127.0.0.1/turnpike',
    VALKEY_URL: 'valkeys://cache.example.com:6379/0',
    SMTP_URL: 'smtps://name:password@mail.example.com',
    SLACK_WEBHOOK: 'https://hooks.example.com/services/1',
  };
  /** The variables that must be set, with something that fits. */
  const environment = (code: string): Record<string, string> =>
    Object.fromEntries(
      [...code.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, ADDRESSES[name] ?? `something-for-${name}`]),
    );

  for (const { page: path, line, code } of BLOCKS.filter(({ kind }) => kind === 'config')) {
    it(`are accepted without a warning in the place of what ships: ${path}:${line}`, async () => {
      const file = write(place.dir, 'gateway.yaml', stringify({ ...shippedSections(), ...(parse(code) as Section) }));
      const { code: exit, stdout, stderr } = await turnpike(['check', '--config', file], { env: environment(code) });
      assert.equal(exit, 0, stderr);
      assert.deepEqual(stdout.match(/^warning.*$/gm) ?? [], []);
    });
  }
});

describe('the examples in the comments of the gateway.yaml that ships', () => {
  /** The file with every comment that is an entry of YAML made one. */
  const text = readFileSync(SHIPPED_CONFIG, 'utf8')
    .replace(/^#.*\n/, '')
    .replace(/^( *)# ( *(?:- |[\w.-]+:(?: |$)).*)$/gm, '$1$2');
  const whole = parse(text) as Section;

  it('are right, all of them at once', async () => {
    const place = folder();
    try {
      write(place.dir, 'vendors/acme.ts', example('vendors/acme.ts'));
      const [{ cert, key }] = CERTIFICATES;
      write(place.dir, 'cert.pem', cert);
      write(place.dir, 'key.pem', key);
      const file = write(place.dir, 'gateway.yaml', text);
      const env = {
        OPENAI_API_KEY: 'sk-something',
        ANTHROPIC_API_KEY: 'something',
        GEMINI_API_KEY: 'something',
        GROQ_API_KEY: 'something',
        GROQ_API_KEY_2: 'something else',
        SMTP_URL: 'smtps://name:password@mail.example.com',
        METRICS_TOKEN: 'a token for the scraper',
        VALKEY_URL: 'valkeys://cache.example.com:6379/0',
        OTLP_AUTH: 'something for the collector',
        PROXY_PASSWORD: 'something',
        ALERTS_SECRET: 'something to sign with',
        SLACK_WEBHOOK: 'https://hooks.example.com/services/1',
        EVENTS_SECRET: 'something to sign with',
        S3_KEY: 'something',
        S3_SECRET: 'something for the bucket',
      };
      const { code, stdout, stderr } = await turnpike(['check', '--config', file], { env });
      assert.equal(code, 0, stderr);
      // The example says that it warns: there is no scope of keys that users cannot leave.
      const others = stdout.replace(/^warning: .*: pseudonyms\.keys: users can leave this scope.*\n/m, '');
      assert.deepEqual(
        others.split('\n').filter((line) => /is off|warning/.test(line)),
        [],
      );
      for (const [, example] of text.matchAll(/^ *- .*prefix: ([^,]+)/gm))
        assert.match(stdout, new RegExp(`passthrough ${example} to`));
    } finally {
      place.remove();
    }
  });

  it('have those of the passthrough page among them', () => {
    const { passthrough } = parse(block('passthrough')) as {
      readonly passthrough: readonly Section[];
    };
    assert.ok(passthrough.length > 0);
    assert.deepEqual((whole.passthrough as readonly Section[]).slice(0, passthrough.length), passthrough);
  });

  it('leave out nothing that can be configured, unless it is deprecated', async () => {
    const { sections } = await planFrom(SHIPPED_CONFIG, {});
    for (const [name, schema] of Object.entries(sections)) {
      if (name === 'pipeline') continue;
      const written = whole[name];
      assert.ok(written !== undefined && written !== null, name);
      if (typeof written !== 'object') continue;
      // Of lists and of maps with names of their own, the entries together.
      const own = schema.properties as Section | undefined;
      const entry = (schema.items ?? schema.additionalProperties) as { readonly properties?: Section } | undefined;
      const properties = Object.entries(own ?? entry?.properties ?? {});
      const wanted = properties.filter(([, each]) => (each as Section).deprecated !== true).map(([key]) => key);
      const entries = own === undefined ? Object.values(written) : [written];
      const found = new Set(entries.flatMap((each) => Object.keys(each as object)));
      for (const key of wanted) assert.ok(found.has(key), `${name}: ${key}`);
    }
  });
});

describe('the five minutes of README.md, and the settings of clients', () => {
  let place: ReturnType<typeof folder>;
  let file: string;
  let gateway: GatewayProcess;
  before(async () => {
    place = folder(['openai', '@anthropic-ai/sdk']);
    file = write(place.dir, 'gateway.yaml', stringify(shippedSections((await testStore(place.dir)).section)));
    // Without the variable of step 4: no other step needs it.
    gateway = await startProcess(file);
  });
  after(async () => {
    await gateway?.stop();
    place.remove();
  });

  /** What the page says, with the address and the key that this gateway has. */
  const here = (text: string): string =>
    text.replaceAll('http://127.0.0.1:8080', gateway.url).replaceAll('sk-…', firstKey(gateway));

  it('have a script for the official client that prints the models and an answer', async () => {
    const script = block('five-minutes-sdk');
    assert.ok(script.includes('http://127.0.0.1:8080') && script.includes('sk-…'), script);
    const path = write(place.dir, 'hello.mjs', here(script));
    const { stdout } = await run(process.execPath, [path], { cwd: place.dir });
    assert.match(stdout, /^demo\n(?!gpt)/);
    assert.match(stdout, /What can you do\?/);
  });

  it('have commands that work one after the other while the gateway runs', async () => {
    const lines = block('five-minutes-key').trim().split('\n');
    assert.equal(lines.length, 4);
    const said: string[] = [];
    for (const line of [...lines, 'npm run -s turnpike -- reconcile']) {
      const parts = /^(?:echo '([^']*)' \| )?npm run -s turnpike -- ([^#]+)/.exec(line);
      assert.ok(parts !== null, line);
      const [, stdin = '', words = ''] = parts;
      const { code, stdout, stderr } = await turnpike([...words.trim().split(/\s+/), '--config', file], { stdin });
      assert.equal(code, 0, `${line}: ${stderr}`);
      said.push(stdout);
    }
    const [, , secret = '', list = '', books = ''] = said;
    assert.match(secret, /^sk-\w{49}\n$/);
    assert.match(list, /laptop +ann .* demo +all/);
    assert.doesNotMatch(list, new RegExp(secret.trim()));
    assert.equal(books.trim().split('\n').length >= 5, true, books);
  });

  it('have calls that are answered in other styles, and the header that one of them is said to get', async () => {
    const text = block('five-minutes-styles').replaceAll(/ \\\n +/g, ' ');
    const calls = [...text.matchAll(/^curl -i (\S+) ((?:-H '[^']+' )+)-d '([^']+)'$/gm)];
    assert.equal(calls.length, text.trim().split(/\n+/).length);
    const answers = await Promise.all(
      calls.map(([, url = '', headers = '', body = '']) =>
        fetch(here(url), {
          method: 'POST',
          headers: [...headers.matchAll(/'([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, here(value)]),
          body,
        }),
      ),
    );
    const [messages, responses] = (await Promise.all(answers.map((answer) => answer.json()))) as Section[];
    assert.deepEqual([messages?.type, responses?.object], ['message', 'response']);
    for (const answer of [messages, responses]) assert.match(JSON.stringify(answer), /What can you do\?/);
    const header = answers[0]?.headers.get('x-turnpike-translation');
    assert.ok(page('README.md').includes(`\`x-turnpike-translation: ${header}\``), String(header));
    assert.equal(answers[1]?.headers.get('x-turnpike-translation'), null);
  });

  it('go on with vectors, a picture and sound, and what was spoken can be heard', async () => {
    const text = block('five-minutes-media').replaceAll(/ \\\n +/g, ' ');
    const calls = [...text.matchAll(/^curl (\S+) ((?:-H '[^']+' ?)+)(?:-d '([^']+)'|(-F .+?))(?: -o (\S+))?$/gm)];
    assert.equal(calls.length, text.trim().split(/\n+/).length);
    const files = new Map<string, Blob>();
    const answers: Response[] = [];
    for (const [, url = '', headers = '', json, parts = '', output] of calls) {
      const form = new FormData();
      for (const [, name = '', value = ''] of parts.matchAll(/-F (\w+)=(\S+)/g)) {
        const file = value.startsWith('@') ? files.get(value.slice(1)) : undefined;
        if (file === undefined) form.append(name, value);
        else form.append(name, file, value.slice(1));
      }
      const answer = await fetch(here(url), {
        method: 'POST',
        headers: [...headers.matchAll(/'([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, here(value)]),
        body: json ?? form,
      });
      assert.equal(answer.status, 200, url);
      answers.push(answer.clone());
      if (output !== undefined) files.set(output, await answer.blob());
    }
    const [vectors, picture, sound, heard] = answers;
    const { data } = (await vectors!.json()) as { readonly data: readonly { readonly embedding: readonly number[] }[] };
    assert.deepEqual(
      data.map(({ embedding }) => embedding.length),
      [4, 4],
    );
    assert.match(await picture!.text(), /"b64_json":"iVBORw0KGgo/);
    assert.match(await sound!.text(), /^RIFF/);
    assert.match(await heard!.text(), /speech\.wav/);
  });

  it('go on with tools that find the gateway by what they are to be told', async () => {
    const scripts = [
      {
        title: 'anthropic',
        settings: block('anthropic-sdk'),
        lines: [
          `import Anthropic from '@anthropic-ai/sdk';`,
          `const ask = { model: 'demo', max_tokens: 100, messages: [{ role: 'user', content: 'Hello?' }] };`,
          `console.log((await new Anthropic().messages.create(ask)).content[0].text);`,
        ],
      },
      {
        title: 'openai',
        settings: block('openai-sdk'),
        lines: [
          `import OpenAI from 'openai';`,
          `console.log((await new OpenAI().responses.create({ model: 'demo', input: 'Hello?' })).output_text);`,
        ],
      },
    ];
    for (const { title, settings, lines } of scripts) {
      const env = Object.fromEntries(
        [...settings.matchAll(/^export (\w+)=(\S+)$/gm)].map(([, variable, value = '']) => [variable, here(value)]),
      );
      assert.equal(Object.keys(env).length, 2, title);
      const path = write(place.dir, `${title}.mjs`, lines.join('\n'));
      const { stdout } = await run(process.execPath, [path], { cwd: place.dir, env });
      assert.match(stdout, /You said: "Hello\?"/, title);
    }
    const codex = block('codex');
    const told = (field: string): string => new RegExp(`^${field} = "(.+)"$`, 'm').exec(codex)?.[1] ?? '';
    const answer = await fetch(`${here(told('base_url'))}/${told('wire_api')}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${firstKey(gateway)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', input: [{ role: 'user', content: 'Hello?' }], stream: true, store: false }),
    });
    assert.match(await answer.text(), /^event: response\.completed$/m);
  });
});
