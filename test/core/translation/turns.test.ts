import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Block, Turn } from '../../../core/contracts/formats/conversation.ts';
import type { SomeQuirks } from '../../../core/contracts/formats/quirks.ts';
import { adapted, conversationOf, said } from '../../kit/conversations/conversations.ts';

const roles = (more: NonNullable<SomeQuirks['roles']>): SomeQuirks => ({ roles: more });
const fit = (turns: readonly Turn[], quirks: SomeQuirks = {}) => adapted(conversationOf(turns), quirks);
const call = (id: string): Block => ({ type: 'toolCall', id, name: 'read', kind: 'function', input: '{}' });
const result = (id: string, text = `of ${id}`): Block => ({
  type: 'toolResult',
  id,
  kind: 'function',
  content: [{ type: 'text', text }],
});
const missing = (id: string): Block => ({
  ...(result(id, '(no result)') as Block & { type: 'toolResult' }),
  isError: true,
});
const text = (words: string): Block => ({ type: 'text', text: words });
const user = (...blocks: Block[]): Turn => ({ role: 'user', blocks });
const model = (...blocks: Block[]): Turn => ({ role: 'assistant', blocks });

describe('system instructions', () => {
  const early = said('system', 'Be kind.');
  const late = said('developer', 'Be quick.');
  const turns = [early, said('user', 'Hi'), late, said('assistant', 'Hello'), said('user', 'Bye')];

  it('keep their position for a model that supports them there', () => {
    const { turns: fitted, warnings } = fit(turns);
    assert.deepEqual(fitted, turns);
    assert.deepEqual(warnings, []);
  });

  it('have the only role that a model supports', () => {
    const { turns: fitted, warnings } = fit(turns, roles({ developer: 'system' }));
    assert.deepEqual(fitted[2], said('system', 'Be quick.'));
    assert.deepEqual(warnings, []);
  });

  it('move to the front, after those already there', () => {
    const { turns: fitted, warnings } = fit(turns, roles({ mid_system: 'front' }));
    assert.deepEqual(fitted, [early, late, turns[1], turns[3], turns[4]]);
    assert.deepEqual(warnings, ['messages.system:changed']);
  });

  it('become user text in a wrapper, after tool results', () => {
    const { turns: fitted, warnings } = fit(
      [said('user', 'Hi'), model(call('a')), late, user(result('a'))],
      roles({ mid_system: 'user_wrap' }),
    );
    const reminder = text('<system-reminder>\nBe quick.\n</system-reminder>');
    assert.deepEqual(fitted, [said('user', 'Hi'), model(call('a')), user(result('a'), reminder)]);
    assert.deepEqual(warnings, ['messages.system:changed']);
  });

  it('do not separate a call from its result', () => {
    const { turns: fitted } = fit([said('user', 'Hi'), model(call('a')), late, user(result('a'), text('And?'))]);
    assert.deepEqual(fitted, [said('user', 'Hi'), model(call('a')), user(result('a')), late, user(text('And?'))]);
  });

  it('at the front are kept apart for a model that supports several', () => {
    const turns = [early, said('system', 'Be quick.'), said('user', 'Hi')];
    assert.deepEqual(fit(turns).turns, turns);
  });

  it('at the front are merged for a model that supports only one', () => {
    const { turns: fitted } = fit([early, late, said('user', 'Hi')], roles({ merge_system: true }));
    assert.deepEqual(fitted, [{ role: 'system', blocks: [...early.blocks, ...late.blocks] }, said('user', 'Hi')]);
  });

  it('alone get a minimal user turn', () => {
    const { turns: fitted, warnings } = fit([early]);
    assert.deepEqual(fitted, [early, said('user', '.')]);
    assert.deepEqual(warnings, ['messages:changed']);
  });
});

