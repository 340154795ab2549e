import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContentPart } from '../../../core/contracts/formats/content.ts';
import type { Part, Reply } from '../../../core/contracts/formats/conversation.ts';
import { AnswerCollector } from '../../../core/translation/conversation/collector.ts';
import { foldParts, partsOf, textLengthOf } from '../../../core/translation/conversation/fold.ts';
import { replies, replyOf, streamsOf } from '../../kit/conversations/conversations.ts';
import { checkParts } from '../../kit/conversations/parts.ts';
import fc from '../../kit/fast-check.ts';

describe('an answer and its stream', () => {
  it('an answer encoded as parts and folded again is the same', () => {
    fc.assert(
      fc.property(replies, (reply) => {
        const parts = partsOf(reply);
        checkParts(parts);
        assert.deepEqual(foldParts(parts), reply);
      }),
      { numRuns: 300 },
    );
  });

  it('the cuts of deltas and interleaved blocks make no difference', () => {
    const cases = fc
      .tuple(replies, fc.boolean())
      .chain(([reply, together]) => fc.tuple(fc.constant(reply), streamsOf(reply, together)));
    fc.assert(
      fc.property(cases, ([reply, parts]) => {
        checkParts(parts);
        assert.deepEqual(foldParts(parts), reply);
      }),
      { numRuns: 300 },
    );
  });

  it('a stream without a finish is not an answer', () => {
    const parts = partsOf(replyOf([{ type: 'text', text: 'half of' }]));
    assert.equal(foldParts(parts.slice(0, -1)), undefined);
    assert.equal(foldParts([...parts.slice(0, -1), { type: 'error', message: 'gave up', code: 'busy' }]), undefined);
  });

  it('the last usage counts', () => {
    const usage = {
      input: 3,
      cacheRead: 0,
      cacheWrite: 0,
      cacheWriteLong: 0,
      inputAudio: 0,
      output: 1,
      reasoning: 0,
      outputAudio: 0,
      estimated: false,
    };
    const [start, ...rest] = partsOf({ ...replyOf([]), usage: { ...usage, output: 9 } });
    assert.equal(foldParts([start!, { type: 'usage', usage }, ...rest])?.usage?.output, 9);
  });

  it('parts that do not match their block are ignored', () => {
    const reply = replyOf([{ type: 'text', text: 'a' }]);
    const [start, begin, ...rest] = partsOf(reply);
    const strange: Part[] = [
      { type: 'delta', key: 7, text: 'x' },
      { type: 'transcript', key: 0, text: 'x' },
    ];
    assert.deepEqual(foldParts([start!, begin!, ...strange, ...rest]), reply);
  });

  it('text, reasoning and arguments are counted, names are not', () => {
    const parts = partsOf(
      replyOf([
        { type: 'thinking', text: 'hm', opaque: { style: 'messages', kind: 'signature', value: 'long seal' } },
        { type: 'text', text: 'four' },
        { type: 'toolCall', id: 'call_1', name: 'read', kind: 'function', input: '{}' },
      ]),
    );
    assert.equal(
      parts.reduce((sum, part) => sum + textLengthOf(part), 0),
      8,
    );
  });
});

describe('an answer that is collected', () => {
  const collect = (reply: Reply, most: number, exact: boolean): AnswerCollector => {
    const collector = new AnswerCollector(most, exact);
    for (const part of partsOf(reply)) collector.part(part as ContentPart);
    return collector;
  };

  it('is the same if it is short, except for the bytes of audio', () => {
    fc.assert(
      fc.property(replies, (reply) => {
        const collector = collect(reply, 1_000_000, true);
        const blocks = reply.blocks.map((block) => (block.type === 'audio' ? { ...block, data: '' } : block));
        assert.deepEqual(collector.reply(), { ...reply, blocks });
        const bytes = reply.blocks.reduce((sum, block) => sum + (block.type === 'audio' ? block.data.length : 0), 0);
        assert.equal(
          [...collector.missing.values()].reduce((sum, missing) => sum + missing, 0),
          bytes,
        );
      }),
    );
  });

  it('ends at the limit, and counts the bytes that are missing of each block', () => {
    const reply = replyOf([
      { type: 'text', text: 'four' },
      { type: 'text', text: 'größer' },
    ]);
    const { blocks, missing } = collect(reply, 6, false);
    assert.deepEqual(blocks, [
      { type: 'text', text: 'four' },
      { type: 'text', text: 'gr' },
    ]);
    assert.deepEqual([...missing], [[blocks[1], 6]]);
  });

  it('has neither log probabilities nor seals, and a limit of its own for citations, unless it is exact', () => {
    const citation = { style: 'chat', raw: { url: 'https://example.com/1' } };
    const opaque = { style: 'messages', kind: 'signature', value: 'seal' } as const;
    const reply = replyOf([
      { type: 'thinking', text: 'hm', opaque },
      { type: 'text', text: 'four', logprobs: [{ token: 'four' }], citations: [citation, citation] },
    ]);
    assert.deepEqual(collect(reply, 10, true).blocks, reply.blocks);
    assert.deepEqual(collect(reply, 10, false).blocks, [
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'four', citations: [citation] },
    ]);
  });
});

describe('the order of parts', () => {
  const start: Part = { type: 'start', id: '', model: '' };
  const begin: Part = { type: 'blockStart', key: 0, block: { type: 'text', text: '' } };
  const delta: Part = { type: 'delta', key: 0, text: 'x' };
  const end: Part = { type: 'blockEnd', key: 0 };
  const finish: Part = { type: 'finish', finish: { reason: 'stop' } };
  const illegal: Readonly<Record<string, readonly Part[]>> = {
    'without a start': [begin],
    'with two starts': [start, start],
    'with a key used twice': [start, begin, end, begin],
    'with a delta outside its block': [start, begin, end, delta],
    'with a block that never began': [start, end],
    'with a block still open at the finish': [start, begin, finish],
    'with something behind the finish': [start, finish, { type: 'ping' }],
    'with two finishes': [start, finish, finish],
    'with a finish behind an error': [start, { type: 'error', message: '', code: '' }, finish],
    'with text in the beginning of a block': [start, { ...begin, block: { type: 'text', text: 'x' } }],
    'with a seal on a text': [
      start,
      begin,
      { type: 'opaque', key: 0, opaque: { style: 'chat', kind: 'thought', value: '' } },
    ],
  };
  for (const [what, parts] of Object.entries(illegal)) {
    it(`a stream ${what} is not legal`, () => {
      assert.throws(() => checkParts(parts), assert.AssertionError);
    });
  }
  it('a truncated stream is legal so far', () => {
    checkParts([start, begin, delta]);
  });
});
