/** Coding clients and chat applications, with what they really send, before vendors of every kind: two turns of a conversation. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { isObject } from '../../../core/bytes/fields.ts';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import { KIND_NAMES, KINDS, modelOf, openStand, type Stand } from '../../clients/stand.ts';
import {
  agent,
  BILLING,
  CLAUDE_SESSION,
  CODEX_SESSION,
  type CodingClient,
  chatApplication,
  claudeCode,
  codex,
  type Found,
  PATCH_GRAMMAR,
  PICTURE,
} from '../../kit/clients/coding-clients.ts';
import { type Told, toldTo } from '../../kit/contracts/told.ts';
import { COLLECTORS } from '../../kit/conversations/collected.ts';
import { VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import type { Scenario, SpeechName } from '../../kit/speech.ts';
import type { Answer, VendorRequest } from '../../kit/vendors/fake-vendor.ts';
import { THOUGHT_SIGNATURE } from '../../kit/vendors/gemini-speech.ts';
import { SIGNATURE } from '../../kit/vendors/messages-speech.ts';
import { SEALED } from '../../kit/vendors/responses-speech.ts';
import { heard, SCENARIOS } from '../../kit/vendors/scenarios.ts';
import { eventStream, jsonAnswer } from '../../kit/vendors/script.ts';

type List = readonly JsonObject[];

const PATCH = '*** Begin Patch\n*** Update File: a.ts\n@@\n-"a"\n+"b"\n*** End Patch';
const USAGE = { input: 12_000, cached: 11_000, output: 150, reasoning: 30 };

/** What the vendor answers each of them: thoughts, words, and calls of those of its tools that are the hardest to call. */
const ANSWERS = {
  claude: {
    reasoning: ['Let me', ' look.'],
    text: ['I will', ' look at it.'],
    calls: [
      { id: 'c1', name: 'Read', pieces: ['{"file_path":"/src/parser', '.ts","limit":20}'] },
      { id: 'c2', name: 'mcp__tracker__list_issues', pieces: ['{}'] },
    ],
    end: 'tools',
    usage: USAGE,
  },
  codex: {
    reasoning: ['Let me', ' look.'],
    calls: [
      { id: 'c1', name: 'exec_command', pieces: ['{"cmd":"ls', ' -l"}'] },
      { id: 'c2', name: 'multi_agent_v1__spawn_agent', pieces: ['{"message":', '"Go."}'] },
      {
        id: 'c3',
        name: 'apply_patch',
        pieces: [`{"input":${JSON.stringify(PATCH).slice(0, 20)}`, `${JSON.stringify(PATCH).slice(20)}}`],
      },
    ],
    end: 'tools',
    usage: USAGE,
  },
  agent: SCENARIOS.calls,
  application: SCENARIOS.reasoning,
} satisfies Readonly<Record<string, Scenario>>;

/** What the vendor gave the client to keep. */
const SEALS: Readonly<Record<SpeechName, string | undefined>> = {
  chat: undefined,
  responses: SEALED,
  messages: SIGNATURE,
  gemini: THOUGHT_SIGNATURE,
};

/** A model that takes what Claude Code sends: an older one gets a request that fits it. */
const NEWEST = 'claude-sonnet-5-5';

let stand: Stand;
let newest: Stand;
before(async () => {
  stand = await openStand();
  newest = await openStand(0, { models: { messages: NEWEST } });
});
after(async () => {
  await stand?.stop();
  await newest?.stop();
});

/** One request, as the vendor got it, and its answer as the client got it. */
interface Exchanged {
  readonly request: VendorRequest;
  readonly body: JsonObject;
  readonly told: Told;
  /** The warnings. */
  readonly lost: readonly string[];
  /** The stream. */
  readonly stream: string;
  /** The same as the client's library puts it together. */
  readonly answer: JsonObject;
}