describe('turns', () => {
  it('of one role in a row are merged, unless the model accepts them', () => {
    const turns = [said('user', 'a'), said('user', 'b')];
    assert.deepEqual(fit(turns).turns, [user(text('a'), text('b'))]);
    assert.deepEqual(fit(turns, roles({ merge_same: false })).turns, turns);
  });

  it('that are merged lose names that only one of them has', () => {
    const { turns, warnings, serious } = fit([{ ...said('user', 'a'), name: 'ann' }, said('user', 'b')]);
    assert.deepEqual(turns, [user(text('a'), text('b'))]);
    assert.deepEqual(warnings, ['messages.name:dropped']);
    assert.deepEqual(serious, []);
  });

  it('without content are removed, and so are empty texts', () => {
    const { turns, warnings } = fit([said('user', 'a'), said('assistant', ''), user(text(' \n'), text('b'))]);
    assert.deepEqual(turns, [user(text('a'), text('b'))]);
    assert.deepEqual(warnings, ['messages:changed']);
  });

  it('start with the user if the model requires it', () => {
    const { turns, warnings } = fit([said('assistant', 'Hello'), said('user', 'Hi')], roles({ first_user: true }));
    assert.deepEqual(turns, [said('user', '.'), said('assistant', 'Hello'), said('user', 'Hi')]);
    assert.deepEqual(warnings, ['messages:changed']);
  });

  it('end with the user if the model does not support prefill', () => {
    const turns = [said('user', 'Hi'), said('assistant', 'Once upon')];
    assert.deepEqual(fit(turns).turns, turns);
    const { turns: fitted, warnings } = fit(turns, { prefill: false });
    assert.deepEqual(fitted, [said('user', 'Hi')]);
    assert.deepEqual(warnings, ['messages:changed']);
  });

  it('with a call at the end are kept, whether or not the model supports prefill', () => {
    const turns = [said('user', 'Hi'), model(call('a'))];
    assert.deepEqual(fit(turns, { prefill: false }).turns, turns);
  });
});

describe('calls and their results', () => {
  it('are adjacent, the results first', () => {
    const { turns, warnings } = fit([
      user(text('Hi')),
      model(call('a'), call('b')),
      user(text('So?'), result('b'), result('a')),
    ]);
    assert.deepEqual(turns.at(-1), user(result('b'), result('a'), text('So?')));
    assert.deepEqual(warnings, []);
  });

  it('a late result moves to its call', () => {
    const { turns } = fit([
      user(text('Hi')),
      model(call('a')),
      user(text('Wait')),
      model(text('Yes?')),
      user(result('a')),
    ]);
    assert.deepEqual(turns, [user(text('Hi')), model(call('a')), user(result('a'), text('Wait')), model(text('Yes?'))]);
  });

  it('calls of several turns in a row are answered together', () => {
    const { turns } = fit([user(text('Hi')), model(call('a')), model(call('b')), user(result('a'), result('b'))]);
    assert.deepEqual(turns.slice(1), [model(call('a'), call('b')), user(result('a'), result('b'))]);
  });

  it('turns around a moved result are merged', () => {
    const { turns } = fit([
      ...[user(text('Hi')), model(call('a')), user(text('Wait'))],
      ...[model(text('I')), user(result('a')), model(text('do'))],
    ]);
    assert.deepEqual(turns.slice(2), [user(result('a'), text('Wait')), model(text('I'), text('do'))]);
  });

  it('a second result of one call is removed', () => {
    const { turns, warnings } = fit([user(text('Hi')), model(call('a')), user(result('a', '1'), result('a', '2'))]);
    assert.deepEqual(turns.at(-1), user(result('a', '1')));
    assert.deepEqual(warnings, ['messages.tool_results:changed']);
  });

  it('a result without a call becomes user text', () => {
    const { turns, warnings } = fit([user(text('Hi'), result('gone'))]);
    assert.deepEqual(turns, [user(text('Hi'), text('Result of an earlier tool call (gone):'), text('of gone'))]);
    assert.deepEqual(warnings, ['messages.tool_results:changed']);
  });

  it('a call without a result gets a placeholder, except at the very end', () => {
    const { turns, warnings } = fit([
      user(text('Hi')),
      model(call('a'), call('b')),
      user(result('b')),
      model(call('c')),
    ]);
    assert.deepEqual(turns.slice(2), [user(result('b'), missing('a')), model(call('c'))]);
    assert.deepEqual(warnings, ['messages.tool_calls:changed']);
  });

  it('of an id that is reused in a later turn are matched turn by turn', () => {
    const turns = [
      user(text('Hi')),
      model(call('a')),
      user(result('a', '1')),
      model(call('a')),
      user(result('a', '2')),
    ];
    const { turns: fitted, warnings } = fit(turns);
    assert.deepEqual(fitted.slice(3), [model(call('a_2')), user(result('a_2', '2'))]);
    assert.deepEqual(fitted[2], user(result('a', '1')));
    assert.deepEqual(warnings, []);
  });

  it('have ids that the vendor accepts, consistent and deterministic', () => {
    const long = 'toolu_'.repeat(20);
    const turns = [
      user(text('Hi')),
      model(call('functions.Bash:0'), call(long)),
      user(result('functions.Bash:0'), result(long)),
    ];
    const [, calls, results] = fit(turns).turns;
    const ids = calls?.blocks.map((block) => 'id' in block && block.id);
    assert.deepEqual(
      results?.blocks.map((block) => 'id' in block && block.id),
      ids,
    );
    assert.match(String(ids?.[0]), /^functions_Bash_0_[0-9a-f]{8}$/);
    assert.match(String(ids?.[1]), /^(toolu_){9}t_[0-9a-f]{8}$/);
    assert.deepEqual(fit(turns).turns[1], calls);
  });

  it('support short id rules as well: nine letters and digits', () => {
    const quirks: SomeQuirks = { tools: { id_max: 9, id_pattern: '[a-zA-Z0-9]{9}' } };
    const [, calls] = fit([user(text('Hi')), model(call('call_1')), user(result('call_1'))], quirks).turns;
    assert.match(String(calls?.blocks[0] && 'id' in calls.blocks[0] && calls.blocks[0].id), /^[0-9a-f]{9}$/);
  });
});

