/** What a replay takes for an answer of the vendor's own style: the vendor's, and beside it only what is promised, in its place. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../core/plugin.ts';
import { isCompleted } from '../../../scripts/replay/completed.ts';

const whole = (told: JsonObject, seen: JsonObject): boolean =>
  isCompleted(Buffer.from(JSON.stringify(told)), Buffer.from(JSON.stringify(seen)), false);
const streamed = (told: readonly JsonObject[], seen: readonly JsonObject[]): boolean => {
  const [one, other] = [told, seen].map((events) =>
    events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
  );
  return isCompleted(Buffer.from(one!), Buffer.from(other!), true);
};

const USAGE = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };

describe('an answer in a replay', () => {
  it('is the vendor’s, and may have what is promised and was left out', () => {
    assert.ok(whole({ id: 'a' }, { id: 'a' }));
    assert.ok(whole({ id: 'a' }, { id: 'a', usage: USAGE }));
    assert.ok(whole({ id: 'a', usage: null }, { id: 'a', usage: USAGE }));
    assert.ok(whole({ usage: USAGE }, { usage: { ...USAGE, prompt_tokens: 3, completion_tokens: 2 } }));
    assert.ok(whole({ previous_response_id: null }, { previous_response_id: 'resp_1' }));
    assert.ok(streamed([{ response: { id: 'a' } }], [{ response: { id: 'a', usage: USAGE } }]));
  });

  it('is another with a promised member that says what it cannot mean', () => {
    for (const usage of ['none', {}, [], { input_tokens: -1 }, { input_tokens: 1.5 }, { input_tokens: '3' }]) {
      assert.equal(whole({ id: 'a' }, { id: 'a', usage }), false, JSON.stringify(usage));
    }
    assert.equal(whole({ usage: USAGE }, { usage: { ...USAGE, prompt_tokens: null } }), false);
    assert.equal(whole({ id: 'a' }, { id: 'a', previous_response_id: 7 }), false);
  });

  it('is another with a promised member in another place, or one that is not promised', () => {
    assert.equal(whole({ output: [{}] }, { output: [{ usage: USAGE }] }), false);
    assert.equal(whole({ text: {} }, { text: { input_tokens: 3 } }), false);
    assert.equal(whole({ id: 'a' }, { id: 'a', input_tokens: 3 }), false);
    assert.equal(whole({ usage: USAGE }, { usage: { ...USAGE, cost: 3 } }), false);
    assert.equal(whole({ id: 'a' }, { id: 'a', mood: 'calm' }), false);
  });

  it('is another with a member less, or one that changed', () => {
    assert.equal(whole({ id: 'a', usage: USAGE }, { id: 'a' }), false);
    assert.equal(whole({ usage: USAGE }, { usage: { ...USAGE, input_tokens: 4 } }), false);
    assert.equal(streamed([{ id: 'a' }, { id: 'b' }], [{ id: 'a' }]), false);
  });
});
