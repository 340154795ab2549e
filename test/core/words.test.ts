import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wordAt } from '../../core/bytes/json-text.ts';
import fc from '../kit/fast-check.ts';

const word = (text: string): string | undefined => {
  const bytes = Buffer.from(`"${text}"`);
  return wordAt(bytes, 1, bytes.length - 1);
};

describe('interned short strings', () => {
  it('equal their bytes, however many others share their slot', () => {
    const plain = fc.string({ maxLength: 64 }).filter((text) => !text.includes('\\'));
    fc.assert(fc.property(fc.array(plain, { maxLength: 50 }), (texts) => texts.every((text) => word(text) === text)));
    for (let i = 0; i < 5_000; i++) assert.equal(word(`model-${i}`), `model-${i}`);
  });

  it('are left to the parser if they have escapes, control characters or non-ASCII characters, or are long', () => {
    for (const text of ['a\\u0062', 'a\nb', 'gr\u00fcn', 'x'.repeat(65)]) assert.equal(word(text), undefined);
  });
});