describe('sealed reasoning', () => {
  const thought = (style: string, channel?: string): Block => ({
    type: 'thinking',
    text: 'hm',
    opaque: { style, kind: 'signature', value: 'x', ...(channel !== undefined && { channel }) },
  });
  const kept = (block: Block, quirks: SomeQuirks = {}): boolean => {
    const { turns, serious } = fit([user(text('Hi')), model(block, text('Hello')), user(text('Bye'))], quirks);
    assert.deepEqual(serious, []);
    const [first] = turns[1]?.blocks ?? [];
    assert.equal(first?.type, 'thinking');
    return first !== undefined && 'opaque' in first;
  };

  it('is sent back to its maker only', () => {
    assert.equal(kept(thought('chat', 'here')), true);
    assert.equal(kept(thought('chat')), true);
    assert.equal(kept(thought('chat', 'there')), false);
    assert.equal(kept(thought('messages', 'here')), false);
  });

  it('is sent to every channel of the style if any of them can read it', () => {
    assert.equal(kept(thought('chat', 'there'), { reasoning: { signature_scope: 'provider' } }), true);
  });

  it('of others is removed, with blocks that have nothing else', () => {
    const sealed: Block = { type: 'thinking', text: '', opaque: { style: 'gemini', kind: 'thought', value: 'x' } };
    const { turns, warnings } = fit([user(text('Hi')), model(sealed, text('Hello')), user(text('Bye'))]);
    assert.deepEqual(turns[1], model(text('Hello')));
    assert.deepEqual(warnings, ['messages.reasoning:dropped']);
  });

  it('on a call is handled in the same way', () => {
    const sealed = { ...call('a'), opaque: { style: 'gemini', kind: 'thought', value: 'x' } } as Block;
    assert.deepEqual(fit([user(text('Hi')), model(sealed)]).turns[1], model(call('a')));
  });

  it('results of foreign vendor-side tools are dropped by name', () => {
    const search: Block = { type: 'foreign', style: 'responses', what: 'web_search_call', raw: {} };
    assert.deepEqual(fit([user(text('Hi')), model(search, text('Found'))]).serious, [
      'messages.web_search_call:dropped',
    ]);
  });
});

describe('a conversation that exceeds the context window', () => {
  const turns = [
    said('system', 'Be kind.'),
    said('user', 'x'.repeat(400)),
    model(call('a')),
    user(result('a', 'y'.repeat(400))),
    said('assistant', 'So be it.'),
    said('user', 'Bye'),
  ];
  const cut = (context: number | undefined, truncation: 'auto' | 'disabled' = 'auto') =>
    adapted(conversationOf(turns, { truncation, maxTokens: 10 }), { limits: context === undefined ? {} : { context } });

  it('loses its oldest turns, and keeps no result without its call', () => {
    const { turns: fitted, warnings, truncation } = cut(150);
    assert.deepEqual(fitted, [turns[0], turns[2], turns[3], turns[4], turns[5]]);
    assert.deepEqual(warnings, ['messages:changed']);
    assert.equal(truncation, undefined);
    assert.deepEqual(cut(100).turns, [turns[0], turns[4], turns[5]]);
    // Here the result alone would fit.
    assert.deepEqual(cut(116).turns, [turns[0], turns[4], turns[5]]);
  });

  it('keeps its system instructions and the last user turn, however long they are', () => {
    assert.deepEqual(cut(1).turns, [turns[0], turns[5]]);
    const results = adapted(conversationOf(turns.slice(0, 4), { truncation: 'auto' }), { limits: { context: 1 } });
    assert.deepEqual(results.turns, [turns[0], turns[2], turns[3]]);
  });

  it('is unchanged if it fits, if truncation was not requested, and if the limit is unknown', () => {
    assert.deepEqual(cut(1_000).turns, turns);
    assert.deepEqual(cut(1, 'disabled').turns, turns);
    assert.deepEqual(cut(1, 'disabled').warnings, []);
    assert.deepEqual(cut(undefined).turns, turns);
    assert.deepEqual(cut(undefined).warnings, ['truncation:dropped']);
    assert.deepEqual(cut(undefined).serious, []);
  });
});
