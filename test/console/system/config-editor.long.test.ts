/** Changing gateway.yaml through `/api`: saved and loaded or refused, with versions, secrets and one winner of two. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of gateway.yaml are spelled like this
import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { keepConfig } from '../../../core/operations/config-editing/versions.ts';
import { definePlugin, schema } from '../../../core/plugin.ts';
import { createVault, KEY_BYTES } from '../../../core/store/vault.ts';
import { editsOf } from '../../kit/console/config-edits.ts';
import {
  CONSOLE_PIPELINE,
  checked,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  type Visitor,
} from '../../kit/console/console.ts';
import { share } from '../../kit/console/whole.ts';
import fc from '../../kit/fast-check.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { jsonAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

const clock = fakeClock(Date.now());
let vendor: FakeVendor;
let other: FakeVendor;
let gateway: TestGateway;
/** Valid in every check, and yet it may not start. */
const moody = definePlugin({
  name: 'moody',
  api: 2,
  sections: {
    moody: schema<{ readonly starts: boolean }>({
      type: 'object',
      additionalProperties: false,
      properties: { starts: { type: 'boolean', default: true } },
    }),
  },
  create: (_, { moody: { starts } }) => ({
    start() {
      if (!starts) throw new Error('not today');
    },
  }),
});

/** Signed in as root; `boss` has confirmed with a second factor. */
let plain: Visitor;
let boss: Visitor;

before(async () => {
  [vendor, other] = [await fakeVendor(), await fakeVendor()];
  gateway = await startGateway({
    vendor,
    clock,
    plugins: [moody],
    config: { pipeline: CONSOLE_PIPELINE, console: PATIENT },
    env: { ...ROOT_ENV, REGION: 'eu', SECRET_OF_THE_MACHINE: 'never shown' },
  });
  plain = await root(gateway);
  boss = await checked(gateway, await root(gateway));
  // With comments, as people write it.
  await save(`# The gateway of tests.\n${disk().replace('channels:', 'channels: # upstream accounts')}`);
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
  await other?.close();
});
beforeEach(async () => {
  boss = await checked(gateway, await root(gateway));
  vendor.always(wholeAnswer());
  other.always(wholeAnswer());
});

const disk = (): string => readFileSync(gateway.configFile, 'utf8');
const current = (): Promise<JsonObject & { text: string; revision: string }> => boss.data('GET', '/api/config');

/** Saves what `change` makes of the current text. */
async function save(change: string | ((text: string) => string), note = ''): Promise<JsonObject> {
  const { text, revision } = await current();
  return boss.data('PUT', '/api/config', { text: typeof change === 'string' ? change : change(text), revision, note });
}

/** The current text with edits. */
async function edited(edits: readonly JsonObject[]): Promise<string> {
  return (await boss.data('POST', '/api/config/edit', { text: (await current()).text, edits })).text;
}

const newest = async () => (await boss.data('GET', '/api/config/versions')).items[0];
const audited = () =>
  gateway.rows("SELECT actor, action, object FROM audit WHERE action LIKE 'config.%' ORDER BY seq DESC");

describe('the current configuration', () => {
  it('is shown with the vendors, the variables it names and a revision, and its secrets are masked', async () => {
    const { text, source, path, writable, reason, environment, vendors, secrets } = await current();
    assert.deepEqual(
      [source, path, writable, reason, environment, secrets],
      ['file', 'gateway.yaml', true, null, [], []],
    );
    assert.ok(!text.includes(VENDOR_KEY) && text.includes('•••• '), text);
    assert.deepEqual(
      (vendors as { name: string; needs_url: boolean }[]).map(({ name, needs_url }) => [name, needs_url]),
      [
        ['openai', false],
        ['compatible', true],
        ['demo', false],
      ],
    );
  });

  it('is changed by root alone, after a second factor', async () => {
    const ann = await member(gateway, 'ann', { role: 'admin' });
    const { text, revision } = await current();
    for (const [method, path, body] of [
      ['put', '/api/config', { text, revision }],
      ['put', '/api/config/secrets/A', { value: 'x' }],
      ['post', '/api/config/try', { text, channel: 'main' }],
      ['post', '/api/config/versions/1/restore', { revision }],
    ] as const) {
      assert.equal(said(await ann[method](path, body)), '403 role_insufficient', path);
      assert.equal(said(await plain[method](path, body)), '403 verification_required', path);
    }
  });
});

