/** What the READMEs say is so: their examples run as they stand, their commands and links exist. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { planFrom } from '../../core/assembly.ts';
import { CERTIFICATES } from '../kit/certificates.ts';
import { type FakeVendor, fakeVendor } from '../kit/fake-vendor.ts';
import { CHAT_DELTAS, chatBody, chatEvents } from '../kit/fixtures.ts';
import { startGateway } from '../kit/gateway.ts';
import { type GatewayProcess, startProcess, turnpike } from '../kit/process.ts';
import { errorAnswer, streamAnswer, wholeAnswer } from '../kit/script.ts';
import { usageRecords } from '../kit/usage-records.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const PLUGINS_README = readFileSync(join(ROOT, 'plugins/README.md'), 'utf8');
const SHIPPED_CONFIG = join(ROOT, 'gateway.yaml');

type Section = Record<string, unknown>;

/** The code behind a marker `<!-- example: PATH -->`. */
function example(markdown: string, path: string): string {
  const code = examples(markdown).get(path);
  assert.ok(code !== undefined, `there is no example ${path}`);
  return code;
}
/** All of them, by their paths. */
function examples(markdown: string): ReadonlyMap<string, string> {
  const found = markdown.matchAll(/<!-- example: (\S+) -->\n```\w+\n(.*?)^```$/gms);
  return new Map([...found].map(([, path = '', code = '']) => [path, code]));
}
/** The first block of a language behind a heading or another piece of text. */
function blockAfter(markdown: string, text: string, language: string): string {
  const start = markdown.indexOf(text);
  assert.notEqual(start, -1, `the page does not say: ${text}`);
  const block = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(markdown.slice(start));
  assert.ok(block?.[1] !== undefined, `there is no ${language} behind: ${text}`);
  return block[1];
}