async function exchange(
  client: CodingClient,
  kind: SpeechName,
  body: JsonObject,
  scenario: Scenario,
  at: Stand = stand,
): Promise<Exchanged> {
  const seen = at.vendor.requests.length;
  at.vendor.forget();
  at.vendor.next(answers(scenario, client.style === kind));
  const response = await fetch(at.root + client.path, {
    method: 'POST',
    headers: { ...client.headers, authorization: `Bearer ${at.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const stream = await response.text();
  assert.equal(response.status, 200, stream);
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  const request = at.vendor.requests[seen]!;
  assert.equal(at.vendor.requests.length, seen + 1, 'the vendor is asked once');
  return {
    request,
    body: request.json,
    told: toldTo(kind, request.json),
    lost: (response.headers.get('x-turnpike-translation') ?? '').split(', ').filter((each) => each !== ''),
    stream,
    answer: await COLLECTORS[client.style](stream),
  };
}

/** A vendor that refuses what a real one would. Its own clients know it better than this test does. */
function answers(scenario: Scenario, isNative: boolean): Answer {
  return (request) => {
    const { speech, body, complaint } = heard(withoutHosted(request), VENDOR_KEY);
    if (complaint !== undefined && !isNative) return jsonAnswer(400, speech.error(400, complaint));
    return eventStream(speech.events(scenario, body));
  };
}

/** The rules of this vendor know functions only. */
function withoutHosted(request: VendorRequest): VendorRequest {
  const { tools, ...rest } = request.json;
  if (!Array.isArray(tools)) return request;
  const isOwn = (tool: JsonObject): boolean =>
    'functionDeclarations' in tool || 'input_schema' in tool || tool.type === 'function';
  return { ...request, json: { ...rest, tools: (tools as List).filter(isOwn) } };
}

/** Results for these calls. */
function found(ids: readonly string[]): readonly Found[] {
  return ids.map((id, i) => ({ id, text: `Result ${i + 1}.` }));
}

/** Every call is told with its result, in the order of the calls. */
function checkPairs(told: Told, names: readonly string[]): void {
  assert.deepEqual(
    told.calls.map(({ name }) => name),
    names,
  );
  assert.deepEqual(
    told.results.map(({ id }) => id),
    told.calls.map(({ id }) => id),
  );
  assert.deepEqual(
    told.results.map(({ text }) => text),
    names.map((_, i) => `Result ${i + 1}.`),
  );
}

/** What the vendor sealed comes back to it, and only to it. */
function checkSeal(kind: SpeechName, told: Told): void {
  const seal = SEALS[kind];
  assert.deepEqual(told.opaque.slice(0, 1), seal === undefined ? [] : [seal]);
  assert.ok(!JSON.stringify(told).includes('turnpike-sealed'), 'a carrier is opened before it goes to a vendor');
}

/** The functions that the vendor is told of, by name. */
function functionsIn(body: JsonObject): ReadonlyMap<string, JsonObject> {
  const tools = (body.tools ?? []) as List;
  const flat = tools.flatMap((tool) => (tool.functionDeclarations as List | undefined) ?? [tool]);
  const functions = flat.map((tool) => (isObject(tool.function) ? tool.function : tool));
  return new Map(functions.filter(({ name }) => typeof name === 'string').map((tool) => [String(tool.name), tool]));
}

/** The schema of its arguments. */
function schemaOf(tool: JsonObject | undefined): Json | undefined {
  return tool?.parameters ?? tool?.input_schema ?? tool?.parametersJsonSchema;
}

/** What a client says of itself to the gateway is nothing for a vendor of another kind. */
function checkHeaders({ request }: Exchanged): void {
  for (const name of Object.keys(request.headers)) {
    assert.doesNotMatch(
      name,
      /^(x-app|x-claude|x-codex|x-stainless|originator|session-id|anthropic-beta|http-referer)/,
    );
  }
}

/** What passes untouched but for the model's name. */
function checkUntouched({ request }: Exchanged, model: string, sent: JsonObject): void {
  assert.equal(request.body.toString(), JSON.stringify({ ...sent, model }));
}

/** The names of the warnings, without what became of them. */
function namesOf(lost: readonly string[]): readonly string[] {
  return lost.map((warning) => warning.slice(0, warning.lastIndexOf(':')));
}

function checkLost(lost: readonly string[], ...names: readonly string[]): void {
  for (const name of names) assert.ok(namesOf(lost).includes(name), `${name} is not among ${lost}`);
}

/** The events of a messages stream, block by block: one is closed before the next one begins. */
function checkBlocks(stream: string): void {
  const names = [...stream.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name).filter((name) => name !== 'ping');
  const line = names.join(' ').replaceAll(/(content_block_delta )+/g, 'deltas ');
  assert.match(line, /^message_start (content_block_start (deltas )?content_block_stop )+message_delta message_stop$/);
}

describe('Claude Code', () => {
  const CALLED = ['Read', 'mcp__tracker__list_issues'];
  const NAMES = (claudeCode.first('m').tools as List).map(({ name }) => String(name));

  for (const kind of KIND_NAMES) {
    it(`asks a vendor that speaks ${kind}, uses its tools and goes on`, async () => {
      const sent = claudeCode.first(modelOf(kind));
      const at = kind === 'messages' ? newest : stand;
      const first = await exchange(claudeCode, kind, sent, ANSWERS.claude, at);
      const content = first.answer.content as List;
      const calls = content.filter(({ type }) => type === 'tool_use');
      const results = found(calls.map(({ id }) => String(id)));
      const next = claudeCode.second(modelOf(kind), first.answer, results);
      const second = await exchange(claudeCode, kind, next, SCENARIOS.summary, at);

      // The client reads thoughts, words and calls, and what it used.
      checkBlocks(first.stream);
      assert.equal(content.find(({ type }) => type === 'text')?.text, 'I will look at it.');
      assert.deepEqual(
        calls.map(({ name, input }) => [name, input]),
        [
          [CALLED[0], { file_path: '/src/parser.ts', limit: 20 }],
          [CALLED[1], {}],
        ],
      );
      assert.equal(first.answer.stop_reason, 'tool_use');
      const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } = first.answer
        .usage as JsonObject;
      assert.deepEqual(
        [input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens],
        [USAGE.input - USAGE.cached, USAGE.cached, 0, USAGE.output],
      );
      assert.equal(second.answer.stop_reason, 'end_turn');
      assert.deepEqual(
        (second.answer.content as List).map(({ type, text }) => [type, text]),
        [['text', 'It rains.']],
      );

      // The vendor reads the conversation.
      checkPairs(second.told, CALLED);
      checkSeal(kind, second.told);
      assert.equal(second.told.said, 'I will look at it.');
      for (const { told, body } of [first, second]) {
        for (const words of ['You are Claude Code', '/src/parser', 'Why does the test', 'skills are available']) {
          assert.ok(told.asked.includes(words), `the vendor is told: ${words}`);
        }
        assert.deepEqual([...functionsIn(body).keys()].sort(), NAMES.toSorted());
      }

      if (kind === 'messages') {
        checkUntouched(first, NEWEST, sent);
        checkUntouched(second, NEWEST, next);
        assert.match(first.request.path, /\/messages\?beta=true$/);
        // The gateway may itself ask for what no longer fits to be dropped.
        const betas = `${claudeCode.headers['anthropic-beta']},thinking-binding-controls-2026-08-01`;
        assert.equal(first.request.headers['anthropic-beta'], betas);
        assert.equal(first.request.headers['anthropic-version'], '2023-06-01');
        assert.ok(first.told.asked.startsWith(BILLING), 'it is for this vendor');
        assert.deepEqual(first.lost, []);
        return;
      }
      for (const one of [first, second]) {
        checkHeaders(one);
        checkLost(one.lost, 'system.billing_header', 'context_management');
        assert.ok(!one.request.body.includes('x-anthropic-billing-header'), 'it would spoil the cache of the prompt');
        assert.ok(!one.request.body.includes(CLAUDE_SESSION) || kind === 'responses', 'the user stays unknown');
        assert.ok(!one.request.body.includes('device_id'), 'the user stays unknown');
        // Elsewhere nobody looks for tools that are not told from the start.
        assert.ok(!one.request.body.includes('defer_loading'), 'every tool is there from the start');
      }
    });
  }

  it('asks for as much as the vendor has a word for', async () => {
    const bodyFor = async (kind: SpeechName): Promise<JsonObject> =>
      (await exchange(claudeCode, kind, claudeCode.first(modelOf(kind)), ANSWERS.claude)).body;
    const [chat, responses, gemini] = [await bodyFor('chat'), await bodyFor('responses'), await bodyFor('gemini')];
    const user = createHash('sha256').update(String((claudeCode.first('m').metadata as JsonObject).user_id));
    const hash = user.digest('hex');
    assert.deepEqual([chat.reasoning_effort, chat.max_tokens, chat.user, chat.stream], ['high', 32_000, hash, true]);
    assert.deepEqual(chat.stream_options, { include_usage: true });
    assert.deepEqual([responses.reasoning, responses.max_output_tokens], [{ effort: 'high' }, 32_000]);
    assert.deepEqual([responses.prompt_cache_key, responses.safety_identifier], [CLAUDE_SESSION, hash]);
    assert.deepEqual([responses.store, responses.include], [false, ['reasoning.encrypted_content']]);
    assert.deepEqual(gemini.generationConfig, { maxOutputTokens: 32_000, thinkingConfig: { thinkingLevel: 'HIGH' } });
    for (const body of [chat, responses, gemini]) {
      const schema = schemaOf(functionsIn(body).get('Read')) as JsonObject;
      const { limit } = schema.properties as JsonObject;
      assert.deepEqual(limit, { type: 'integer', exclusiveMinimum: 0, maximum: 9_007_199_254_740_991 });
    }
  });
});

describe('Codex', () => {
  const CALLED = ['exec_command', 'multi_agent_v1__spawn_agent', 'apply_patch'];

  for (const kind of KIND_NAMES) {
    it(`asks a vendor that speaks ${kind}, uses its tools and goes on`, async () => {
      const sent = codex.first(modelOf(kind));
      const first = await exchange(codex, kind, sent, ANSWERS.codex);
      const output = first.answer.output as List;
      const calls = output.filter(({ call_id: id }) => id !== undefined);
      const next = codex.second(modelOf(kind), first.answer, found(calls.map(({ call_id: id }) => String(id))));
      const second = await exchange(codex, kind, next, SCENARIOS.summary);

      checkPairs(second.told, CALLED);
      checkSeal(kind, second.told);
      assert.equal(first.answer.status, 'completed');
      assert.equal(second.answer.output_text, 'It rains.');
      const { input_tokens, output_tokens, input_tokens_details: details } = first.answer.usage as JsonObject;
      assert.deepEqual([input_tokens, output_tokens], [USAGE.input, USAGE.output]);
      assert.equal((details as JsonObject).cached_tokens, USAGE.cached);
      for (const { told } of [first, second]) {
        for (const words of ['You are a coding agent.', '<permissions', '# Default', '<cwd>', 'Why does the test']) {
          assert.ok(told.asked.includes(words), `the vendor is told: ${words}`);
        }
      }

      if (kind === 'responses') {
        checkUntouched(first, KINDS[kind].model, sent);
        checkUntouched(second, KINDS[kind].model, next);
        assert.deepEqual(first.lost, []);
        return;
      }
      // Every call looks as the client declared its tool.
      assert.deepEqual(
        calls.map(({ type, name, namespace, arguments: json, input }) => [type, namespace, name, json ?? input]),
        [
          ['function_call', undefined, 'exec_command', '{"cmd":"ls -l"}'],
          ['function_call', 'multi_agent_v1', 'spawn_agent', '{"message":"Go."}'],
          ['custom_tool_call', undefined, 'apply_patch', PATCH],
        ],
      );
      const [thought] = output;
      assert.deepEqual(thought?.summary, [{ type: 'summary_text', text: 'Let me look.' }]);
      assert.match(String(thought?.encrypted_content), /^turnpike-sealed-/);

      for (const one of [first, second]) {
        checkHeaders(one);
        checkLost(one.lost, 'client_metadata', 'tools.format', 'prompt_cache_key');
        assert.ok(!one.request.body.includes(CODEX_SESSION), 'there is no place for it');
        const functions = functionsIn(one.body);
        // The tools of the group, and those that were declared in the middle of the input.
        for (const name of [...CALLED, 'multi_agent_v1__wait_agent', 'automation_update', 'view_image']) {
          assert.ok(functions.has(name), `${name} is offered`);
        }
        assert.ok(!functions.has('multi_agent_v1'), 'a group is no tool');
        const patch = functions.get('apply_patch');
        assert.deepEqual((schemaOf(patch) as JsonObject).required, ['input']);
        assert.ok(String(patch?.description).includes(PATCH_GRAMMAR), 'the model is told of the grammar');
      }
    });
  }

  it('searches the web where the vendor can', async () => {
    const sent = (kind: SpeechName) => {
      const body = codex.first(modelOf(kind));
      const tools = (body.tools as List).map((tool) => (tool.type === 'web_search' ? { type: 'web_search' } : tool));
      return exchange(codex, kind, { ...body, tools }, ANSWERS.codex);
    };
    const [chat, messages, gemini] = [await sent('chat'), await sent('messages'), await sent('gemini')];
    checkLost(chat.lost, 'tools.web_search');
    const [search] = (messages.body.tools as List).filter(({ type }) => String(type).startsWith('web_search_'));
    assert.equal(search?.name, 'web_search');
    const beside = (gemini.body.tools as List).find((tool) => 'googleSearch' in tool);
    assert.deepEqual(beside, { googleSearch: {} });
  });

  it('searches nowhere where the search must not be live', async () => {
    for (const kind of ['chat', 'messages', 'gemini'] as const) {
      const { lost, body } = await exchange(codex, kind, codex.first(modelOf(kind)), ANSWERS.codex);
      checkLost(lost, 'tools.web_search');
      assert.doesNotMatch(JSON.stringify(body.tools), /googleSearch|"web_search/, `${kind} has it`);
    }
  });
});

describe('a conversation that goes on with another vendor', () => {
  for (const [client, scenario, own] of [
    [claudeCode, ANSWERS.claude, 'messages'],
    [codex, ANSWERS.codex, 'responses'],
  ] as const) {
    for (const [from, to] of KIND_NAMES.flatMap((from) => KIND_NAMES.map((to) => [from, to] as const))) {
      if (from === to) continue;
      it(`leaves out what only the one before could read: ${client.name}, from ${from} to ${to}`, async () => {
        const first = await exchange(client, from, client.first(modelOf(from)), scenario);
        const blocks = (first.answer.content ?? first.answer.output) as List;
        const ids = blocks.map((block) => block.call_id ?? (block.type === 'tool_use' ? block.id : undefined));
        const results = found(ids.filter((id) => id !== undefined).map(String));
        const body = client.second(modelOf(to), first.answer, results);
        const { request } = await exchange(client, to, body, SCENARIOS.summary);
        for (const { text } of results) assert.ok(request.body.includes(text), 'the vendor is told of every result');
        assert.ok(!request.body.includes('turnpike-sealed'), 'no carrier leaves the gateway');
        // A vendor of the client's own style gets what the client says, and judges for itself.
        const seal = SEALS[from];
        if (from !== own && seal !== undefined) assert.ok(!request.body.includes(seal), 'nor what is in it');
      });
    }
  }
});

describe('an agent on the official library', () => {
  const CALLED = ['get_weather', 'get_time'];

  for (const kind of KIND_NAMES) {
    it(`calls tools in parallel with a vendor that speaks ${kind}`, async () => {
      const sent = agent.first(modelOf(kind));
      const first = await exchange(agent, kind, sent, ANSWERS.agent);
      const [choice] = first.answer.choices as List;
      const calls = (choice!.message as JsonObject).tool_calls as List;
      const results = found(calls.map(({ id }) => String(id)));
      const next = agent.second(modelOf(kind), first.answer, results);
      const second = await exchange(agent, kind, next, SCENARIOS.summary);

      assert.equal(choice!.finish_reason, 'tool_calls');
      assert.deepEqual(
        calls.map((call) => call.function),
        [
          { name: 'get_weather', arguments: '{"city":"Oslo","days":1}' },
          { name: 'get_time', arguments: '{"city":"Rome"}' },
        ],
      );
      const { prompt_tokens, completion_tokens } = first.answer.usage as JsonObject;
      assert.deepEqual([prompt_tokens, completion_tokens], [ANSWERS.agent.usage.input, ANSWERS.agent.usage.output]);
      assert.ok(first.stream.endsWith('data: [DONE]\n\n'), 'the stream has its last event');
      assert.equal(textIn(second.answer), 'It rains.');
      checkPairs(second.told, CALLED);
      if (kind === 'gemini') checkSeal(kind, second.told);
      assert.equal(
        first.told.asked,
        'You are a helpful assistant.How are things in Oslo, and what time is it in Rome?',
      );

      const strict = [...functionsIn(first.body).values()].map((tool) => tool.strict);
      if (kind === 'chat') {
        checkUntouched(first, KINDS[kind].model, sent);
        checkUntouched(second, KINDS[kind].model, next);
        assert.deepEqual(first.lost, []);
      } else if (kind === 'gemini') {
        checkLost(first.lost, 'tools.strict', 'user');
        assert.equal((first.body.generationConfig as JsonObject).seed, 7);
      } else {
        checkLost(first.lost, 'seed');
        assert.deepEqual(strict, [true, true]);
        assert.equal(first.body.max_output_tokens ?? first.body.max_tokens, 2_000);
      }
    });
  }
});

describe('a chat application', () => {
  for (const kind of KIND_NAMES) {
    it(`shows a picture to a vendor that speaks ${kind}`, async () => {
      const sent = chatApplication.first(modelOf(kind));
      const first = await exchange(chatApplication, kind, sent, ANSWERS.application);
      const next = chatApplication.second(modelOf(kind), first.answer, []);
      const second = await exchange(chatApplication, kind, next, SCENARIOS.summary);

      assert.equal(textIn(first.answer), 'Hello yourself.');
      assert.equal(textIn(second.answer), 'It rains.');
      assert.ok(first.request.body.includes(PICTURE), 'the vendor sees it');
      assert.equal(first.told.asked, 'Answer in the language of the user.Hallo!Was ist das?');
      assert.equal(second.told.said, 'Hallo, was kann ich tun?Hello yourself.');
      assert.ok(second.told.asked.endsWith('Danke!'), 'the user has the last word');
      if (kind === 'chat') {
        checkUntouched(first, KINDS[kind].model, sent);
        assert.deepEqual(first.lost, []);
        return;
      }
      checkHeaders(first);
      // Thoughts of whoever answered before are a hint at most, and penalties of nothing are none.
      checkLost(first.lost, 'messages.reasoning', 'presence_penalty', 'frequency_penalty');
      assert.ok(!JSON.stringify(first.body).includes('They greet me.'), 'nobody can check that it thought so');
      const { temperature } = (first.body.generationConfig ?? first.body) as JsonObject;
      assert.equal(temperature, 0.7);
    });
  }
});

function textIn(answer: JsonObject): Json | undefined {
  const [choice] = answer.choices as List;
  return (choice!.message as JsonObject).content;
}
