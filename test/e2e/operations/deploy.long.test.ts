/** What scripts/deploy/ says: every path, port, variable and probe in it exists, and the image, as far as it can be made without containers, serves. */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { durationMs } from '../../../core/config/values.ts';
import { CORE_PATHS } from '../../../core/http/router.ts';
import { startServer } from '../../../scripts/cluster/programs.ts';
import { freePort } from '../../../scripts/free-port.ts';
import { turnpike } from '../../kit/gateway/process.ts';
import { codeIn, table } from '../documents/readme-kit.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DEPLOY = join(ROOT, 'scripts/deploy');
const read = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8');
/** What a gateway may take to stop beside `listen.drain`: for clients that do not listen, plugins and the store. */
const STOPPING_MS = 15_000;

// biome-ignore lint/suspicious/noExplicitAny: files of other programs, looked into at single places
type Anything = any;

const gatewayText = read('gateway.yaml');
const gateway: Anything = parse(gatewayText);
const compose: Anything = parse(read('compose.yaml'), { merge: true });
const kubernetes: readonly Anything[] = parseAllDocuments(read('kubernetes.yaml')).map((document) => document.toJS());
const kind = (name: string): Anything => kubernetes.find((document) => document.kind === name);
const pod = kind('Deployment').spec.template.spec;
const container = pod.containers[0];
const drainMs = durationMs(gateway.listen.drain);

