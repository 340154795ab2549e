/** Who is compared: a bare proxy, a proxy package, another gateway, and Turnpike as a user would start it. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { freePort } from '../free-port.ts';
import { emptied, install, ROOT, script, write } from './folder.ts';
import { CORE, onCore } from './machine.ts';
import { type Running, start } from './processes.ts';

export type VariantName = 'bare' | 'http-proxy-3' | 'nginx' | 'haproxy' | 'portkey' | 'turnpike';

/** Something that takes chat calls and gets its answers from an upstream. */
export interface Variant {
  readonly name: VariantName;
  /** For the tables. */
  readonly title: string;
  /** Starts it in front of the vendor that listens at `upstream`. */
  start(upstream: number): Promise<Server>;
}

/** Where requests go. */
export interface Target {
  readonly port: number;
  /** `name: value` */
  readonly headers: readonly string[];
  /** Whose CPU time and memory are measured; undefined for the vendor itself. */
  readonly pid?: number;
}

/** A running variant. */
export interface Server extends Target {
  readonly pid: number;
  stop(): Promise<void>;
}

const PORTKEY = { '@portkey-ai/gateway': '1.15.2' };
/** With the version npm would choose, it answers 500 to every stream. */
const PORTKEY_NEEDS = { '@hono/node-server': '1.12.2' };
/** Large enough never to be reached in a bench. */
const UNREACHED = 1_000_000_000;

function started(process: Running, port: number, headers: readonly string[]): Server {
  return { port, headers, pid: process.pid, stop: () => process.stop() };
}

function proxy(name: VariantName, title: string, file: string): Variant {
  return {
    name,
    title,
    async start(upstream) {
      const port = await freePort();
      const process = start(onCore(CORE.server, [globalThis.process.execPath, script(file), `${port}`, `${upstream}`]));
      await process.says(/ready/);
      return started(process, port, []);
    },
  };
}

/** The yardstick of all ratios. */
export const bareProxy: Variant = proxy('bare', 'bare node:http proxy', './bare-proxy.mjs');
export const httpProxy3: Variant = proxy('http-proxy-3', 'http-proxy-3, keep-alive', './http-proxy-3.mjs');

/** nginx and haproxy in one process each, as a reverse proxy with kept connections; those of them that are installed. */
export function installedProxies(): readonly Variant[] {
  const nginx = native('nginx', 'nginx', ['-v'], (port, upstream) => {
    const folder = emptied(`nginx-${port}`);
    const config = write(
      `nginx-${port}/nginx.conf`,
      `daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr warn;
       events { worker_connections 8192; }
       http {
         access_log off; keepalive_requests 1000000; proxy_http_version 1.1; proxy_buffering off;
         client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
         uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
         upstream vendor { server 127.0.0.1:${upstream}; keepalive 512; keepalive_requests 1000000; }
         server { listen 127.0.0.1:${port}; location / { proxy_pass http://vendor; proxy_set_header Connection ""; } }
       }`,
    );
    return ['nginx', '-c', config, '-g', 'master_process off;'];
  });
  const haproxy = native('haproxy', 'haproxy', ['-v'], (port, upstream) => [
    'haproxy',
    '-db',
    '-f',
    write(
      `haproxy-${port}.cfg`,
      `global
  nbthread 1
  maxconn 8192
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
listen proxy
  bind 127.0.0.1:${port}
  server vendor 127.0.0.1:${upstream} pool-max-conn 512
`,
    ),
  ]);
  return [nginx, haproxy].filter((variant) => variant !== undefined);
}

function native(
  name: VariantName,
  title: string,
  version: readonly string[],
  command: (port: number, upstream: number) => readonly string[],
): Variant | undefined {
  const { error } = spawnSync(name, version, { stdio: 'ignore' });
  if (error !== undefined) return undefined;
  return {
    name,
    title,
    async start(upstream) {
      const port = await freePort();
      const running = start(onCore(CORE.server, command(port, upstream)));
      await listens(port);
      return started(running, port, []);
    },
  };
}

/** Resolves when connections are taken there. */
async function listens(port: number): Promise<void> {
  for (let tries = 0; ; tries++) {
    const socket = connect(port, '127.0.0.1');
    const isThere = await new Promise<boolean>((resolve) => {
      socket.on('connect', () => resolve(true));
      socket.on('error', () => resolve(false));
    });
    socket.destroy();
    if (isThere) return;
    if (tries > 100) throw new Error(`nothing listens at port ${port}`);
    await setTimeout(50);
  }
}

