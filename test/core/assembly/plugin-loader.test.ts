/** Where plugins and store drivers come from, what is said where they do not, and that it does not matter how they were written. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LoadError, loadDriver, loadPlugin } from '../../../core/assembly/plugin-loader.ts';
import { toGatewayError } from '../../../core/http/responses.ts';
import { runCommand } from '../../../core/operations/commands/command-line.ts';
import { type Host, StoreInUse, StoreUnavailable } from '../../../core/plugin.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { turnpike } from '../../kit/gateway/process.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-loader-'));
after(() => rmSync(folder, { recursive: true }));

/** Writes a file below the folder, which is outside the checkout. */
function write(path: string, text: string): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
const plugin = (name: string): string => `export default { name: '${name}', api: 2, create: () => ({}) };\n`;
const problem = async (use: string): Promise<string> => {
  try {
    await loadPlugin(use, folder);
  } catch (error) {
    assert.ok(error instanceof LoadError, String(error));
    return error.message;
  }
  return assert.fail(`${use} was loaded`);
};

describe('an entry of the pipeline', () => {
  it('is a folder of plugins, or a folder in one of them', async () => {
    assert.equal((await loadPlugin('keys', folder)).name, 'keys');
    assert.match((await loadPlugin('vendors/demo', folder)).name, /demo/);
  });

  it('is a path relative to the file, whatever the working directory is', async () => {
    write('vendors/acme.ts', plugin('acme'));
    write('vendors/house/index.ts', plugin('house'));
    assert.equal((await loadPlugin('./vendors/acme.ts', folder)).name, 'acme');
    assert.equal((await loadPlugin('./vendors/acme', folder)).name, 'acme');
    assert.equal((await loadPlugin('./vendors/house', folder)).name, 'house');
    assert.equal((await loadPlugin('../acme.ts', join(folder, 'vendors/house'))).name, 'acme');
    assert.equal((await loadPlugin(join(folder, 'vendors/acme.ts'), '/')).name, 'acme');
  });

  it('is a package, resolved from the folder of the file', async () => {
    write('node_modules/acme-plugin/package.json', '{"exports":"./main.ts"}');
    write('node_modules/acme-plugin/main.ts', plugin('package'));
    write('node_modules/@acme/tools/package.json', '{"type":"module","exports":{"./hours":"./hours.js"}}');
    write('node_modules/@acme/tools/hours.js', plugin('scoped'));
    write('node_modules/modern/package.json', '{"type":"module","exports":{"import":"./main.js"}}');
    write('node_modules/modern/main.js', plugin('modern'));
    assert.equal((await loadPlugin('modern', folder)).name, 'modern');
    mkdirSync(join(folder, 'deeper'));
    assert.equal((await loadPlugin('acme-plugin', folder)).name, 'package');
    assert.equal((await loadPlugin('@acme/tools/hours', join(folder, 'deeper'))).name, 'scoped');
    await assert.rejects(loadPlugin('acme-plugin', '/'), LoadError);
  });

  it('is named in every error', async () => {
    write('throws.ts', "throw new Error('out of order');\n");
    write('syntax.ts', 'export default {{\n');
    write('imports.mts', "import './nothing-here.ts';\n");
    write('silent.ts', 'export const name = 1;\n');
    write('function.ts', 'export default () => ({});\n');
    write('nameless.ts', 'export default { api: 2, create() {} };\n');
    write('unversioned.ts', "export default { name: 'x', create() {} };\n");
    write('future.ts', "export default { name: 'x', api: 3, create() {} };\n");
    write('uncreated.ts', "export default { name: 'x', api: 2 };\n");
    write('node_modules/closed/package.json', '{"type":"module","exports":{"./other":"./main.js"}}');
    const said: Readonly<Record<string, RegExp>> = {
      './missing.ts': /^\.\/missing\.ts does not exist; a path is relative to the file that contains it$/,
      './vendors': /^\.\/vendors does not exist/,
      './throws.ts': /^\.\/throws\.ts could not be loaded: out of order$/,
      './syntax.ts': /^\.\/syntax\.ts could not be loaded: /,
      './imports.mts': /^\.\/imports\.mts could not be loaded: .*nothing-here/,
      './silent.ts': /^\.\/silent\.ts is not a plugin: its default export is not an object$/,
      './function.ts': /^\.\/function\.ts is not a plugin: its default export is not an object$/,
      './nameless.ts': /^\.\/nameless\.ts is not a plugin: `name` must be a text, and is undefined$/,
      './unversioned.ts': /is not a plugin: `api` must be 2, .* and is undefined$/,
      './future.ts': /is not a plugin: `api` must be 2, .* and is 3$/,
      './uncreated.ts': /is not a plugin: `create` must be a function, and is undefined$/,
      closed: /^closed is installed, but the `exports` of its package\.json have nothing under that name/,
      'acme-plugin/inside': /^acme-plugin\/inside is /,
    };
    for (const [use, sentence] of Object.entries(said)) assert.match(await problem(use), sentence);
  });

  it('is compared with the plugins that ship if it does not exist', async () => {
    assert.match(await problem('kyes'), /^kyes is neither shipped .* nor an installed package; did you mean keys\?$/);
    assert.match(await problem('vendors/dmeo'), /did you mean vendors\/demo\?$/);
    assert.match(await problem('something-else-entirely'), /nor an installed package$/);
  });
});

