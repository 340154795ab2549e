import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withFieldQuirks } from '../../../core/translation/quirks/field-quirks.ts';
import { collectWarnings, warningHeader } from '../../../core/translation/warnings/warnings.ts';

describe('a warning', () => {
  it("uses the client's name of the field", () => {
    const warnings = collectWarnings({ messages: 'input', 'messages.name': 'input.author' });
    warnings.drop('messages.name');
    warnings.change('messages.image');
    warnings.omit('citations');
    warnings.drop('user', 'hint');
    assert.deepEqual(warnings.all, [
      'input.author:dropped',
      'input.image:changed',
      'citations:omitted',
      'user:dropped',
    ]);
    assert.deepEqual(warnings.serious, ['input.author:dropped', 'input.image:changed']);
  });

  it('uses the written name if the client sent a field that its style does not have', () => {
    const warnings = collectWarnings({ max_tokens: 'max_output_tokens', stop: 'stop_sequences' });
    warnings.leave('max_tokens');
    warnings.leave('stop', 'hint');
    warnings.leave('x'.repeat(400), 'hint');
    assert.deepEqual(warnings.all, ['max_tokens:dropped', 'stop:dropped', `${'x'.repeat(64)}:dropped`]);
    assert.deepEqual(warnings.serious, ['max_tokens:dropped']);
  });

  it('is not confused by names that all objects inherit', () => {
    const warnings = collectWarnings({});
    for (const name of ['constructor', 'toString', '__proto__', 'valueOf.constructor']) warnings.drop(name);
    assert.deepEqual(warnings.all, [
      'constructor:dropped',
      'toString:dropped',
      '__proto__:dropped',
      'valueOf.constructor:dropped',
    ]);
  });

  it('is limited in number and length', () => {
    const warnings = collectWarnings({});
    for (let i = 0; i < 30_000; i++) warnings.drop(`field_${i}_${'x'.repeat(400)}`, i < 5 ? 'hint' : undefined);
    for (let i = 0; i < 30_000; i++) warnings.drop(`field_${i}_${'x'.repeat(400)}`);
    assert.equal(warnings.all.length, 65);
    assert.equal(warnings.all[0], `${`field_0_${'x'.repeat(400)}`.slice(0, 64)}:dropped`);
    assert.equal(warnings.all[64], 'and 29936 more');
    assert.equal(warnings.serious.at(-1), 'and 29936 more');
    assert.throws(
      () => warnings.refuse('x'.repeat(1_000), 'is too much.'),
      (error: Error) => error.message.length < 100,
    );
    warnings.omit('y'.repeat(1_000));
    assert.equal(warnings.all[64], 'and 29937 more');
  });

  it('is sent in a header as far as there is room, and all are counted', () => {
    const words = (count: number): readonly string[] =>
      Array.from({ length: count }, (_, i) => `field_${i + 10}:dropped`);
    assert.equal(warningHeader(words(2)), 'field_10:dropped, field_11:dropped');
    assert.equal(warningHeader([...words(2), 'and 12 more']), 'field_10:dropped, field_11:dropped, and 12 more');
    const long = warningHeader([...words(64), 'and 12 more']);
    assert.ok(long.length <= 1_024, `${long.length} characters`);
    const told = long.split(', ');
    assert.equal(told.at(-1), `and ${64 + 12 - (told.length - 1)} more`);
    assert.equal(warningHeader(['x'.repeat(2_000), 'y:dropped']), 'and 2 more');
    assert.equal(warningHeader(['a,b:dropped', 'ü:dropped']), 'a;b:dropped, ?:dropped');
    assert.equal(warningHeader([]), '');
  });

  it('may be about a field that the configuration removes', () => {
    const warnings = collectWarnings({ thinking: 'reasoning' });
    const quirks = {
      drop_fields: ['thinking', 'metadata', 'store', 'absent'],
      rename_fields: { seed: 'random_seed' },
      set_fields: { safe: true },
      routing_fields: ['route'],
    };
    const body = {
      model: 'm',
      models: ['n'],
      route: 'r',
      thinking: {},
      metadata: {},
      store: true,
      seed: 1,
      constructor: 2,
    };
    assert.deepEqual(withFieldQuirks(body, quirks, warnings), {
      model: 'm',
      route: 'r',
      random_seed: 1,
      constructor: 2,
      safe: true,
    });
    assert.deepEqual(warnings.all, ['models:dropped', 'reasoning:dropped', 'metadata:dropped', 'store:dropped']);
    assert.deepEqual(warnings.serious, ['models:dropped', 'reasoning:dropped']);
  });
});
