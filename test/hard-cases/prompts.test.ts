/** The hard cases of translation that lie in what is said, by whom and in which order: numbers 81 to 98. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import { toldTo } from '../kit/contracts/told.ts';
import { ask, type Body, CLIENTS, type ClientName, type Meeting, VENDORS } from './kit-wire.ts';

/** One that goes on from its own words, one that does not, and takes instructions in the middle. */
const OLDER = 'claude-sonnet-4-5';
const NEWEST = 'claude-opus-5';

/** The same conversation in each style of client. */
type Spellings = Readonly<Partial<Record<ClientName, JsonObject>>>;

interface Asked {
  readonly name: string;
  readonly to: Meeting['to'];
  readonly body: Body;
  readonly warnings: readonly string[];
}

/** What each vendor gets of it where it is translated. */
async function everywhere(
  spellings: Spellings,
  vendors: readonly Meeting['to'][] = VENDORS,
): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const from of CLIENTS) {
    const more = spellings[from];
    if (more === undefined) continue;
    for (const to of vendors) {
      if (to === from) continue;
      const { body, warnings } = await ask({ from, to }, more);
      asked.push({ name: `${from} before ${to}`, to, body, warnings });
    }
  }
  assert.ok(asked.length > 0, 'somebody is asked');
  return asked;
}

/** All objects in a body. */
function objectsIn(value: Json | undefined): readonly JsonObject[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap((member) => objectsIn(member as Json));
  return Array.isArray(value) ? inner : [value as JsonObject, ...inner];
}

const rolesOf = (list: readonly JsonObject[]): readonly string[] => list.map(({ role, type }) => String(role ?? type));

const user = (content: Json): JsonObject => ({ role: 'user', content });
const assistant = (content: Json): JsonObject => ({ role: 'assistant', content });
const system = (content: Json): JsonObject => ({ role: 'system', content });
const text = (words: string): JsonObject => ({ type: 'text', text: words });

const TOOL = { name: 'look', schema: { type: 'object', properties: { at: { type: 'string' } } } };
const TOOLS: Readonly<Record<ClientName, JsonObject>> = {
  chat: { type: 'function', function: { name: TOOL.name, parameters: TOOL.schema } },
  responses: { type: 'function', name: TOOL.name, parameters: TOOL.schema },
  messages: { name: TOOL.name, input_schema: TOOL.schema },
};
const CALL = { id: 'call_1', input: '{"at":"sea"}' };
const chatCall: JsonObject = { id: CALL.id, type: 'function', function: { name: TOOL.name, arguments: CALL.input } };
const responsesCall: JsonObject = { type: 'function_call', call_id: CALL.id, name: TOOL.name, arguments: CALL.input };
const messagesCall: JsonObject = { type: 'tool_use', id: CALL.id, name: TOOL.name, input: { at: 'sea' } };
const chatResult: JsonObject = { role: 'tool', tool_call_id: CALL.id, content: 'Waves.' };
const responsesResult: JsonObject = { type: 'function_call_output', call_id: CALL.id, output: 'Waves.' };
const messagesResult: JsonObject = { type: 'tool_result', tool_use_id: CALL.id, content: 'Waves.' };

