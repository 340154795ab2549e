/** `turnpike plugin new`: creates a new plugin's folder with a passing test, from templates in scripts/scaffold. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shipsPlugin } from '../assembly/plugin-loader.ts';
import { UsageError } from '../plugin.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, '');
const TEMPLATES = join(ROOT, 'scripts/scaffold');
/** The plugin's name in the templates. */
const EXAMPLE = /my-plugin/g;

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023'],
    module: 'esnext',
    moduleResolution: 'bundler',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['.'],
};

/** Creates the folder `name` in `cwd`. Returns the next steps for the user. Throws `UsageError`. */
export function newPlugin(name: string, kind: string, cwd: string): string {
  if (!/^[a-z][a-z0-9-]*$/.test(name))
    throw new UsageError(`a plugin's name has small letters, digits and hyphens: ${JSON.stringify(name)} has others`);
  if (shipsPlugin(name)) throw new UsageError(`${name} is the name of a plugin that ships with the gateway`);
  const folder = resolve(cwd, name);
  if (existsSync(folder)) throw new UsageError(`${name} exists already`);

  mkdirSync(folder);
  for (const file of readdirSync(join(TEMPLATES, kind)))
    writeFileSync(join(folder, file), readFileSync(join(TEMPLATES, kind, file), 'utf8').replace(EXAMPLE, name));
  const isFound = basename(dirname(ROOT)) === 'node_modules' && folder.startsWith(resolve(ROOT, '../..') + sep);
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
  const manifest = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    exports: './index.ts',
    scripts: { test: 'node --import turnpike/typescript --test index.test.ts' },
    peerDependencies: { turnpike: `>=${version}` },
    // Only its operator knows where the gateway is.
    peerDependenciesMeta: { turnpike: { optional: true } },
    // Where this package is installed above the folder, the plugin finds it as it is.
    ...(!isFound && { devDependencies: { turnpike: `file:${relative(folder, ROOT)}` } }),
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, 'tsconfig.json'), `${JSON.stringify(TSCONFIG, null, 2)}\n`);
  return [
    `made ${name}/: index.ts, index.test.ts, package.json, tsconfig.json`,
    `test it:  cd ${name} && ${isFound ? '' : 'npm install && '}npm test`,
    `use it:   add ./${name} to \`pipeline\` in gateway.yaml, relative to that file`,
  ].join('\n');
}