/** Variables that a file reads, and those of them that must be set. */
function variablesOf(text: string): { readonly all: ReadonlySet<string>; readonly required: readonly string[] } {
  const found = [...text.matchAll(/\$\{(\w+)(:-)?/g)];
  return {
    all: new Set(found.map(([, name = '']) => name)),
    required: found.filter(([, , fallback]) => fallback === undefined).map(([, name = '']) => name),
  };
}

/** The variables that the documentation lists. */
const documented = table('Variable').flatMap(({ cells }) => codeIn(cells[0]));

/** That nothing required is missing, and that everything given is read by somebody. */
function assertEnvironment(given: readonly string[]): void {
  const { all, required } = variablesOf(gatewayText);
  for (const name of required) assert.ok(given.includes(name), `${name} is not set`);
  for (const name of given) assert.ok(all.has(name) || documented.includes(name), `nobody reads ${name}`);
  assert.ok(given.includes('TURNPIKE_MASTER_KEY'));
}

describe('the configuration of a cluster', () => {
  it('is one that the gateway accepts, with every plugin that ships', async () => {
    const env = { DATABASE_URL: 'postgres://turnpike@127.0.0.1/turnpike', VALKEY_URL: 'redis://127.0.0.1:6379' };
    const { code, stdout, stderr } = await turnpike(['check', '--config', join(DEPLOY, 'gateway.yaml')], { env });
    assert.equal(code, 0, stdout + stderr);
    const shipped = parse(readFileSync(join(ROOT, 'gateway.yaml'), 'utf8'));
    assert.deepEqual(gateway.pipeline, shipped.pipeline);
  });
});

describe('compose.yaml', () => {
  const gateways = Object.keys(compose.services).filter((name) => name.startsWith('gateway'));

  it('gives every gateway the same file and every variable it needs, and no other', () => {
    assert.deepEqual(gateways, ['gateway-1', 'gateway-2', 'gateway-3']);
    for (const name of gateways) assert.deepEqual(compose.services[name], compose.services['gateway-1']);
    assertEnvironment(Object.keys(compose.services['gateway-1'].environment));
  });

  it('mounts and builds from what is there', () => {
    for (const { volumes = [], build } of Object.values<Anything>(compose.services)) {
      for (const volume of volumes) {
        const [from = ''] = volume.split(':');
        const exists = from.startsWith('.')
          ? existsSync(join(DEPLOY, from))
          : from === '/data' || from in compose.volumes;
        assert.ok(exists, volume);
      }
      if (build !== undefined) assert.ok(existsSync(resolve(DEPLOY, build.context, build.dockerfile)));
    }
  });

  it('waits for a gateway to drain, and refers to services that are there', () => {
    for (const [name, { stop_grace_period: grace, depends_on: needs = {} }] of Object.entries<Anything>(
      compose.services,
    )) {
      if (name.startsWith('gateway')) assert.ok(durationMs(grace) >= drainMs + STOPPING_MS, grace);
      for (const [needed, { condition }] of Object.entries<Anything>(needs)) {
        const { healthcheck } = compose.services[needed];
        assert.ok(condition !== 'service_healthy' || healthcheck || needed.startsWith('gateway'), needed);
      }
    }
  });

  it('has nginx forward to each gateway, at the port it listens on', () => {
    const site = read('nginx/default.conf');
    const port = /\$\{PORT:-(\d+)\}/.exec(gateway.listen.port)?.[1];
    const targets = [...site.matchAll(/^ +server ([\w-]+):(\d+) /gm)];
    assert.deepEqual(
      targets.map(([, name, at]) => [name, at]),
      gateways.map((name) => [name, port]),
    );
    const published = compose.services.nginx.ports[0].split(':').at(-1);
    assert.match(site, new RegExp(`listen ${published};`));
  });
});

describe('kubernetes.yaml', () => {
  it('has the configuration of the cluster, word for word', () => {
    assert.equal(kind('ConfigMap').data['gateway.yaml'], gatewayText);
  });

  it('gives the gateway every variable it needs, and no other', () => {
    assertEnvironment(container.env.map(({ name }: Anything) => name));
  });

  it('takes from the secret what the README puts there', () => {
    const made = new Set([...read('README.md').matchAll(/--from-literal=([\w-]+)=/g)].map(([, name = '']) => name));
    const required = container.env.flatMap(({ valueFrom }: Anything) =>
      valueFrom === undefined || valueFrom.secretKeyRef.optional ? [] : [valueFrom.secretKeyRef.key],
    );
    for (const key of required) assert.ok(made.has(key), `the README does not make ${key}`);
  });

  it('asks the paths that core answers, at the port it listens on', () => {
    const { startupProbe, readinessProbe, livenessProbe } = container;
    assert.deepEqual(
      [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet.path),
      [CORE_PATHS.alive, CORE_PATHS.ready, CORE_PATHS.alive],
    );
    const [{ name, containerPort }] = container.ports;
    for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) assert.equal(httpGet.port, name);
    assert.equal(kind('Service').spec.ports[0].targetPort, name);
    assert.equal(`\${PORT:-${containerPort}}`, gateway.listen.port);
  });

  it('waits for preStop and the drain', () => {
    const preStopMs = Number(container.lifecycle.preStop.exec.command[1]) * 1_000;
    assert.ok(pod.terminationGracePeriodSeconds * 1_000 >= preStopMs + drainMs + STOPPING_MS);
  });

  it('mounts every volume, may write where the gateway does, and selects its own pods', () => {
    const mounts = new Map(container.volumeMounts.map(({ name, mountPath }: Anything) => [name, mountPath]));
    assert.deepEqual(
      [...mounts.keys()],
      pod.volumes.map(({ name }: Anything) => name),
    );
    assert.equal(gateway.store.data, `\${TURNPIKE_DATA:-${mounts.get('data')}}`);
    const labels = kind('Deployment').spec.template.metadata.labels;
    for (const selector of [
      kind('Service').spec.selector,
      kind('Deployment').spec.selector.matchLabels,
      kind('PodDisruptionBudget').spec.selector.matchLabels,
    ])
      assert.deepEqual(selector, labels);
  });
});

