/** The package for authors of plugins, as `npm pack` makes it: what is in it, what compiles against it, and the folders that it makes. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { surprises } from '../../../scripts/release-content.mjs';
import { isWhole } from '../../kit/console/whole.ts';
import { type Packed, packTurnpike, tested } from '../authors/packed.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** plugin-new.long.test.ts makes the others. */
const KINDS = isWhole ? readdirSync(join(ROOT, 'scripts/scaffold')) : ['style', 'vendor'];
const run = promisify(execFile);

/** What a project has that wants the compiler to be as strict as it can be, declarations of packages included. */
const STRICT = {
  target: 'es2023',
  lib: ['es2023'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  skipLibCheck: false,
  noEmit: true,
};

describe('the package for authors', () => {
  let packed: Packed;
  let dir: string;
  before(async () => {
    packed = await packTurnpike();
    // What an author installs to compile; without it, plugins run all the same.
    dir = packed.install(['@types/node', 'undici-types']);
  });
  after(() => packed.remove());

  const inPackage = (path: string): string => join(dir, 'node_modules/turnpike', path);
  const turnpike = (...words: readonly string[]): Promise<{ readonly stdout: string }> =>
    run(process.execPath, [inPackage('scripts/turnpike.mjs'), ...words], { cwd: dir });
  /** Errors of the compiler in the project's files and in the package; those in @types/node are theirs. */
  const compiled = async (config: string): Promise<readonly string[]> => {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', config, '--pretty', 'false'], { cwd: dir }).catch(
      (error: { readonly stdout: string }) => error,
    );
    return stdout.split('\n').filter((line) => /error TS/.test(line) && !line.includes('@types/node/'));
  };

  it('has what authors import as JavaScript and declarations, and nothing that only the checkout needs', () => {
    const { exports, scripts, devDependencies } = JSON.parse(readFileSync(inPackage('package.json'), 'utf8')) as {
      exports: Record<string, string | Record<string, string>>;
      scripts?: object;
      devDependencies?: object;
    };
    assert.deepEqual([scripts, devDependencies], [undefined, undefined]);
    for (const [name, target] of Object.entries(exports)) {
      for (const path of Object.values(typeof target === 'string' ? [target] : target)) {
        const file = inPackage(path);
        assert.ok(statSync(file).isFile(), `${name} leads to ${path}`);
        assert.ok(!/(?<!\.d)\.ts$/.test(path), `${name} leads to TypeScript, which node does not load from packages`);
      }
    }
    // But for what the documentation links to.
    const strange = packed.files.filter(
      (path) =>
        /^(test|node_modules|core\/dist|scripts\/(bench|chaos|replay))\b/.test(path) &&
        surprises(path, '', '/').length > 0,
    );
    assert.deepEqual(strange, []);
  });

  it('needs no package that only developers of the gateway have', () => {
    const resolve = createRequire(inPackage('package.json')).resolve;
    for (const name of ['ws', 'fast-check']) assert.throws(() => resolve(name), /Cannot find module/, name);
  });

  it('compiles in the strictest of projects, with declarations checked', async () => {
    const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly exports: object };
    const modules = Object.keys(exports)
      .map((name) => name.slice(2))
      .filter((name) => name !== 'typescript' && name !== 'package.json');
    const place = join(dir, 'strict');
    mkdirSync(place);
    const imports = modules.map((name, i) => `import type * as m${i} from 'turnpike/${name}';`);
    const uses = modules.map((_, i) => `export type M${i} = typeof m${i};`);
    writeFileSync(join(place, 'all.ts'), `${[...imports, ...uses].join('\n')}\n`);
    writeFileSync(
      join(place, 'guard.ts'),
      `import { definePlugin, refuse, schema } from 'turnpike/plugin';
       const section = schema<{ readonly word: string }>({ type: 'object', properties: { word: { type: 'string' } } });
       export default definePlugin({
         name: 'guard',
         api: 2,
         sections: { guard: section },
         create: (host, { guard: { word } }) => ({
           admit(x) {
             host.log.debug('admitted', { model: x.call.model });
             if (x.call.model === word) refuse(403, 'forbidden', 'No.');
           },
         }),
       });\n`,
    );
    writeFileSync(
      join(place, 'wrong.ts'),
      `import { definePlugin } from 'turnpike/plugin';
       export default definePlugin({ name: 'wrong', api: 2, create: () => ({ admitt() {} }) });\n`,
    );
    writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions: STRICT, include: ['.'] }));
    const errors = await compiled(place);
    assert.equal(errors.filter((line) => !line.includes('wrong.ts')).join('\n'), '');
    assert.match(errors.join('\n'), /wrong\.ts.*error TS/, 'a phase that does not exist does not compile');
  });

  for (const kind of KINDS) {
    it(`makes a plugin of the kind ${kind}, whose test passes and which compiles as it is`, async () => {
      const name = `my-${kind}`;
      const { stdout } = await turnpike('plugin', 'new', name, '--kind', kind);
      assert.match(stdout, /test it: {2}cd \S+ && npm test/);
      const place = join(dir, name);
      const { scripts, devDependencies } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as {
        scripts: { test: string };
        devDependencies?: object;
      };
      assert.equal(devDependencies, undefined, 'the package is installed above it');
      const [, ...flags] = scripts.test.split(' ');
      const { passed, failures, output } = await tested(
        place,
        flags.at(-1)!,
        ...flags.slice(0, flags.indexOf('--test')),
      );
      assert.deepEqual(failures, [], output);
      assert.ok(passed > 0, output);
      assert.deepEqual(await compiled(place), []);
      const strict = {
        extends: './tsconfig.json',
        compilerOptions: { ...STRICT, allowImportingTsExtensions: true, moduleResolution: 'nodenext' },
      };
      writeFileSync(join(place, 'strict.json'), JSON.stringify({ ...strict, include: ['.'] }));
      assert.deepEqual(await compiled(join(place, 'strict.json')), []);
    });
  }

  if ('typescript' in process.features && process.features.typescript !== false) {
    it('runs the test of a plugin in TypeScript with plain `node --test`, because this node reads TypeScript', async () => {
      for (const kind of KINDS) {
        const { passed, failures, output } = await tested(join(dir, `my-${kind}`), 'index.test.ts');
        assert.deepEqual(failures, [], output);
        assert.ok(passed > 0, output);
      }
    });
  }

  it('runs a gateway with such a plugin in its pipeline', async () => {
    const config = join(dir, 'gateway.yaml');
    writeFileSync(
      config,
      `store: { driver: sqlite, file: ./t.db }\npipeline: [accounts, auth, keys, models, styles, ./my-vendor, ./my-style]\n`,
    );
    const { stdout } = await turnpike('check', '--config', config);
    assert.match(stdout, /my-vendor/);
  });
});
