/** What the editor of the configuration makes of forms: fields from the schema, edits of the file, and the merge of two changes. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: gateway.yaml has them
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { IN_CHINESE } from '../../../console/src/pages/config/descriptions.ts';
import type { Schema } from '../../../console/src/pages/config/facts.ts';
import { fieldOf, itemSchemaOf } from '../../../console/src/pages/config/fields.ts';
import { merged } from '../../../console/src/pages/config/merge.ts';
import { addEdits, changeEdits, removeEdits, rowsOf, servedBy } from '../../../console/src/pages/config/rows.ts';
import {
  type Edit,
  editsBetween,
  isSame,
  keysOf,
  type Members,
  modelsOfChannel,
  referencesOf,
  secretNameOf,
  settingsOf,
  type Value,
} from '../../../console/src/pages/config/settings.ts';
import { spelledPath } from '../../../console/src/pages/config/spelled-path.ts';
import fc from '../../kit/fast-check.ts';

const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

/** Applies edits to plain values, as the gateway does to a document. */
function applied(value: Value | undefined, edits: readonly Edit[]): Value | undefined {
  return edits.reduce<Value | undefined>((before, edit) => appliedAt(before, edit.path, edit), value);
}

function appliedAt(value: Value | undefined, [step, ...rest]: Edit['path'], edit: Edit): Value | undefined {
  if (step === undefined) return 'value' in edit ? edit.value : undefined;
  if (Array.isArray(value)) {
    const items = [...(value as readonly Value[])];
    const next = appliedAt(items[Number(step)], rest, edit);
    items.splice(Number(step), 1, ...(next === undefined ? [] : [next]));
    return items;
  }
  const entries = Object.entries((value ?? {}) as Members);
  if ('rename' in edit && rest.length === 0)
    return Object.fromEntries(entries.map(([name, one]) => [name === step ? edit.rename : name, one]));
  const { [String(step)]: was, ...others } = Object.fromEntries(entries);
  const next = appliedAt(was, rest, edit);
  return next === undefined ? others : { ...others, [String(step)]: next };
}

const SETTINGS = settingsOf(`
channels:
  - { name: a, vendor: openai, key: "\${A_KEY:-}" }
  - { name: b, vendor: compatible, keys: ["\${secret:b}", "\${file:./b.key}"] }
models:
  both: { from: [a, { b: upstream }] }
  own: { from: [{ a: other }], fallback: [both] }
  short: { alias: own }
prices: { own: { input: 1 } }
passthrough: [{ prefix: /v1/files, channel: a }, { prefix: /v1/batches, channel: b }, { prefix: /v1/x, channel: a }]
`)!;
const rowOf = (section: 'channels' | 'models', id: string) => rowsOf(SETTINGS, section).find((row) => row.id === id)!;

