/** Mistakes of plugin authors: each stops the start or does not compile, and the message names the plugin and the member. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { planFrom, rehearse } from '../../../core/assembly/assemble.ts';
import { ConfigError } from '../../../core/config/file.ts';
import { throwIfWrong } from '../../../core/config/sections.ts';
import { definePlugin } from '../../../core/plugin.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-wrong-'));
after(() => rmSync(folder, { recursive: true }));

/** What `check` says of a pipeline with this plugin in it. */
async function complaints(source: string, name: string): Promise<string> {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, source);
  const config = join(folder, `${name}.yaml`);
  writeFileSync(
    config,
    `store: { driver: sqlite, file: ./t.db }\npipeline: [accounts, auth, keys, models, styles, ./${name}.mjs]\n`,
  );
  try {
    const plan = await planFrom(config, {});
    throwIfWrong(plan.file);
    await rehearse(plan);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ message }) => message).join('\n');
    return (error as Error).message;
  }
  return assert.fail(`${name} was accepted`);
}

const plugin = (rest: string, name = 'acme') => `export default { name: '${name}', api: 2, ${rest} };`;
const parts = (text: string) => plugin(`create: () => (${text})`);
const vendor = (text: string) => parts(`{ vendors: [{ name: 'acme', ${text} }] }`);
const style = (text: string) => parts(`{ styles: [${text}] }`);
const ROUTE = `method: 'GET', path: '/acme', access: 'public', handle: () => ({})`;

