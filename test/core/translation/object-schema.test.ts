/** Schemas of tools for vendors that refuse a union at the top level: what the plain object still demands, and what it tells. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { hasRootUnion, objectSchema } from '../../../core/translation/adapt/object-schema.ts';
import { adapted, conversationOf, said } from '../../kit/conversations/conversations.ts';
import fc from '../../kit/fast-check.ts';

const text = { type: 'string' };
const number = { type: 'number' };

describe('flattening a schema to one object', () => {
  it('has the members of all branches, and requires what every branch requires', () => {
    const schema = {
      type: 'object',
      description: 'Moves.',
      oneOf: [
        { properties: { to: text, at: text }, required: ['to', 'at'] },
        { properties: { to: number, by: number }, required: ['to', 'by'] },
      ],
    };
    assert.deepEqual(objectSchema(schema), {
      type: 'object',
      description: 'Moves. {oneOf: [{"required":["to","at"]},{"required":["to","by"]}]}',
      properties: { to: { anyOf: [text, number] }, at: text, by: number },
      required: ['to'],
    });
  });

  it('merges allOf, and resolves local references', () => {
    const schema = {
      $defs: { base: { properties: { id: text }, required: ['id'] } },
      allOf: [{ $ref: '#/$defs/base' }, { properties: { n: number }, required: ['n'] }],
      properties: { own: text },
      additionalProperties: false,
    };
    const { $defs: _, ...plain } = objectSchema(schema);
    assert.deepEqual(plain, {
      type: 'object',
      properties: { own: text, id: text, n: number },
      required: ['id', 'n'],
      additionalProperties: false,
    });
  });

  it('describes the discriminator, and excluded values', () => {
    const kind = (name: string) => ({ properties: { kind: { const: name } }, required: ['kind'] });
    const { description, required } = objectSchema({
      anyOf: [kind('a'), kind('b'), { type: 'null' }],
      not: { required: ['x'] },
    });
    assert.deepEqual(required, ['kind']);
    for (const word of ['"const":"a"', '"const":"b"', 'not: {"required":["x"]}']) {
      assert.ok(String(description).includes(word), word);
    }
  });

  it('ends at a recursive schema', () => {
    const loop = {
      $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }], properties: { x: text } } },
      anyOf: [{ $ref: '#/$defs/a' }],
    };
    assert.deepEqual(objectSchema(loop).properties, { x: text });
  });

  it('accepts every call that one of the branches accepts', () => {
    const branch = fc.record({
      properties: fc.dictionary(
        fc.constantFrom('a', 'b', 'c'),
        fc.constantFrom<JsonObject>(text, number, { type: 'boolean' }),
      ),
      required: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
    });
    const value = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.oneof(fc.string(), fc.integer(), fc.boolean()));
    const ajv = new Ajv2020({ strict: false });
    fc.assert(
      fc.property(
        fc.array(branch, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('anyOf', 'oneOf'),
        value,
        (branches, word, call) => {
          const schema = { type: 'object', [word]: branches };
          const plain = objectSchema(schema);
          assert.ok(!hasRootUnion(plain));
          // A member that only another branch describes is free in this one; no model is told so.
          const known = Object.fromEntries(
            Object.entries(call).filter(([name]) => branches.every(({ properties }) => name in properties)),
          );
          if (ajv.validate(schema, known)) assert.ok(ajv.validate(plain, known), ajv.errorsText());
        },
      ),
    );
  });
});

describe('a tool whose schema is a union', () => {
  const schema = {
    type: 'object',
    properties: {},
    anyOf: [{ properties: { a: text }, required: ['a'] }, { properties: { b: text } }],
  };
  const fit = (root_union: boolean) =>
    adapted(conversationOf([said('user', 'Hi')], { tools: [{ type: 'function', name: 'f', schema, strict: true }] }), {
      tools: { root_union },
    });

  it('is one object for a vendor without unions, and no longer strict', () => {
    const { tools, warnings } = fit(false);
    const [tool] = tools;
    assert.deepEqual(tool, { type: 'function', name: 'f', schema: objectSchema(schema) });
    assert.deepEqual(warnings, ['tools.parameters:changed', 'tools.strict:dropped']);
  });

  it('is unchanged for others, but not strict', () => {
    const { tools, warnings } = fit(true);
    assert.deepEqual(
      [tools, warnings],
      [[{ type: 'function', name: 'f', schema, strict: false }], ['tools.strict:changed']],
    );
  });
});
