import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Block, Conversation, Part, Reply } from '../../../core/contracts/formats/conversation.ts';
import type { SomeQuirks } from '../../../core/contracts/formats/quirks.ts';
import { adapt } from '../../../core/translation/adapt/adapt.ts';
import type { Restorer } from '../../../core/translation/adapt/restore.ts';
import { createRestorer } from '../../../core/translation/adapt/restore.ts';
import { foldParts, partsOf } from '../../../core/translation/conversation/fold.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { share } from '../../kit/console/whole.ts';
import { conversationOf, replies, replyOf, said, streamsOf, targetOf } from '../../kit/conversations/conversations.ts';
import { checkParts } from '../../kit/conversations/parts.ts';
import fc from '../../kit/fast-check.ts';

function restorer(more: Partial<Conversation>, quirks: SomeQuirks = {}) {
  return adapt(conversationOf([said('user', 'Hi')], more), 'chat', targetOf(quirks), collectWarnings({}));
}

/** Every part that comes out of a stream; the list of each call is used up before the next. */
function streamed(restore: Restorer, parts: readonly Part[]): readonly Part[] {
  const step = restore.parts();
  return parts.flatMap((part) => step(part));
}

function call(name: string, input: string): Block {
  return { type: 'toolCall', id: 'call_1', name, kind: 'function', input };
}

/** Streams one text in these pieces. */
function textOf(pieces: readonly string[]): readonly Part[] {
  const [start, begin, end, finish] = partsOf(replyOf([{ type: 'text', text: '' }]));
  return [start!, begin!, ...pieces.map((text): Part => ({ type: 'delta', key: 0, text })), end!, finish!];
}

describe('an answer restored for the client', () => {
  it('is the same streamed and whole, wherever its deltas are cut', () => {
    let cuts = 0;
    const restore = createRestorer({
      tools: new Map([
        ['read', { name: 'read file', namespace: 'ns', wrapped: false }],
        ['shell', { name: 'shell', wrapped: true }],
      ]),
      stop: ['STOP', 'two', 'TOP', 'e', '\n'],
    });
    const cases = replies.chain((reply) => fc.tuple(fc.constant(reply), streamsOf(reply, false)));
    fc.assert(
      fc.property(cases, ([reply, parts]) => {
        const whole = restore.reply(reply);
        const restored = streamed(restore, parts);
        checkParts(restored);
        assert.deepEqual(foldParts(restored), whole);
        if (whole.finish.stopSequence !== undefined && whole.finish.stopSequence !== 'END') cuts++;
      }),
      { numRuns: 400 },
    );
    assert.ok(cuts > share(50), `only ${cuts} answers were cut`);
  });

  it('keeps a legal order if blocks are interleaved', () => {
    const restore = createRestorer({
      tools: new Map([['shell', { name: 'sh', wrapped: true }]]),
      stop: ['STOP', 'ell'],
    });
    const cases = replies.chain((reply) => streamsOf(reply, true));
    fc.assert(
      fc.property(cases, (parts) => checkParts(streamed(restore, parts))),
      { numRuns: 200 },
    );
  });

  it('is unchanged if the request was unchanged, except for an inconsistent finish reason', () => {
    const restore = createRestorer({ tools: new Map(), stop: [] });
    fc.assert(
      fc.property(replies, (reply) => {
        const { finish, ...rest } = restore.reply(reply);
        const { finish: before, ...same } = reply;
        assert.deepEqual(rest, same);
        const calls = reply.blocks.some(({ type }) => type === 'toolCall');
        const plain = before.reason === 'stop' || before.reason === 'tool_calls';
        assert.deepEqual(finish, plain ? { ...before, reason: calls ? 'tool_calls' : 'stop' } : before);
      }),
      { numRuns: 100 },
    );
  });

  it('has the reason for tool calls if it stops with calls; a length limit stays one', () => {
    const { restore } = restorer({});
    assert.equal(restore.reply(replyOf([call('read', '{}')], 'stop')).finish.reason, 'tool_calls');
    assert.equal(restore.reply(replyOf([], 'tool_calls')).finish.reason, 'stop');
    for (const reason of ['length', 'content_filter', 'refusal'] as const) {
      assert.equal(restore.reply(replyOf([call('read', '{')], reason)).finish.reason, reason);
    }
  });
});

