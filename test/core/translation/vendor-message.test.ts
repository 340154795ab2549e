/** The sentence and the code in a vendor's error: found in every shape that vendors give them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusalIn } from '../../../core/translation/vendor-errors.ts';

describe('the message in a vendor error', () => {
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
    it(`is ${sentence ?? 'missing'} in ${body === '' ? 'an empty body' : body}`, () => {
      assert.equal(refusalIn(Buffer.from(body))?.message, sentence);
    });
  }
});

describe('the code in a vendor error', () => {
  for (const [body, code] of [
    ['{"error":{"message":"No.","type":"insufficient_quota","code":"insufficient_quota"}}', 'insufficient_quota'],
    ['{"error":{"message":"No.","type":"exceeded_current_quota_error"}}', 'exceeded_current_quota_error'],
    ['{"error":{"message":"No.","type":"exceed_context_size_error","code":400}}', 'exceed_context_size_error'],
    ['{"error":{"message":"No.","code":503,"status":"UNAVAILABLE"}}', 'UNAVAILABLE'],
    ['[{"error":{"message":"No.","code":503,"status":"UNAVAILABLE"}}]', 'UNAVAILABLE'],
    ['{"type":"error","error":{"message":"No.","type":"overloaded_error"}}', 'overloaded_error'],
    ['{"object":"error","message":"No.","type":"BadRequestError","code":400}', 'BadRequestError'],
    ['{"error":"No.","code":7}', '7'],
    ['{"detail":"No."}', ''],
    [JSON.stringify({ error: { code: 'outer', message: '{"error":{"code":"inner","message":"No."}}' } }), 'inner'],
    [JSON.stringify({ error: { code: 'outer', message: '{"message":"No."}' } }), 'outer'],
  ] as const) {
    it(`is '${code}' in ${body}`, () => {
      assert.equal(refusalIn(Buffer.from(body))?.code, code);
    });
  }
});