describe('edits', () => {
  const { value } = fc.letrec<{ value: Value; members: Members }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<Value>('x', '', 1, true, null),
      fc.array(tie('value') as fc.Arbitrary<Value>, { maxLength: 3 }),
      tie('members'),
    ),
    members: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('value') as fc.Arbitrary<Value>),
  }));

  it('turn any value into any other, and are none for equal ones', () => {
    fc.assert(
      fc.property(value, value, (before, after) => {
        const edits = editsBetween(['at'], before, after);
        assert.equal(edits.length === 0, isSame(before, after));
        assert.ok(isSame(applied({ at: before }, edits), { at: after }));
      }),
    );
  });

  it('are of the members that differ only', () => {
    const before = { name: 'a', timeout: { connect: '5s', idle: '1m' }, key: 'x' };
    assert.deepEqual(
      editsBetween(['channels', 0], before, { ...before, timeout: { connect: '9s', idle: '1m' }, url: 'u' }),
      [
        { path: ['channels', 0, 'timeout', 'connect'], value: '9s' },
        { path: ['channels', 0, 'url'], value: 'u' },
      ],
    );
    assert.deepEqual(editsBetween(['channels', 0], before, { name: 'a', timeout: before.timeout }), [
      { path: ['channels', 0, 'key'], remove: true },
    ]);
  });

  it('append to a list, create it, or add a member', () => {
    assert.deepEqual(addEdits(SETTINGS, 'channels', 'c', { name: 'c' }), [
      { path: ['channels', 2], value: { name: 'c' } },
    ]);
    assert.deepEqual(addEdits({}, 'channels', 'c', { name: 'c' }), [{ path: ['channels'], value: [{ name: 'c' }] }]);
    assert.deepEqual(addEdits({}, 'aliases', 'x', { alias: 'own' }), [
      { path: ['models', 'x'], value: { alias: 'own' } },
    ]);
  });

  it('of a new name change everything that refers to it', () => {
    const channel = rowOf('channels', 'a');
    const renamed = applied(
      SETTINGS,
      changeEdits(SETTINGS, 'channels', channel, 'z', { ...(channel.value as Members), name: 'z' }),
    );
    assert.doesNotMatch(JSON.stringify(renamed), /"a"/);
    assert.deepEqual((renamed as Members).models, {
      both: { from: ['z', { b: 'upstream' }] },
      own: { from: [{ z: 'other' }], fallback: ['both'] },
      short: { alias: 'own' },
    });
    const model = rowOf('models', 'own');
    const other = applied(SETTINGS, changeEdits(SETTINGS, 'models', model, 'ours', model.value)) as Members;
    assert.deepEqual(Object.keys(other.models as Members).sort(), ['both', 'ours', 'short']);
    assert.deepEqual([(other.models as Members).short, other.prices], [{ alias: 'ours' }, { ours: { input: 1 } }]);
  });

  it('that remove a channel remove its routes, and the models that only it serves', () => {
    assert.deepEqual(servedBy(SETTINGS, 'a'), { alone: ['own'], shared: ['both'] });
    const left = applied(SETTINGS, removeEdits(SETTINGS, 'channels', rowOf('channels', 'a'))) as Members;
    assert.deepEqual((left.models as Members).both, { from: [{ b: 'upstream' }] });
    assert.equal((left.models as Members).own, undefined);
    assert.deepEqual(left.passthrough, [{ prefix: '/v1/batches', channel: 'b' }]);
    assert.deepEqual(
      (left.channels as readonly Members[]).map(({ name }) => name),
      ['b'],
    );
  });

  it('that remove a model remove its aliases, its price, and it from fallbacks', () => {
    const left = applied(SETTINGS, removeEdits(SETTINGS, 'models', rowOf('models', 'own'))) as Members;
    assert.deepEqual([Object.keys(left.models as Members), left.prices], [['both'], {}]);
    const other = applied(SETTINGS, removeEdits(SETTINGS, 'models', rowOf('models', 'both'))) as Members;
    assert.deepEqual((other.models as Members).own, { from: [{ a: 'other' }] });
  });

  it('name paths as problems do', () => {
    assert.equal(spelledPath(['channels', 0, 'key']), 'channels[0].key');
    assert.equal(spelledPath(['models', 'gpt-5.5', 'from']), 'models["gpt-5.5"].from');
  });
});

describe('the settings of a text', () => {
  it('are those of the shipped file, and none for a text that is no mapping', () => {
    const settings = settingsOf(read('gateway.yaml'))!;
    assert.deepEqual(
      rowsOf(settings, 'channels').map(({ id }) => id),
      ['demo', 'openai', 'anthropic', 'gemini'],
    );
    assert.ok(rowsOf(settings, 'aliases').some(({ id }) => id === 'fast'));
    assert.ok(rowsOf(settings, 'models').every(({ id }) => id !== 'fast'));
    assert.equal(modelsOfChannel(settings.models as Members, 'demo').get('demo'), 'demo');
    assert.deepEqual(settingsOf('# only a comment\n'), {});
    for (const text of ['- a\n', 'a: [', 'a: 1\na: 2\n']) assert.equal(settingsOf(text), undefined, text);
  });

  it('have keys by reference, and names for new secrets', () => {
    assert.deepEqual(keysOf(rowOf('channels', 'a').value as Members), ['${A_KEY:-}']);
    assert.deepEqual(keysOf(rowOf('channels', 'b').value as Members), ['${secret:b}', '${file:./b.key}']);
    assert.deepEqual(referencesOf('${A_KEY:-x} $${NOT} ${secret:b}'), ['A_KEY', 'secret:b']);
    assert.equal(secretNameOf('my.vendor', new Set()), 'my-vendor');
    assert.equal(secretNameOf('9lives', new Set(['lives', 'lives-2'])), 'lives-3');
    assert.match(secretNameOf('0'.repeat(64), new Set()), /^[A-Za-z_][\w-]{0,63}$/);
  });
});