/** A folder far from the checkout; with `packages`, those are found from there as if they had been installed. */
function folder(packages: readonly string[] = []): { readonly dir: string; remove(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-readme-'));
  for (const name of packages) {
    mkdirSync(dirname(join(dir, 'node_modules', name)), { recursive: true });
    symlinkSync(name === 'turnpike' ? ROOT : join(ROOT, 'node_modules', name), join(dir, 'node_modules', name), 'dir');
  }
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
function write(dir: string, path: string, text: string): string {
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** The sections of the gateway.yaml that ships, on a free port and with a database in its own folder. */
function shippedSections(): Section {
  const sections = parse(readFileSync(SHIPPED_CONFIG, 'utf8')) as Section;
  return { ...sections, listen: { ...(sections.listen as Section), port: 0 }, store: { file: './turnpike.db' } };
}
function firstKey(gateway: GatewayProcess): string {
  return String(gateway.log.find(({ msg }) => msg === 'first start')?.key);
}

describe('the vendor example of the README', () => {
  let place: ReturnType<typeof folder>;
  let main: FakeVendor;
  let spare: FakeVendor;
  let gateway: GatewayProcess;
  before(async () => {
    place = folder();
    main = await fakeVendor(({ json }) => (json.stream === true ? streamAnswer() : wholeAnswer()));
    spare = await fakeVendor(() => wholeAnswer());
    write(place.dir, 'vendors/acme.ts', example(README, 'vendors/acme.ts'));
    const own = parse(blockAfter(README, '<!-- example: vendors/acme.ts -->', 'yaml')) as {
      readonly pipeline: readonly string[];
      readonly channels: readonly [Section];
      readonly models: { readonly 'acme-large': { readonly from: readonly string[] } };
    };
    const sections = shippedSections();
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
    const code = example(README, 'vendors/acme.ts');
    assert.equal(code.includes('import'), false);
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
    assert.equal(usageRecords(join(place.dir, 'turnpike.db')).at(-1)?.charged, 19_500_000n);
  });

  it('serves streams, metered without having said how', async () => {
    const answer = await ask({ stream: true });
    const events = chatEvents();
    assert.equal(await answer.text(), events.filter((_, place) => place !== events.length - 2).join(''));
    assert.deepEqual(main.requests.at(-1)?.json.stream_options, { include_usage: true });
    const { charged, estimated } = usageRecords(join(place.dir, 'turnpike.db')).at(-1)!;
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
  const own = parse(blockAfter(README, '### A vendor that speaks the chat style', 'yaml')) as {
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

describe('the gateway.yaml that ships', () => {
  it('is right without any environment, and then offers the demo model alone', async () => {
    const { code, stdout, stderr } = await turnpike(['check', '--config', SHIPPED_CONFIG]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /channel openai is off/);
    assert.match(stdout, /price of demo: free/);
    assert.doesNotMatch(stdout, /warning|price of gpt/);
  });

  it('offers the models of the README, with their prices, when one variable is set', async () => {
    const env = { OPENAI_API_KEY: 'sk-something' };
    const { code, stdout, stderr } = await turnpike(['check', '--config', SHIPPED_CONFIG], { env });
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stdout, /is off|warning/);
    const sentence = /^The models (.*) are there now/m.exec(README)?.[1] ?? '';
    const names = [...sentence.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    assert.deepEqual(names, ['gpt-5', 'gpt-5-mini', 'gpt-4.1', 'gpt-4o-mini', 'fast']);
    for (const name of names.slice(0, -1))
      assert.match(stdout, new RegExp(`price of ${name}: input [\\d.]+, .*output`));
  });
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
      write(place.dir, 'vendors/acme.ts', example(README, 'vendors/acme.ts'));
      const [{ cert, key }] = CERTIFICATES;
      write(place.dir, 'cert.pem', cert);
      write(place.dir, 'key.pem', key);
      const file = write(place.dir, 'gateway.yaml', text);
      const env = {
        OPENAI_API_KEY: 'sk-something',
        GROQ_API_KEY: 'something',
        METRICS_TOKEN: 'a token for the scraper',
      };
      const { code, stdout, stderr } = await turnpike(['check', '--config', file], { env });
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stdout, /is off|warning/);
      for (const [, example] of text.matchAll(/^ *- .*prefix: ([^,]+)/gm))
        assert.match(stdout, new RegExp(`passthrough ${example} to`));
    } finally {
      place.remove();
    }
  });

  it('have those of the README among them', () => {
    const { passthrough } = parse(blockAfter(README, '### What no style understands', 'yaml')) as {
      readonly passthrough: readonly Section[];
    };
    assert.ok(passthrough.length > 0);
    assert.deepEqual((whole.passthrough as readonly Section[]).slice(0, passthrough.length), passthrough);
  });

  it('leave out nothing that can be configured', async () => {
    const { sections } = await planFrom(SHIPPED_CONFIG, {});
    for (const [name, schema] of Object.entries(sections)) {
      if (name === 'pipeline') continue;
      const written = whole[name];
      assert.ok(typeof written === 'object' && written !== null, name);
      // Of lists and of maps with names of their own, the entries together.
      const own = schema.properties as Section | undefined;
      const entry = (schema.items ?? schema.additionalProperties) as { readonly properties?: Section } | undefined;
      const wanted = Object.keys(own ?? entry?.properties ?? {});
      const entries = own === undefined ? Object.values(written) : [written];
      const found = new Set(entries.flatMap((each) => Object.keys(each as object)));
      for (const key of wanted) assert.ok(found.has(key), `${name}: ${key}`);
    }
  });
});

describe('the five minutes of the README', () => {
  let place: ReturnType<typeof folder>;
  let file: string;
  let gateway: GatewayProcess;
  before(async () => {
    place = folder(['openai']);
    file = write(place.dir, 'gateway.yaml', stringify(shippedSections()));
    // Without the variable of step 3: no other step needs it.
    gateway = await startProcess(file);
  });
  after(async () => {
    await gateway?.stop();
    place.remove();
  });

  it('have a script for the official client that prints the models and an answer', async () => {
    const script = blockAfter(README, '**2. Use the official SDK.**', 'js');
    const [url, key] = ['http://127.0.0.1:8080', 'sk-…'];
    assert.ok(script.includes(url) && script.includes(key));
    const path = write(place.dir, 'hello.mjs', script.replace(url, gateway.url).replace(key, firstKey(gateway)));
    const { stdout } = await run(process.execPath, [path], { cwd: place.dir });
    assert.match(stdout, /^demo\n(?!gpt)/);
    assert.match(stdout, /What can you do\?/);
  });

  it('have commands that work one after the other while the gateway runs', async () => {
    const lines = blockAfter(README, '**4. Give somebody a key.**', 'sh').trim().split('\n');
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
});

describe('the tables and links of the README', () => {
  it('name commands that `turnpike help` lists, with options that they have', async () => {
    const { stdout } = await turnpike(['help', '--config', SHIPPED_CONFIG]);
    const table = README.slice(README.indexOf('| Command |'), README.indexOf('Exit codes:'));
    const commands = table
      .split('\n')
      .slice(2)
      .flatMap((row) => [...(row.split(/(?<!\\)\|/)[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, words = '']) => words));
    assert.ok(commands.length >= 11, commands.join('; '));
    for (const command of commands) {
      const name = /^[a-z]+(?: [a-z]+)?/.exec(command)?.[0] ?? '';
      assert.match(stdout, new RegExp(`^  ${name}( |$)`, 'm'), command);
      for (const [option = ''] of command.matchAll(/--[a-z-]+/g)) {
        assert.match(stdout, new RegExp(`^ +${name} .*\\[${option}[ \\]]`, 'm'), `${option} of ${command}`);
      }
    }
  });

  it('lead to files, headings and scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly scripts: Section };
    for (const [path, text] of [
      ['README.md', README],
      ['plugins/README.md', PLUGINS_README],
    ] as const) {
      for (const [, link = ''] of text.matchAll(/\]\(([^)]+)\)/g)) {
        const [target = '', anchor] = link.split('#');
        const file = join(ROOT, dirname(path), target);
        assert.ok(existsSync(file), `${path} links to ${link}`);
        if (anchor !== undefined) assert.ok(anchorsOf(readFileSync(file, 'utf8')).includes(anchor), link);
      }
      for (const [, script = ''] of text.matchAll(/npm run (?:-s )?([a-z]+)/g)) assert.ok(script in scripts, script);
    }
  });
});

/** The sources of a room that runs, by their paths. */
function sources(room: 'core' | 'plugins'): readonly (readonly [path: string, text: string])[] {
  return readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [join(room, name), readFileSync(join(ROOT, room, name), 'utf8')]);
}

describe('what the READMEs list', () => {
  const code = [...sources('core'), ...sources('plugins')];
  /** Told by commands alone, which show the words and no code. */
  const OF_COMMANDS = [
    'account_not_found',
    'backup_unusable',
    'file_exists',
    'invalid_addresses',
    'invalid_amount',
    'invalid_models',
    'invalid_name',
    'invalid_password',
    'key_not_found',
    'layer_not_found',
    'name_taken',
  ];

  it('are the codes of all errors, with their statuses', () => {
    const made = new Map<string, Set<string>>();
    const make = (name: string, status: string | undefined): void => {
      const statuses = made.get(name) ?? new Set();
      made.set(name, status === undefined ? statuses : statuses.add(status));
    };
    for (const [, text] of code) {
      for (const [, status = '', name = ''] of text.matchAll(/(?:GatewayError|refuse)\(\s*([^;]*?),\s*'(\w+)'/g))
        for (const each of status.match(/\b[45]\d\d\b(?= |$)/g) ?? [undefined]) make(name, each);
      for (const [, name = ''] of text.matchAll(/refuseKey\(\s*'(\w+)'/g)) make(name, '401');
      for (const [, status, name = ''] of text.matchAll(/\[(\d{3}), '(\w+)'\]/g)) make(name, status);
      for (const [, name = ''] of text.matchAll(/'(QUOTA_\w+)'/g)) make(name, '403');
    }
    assert.ok(made.size > 45, `${made.size} codes`);
    const section = README.slice(README.indexOf('## What an error says'), README.indexOf('## The command line'));
    const told = new Map<string, Set<string>>();
    for (const [, statuses = '', names = ''] of section.matchAll(/^\| ([\d, ]+) \| (`.+?`) \|/gm)) {
      for (const [, name = ''] of names.matchAll(/`(\w+)`/g))
        told.set(name, new Set([...(told.get(name) ?? []), ...statuses.split(', ')]));
    }
    // Its status is the vendor's.
    assert.ok(section.includes('`upstream_refused`'));
    const shown = [...made.keys()].filter((name) => !OF_COMMANDS.includes(name) && name !== 'upstream_refused');
    assert.deepEqual([...told.keys()].sort(), shown.sort());
    for (const [name, statuses] of told)
      for (const status of made.get(name)!) assert.ok(statuses.has(status), `${status} ${name}`);
    for (const name of OF_COMMANDS) assert.ok(made.has(name), name);
  });

  it('are the variables that are read from the environment', () => {
    const read = code.flatMap(([, text]) => text.match(/\benv\.TURNPIKE_\w+/g) ?? []);
    const told = README.match(/^\| `TURNPIKE_\w+`/gm) ?? [];
    assert.deepEqual(
      [...new Set(read.map((name) => name.slice('env.'.length)))].sort(),
      told.map((row) => row.slice(3, -1)).sort(),
    );
  });

  it('are the files of core, each with what it is for', () => {
    const page = readFileSync(join(ROOT, 'core/README.md'), 'utf8');
    const table = page.slice(page.indexOf('## File by file'), page.indexOf('## Generations'));
    const told = [...table.matchAll(/`([\w-]+\.ts)`/g)].map(([, name]) => name);
    for (const [path] of sources('core')) if (dirname(path) === 'core') assert.ok(told.includes(basename(path)), path);
    for (const name of told) assert.ok(existsSync(join(ROOT, 'core', name!)), name);
  });
});

/** The anchors that headings get where such pages are shown. */
function anchorsOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('the examples for authors of plugins', () => {
  let place: ReturnType<typeof folder>;
  before(() => {
    place = folder(['turnpike', '@types/node']);
    for (const [path, code] of [...examples(README), ...examples(PLUGINS_README)]) write(place.dir, path, code);
  });
  after(() => place.remove());

  /** The sections that ship, with one of them at the end of the pipeline. */
  const withPlugin = (plugin: string, more: Section): Section => {
    const shipped = shippedSections();
    const store = { file: `./${basename(plugin)}.db` };
    return { ...shipped, store, pipeline: [...(shipped.pipeline as string[]), plugin], ...more };
  };
  const start = (plugin: string, more: Section = {}): Promise<GatewayProcess> =>
    startProcess(write(place.dir, 'gateway.yaml', stringify(withPlugin(plugin, more))));
  const ask = (gateway: GatewayProcess, model: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${firstKey(gateway)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello?' }] }),
    });

  it('are in order for the compiler', async () => {
    const base = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as Section;
    const { compilerOptions } = base as { readonly compilerOptions: Section };
    const files = [...examples(PLUGINS_README).keys()].filter((path) => !path.includes('acme'));
    // Without a package.json the compiler has to be told that these are modules.
    const options = { ...compilerOptions, module: 'esnext', moduleResolution: 'bundler' };
    write(place.dir, 'tsconfig.json', JSON.stringify({ compilerOptions: options, files }));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    await run(process.execPath, [tsc, '-p', place.dir]).catch((error: { readonly stdout: string }) =>
      assert.fail(error.stdout),
    );
  });

  it('pass their own tests, run outside the checkout', async () => {
    const command = /^Run them with `node ([^`]+)`\.$/m.exec(PLUGINS_README)?.[1] ?? '';
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
    const mistaken = stringify(withPlugin('./plugins/hours.ts', { hours: { from: 9, to: 8 } }));
    const { code, stderr } = await turnpike(['check', '--config', write(place.dir, 'wrong.yaml', mistaken)]);
    assert.equal(code, 78);
    assert.match(stderr, /hours\.to: must be later than `from`/);
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

  it('find the names they import inside the checkout, too, without anything installed', async () => {
    for (const name of ['plugin', 'kit', 'contracts/catalog', 'typescript']) {
      const url = import.meta.resolve(`turnpike/${name}`);
      assert.ok(existsSync(fileURLToPath(url)), url);
    }
    const { definePlugin } = await import('turnpike/plugin');
    assert.equal(typeof definePlugin, 'function');
  });
});
