/** A load balancer for several gateways: nginx or haproxy if installed, otherwise a few lines of node. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { findProgram, startServer } from './programs.ts';

/** A running load balancer. */
export interface Balancer {
  readonly url: string;
  /** Its name: `nginx`. */
  readonly title: string;
  stop(): Promise<void>;
}

/** Options of the load balancer. */
export interface BalancerOptions {
  readonly port: number;
  /** Ports of the gateways on this machine. */
  readonly gateways: readonly number[];
  /** An empty folder. */
  readonly folder: string;
}

/** The kinds, in order of preference. */
export const BALANCERS = ['nginx', 'haproxy', 'node'] as const;
export type BalancerKind = (typeof BALANCERS)[number];

/** Whether this kind is available here. */
export function hasBalancer(kind: BalancerKind): boolean {
  return kind === 'node' || findProgram(kind) !== undefined;
}

/** Starts one; the gateways need not run yet. */
export async function startBalancer(
  options: BalancerOptions,
  kind: BalancerKind = BALANCERS.find(hasBalancer)!,
): Promise<Balancer> {
  const url = `http://127.0.0.1:${options.port}`;
  if (kind === 'node') {
    const title = 'a round robin of node, because neither nginx nor haproxy is installed';
    return { url, title, stop: await roundRobin(options) };
  }
  const file = join(options.folder, `${kind}.conf`);
  writeFileSync(file, kind === 'nginx' ? nginxConfig(options) : haproxyConfig(options));
  const args = kind === 'nginx' ? ['-p', options.folder, '-e', 'stderr', '-c', file] : ['-f', file];
  const server = await startServer([findProgram(kind)!, ...args], () => accepts(options.port));
  // Both exit at once on SIGTERM: running requests ended when the gateways were stopped.
  return { url, title: kind, stop: async () => void (await server.stop()) };
}

const DEPLOYED = new URL('../deploy/nginx/default.conf', import.meta.url);

/** The deployed configuration, with these gateways. */
function nginxConfig({ port, gateways, folder }: BalancerOptions): string {
  mkdirSync(join(folder, 'nginx'));
  const [sample = ''] = /^ +server gateway-1:8080.*\n/m.exec(readFileSync(DEPLOYED, 'utf8')) ?? [];
  const site = readFileSync(DEPLOYED, 'utf8')
    .replace(/^ +server gateway-\d+:8080.*\n/gm, '')
    .replace(/^ +keepalive /m, (line) => {
      return `${gateways.map((gateway) => sample.replace('gateway-1:8080', `127.0.0.1:${gateway}`)).join('')}${line}`;
    })
    .replace(/listen \d+;/, `listen 127.0.0.1:${port};`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path ${join(folder, 'nginx', name)};\n`,
  );
  return `${process.getuid?.() === 0 ? 'user root;\n' : ''}daemon off;
pid ${join(folder, 'nginx.pid')};
error_log stderr;
events { worker_connections 4096; }
http {
  access_log off;
${temporary.join('')}
${site}}
`;
}

function haproxyConfig({ port, gateways }: BalancerOptions): string {
  const servers = gateways.map((gateway, i) => `  server gateway-${i + 1} 127.0.0.1:${gateway} check inter 500\n`);
  return `defaults
  mode http
  option forwardfor
  option redispatch
  timeout connect 2s
  timeout client 11m
  timeout server 11m
frontend all
  bind 127.0.0.1:${port}
  default_backend gateways
backend gateways
  balance leastconn
  option httpchk GET /readyz
${servers.join('')}`;
}

/** Interval of health checks. */
const LOOK_MS = 200;

/** Connects in turns to the next ready gateway that accepts. Returns a function that stops it. */
async function roundRobin({ port, gateways }: BalancerOptions): Promise<() => Promise<void>> {
  const open = new Set<Socket>();
  /** Gateways that reported not to be ready. */
  const unready = new Set<number>();
  let turn = 0;
  const looking = setInterval(() => {
    for (const gateway of gateways) {
      void takesCalls(gateway).then((ready) => (ready ? unready.delete(gateway) : unready.add(gateway)));
    }
  }, LOOK_MS);
  const next = (): number => {
    const ready = gateways.filter((gateway) => !unready.has(gateway));
    const among = ready.length > 0 ? ready : gateways;
    return among[turn++ % among.length]!;
  };
  const kept = (socket: Socket): Socket => {
    open.add(socket);
    return socket.once('close', () => open.delete(socket));
  };
  const forward = (client: Socket, tries: number): void => {
    const upstream = kept(connect(next(), '127.0.0.1'));
    let connected = false;
    upstream.once('connect', () => {
      connected = true;
      client.pipe(upstream).pipe(client);
    });
    upstream.on('error', () => {
      if (connected || tries <= 1) client.destroy();
      else forward(client, tries - 1);
    });
    client.once('close', () => upstream.destroy());
  };
  const server = createServer((client) => {
    kept(client).on('error', () => client.destroy());
    forward(client, gateways.length);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return () =>
    new Promise((resolve) => {
      clearInterval(looking);
      server.close(() => resolve());
      for (const socket of open) socket.destroy();
    });
}

/** False only if it reports so: an unreachable gateway is detected by the connection itself. */
function takesCalls(gateway: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${gateway}/readyz`).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status !== 503;
    },
    () => true,
  );
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
