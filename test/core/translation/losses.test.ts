import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withFieldQuirks } from '../../../core/translation/field-quirks.ts';
import { collectLosses, lossHeader } from '../../../core/translation/losses.ts';

describe('a warning', () => {
  it("uses the client's name of the field", () => {
    const losses = collectLosses({ messages: 'input', 'messages.name': 'input.author' });
    losses.drop('messages.name');
    losses.change('messages.image');
    losses.omit('citations');
    losses.drop('user', 'hint');
    assert.deepEqual(losses.all, ['input.author:dropped', 'input.image:changed', 'citations:omitted', 'user:dropped']);
    assert.deepEqual(losses.serious, ['input.author:dropped', 'input.image:changed']);
  });

  it('uses the written name if the client sent a field that its style does not have', () => {
    const losses = collectLosses({ max_tokens: 'max_output_tokens', stop: 'stop_sequences' });
    losses.leave('max_tokens');
    losses.leave('stop', 'hint');
    losses.leave('x'.repeat(400), 'hint');
    assert.deepEqual(losses.all, ['max_tokens:dropped', 'stop:dropped', `${'x'.repeat(64)}:dropped`]);
    assert.deepEqual(losses.serious, ['max_tokens:dropped']);
  });

  it('is not confused by names that all objects inherit', () => {
    const losses = collectLosses({});
    for (const name of ['constructor', 'toString', '__proto__', 'valueOf.constructor']) losses.drop(name);
    assert.deepEqual(losses.all, [
      'constructor:dropped',
      'toString:dropped',
      '__proto__:dropped',
      'valueOf.constructor:dropped',
    ]);
  });

  it('is limited in number and length', () => {
    const losses = collectLosses({});
    for (let i = 0; i < 30_000; i++) losses.drop(`field_${i}_${'x'.repeat(400)}`, i < 5 ? 'hint' : undefined);
    for (let i = 0; i < 30_000; i++) losses.drop(`field_${i}_${'x'.repeat(400)}`);
    assert.equal(losses.all.length, 65);
    assert.equal(losses.all[0], `${`field_0_${'x'.repeat(400)}`.slice(0, 64)}:dropped`);
    assert.equal(losses.all[64], 'and 29936 more');
    assert.equal(losses.serious.at(-1), 'and 29936 more');
    assert.throws(
      () => losses.refuse('x'.repeat(1_000), 'is too much.'),
      (error: Error) => error.message.length < 100,
    );
    losses.omit('y'.repeat(1_000));
    assert.equal(losses.all[64], 'and 29937 more');
  });

  it('is sent in a header as far as there is room, and all are counted', () => {
    const words = (count: number): readonly string[] =>
      Array.from({ length: count }, (_, i) => `field_${i + 10}:dropped`);
    assert.equal(lossHeader(words(2)), 'field_10:dropped, field_11:dropped');
    assert.equal(lossHeader([...words(2), 'and 12 more']), 'field_10:dropped, field_11:dropped, and 12 more');
    const long = lossHeader([...words(64), 'and 12 more']);
    assert.ok(long.length <= 1_024, `${long.length} characters`);
    const told = long.split(', ');
    assert.equal(told.at(-1), `and ${64 + 12 - (told.length - 1)} more`);
    assert.equal(lossHeader(['x'.repeat(2_000), 'y:dropped']), 'and 2 more');
    assert.equal(lossHeader(['a,b:dropped', 'ü:dropped']), 'a;b:dropped, ?:dropped');
    assert.equal(lossHeader([]), '');
  });

  it('may be about a field that the configuration removes', () => {
    const losses = collectLosses({ thinking: 'reasoning' });
    const quirks = {
      drop_fields: ['thinking', 'metadata', 'store', 'absent'],
      rename_fields: { seed: 'random_seed' },
      set_fields: { safe: true },
    };
    const body = { model: 'm', thinking: {}, metadata: {}, store: true, seed: 1, constructor: 2 };
    assert.deepEqual(withFieldQuirks(body, quirks, losses), { model: 'm', random_seed: 1, constructor: 2, safe: true });
    assert.deepEqual(losses.all, ['reasoning:dropped', 'metadata:dropped', 'store:dropped']);
    assert.deepEqual(losses.serious, ['reasoning:dropped']);
  });
});
