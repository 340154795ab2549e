/**
 * Generates the clients of Python (openapi-python-client) and Go (oapi-codegen) from `/api/openapi.json`, and works with them. The commands are
 * needed in PATH; a language whose generator is not there is left out, and named.
 *
 * `node --import tsx scripts/openapi/generated-clients.ts`
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Stand, startStand } from '../../test/clients/generated/stand.ts';

const exists = (command: string): boolean => spawnSync(command, ['--version']).error === undefined;

async function python(stand: Stand): Promise<void> {
  const generate = [
    'generate',
    '--path',
    'openapi.json',
    '--output-path',
    'client',
    '--meta',
    'none',
    '--fail-on-warning',
  ];
  writeFileSync(join(stand.folder, 'python.yaml'), 'post_hooks: []\n');
  await stand.run('openapi-python-client', [...generate, '--config', 'python.yaml']);
  stand.copy('flow.py', 'flow.py');
  await stand.run(process.env.PYTHON ?? 'python3', ['flow.py', ...stand.args('python')]);
}

async function go(stand: Stand): Promise<void> {
  mkdirSync(join(stand.folder, 'turnpikeapi'));
  const made = 'turnpikeapi/api.gen.go';
  await stand.run('oapi-codegen', ['-package', 'turnpikeapi', '-generate', 'types,client', '-o', made, 'openapi.json']);
  stand.copy('flow.go.txt', 'main.go');
  writeFileSync(join(stand.folder, 'go.mod'), 'module example.com/generated\n\ngo 1.22\n');
  await stand.run('go', ['mod', 'tidy']);
  await stand.run('go', ['run', '.', ...stand.args('golang')]);
}

const stand = startStand();
stand
  .then(async (started) => {
    for (const [name, needed, make] of [
      ['Python', ['openapi-python-client'], python],
      ['Go', ['oapi-codegen', 'go'], go],
    ] as const) {
      const missing = needed.filter((command) => !exists(command));
      if (missing.length === 0) await make(started);
      process.stdout.write(
        `${name}: ${missing.length === 0 ? 'all well' : `left out, ${missing.join(' and ')} not found`}\n`,
      );
    }
  })
  .catch((error: unknown) => {
    process.exitCode = 1;
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  })
  .finally(() => stand.then((started) => started.stop()));