describe('a store driver', () => {
  it('is one of those that ship, or a path', async () => {
    assert.equal(typeof (await loadDriver('sqlite', folder)).restore, 'function');
    write('driver.mjs', 'export default { open() {}, restore() {} };\n');
    assert.equal(typeof (await loadDriver('./driver.mjs', folder)).open, 'function');
  });

  it('has a function `open`', async () => {
    write('no-driver.mjs', 'export default { close() {} };\n');
    await assert.rejects(loadDriver('./no-driver.mjs', folder), {
      message: './no-driver.mjs is not a store driver: its default export has no function `open`',
    });
    await assert.rejects(loadDriver('sqlight', folder), LoadError);
  });
});

// ---- every way to write a file

const CORE = JSON.stringify(fileURLToPath(new URL('../../../core/plugin.ts', import.meta.url)));
const PHASES = ['authenticate', 'enter', 'admit', 'route', 'pay', 'guard', 'handle'] as const;

/** Refuses where the request says so, in words of its own; answers a route; has a command that is called wrongly. */
const acme = (name: string): string => `{
  name: '${name}', api: 2,
  create() {
    const perhaps = (phase, { headers }) => {
      if (headers['x-refuse'] === '${name} ' + phase) core.refuse(418, '${name}_' + phase, 'Not today.');
    };
    return {
      authenticate: (x) => perhaps('authenticate', x),
      enter: (x) => perhaps('enter', x),
      admit: (x) => perhaps('admit', x),
      route: (x) => perhaps('route', x),
      pay: (x) => perhaps('pay', x),
      guards: { '${name}': (caller) => perhaps('guard', caller) },
      routes: [{
        method: 'GET', path: '/${name}', access: ['${name}'],
        handle(request) {
          perhaps('handle', request);
          return core.answer(202, 'from ${name}', { 'content-type': 'text/plain' });
        },
      }],
      commands: [{ name: '${name}', summary: '', run() { throw new core.UsageError('not like that'); } }],
    };
  },
}`;
/** Cannot be opened, and cannot be written, each as its file's name says. */
const driver = `{
  open: async ({ file }) => { throw file === 'in-use' ? new core.StoreInUse('taken') : new core.StoreUnavailable('full'); },
  restore() {},
}`;

const imported = (object: string): string => `import * as core from ${CORE};\nexport default ${object};\n`;
const required = (object: string): string => `const core = require(${CORE});\nmodule.exports = ${object};\n`;
const compiled = (object: string): string =>
  `Object.defineProperty(exports, '__esModule', { value: true });\nconst core = require(${CORE});\nexports.default = ${object};\n`;
