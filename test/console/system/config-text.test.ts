/** What the page of the configuration reads in gateway.yaml: its parts, its keys in the schema, and how two texts differ. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: gateway.yaml has them
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type Facts, factsAt, type Schema } from '../../../console/src/pages/config/facts.ts';
import { aroundChanges, diffLines } from '../../../console/src/pages/config/line-diff.ts';
import { markAt, marksOf, pathOfLine } from '../../../console/src/pages/config/marks.ts';
import { keySourceOf } from '../../../console/src/pages/vendors/key-source.ts';
import { processorTime } from '../../kit/clients/processor.ts';
import fc from '../../kit/fast-check.ts';

const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

describe('the parts of a text', () => {
  const told = (text: string) =>
    marksOf(text).map(({ start, end, kind, path }) => [text.slice(start, end), kind, path?.join('.')]);

  it('are keys, values, references and comments, each with its key', () => {
    assert.deepEqual(told('a: { b: [1, true] } # c\nkey: "x${Y:-z}" \n- q'), [
      ['a', 'key', 'a'],
      ['b', 'key', 'a.b'],
      ['1', 'number', 'a.b.0'],
      ['true', 'word', 'a.b.1'],
      ['# c', 'comment', undefined],
      ['key', 'key', 'key'],
      ['"x', 'string', 'key'],
      ['${Y:-z}', 'reference', 'key'],
      ['"', 'string', 'key'],
      ['q', 'string', '0'],
    ]);
  });

  it('are the same whatever was read before, and never reach into each other', () => {
    const text = read('gateway.yaml');
    const marks = marksOf(text);
    marksOf('other: 1\n');
    assert.deepEqual(marksOf(text), marks);
    assert.deepEqual(
      marksOf(`# first\n${text}`).slice(1),
      marks.map((mark) => ({ ...mark, start: mark.start + 8, end: mark.end + 8 })),
    );
    for (const [at, mark] of marks.entries())
      assert.ok(mark.start >= (marks[at - 1]?.end ?? 0) && mark.end > mark.start);
    const place = text.indexOf('driver: sqlite');
    assert.deepEqual(markAt(marks, place + 3)?.path, ['store', 'driver']);
    assert.deepEqual(pathOfLine(marks, place - 2, place + 14), ['store', 'driver']);
  });

  it('can be told of anything that somebody types', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab:-[]{}"\'#$ \n&*|>!%@`,?0.\t') }), (text) => {
        for (const { start, end } of marksOf(text)) assert.ok(start < end && end <= text.length);
      }),
      { numRuns: 300 },
    );
    marksOf('['.repeat(50_000));
  });
});

describe('a key', () => {
  const schema = JSON.parse(read('core/schema.json')) as Schema;
  const at = (...path: (string | number)[]): Facts => factsAt(schema, path);

  it('is explained by the schema', () => {
    const { kind, description, types, defaultValue, least } = at('channels', 1, 'priority');
    assert.deepEqual([kind, types, defaultValue, least], ['known', ['integer'], '0', 0]);
    assert.match(description ?? '', /tried first/);
    assert.deepEqual(at('channels', 0, 'stream', 'usage').allowed, ['include_usage', 'always', 'never']);
    assert.equal(at('channels', 0, 'name').required, true);
    assert.equal(at('listen', 'drain').title, 'duration');
  });

  it('is one of its own choice, or unknown', () => {
    assert.deepEqual(
      [at('models', 'any-name').kind, at('models', 'any-name', 'from').kind, at('models', 'any-name', 'form').kind],
      ['own', 'known', 'unknown'],
    );
    assert.equal(at('modells').kind, 'unknown');
    assert.equal(at('channels', 0, 'organization').kind, 'own', 'a field of a vendor');
    assert.equal(at('prices', 'any-name', 0, 'input').most, 10_000);
  });
});

describe('the difference of two texts', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((each) => `${each.join('\n')}\n`);

  it('makes one of the other', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const rows = diffLines(before, after);
        const side = (without: string) =>
          rows
            .filter(({ kind }) => kind !== without)
            .map(({ text }) => `${text}\n`)
            .join('');
        assert.equal(side('new'), before);
        assert.equal(side('gone'), after);
        const changed = rows.filter(({ kind }) => kind !== 'same').length;
        if (before === after) assert.equal(changed, 0);
        // Numbers rise on both sides.
        const numbers = rows.flatMap((row) => (row.before === undefined ? [] : [row.before]));
        assert.deepEqual(
          numbers,
          numbers.map((_, i) => i + 1),
        );
      }),
    );
  });

  it('shows a few lines around what changes', () => {
    const before = Array.from({ length: 20 }, (_, i) => `line ${i}`).join('\n');
    const shown = aroundChanges(diffLines(before, before.replace('line 9\n', 'line nine\n')));
    assert.deepEqual(
      shown.map((row) => (row.kind === 'skipped' ? `… ${row.count}` : `${row.kind} ${row.text}`)),
      [
        '… 6',
        'same line 6',
        'same line 7',
        'same line 8',
        'gone line 9',
        'new line nine',
        'same line 10',
        'same line 11',
        'same line 12',
        '… 7',
      ],
    );
  });

  it('of long texts is found in a moment', () => {
    const of = (step: number) => Array.from({ length: 2_000 }, (_, i) => `line ${i % step}`).join('\n');
    const used = processorTime();
    assert.ok(diffLines(of(7), of(11)).length >= 2_000);
    assert.ok(used() < 3_000);
    assert.equal(diffLines('a\n'.repeat(40_000), 'b\n'.repeat(40_000)).length, 80_000);
  });
});

describe('the key of a channel', () => {
  it('comes from where its item says', () => {
    const file = read('gateway.yaml');
    assert.deepEqual(keySourceOf('openai', file), { kind: 'variable', name: 'OPENAI_API_KEY' });
    assert.deepEqual(keySourceOf('gemini', file), { kind: 'variable', name: 'GEMINI_API_KEY' });
    assert.equal(keySourceOf('demo', file), undefined);
    assert.equal(keySourceOf('groq', file), undefined, 'it is a comment');
    const other =
      'channels:\n- key: "${file:./a.key}"\n  name: a\n- { name: b, key: "${B}" }\n- name: c\nmetrics:\n  key: ${C}\n';
    assert.deepEqual(keySourceOf('a', other), { kind: 'file', name: './a.key' });
    assert.deepEqual(keySourceOf('b', other), { kind: 'variable', name: 'B' });
    assert.equal(keySourceOf('c', other), undefined);
  });
});
