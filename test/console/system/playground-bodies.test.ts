/** What the playground sends and how it reads what comes back: bodies in three styles, streams in pieces, JSON that people type. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Decoder, Failed } from '../../../console/src/pages/playground/answer.ts';
import { alternativeBody, bodyOf, taskBodyOf, withToolResults } from '../../../console/src/pages/playground/bodies.ts';
import { curlOf, shortened } from '../../../console/src/pages/playground/curl.ts';
import { decoderFor, resultsOf } from '../../../console/src/pages/playground/decoders.ts';
import {
  continued,
  EMPTY,
  type Prompt,
  parseStored,
  STYLES,
  storedText,
} from '../../../console/src/pages/playground/prompt.ts';
import { createEventReader } from '../../../console/src/pages/playground/sse.ts';
import { EXAMPLE_SCHEMA, EXAMPLE_TOOLS, schemaIn, toolsIn } from '../../../console/src/pages/playground/typed-json.ts';
import { parseWarning, warningsIn } from '../../../console/src/parts/warnings.ts';
import { processorTime } from '../../kit/clients/processor.ts';
import fc from '../../kit/fast-check.ts';

const PICTURE = { name: 'dot.png', url: 'data:image/png;base64,iVBORw0KGgo=' };

function asking(text: string, more: Partial<Prompt> = {}): Prompt {
  return { ...EMPTY, stream: false, turns: [{ id: 1, role: 'user', text, pictures: [] }], ...more };
}

describe('a body', () => {
  it('says no more than was typed', () => {
    const prompt = asking('Hello', { system: '  ' });
    assert.deepEqual(bodyOf('chat', { model: 'm', prompt }), {
      model: 'm',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    assert.deepEqual(bodyOf('responses', { model: 'm', prompt }), {
      model: 'm',
      input: [{ role: 'user', content: 'Hello' }],
      store: false,
    });
    assert.deepEqual(bodyOf('messages', { model: 'm', prompt }), {
      model: 'm',
      max_tokens: 4_096,
      messages: [{ role: 'user', content: 'Hello' }],
    });
  });

  it('has all that was typed in the words of its style', () => {
    const prompt = asking('Look', {
      system: 'Be short.',
      temperature: 0,
      maxTokens: 300,
      stream: true,
      tools: '[{"name":"f","description":"d","parameters":{"type":"object"}}]',
      schema: '{"type":"object"}',
      turns: [
        { id: 1, role: 'user', text: 'Look', pictures: [PICTURE] },
        { id: 2, role: 'assistant', text: 'I do.', pictures: [] },
        { id: 3, role: 'user', text: '', pictures: [PICTURE] },
        { id: 4, role: 'user', text: ' ', pictures: [] },
      ],
    });
    const chat = bodyOf('chat', { model: 'm', prompt });
    assert.deepEqual(chat, {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be short.' },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: PICTURE.url } },
            { type: 'text', text: 'Look' },
          ],
        },
        { role: 'assistant', content: 'I do.' },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: PICTURE.url } }] },
      ],
      max_completion_tokens: 300,
      temperature: 0,
      tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' } } }],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
      },
      stream: true,
      stream_options: { include_usage: true },
    });
    const responses = bodyOf('responses', { model: 'm', prompt });
    assert.deepEqual(
      [responses.instructions, responses.max_output_tokens, responses.temperature, responses.stream],
      ['Be short.', 300, 0, true],
    );
    assert.deepEqual(responses.tools, [
      { type: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: false },
    ]);
    assert.deepEqual(responses.text, {
      format: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: true },
    });
    const messages = bodyOf('messages', { model: 'm', prompt });
    assert.deepEqual([messages.system, messages.max_tokens, messages.temperature], ['Be short.', 300, 0]);
    assert.deepEqual(messages.tools, [{ name: 'f', description: 'd', input_schema: { type: 'object' } }]);
    assert.deepEqual(messages.output_config, { format: { type: 'json_schema', schema: { type: 'object' } } });
    assert.deepEqual((messages.messages as readonly unknown[])[0], {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
        { type: 'text', text: 'Look' },
      ],
    });
  });

  it('asks for thoughts in each style, and leaves room for the answer', () => {
    const prompt = asking('Think', { effort: 'medium' });
    assert.equal(bodyOf('chat', { model: 'm', prompt }).reasoning_effort, 'medium');
    assert.deepEqual(bodyOf('responses', { model: 'm', prompt }).reasoning, { effort: 'medium', summary: 'auto' });
    const { thinking, max_tokens: limit } = bodyOf('messages', { model: 'm', prompt });
    assert.deepEqual([thinking, limit], [{ type: 'enabled', budget_tokens: 8_192 }, 12_288]);
    const tight = bodyOf('messages', { model: 'm', prompt: { ...prompt, maxTokens: 2_000 } });
    assert.deepEqual([tight.thinking, tight.max_tokens], [{ type: 'enabled', budget_tokens: 1_600 }, 2_000]);
  });

  it('is said in other words only where the first were not understood', () => {
    const chat = bodyOf('chat', { model: 'm', prompt: asking('Hi', { maxTokens: 9 }) });
    const other = alternativeBody('chat', chat, 'Unknown field: max_completion_tokens');
    assert.deepEqual([other?.max_tokens, other?.max_completion_tokens], [9, undefined]);
    assert.equal(alternativeBody('chat', chat, 'The temperature is too high'), undefined);
    assert.equal(alternativeBody('responses', chat, 'max_completion_tokens'), undefined);
    const messages = bodyOf('messages', { model: 'm', prompt: asking('Hi', { effort: 'high', schema: '{}' }) });
    const adaptive = alternativeBody('messages', messages, 'use thinking.type.adaptive and output_config.effort');
    assert.deepEqual(adaptive?.thinking, { type: 'adaptive', display: 'summarized' });
    assert.deepEqual(adaptive?.output_config, { format: { type: 'json_schema', schema: {} }, effort: 'high' });
  });

  it('of what is no conversation has what its kind wants', () => {
    const prompt = asking('', { text: 'a gate\n\na toll', size: '512x512', voice: 'nova', format: 'wav' });
    assert.deepEqual(taskBodyOf('embeddings', { model: 'm', prompt }), { model: 'm', input: ['a gate', 'a toll'] });
    assert.deepEqual(taskBodyOf('embeddings', { model: 'm', prompt: { ...prompt, text: 'one' } }).input, 'one');
    assert.deepEqual(taskBodyOf('images', { model: 'm', prompt }), {
      model: 'm',
      prompt: prompt.text,
      size: '512x512',
    });
    assert.deepEqual(taskBodyOf('speech', { model: 'm', prompt }), {
      model: 'm',
      input: prompt.text,
      voice: 'nova',
      response_format: 'wav',
    });
    assert.deepEqual(taskBodyOf('transcription', { model: 'm', prompt: EMPTY }), { model: 'm' });
  });
});

describe('JSON that people type', () => {
  it('is taken in the spelling of any style', () => {
    const parameters = { type: 'object', properties: {} };
    const spelled = [
      { name: 'f', parameters },
      { type: 'function', name: 'f', parameters },
      { type: 'function', function: { name: 'f', parameters } },
      { name: 'f', input_schema: parameters },
    ];
    for (const tool of spelled) {
      assert.deepEqual(toolsIn(JSON.stringify([tool])).value, [{ name: 'f', description: undefined, parameters }]);
    }
    assert.deepEqual(toolsIn(' ').value, []);
    assert.equal(toolsIn(JSON.stringify(spelled[0])).value?.length, 1);
    assert.equal(toolsIn(EXAMPLE_TOOLS).value?.[0]?.name, 'get_weather');
    assert.ok(schemaIn(EXAMPLE_SCHEMA).value !== undefined);
  });

  it('is told what is wrong with it', () => {
    assert.deepEqual(
      [toolsIn('[').problem, toolsIn('[1]').problem, toolsIn('"a"').problem, toolsIn('[{}]').problem],
      ['json', 'list', 'list', 'name'],
    );
    assert.deepEqual(
      [schemaIn('{').problem, schemaIn('[]').problem, schemaIn('').problem],
      ['json', 'object', undefined],
    );
  });
});

const STREAM = [
  '\uFEFF: hello\r\n\r\n',
  'event: first\ndata: one\ndata:two\n\n',
  'id: 7\rdata:  three\r\r',
  'data\r\n\r\n',
  'retry: 5\n\n',
  'event: named but empty\n\n',
  'data: {"a":"ü€😀"}\r\n\r\n',
  'data: last',
].join('');
const EVENTS = [
  { event: 'first', data: 'one\ntwo' },
  { event: 'message', data: ' three' },
  { event: 'message', data: '' },
  { event: 'message', data: '{"a":"ü€😀"}' },
  { event: 'message', data: 'last' },
];

describe('the reader of streams', () => {
  it('finds the same events wherever the text is cut', () => {
    const read = (cuts: readonly number[]) => {
      const reader = createEventReader();
      const places = [0, ...[...cuts].sort((a, b) => a - b), STREAM.length];
      const pieces = places.slice(1).map((end, at) => STREAM.slice(places[at], end));
      return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
    };
    assert.deepEqual(read([]), EVENTS);
    assert.deepEqual(read(Array.from({ length: STREAM.length }, (_, at) => at)), EVENTS);
    fc.assert(
      fc.property(fc.array(fc.nat(STREAM.length), { maxLength: 12 }), (cuts) => assert.deepEqual(read(cuts), EVENTS)),
    );
  });

  it('takes no longer for a long line that comes in many pieces', () => {
    const reader = createEventReader();
    reader.push('data: ');
    const used = processorTime();
    for (let piece = 0; piece < 20_000; piece++) reader.push('x'.repeat(100));
    assert.equal(reader.push('\n\n')[0]?.data.length, 2_000_000);
    assert.ok(used() < 2_000);
  });
});

function heard(decoder: Decoder, events: readonly object[], last?: string): Decoder {
  for (const event of events) decoder.event(JSON.stringify(event));
  if (last !== undefined) decoder.event(last);
  return decoder;
}
const CALLS = [{ id: 'c1', name: 'get_weather', input: '{"city":"Oslo"}' }];

describe('an answer', () => {
  it('of chat completions grows out of its events', () => {
    const delta = (said: object, finish: string | null = null) => ({
      choices: [{ delta: said, finish_reason: finish }],
    });
    const decoder = heard(
      decoderFor('chat'),
      [
        delta({ role: 'assistant', content: '' }),
        delta({ reasoning_content: 'Hm.' }),
        delta({ content: 'It ' }),
        delta({ content: 'rains.', images: [{ image_url: { url: PICTURE.url } }] }),
        delta({
          tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '' } }],
        }),
        delta({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
        delta({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] }),
        delta({}, 'tool_calls'),
        { choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 2 } } },
      ],
      '[DONE]',
    );
    const answer = decoder.answer();
    assert.deepEqual([answer.text, answer.thoughts, answer.pictures], ['It rains.', 'Hm.', [PICTURE.url]]);
    assert.deepEqual(answer.calls, CALLS);
    assert.deepEqual(answer.usage, { input: 9, output: 4, cached: 2, thoughts: undefined });
    assert.equal(decoder.ended, true);
    assert.deepEqual(
      [...decoder.turns(), ...resultsOf('chat', CALLS, ['4 degrees'])],
      [
        {
          role: 'assistant',
          content: 'It rains.',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '4 degrees' },
      ],
    );
  });

  it('of responses grows out of its events, and is what its end says', () => {
    const item = { type: 'function_call', id: 'fc_1', status: 'completed', call_id: 'c1', name: 'get_weather' };
    const output = [
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'sealed' },
      { type: 'reasoning', id: 'rs_2', summary: [] },
      { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'It rains.' }] },
      { ...item, arguments: '{"city":"Oslo"}' },
    ];
    const decoder = heard(decoderFor('responses'), [
      { type: 'response.created', response: { error: null } },
      { type: 'response.output_item.added', output_index: 2, item: { type: 'message', content: [] } },
      { type: 'response.output_text.delta', output_index: 2, delta: 'It ' },
      { type: 'response.output_item.added', output_index: 3, item: { ...item, arguments: '' } },
      { type: 'response.function_call_arguments.delta', output_index: 3, delta: '{"city":' },
    ]);
    assert.deepEqual([decoder.answer().text, decoder.answer().calls[0]?.input], ['It ', '{"city":']);
    assert.equal(decoder.ended, false);
    const usage = { input_tokens: 9, output_tokens: 4, output_tokens_details: { reasoning_tokens: 1 } };
    heard(decoder, [{ type: 'response.completed', response: { output, usage } }]);
    const answer = decoder.answer();
    assert.deepEqual([answer.text, answer.thoughts, answer.calls], ['It rains.', 'Hm.', CALLS]);
    assert.deepEqual(answer.usage, { input: 9, output: 4, cached: undefined, thoughts: 1 });
    assert.equal(decoder.ended, true);
    const said = decoder.turns() as readonly { readonly id?: string; readonly type: string }[];
    assert.deepEqual(
      said.map(({ id, type }) => [id, type]),
      [
        [undefined, 'reasoning'],
        [undefined, 'message'],
        [undefined, 'function_call'],
      ],
    );
    assert.deepEqual(resultsOf('responses', CALLS, ['4']), [
      { type: 'function_call_output', call_id: 'c1', output: '4' },
    ]);
    const whole = decoderFor('responses');
    whole.body({ output, usage, incomplete_details: { reason: 'max_output_tokens' } });
    assert.deepEqual([whole.answer().text, whole.answer().cut], ['It rains.', true]);
  });

  it('of messages grows out of its events', () => {
    const decoder = heard(decoderFor('messages'), [
      { type: 'message_start', message: { usage: { input_tokens: 5, cache_read_input_tokens: 4, output_tokens: 1 } } },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'seal' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'It rains.' } },
      {
        type: 'content_block_start',
        index: 3,
        content_block: { type: 'tool_use', id: 'c1', name: 'get_weather', input: {} },
      },
      { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '{"city":"Oslo"}' } },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 8 } },
      { type: 'message_stop' },
    ]);
    const answer = decoder.answer();
    assert.deepEqual([answer.text, answer.thoughts, answer.calls], ['It rains.', 'Hm.', CALLS]);
    assert.deepEqual(answer.usage, { input: 9, output: 8, cached: 4 });
    assert.equal(decoder.ended, true);
    assert.deepEqual(
      [...decoder.turns(), ...resultsOf('messages', CALLS, ['4'])],
      [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'seal' },
            { type: 'text', text: 'It rains.' },
            { type: 'tool_use', id: 'c1', name: 'get_weather', input: { city: 'Oslo' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '4' }] },
      ],
    );
  });

  it('that breaks off says why, in every style', () => {
    const broken = [
      ['chat', { error: { message: 'It broke off.', code: 'upstream_broke_off' } }],
      [
        'responses',
        { type: 'response.failed', response: { error: { message: 'It broke off.', code: 'upstream_broke_off' } } },
      ],
      ['responses', { type: 'error', message: 'It broke off.', code: 'upstream_broke_off' }],
      ['messages', { type: 'error', error: { message: 'It broke off.', code: 'upstream_broke_off' } }],
    ] as const;
    for (const [style, event] of broken) {
      assert.throws(
        () => decoderFor(style).event(JSON.stringify(event)),
        (error) => error instanceof Failed && error.code === 'upstream_broke_off',
      );
    }
  });

  it('survives whatever a vendor may say', () => {
    const anything = fc.oneof(fc.string(), fc.json());
    fc.assert(
      fc.property(fc.constantFrom(...STYLES, 'images' as const), fc.array(anything), (way, events) => {
        const decoder = decoderFor(way);
        for (const event of events) {
          try {
            decoder.event(event);
          } catch (error) {
            assert.ok(error instanceof Failed);
          }
        }
        assert.equal(typeof decoder.answer().text, 'string');
        decoder.turns();
      }),
    );
  });

  it('goes on behind its tools', () => {
    for (const style of STYLES) {
      const body = bodyOf(style, { model: 'm', prompt: asking('Hi') });
      const more = [{ role: 'assistant' }, { role: 'tool' }];
      const name = style === 'responses' ? 'input' : 'messages';
      assert.deepEqual(withToolResults(style, body, more)[name], [{ role: 'user', content: 'Hi' }, ...more]);
    }
  });

  it('of pictures, vectors and recordings is found', () => {
    const drawn = decoderFor('images');
    drawn.body({ data: [{ b64_json: '/9j/AAAA' }, { url: 'https://example.com/a.png' }] });
    assert.deepEqual(drawn.answer().pictures, ['data:image/jpeg;base64,/9j/AAAA', 'https://example.com/a.png']);
    const vectors = decoderFor('embeddings');
    vectors.body({ data: [{ embedding: [0.5, -1] }], usage: { prompt_tokens: 3 } });
    assert.deepEqual([vectors.answer().vectors, vectors.answer().usage?.input], [[[0.5, -1]], 3]);
    const speech = decoderFor('transcription');
    speech.body({ text: 'Hello.' });
    assert.equal(speech.answer().text, 'Hello.');
  });
});

describe('what the translation did', () => {
  it('is read word by word', () => {
    assert.deepEqual(warningsIn('top_k:dropped, tools.a:b:changed, and 12 more'), [
      'top_k:dropped',
      'tools.a:b:changed',
      'and 12 more',
    ]);
    assert.deepEqual(warningsIn(null), []);
    assert.deepEqual(parseWarning('tools.a:b:changed'), { field: 'tools.a:b', what: 'changed', count: 1 });
    assert.deepEqual(parseWarning('and 12 more'), { field: '', what: 'more', count: 12 });
    assert.deepEqual(parseWarning('something new'), { field: 'something new', what: 'other', count: 1 });
  });
});

describe('the call in a shell', () => {
  it('can be pasted whatever was typed', () => {
    const curl = curlOf('https://a.example', 'messages', { model: 'm', system: "it's $HOME `x`" });
    assert.match(curl, /^curl 'https:\/\/a\.example\/v1\/messages'/);
    assert.match(curl, /Bearer sk-…/);
    assert.match(curl, /anthropic-version: 2023-06-01/);
    assert.ok(curl.includes(`"it'\\''s $HOME \`x\`"`));
    const large = curlOf('https://a.example', 'chat', { model: 'm', text: 'x'.repeat(200_000) });
    assert.match(large, /--data-binary @- <<'JSON'\n\{.*\}\nJSON$/s);
    assert.match(
      curlOf('https://a.example', 'transcription', { model: 'm' }, `a "b".mp3`),
      /-F 'model=m' \\\n {2}-F 'file=@"a \\"b\\".mp3"'$/,
    );
    assert.equal(shortened(`a ${'Q'.repeat(500)} b`), `a ${'Q'.repeat(40)}…[500] b`);
  });
});

describe('what was typed', () => {
  it('is kept without pictures, for whoever typed it', () => {
    const prompt = asking('Hello', { tools: EXAMPLE_TOOLS, temperature: 0.5 });
    const kept = storedText({ ...prompt, turns: [{ ...prompt.turns[0]!, pictures: [PICTURE] }] }, 7);
    assert.equal(kept.includes(PICTURE.url), false);
    assert.deepEqual(parseStored(kept, 7), prompt);
    assert.deepEqual(parseStored(kept, 8), EMPTY);
    for (const broken of [null, '', '{', '7', '{"owner":7}', '{"owner":7,"prompt":{"turns":[{}],"effort":"most"}}']) {
      assert.deepEqual(parseStored(broken, 7), EMPTY);
    }
  });

  it('goes on with an answer', () => {
    const { turns } = continued(asking('Hello'), 'Hi!');
    assert.deepEqual(
      turns.map(({ id, role, text }) => [id, role, text]),
      [
        [1, 'user', 'Hello'],
        [2, 'assistant', 'Hi!'],
        [3, 'user', ''],
      ],
    );
  });
});
