/** What the documentation says is so: commands, styles, quirks, errors, variables, files, links and blocks of code. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { planFrom } from '../../../core/assembly/assemble.ts';
import { quirksSchema, USUAL } from '../../../core/translation/quirks/quirks.ts';
import { CHANNEL_FIELDS } from '../../../plugins/models/sections.ts';
import { made } from '../../../scripts/errors.ts';
import { turnpike } from '../../kit/gateway/process.ts';
import { BLOCKS, codeIn, PAGES, page, ROOT, type Section, SHIPPED_CONFIG, table } from './readme-kit.ts';

describe('the pages of the documentation', () => {
  it('have at most 300 lines, and README.md at most 200', () => {
    for (const [path, text] of PAGES) {
      const lines = text.trimEnd().split('\n').length;
      assert.ok(lines <= (path === 'README.md' ? 200 : 300), `${path} has ${lines} lines`);
    }
  });

  it('link to files and headings that exist', () => {
    for (const [path, text] of PAGES) {
      for (const [, link = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(link)) continue;
        const [target = '', anchor] = (link.startsWith('#') ? basename(path) + link : link).split('#');
        const file = join(ROOT, dirname(path), target);
        assert.ok(existsSync(file), `${path} links to ${link}`);
        if (anchor !== undefined)
          assert.ok(anchorsOf(readFileSync(file, 'utf8')).includes(anchor), `${path} links to ${link}`);
      }
    }
  });

  it('are all reached by links from README.md', () => {
    const reached = new Set(['README.md']);
    for (const path of reached)
      for (const [, link = ''] of page(path).matchAll(/\]\(([^)#\s]+)/g)) {
        const target = join(dirname(path), link);
        if (PAGES.has(target)) reached.add(target);
      }
    assert.deepEqual([...reached].sort(), [...PAGES.keys()].sort());
  });

  it('are where messages and comments say they are', () => {
    const files = ['core', 'plugins', 'scripts', 'console/src'].flatMap((room) =>
      sources(room, /\.(ts|tsx|mjs|yaml)$/),
    );
    for (const [path, text] of [...files, ['gateway.yaml', readFileSync(SHIPPED_CONFIG, 'utf8')] as const]) {
      for (const [name] of text.matchAll(/(?:[\w-]+\/)*(?:README|WRITING|SCALING|COMPARISON)\.md/g)) {
        assert.ok(PAGES.has(name) || PAGES.has(join(dirname(path), name)), `${path} names ${name}`);
      }
    }
  });

  it('name npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly scripts: Section };
    for (const [path, text] of PAGES) {
      for (const [, script = ''] of text.matchAll(/npm run (?:-s )?([a-z]+(?:[:-][a-z]+)*)/g))
        assert.ok(script in scripts, `${path}: ${script}`);
    }
  });

  it('have the files that they list', () => {
    const rows = table('File');
    assert.ok(rows.length > 20, `${rows.length} rows`);
    for (const { page: path, cells } of rows)
      for (const name of codeIn(cells[0])) assert.ok(existsSync(join(ROOT, dirname(path), name)), `${path}: ${name}`);
  });
});

describe('the blocks of code in the documentation', () => {
  it('are run by tests, or say why not; only diagrams, which have no language, need no comment', () => {
    for (const { page: path, line, language, kind, about } of BLOCKS) {
      if (language === '') continue;
      assert.ok(kind !== undefined, `${path}:${line} has no comment that says what tests do with it`);
      assert.ok(kind === 'config' ? language === 'yaml' : about !== '', `${path}:${line}`);
    }
    assert.equal(BLOCKS.length, [...PAGES.values()].join('').match(/^```\w*$/gm)!.length / 2);
  });

  it('have names of their own, which tests use', () => {
    const tests = [...sources('test/e2e', /readme.*\.ts$/), ...sources('test/browser', /first-hour.*\.ts$/)].map(
      ([, text]) => text,
    );
    const names = BLOCKS.filter(({ kind }) => kind === 'run' || kind === 'example').map(({ about }) => about);
    assert.deepEqual(names.toSorted(), [...new Set(names)].sort());
    for (const { about, page: path } of BLOCKS.filter(({ kind }) => kind === 'run'))
      assert.ok(
        tests.some((text) => text.includes(`block('${about}')`) || text.includes(`commands('${about}')`)),
        `no test runs ${about} of ${path}`,
      );
  });
});

describe('the tables of the documentation', () => {
  it('name commands that `turnpike help` lists, with options that they have', async () => {
    const { stdout } = await turnpike(['help', '--config', SHIPPED_CONFIG]);
    const commands = table('Command').flatMap(({ cells }) => codeIn(cells[0]));
    assert.ok(commands.length >= 11, commands.join('; '));
    for (const command of commands) {
      const name = /^[a-z]+(?: [a-z]+)?/.exec(command)?.[0] ?? '';
      assert.match(stdout, new RegExp(`^  ${name}( |$)`, 'm'), command);
      for (const [option = ''] of command.matchAll(/--[a-z-]+/g)) {
        assert.match(stdout, new RegExp(`^ +${name} [^\n]*${option}( |\\]|$)`, 'm'), `${option} of ${command}`);
      }
    }
  });

  it('say which styles each vendor speaks, and everything a key may ask for', async () => {
    const { stdout } = await turnpike(['check', '--config', SHIPPED_CONFIG]);
    const lineOf = (name: string): string => new RegExp(`^${name} +(.+)$`, 'm').exec(stdout)?.[1] ?? '';

    const vendors = table('`vendor:`', 'Styles');
    const speaks = [...lineOf('vendors').matchAll(/(\w+) \(([\w ]+)\)/g)];
    assert.equal(speaks.length, 5);
    for (const [, vendor = '', styles = ''] of speaks) {
      const row = vendors.find(({ cells }) => codeIn(cells[0])[0] === vendor);
      // What ends in a colon is the name of a field.
      const told = codeIn(row?.cells[1]).filter((word) => !word.endsWith(':'));
      // The first one is spoken to clients of others, so the order counts where nobody can choose.
      const order = (list: readonly string[]): readonly string[] => (vendor === 'compatible' ? list.toSorted() : list);
      assert.deepEqual(order(told), order(styles.split(' ')), vendor);
    }

    const endpoints = table('Path', 'Description');
    const paths = endpoints.flatMap(({ cells }) => codeIn(cells[0]));
    const routes = [...lineOf('routes').matchAll(/(\w+ \S+) \[key\]/g)].map(([, route = '']) => route.replace('*', ''));
    assert.ok(routes.length >= 9, String(routes));
    for (const route of routes) assert.ok(paths.includes(route), route);
    for (const path of paths.filter((each) => !routes.includes(each))) {
      const style = codeIn(endpoints.find(({ cells }) => codeIn(cells[0]).includes(path))?.cells[1])[0] ?? '';
      assert.ok(lineOf('styles').split(' ').includes(style), path);
    }
  });

  it('have a line for every quirk, with what is usual and every word it may be', () => {
    const rows = new Map(table('Key', 'Usual').map(({ cells: [key, ...cells] }) => [codeIn(key)[0], cells] as const));
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
});

/** A usual value as the table of quirks writes it. */
function shown(value: unknown): string {
  if (value === undefined) return '';
  if (value === USUAL.sampling.allowed) return 'all';
  if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) return 'none';
  if (Array.isArray(value)) return value.map((each) => `\`${each}\``).join(', ');
  return value === ' ' ? '`" "`' : `\`${value}\``;
}