describe('empty and blank words', () => {
  it('case 81: an empty text reaches no vendor', async () => {
    const asked = await everywhere({
      chat: {
        messages: [system(''), user([text(''), text('One?')]), assistant(''), user('Two?')],
      },
      responses: {
        input: [
          user([{ type: 'input_text', text: '' }]),
          user('One?'),
          assistant([{ type: 'output_text', text: '', annotations: [] }]),
          user('Two?'),
        ],
      },
      messages: { system: '', messages: [user([text(''), text('One?')]), assistant(''), user('Two?')] },
    });
    for (const { name, to, body } of asked) {
      const texts = objectsIn(body).flatMap(({ text: words, content }) => [words, content]);
      assert.ok(!texts.includes(''), `${name}: ${JSON.stringify(body)}`);
      assert.equal(toldTo(to, body).asked, 'One?Two?', name);
    }
  });

  it('case 82: a mark for the cache goes with the empty text that it stands on', async () => {
    const marked = (words: string): JsonObject => ({ ...text(words), cache_control: { type: 'ephemeral' } });
    const { body } = await ask(
      { from: 'chat', to: 'messages' },
      { messages: [system([marked('Be brief.')]), user([text('One?'), marked(''), marked(' \n')])] },
    );
    assert.deepEqual(body.system, [marked('Be brief.')]);
    assert.deepEqual(body.messages, [user([text('One?')])]);
  });

  it('case 83: no more than four marks for the cache, those on tools and beside the messages counted', async () => {
    const cache_control = { type: 'ephemeral' };
    const marked = (words: string): JsonObject => ({ ...text(words), cache_control });
    const many = { messages: [system([marked('a'), marked('b')]), user([marked('c'), marked('d'), marked('e')])] };
    const tool = { ...TOOLS.chat, cache_control };
    const marksIn = (body: Body) => objectsIn(body).filter((value) => 'cache_control' in value);
    for (const [more, count] of [
      [many, 4],
      [{ ...many, tools: [tool] }, 4],
      [{ messages: [user([marked('a')])], tools: [tool] }, 2],
      // The client marked nothing: one for the tools, the instructions, the previous request, and all of it.
      [{ messages: [user('a')], tools: [TOOLS.chat] }, 2],
      [{ messages: [system('b'), user('a')], tools: [TOOLS.chat] }, 3],
      [{ messages: [system('b'), user('a'), assistant('c'), user('d')], tools: [TOOLS.chat] }, 4],
    ] as const) {
      const { body } = await ask({ from: 'chat', to: 'messages' }, more);
      assert.equal(marksIn(body).length, count, JSON.stringify(body));
    }
  });

  it('case 84: what the model is to go on from does not end in a blank', async () => {
    const said = (words: string) => ({
      chat: { messages: [user('Count.'), assistant(words)] },
      responses: { input: [user('Count.'), assistant(words)] },
    });
    for (const { name, body } of await everywhere(said('One, two, \n'), ['messages'])) {
      assert.deepEqual(body.messages.at(-1), assistant([text('One, two,')]), name);
    }
    for (const { name, body } of await everywhere(said(' \n'), ['messages'])) {
      assert.deepEqual(rolesOf(body.messages), ['user'], `${name}: nothing but a blank is nothing`);
    }
  });

  it('case 85: a beginning of the answer is left out for models that take none, and that is told', async () => {
    const more = { messages: [user('Count.'), assistant('One,')] };
    const newest = await ask({ from: 'chat', to: 'messages', model: NEWEST }, more);
    assert.deepEqual(newest.body.messages, [user([text('Count.')])]);
    assert.ok(newest.warnings.includes('messages:changed'), `${newest.warnings}`);
    const older = await ask({ from: 'chat', to: 'messages', model: OLDER }, more);
    assert.deepEqual(older.body.messages.at(-1), assistant([text('One,')]));
  });
});

