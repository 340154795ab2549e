/** `turnpike init`: writes a configuration of the operator's own, which no update of the gateway changes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../plugin.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, '');
/** The line of the shipped gateway.yaml that tells editors its schema. */
const SCHEMA = '$schema=./core/schema.json';
/** Its lines that tell who reaches the gateway under which address. */
const SITE = '  url: http://localhost:8080 ';
const PROXY = '  # trustProxy: [127.0.0.1] ';
/** Variables of `gateway.yaml` in lines that are no comments: name, and whether a channel has it as its key. */
const VARIABLE = /^(?!\s*#).*?(\bkey: )?"?\$\{([A-Z]\w*)[:}]/gm;

/**
 * Writes `gateway.yaml` and `.env` into `folder`, which is created if it does not exist, and returns the next steps for the user. Throws if there is
 * a `gateway.yaml`; a `.env` that exists is kept. `url`: the https address of a proxy on this machine, which is trusted.
 */
export function newConfiguration(
  folder: string,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
  url?: string,
): string {
  if (url !== undefined && !/^https:\/\/[^\s/?#]+$/.test(url))
    throw new UsageError(`--url: ${url} is not an https address without a path, such as https://gateway.example.com`);
  const place = resolve(cwd, folder);
  const shipped = readFileSync(join(ROOT, 'gateway.yaml'), 'utf8');
  const variables = [...shipped.matchAll(VARIABLE)].flatMap(([, key, name = '']) => (key === undefined ? [] : [name]));
  mkdirSync(place, { recursive: true });
  const schema = relative(place, join(ROOT, 'core/schema.json')).split(sep).join('/');
  const file = join(place, 'gateway.yaml');
  const own = shipped.replace(SCHEMA, `$schema=${schema}`);
  const text =
    url === undefined ? own : own.replace(SITE, () => `  url: ${url} `).replace(PROXY, PROXY.replace('# ', ''));
  if (!writeNew(file, text))
    throw new Error(`${file} exists already, and init overwrites nothing: name another folder`);
  const isNew = writeNew(join(place, '.env'), secretsOf(variables), 0o600);

  const near = relative(cwd, place);
  const command = (word: string): string =>
    `${program()} ${word}${near === '' ? '' : ` --config ${join(near, 'gateway.yaml')}`}`;
  const set = variables.filter((name) => env[name]);
  return [
    `wrote ${join(near, 'gateway.yaml')}${isNew ? ` and ${join(near, '.env')}` : `; ${join(near, '.env')} exists and was kept`}`,
    set.length > 0
      ? `these channels are on, because the environment has their keys: ${set.join(', ')}`
      : `write your vendors' keys into ${join(near, '.env')}: ${variables.join(', ')}; the model \`demo\` needs none`,
    `check it:  ${command('check')}`,
    `start it:  ${command('start')}`,
  ].join('\n');
}

/** Writes a file that does not exist; false if it exists. */
function writeNew(file: string, text: string, mode = 0o666): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx', mode });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function secretsOf(keys: readonly string[]): string {
  return `# The secrets of gateway.yaml. Turnpike reads this file when it starts; variables of the environment take precedence.
# Keep its mode 0600: only its owner can read it.

# Keys of vendors. A channel with an empty key is off.
${keys.map((name) => `# ${name}=\n`).join('')}
# The password of root, for the first start only. Without it, a random one is printed.
# TURNPIKE_ROOT_PASSWORD=
`;
}

/** How this package is called in a shell: npx finds an installed one by the command, otherwise it needs the package's name. */
function program(): string {
  const { name } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly name: string };
  return `npx ${ROOT.includes(`${sep}_npx${sep}`) ? name : 'turnpike'}`;
}