/** Installs Portkey's gateway. Rejects where npm cannot. */
export async function portkey(): Promise<Variant> {
  const folder = await install('portkey', PORTKEY, PORTKEY_NEEDS);
  const entry = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  return {
    name: 'portkey',
    title: `Portkey ${PORTKEY['@portkey-ai/gateway']}`,
    async start(upstream) {
      const port = await freePort();
      const command = [process.execPath, '--import', script('./loopback-only.mjs'), entry, '--headless'];
      const running = start(onCore(CORE.server, [...command, `--port=${port}`]));
      await running.says(/Ready for connections/);
      return started(running, port, [
        'authorization: Bearer none',
        'x-portkey-provider: openai',
        `x-portkey-custom-host: http://127.0.0.1:${upstream}/v1`,
      ]);
    },
  };
}

/** Turnpike as a user would start it. */
export const turnpike: Variant = {
  name: 'turnpike',
  title: 'Turnpike',
  start: (upstream) =>
    startTurnpike({ [MODEL]: { vendor: 'compatible', url: `http://127.0.0.1:${upstream}/v1`, key: 'vendor-key' } }),
};

/** The styles in which a vendor may be spoken to. */
export type SpokenStyle = 'chat' | 'messages' | 'responses' | 'gemini';

/** Turnpike in front of a vendor that speaks every style; its models are called by the style in which they are asked. */
export function startTranslator(upstream: number): Promise<Server> {
  const url = `http://127.0.0.1:${upstream}/v1`;
  const key = 'vendor-key';
  return startTurnpike({
    chat: { vendor: 'compatible', speaks: ['chat'], url, key },
    messages: { vendor: 'compatible', speaks: ['messages'], url, key },
    responses: { vendor: 'compatible', speaks: ['responses'], url, key },
    gemini: { vendor: 'gemini', url, key },
  } satisfies Record<SpokenStyle, object>);
}

/**
 * Turnpike with the pipeline of the shipped gateway.yaml, priced models, and limits that count and never refuse. `channels`: by
 * the model that each of them has.
 */
async function startTurnpike(channels: Readonly<Record<string, object>>): Promise<Server> {
  const { command, port } = await configured(channels);
  const running = start(onCore(CORE.server, command));
  const key = (await running.says(/"key":"(sk-\w+)"[\s\S]*ready http/))[1];
  return started(running, port, [`authorization: Bearer ${key}`]);
}

/** A Turnpike that was started once: its database is there. Starts it again. */
export async function startedBefore(): Promise<() => Promise<Server>> {
  const { command, port } = await configured({
    [MODEL]: { vendor: 'compatible', url: 'http://127.0.0.1:9/v1', key: 'vendor-key' },
  });
  const again = async (): Promise<Server> => {
    const running = start(command);
    await running.says(/ready http/);
    return started(running, port, []);
  };
  await (await again()).stop();
  return again;
}

interface Configured {
  readonly command: readonly string[];
  readonly port: number;
}

async function configured(channels: Readonly<Record<string, object>>): Promise<Configured> {
  const port = await freePort();
  const shipped = parse(readFileSync(join(ROOT, 'gateway.yaml'), 'utf8')) as {
    readonly pipeline: readonly string[];
    readonly limits: Limits;
  };
  const data = emptied(`data-${port}`);
  const models = Object.keys(channels);
  const config = write(
    `data-${port}/gateway.yaml`,
    stringify({
      listen: { host: '127.0.0.1', port },
      store: { driver: 'sqlite', file: join(data, 'turnpike.db') },
      pipeline: shipped.pipeline,
      limits: unreached(shipped.limits),
      channels: models.map((model) => ({ name: `mock-${model}`, ...channels[model] })),
      models: Object.fromEntries(
        models.map((model) => [model, { from: [`mock-${model}`], price: { input: 0.15, output: 0.6 } }]),
      ),
    }),
  );
  return { command: [process.execPath, join(ROOT, 'scripts/turnpike.mjs'), 'start', '--config', config], port };
}

interface Limits {
  readonly [option: string]: number | Limits;
}

/** The same limits, so large that they count and never refuse. */
function unreached(limits: Limits): Limits {
  return Object.fromEntries(
    Object.entries(limits).map(([option, limit]) => [option, typeof limit === 'number' ? UNREACHED : unreached(limit)]),
  );
}

/** The model of every chat request. */
export const MODEL = 'gpt-4o-mini';

/** What every turn says. */
export const CONTENT: string =
  'Explain how a toll road keeps its books, and what happens when a barrier fails. '.repeat(5);

/** More than any answer has: who outruns what was set aside for it is cut off. */
export const MAX_TOKENS = 2_048;

/** A chat request of 2 KB. */
export function chatRequest(stream: boolean): string {
  const messages = ['system', 'user', 'assistant', 'user'].map((role) => ({ role, content: CONTENT }));
  return JSON.stringify({
    model: MODEL,
    stream,
    temperature: 0.2,
    max_tokens: MAX_TOKENS,
    messages,
    user: 'u'.repeat(64),
  });
}