describe('instructions', () => {
  /** As a coding client sends it: the last entry of its first turn. */
  const reminding: JsonObject = {
    system: [text('You write code.')],
    messages: [
      user([text('Fix it.')]),
      { role: 'system', content: [{ ...text('Be careful.'), cache_control: { type: 'ephemeral' } }] },
    ],
  };

  it('case 86: a messages client may have instructions among its messages', async () => {
    for (const { name, to, body } of await everywhere({ messages: reminding })) {
      const { asked } = toldTo(to, body);
      assert.match(asked, /You write code\..*Fix it\..*Be careful\./s, name);
    }
    const takes = await ask({ from: 'messages', to: 'messages', model: NEWEST }, reminding);
    assert.ok(takes.bytes.includes('"role":"system"'), 'a vendor of its own style gets it as it is');
    const refuses = await ask({ from: 'messages', to: 'messages', model: OLDER }, reminding);
    assert.ok(!refuses.bytes.includes('"role":"system"'), 'unless another model answers that refuses it');
    assert.match(refuses.bytes.toString(), /Be careful\./);
  });

  it('case 87: instructions in the middle are told in the way that the server takes', async () => {
    const chat = async (quirks: Meeting['quirks'] = {}): Promise<readonly JsonObject[]> =>
      (await ask({ from: 'messages', to: 'chat', quirks }, reminding)).body.messages;
    assert.deepEqual(
      rolesOf(await chat()),
      ['system', 'user', 'system'],
      'not `developer`: older servers know no such role',
    );
    assert.deepEqual(rolesOf(await chat({ roles: { mid_system: 'front' } })), ['system', 'system', 'user']);
    const wrapped = await chat({ roles: { mid_system: 'user_wrap' } });
    assert.deepEqual(rolesOf(wrapped), ['system', 'user']);
    assert.match(JSON.stringify(wrapped), /<system-reminder>\\nBe careful\.\\n<\/system-reminder>/);

    const input = [{ role: 'developer', content: 'You write code.' }, user('Fix it.')];
    const older = await ask({ from: 'responses', to: 'chat' }, { input });
    assert.deepEqual(rolesOf(older.body.messages), ['system', 'user']);
    const openAi = await ask({ from: 'responses', to: 'chat', isOpenAi: true, model: 'gpt-5.1' }, { input });
    assert.deepEqual(rolesOf(openAi.body.messages), ['developer', 'user']);

    const more = {
      messages: [system('You write code.'), user('Fix it.'), { role: 'developer', content: 'Be careful.' }],
    };
    const refuses = await ask({ from: 'chat', to: 'messages', model: OLDER }, more);
    assert.deepEqual(rolesOf(refuses.body.messages), ['user']);
    const takes = await ask({ from: 'chat', to: 'messages', model: NEWEST }, more);
    assert.deepEqual(rolesOf(takes.body.messages), ['user', 'system']);
    const gemini = await ask({ from: 'chat', to: 'gemini' }, more);
    assert.deepEqual(rolesOf(gemini.body.contents), ['user']);
  });

  it('case 88: instructions that begin the input are the system prompt, and no message', async () => {
    const more = { input: [{ role: 'developer', content: 'Be brief.' }, user('Hello?')] };
    for (const model of [OLDER, NEWEST]) {
      const { body } = await ask({ from: 'responses', to: 'messages', model }, { instructions: 'You help.', ...more });
      const last = { ...text('Be brief.'), cache_control: { type: 'ephemeral' } };
      assert.deepEqual(body.system, [text('You help.'), last], model);
      assert.deepEqual(body.messages, [user([text('Hello?')])], model);
    }
    const { body } = await ask({ from: 'responses', to: 'gemini' }, more);
    assert.deepEqual(body.systemInstruction.parts, [{ text: 'Be brief.' }]);
  });

  it('case 89: instructions between a call and its result stand behind the result', async () => {
    const spellings: Spellings = {
      chat: {
        tools: [TOOLS.chat],
        messages: [user('Look.'), { ...assistant(null), tool_calls: [chatCall] }, system('Hurry.'), chatResult],
      },
      responses: {
        tools: [TOOLS.responses],
        input: [user('Look.'), responsesCall, { role: 'developer', content: 'Hurry.' }, responsesResult],
      },
      messages: {
        tools: [TOOLS.messages],
        messages: [user('Look.'), assistant([messagesCall]), system('Hurry.'), user([messagesResult])],
      },
    };
    for (const { name, to, body } of await everywhere(spellings)) checkBehind(to, body, 'Hurry.', name);
    const newest = await ask({ from: 'chat', to: 'messages', model: NEWEST }, spellings.chat);
    assert.deepEqual(rolesOf(newest.body.messages), ['user', 'assistant', 'user', 'system']);
  });

  it('case 90: what the user says before a result stands behind it', async () => {
    const spellings: Spellings = {
      chat: {
        tools: [TOOLS.chat],
        messages: [user('Look.'), { ...assistant(null), tool_calls: [chatCall] }, user('Well?'), chatResult],
      },
      responses: { tools: [TOOLS.responses], input: [user('Look.'), responsesCall, user('Well?'), responsesResult] },
      messages: {
        tools: [TOOLS.messages],
        messages: [user('Look.'), assistant([messagesCall]), user([text('Well?'), messagesResult])],
      },
    };
    for (const { name, to, body } of await everywhere(spellings)) checkBehind(to, body, 'Well?', name);
  });

  it('case 95: several instructions and turns of one side become one for templates that take only one', async () => {
    const quirks = { roles: { merge_system: true } };
    const conversations: readonly (readonly [ClientName, JsonObject])[] = [
      ['messages', { system: [text('a'), text('b')], messages: [user('One?'), user('Two?')] }],
      ['responses', { instructions: 'a', input: [{ role: 'developer', content: 'b' }, user('One?'), user('Two?')] }],
    ];
    for (const [from, more] of conversations) {
      const { body } = await ask({ from, to: 'chat', quirks }, more);
      assert.deepEqual(rolesOf(body.messages), ['system', 'user'], from);
      assert.match(JSON.stringify(body.messages), /a.*b.*One\?.*Two\?/, from);
    }
  });
});