const FORMS: readonly (readonly [file: string, name: string, form: (object: string) => string])[] = [
  ['plain/typescript.ts', 'ts', imported],
  ['plain/module-typescript.mts', 'mts', imported],
  ['plain/module.mjs', 'mjs', imported],
  ['plain/requires.js', 'cjs', required],
  ['plain/compiled.js', 'compiled', compiled],
  ['modules/typescript.ts', 'module-ts', imported],
  ['modules/javascript.js', 'module-js', imported],
];

describe('a plugin file outside the checkout, in any module system', () => {
  let gateway: TestGateway;
  before(async () => {
    write('modules/package.json', '{"type":"module"}');
    for (const [file, name, form] of FORMS) {
      write(file, form(acme(name)));
      write(file.replace('/', '/driver-'), form(driver));
    }
    write('gateway.yaml', JSON.stringify({ pipeline: FORMS.map(([file]) => `./${file}`) }));
    const { pipeline } = defaultConfig([]) as { readonly pipeline: readonly string[] };
    gateway = await startGateway({ config: { pipeline: [...FORMS.map(([file]) => join(folder, file)), ...pipeline] } });
  });
  after(() => gateway.stop());

  for (const [file, name] of FORMS) {
    it(`refuses with its own message in every phase, and answers a route: ${file}`, async () => {
      for (const phase of PHASES) {
        const headers = { authorization: `Bearer ${gateway.key}`, 'x-refuse': `${name} ${phase}` };
        const answer =
          phase === 'guard' || phase === 'handle'
            ? await fetch(`${gateway.url}/${name}`, { headers })
            : await fetch(`${gateway.url}/v1/chat/completions`, {
                method: 'POST',
                headers: { ...headers, 'content-type': 'application/json' },
                body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello' }] }),
              });
        const { error } = (await answer.json()) as { error: { code: string } };
        assert.deepEqual([answer.status, error.code], [418, `${name}_${phase}`]);
      }
      const answer = await fetch(`${gateway.url}/${name}`);
      assert.deepEqual([answer.status, await answer.text()], [202, `from ${name}`]);
    });

    it(`has the usage of its command: ${file}`, async () => {
      const { commands = [] } = await (await loadPlugin(`./${file}`, folder)).create({} as Host, {});
      const { code, stderr } = await runCommand(commands, { argv: [name], stdin: '', cwd: folder });
      assert.equal(code, 2);
      assert.match(stderr, /^not like that\nusage: /);
    });

    it(`reports that a store is in use, or cannot be written: ${file}`, async () => {
      const { open } = await loadDriver(`./${file.replace('/', '/driver-')}`, folder);
      const failure = (path: string) =>
        open({ file: path, log: undefined as never }).then(
          () => assert.fail('it was opened'),
          (error: unknown) => error,
        );
      const [inUse, full] = [await failure('in-use'), await failure('full')];
      assert.ok(inUse instanceof StoreInUse && !(inUse instanceof StoreUnavailable));
      assert.ok(full instanceof StoreUnavailable && !(full instanceof StoreInUse));
      assert.equal(toGatewayError(full).code, 'storage_unavailable');
    });
  }

  it('is loaded by the command line, too', async () => {
    const { code, stdout, stderr } = await turnpike(['check', '--config', join(folder, 'gateway.yaml')]);
    assert.equal(code, 0, stderr);
    for (const [, name] of FORMS) assert.match(stdout, new RegExp(`GET /${name} \\[${name}\\]`));
  });
});

describe('a class that exists in several copies of core', () => {
  it('still distinguishes its subclasses', () => {
    class Locked extends StoreInUse {}
    assert.ok(new Locked() instanceof StoreInUse);
    assert.ok(new Locked() instanceof Locked);
    assert.ok(!(new StoreInUse() instanceof Locked));
    for (const other of [undefined, null, 'text', {}, new Error('x')]) {
      assert.equal((other as unknown) instanceof StoreInUse, false);
    }
  });
});
