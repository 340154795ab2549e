/** A gateway for clients that are generated from its OpenAPI document, and the folder in which they are built. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV, root, verify } from '../../kit/console/console.ts';
import { startGateway } from '../../kit/gateway/gateway.ts';

/** What the flows of this folder need. */
export interface Stand {
  /** Has `openapi.json`. */
  readonly folder: string;
  /** The arguments of a flow: the gateway's address, a service token, and a name for its user. */
  args(name: string): readonly string[];
  /** Runs a program in the folder; fails with its output unless it succeeds. */
  run(command: string, args: readonly string[]): Promise<string>;
  /** Copies a flow of this folder next to the generated client. */
  copy(flow: string, to: string): void;
  stop(): Promise<void>;
}

/** Starts the gateway, creates a service token and writes the document. */
export async function startStand(): Promise<Stand> {
  const gateway = await startGateway({
    env: ROOT_ENV,
    config: {
      pipeline: [...CONSOLE_PIPELINE],
      console: PATIENT,
      channels: [{ name: 'demo', vendor: 'demo' }],
      models: { 'test-model': { from: ['demo'], price: { input: 10, output: 10 } } },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-generated-'));
  const boss = await verify(await root(gateway));
  const scopes = ['keys:write', 'users:write', 'usage:read'];
  const { secret } = await boss.data('POST', '/api/service-token/', { name: 'generated', scopes });
  const document = await boss.get('/api/openapi.json');
  writeFileSync(join(folder, 'openapi.json'), document.text);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  return {
    folder,
    args: (name) => [gateway.url, secret, name],
    // Not `spawnSync`: the gateway of this process answers the flows.
    async run(command, args) {
      const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
      const [output, errors, [status]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ]);
      assert.equal(status, 0, `${command} ${args.join(' ')}\n${output}\n${errors}`);
      return output;
    },
    copy: (flow, to) => copyFileSync(join(import.meta.dirname, flow), resolve(folder, to)),
    async stop() {
      await gateway.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
