/** An answer is the same after it has been told in a style, whole or streamed, in whatever order its pieces came. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Block, Reply } from '../../core/contracts/formats/conversation.ts';
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import { foldParts } from '../../core/translation/conversation/fold.ts';
import { collectWarnings } from '../../core/translation/warnings/warnings.ts';
import { streamsOf } from '../kit/conversations/conversations.ts';
import { checkParts } from '../kit/conversations/parts.ts';
import fc from '../kit/fast-check.ts';
import { replies, type Shown, shown, speechInTurn } from './answers.ts';
import { answering, CLIENTS, type Client, eventsIn, FROM, heard, written } from './halves.ts';
import { law } from './law.ts';

/** One answer, and a stream that tells it. */
const streams = fc
  .tuple(replies, fc.boolean())
  .chain(([reply, together]) => fc.tuple(fc.constant(reply), streamsOf(reply, together)));

describe('an answer', () => {
  for (const client of CLIENTS) {
    const { name, asked, spoken } = client;

    law(`that ${name} clients get is read as it was written`, 300, replies, (reply) => {
      assert.deepEqual(shown(name, whole(client, reply)), shown(name, reply));
    });

    law(`that ${name} clients get in a stream is the whole one`, 300, streams, ([reply, told]) => {
      const parts = speechInTurn(told);
      const read = heard(spoken, eventsIn(written(asked, parts)));
      checkParts(read);
      const folded = foldParts(read);
      assert.ok(folded, 'the stream comes to its end');
      assert.deepEqual(shown(name, folded), shown(name, whole(client, foldParts(parts)!)));
      assert.deepEqual(shown(name, folded), shown(name, reply));
    });

    // Chat has one text for all that is said, so what is said at the same time has no form there.
    if (name !== 'chat') {
      law(
        `that ${name} clients get in a stream is whole though texts come side by side`,
        200,
        streams,
        ([reply, parts]) => {
          const read = heard(spoken, eventsIn(written(asked, parts)));
          checkParts(read);
          const folded = foldParts(read)!;
          assert.deepEqual(lettersOf(shown(name, folded)), lettersOf(shown(name, reply)));
          const texts = textsIn(folded);
          for (const text of textsIn(reply)) assert.ok(texts.includes(text), `${JSON.stringify(text)} is in one piece`);
        },
      );
    }

    law(`that ${name} clients send back is what was said`, 300, replies, (reply) => {
      const warnings = collectWarnings({});
      const { turns } = asked.decodeRequest(echoed(name, asked.encodeReply(reply, answering(asked))), warnings);
      const turn = turns.find(({ role }) => role === 'assistant');
      assert.deepEqual(sealed(turn?.blocks ?? [], name), sealed(reply.blocks, name));
    });
  }
});

/** The answer as a vendor of the style would have told it. */
function whole({ asked, spoken }: Client, reply: Reply): Reply {
  const body = JSON.parse(JSON.stringify(asked.encodeReply(reply, answering(asked)))) as JsonObject;
  const read = spoken.decodeReply(body, FROM, collectWarnings({}));
  assert.ok(read, 'it is an answer');
  return read;
}

/** How clients of a style put an answer into the history of their next request. */
function echoed(style: Client['name'], answer: JsonObject): JsonObject {
  switch (style) {
    case 'chat': {
      const [choice] = answer.choices as readonly JsonObject[];
      return { messages: [choice!.message as Json] };
    }
    case 'responses':
      return { input: answer.output! };
    case 'messages':
      return { messages: [{ role: 'assistant', content: answer.content! }] };
  }
}

/** What is sealed, and whose it is: that of a thought with these words, or of the call with this id. */
function sealed(blocks: readonly Block[], style: Client['name']): readonly Json[] {
  return blocks
    .flatMap((block): readonly Json[] => {
      if (!('opaque' in block) || block.opaque === undefined || block.opaque.value === '') return [];
      const { style: maker, channel = null, kind, value } = block.opaque;
      if (block.type === 'thinking') return [['thinking', block.text, maker, channel, kind, value]];
      // Chat clients know nothing but the signature of one vendor there.
      if (style === 'chat') return maker === 'gemini' || kind === 'thought' ? [[block.id, value]] : [];
      return [[block.id, maker, channel, kind, value]];
    })
    .sort();
}

function textsIn({ blocks }: Reply): readonly string[] {
  return blocks.flatMap((block) => ('text' in block && block.text !== '' ? [block.text] : []));
}

/** Which block comes first is told by which says something first. */
function lettersOf(one: Shown): Shown {
  const sorted = (text: string): string => [...text].sort().join('');
  return { ...one, text: sorted(one.text), thoughts: sorted(one.thoughts), refusal: sorted(one.refusal) };
}