describe('saving', () => {
  it('writes and loads a text, keeps masked secrets, and records who did it and why', async () => {
    const text = await edited([{ path: ['models', 'fresh'], value: { from: ['main'], free: true } }]);
    const { generation } = await current();
    const saved = await save(text, 'a new model');
    assert.equal(saved.generation, (generation as number) + 1);
    assert.ok(disk().includes(VENDOR_KEY) && disk().includes('# The gateway of tests.'), disk());
    assert.ok(disk().includes('  fresh: { from: [main], free: true }\n'), disk());
    assert.equal((await gateway.chat({ model: 'fresh' })).status, 200);
    assert.equal(vendor.requests.at(-1)?.headers.authorization, `Bearer ${VENDOR_KEY}`);
    const { id, by, note, revision } = await newest();
    assert.deepEqual([id, by, note, revision], [saved.version, 'root', 'a new model', saved.revision]);
    assert.deepEqual(audited()[0], { actor: 'root', action: 'config.save', object: 'gateway.yaml' });
    // The watch does not load it again.
    clock.advance(5_000);
    assert.equal((await current()).generation, saved.generation);
  });

  it('keeps mode and symbolic link of the file, and leaves no other file behind', async () => {
    const real = join(gateway.dir, 'real.yaml');
    renameSync(gateway.configFile, real);
    symlinkSync('real.yaml', gateway.configFile);
    chmodSync(real, 0o640);
    const files = readdirSync(gateway.dir).sort();
    await save((text) => `${text}# a last line\n`);
    assert.ok(lstatSync(gateway.configFile).isSymbolicLink());
    assert.equal(statSync(real).mode & 0o777, 0o640);
    assert.deepEqual(readdirSync(gateway.dir).sort(), files);
    rmSync(gateway.configFile);
    renameSync(real, gateway.configFile);
  });

  it('refuses a text with errors, each with its line, and changes nothing', async () => {
    const { text, revision } = await current();
    const was = disk();
    const answer = await boss.put('/api/config', { text: text.replace('demo:', 'demo:\n    nothing: 1'), revision });
    assert.equal(said(answer), '400 configuration_wrong');
    assert.equal(answer.body.problems.length > 0 && answer.body.problems[0].line > 1, true, answer.text);
    assert.equal(disk(), was);
  });

  it('puts the old text back if the new one cannot be loaded although it is valid', async () => {
    const was = disk();
    const { text, revision } = await current();
    const answer = await boss.put('/api/config', { text: `${text}moody: { starts: false }\n`, revision });
    assert.equal(said(answer), '400 configuration_wrong');
    assert.equal(answer.body.problems[0].message, 'the plugin moody failed in its `start`: not today');
    assert.equal(disk(), was);
    assert.equal((await gateway.chat({})).status, 200);
  });

  it('tells the second of two people who was first, and when', async () => {
    const { text, revision } = await current();
    const [a, b] = await Promise.all(
      ['a', 'b'].map((name) => boss.put('/api/config', { text: `${text}# ${name}\n`, revision, note: name })),
    );
    const [won, lost] = said(a!) === '200 ok' ? [a!, b!] : [b!, a!];
    assert.deepEqual([said(won), said(lost)], ['200 ok', '409 configuration_conflict']);
    const { by, note, id } = lost.body.last;
    assert.deepEqual([by, id, disk().endsWith(`# ${note}\n`)], ['root', won.body.data.version, true]);
    assert.equal(lost.body.revision, won.body.data.revision);
  });

  it('notices that the file was edited by hand, which is a version of its own when it is loaded', async () => {
    const { text, revision } = await current();
    const before = await newest();
    writeFileSync(gateway.configFile, `${disk()}# by hand\n`);
    const answer = await boss.put('/api/config', { text, revision });
    assert.equal(said(answer), '409 configuration_conflict');
    assert.equal(answer.body.last, null);
    await boss.data('POST', '/api/config/reload');
    const after = await newest();
    assert.deepEqual([after.id, after.by], [before.id + 1, null]);
  });

  it('says why if the file cannot be written', async () => {
    const away = `${gateway.configFile}.away`;
    renameSync(gateway.configFile, away);
    try {
      const { text, revision, writable, reason } = await current();
      assert.deepEqual([writable, (reason as JsonObject).code], [false, 'unwritable']);
      assert.equal(said(await boss.put('/api/config', { text, revision })), '409 configuration_unwritable');
    } finally {
      renameSync(away, gateway.configFile);
    }
  });

  it('says why if the file cannot be written when it is saved, and changes nothing', async () => {
    const was = disk();
    // There is no room for the name of a new file next to it.
    const target = join(gateway.dir, `${'a'.repeat(250)}.yml`);
    renameSync(gateway.configFile, target);
    symlinkSync(target, gateway.configFile);
    try {
      const { text, revision } = await current();
      const answer = await boss.put('/api/config', { text: `# new\n${text}`, revision });
      assert.equal(said(answer), '409 configuration_unwritable');
      assert.match(answer.body.message, /cannot be written \(ENAMETOOLONG\)/);
      assert.equal(disk(), was);
    } finally {
      renameSync(target, gateway.configFile);
    }
  });

  it('refuses references to variables and files of the machine that the file does not name', async () => {
    for (const reference of ['${SECRET_OF_THE_MACHINE}', '${file:/etc/passwd}']) {
      const { text, revision } = await current();
      const draft = text.replace(/key: •••• \w+/, `key: "${reference}"`);
      const answer = await boss.put('/api/config', { text: draft, revision });
      assert.equal(said(answer), '400 configuration_wrong');
      assert.ok(answer.body.problems[0].message.includes('is not resolved for a draft'), answer.text);
    }
  });

  it('keeps the line ends of a file that was written on Windows, and shows only what has changed', async () => {
    const was = disk();
    writeFileSync(gateway.configFile, was.replaceAll('\n', '\r\n'));
    await boss.data('POST', '/api/config/reload');
    const text = `${(await current()).text.replaceAll('\r\n', '\n')}# a last line\n`;
    const { diff } = await boss.data('POST', '/api/config/edit', { text, edits: [] });
    const lines = diff.flatMap((hunk: { lines: { kind: string; text: string }[] }) => hunk.lines);
    const changed = lines.filter(({ kind }: { kind: string }) => kind !== 'same');
    assert.deepEqual(
      changed.map(({ kind, text: line }: { kind: string; text: string }) => [kind, line]),
      [['added', '# a last line']],
    );
    await save(text);
    assert.equal(disk(), `${was}# a last line\n`.replaceAll('\n', '\r\n'));
    writeFileSync(gateway.configFile, was);
    await boss.data('POST', '/api/config/reload');
  });

  it('never shows a secret whose mask was moved to another place', async () => {
    const was = disk();
    const entry = '  - { name: turns, vendor: compatible, url: "http://127.0.0.1:1", key: hunter2 }\n';
    writeFileSync(
      gateway.configFile,
      was.replace(/^channels:.*\n/m, (line) => line + entry),
    );
    await boss.data('POST', '/api/config/reload');
    const { text, revision } = await current();
    const [line = '', mask = ''] = /^.*name: turns.*key: (•••• \w+).*\n/m.exec(text) ?? [];
    assert.ok(mask !== '' && !text.includes('hunter2'), text);
    for (const draft of [text.replace(line, `${line}# was ${mask}\n`), text.replace(line, `# was ${mask}\n`)]) {
      const answer = await boss.post('/api/config/check', { text: draft });
      assert.match(answer.body.data.problems[0].message, /this mask would show its secret here/);
      assert.ok(!answer.text.includes('hunter2'), answer.text);
      assert.equal(said(await boss.put('/api/config', { text: draft, revision })), '400 configuration_wrong');
    }
    writeFileSync(gateway.configFile, was);
    await boss.data('POST', '/api/config/reload');
  });

  it('writes files only below folders that the text names, or that are below its own', async () => {
    const { text, revision } = await current();
    for (const [draft, isRefused] of [
      [`${text}\nbackup: { to: /etc/cron.d }\n`, true],
      [`${text}\nbackup: { to: ./a/../../b }\n`, true],
      [`${text}\nbackup: { to: ./backups }\n`, false],
    ] as const) {
      const { problems } = await boss.data('POST', '/api/config/check', { text: draft });
      const isSo = problems.some(({ message }: { message: string }) =>
        message.includes('a draft can only use a folder'),
      );
      assert.equal(isSo, isRefused, JSON.stringify(problems));
      if (isRefused)
        assert.equal(said(await boss.put('/api/config', { text: draft, revision })), '400 configuration_wrong');
    }
  });

  it('lets the reference that a channel has as its key move to its list of keys, and nowhere else', async () => {
    const { id } = await newest();
    const entry = `  - { name: turns, vendor: compatible, url: "${other.url}", key: "\${REGION}" } # by hand\n`;
    writeFileSync(
      gateway.configFile,
      disk().replace(/^channels:.*\n/m, (line) => line + entry),
    );
    await boss.data('POST', '/api/config/reload');
    await boss.data('PUT', '/api/config/secrets/SECOND', { value: 'a-second-key' });
    const at = (member: string) => ['channels', 0, member];
    const shown = await edited([{ path: at('url'), value: '${REGION}' }]);
    const { problems } = await boss.data('POST', '/api/config/check', { text: shown });
    assert.ok(problems[0].message.includes('is not resolved for a draft'), JSON.stringify(problems));
    const keys = ['${REGION}', '${secret:SECOND}'];
    await save(
      await edited([
        { path: at('key'), remove: true },
        { path: at('keys'), value: keys },
        { path: ['models', 'turner'], value: { from: ['turns'], free: true } },
      ]),
    );
    assert.match(disk(), /keys: \["\$\{REGION\}", "\$\{secret:SECOND\}"\] \} # by hand/);
    const used = new Set<string | undefined>();
    for (let call = 0; call < 20; call++) {
      // Another conversation each time: one stays at its key.
      const messages = [{ role: 'user', content: `Hello ${call}` }];
      assert.equal((await gateway.chat({ model: 'turner', messages })).status, 200);
      used.add(other.requests.at(-1)?.headers.authorization);
    }
    assert.deepEqual([...used].sort(), ['Bearer a-second-key', 'Bearer eu']);
    await boss.data('POST', `/api/config/versions/${id}/restore`, { revision: (await current()).revision });
    await boss.data('DELETE', '/api/config/secrets/SECOND');
  });

  it('of random edits leaves a file that loads, whatever is refused', async () => {
    const { id } = await newest();
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat()), async (stream) => {
        const pick = (): number => stream.next().value as number;
        const was = disk();
        const { text, revision } = await current();
        const edit = editsOf(text, pick) as unknown as JsonObject;
        const answer = await boss.post('/api/config/edit', { text, edits: [edit] });
        // What an alias repeats is changed by hand.
        if (said(answer) === '400 invalid_request_error') return;
        const next = answer.body.data;
        const saved = await boss.put('/api/config', { text: next.text, revision });
        assert.equal(saved.status === 200, next.problems.length === 0, JSON.stringify(edit));
        const { problems, disk: onDisk } = (await current()) as unknown as {
          problems: unknown[];
          disk: { changed: boolean };
        };
        assert.deepEqual([problems, onDisk.changed], [[], false]);
        if (saved.status === 200) return;
        refused++;
        assert.equal(disk(), was);
      }),
      { numRuns: 40, endOnFailure: true },
    );
    assert.ok(refused > 0 && refused < share(40), String(refused));
    await boss.data('POST', `/api/config/versions/${id}/restore`, { revision: (await current()).revision });
  });
});

