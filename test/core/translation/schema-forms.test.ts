/** Schemas that clients send and vendors refuse: the accepted form, and which ones may be strict or closed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { answerSchema, argumentsSchema, canBeClosed, isStrict } from '../../../core/translation/schema-forms.ts';
import fc from '../../kit/fast-check.ts';

const text = { type: 'string' };
const bare = { type: 'object' };
const object = { type: 'object', properties: {} };

describe('the schema of arguments', () => {
  const forms: readonly (readonly [string, JsonObject, JsonObject])[] = [
    ['has properties', bare, object],
    ['has properties in place of null', { type: 'object', properties: null, required: null }, object],
    ['is an object', {}, object],
    [
      'is an object even if it may be null',
      { type: ['object', 'null'], properties: { a: text } },
      { type: 'object', properties: { a: text } },
    ],
    [
      'has items at any depth',
      { ...bare, properties: { a: { type: 'array', items: { type: 'array' } } } },
      { ...bare, properties: { a: { type: 'array', items: { type: 'array', items: {} } } } },
    ],
    [
      'has the first items by their name of today',
      { ...bare, properties: { a: { type: 'array', items: [text] } } },
      { ...bare, properties: { a: { type: 'array', prefixItems: [text], items: {} } } },
    ],
    [
      'has no member beside a reference',
      { ...object, properties: { a: { $ref: '#/$defs/A', description: 'd' } }, $defs: { A: bare } },
      { ...object, properties: { a: { description: 'd', anyOf: [{ $ref: '#/$defs/A' }] } }, $defs: { A: object } },
    ],
    [
      'is no reference itself',
      { $ref: '#/$defs/A', $defs: { A: { ...bare, properties: { a: text } } } },
      { ...bare, properties: { a: text }, $defs: { A: { ...bare, properties: { a: text } } } },
    ],
    ['has an object in place of `true`', { ...object, properties: { a: true } }, { ...object, properties: { a: {} } }],
    [
      'has no empty lists',
      { ...object, properties: { a: { type: 'string', enum: [], anyOf: [] } } },
      { ...object, properties: { a: text } },
    ],
    [
      'has types in lower case',
      { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
      { type: 'object', properties: { a: text } },
    ],
  ];
  for (const [name, given, accepted] of forms) {
    it(name, () => assert.deepEqual(argumentsSchema(given), accepted));
  }

  it('keeps a property by the name of a keyword, and values that look like schemas', () => {
    const schema = {
      ...bare,
      properties: { properties: text, items: text, type: text },
      default: { type: 'array' },
      enum: [null, { type: 'object' }],
    };
    assert.equal(argumentsSchema(schema), schema);
  });

  it('is the same object if nothing has to be changed, and accepts the same values in any case', () => {
    const ajv = new Ajv2020({ strict: false });
    const { schema: anySchema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<JsonObject>(text, { type: 'integer', minimum: 1 }, bare, { type: 'array' }, {}),
        fc.record({ type: fc.constant('object'), properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')) }),
        fc.record({ type: fc.constant('array'), items: tie('schema') }),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
      ),
    }));
    fc.assert(
      fc.property(anySchema, fc.jsonValue(), (schema, value) => {
        const accepted = answerSchema(schema);
        assert.equal(answerSchema(accepted), accepted, 'a second time changes nothing');
        assert.equal(ajv.validate(accepted, value), ajv.validate(schema, value));
      }),
      { numRuns: 200 },
    );
  });
});

describe('the strict mode of vendors that want everything required', () => {
  const closed = { type: 'object', properties: { a: text }, required: ['a'], additionalProperties: false };
  it('accepts closed objects only, at every depth', () => {
    const holds = (a: JsonObject): boolean => isStrict({ ...closed, properties: { a } });
    assert.ok(isStrict(closed));
    assert.ok(holds(closed));
    assert.ok(holds({ anyOf: [text, { type: 'null' }] }));
    for (const refused of [
      { ...closed, required: [] },
      { ...closed, additionalProperties: true },
      bare,
      {},
      { type: 'array', items: bare },
      { type: 'string', minLength: 1 },
      { type: 'string', default: 'x' },
      { allOf: [closed] },
    ]) {
      assert.ok(!holds(refused), JSON.stringify(refused));
      assert.ok(!isStrict({ ...closed, $defs: { A: refused } }), 'among the definitions, too');
    }
    assert.ok(!isStrict({ anyOf: [closed] }), 'no union at the top');
  });
});

describe('an object that is closed', () => {
  it('may have lost its meaning: a free one, a map, and a recursive one', () => {
    const holds = (a: JsonObject, more: JsonObject = {}): boolean =>
      canBeClosed({ type: 'object', properties: { a }, ...more });
    assert.ok(holds(text));
    assert.ok(holds({ type: 'object', properties: {}, additionalProperties: false }));
    assert.ok(holds({ $ref: '#/$defs/A' }, { $defs: { A: { type: 'object', properties: { b: text } } } }));
    assert.ok(holds(text, { $defs: { A: bare } }), 'what is not used does not count');
    assert.ok(!holds(bare));
    assert.ok(!holds({ type: 'array', items: { anyOf: [text, bare] } }));
    assert.ok(!holds({ type: 'object', additionalProperties: { type: 'integer' } }));
    assert.ok(!holds({ $ref: '#/$defs/A' }, { $defs: { A: { type: 'array', items: { $ref: '#/$defs/A' } } } }));
    assert.ok(!holds({ $ref: '#' }));
  });
});
