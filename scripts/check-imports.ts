/** The rule of who may import whom, that nothing imports itself in a circle when it runs, and that core knows no brand. Part of `npm test`. */
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';

/** The only rooms that may use a package. */
const PACKAGE_ROOMS: Readonly<Record<string, readonly string[]>> = {
  '@pydantic/genai-prices': ['plugins/quota'],
  '@redis/client': ['plugins/counters'],
  '@simplewebauthn/server': ['plugins/second-factors'],
  ajv: ['core'],
  'alipay-sdk': ['plugins/payments'],
  'eventsource-parser': ['core'],
  'better-sqlite3': ['plugins/stores'],
  'better-sqlite3-13': ['plugins/stores'],
  busboy: ['plugins/styles'],
  'fastest-levenshtein': ['core', 'plugins'],
  'http-proxy-3': ['core'],
  'import-meta-resolve': ['core'],
  'lru-cache': ['plugins/keys', 'plugins/counters', 'plugins/log'],
  nodemailer: ['plugins/mail'],
  pg: ['plugins/stores'],
  'openid-client': ['plugins/oauth'],
  otplib: ['plugins/second-factors'],
  'prom-client': ['plugins/metrics'],
  qrcode: ['plugins/console', 'plugins/second-factors'],
  re2js: ['core'],
  stripe: ['plugins/payments'],
  tsx: ['plugins/stores', 'scripts'],
  undici: ['core'],
  yaml: ['core'],
};
/** What the console is made of; none of it runs in the gateway. */
const BROWSER_PACKAGES: readonly string[] = [
  '@mantine/core',
  '@mantine/form',
  '@mantine/hooks',
  '@mantine/notifications',
  '@mantine/spotlight',
  '@simplewebauthn/browser',
  '@tabler/icons-react',
  '@tanstack/react-query',
  'react',
  'react-dom',
  'uplot',
  'wouter',
  'yaml',
];
const BRANDS = /openai|anthropic|gemini|stripe|creem|alipay|epay|github|claude|google|groq|mistral|deepseek/i;
/** `import … from '…'`, `export … from '…'`, `import '…'`. */
const STATEMENT = /^(?:import|export)\b(?:[^;'"]*\bfrom)?\s*'([^']+)'/gm;
/** What a statement imports is there for types only, and gone when the program runs. */
const TYPES_ONLY = /^(?:import|export)\s+(?:type\b|\{(?:\s*type\s[^,}]*,?)+\s*\})/;
/** Of each file, what it imports when it runs; imports that are made later, by `import(…)`, close no circle. */
const running = new Map<string, readonly string[]>();
const builtins = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]));
const problems: string[] = [];

for (const room of ['core', 'plugins', 'console/src', 'scripts', 'test']) {
  for (const name of readdirSync(room, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(tsx?|mjs)$/.test(name)) continue;
    const file = join(room, name);
    const text = readFileSync(file, 'utf8');
    const imports: string[] = [];
    for (const [statement, from = ''] of text.matchAll(STATEMENT)) {
      checkImport(file, from);
      if (from.startsWith('.') && !TYPES_ONLY.test(statement))
        imports.push(relative('.', resolve(dirname(file), from)));
    }
    running.set(file, imports);
    for (const [, from = ''] of text.matchAll(/\bimport\('([^']+)'\)/g)) checkImport(file, from);
    if (room === 'core' && BRANDS.test(text)) problems.push(`${file}: core names a vendor's brand`);
  }
}

checkCircles();

/** In a circle, which file comes first depends on who is asked first: what one of them needs at once may not be there yet. */
function checkCircles(): void {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const begin = path.indexOf(file);
    if (begin >= 0) problems.push(`${[...path.slice(begin), file].join(' imports ')}: that is a circle`);
    if (begin >= 0 || done.has(file)) return;
    for (const next of running.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of running.keys()) visit(file, []);
}

/** The plugin a file belongs to: `plugins/vendors/demo`, `plugins/keys`. */
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
    const open = target === 'core/plugin.ts' || target.startsWith('core/contracts/');
    if (toRoom === 'core' && !open)
      problems.push(`${file}: a plugin imports ${target}; only core/plugin.ts and core/contracts are for plugins`);
    if (toRoom === 'plugins' && pluginOf(target) !== pluginOf(file))
      problems.push(`${file}: one plugin imports another: ${target}`);
    if (toRoom !== 'core' && toRoom !== 'plugins') problems.push(`${file}: a plugin imports ${target}`);
  }
  if (fromRoom === 'console' && toRoom !== 'console') problems.push(`${file}: the console imports ${target}`);
  // SQLite comes in two versions, and one place knows which of them runs here.
  if (file.startsWith('test/kit/') && toRoom === 'plugins' && target !== 'plugins/stores/sqlite/binding.ts')
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