/** Nothing stands between the call and its result; the words come right behind. */
function checkBehind(to: Meeting['to'], body: Body, words: string, name: string): void {
  switch (to) {
    case 'chat': {
      assert.deepEqual(rolesOf(body.messages.slice(0, 3)), ['user', 'assistant', 'tool'], name);
      assert.ok(JSON.stringify(body.messages.slice(3)).includes(words), name);
      break;
    }
    case 'responses': {
      const types = (body.input as readonly JsonObject[]).map(({ type }) => type);
      assert.deepEqual(types.slice(0, 3), ['message', 'function_call', 'function_call_output'], name);
      assert.ok(JSON.stringify(body.input.slice(3)).includes(words), name);
      break;
    }
    case 'messages': {
      assert.deepEqual(rolesOf(body.messages), ['user', 'assistant', 'user'], name);
      const { content } = body.messages[2];
      assert.deepEqual(rolesOf(content), ['tool_result', 'text'], name);
      assert.ok(content[1].text.includes(words), name);
      break;
    }
    case 'gemini': {
      assert.deepEqual(rolesOf(body.contents), ['user', 'model', 'user'], name);
      const [first, second] = body.contents[2].parts;
      assert.ok(first.functionResponse, name);
      assert.ok(second.text.includes(words), name);
    }
  }
}

describe('who speaks', () => {
  it('case 91: a conversation that the model begins gets a user before it', async () => {
    const asked = await everywhere(
      {
        chat: { messages: [system('Be brief.'), assistant('Welcome!'), user('Hello?')] },
        responses: { instructions: 'Be brief.', input: [assistant('Welcome!'), user('Hello?')] },
        messages: { messages: [assistant('Welcome!'), user('Hello?')] },
      },
      ['messages', 'gemini'],
    );
    for (const { name, to, body, warnings } of asked) {
      const list: readonly Body[] = to === 'gemini' ? body.contents : body.messages;
      assert.deepEqual(rolesOf(list), ['user', to === 'gemini' ? 'model' : 'assistant', 'user'], name);
      assert.equal((list[0].content ?? list[0].parts)[0].text, '.', name);
      assert.ok(
        warnings.some((warning) => /^(messages|input):changed$/.test(warning)),
        `${name}: ${warnings}`,
      );
    }
  });

  it('case 92: instructions alone get a user who says as good as nothing', async () => {
    const asked = await everywhere({
      chat: { messages: [system('Tell a joke.')] },
      responses: { instructions: 'Tell a joke.', input: [] },
    });
    for (const { name, to, body } of asked) {
      assert.equal(toldTo(to, body).asked, 'Tell a joke..', name);
      const list: readonly Body[] = body.contents ?? body.messages ?? body.input;
      assert.equal(list.at(-1).role, 'user', name);
    }
  });

  it('case 96: what the model says beside its calls stays beside them, in requests and in answers', async () => {
    const words = 'I will look.';
    const spellings: Spellings = {
      chat: {
        tools: [TOOLS.chat],
        messages: [user('Look.'), { ...assistant(words), tool_calls: [chatCall] }, chatResult],
      },
      responses: {
        tools: [TOOLS.responses],
        input: [
          user('Look.'),
          { type: 'message', ...assistant([{ type: 'output_text', text: words, annotations: [] }]) },
          responsesCall,
          responsesResult,
        ],
      },
      messages: {
        tools: [TOOLS.messages],
        messages: [user('Look.'), assistant([text(words), messagesCall]), user([messagesResult])],
      },
    };
    for (const { name, to, body } of await everywhere(spellings)) {
      const { said, calls } = toldTo(to, body);
      assert.equal(said, words, name);
      assert.deepEqual(calls[0]?.input, { at: 'sea' }, name);
      const list: readonly JsonObject[] = body.contents ?? body.messages ?? body.input;
      assert.equal(rolesOf(list).filter((role) => role === 'assistant' || role === 'model').length, 1, name);
    }

    const answer = {
      id: 'x',
      object: 'chat.completion',
      choices: [{ index: 0, message: { ...assistant(words), tool_calls: [chatCall] }, finish_reason: 'tool_calls' }],
    };
    const more = { tools: [TOOLS.messages] };
    const { content } = (await ask({ from: 'messages', to: 'chat' }, more)).whole(answer);
    assert.deepEqual(rolesOf(content), ['text', 'tool_use']);
    assert.equal(content[0].text, words);
    const { output } = (await ask({ from: 'responses', to: 'chat' }, { tools: [TOOLS.responses] })).whole(answer);
    assert.deepEqual(
      output.map(({ type }: Body) => type),
      ['message', 'function_call'],
    );
    assert.equal(output[0].content[0].text, words);
    const native = {
      type: 'message',
      role: 'assistant',
      content: [text(words), messagesCall],
      stop_reason: 'tool_use',
    };
    const { choices } = (await ask({ from: 'chat', to: 'messages' }, { tools: [TOOLS.chat] })).whole(native);
    assert.equal(choices[0].message.content, words);
    assert.equal(choices[0].message.tool_calls.length, 1);
  });
});