/** The sources in and below a folder, by their paths. */
function sources(folder: string, name = /\.ts$/): readonly (readonly [path: string, text: string])[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => name.test(path))
    .map((path) => [join(folder, path), readFileSync(join(ROOT, folder, path), 'utf8')]);
}

describe('what the documentation lists', () => {
  const code = [...sources('core'), ...sources('plugins')];

  it('are the errors of core and of all plugins, with their statuses (`npm run errors`)', async () => {
    for (const [path, text] of await made()) assert.equal(readFileSync(join(ROOT, path), 'utf8'), text, path);
    const told = new Map(
      table('Status', 'Code').flatMap(({ cells }) => codeIn(cells[1]).map((code) => [code, cells[0] ?? ''] as const)),
    );
    const { errors } = await planFrom(SHIPPED_CONFIG, {});
    assert.ok(errors.size > 120, `${errors.size} errors`);
    for (const { code, statuses, place } of errors.values())
      assert.equal(told.get(code), place === 'command' ? undefined : statuses.join(', '), code);
  });

  it('are the variables that are read from the environment', () => {
    const read = code.flatMap(([, text]) => text.match(/\benv\.(?:TURNPIKE_\w+|[A-Z]+_PROXY)\b/g) ?? []);
    const told = table('Variable').flatMap(({ cells }) => codeIn(cells[0]));
    assert.deepEqual([...new Set(read.map((name) => name.slice('env.'.length)))].sort(), told.toSorted());
  });

  it('are paths of /api that exist', () => {
    const paths = code.flatMap(([, text]) => {
      const own = /const PATH = '(.+)'/.exec(text)?.[1] ?? '';
      const spelled = [...text.matchAll(/['`]((?:\/api\/|\$\{PATH\})[^'`\s?]*)['`]/g)];
      return spelled.map(([, path = '']) => path.replace(/^\$\{PATH\}/, own));
    });
    assert.ok(paths.length > 100, `${paths.length} paths`);
    // What other gateways have and this one does not is told beside what it has instead.
    const absent = table('There').flatMap(({ cells }) => codeIn(cells[0]));
    const told = [...PAGES.values()].flatMap((text) => codeIn(text.replace(/^```.*?^```$/gms, '')));
    for (const word of told.filter((each) => !absent.includes(each))) {
      const path = /^(?:[A-Z]+ )?(\/api\/[^ ?]+)$/.exec(word)?.[1];
      if (path === undefined) continue;
      // `{a,b}` is one of them, `…` anything.
      const [, before = '', choices = '', after = ''] = /^([^{]*)\{(.+)\}(.*)$/.exec(path) ?? [];
      for (const each of choices === '' ? [path] : choices.split(',').map((choice) => before + choice + after)) {
        const [start = '', ...rest] = each.split('…');
        const fits = (known: string): boolean =>
          rest.length > 0
            ? known.startsWith(start)
            : new RegExp(`^${known.replace(/\$\{\w+\}|:\w+/g, '[^/]+')}$`).test(each);
        assert.ok(paths.some(fits), `there is no ${each}`);
      }
    }
  });

  it('are the metrics', () => {
    const made = sources('plugins/metrics').flatMap(([, text]) => text.match(/(?<=')turnpike_[a-z_]+(?=')/g) ?? []);
    const told = table('Metric').flatMap(({ cells }) => codeIn(cells[0]));
    assert.deepEqual(told.toSorted(), [...new Set(made)].sort());
  });

  it('are the sections of gateway.yaml, and the fields of channels and models', async () => {
    const { sections } = await planFrom(SHIPPED_CONFIG, {});
    const fields = (header: string): readonly string[] =>
      table(header)
        .flatMap(({ cells }) => codeIn(cells[0]))
        .sort();
    assert.deepEqual(fields('Section'), Object.keys(sections).sort());
    assert.deepEqual(fields('Field of a channel'), CHANNEL_FIELDS.toSorted());
    const { properties } = sections.models!.additionalProperties as { readonly properties: Section };
    assert.deepEqual(fields('Field of a model'), Object.keys(properties).sort());
  });

  it('are the rooms of core, each with what is in it', () => {
    const rows = table('Folder').filter(({ page: path }) => path === 'core/README.md');
    const listed = rows.flatMap(({ cells }) => codeIn(cells[0]?.replace(/\[([^\]]*)\]\([^)]*\)/g, '`$1`')));
    const rooms = sources('core').map(([path]) => path.split('/').slice(1));
    const names = rooms.map(([name = '', ...below]) => (below.length === 0 ? name : `${name}/`));
    assert.deepEqual(listed.toSorted(), [...new Set(names)].sort());
  });

  it('are the files of the translation', () => {
    const told = table('Files of this folder').flatMap(({ cells }) => codeIn(cells[0]));
    const files = sources('core/translation').map(([path]) => relative('core/translation', path));
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