describe('a version', () => {
  it('is compared with the current text, and restored in one step', async () => {
    const before = await newest();
    await save((text) => text.replace('# The gateway of tests.', '# Another comment.'), 'comment');
    const { text, diff } = await boss.data('GET', `/api/config/versions/${before.id}`);
    assert.ok(text.includes('# The gateway of tests.') && !text.includes(VENDOR_KEY));
    const changes = diff
      .flatMap(({ lines }: { lines: { kind: string }[] }) => lines)
      .filter(({ kind }: { kind: string }) => kind !== 'same');
    assert.deepEqual(changes, [
      { kind: 'removed', text: '# The gateway of tests.', old: 1, new: null },
      { kind: 'added', text: '# Another comment.', old: null, new: 1 },
    ]);
    const { revision } = await current();
    const restored = await boss.data('POST', `/api/config/versions/${before.id}/restore`, { revision });
    assert.equal(restored.revision, before.revision);
    assert.ok(disk().startsWith('# The gateway of tests.') && disk().includes(VENDOR_KEY));
    assert.equal(said(await boss.get('/api/config/versions/999999')), '404 version_not_found');
    assert.deepEqual(audited()[0], { actor: 'root', action: 'config.restore', object: 'gateway.yaml' });
  });

  it('of two gateways that record one at the same moment has its own number', async () => {
    const kept = keepConfig(gateway.host.store, createVault(Buffer.alloc(KEY_BYTES)), clock);
    const { id } = await newest();
    const added = ['one', 'two'].map((text) => kept.add({ text, by: undefined, note: '' }));
    assert.deepEqual((await Promise.all(added)).sort(), [id + 1, id + 2]);
    await gateway.host.store.run('DELETE FROM config_version WHERE id > ?', id);
  });

  it('is sealed in the database', () => {
    const rows = gateway.rows('SELECT sealed FROM config_version');
    assert.ok(rows.length > 2 && rows.every(({ sealed }) => String(sealed).startsWith('v1.')));
  });
});

