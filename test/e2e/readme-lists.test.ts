/** What the READMEs list is so: commands, styles, quirks, errors, variables, files and links exist. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { quirksSchema, USUAL } from '../../core/translation/quirks.ts';
import { turnpike } from '../kit/process.ts';
import { CORE_README, PLUGINS_README, README, ROOT, type Section, SHIPPED_CONFIG } from './readme-kit.ts';

describe('the tables and links of the README', () => {
  it('name commands that `turnpike help` lists, with options that they have', async () => {
    const { stdout } = await turnpike(['help', '--config', SHIPPED_CONFIG]);
    const table = README.slice(README.indexOf('| Command |'), README.indexOf('Exit codes:'));
    const commands = table
      .split('\n')
      .slice(2)
      .flatMap((row) => [...(row.split(/(?<!\\)\|/)[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, words = '']) => words));
    assert.ok(commands.length >= 11, commands.join('; '));
    for (const command of commands) {
      const name = /^[a-z]+(?: [a-z]+)?/.exec(command)?.[0] ?? '';
      assert.match(stdout, new RegExp(`^  ${name}( |$)`, 'm'), command);
      for (const [option = ''] of command.matchAll(/--[a-z-]+/g)) {
        assert.match(stdout, new RegExp(`^ +${name} .*\\[${option}[ \\]]`, 'm'), `${option} of ${command}`);
      }
    }
  });

  it('say which styles each vendor speaks, and everything a key may ask for', async () => {
    const { stdout } = await turnpike(['check', '--config', SHIPPED_CONFIG]);
    const lineOf = (name: string): string => new RegExp(`^${name} +(.+)$`, 'm').exec(stdout)?.[1] ?? '';
    const section = README.slice(README.indexOf('## Four styles, any model'), README.indexOf('### What cannot be'));
    // What ends in a colon is the name of a field.
    const code = (cell: string): readonly string[] =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word).filter((word) => !word.endsWith(':'));
    const rows = [...section.matchAll(/^\| (`.+?`) \| (.+) \|$/gm)].map(([, key = '', cell = '']) => [
      code(key),
      code(cell),
    ]);

    const speaks = [...lineOf('vendors').matchAll(/(\w+) \(([\w ]+)\)/g)];
    assert.equal(speaks.length, 5);
    for (const [, vendor = '', styles = ''] of speaks) {
      const [, told] = rows.find(([key]) => key?.[0] === vendor) ?? [];
      // The first one is spoken to clients of others, so the order counts where nobody can choose.
      const order = (list: readonly string[]): readonly string[] => (vendor === 'compatible' ? list.toSorted() : list);
      assert.deepEqual(order(told ?? []), order(styles.split(' ')), vendor);
    }

    const paths = rows.flatMap(([key = []]) => key).filter((word) => word.includes('/'));
    const routes = [...lineOf('routes').matchAll(/(\w+ \S+) \[key\]/g)].map(([, route = '']) => route.replace('*', ''));
    assert.ok(routes.length >= 9, String(routes));
    for (const route of routes) assert.ok(paths.includes(route), route);
    for (const path of paths.filter((each) => !routes.includes(each))) {
      const style = rows.find(([key]) => key?.includes(path))?.[1]?.[0] ?? '';
      assert.ok(lineOf('styles').split(' ').includes(style), path);
    }
  });

  it('have a line for every quirk, with what is usual and every word it may be', () => {
    const section = PLUGINS_README.slice(PLUGINS_README.indexOf('## Quirks'), PLUGINS_README.indexOf('## A style'));
    const rows = new Map(
      [...section.matchAll(/^\| `([\w.]+)` \| ?(.*?) \| (.+) \|$/gm)].map(([, key = '', ...cells]) => [key, cells]),
    );
    const groups = Object.entries(quirksSchema.properties as Readonly<Record<string, Section>>);
    const keys = groups.flatMap(([name, { properties, ...own }]) =>
      properties === undefined
        ? [[name, own] as const]
        : Object.entries(properties as Readonly<Record<string, Section>>).map(
            ([key, each]) => [`${name}.${key}`, each] as const,
          ),
    );
    assert.deepEqual(
      [...rows.keys()],
      keys.map(([key]) => key),
    );
    for (const [key, { enum: words, items }] of keys) {
      const [usual = '', says = ''] = rows.get(key)!;
      assert.equal(usual, shown(key.split('.').reduce<unknown>((at, name) => (at as Section)[name], USUAL)), key);
      for (const word of (words ?? (items as Section | undefined)?.enum ?? []) as string[])
        assert.ok(says.includes(`\`${word}\``), `${word} of ${key}`);
    }
  });

  it('lead to files, headings and scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly scripts: Section };
    for (const [path, text] of [
      ['README.md', README],
      ['plugins/README.md', PLUGINS_README],
      ['core/README.md', CORE_README],
    ] as const) {
      for (const [, link = ''] of text.matchAll(/\]\(([^)]+)\)/g)) {
        const [target = '', anchor] = (link.startsWith('#') ? basename(path) + link : link).split('#');
        const file = join(ROOT, dirname(path), target);
        assert.ok(existsSync(file), `${path} links to ${link}`);
        if (anchor !== undefined) assert.ok(anchorsOf(readFileSync(file, 'utf8')).includes(anchor), link);
      }
      for (const [, script = ''] of text.matchAll(/npm run (?:-s )?([a-z]+)/g)) assert.ok(script in scripts, script);
    }
  });
});

/** A usual value as the table of quirks writes it. */
function shown(value: unknown): string {
  if (value === undefined) return '';
  if (value === USUAL.sampling.allowed) return 'all';
  if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) return 'none';
  if (Array.isArray(value)) return value.map((each) => `\`${each}\``).join(', ');
  return value === ' ' ? '`" "`' : `\`${value}\``;
}

