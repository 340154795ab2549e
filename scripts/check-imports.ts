/**
 * Checks imports: the rules between folders and packages, no import cycle, and no brand in core. Part of `npm test`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';

/** What the kit may import of a plugin: which SQLite is used, and what its file has beside its rows. */
const READ_BY_KIT = ['plugins/stores/sqlite/binding.ts', 'plugins/stores/sqlite/additions.ts'];

/** What a plugin may import from core, in addition to the contracts. */
const OPEN_TO_PLUGINS = ['core/plugin.ts', 'core/sdk.ts', 'core/translation/index.ts'];

/** The rooms of core, from the lowest floor up: a file imports its own room, and rooms below it. */
const FLOORS: readonly string[] = [
  ...[
    'runtime',
    'helpers',
    'contracts',
    'bytes',
    'plugin.ts',
    'sdk',
    'text-search',
    'upstream',
    'outgoing',
    'translation',
  ],
  ...[
    'config',
    'store',
    'http',
    'incoming',
    'call',
    'delivery',
    'passthrough',
    'assembly',
    'cluster',
    'server',
    'workers',
  ],
  ...['operations', 'gateway', 'cli', 'sdk.ts'],
];

/** The most files of a folder of core, of the console and of the three large styles, besides its README. */
const MOST_FILES = 12;
const LIMITED = /^(core|plugins\/(console|styles\/(chat|messages|responses)))(\/|$)/;
/** Folders with more: a flat list of contracts, one for each service. */
const LARGER: Readonly<Record<string, number>> = { 'core/contracts': 50 };

/** The only folders that may use a package. */
const PACKAGE_ROOMS: Readonly<Record<string, readonly string[]>> = {
  '@noble/ciphers': ['plugins/import'],
  '@opentelemetry/api': ['plugins/telemetry'],
  '@opentelemetry/core': ['plugins/telemetry'],
  '@opentelemetry/exporter-metrics-otlp-http': ['plugins/telemetry'],
  '@opentelemetry/exporter-trace-otlp-http': ['plugins/telemetry'],
  '@opentelemetry/resources': ['plugins/telemetry'],
  '@opentelemetry/sdk-metrics': ['plugins/telemetry'],
  '@opentelemetry/sdk-trace-base': ['plugins/telemetry'],
  '@pydantic/genai-prices': ['plugins/prices'],
  '@redis/client': ['plugins/counters'],
  '@simplewebauthn/server': ['plugins/second-factors'],
  ajv: ['core'],
  'alipay-sdk': ['plugins/payments'],
  aws4fetch: ['core/operations', 'plugins/events'],
  'eventsource-parser': ['core'],
  'better-sqlite3': ['plugins/stores', 'plugins/import'],
  'better-sqlite3-13': ['plugins/stores', 'plugins/import'],
  bcryptjs: ['plugins/accounts'],
  busboy: ['plugins/styles', 'plugins/vendors'],
  'fastest-levenshtein': ['core', 'plugins'],
  'http-proxy-3': ['core'],
  'import-meta-resolve': ['core'],
  'lru-cache': ['plugins/keys', 'plugins/counters', 'plugins/log', 'plugins/cache'],
  mysql2: ['plugins/import'],
  nodemailer: ['plugins/mail'],
  pg: ['plugins/stores', 'plugins/import'],
  'openid-client': ['plugins/oauth'],
  otplib: ['plugins/second-factors'],
  'prom-client': ['plugins/metrics'],
  qrcode: ['plugins/console', 'plugins/second-factors'],
  re2js: ['core'],
  stripe: ['plugins/payments'],
  tsx: ['plugins/stores', 'scripts'],
  undici: ['core'],
  diff: ['core'],
  yaml: ['core', 'plugins/import'],
};
/**
 * The packages of the console; of these, `diff`, `eventsource-parser` and `yaml` run in the gateway, too. `~icons` are the icons that its build takes
 * from Tabler's data.
 */
const BROWSER_PACKAGES: readonly string[] = [
  '@mantine/core',
  '@mantine/form',
  '@mantine/hooks',
  '@mantine/notifications',
  '@mantine/spotlight',
  '@simplewebauthn/browser',
  '@tanstack/react-query',
  'diff',
  'eventsource-parser',
  'react',
  'react-dom',
  'uplot',
  'wouter',
  'yaml',
  '~icons',
];
const BRANDS = /openai|anthropic|gemini|stripe|creem|alipay|epay|github|claude|google|groq|mistral|deepseek/i;
/** `import … from '…'`, `export … from '…'`, `import '…'`. */
const STATEMENT = /^(?:import|export)\b(?:[^;'"]*\bfrom)?\s*'([^']+)'/gm;
/** A statement that imports only types, which are removed at run time. */
const TYPES_ONLY = /^(?:import|export)\s+(?:type\b|\{(?:\s*type\s[^,}]*,?)+\s*\})/;
/** The run-time imports of each file. Dynamic imports (`import(…)`) run later and close no cycle. */
const running = new Map<string, readonly string[]>();
/** The imports of each file, types included. */
const imported = new Map<string, readonly string[]>();
const builtins = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]));
const problems: string[] = [];