describe('a secret', () => {
  it('is used by a channel, is never shown, and is taken over without a restart when it is rotated', async () => {
    await boss.data('PUT', '/api/config/secrets/OTHER_KEY', { value: 'other-secret-1' });
    const text = await edited([
      {
        path: ['channels', 2],
        value: { name: 'other', vendor: 'compatible', url: other.url, key: '${secret:OTHER_KEY}' },
      },
      { path: ['models', 'other-model'], value: { from: ['other'], free: true } },
    ]);
    await save(text);
    const send = async () => {
      assert.equal((await gateway.chat({ model: 'other-model' })).status, 200);
      return other.requests.at(-1)?.headers.authorization;
    };
    assert.equal(await send(), 'Bearer other-secret-1');
    await boss.data('PUT', '/api/config/secrets/OTHER_KEY', { value: 'other-secret-2' });
    assert.equal(await send(), 'Bearer other-secret-2');
    const seen = await boss.get('/api/config');
    assert.ok(!seen.text.includes('other-secret'), seen.text);
    const [{ name, set_by, used_in }] = seen.body.data.secrets;
    assert.deepEqual([name, set_by, used_in], ['OTHER_KEY', 'root', ['channels[2].key']]);
    assert.deepEqual(audited()[0], { actor: 'root', action: 'config.secret.set', object: 'secret OTHER_KEY' });
    assert.ok(!gateway.log.join('\n').includes('other-secret'));
  });

  it('cannot be read through the messages of a check, however short it is, or as a part of a host name', async () => {
    await boss.data('PUT', '/api/config/secrets/PIN', { value: 'q7Zw' });
    await boss.data('PUT', '/api/config/secrets/LONG', { value: 'q7ZwLongerOne' });
    for (const edit of [
      { path: ['models', 'fresh', 'from', 0], value: '${secret:PIN}' },
      { path: ['telemetry'], value: { endpoint: 'https://${secret:LONG}.example' } },
      { path: ['mail', 'smtp'], value: 'smtp://a:b@${secret:LONG}.example' },
    ]) {
      const { text } = await current();
      const answer = await boss.post('/api/config/edit', { text, edits: [edit] });
      assert.ok(!/q7zw/i.test(answer.text), answer.text);
    }
    const key = await edited([{ path: ['channels', 0, 'key'], value: '${secret:PIN}' }]);
    assert.deepEqual((await boss.data('POST', '/api/config/check', { text: key })).problems, []);
    for (const name of ['PIN', 'LONG']) await boss.data('DELETE', `/api/config/secrets/${name}`);
  });

  it('is deleted only if nothing uses it', async () => {
    const answer = await boss.delete('/api/config/secrets/OTHER_KEY');
    assert.equal(said(answer), '409 secret_used');
    assert.deepEqual(answer.body.used_in, ['channels[2].key']);
    await boss.data('PUT', '/api/config/secrets/SPARE', { value: 'x' });
    await boss.data('DELETE', '/api/config/secrets/SPARE');
    assert.equal(said(await boss.delete('/api/config/secrets/SPARE')), '404 secret_not_found');
    assert.equal(said(await boss.put('/api/config/secrets/a%20b', { value: 'x' })), '400 invalid_request_error');
  });

  it('that is missing is a problem of the text that uses it', async () => {
    const text = await edited([{ path: ['channels', 0, 'key'], value: '${secret:MISSING}' }]);
    const { problems } = await boss.data('POST', '/api/config/check', { text });
    assert.equal(problems[0].path, 'channels[0].key');
    assert.ok(problems[0].message.startsWith('the secret MISSING is not set'), problems[0].message);
  });
});

