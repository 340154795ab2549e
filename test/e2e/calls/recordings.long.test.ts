/**
 * Recorded vendor traffic, played back to clients of every style: a few exchanges written down here, and a sample of the recordings
 * where they are at hand. All of them: `npm run replay -- DIR`.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { differences } from '../../../scripts/replay/compare.ts';
import { eventsIn } from '../../../scripts/replay/event-stream.ts';
import { fold } from '../../../scripts/replay/fold.ts';
import { type Recorded, readFolder, readLine } from '../../../scripts/replay/folder.ts';
import { createFound, lostLeaves } from '../../../scripts/replay/leaves.ts';
import { replay } from '../../../scripts/replay/run.ts';
import { read } from '../../../scripts/replay/told.ts';
import { CHECKS, type Finding, lineOf } from '../../../scripts/replay/verdicts.ts';
import { recordingsAvailable, recordingsFolder } from '../../kit/vendors/recordings.ts';

const TOOL = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

/** One exchange of each style with a thought, a text and a call; a stream of each. */
const LINES: readonly object[] = [
  {
    id: 'chat-whole',
    path: '/v1/chat/completions',
    request: {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'How warm is it in Paris?' },
      ],
      tools: [{ type: 'function', function: { name: 'weather', description: 'Tells the weather.', parameters: TOOL } }],
      max_completion_tokens: 500,
      temperature: 0.5,
    },
    status: 200,
    response: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Let me see.',
            reasoning_content: 'They want to know the weather.',
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city": "Paris"}' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 20,
        completion_tokens: 9,
        total_tokens: 29,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
    },
  },
  {
    id: 'messages-whole',
    path: '/v1/messages',
    request: {
      model: 'm',
      max_tokens: 100,
      stream: false,
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'How warm is it in Paris?' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Paris' } }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '21 degrees' }] },
      ],
      tools: [{ name: 'weather', input_schema: TOOL }],
    },
    status: 200,
    response: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'It is warm.', signature: 'c2lnbmVk' },
        { type: 'text', text: '21 degrees.' },
      ],
      stop_reason: 'max_tokens',
      stop_sequence: null,
      usage: {
        input_tokens: 5,
        cache_read_input_tokens: 7,
        cache_creation_input_tokens: 3,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 0 },
        output_tokens: 6,
      },
    },
  },
  {
    id: 'gemini-whole',
    path: '/v1beta/models/m:generateContent',
    request: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
    status: 200,
    response: {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { text: 'They say hello.', thought: true },
              { functionCall: { name: 'greet', args: { loud: true } }, thoughtSignature: 'c2VhbGVk' },
            ],
          },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 5, thoughtsTokenCount: 6, totalTokenCount: 15 },
      modelVersion: 'm',
      responseId: 'r1',
    },
  },
  {
    id: 'chat-refused',
    path: '/v1/chat/completions',
    request: { model: 'm', messages: [{ role: 'user', content: 'Hello' }] },
    status: 400,
    response: { error: { message: 'That is too much.', type: 'invalid_request_error', param: null, code: null } },
  },
  {
    id: 'messages-stream',
    format: 'anthropic-messages',
    events: [
      {
        type: 'message_start',
        message: {
          id: 'msg_2',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 10, output_tokens: 1 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüß ' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Gott 🙂' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'tool_use', id: 'toolu_2', name: 'greet', input: {} },
      },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"loud":' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: ' true}' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 12 } },
      { type: 'message_stop' },
    ],
  },
  {
    id: 'gemini-stream',
    format: 'gemini',
    events: [
      { candidates: [{ content: { role: 'model', parts: [{ text: 'Good ' }] }, index: 0 }], modelVersion: 'm' },
      {
        candidates: [{ content: { role: 'model', parts: [{ text: 'day' }] }, finishReason: 'STOP', index: 0 }],
        usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2, totalTokenCount: 6 },
        modelVersion: 'm',
      },
    ],
  },
  {
    id: 'chat-stream',
    format: 'chat:any',
    events: [
      {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
      },
      {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: { content: 'Good day' }, finish_reason: null }],
      },
      {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: {}, finish_reason: 'length' }],
      },
      {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [],
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      },
    ],
  },
];

const inline: readonly Recorded[] = LINES.flatMap((line) => {
  const found = readLine(JSON.stringify(line), 'inline', 'here');
  assert.ok('exchanges' in found, 'a line written down here is a recording');
  return found.exchanges;
});

const failures = (findings: readonly Finding[]): readonly string[] =>
  findings.filter(({ result }) => result === 'failed').map(lineOf);

describe('recorded exchanges', () => {
  it('come out at clients of every style as they went in', async () => {
    const findings = await replay({ exchanges: inline, seed: 20_261_120 });
    assert.deepEqual(failures(findings), []);
    // Nothing of this would mean much if nothing had been compared.
    for (const check of CHECKS) {
      const good = findings.filter((finding) => finding.check === check && finding.result === 'ok');
      assert.ok(good.length >= 4, `only ${good.length} findings of the check ${check}`);
    }
  });

  if (recordingsAvailable)
    it('do so too where they are real ones, as far as a sample tells', async () => {
      const { exchanges } = readFolder(recordingsFolder);
      const sample = exchanges.filter((_, i) => i % 29 === 0);
      assert.ok(sample.length > 20, `only ${sample.length} exchanges`);
      assert.deepEqual(failures(await replay({ exchanges: sample, seed: 20_261_120 })), []);
    });
});

