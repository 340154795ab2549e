/** The hard cases of thoughts, and of the seals that only their maker can read. Numbered as they were collected. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scanJson } from '../../core/bytes/json-body.ts';
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import { CARRIER } from '../../core/translation/index.ts';
import { messages } from '../../plugins/styles/messages/index.ts';
import { patchTo } from '../kit/gateway/calls.ts';
import { THOUGHT_SIGNATURE } from '../kit/vendors/gemini-speech.ts';
import { SIGNATURE } from '../kit/vendors/messages-speech.ts';
import { SEALED } from '../kit/vendors/responses-speech.ts';
import { SPEECHES } from '../kit/vendors/scenarios.ts';
import {
  at,
  block,
  type Call,
  type ClientStyle,
  call,
  chatSays,
  chunksOf,
  geminiParts,
  list,
  messagesSay,
  ofType,
  readMessages,
  sent,
  stream,
  type VendorKind,
  whole,
} from './kit.ts';

const CLIENTS: readonly ClientStyle[] = ['chat', 'responses', 'messages'];
/** What each kind of vendor seals, and wants back. */
const SEALS: Readonly<Partial<Record<VendorKind, string>>> = {
  responses: SEALED,
  messages: SIGNATURE,
  gemini: THOUGHT_SIGNATURE,
};
const SEALERS = Object.keys(SEALS) as readonly VendorKind[];

/** The request that lets each client see what is thought. */
const THINKING: Readonly<Record<ClientStyle, JsonObject>> = {
  chat: { reasoning_effort: 'high' },
  responses: { reasoning: { effort: 'high', summary: 'auto' }, include: ['reasoning.encrypted_content'] },
  messages: { max_tokens: 20_000, thinking: { type: 'enabled', budget_tokens: 4_000 } },
};

/** An answer that thinks, then calls a tool. */
const THOUGHTFUL = {
  reasoning: ['Let me', ' see.'],
  calls: [{ id: 'w1', name: 'read', pieces: ['{"path":"a"}'] }],
  end: 'tools',
  usage: { input: 10, cached: 0, output: 20, reasoning: 5 },
} as const;

/** What the vendor says to this, and the client's whole answer. */
async function thoughts(client: ClientStyle, kind: VendorKind, channel = 'here'): Promise<JsonObject> {
  const made = await call(client, kind, THINKING[client], { channel });
  return made.whole(SPEECHES[kind].whole(THOUGHTFUL, made.sent)).body;
}

/** The next request of a client that keeps everything it was told. */
function next(client: ClientStyle, answer: JsonObject): JsonObject {
  const hello = { role: 'user', content: 'Hello?' };
  switch (client) {
    case 'chat': {
      const message = at(answer, 'choices', 0, 'message') as JsonObject;
      const id = at(message, 'tool_calls', 0, 'id')!;
      return {
        ...THINKING.chat,
        messages: [hello, message, { role: 'tool', tool_call_id: id, content: 'one' }],
      };
    }
    case 'responses': {
      const items = list(answer, 'output');
      const id = items.find(({ type }) => type === 'function_call')!.call_id!;
      return {
        ...THINKING.responses,
        input: [hello, ...items, { type: 'function_call_output', call_id: id, output: 'one' }],
      };
    }
    case 'messages': {
      const content = list(answer, 'content');
      const id = content.find(({ type }) => type === 'tool_use')!.id!;
      return {
        ...THINKING.messages,
        messages: [
          hello,
          { role: 'assistant', content },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'one' }] },
        ],
      };
    }
  }
}

/** A second call that repeats what the first vendor said. */
async function resumed(
  client: ClientStyle,
  from: VendorKind,
  to: VendorKind,
  channels: { readonly from?: string; readonly to?: string } = {},
): Promise<Call> {
  const answer = await thoughts(client, from, channels.from);
  return call(client, to, next(client, answer), channels.to === undefined ? {} : { channel: channels.to });
}