/** The sources of a room that runs, by their paths. */
function sources(room: 'core' | 'plugins'): readonly (readonly [path: string, text: string])[] {
  return readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [join(room, name), readFileSync(join(ROOT, room, name), 'utf8')]);
}

describe('what the READMEs list', () => {
  const code = [...sources('core'), ...sources('plugins')];
  /** Told by commands alone, which show the words and no code. */
  const OF_COMMANDS = ['audit_broken', 'backup_unusable', 'file_exists', 'layer_not_found'];
  /** Steps of a list that is refused with their `must`. */
  const OF_STEPS = /must: '(ticket_used)'/g;

  it('are the codes of all errors, with their statuses', () => {
    const made = new Map<string, Set<string>>();
    const make = (name: string, status: string | undefined): void => {
      const statuses = made.get(name) ?? new Set();
      made.set(name, status === undefined ? statuses : statuses.add(status));
    };
    for (const [, text] of code) {
      for (const [, status = '', name = ''] of text.matchAll(/(?:GatewayError|refuse)\(\s*([^;]*?),\s*'(\w+)'/g))
        for (const each of status.match(/\b[45]\d\d\b(?= |$)/g) ?? [undefined]) make(name, each);
      for (const [, name = ''] of text.matchAll(/refuseKey\(\s*'(\w+)'/g)) make(name, '401');
      for (const [, status, name = ''] of text.matchAll(/\[(\d{3}), '(\w+)'\]/g)) make(name, status);
      for (const [, name = ''] of text.matchAll(/'(QUOTA_\w+)'/g)) make(name, '403');
      for (const [, name = ''] of text.matchAll(OF_STEPS)) make(name, '409');
    }
    assert.ok(made.size > 45, `${made.size} codes`);
    const section = README.slice(README.indexOf('## What an error says'), README.indexOf('## The command line'));
    const told = new Map<string, Set<string>>();
    for (const [, statuses = '', names = ''] of section.matchAll(/^\| ([\d, ]+) \| (`.+?`) \|/gm)) {
      for (const [, name = ''] of names.matchAll(/`(\w+)`/g))
        told.set(name, new Set([...(told.get(name) ?? []), ...statuses.split(', ')]));
    }
    // Its status is the vendor's.
    assert.ok(section.includes('`upstream_refused`'));
    const shown = [...made.keys()].filter((name) => !OF_COMMANDS.includes(name) && name !== 'upstream_refused');
    assert.deepEqual([...told.keys()].sort(), shown.sort());
    for (const [name, statuses] of told)
      for (const status of made.get(name)!) assert.ok(statuses.has(status), `${status} ${name}`);
    for (const name of OF_COMMANDS) assert.ok(made.has(name), name);
  });

  it('are the variables that are read from the environment', () => {
    const read = code.flatMap(([, text]) => text.match(/\benv\.TURNPIKE_\w+/g) ?? []);
    const told = README.match(/^\| `TURNPIKE_\w+`/gm) ?? [];
    assert.deepEqual(
      [...new Set(read.map((name) => name.slice('env.'.length)))].sort(),
      told.map((row) => row.slice(3, -1)).sort(),
    );
  });

  it('are the files of core, each with what it is for', () => {
    const table = CORE_README.slice(CORE_README.indexOf('## File by file'), CORE_README.indexOf('## Generations'));
    const told = [...table.matchAll(/`([\w-]+\.ts)`/g)].map(([, name]) => name);
    for (const [path] of sources('core')) if (dirname(path) === 'core') assert.ok(told.includes(basename(path)), path);
    for (const name of told) assert.ok(existsSync(join(ROOT, 'core', name!)), name);
  });

  it('are the files of the translation', () => {
    const start = CORE_README.indexOf('| `translation/` ');
    const table = CORE_README.slice(start, CORE_README.indexOf('## File by file'));
    const told = [...table.matchAll(/^\| (.+?) \|/gm)].flatMap(([, files = '']) => files.match(/[\w-]+\.ts/g) ?? []);
    const files = sources('core').flatMap(([path]) => (dirname(path) === 'core/translation' ? [basename(path)] : []));
    assert.deepEqual(told.toSorted(), files.toSorted());
  });
});

/** The anchors that headings get where such pages are shown. */
function anchorsOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  );
}