const MISTAKES: readonly (readonly [mistake: string, source: string, says: readonly RegExp[]])[] = [
  ['a phase that does not exist', parts('{ admitt() {} }'), [/acme/, /`admitt` is unknown; did you mean `admit`\?/]],
  [
    'a capability that does not exist',
    parts('{ vendor: [] }'),
    [/acme/, /`vendor` is unknown; did you mean `vendors`\?/],
  ],
  ['a phase that is no function', parts("{ admit: 'no' }"), [/acme/, /`admit` must be a function, and is "no"/]],
  ['a create that returns nothing', plugin('create() {}'), [/acme/, /`create` must return an object of parts/]],
  ['a create that throws', plugin("create() { throw new Error('no luck') }"), [/acme/, /`create`/, /no luck/]],
  ['no create', plugin('make() {}'), [/acme/, /`make` is unknown/]],
  ['no name', 'export default { api: 2, create: () => ({}) };', [/acme/, /`name` must be a text/]],
  ['no default export', 'export const plugin = {};', [/acme/, /default export/]],
  [
    'an interface version that is not this one',
    plugin('create: () => ({})').replace('api: 2', 'api: 7'),
    [/acme/, /`api` must be 2/],
  ],
  [
    'a style that no plugin provides',
    vendor("speaks: { chatt: { path: '/x', headers: () => ({}) } }"),
    [/acme/, /speaks\.chatt/, /did you mean chat\?/],
  ],
  ['a vendor without speaks', vendor(''), [/acme/, /`vendors\[0\]\.speaks` must be an object, and is undefined/]],
  [
    'a dialect whose headers are no function',
    vendor("speaks: { chat: { path: '/x', headers: {} } }"),
    [/acme/, /`vendors\[0\]\.speaks\.chat\.headers` must be a function/],
  ],
  [
    'a dialect whose path does not begin with a slash',
    vendor("speaks: { chat: { path: 'x', headers: () => ({}) } }"),
    [/acme/, /`vendors\[0\]\.speaks\.chat\.path` must begin with "\/", and is "x"/],
  ],
  [
    'a dialect that converts answers of a style that is translated',
    vendor("speaks: { chat: { path: '/x', headers: () => ({}), answer: () => ({}) } }"),
    [/acme/, /speaks\.chat\.answer/, /translated/],
  ],
  [
    'a dialect with an unknown member',
    vendor("speaks: { chat: { path: '/x', headers: () => ({}), reqest() {} } }"),
    [/acme/, /`vendors\[0\]\.speaks\.chat\.reqest` is unknown; did you mean `request`\?/],
  ],
  [
    'a quirk that does not exist',
    vendor("speaks: {}, quirks: [{ models: ['*'], quirks: { samplingg: {} } }]"),
    [/acme/, /`vendors\[0\]\.quirks\[0\]\.quirks\.samplingg` is unknown; did you mean `sampling`\?/],
  ],
  ['routes that are no list', parts('{ routes: {} }'), [/acme/, /`routes` must be a list, and is an object/]],
  [
    'a route without a handler',
    parts("{ routes: [{ method: 'GET', path: '/acme', access: 'public' }] }"),
    [/acme/, /`routes\[0\]\.handle` must be a function/],
  ],
  [
    'a method that HTTP does not have',
    parts(`{ routes: [{ ${ROUTE.replace('GET', 'FETCH')} }] }`),
    [/acme/, /`routes\[0\]\.method` must be one of GET/],
  ],
  [
    'a guard that no plugin provides',
    parts(`{ routes: [{ ${ROUTE.replace("'public'", "['nobody']")} }] }`),
    [/\/acme/, /guard nobody/],
  ],
  [
    'a style that cannot read requests',
    style("{ name: 'morse', ingress: { path: '/v1/morse' }, relay: { answer: () => undefined } }"),
    [/acme/, /`styles\[0\]\.ingress\.read` must be a function/],
  ],
  [
    'a style at the path of another one',
    style("{ name: 'morse', ingress: { path: '/v1/chat/completions', read() {} }, relay: { answer() {} } }"),
    [/styles already provides the route POST \/v1\/chat\/completions/],
  ],
  [
    'a route of all methods at the path of a style',
    parts("{ routes: [{ method: 'any', path: '/v1/messages', access: 'public', handle: () => ({}) }] }"),
    [/styles already provides the route POST \/v1\/messages/],
  ],
  [
    'a service that `needs` does not name',
    plugin("create: (host) => { host.use({ id: 'accounts' }); return {}; }"),
    [/acme/, /accounts/, /`needs`/],
  ],
  [
    'a service that `wants` does not name',
    plugin("create: (host) => { host.find({ id: 'accounts' }); return {}; }"),
    [/acme/, /accounts/, /`wants`/],
  ],
  [
    'a service that `provides` does not name',
    plugin("create: (host) => { host.provide({ id: 'morse' }, {}); return {}; }"),
    [/acme/, /morse/, /`provides`/],
  ],
  [
    'a command without a summary',
    parts("{ commands: [{ name: 'acme', run: () => '' }] }"),
    [/acme/, /`commands\[0\]\.summary` must be a text/],
  ],
  [
    'a migration without a title',
    plugin('migrations: [{ id: 1, sql: [] }], create: () => ({})'),
    [/acme/, /`migrations\[0\]\.title` must be a text/],
  ],
  [
    'a second migration without the first',
    plugin("migrations: [{ id: 2, title: 'more', sql: [] }], create: () => ({})"),
    [/acme/, /`migrations\[0\]\.id` must be 1/],
  ],
  [
    'a gap between migrations',
    plugin("migrations: [{ id: 1, title: 'a', sql: [] }, { id: 3, title: 'b', sql: [] }], create: () => ({})"),
    [/acme/, /`migrations\[1\]\.id` must be 2/],
  ],
  [
    'a section whose schema is a list of its members',
    plugin("sections: { acme: { limit: { type: 'number' } } }, create: () => ({})"),
    [/acme/, /`sections\.acme` must be a JSON Schema: `type` is missing/],
  ],
];

describe('a plugin with a mistake does not start', () => {
  for (const [i, [mistake, source, says]] of MISTAKES.entries()) {
    it(`if it has ${mistake}`, async () => {
      const said = await complaints(source, `acme-${i}`);
      for (const part of says) assert.match(said, part);
    });
  }
});

describe('definePlugin', () => {
  it('does not compile with an unknown part', () => {
    definePlugin({
      name: 'acme',
      api: 2,
      // @ts-expect-error: `admitt` is no part.
      create: () => ({ admit() {}, admitt() {} }),
    });
  });

  it('does not compile with nothing but a part that does not exist', () => {
    definePlugin({
      name: 'acme',
      api: 2,
      // @ts-expect-error: `admitt` is no part.
      create: () => ({ admitt() {} }),
    });
  });

  it('does not compile with a part of the wrong type', () => {
    definePlugin({
      name: 'acme',
      api: 2,
      // @ts-expect-error: a phase is a function.
      create: () => ({ admit: 'no' }),
    });
  });

  it('infers the types of the parts', () => {
    const { create } = definePlugin({
      name: 'acme',
      api: 2,
      create: () => ({
        admit(x) {
          x.header('x-acme', x.call.model);
        },
      }),
    });
    assert.equal(typeof create, 'function');
  });
});
