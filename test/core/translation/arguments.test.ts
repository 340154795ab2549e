import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { argumentsOf } from '../../../core/bytes/values.ts';

describe('the arguments of a tool call as an object', () => {
  it('are the object; any other value is wrapped in one', () => {
    for (const [text, input] of [
      ['{"a":1}', { a: 1 }],
      ['', {}],
      [' \n', {}],
      ['[1]', { value: [1] }],
      // What some servers write for no arguments.
      ['null', {}],
      ['[ ]', {}],
      ['""', {}],
      ['"x"', { value: 'x' }],
      ['{"a":', { _raw: '{"a":' }],
    ] as const) {
      assert.deepEqual(argumentsOf(text), input, text);
    }
  });
});