describe('turnpike.service', () => {
  const text = read('turnpike.service');
  const setting = (name: string): readonly string[] =>
    [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
  const [program = '', ...words] = setting('ExecStart')[0]!.split(' ');
  const installed = words.find((word) => word.endsWith('turnpike.mjs'))!;
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-unit-'));
  after(() => rmSync(folder, { recursive: true }));
  /** The unit with the programs of this machine, because systemd-analyze looks for them. */
  const unit = join(folder, 'turnpike.service');
  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
  const analyze = (...args: readonly string[]): ReturnType<typeof spawnSync> =>
    spawnSync('systemd-analyze', [...args, unit], { encoding: 'utf8' });
  before(() =>
    writeFileSync(unit, text.replace(program, process.execPath).replace(installed, join(ROOT, 'scripts/turnpike.mjs'))),
  );

  it('is one that systemd accepts', { skip: !hasSystemd && 'systemd-analyze is not installed' }, () => {
    const { status, stdout, stderr } = analyze('verify', '--man=no');
    assert.deepEqual([status, `${stdout}${stderr}`], [0, '']);
  });

  it('is sandboxed: an exposure of 2 of 10 at most', {
    skip: !hasSystemd && 'systemd-analyze is not installed',
  }, () => {
    const { status, stdout } = analyze('security', '--offline=true', '--threshold=20', '--no-pager');
    assert.equal(status, 0, String(stdout));
  });

  it('waits for the drain of the shipped configuration', () => {
    const { listen } = parse(readFileSync(join(ROOT, 'gateway.yaml'), 'utf8'));
    assert.ok(Number(setting('TimeoutStopSec')[0]) * 1_000 >= durationMs(listen.drain) + STOPPING_MS);
  });

  it('is installed by the commands of the README', () => {
    const commands = read('README.md');
    assert.ok(installed.startsWith('/opt/turnpike/') && commands.includes('--prefix /opt/turnpike turnpike@'));
    assert.ok(existsSync(join(ROOT, installed.split('node_modules/turnpike/')[1]!)));
    const variables = setting('Environment').map((each) => each.split('=') as [string, string]);
    for (const [name] of variables)
      assert.ok(name === 'NODE_ENV' || documented.includes(name), `no code reads ${name}`);
    for (const path of [setting('LoadCredential')[0]!.split(':')[1]!, '/var/lib/turnpike/', '--system --home-dir'])
      assert.ok(commands.includes(path), path);
  });

  it('starts a gateway with its master key from the credential, and stops it with its signal', async () => {
    const port = await freePort();
    const config = join(folder, 'gateway.yaml');
    writeFileSync(config, readFileSync(join(ROOT, 'gateway.yaml'), 'utf8').replace('port: 8080', `port: ${port}`));
    const credential = setting('LoadCredential')[0]!.split(':')[0]!;
    // systemd gives the service's user access by a list, which shows as a mode of the group.
    writeFileSync(join(folder, credential), `${randomBytes(32).toString('base64')}\n`, { mode: 0o440 });
    const env = Object.fromEntries(setting('Environment').map((each) => each.replace('%d', folder).split('=')));
    const args = words.map((word) => word.replace(installed, join(ROOT, 'scripts/turnpike.mjs')));
    const answers = async (): Promise<boolean> =>
      (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok === true;
    const server = await startServer([process.execPath, ...args], answers, {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env, TURNPIKE_CONFIG: config },
    });
    assert.equal(await server.stop('SIGTERM'), 0);
    assert.deepEqual(
      [existsSync(join(folder, 'data/turnpike.db')), existsSync(join(folder, 'data/turnpike.db.key'))],
      [true, false],
    );
  });
});

describe('the Caddyfile', () => {
  const text = read('Caddyfile');
  const { listen } = parse(readFileSync(join(ROOT, 'gateway.yaml'), 'utf8'));

  it('forwards to the shipped configuration, unbuffered, bodies as large as it accepts', () => {
    assert.match(text, new RegExp(`^\\treverse_proxy ${listen.host}:${listen.port} \\{$`, 'm'));
    assert.match(text, /^\t\tflush_interval -1$/m);
    const [, megabytes] = /^\t\tmax_size (\d+)MB$/m.exec(text)!;
    assert.ok(Number(megabytes) > Number.parseInt(listen.body.upload, 10));
  });

  it('closes every block', () => {
    const lines = text.split('\n').filter((line) => !/^\s*#/.test(line));
    let depth = 0;
    for (const line of lines) {
      if (line.trim() === '}') depth--;
      assert.equal(/^\t*/.exec(line)![0].length, line === '' ? 0 : depth, line);
      if (line.endsWith('{')) depth++;
    }
    assert.equal(depth, 0);
  });
});

describe('the image', () => {
  const lines = read('Dockerfile').replaceAll('\\\n', ' ').split('\n');
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM')));
  const word = (name: string): string => last.find((line) => line.startsWith(`${name} `))!.slice(name.length + 1);
  const list = (text: string): readonly [string, ...string[]] => JSON.parse(text.slice(text.indexOf('[')));
  let folder: string;
  let app: string;

  /** What the last stage copies, with the packages that `npm prune --omit=dev` leaves. */
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-image-'));
    app = join(folder, 'app');
    mkdirSync(app);
    execFileSync(process.execPath, ['scripts/build.mjs', '--if-stale'], { cwd: ROOT, stdio: 'ignore' });
    for (const line of last) {
      const words = /^COPY --from=build (.+)$/.exec(line)?.[1]?.split(' ');
      if (words === undefined) continue;
      for (const source of words.slice(0, -1)) {
        const name = source.replace('/app/', '');
        assert.ok(words.at(-1) === name || words.at(-1) === './', `${line} copies to another place`);
        if (name === 'node_modules') keptPackages(join(app, name));
        else cpSync(join(ROOT, name), join(app, name), { recursive: true, preserveTimestamps: true });
      }
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('is built by steps of package.json, from folders that are there', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    for (const line of lines) {
      const script = /^RUN npm run (\S+)/.exec(line)?.[1];
      if (script !== undefined) assert.ok(script in scripts, line);
      const sources = /^COPY (?!--from)(.+) \S+$/.exec(line)?.[1]?.split(' ') ?? [];
      for (const source of sources) assert.ok(existsSync(join(ROOT, source)), line);
    }
    const ignored = read('Dockerfile.dockerignore').split('\n');
    for (const source of ['package.json', 'package-lock.json', 'gateway.yaml', 'core', 'plugins', 'console', 'scripts'])
      assert.ok(ignored.includes(`!${source}`), source);
  });

  it('accepts its own configuration, which a cluster mounts another one over', () => {
    const [from, to] = last
      .find((line) => line.startsWith('COPY scripts'))!
      .split(' ')
      .slice(1) as [string, string];
    assert.ok(word('ENV').includes(`TURNPIKE_CONFIG=${to}`));
    const env = { ...process.env, DATABASE_URL: 'postgres://a@b/c', VALKEY_URL: 'redis://b' };
    const { status, stderr } = spawnSync(process.execPath, ['scripts/turnpike.mjs', 'check', '--config', from], {
      cwd: app,
      env,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
  });

  it('serves with nothing but what it holds, says when it is healthy, and stops well on its signal', async () => {
    const port = await freePort();
    const config = join(folder, 'gateway.yaml');
    writeFileSync(config, readFileSync(join(ROOT, 'gateway.yaml'), 'utf8').replace('port: 8080', `port: ${port}`));
    const env = { PATH: process.env.PATH, TURNPIKE_CONFIG: config, PORT: `${port}`, NODE_ENV: 'production' };
    const [program, ...args] = list(word('CMD'));
    const [healthProgram, ...healthArgs] = list(last.find((line) => line.startsWith('HEALTHCHECK'))!);
    assert.deepEqual([program, healthProgram], ['node', 'node']);
    const isHealthy = (): boolean => spawnSync(process.execPath, healthArgs, { cwd: app, env }).status === 0;

    assert.equal(isHealthy(), false);
    const server = await startServer([process.execPath, ...args], async () => isHealthy(), { cwd: app, env });
    const page = await fetch(`http://127.0.0.1:${port}/console`);
    assert.equal(page.status, 200);
    assert.equal(await server.stop(word('STOPSIGNAL') as NodeJS.Signals), 0);
  });

  const mounts = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;
  it('serves from a read-only root with nothing else of the machine, as a user who is not root', {
    skip: !mounts && 'this user cannot make a root',
  }, async () => {
    const root = join(folder, 'root');
    const data = join(folder, 'volume');
    for (const name of ['app', 'data', 'dev', 'etc/turnpike', 'proc', 'tmp', 'usr/local/bin'])
      mkdirSync(join(root, name), { recursive: true });
    mkdirSync(data, { mode: 0o700 });
    chownSync(data, USER_ID, USER_ID);
    copyFileSync(process.execPath, join(root, 'usr/local/bin/node'));
    for (const library of librariesOf(process.execPath)) {
      mkdirSync(dirname(join(root, library)), { recursive: true });
      copyFileSync(realpathSync(library), join(root, library));
    }
    const port = await freePort();
    writeFileSync(
      join(root, 'etc/turnpike/gateway.yaml'),
      readFileSync(join(ROOT, 'gateway.yaml'), 'utf8')
        .replace('port: 8080', `port: ${port}`)
        .replace('./data/', '/data/'),
    );
    const variables = word('ENV')
      .split(' ')
      .map((each) => each.split('='));
    const env = {
      PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
      PORT: `${port}`,
      ...Object.fromEntries(variables),
    };
    const inside = (command: readonly string[]): [string, ...string[]] => {
      const enter = [
        'unshare',
        `--root=${root}`,
        `--wd=${word('WORKDIR')}`,
        `--setgid=${USER_ID}`,
        `--setuid=${USER_ID}`,
      ];
      return ['unshare', '--mount', 'sh', '-ec', MOUNTS, 'sh', root, app, data, ...enter, ...command];
    };
    const health = list(last.find((line) => line.startsWith('HEALTHCHECK'))!);
    const isHealthy = async (): Promise<boolean> => {
      const [program, ...args] = inside(health);
      return spawnSync(program, args, { env }).status === 0;
    };
    const server = await startServer(inside(list(word('CMD'))), isHealthy, { env });
    assert.equal((await fetch(`http://127.0.0.1:${port}/console`)).status, 200);
    assert.equal(await server.stop(word('STOPSIGNAL') as NodeJS.Signals), 0);
    assert.ok(existsSync(join(data, 'turnpike.db')));
    assert.ok(!existsSync(join(app, 'data')));
  });

  it('runs as somebody who is not root, as Kubernetes is told', () => {
    assert.equal(word('USER'), 'node');
    assert.equal(pod.securityContext.runAsNonRoot, true);
    assert.equal(container.securityContext.readOnlyRootFilesystem, true);
  });
});

/** The user `node` of the image. */
const USER_ID = 1000;

/** Mounts what a container has into a root, `$1`, makes it read-only, and runs the rest of the words; `$2`: the application, `$3`: its data. */
const MOUNTS = `mount --bind "$1" "$1"
mount --bind "$2" "$1/app"
mount -o remount,bind,ro "$1/app"
mount --bind "$3" "$1/data"
mount --rbind /dev "$1/dev"
mount --rbind /proc "$1/proc"
mount -t tmpfs tmpfs "$1/tmp"
mount -o remount,bind,ro "$1"
shift 3
exec "$@"`;

/** The libraries that a program loads. */
function librariesOf(program: string): readonly string[] {
  const { stdout } = spawnSync('ldd', [program], { encoding: 'utf8' });
  return [...stdout.matchAll(/^\s*(?:\S+ => )?(\/\S+) \(/gm)].map(([, path = '']) => path);
}

/** The packages of package-lock.json that are no development dependencies. */
function keptPackages(folder: string): void {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  for (const [path, { dev }] of Object.entries<{ readonly dev?: boolean }>(packages)) {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1];
    if (name === undefined || dev || !existsSync(join(ROOT, path))) continue;
    cpSync(join(ROOT, path), join(folder, name), { recursive: true });
  }
}
