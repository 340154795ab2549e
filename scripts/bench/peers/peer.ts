/** A gateway that is measured if it is installed: how its program is found, started and checked. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../../free-port.ts';
import { emptied } from '../folder.ts';
import { CORE, onCore } from '../machine.ts';
import { type Running, run, start } from '../processes.ts';
import { chatRequest } from '../requests.ts';
import { type Server, serverOf, type Target, type Variant, type VariantName } from '../variants.ts';

export interface Peer {
  readonly name: VariantName;
  readonly title: string;
  /** The environment variable with the path of its program, and the name of the program in PATH. */
  readonly variable: string;
  readonly command: string;
  /** What it does for a call in this measurement, in a few words. */
  readonly does: string;
  /** What it does not do, in a sentence. */
  readonly lacks: string;
  /** Installs it if it is not found, and returns the path of its program. Rejects if that fails. */
  readonly install?: () => Promise<string>;
  /** Starts it on `port`, in front of the vendor on port `upstream`, with its files in `folder`. */
  open(program: string, port: number, upstream: number, folder: string): Promise<Opened>;
}

/** A started peer, which may not be ready yet, and the requests it needs. */
export interface Opened extends Pick<Target, 'headers' | 'path'> {
  readonly running: Running;
}

/** The key of the bench; the prefix is that of Bifrost. */
export const KEY = 'sk-bf-bench-0123456789';
/** A budget that a measurement does not use up. */
export const PLENTY = 1_000_000_000;

/** LiteLLM starts in 10 to 20 seconds. */
const READY_MS = 90_000;

export function bearer(key: string): string {
  return `authorization: Bearer ${key}`;
}

/** Starts a program on the core of the measured server. */
export function launch(command: readonly string[], home: string, more: NodeJS.ProcessEnv = {}): Running {
  return start(onCore(CORE.server, command), { cwd: home, env: environmentOf(home, more) });
}

/**
 * The environment of the bench is not passed on: it may have keys of vendors and addresses of databases, which these
 * programs would use. What they download over HTTPS fails at once; the vendor is reached over HTTP.
 */
function environmentOf(home: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const nowhere = 'http://127.0.0.1:9';
  return {
    PATH: process.env.PATH,
    HOME: home,
    HTTPS_PROXY: nowhere,
    https_proxy: nowhere,
    // Else LiteLLM downloads its list of prices, and waits for it.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    ...more,
  };
}

/** How a peer that was not found can be measured. */
export function notFound({ command, variable }: Pick<Peer, 'command' | 'variable'>): string {
  return `there is no program \`${command}\` in PATH; ${variable} may have the path of one.`;
}

/** The path of a peer's program; undefined if there is none. Throws if its variable names something else. */
export function programOf(
  { command, variable }: Pick<Peer, 'command' | 'variable'>,
  environment: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const named = environment[variable];
  if (named) {
    if (isProgram(named)) return resolve(named);
    throw new Error(`${variable} is ${named}, which is not an executable file.`);
  }
  const folders = (environment.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => resolve(folder, command)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The peer with this program. */
export async function variantOf(peer: Peer, program: string): Promise<Variant> {
  return {
    name: peer.name,
    title: `${peer.title} ${await versionOf(program)}`.trim(),
    async start(upstream) {
      const port = await freePort();
      const { running, headers, path } = await peer.open(program, port, upstream, `${peer.name}-${port}`);
      const server: Server = { ...serverOf(running, port, headers), ...(path !== undefined && { path }) };
      try {
        await answers(server);
      } catch (error) {
        await running.stop();
        throw error;
      }
      return server;
    },
  };
}

/** Empty if the program does not tell it. */
async function versionOf(program: string): Promise<string> {
  const home = emptied('version');
  const options = { cwd: home, env: environmentOf(home), timeout: READY_MS };
  const output = await run([program, '--version'], options).catch(() => '');
  return /\d+\.\d+\.\d+[\w.-]*/.exec(output)?.[0] ?? '';
}

/** Resolves when a call is answered with 200. */
async function answers({ process, port, headers, path = '/v1/chat/completions' }: Server): Promise<void> {
  const pairs = headers.map((header) => header.split(/: (.*)/s).slice(0, 2) as [string, string]);
  await until(process, async () => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: [['content-type', 'application/json'], ...pairs],
      body: chatRequest(false),
    });
    const text = await answer.text();
    return answer.status === 200 || `${answer.status} ${text.slice(0, 500)}`;
  });
}

/** Repeats `check` until it returns true. Rejects with its last reason, or with the output of a process that ended. */
export async function until(running: Running, check: () => Promise<boolean | string>): Promise<void> {
  const end = Date.now() + READY_MS;
  for (;;) {
    const found = await check().catch((error: Error) => error.message);
    if (found === true) return;
    if (!running.isRunning()) await running.says(/(?!)/);
    if (Date.now() > end) throw new Error(`it was not ready in time: ${found}`);
    await setTimeout(200);
  }
}