describe('hard cases: reasoning and signatures', () => {
  it('case 34: a signature comes back byte for byte, and only where it was made', async () => {
    // Escapes that another writer would spell in another way.
    const bytes = Buffer.from(
      '{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"thinking",' +
        '"thinking":"caf\\u00e9 \\/ \\ud83d\\ude00 ","signature":"Eq+\\/=="}]}]}',
    );
    const body = scanJson(bytes);
    const changes = messages.relay.patch!(body, patchTo({ model: 'claude-1', askUsage: false, channel: 'here' }));
    const patched = body.patched(changes).toString();
    assert.equal(patched, bytes.toString().replace('"model":"m"', '"model":"claude-1"'));

    const thinking = 'café / 😀 \u2028 "so" ';
    const said = {
      id: 'msg_v',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'thinking', thinking, signature: SIGNATURE },
        { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    for (const client of ['chat', 'responses'] as const) {
      const again = next(client, await whole(client, 'messages', said, THINKING[client]));
      const here = await sent(client, 'messages', again);
      assert.deepEqual(at(here, 'messages', 1, 'content', 0), said.content[0], client);
      // Another account of the same vendor's.
      const there = await call(client, 'messages', again, { channel: 'there' });
      assert.doesNotMatch(there.bytes, /"thinking","thinking"|signature/, client);
      assert.notDeepEqual(there.warnings(), [], 'the client is told');
    }

    // A server whose streams are written anew in its own style.
    const detail = { type: 'reasoning.encrypted', data: 'sealed+/==', format: 'some-v1', id: 'r1', index: 0 };
    const anew = { quirks: { stream: { rewrite: true } } } as const;
    const told = chunksOf(
      await stream('chat', 'chat', chatSays([{ reasoning_details: [detail] }, { content: 'Yes.' }]), {}, anew),
    );
    const details = told.flatMap((chunk) =>
      list(chunk, 'choices').map((choice) => at(choice, 'delta', 'reasoning_details')),
    );
    const reply = {
      role: 'assistant',
      content: 'Yes.',
      reasoning_details: details.find((each) => each !== undefined)!,
    };
    assert.ok(JSON.stringify(reply).includes(CARRIER), 'the client gets it packed');
    const back = async (channel: string) =>
      at(await sent('chat', 'chat', { messages: [reply] }, { channel }), 'messages', 0);
    assert.deepEqual(at(await back('here'), 'reasoning_details'), [detail]);
    assert.equal(at(await back('there'), 'reasoning_details'), undefined);
  });

  it('case 35: a thought without a signature gets none, and one with a signature keeps it', async () => {
    const native = {
      messages: [
        { role: 'user', content: 'Hello?' },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'hmm', signature: 'EqNative==' }] },
        { role: 'user', content: 'And?' },
      ],
    };
    assert.deepEqual(at(await sent('messages', 'messages', native), 'messages'), native.messages);
    // Thoughts of a vendor that signs nothing, told to a client of this style, which then asks one that checks.
    const said = await stream('messages', 'chat', chatSays([{ reasoning_content: 'hmm' }, { content: 'Yes.' }]));
    const { content } = await readMessages(said);
    const again = {
      messages: [
        { role: 'user', content: 'Hello?' },
        { role: 'assistant', content: content as unknown as Json },
        { role: 'user', content: 'And?' },
      ],
    };
    const { bytes } = await call('messages', 'messages', again);
    assert.doesNotMatch(bytes, /thinking|signature/);
    assert.match(bytes, /Yes\./);
    // The one that signs nothing has them back.
    const echoes = { quirks: { reasoning: { echo: 'all' } } } as const;
    assert.equal(at(await sent('messages', 'chat', again, echoes), 'messages', 1, 'reasoning_content'), 'hmm');
  });

  it('case 36: thoughts that a client sends back without their signature are not sent to a vendor that checks', async () => {
    const body = await sent('chat', 'messages', {
      ...THINKING.chat,
      messages: [
        { role: 'user', content: 'Hello?' },
        { role: 'assistant', content: 'Yes.', reasoning_content: 'hmm' },
        { role: 'user', content: 'And?' },
      ],
    });
    assert.equal(at(body, 'thinking', 'type'), 'enabled');
    assert.deepEqual(at(body, 'messages', 1, 'content'), [{ type: 'text', text: 'Yes.' }]);
  });

  it('case 37: in the middle of a tool loop whose thoughts are lost the model does not think on', async () => {
    const history = [
      { role: 'user', content: 'Read.' },
      {
        role: 'assistant',
        content: 'I read.',
        reasoning_content: 'hmm',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'one' },
    ];
    const lost = await call('chat', 'messages', { ...THINKING.chat, messages: history });
    assert.equal(lost.sent.thinking, undefined);
    assert.ok(lost.warnings().includes('reasoning_effort:dropped'), 'the client is told');
    const kept = await resumed('chat', 'messages', 'messages');
    assert.equal(at(kept.sent, 'thinking', 'type'), 'enabled');
    assert.equal(at(kept.sent, 'messages', 1, 'content', 0, 'type'), 'thinking');
  });

  for (const client of CLIENTS) {
    it(`case 38: what one vendor sealed is kept from every other when a ${client} client goes on there`, async () => {
      for (const from of SEALERS) {
        for (const to of ['chat', 'responses', 'messages', 'gemini'] as const) {
          if (to === from) continue;
          const { bytes } = await resumed(client, from, to);
          // Chat has a field of its own for what the third style signs calls with; the gateway does not look into it.
          const isKnown = client === 'chat' && from === 'gemini' && to === 'chat';
          assert.ok(isKnown || !bytes.includes(SEALS[from]!), `${from} to ${to}: no seal of another`);
          assert.ok(!bytes.includes(CARRIER), `${from} to ${to}: no seal of ours`);
          assert.match(bytes, /"one"/, 'the result of the tool is there');
        }
      }
    });
  }

  it('case 39: a call of a model that signs calls goes back with its signature, or with words that ask not to look', async () => {
    for (const client of CLIENTS) {
      const { sent: body } = await resumed(client, 'gemini', 'gemini');
      const signed = list(body, 'contents', 1, 'parts').find(({ functionCall }) => functionCall !== undefined);
      assert.equal(signed?.thoughtSignature, THOUGHT_SIGNATURE, client);
    }
    const calls = ['a', 'b'].map((id) => ({
      id,
      type: 'function',
      function: { name: 'read', arguments: '{}' },
    }));
    const body = await sent('chat', 'gemini', {
      messages: [
        { role: 'user', content: 'Read.' },
        { role: 'assistant', tool_calls: calls },
        ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'one' })),
      ],
    });
    assert.deepEqual(
      list(body, 'contents', 1, 'parts').map(({ thoughtSignature }) => thoughtSignature),
      ['skip_thought_signature_validator', undefined],
    );
  });

  it('case 40: signatures of texts and thoughts are kept like those of calls, and hidden thoughts are never said', async () => {
    const answer = geminiParts(
      [
        { text: 'Let me see.', thought: true, thoughtSignature: 'sig-thought' },
        { text: 'Yes.', thoughtSignature: 'sig-text' },
        { functionCall: { id: 'f1', name: 'read', args: {} }, thoughtSignature: 'sig-call' },
      ],
      { usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } },
      'STOP',
    );
    for (const client of CLIENTS) {
      const said = await whole(client, 'gemini', answer, THINKING[client]);
      const words = {
        chat: () => at(said, 'choices', 0, 'message', 'content'),
        responses: () => at(list(said, 'output').find(({ type }) => type === 'message')!, 'content', 0, 'text'),
        messages: () => list(said, 'content').find(({ type }) => type === 'text')!.text,
      }[client]();
      assert.equal(words, 'Yes.', client);

      const parts = list(await sent(client, 'gemini', next(client, said)), 'contents', 1, 'parts');
      const signatures = parts.map(({ thoughtSignature }) => thoughtSignature);
      assert.deepEqual(new Set(signatures), new Set(['sig-thought', 'sig-text', 'sig-call']), client);
      const thought = parts.filter(({ text }) => typeof text === 'string' && text.includes('Let me see.'));
      assert.ok(
        thought.every((part) => part.thought === true),
        `${client}: a thought is told as a thought`,
      );
      // To any other vendor it is no text of the answer's.
      const elsewhere = await sent(client, 'chat', next(client, said));
      assert.doesNotMatch(String(at(elsewhere, 'messages', 1, 'content')), /Let me see/, client);
    }
  });

  it('case 41: vendors that want thoughts of turns with calls back get them, and never an empty text', async () => {
    const echoes = { quirks: { reasoning: { echo: 'tool_turns', echo_filler: ' ' } } } as const;
    const request = (...thinking: readonly JsonObject[]): JsonObject => ({
      messages: [
        { role: 'user', content: 'Read.' },
        { role: 'assistant', content: [...thinking, { type: 'tool_use', id: 't1', name: 'read', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'one' }] },
        { role: 'assistant', content: [...thinking, { type: 'text', text: 'One.' }] },
        { role: 'user', content: 'And?' },
      ],
    });
    const thought = { type: 'thinking', thinking: 'hmm', signature: '' };
    const kept = await sent('messages', 'chat', request(thought), echoes);
    assert.equal(at(kept, 'messages', 1, 'reasoning_content'), 'hmm');
    assert.equal(at(kept, 'messages', 3, 'reasoning_content'), undefined, 'a turn without calls needs none');
    const lost = await sent('messages', 'chat', request(), echoes);
    assert.equal(at(lost, 'messages', 1, 'reasoning_content'), ' ');
    // Nobody else is bothered with it.
    const usual = await sent('messages', 'chat', request(thought));
    assert.equal(at(usual, 'messages', 1, 'reasoning_content'), undefined);
  });

  it('case 42: an encrypted thought goes back only to the channel whose vendor can open it', async () => {
    for (const client of ['chat', 'messages'] as const) {
      const here = await resumed(client, 'responses', 'responses', { from: 'one', to: 'one' });
      assert.ok(here.bytes.includes(JSON.stringify(SEALED)), `${client}: its maker has it back`);
      const there = await resumed(client, 'responses', 'responses', { from: 'one', to: 'two' });
      assert.ok(!there.bytes.includes(SEALED), `${client}: nobody else has`);
    }
    // Sealed by a vendor of another style first, then asked in the vendor's own.
    const sealed = `${CARRIER}responses:one:encrypted:rs_1:${SEALED}`;
    const input = [{ type: 'reasoning', id: 'rs_ours', summary: [], encrypted_content: sealed }];
    const opened = await sent('responses', 'responses', { input }, { channel: 'one' });
    assert.deepEqual(opened.input, [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: SEALED }]);
    assert.deepEqual((await sent('responses', 'responses', { input }, { channel: 'two' })).input, []);
  });

  it('case 43: a redacted thought comes back as it was redacted', async () => {
    const said = {
      id: 'msg_v',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'redacted_thinking', data: 'EmwKredacted==' },
        { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    for (const client of CLIENTS) {
      const again = next(client, await whole(client, 'messages', said, THINKING[client]));
      const body = await sent(client, 'messages', again);
      assert.deepEqual(at(body, 'messages', 1, 'content', 0), said.content[0], client);
      assert.equal(at(body, 'thinking', 'type'), 'enabled', 'it can go on thinking');
    }
  });

  it('case 44: an encrypted thought goes back under the id it was given with', async () => {
    for (const client of ['chat', 'messages'] as const) {
      const { sent: body } = await resumed(client, 'responses', 'responses');
      const items = list(body, 'input').filter(({ type }) => type === 'reasoning');
      assert.deepEqual(
        items.map(({ id, encrypted_content: sealed }) => [id, sealed]),
        [['rs_vendor1', SEALED]],
        client,
      );
    }
  });

  it('case 45: a thought that goes back without a summary has an empty list of them', async () => {
    const quiet = { ...THOUGHTFUL, reasoning: [] };
    for (const client of ['chat', 'messages'] as const) {
      const made = await call(client, 'responses', THINKING[client]);
      const answer = made.whole(SPEECHES.responses.whole(quiet, { include: ['reasoning.encrypted_content'] })).body;
      const body = await sent(client, 'responses', next(client, answer));
      const [thought] = list(body, 'input').filter(({ type }) => type === 'reasoning');
      assert.deepEqual(thought?.summary, [], client);
    }
    // One that a client sends with null is read as one without.
    const input = [
      { type: 'reasoning', id: 'rs_1', summary: null, encrypted_content: SEALED },
      { role: 'user', content: 'And?' },
    ];
    assert.doesNotMatch(JSON.stringify((await sent('responses', 'messages', { input })).messages), /rs_1/);
  });

  it('case 46: a signature adds nothing to what is shown of a thought', async () => {
    const events = messagesSay([
      ...block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'hmm' },
        { type: 'signature_delta', signature: SIGNATURE },
      ),
      ...block(1, { type: 'text', text: '' }, { type: 'text_delta', text: 'Yes.' }),
    ]);
    const chat = chunksOf(await stream('chat', 'messages', events, THINKING.chat));
    const told = chat.flatMap((chunk) =>
      list(chunk, 'choices').map((choice) => at(choice, 'delta', 'reasoning_content')),
    );
    assert.equal(told.filter((text) => text !== undefined).join('|'), 'hmm');
    const responses = await stream('responses', 'messages', events, THINKING.responses);
    const deltas = ofType(responses, 'response.reasoning_summary_text.delta').map(({ delta }) => delta);
    assert.deepEqual(deltas, ['hmm']);
  });
});

// Cases 34 and 42 also ask that the calls of one conversation go to one channel: that is chosen before anything is translated, and
// stands with the tests of the plugin `models`.
