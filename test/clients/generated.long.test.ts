/** Clients that generators of npm make from `/api/openapi.json`: each compiles without an edit and does a day's work. */
import { readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Stand, startStand } from './generated/stand.ts';

const MODULES = resolve('test/node_modules');

/** The script of a package's command. */
function commandOf(name: string, command: string): string {
  const file = join(MODULES, name, 'package.json');
  const { bin } = JSON.parse(readFileSync(file, 'utf8')) as { readonly bin: string | Readonly<Record<string, string>> };
  return join(dirname(file), typeof bin === 'string' ? bin : bin[command]!);
}

const TSC = resolve('node_modules/typescript/bin/tsc');
const TSX = createRequire(import.meta.url).resolve('tsx');
const CHECKED = [
  ...['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'esnext'],
  ...['--moduleResolution', 'bundler', '--allowImportingTsExtensions', '--types', 'node'],
];

describe('clients that are generated from the OpenAPI document', () => {
  let stand: Stand;
  before(async () => {
    stand = await startStand();
    symlinkSync(MODULES, join(stand.folder, 'node_modules'));
  });
  after(() => stand.stop());

  /** Compiles a flow with the client next to it, and runs it. */
  async function flow(name: string): Promise<void> {
    stand.copy(`${name}.flow.txt`, `${name}.ts`);
    await stand.run(process.execPath, [TSC, ...CHECKED, `${name}.ts`]);
    await stand.run(process.execPath, ['--import', TSX, `${name}.ts`, ...stand.args(name)]);
  }

  it('openapi-typescript and openapi-fetch', async () => {
    await stand.run(process.execPath, [
      commandOf('openapi-typescript', 'openapi-typescript'),
      'openapi.json',
      '-o',
      'types.ts',
    ]);
    await flow('openapi-typescript');
  });

  it('hey-api', async () => {
    const command = commandOf('@hey-api/openapi-ts', 'openapi-ts');
    await stand.run(process.execPath, [command, '-i', 'openapi.json', '-o', 'hey']);
    await flow('hey-api');
  });

  it('orval', async () => {
    await stand.run(process.execPath, [
      commandOf('orval', 'orval'),
      '--input',
      'openapi.json',
      '--output',
      'functions.ts',
      '--client',
      'fetch',
    ]);
    await flow('orval');
  });
});