for (const room of ['core', 'plugins', 'console/src', 'scripts', 'test']) {
  for (const name of readdirSync(room, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(tsx?|mjs)$/.test(name) || /^(node_modules|dist)\b/.test(name)) continue;
    const file = join(room, name);
    const text = readFileSync(file, 'utf8');
    const imports: string[] = [];
    const values: string[] = [];
    for (const [statement, from = ''] of text.matchAll(STATEMENT)) {
      checkImport(file, from);
      if (!from.startsWith('.')) continue;
      const target = relative('.', resolve(dirname(file), from));
      imports.push(target);
      if (!TYPES_ONLY.test(statement)) values.push(target);
    }
    imported.set(file, imports);
    running.set(file, values);
    for (const [, from = ''] of text.matchAll(/\bimport\('([^']+)'\)/g)) checkImport(file, from);
    if (room === 'core' && BRANDS.test(text)) problems.push(`${file}: core names a vendor's brand`);
  }
}

checkCycles();
checkJsonParse();
checkRooms();

/** That rooms of core have a floor, import none that is above, and stay small enough to be read at a glance. */
function checkRooms(): void {
  const sizes = new Map<string, number>();
  for (const [file, targets] of imported) {
    if (LIMITED.test(file)) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
    if (!file.startsWith('core/')) continue;
    const own = floorOf(file);
    for (const target of targets) if (floorOf(target) > own) problems.push(`${file}: ${target} is on a higher floor`);
  }
  for (const [folder, size] of sizes)
    if (size > (LARGER[folder] ?? MOST_FILES)) problems.push(`${folder}: ${size} files are too many for one folder`);
}

/** The floor of a file of core; a room without one is a problem. */
function floorOf(file: string): number {
  const room = file.split('/')[1] ?? '';
  const floor = FLOORS.indexOf(room);
  if (floor === -1) problems.push(`${file}: core/${room} has no floor in scripts/check-imports.ts`);
  return floor;
}

/** Where a process, a thread or another program comes in; all of them must mend `JSON.parse` where Node needs it. */
function checkJsonParse(): void {
  const isThread = (file: string): boolean =>
    file.startsWith('plugins/') && /^import [^\n]*\bparentPort\b/m.test(readFileSync(file, 'utf8'));
  const parses = (file: string): boolean => readFileSync(file, 'utf8').includes('JSON.parse');
  const entries = [
    ...['core/cli/main.ts', 'core/gateway/gateway.ts', 'core/plugin.ts', 'core/translation/index.ts'],
    ...['core/gateway/worker-process.ts', 'core/operations/backups/process.ts'],
    ...[...running.keys()].filter((file) => isThread(file)),
  ];
  for (const entry of entries) {
    const reached = reachedFrom(entry);
    if (!reached.has('core/bytes/json-parse.ts') && [...reached].some(parses))
      problems.push(`${entry}: parses JSON and does not import core/bytes/json-parse.ts first`);
  }
}

/** A file and all that it imports at run time. */
function reachedFrom(file: string): ReadonlySet<string> {
  const reached = new Set([file]);
  for (const each of reached) for (const next of running.get(each) ?? []) if (running.has(next)) reached.add(next);
  return reached;
}

/** At run time, the order of evaluation would depend on the first importer; of types, none could be read before the others. */
function checkCycles(): void {
  for (const cycle of cyclesOf(running)) problems.push(`an import cycle: ${cycle.join(', ')}`);
  for (const cycle of cyclesOf(imported)) problems.push(`a cycle of type imports: ${cycle.join(', ')}`);
}

/** The strongly connected components with more than one file (Tarjan). */
function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const cycles: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file)!);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!graph.has(next)) continue;
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(file, Math.min(low.get(file)!, low.get(next)!));
    }
    if (low.get(file) !== index.get(file)) return;
    const cycle = stack.splice(stack.lastIndexOf(file));
    if (cycle.length > 1) cycles.push(cycle);
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return cycles;
}

/** The plugin of a file: `plugins/vendors/demo`, `plugins/keys`. */
function pluginOf(path: string): string {
  const depth = /^plugins\/(vendors|stores)\//.test(path) ? 3 : 2;
  return path.split('/').slice(0, depth).join('/');
}

function checkImport(file: string, from: string): void {
  if (builtins.has(from)) return;
  if (!from.startsWith('.')) {
    checkPackage(file, from);
    return;
  }
  const target = relative('.', resolve(dirname(file), from));
  const [fromRoom, toRoom] = [file.split('/')[0], target.split('/')[0]];
  if (fromRoom === 'core' && toRoom !== 'core') problems.push(`${file}: core imports ${target}`);
  if (fromRoom === 'plugins') {
    const open = OPEN_TO_PLUGINS.includes(target) || target.startsWith('core/contracts/');
    if (toRoom === 'core' && !open)
      problems.push(
        `${file}: a plugin imports ${target}; only ${OPEN_TO_PLUGINS.join(', ')} and core/contracts are for plugins`,
      );
    if (toRoom === 'plugins' && pluginOf(target) !== pluginOf(file))
      problems.push(`${file}: one plugin imports another: ${target}`);
    if (toRoom !== 'core' && toRoom !== 'plugins') problems.push(`${file}: a plugin imports ${target}`);
  }
  if (fromRoom === 'console' && toRoom !== 'console') problems.push(`${file}: the console imports ${target}`);
  if (file.startsWith('test/kit/') && toRoom === 'plugins' && !READ_BY_KIT.includes(target))
    problems.push(`${file}: the kit imports a plugin: ${target}`);
}

function checkPackage(file: string, from: string): void {
  const name = from.startsWith('@') ? from.split('/').slice(0, 2).join('/') : from.split('/')[0]!;
  if (/^(test|scripts)\//.test(file)) return;
  if (file.startsWith('console/')) {
    if (!BROWSER_PACKAGES.includes(name)) problems.push(`${file}: the package ${name} is none of the console's`);
    return;
  }
  const rooms = PACKAGE_ROOMS[name];
  if (rooms === undefined) problems.push(`${file}: the package ${name} has no room in scripts/check-imports.ts`);
  else if (!rooms.some((room) => file.startsWith(`${room}/`)))
    problems.push(`${file}: ${name} belongs to ${rooms.join(', ')}`);
}

if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exitCode = 1;
}