describe('restored tool calls', () => {
  const long = `${'very_'.repeat(20)}long`;
  const tools: Conversation['tools'] = [
    { type: 'function', name: long },
    { type: 'function', name: 'read', namespace: 'mcp' },
    { type: 'custom', name: 'apply_patch' },
  ];
  const { conversation, restore } = restorer({ tools });
  const [longAlias = '', flat = '', patch = ''] = conversation.tools.map(({ name }) => name);
  const restored = (name: string, input: string): Block | undefined =>
    restore.reply(replyOf([call(name, input)])).blocks[0];

  it("have the client's names and namespaces", () => {
    assert.notEqual(longAlias, long);
    assert.equal(flat, 'mcp__read');
    assert.deepEqual(restored(longAlias, '{}'), call(long, '{}'));
    assert.deepEqual(restored(flat, '{}'), { ...call('read', '{}'), namespace: 'mcp' });
    assert.deepEqual(restored('made_up', '{}'), call('made_up', '{}'));
  });

  for (const [how, input, expected] of [
    ['as it was told to', '{"input":"*** Begin"}', '*** Begin'],
    ['as it has learnt the tool elsewhere', '{"patch":"*** Begin","x":1}', '*** Begin'],
    ['in a property of its own', '{"diff":"*** Begin"}', '*** Begin'],
    ['as a JSON string', '"*** Begin"', '*** Begin'],
    ['as bare text', '*** Begin', '*** Begin'],
    ['in an object of several', '{"a":"x","b":"y"}', '{"a":"x","b":"y"}'],
    ['cut in the middle', '{"input":"*** Be', '{"input":"*** Be'],
    ['with nothing', '', ''],
  ] as const) {
    it(`have the free text of a custom tool if the model calls it ${how}`, () => {
      assert.deepEqual(restored(patch, input), { ...call('apply_patch', expected), kind: 'custom' });
    });
  }

  it('have the text of a wrapped call in one piece, when it is complete', () => {
    const [start, begin, , end, finish] = partsOf(replyOf([call(patch, 'x')]));
    const pieces = ['{"in', 'put":"a\\', 'nb"}'].map((text): Part => ({ type: 'delta', key: 0, text }));
    const step = restore.parts();
    const counts = [start!, begin!, ...pieces, end!, finish!].map((part) => step(part).length);
    assert.deepEqual(counts, [1, 1, 0, 0, 0, 2, 1]);
  });
});

describe('stop sequences applied by the gateway', () => {
  const { restore } = restorer({ stop: ['END', 'ENDING', 'Q:'] }, { stop: { max: 0 } });
  const told = (pieces: readonly string[]): Reply => foldParts(streamed(restore, textOf(pieces)))!;

  it('are removed with everything that follows, in chunks of any size', () => {
    for (const pieces of [['one END two'], ['one E', 'N', 'D two'], ['one ', 'END', ' two']]) {
      const reply = told(pieces);
      assert.deepEqual(reply.blocks, [{ type: 'text', text: 'one ' }]);
      assert.deepEqual(reply.finish, { reason: 'stop_sequence', stopSequence: 'END' });
    }
  });

  it('release a partial match that does not continue', () => {
    const reply = told(['one EN', 'EN', 'Q', 'Q EN']);
    assert.deepEqual(reply.blocks, [{ type: 'text', text: 'one ENENQQ EN' }]);
    assert.deepEqual(reply.finish, { reason: 'stop' });
  });

  it('are removed as a whole if a shorter one ends at the same position', () => {
    for (const stop of [
      ['TOP', 'STOP'],
      ['STOP', 'TOP'],
    ]) {
      const { restore: both } = restorer({ stop }, { stop: { max: 0 } });
      const reply = foldParts(streamed(both, textOf(['one ST', 'OP'])));
      assert.deepEqual(reply?.blocks, [{ type: 'text', text: 'one ' }]);
      assert.equal(reply?.finish.stopSequence, 'STOP');
    }
  });

  it('do not hold back text that cannot start one', () => {
    const step = restore.parts();
    const passed = textOf(['one E', 'x']).map((part) =>
      step(part)
        .map((own) => (own.type === 'delta' ? own.text : ''))
        .join(''),
    );
    assert.deepEqual(passed, ['', '', 'one ', 'Ex', '', '']);
  });

  it('suppress later blocks, but not the usage', () => {
    const usage = {
      input: 1,
      cacheRead: 0,
      cacheWrite: 0,
      cacheWriteLong: 0,
      inputAudio: 0,
      output: 9,
      reasoning: 0,
      outputAudio: 0,
      estimated: false,
    };
    const reply = restore.reply({ ...replyOf([{ type: 'text', text: 'aEND' }, call('read', '{}')], 'length'), usage });
    assert.deepEqual(reply.blocks, [{ type: 'text', text: 'a' }]);
    assert.deepEqual(reply.finish, { reason: 'stop_sequence', stopSequence: 'END' });
    assert.deepEqual(reply.usage, usage);
  });

  it('are ignored in reasoning and arguments', () => {
    const blocks: Block[] = [{ type: 'thinking', text: 'END' }, call('read', '{"path":"END"}')];
    assert.deepEqual(restore.reply(replyOf(blocks)).blocks, blocks);
  });

  it('truncate log probabilities with the text', () => {
    const token = (text: string) => ({ token: text, logprob: -1 });
    const block: Block = { type: 'text', text: 'one END', logprobs: [token('one'), token(' E'), token('ND')] };
    assert.deepEqual(restore.reply(replyOf([block])).blocks, [
      { type: 'text', text: 'one ', logprobs: [token('one')] },
    ]);
  });
});