describe('a channel that is not saved', () => {
  const candidate = (key: string) =>
    edited([
      { path: ['channels', 3], value: { name: 'new', vendor: 'compatible', url: other.url, key } },
      { path: ['models', 'new-model'], value: { from: [{ new: 'vendor-model' }], free: true } },
    ]);

  it('is tried with a call', async () => {
    const text = await candidate('a-key-of-mine');
    const { ok, model, status } = await boss.data('POST', '/api/config/try', {
      text,
      channel: 'new',
      model: 'new-model',
    });
    assert.deepEqual([ok, model, status], [true, 'new-model', 200]);
    assert.equal(other.requests.at(-1)?.headers.authorization, 'Bearer a-key-of-mine');
    other.next(jsonAnswer(401, { error: { message: 'no' } }));
    const wrong = await boss.data('POST', '/api/config/try', { text, channel: 'new' });
    assert.deepEqual([wrong.ok, wrong.status], [false, 401]);
    assert.equal(said(await boss.post('/api/config/try', { text, channel: 'none' })), '404 channel_not_found');
    assert.ok(!disk().includes('a-key-of-mine'));
    const tried = audited().filter(({ action }) => action === 'config.try');
    assert.deepEqual(
      tried.map(({ object }) => object),
      ['channel none', 'channel new', 'channel new'],
    );
  });

  it('lists the models of its vendor, page by page, with those that are taken', async () => {
    const text = await candidate('a-key-of-mine');
    other.next(
      jsonAnswer(200, { data: [{ id: 'b' }, { id: 'vendor-model' }], has_more: true, last_id: 'vendor-model' }),
      jsonAnswer(200, { data: [{ id: 'a' }], has_more: false }),
    );
    const { models } = await boss.data('POST', '/api/config/models', { text, channel: 'new' });
    assert.deepEqual(models, [
      { id: 'a', taken: false },
      { id: 'b', taken: false },
      { id: 'vendor-model', taken: true },
    ]);
    assert.ok(other.requests.at(-1)?.path.endsWith('/models?after_id=vendor-model'), other.requests.at(-1)?.path);
    other.next(jsonAnswer(200, { models: [{ name: 'models/x' }] }));
    assert.deepEqual((await boss.data('POST', '/api/config/models', { text, channel: 'new' })).models, [
      { id: 'x', taken: false },
    ]);
    other.next(jsonAnswer(404, {}));
    assert.equal(said(await boss.post('/api/config/models', { text, channel: 'new' })), '502 models_not_listed');
  });
});

it('nothing can be changed if the editor is off', async () => {
  await save(await edited([{ path: ['configuration', 'editor'], value: false }]));
  const { text, revision, writable, reason } = await current();
  assert.deepEqual([writable, (reason as JsonObject).code], [false, 'off']);
  assert.equal(said(await boss.put('/api/config', { text, revision })), '403 editor_off');
  assert.equal(said(await boss.put('/api/config/secrets/A', { value: 'x' })), '403 editor_off');
});
