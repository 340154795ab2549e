/** A revision of texts makes the same answer of a stream, however it is cut, as of the whole. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Block, Citation, Part, Reply } from '../../../core/contracts/formats/conversation.ts';
import { foldParts, partsOf } from '../../../core/translation/conversation/fold.ts';
import { createTextRevision, type TextReviser } from '../../../core/translation/conversation/text-revision.ts';
import { mapBlocks } from '../../../core/translation/conversation/texts.ts';
import { share } from '../../kit/console/whole.ts';
import { replies, streamsOf } from '../../kit/conversations/conversations.ts';
import { checkParts } from '../../kit/conversations/parts.ts';
import fc from '../../kit/fast-check.ts';

/** Holds the last character of a text back until more comes. */
const upper: TextReviser = {
  map: (text) => text.toUpperCase(),
  flow() {
    let held = '';
    return {
      push(text) {
        const all = held + text;
        held = all.slice(-1);
        return all.slice(0, -1).toUpperCase();
      },
      end() {
        const rest = held.toUpperCase();
        held = '';
        return rest;
      },
      moved: (offset) => offset,
    };
  },
};

/** The parts as they are sent. */
function revised(parts: readonly Part[], reviser: TextReviser): readonly Part[] {
  const revision = createTextRevision(reviser);
  return parts.flatMap((part): readonly Part[] => {
    if (part.type === 'ping' || part.type === 'error') return [part];
    return [...(part.type === 'finish' ? revision.end() : []), ...revision.part(part)];
  });
}

/** Without log probabilities, which no revised text has, and transcripts of nothing. */
function plain(block: Block): Block {
  if (block.type === 'audio' && block.transcript === '') {
    const { transcript: _, ...rest } = block;
    return rest;
  }
  if (block.type !== 'text') return block;
  const { logprobs: _, ...rest } = block;
  return rest;
}

/** As JSON with its members in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

const streams = fc
  .tuple(replies, fc.boolean())
  .chain(([reply, together]) => fc.tuple(fc.constant(reply), streamsOf(reply, together)));

/** Upper case changes the length of some other characters. */
const isSimple = (reply: Reply): boolean => /^[\x20-\x7e]*$/.test(JSON.stringify(reply));

describe('a revision of texts', () => {
  it('sends legal parts, with the same result as a whole answer', () => {
    let count = 0;
    fc.assert(
      fc.property(streams, ([reply, parts]) => {
        const sent = revised(parts, upper);
        checkParts(sent);
        if (!isSimple(reply)) return;
        count++;
        const answer = foldParts(sent)!;
        // Which of several begins first depends on which has something to say first.
        const sorted = (blocks: readonly Block[]) => blocks.map((block) => canonical(plain(block))).sort();
        assert.deepEqual(sorted(answer.blocks), sorted(mapBlocks(reply.blocks, upper.map)));
        assert.equal(answer.finish.reason, reply.finish.reason);
        assert.deepEqual(answer.usage, reply.usage);
      }),
      { numRuns: 400 },
    );
    assert.ok(count > share(50), `only ${count}`);
  });

  it('starts an answer with the first text that is sent', () => {
    const revision = createTextRevision(upper);
    assert.deepEqual(revision.part({ type: 'blockStart', key: 0, block: { type: 'text', text: '' } }), []);
    assert.deepEqual(revision.part({ type: 'delta', key: 0, text: 'a' }), []);
    assert.deepEqual(revision.part({ type: 'delta', key: 0, text: 'b' }), [
      { type: 'blockStart', key: 0, block: { type: 'text', text: '' } },
      { type: 'delta', key: 0, text: 'A' },
    ]);
    assert.deepEqual(revision.part({ type: 'blockEnd', key: 0 }), [
      { type: 'delta', key: 0, text: 'B' },
      { type: 'blockEnd', key: 0 },
    ]);
  });

  it('moves citations with their text, in the common form and in styles', () => {
    const raw = { type: 'url_citation', start_index: 4, end_index: 8, url: 'https://a.b' };
    const citation: Citation = { url: 'https://a.b', start: 4, end: 8, quote: 'this', style: 'responses', raw };
    const longer: TextReviser = {
      map: (text) => text,
      flow: () => ({ ...upper.flow(), moved: (offset) => offset + 10 }),
    };
    const parts = partsOf({
      ...{ id: '', model: '', finish: { reason: 'stop' }, usage: undefined },
      blocks: [{ type: 'text', text: 'Say this.', citations: [citation] }],
    });
    const [block] = foldParts(revised(parts, longer))!.blocks;
    assert.ok(block?.type === 'text');
    assert.deepEqual(block.citations, [
      { ...citation, start: 14, end: 18, raw: { ...raw, start_index: 14, end_index: 18 } },
    ]);
  });
});