describe('the replay itself', () => {
  const whole = inline[0]!;
  const said = read('chat', JSON.parse(whole.body.toString()));

  it('sees what differs', () => {
    assert.deepEqual(differences(said, said, 'chat', 'chat'), []);
    const usage = { ...said.usage!, cacheRead: 3 };
    const calls = [{ ...said.calls[0]!, input: '{"city":"Rome"}' }];
    const wrong = { ...said, texts: ['Let me.'], reasoning: [], calls, stop: 'stop', usage } as const;
    assert.deepEqual(differences(said, wrong, 'chat', 'responses'), [
      'text "Let me see." became "Let me."',
      'reasoning "Theywanttoknowtheweather." became ""',
      'arguments of weather "{\\"city\\": \\"Paris\\"}" became "{\\"city\\":\\"Rome\\"}"',
      'stop tool_calls became stop',
      'cacheRead tokens 4 became 3',
    ]);
  });

  it('sees what vanished, unless it is named', () => {
    const asked = { seed: 7, stop: ['Stop'], messages: [{ content: 'kept' }], temperature: 0.5 };
    const sent = createFound({ text: 'Stop at 7, is kept', temperature: 0.5 });
    const lost = (warnings: readonly string[]): readonly string[] =>
      lostLeaves(asked, sent, warnings, () => false).map(({ path }) => path);
    assert.deepEqual(lost([]), ['seed', 'stop[0]']);
    assert.deepEqual(lost(['seed:dropped', 'stop:changed']), []);
    assert.deepEqual(lost(['top_k:dropped', 'messages:changed']), ['seed', 'stop[0]']);
  });

  it('takes the name of one thing for no other', () => {
    const asked = {
      reasoning: { effort: 'high' },
      output_config: { format: { type: 'json_schema', schema: { title: 'A' } } },
      input: [{ type: 'reasoning', content: 'thought' }],
    };
    const lost = (warnings: readonly string[]): readonly string[] =>
      lostLeaves(asked, createFound({}), warnings, ({ members }) => members.at(-1) === 'type').map(({ path }) => path);
    assert.deepEqual(lost(['input.reasoning:dropped']), ['reasoning.effort', 'output_config.format.schema.title']);
    assert.deepEqual(lost(['reasoning.effort:dropped']), ['output_config.format.schema.title', 'input[0].content']);
    const answers = { choices: [{ message: { content: 'one' } }, { message: { content: 'two' } }] };
    const left = lostLeaves(answers, createFound({}), ['choices:omitted'], () => false);
    assert.deepEqual(
      left.map(({ value }) => value),
      ['one'],
    );
  });

  it('sees that an answer which breaks off is told to have done so', async () => {
    const stream = inline.find(({ id }) => id === 'messages-stream')!;
    const body = Buffer.from(stream.body.toString().split('event: content_block_stop')[0]!);
    const findings = await replay({ exchanges: [{ ...stream, id: 'torn', body }], seed: 1 });
    assert.deepEqual(findings.map(({ client, check, result }) => `${client} ${check} ${result}`).sort(), [
      'chat lives refused',
      'messages lives refused',
      'responses lives refused',
    ]);
  });

  it('reads what it can of a folder, and says what it cannot', () => {
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-recordings-'));
    try {
      const line = JSON.stringify(LINES[0]);
      mkdirSync(join(dir, 'more'));
      writeFileSync(join(dir, 'a.jsonl'), `\ufeff${line}\r\n\n{torn\n[]\n${line}`);
      writeFileSync(join(dir, 'more', 'b.jsonl.gz'), gzipSync(line));
      writeFileSync(join(dir, 'c.jsonl.gz'), 'not packed');
      writeFileSync(join(dir, 'notes.txt'), line);
      const { exchanges, skipped } = readFolder(dir);
      assert.deepEqual(
        exchanges.map(({ file, model }) => [file, model]),
        [
          ['a', 'm'],
          ['a', 'm'],
          [join('more', 'b'), 'm'],
        ],
      );
      assert.deepEqual(
        skipped.map(({ file, id }) => [file, id]),
        [
          ['a', 'line 3'],
          ['a', 'line 4'],
          ['c', 'the file'],
        ],
      );
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('folds a stream of calls that come in pieces', () => {
    const stream = inline.find(({ id }) => id === 'messages-stream')!;
    const told = read('messages', fold('messages', eventsIn(stream.body.toString())).body);
    assert.deepEqual(told.texts, ['Grüß Gott 🙂']);
    assert.deepEqual(
      told.calls.map(({ name, input }) => [name, input]),
      [['greet', '{"loud":true}']],
    );
    assert.deepEqual([told.stop, told.usage?.input, told.usage?.output], ['tool_calls', 10, 12]);
  });

  it('says why it cannot play a line', () => {
    const reason = (line: object): string => {
      const found = readLine(JSON.stringify({ id: 'x', ...line }), 'f', 'line 1');
      return 'reason' in found ? found.reason : 'it can';
    };
    assert.equal(reason({ path: '/v1/embeddings', response: {} }), 'no conversation goes to /v1/embeddings');
    assert.equal(reason({ format: 'telegraph', events: [] }), 'the format telegraph is not known');
    assert.equal(reason({ path: '/v1/messages' }), 'no answer was recorded');
    assert.equal(reason({ request: { contents: [] }, response: {} }), 'it can');
  });
});
