/** The variants that Turnpike is compared with: a bare proxy, a proxy package, installed proxies, another gateway. */
import { spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { emptied, install, script, write } from './folder.ts';
import { CORE, onCore } from './machine.ts';
import { type Running, start } from './processes.ts';

export type VariantName =
  | 'bare'
  | 'floor'
  | 'http-proxy-3'
  | 'nginx'
  | 'haproxy'
  | 'portkey'
  | 'litellm'
  | 'bifrost'
  | 'new-api'
  | 'agentgateway'
  | 'turnpike';

/** A server for chat calls with an upstream. */
export interface Variant {
  readonly name: VariantName;
  /** For the tables. */
  readonly title: string;
  /** Starts it in front of the vendor on port `upstream`. */
  start(upstream: number): Promise<Server>;
}

/** The URL for requests. */
export interface Target {
  readonly port: number;
  /** `name: value` */
  readonly headers: readonly string[];
  /** Default: that of chat completions. */
  readonly path?: string;
  /** The measured process, with its descendants; undefined for the vendor itself. */
  readonly pid?: number;
}

/** A running variant. */
export interface Server extends Target {
  readonly pid: number;
  readonly process: Running;
}

const PORTKEY = { '@portkey-ai/gateway': '1.15.2' };
/** With the version that npm would select, it answers every stream with 500. */
const PORTKEY_NEEDS = { '@hono/node-server': '1.12.2' };

/** The server in a process. */
export function serverOf(process: Running, port: number, headers: readonly string[]): Server {
  return { port, headers, pid: process.pid, process };
}

function proxy(name: VariantName, title: string, file: string, flags: readonly string[] = [], node?: string): Variant {
  return {
    name,
    title,
    async start(upstream) {
      const port = await freePort();
      const process = start(
        onCore(CORE.server, [node ?? globalThis.process.execPath, ...flags, script(file), `${port}`, `${upstream}`]),
      );
      await process.says(/ready/);
      return serverOf(process, port, []);
    },
  };
}

/** The reference of all ratios. */
export const bareProxy: Variant = bareProxyOn();
export const floor: Variant = proxy('floor', "node's server, our client, nothing else", './floor.ts', [
  '--import',
  'tsx',
]);
export const httpProxy3: Variant = proxy('http-proxy-3', 'http-proxy-3, keep-alive', './http-proxy-3.mjs');

/** The bare proxy on another version of Node. `node`: its executable; default: the running one. */
export function bareProxyOn(node?: string): Variant {
  return proxy('bare', 'bare node:http proxy', './bare-proxy.mjs', [], node);
}

/** nginx and haproxy with one process each, as a reverse proxy with pooled connections, if installed. */
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
  # Else each event of a stream waits up to 200 ms for the next one.
  option http-no-delay
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
      return serverOf(running, port, []);
    },
  };
}

/** Resolves when the port accepts connections. */
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

/** Installs Portkey's gateway. Rejects if npm fails. */
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
      return serverOf(running, port, [
        'authorization: Bearer none',
        'x-portkey-provider: openai',
        `x-portkey-custom-host: http://127.0.0.1:${upstream}/v1`,
      ]);
    },
  };
}