describe('what is shown', () => {
  /** The beginning of a JPEG, and of a PDF. */
  const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0x10, 0x4a, 0x46, 0x49, 0x46]).toString('base64');
  const PDF = Buffer.from('%PDF-1.7\n').toString('base64');

  it('case 93: a document without a word beside it gets one', async () => {
    const file = `data:application/pdf;base64,${PDF}`;
    const asked = await everywhere(
      {
        chat: { messages: [user([{ type: 'file', file: { filename: 'a.pdf', file_data: file } }])] },
        responses: { input: [user([{ type: 'input_file', filename: 'a.pdf', file_data: file }])] },
      },
      ['messages'],
    );
    for (const { name, body } of asked) {
      assert.deepEqual(rolesOf(body.messages[0].content), ['document', 'text'], name);
      assert.equal(body.messages[0].content[1].text, '.', name);
    }
  });

  it('case 94: an image has the type that its bytes have, whatever it is called', async () => {
    const url = `data:image/png;base64,${JPEG}`;
    const asked = await everywhere({
      chat: { messages: [user([text('What?'), { type: 'image_url', image_url: { url } }])] },
      responses: {
        input: [
          user([
            { type: 'input_text', text: 'What?' },
            { type: 'input_image', image_url: url },
          ]),
        ],
      },
      messages: {
        messages: [
          user([text('What?'), { type: 'image', source: { type: 'base64', media_type: 'image/png', data: JPEG } }]),
        ],
      },
    });
    for (const { name, body } of asked) {
      const told = JSON.stringify(body);
      assert.match(told, /image\/jpeg/, name);
      assert.doesNotMatch(told, /image\/png/, name);
    }
  });
});

describe("the vendor's cache of prompts", () => {
  it('case 97: the block with which a coding client tells its books something new each time spoils no cache', async () => {
    const asking = (cch: string): JsonObject => ({
      system: [text(`x-anthropic-billing-header: cc_version=2.1; cch=${cch};`), text('You write code.')],
    });
    for (const to of ['chat', 'responses', 'gemini'] as const) {
      const one = await ask({ from: 'messages', to }, asking('a1'));
      const other = await ask({ from: 'messages', to }, asking('b2'));
      assert.equal(one.bytes.toString(), other.bytes.toString(), to);
      assert.equal(toldTo(to, one.body).asked, 'You write code.Hello?', to);
    }
    const { body } = await ask({ from: 'messages', to: 'messages' }, asking('a1'));
    assert.deepEqual(body.system, asking('a1').system, 'whoever made it gets it');
  });

  it('case 98: the key of a conversation is the same each time, and never made up', async () => {
    const session = '7d1c5a0e-55a2-4f6f-9d52-0b1f6a6c1e11';
    const users = [
      JSON.stringify({ device_id: 'd'.repeat(64), account_uuid: '', session_id: session }),
      `user_${'d'.repeat(64)}_account__session_${session}`,
    ];
    for (const user_id of users) {
      for (const meeting of [
        { from: 'messages', to: 'responses' },
        { from: 'messages', to: 'chat', quirks: { cache: { hint: 'key' } } },
      ] as const) {
        const keys = new Set<unknown>();
        for (let turn = 0; turn < 3; turn++) {
          const { body } = await ask(meeting, { metadata: { user_id }, messages: [user(`Turn ${turn}.`)] });
          keys.add(body.prompt_cache_key);
        }
        assert.deepEqual([...keys], [session], meeting.to);
      }
    }
    const own = await ask({ from: 'chat', to: 'responses' }, { prompt_cache_key: 'mine' });
    assert.equal(own.body.prompt_cache_key, 'mine');
    for (const from of ['chat', 'messages'] as const) {
      const { body } = await ask({ from, to: 'responses' });
      assert.equal(body.prompt_cache_key, undefined, `${from}: nobody said one`);
    }
  });
});
