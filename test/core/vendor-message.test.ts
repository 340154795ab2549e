/** The sentence in a vendor's error: found in every shape that vendors give it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messageIn } from '../../core/vendor-message.ts';

describe('the sentence in an error', () => {
  const wrapped = JSON.stringify({ error: { message: JSON.stringify({ message: 'Too long.' }) } });
  for (const [body, sentence] of [
    ['{"error":{"message":"Too long."}}', 'Too long.'],
    ['{"error":"Too long."}', 'Too long.'],
    ['[{"error":{"message":"Too long."}}]', 'Too long.'],
    ['{"object":"error","message":"Too long.","code":400}', 'Too long.'],
    ['{"error":"","message":"Too long."}', 'Too long.'],
    ['{"detail":"Too long."}', 'Too long.'],
    [
      '{"detail":[{"type":"missing","loc":["body","messages",0,"content"],"msg":"Field required"}]}',
      'body.messages.0.content: Field required',
    ],
    ['{"code":7,"msg":"Too long."}', 'Too long.'],
    [wrapped, 'Too long.'],
    ['{"error":{}}', undefined],
    ['{"detail":[]}', undefined],
    ['<html>Bad gateway</html>', undefined],
    ['', undefined],
  ] as const) {
    it(`is ${sentence ?? 'nowhere'} in ${body === '' ? 'nothing' : body}`, () => {
      assert.equal(messageIn(Buffer.from(body)), sentence);
    });
  }
});