describe('a field', () => {
  const schema = JSON.parse(read('core/schema.json')) as Schema;
  const kinds = (section: string, value: Members = {}) =>
    Object.fromEntries(
      Object.entries(itemSchemaOf(schema.properties?.[section]).properties ?? {}).map(([name, of]) => [
        name,
        fieldOf(of, value[name]).kind,
      ]),
    );

  it('is as its schema says', () => {
    const { name, vendor, url, headers, query, weight, timeout, speaks, stream } = kinds('channels');
    assert.deepEqual(
      { name, vendor, url, headers, query, weight, timeout, speaks, stream },
      {
        name: 'text',
        vendor: 'text',
        url: 'text',
        headers: 'table',
        query: 'table',
        weight: 'number',
        timeout: 'group',
        speaks: 'list',
        stream: 'group',
      },
    );
    const { free, from, fallback, strict } = kinds('models');
    assert.deepEqual([free, from, fallback, strict], ['switch', 'yaml', 'list', 'switch']);
    const { input, perImage, tiers, perUse } = kinds('prices');
    assert.deepEqual([input, perImage, tiers, perUse], ['number', 'yaml', 'yaml', 'yaml']);
    const { days, includes, afterExpiry } = kinds('plans');
    assert.deepEqual([days, includes, afterExpiry], ['number', 'choice', 'choice']);
  });

  it('is described in Chinese, too', () => {
    const described = (members: Readonly<Record<string, Schema>>): readonly string[] =>
      Object.values(members).flatMap((of) => {
        const { kind, description = '', members: inside } = fieldOf(of, undefined);
        // Larger groups are one field of YAML.
        return [description, ...(kind === 'group' && Object.keys(inside).length <= 6 ? described(inside) : [])];
      });
    const sections = ['channels', 'models', 'prices', 'plans', 'passthrough'];
    const members = sections.map((name) => itemSchemaOf(schema.properties?.[name]).properties ?? {});
    // These have fields of their own, with texts of their own.
    const own = ['alias', 'from', 'fallback', 'prefix', 'channel', 'key', 'keys'];
    const shown = [
      ...members.map((each) => Object.fromEntries(Object.entries(each).filter(([name]) => !own.includes(name)))),
      schema.properties!.limits!.properties!,
    ];
    const missing = shown.flatMap(described).filter((text) => text !== '' && !Object.hasOwn(IN_CHINESE, text));
    assert.deepEqual(missing, []);
  });

  it('takes what the file has in another form', () => {
    const { weight, priority, speaks, headers, timeout } = kinds('channels', {
      weight: '${WEIGHT}',
      priority: 1,
      speaks: [{ a: 1 }],
      headers: { a: ['x'] },
      timeout: '${TIMEOUT}',
    });
    assert.deepEqual([weight, priority, speaks, headers, timeout], ['text', 'number', 'yaml', 'yaml', 'yaml']);
    const { usual, least, most, isWhole } = fieldOf(
      itemSchemaOf(schema.properties?.plans).properties!.days!,
      undefined,
    );
    assert.deepEqual([usual, least, most, isWhole], ['30', 1, 3_660, true]);
  });
});

describe('two changes of one text', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 10 }).map((each) => `${each.join('\n')}\n`);

  it('are both kept if they are on other lines', () => {
    const base = 'a\nb\nc\nd\ne\n';
    assert.equal(merged(base, 'a\nB\nc\nd\ne\n', 'a\nb\nc\nd\nE\nf\n'), 'a\nB\nc\nd\nE\nf\n');
    assert.equal(merged(base, 'x\na\nb\nc\nd\ne\n', 'a\nb\nc\ne\n'), 'x\na\nb\nc\ne\n');
    assert.equal(merged(base, 'a\nB\nc\nd\ne\n', 'a\nX\nc\nd\ne\n'), undefined);
    assert.equal(
      merged(base, 'a\nB\nc\nd\ne\n', 'a\nb\nC\nd\ne\n'),
      undefined,
      'neighbouring lines may belong together',
    );
    assert.equal(merged(base, 'a\nB\nc\nd\ne\n', 'a\nB\nc\nd\ne\n'), 'a\nB\nc\nd\ne\n', 'the same change twice');
  });

  it('are the one change if the other is none', () => {
    fc.assert(
      fc.property(lines, lines, (base, changed) => {
        assert.equal(merged(base, changed, base), changed);
        assert.equal(merged(base, base, changed), changed);
        assert.equal(merged(base, changed, changed), changed);
      }),
    );
  });
});
