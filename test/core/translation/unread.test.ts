/** What an encoder does not read of a conversation is reported as dropped, by core and not by the encoder. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Conversation } from '../../../core/contracts/formats/conversation.ts';
import type { StyleVendor } from '../../../core/contracts/formats/style.ts';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import { adapt } from '../../../core/translation/adapt/adapt.ts';
import { encodeReported } from '../../../core/translation/warnings/unread-fields.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { conversationOf, conversations, said, targetOf } from '../../kit/conversations/conversations.ts';
import fc from '../../kit/fast-check.ts';
import { MODELS } from '../../laws/halves.ts';

/** What the work returns; undefined if the encoder refuses the request. */
function unlessRefused<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

type Encode = StyleVendor['encodeRequest'];

const TARGET = targetOf();

/** What is reported of a request that this encoder wrote. */
function reported(encodeRequest: Encode, conversation: Conversation): readonly string[] {
  const warnings = collectWarnings({});
  encodeReported({ encodeRequest }, conversation, TARGET, warnings);
  return warnings.all;
}

/** Sends the texts, and forgets everything else. */
const textsOnly: Encode = ({ turns }) => ({
  prompt: turns.flatMap(({ blocks }) => blocks.map((block) => (block.type === 'text' ? block.text : ''))).join(''),
});

const EVERYTHING = conversationOf(
  [
    said('user', 'Hello!'),
    {
      role: 'user',
      blocks: [
        { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } },
        { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'JVBERi0=' } },
      ],
    },
    { role: 'assistant', blocks: [{ type: 'toolCall', id: 'call_1', name: 'look', kind: 'function', input: '{}' }] },
    {
      role: 'user',
      blocks: [{ type: 'toolResult', id: 'call_1', kind: 'function', content: [{ type: 'text', text: 'Sun' }] }],
    },
  ],
  {
    tools: [{ type: 'function', name: 'look' }],
    toolChoice: { mode: 'required' },
    parallelToolCalls: false,
    maxTokens: 100,
    sampling: { temperature: 0.5, seed: 7 },
    stop: ['END'],
    reasoning: { mode: 'on', effort: 'high' },
    output: { format: { type: 'schema', schema: {} }, verbosity: 'low' },
    labels: { user: 'ann', metadata: { team: 'red' }, serviceTier: 'flex' },
    extras: { foo: 1 },
  },
);

describe('a request with members that the encoder does not read', () => {
  it('is reported field by field, and by the types of blocks and tools', () => {
    assert.deepEqual([...reported(textsOnly, EVERYTHING)].sort(), [
      'foo:dropped',
      'max_tokens:dropped',
      'messages.file:dropped',
      'messages.image:dropped',
      'messages.tool:dropped',
      'messages.tool_calls:dropped',
      'metadata:dropped',
      'parallel_tool_calls:dropped',
      'reasoning_effort:dropped',
      'response_format:dropped',
      'seed:dropped',
      'service_tier:dropped',
      'stop:dropped',
      'temperature:dropped',
      'tool_choice:dropped',
      'tools:dropped',
      'user:dropped',
      'verbosity:dropped',
    ]);
  });

  it('is not reported for what was read, even if the encoder copied it as a whole', () => {
    const copies: Encode = (conversation) => JSON.parse(JSON.stringify({ ...conversation }));
    assert.deepEqual(reported(copies, EVERYTHING), []);
  });

  it('is not reported twice if the encoder reported it', () => {
    const honest: Encode = (conversation, to, warnings) => {
      warnings.change('response_format');
      warnings.drop('tools.parameters');
      return textsOnly(conversation, to, warnings);
    };
    const names = reported(honest, EVERYTHING);
    assert.ok(names.includes('response_format:changed') && !names.includes('response_format:dropped'), String(names));
    assert.ok(names.includes('tools.parameters:dropped') && !names.includes('tools:dropped'), String(names));
  });

  it('is reported for images by URL, if the encoder sends those with bytes alone', () => {
    const bytesOnly: Encode = ({ turns }) => ({
      images: turns.flatMap(({ blocks }) =>
        blocks.flatMap((block) =>
          block.type === 'image' && block.source.kind === 'base64' ? [block.source.data] : [],
        ),
      ),
    });
    const image = (source: Extract<Conversation['turns'][0]['blocks'][0], { type: 'image' }>['source']) =>
      conversationOf([{ role: 'user', blocks: [{ type: 'image', source }] }]);
    assert.deepEqual(reported(bytesOnly, image({ kind: 'url', url: 'https://example.com/a.png' })), [
      'messages.image:dropped',
    ]);
    assert.deepEqual(reported(bytesOnly, image({ kind: 'base64', mediaType: 'image/png', data: 'aGk=' })), []);
  });

  it('is reported for members of tools, of the format and of turns that are read otherwise', () => {
    const namesOnly: Encode = ({ turns, tools, output }) => ({
      prompt: turns.map(({ blocks }) => JSON.stringify(blocks)).join(''),
      tools: tools.map((tool) => tool.name),
      schema: output.format?.type === 'schema' ? output.format.schema : {},
    });
    const rich = conversationOf([{ ...said('user', 'Hello!'), name: 'ann' }], {
      tools: [
        { type: 'function', name: 'a' },
        { type: 'function', name: 'b', description: 'd', schema: {}, strict: true, extras: { defer_loading: true } },
        { type: 'custom', name: 'c', description: 'd', format: { type: 'grammar' } },
      ],
      output: { format: { type: 'schema', schema: {}, name: 'n', description: 'd', strict: true } },
    });
    assert.deepEqual([...reported(namesOnly, rich)].sort(), [
      'messages.name:dropped',
      'response_format.description:dropped',
      'response_format.name:dropped',
      'response_format.strict:dropped',
      'tools.defer_loading:dropped',
      'tools.description:dropped',
      'tools.format:dropped',
      'tools.parameters:dropped',
      'tools.strict:dropped',
    ]);
    const usual = conversationOf([said('user', 'Hello!')], {
      tools: [{ type: 'function', name: 'a', strict: false, description: '' }],
      output: { format: { type: 'schema', schema: {}, name: 'structured_output' } },
    });
    assert.deepEqual(reported(namesOnly, usual), []);
  });

  it('is not reported for default values', () => {
    const usual = conversationOf([said('user', 'Hello!')], {
      toolChoice: { mode: 'required' },
      parallelToolCalls: false,
      output: { format: { type: 'text' }, modalities: ['text'] },
      labels: { serviceTier: 'auto', store: false },
    });
    assert.deepEqual(reported(textsOnly, usual), []);
  });
});

describe('a request that a style of this repository encodes', () => {
  for (const { name, style, spoken, to } of MODELS) {
    it(`causes no false report: ${style}, ${name}`, () => {
      fc.assert(
        fc.property(conversations, (conversation) => {
          const own = collectWarnings({});
          const all = collectWarnings({});
          const fitted = unlessRefused(() => adapt(conversation, style, to, collectWarnings({})).conversation);
          if (fitted === undefined) return;
          const body = unlessRefused(() => spoken.encodeRequest(fitted, to, own));
          assert.deepEqual(
            unlessRefused(() => encodeReported(spoken, fitted, to, all)),
            body,
          );
          assert.deepEqual(all.all, own.all);
        }),
        { numRuns: 60 },
      );
    });
  }
});
