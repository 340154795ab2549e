import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Block, Conversation, Reasoning, Sampling, Turn } from '../../../core/contracts/formats/conversation.ts';
import type { SomeQuirks } from '../../../core/contracts/formats/quirks.ts';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import { adapted, conversationOf, said } from '../../kit/conversations/conversations.ts';

const fit = (more: Partial<Conversation>, quirks: SomeQuirks = {}) =>
  adapted(conversationOf([said('user', 'Hi')], more), quirks);

describe('reasoning', () => {
  type Rule = NonNullable<SomeQuirks['reasoning']>;
  const think = (reasoning: Reasoning, rule: Rule, maxTokens?: number) => {
    const { reasoning: fitted, warnings, serious } = fit({ reasoning, maxTokens }, { reasoning: rule });
    return { fitted, warnings, serious };
  };
  const EFFORT: Rule = { input: 'effort', levels: ['low', 'medium', 'high'] };
  const BUDGET: Rule = { input: 'budget', levels: ['none'], budget_min: 1_024, budget_max: 24_576 };
  const CHANGED = ['reasoning_effort:changed'];
  const DROPPED = ['reasoning_effort:dropped'];

  it('is dropped for a model without reasoning, as a hint if little was requested', () => {
    assert.deepEqual(think({ mode: 'on', effort: 'high' }, { input: 'none' }), {
      fitted: undefined,
      warnings: DROPPED,
      serious: DROPPED,
    });
    assert.deepEqual(think({ mode: 'off' }, { input: 'none' }), { fitted: undefined, warnings: CHANGED, serious: [] });
    assert.deepEqual(think({ mode: 'auto' }, { input: 'none' }).serious, []);
  });

  it('is mapped to the nearest effort that the model supports', () => {
    const effort = (effort: 'minimal' | 'medium' | 'max', levels: readonly string[]) =>
      think({ mode: 'on', effort }, { input: 'level', levels });
    assert.deepEqual(effort('medium', ['low', 'medium']), {
      fitted: { mode: 'on', effort: 'medium' },
      warnings: [],
      serious: [],
    });
    assert.deepEqual(effort('minimal', ['low', 'high']), {
      fitted: { mode: 'on', effort: 'low' },
      warnings: CHANGED,
      serious: CHANGED,
    });
    assert.deepEqual(effort('medium', ['low', 'high']).fitted, { mode: 'on', effort: 'high' });
    assert.deepEqual(effort('max', []).fitted, { mode: 'on', effort: 'max' });
  });

  it('is converted from tokens to an effort, and back', () => {
    for (const [budget, effort] of [
      [1_024, 'low'],
      [2_048, 'low'],
      [8_000, 'medium'],
      [16_384, 'high'],
      [31_999, 'high'],
    ] as const) {
      const { fitted, warnings, serious } = think({ mode: 'on', budget }, EFFORT);
      assert.deepEqual(fitted, { mode: 'on', effort }, `${budget}`);
      assert.deepEqual([warnings, serious], [CHANGED, []]);
    }
    assert.deepEqual(think({ mode: 'on', effort: 'medium' }, BUDGET), {
      fitted: { mode: 'on', budget: 8_192 },
      warnings: CHANGED,
      serious: [],
    });
    assert.deepEqual(think({ mode: 'on', effort: 'max' }, BUDGET).fitted, { mode: 'on', budget: 24_576 });
  });

  it('leaves room for the answer', () => {
    assert.deepEqual(think({ mode: 'on', effort: 'high' }, BUDGET, 10_000).fitted, { mode: 'on', budget: 8_000 });
    assert.deepEqual(think({ mode: 'on', budget: 5_000 }, BUDGET, 4_000).fitted, { mode: 'on', budget: 3_999 });
    assert.deepEqual(think({ mode: 'on', budget: 5_000 }, BUDGET, 4_000).serious, CHANGED);
    assert.deepEqual(think({ mode: 'on', effort: 'high' }, BUDGET, 1_024), {
      fitted: undefined,
      warnings: DROPPED,
      serious: DROPPED,
    });
  });

  it('is left to a model that decides for itself', () => {
    const rule: Rule = { ...EFFORT, input: 'adaptive' };
    assert.deepEqual(think({ mode: 'on', budget: 8_192 }, rule).fitted, { mode: 'auto', effort: 'medium' });
    assert.deepEqual(think({ mode: 'on' }, rule).fitted, { mode: 'auto' });
    assert.deepEqual(think({ mode: 'auto' }, EFFORT), { fitted: { mode: 'auto' }, warnings: [], serious: [] });
    assert.deepEqual(think({ mode: 'auto' }, BUDGET), { fitted: { mode: 'auto' }, warnings: [], serious: [] });
  });

  it('is minimal if it cannot be turned off', () => {
    assert.deepEqual(think({ mode: 'off' }, { ...EFFORT, levels: ['none', 'low'] }), {
      fitted: { mode: 'off' },
      warnings: [],
      serious: [],
    });
    assert.deepEqual(think({ mode: 'off' }, EFFORT), {
      fitted: { mode: 'on', effort: 'low', summary: 'none' },
      warnings: CHANGED,
      serious: CHANGED,
    });
    assert.deepEqual(think({ mode: 'off' }, { ...BUDGET, levels: [] }), {
      fitted: undefined,
      warnings: DROPPED,
      serious: DROPPED,
    });
  });

  describe('inside a tool loop', () => {
    const called: Block = { type: 'toolCall', id: 'a', name: 'read', kind: 'function', input: '{}' };
    const answered: Block = { type: 'toolResult', id: 'a', kind: 'function', content: [{ type: 'text', text: 'x' }] };
    const thought: Block = {
      type: 'thinking',
      text: 'hm',
      opaque: { style: 'chat', kind: 'signature', value: 's', channel: 'here' },
    };
    const SEALED: Rule = { ...BUDGET, echo: 'tool_turns', echo_filler: '' };
    const goOn = (rule: Rule, blocks: readonly Block[], reasoning: Reasoning = { mode: 'on', budget: 2_000 }) =>
      adapted(
        conversationOf([said('user', 'Hi'), { role: 'assistant', blocks }, { role: 'user', blocks: [answered] }], {
          reasoning,
          tools: [{ type: 'function', name: 'read' }],
          toolChoice: { mode: 'required' },
        }),
        { reasoning: rule, tools: { force_with_thinking: false } },
      );

    it('is turned off if its sealed reasoning is lost, and a call can then be forced', () => {
      for (const blocks of [[called], [{ type: 'thinking', text: 'hm' } as const, called]]) {
        const { reasoning, toolChoice, serious } = goOn(SEALED, blocks);
        assert.equal(reasoning, undefined);
        assert.deepEqual(toolChoice, { mode: 'required' });
        assert.deepEqual(serious, DROPPED);
      }
      const elsewhere = { ...thought, opaque: { ...thought.opaque!, channel: 'there' } };
      assert.equal(goOn(SEALED, [elsewhere, called]).reasoning, undefined);
    });

    it('continues if the reasoning is there, can be replaced by a placeholder, or is not needed', () => {
      for (const { reasoning, toolChoice } of [
        goOn(SEALED, [thought, called]),
        goOn({ ...SEALED, echo_filler: ' ' }, [called]),
        goOn({ ...SEALED, echo: 'none' }, [called]),
      ]) {
        assert.deepEqual(reasoning, { mode: 'on', budget: 2_000 });
        assert.deepEqual(toolChoice, { mode: 'auto' });
      }
      assert.deepEqual(goOn({ ...SEALED, input: 'adaptive' }, [called]).reasoning, { mode: 'auto', effort: 'low' });
      assert.deepEqual(goOn(SEALED, [called], { mode: 'off' }).reasoning, { mode: 'off' });
    });

    it('ends with the next text of the model', () => {
      const history: readonly Turn[] = [
        said('user', 'Hi'),
        { role: 'assistant', blocks: [called] },
        { role: 'user', blocks: [answered] },
        said('assistant', 'Done.'),
        said('user', 'More'),
      ];
      const { reasoning } = adapted(conversationOf(history, { reasoning: { mode: 'on', budget: 2_000 } }), {
        reasoning: SEALED,
      });
      assert.deepEqual(reasoning, { mode: 'on', budget: 2_000 });
    });
  });

  it('is shown as requested', () => {
    assert.deepEqual(think({ mode: 'auto', summary: 'detailed' }, EFFORT).fitted, {
      mode: 'auto',
      summary: 'detailed',
    });
    assert.deepEqual(think({ mode: 'on', effort: 'low', summary: 'auto' }, BUDGET).fitted, {
      mode: 'on',
      budget: 2_048,
      summary: 'auto',
    });
  });
});

describe('sampling', () => {
  const sample = (sampling: Sampling, rule: NonNullable<SomeQuirks['sampling']>) =>
    fit({ sampling }, { sampling: rule });

  it('reports by name the options that the model does not support', () => {
    const { sampling, serious } = sample(
      { temperature: 0.5, topK: 3, seed: 7, logprobs: 0 },
      { allowed: ['temperature'] },
    );
    assert.deepEqual(sampling, { temperature: 0.5 });
    assert.deepEqual(serious, ['top_k:dropped', 'seed:dropped', 'logprobs:dropped']);
  });

  it('drops options with default values as a hint', () => {
    const usual = { temperature: 1, topP: 1, presencePenalty: 0, frequencyPenalty: 0, logitBias: {} };
    const { sampling, warnings, serious } = sample(usual, { allowed: [] });
    assert.deepEqual(sampling, {});
    assert.equal(warnings.length, 5);
    assert.deepEqual(serious, []);
  });

  it('clamps the temperature, and drops `top_p` if only one is supported', () => {
    const { sampling, serious } = sample({ temperature: 1.5, topP: 0.9 }, { temp_max: 1, temp_xor_top_p: true });
    assert.deepEqual(sampling, { temperature: 1 });
    assert.deepEqual(serious, ['temperature:changed', 'top_p:dropped']);
    assert.deepEqual(sample({ topP: 0.9 }, { temp_xor_top_p: true }).sampling, { topP: 0.9 });
  });
});

describe('stop sequences', () => {
  it('are sent as far as the vendor supports them, and the gateway applies the others, without a warning', () => {
    const { stop, warnings, serious } = fit({ stop: ['a', 'b', 'c'] }, { stop: { max: 2 } });
    assert.deepEqual(stop, ['a', 'b']);
    assert.deepEqual([warnings, serious], [['stop:changed'], []]);
  });

  it('of whitespace only are not sent', () => {
    const { stop, warnings } = fit({ stop: ['\n', 'a', ''] });
    assert.deepEqual(stop, ['a']);
    assert.deepEqual(warnings, ['stop:changed']);
  });

  it('are applied by the gateway if the vendor supports none', () => {
    const { stop, warnings } = fit({ stop: ['\n'] }, { stop: { max: 0 } });
    assert.deepEqual(stop, []);
    assert.deepEqual(warnings, ['stop:changed']);
    assert.deepEqual(fit({}, { stop: { max: 0 } }).warnings, []);
  });

  it('are applied by the gateway only if that takes little work', () => {
    const emulated = (stop: readonly string[]) => fit({ stop }, { stop: { max: 0 } });
    const refused = (stop: readonly string[], words: RegExp): void =>
      assert.throws(
        () => emulated(stop),
        (error) => error instanceof GatewayError && error.param === 'stop' && words.test(error.message),
      );
    const many = Array.from({ length: 16 }, (_, i) => `${i}`.padEnd(256));
    assert.deepEqual(emulated(many).warnings, ['stop:changed']);
    refused([...many, 'x'], /16 sequences/);
    refused(['x'.repeat(257)], /256 characters/);
    assert.deepEqual(fit({ stop: ['x'.repeat(257)] }).warnings, []);
  });

  it('the output limit is within the range of the model', () => {
    const limits = { max_output: 4_096, min_output: 16 };
    assert.equal(fit({ maxTokens: 9_999 }, { limits }).maxTokens, 4_096);
    assert.equal(fit({ maxTokens: 1 }, { limits }).maxTokens, 16);
    assert.deepEqual(fit({ maxTokens: 1 }, { limits }).warnings, ['max_tokens:changed']);
    assert.deepEqual(fit({ maxTokens: 100 }, { limits }).warnings, []);
    assert.equal(fit({}, { limits }).maxTokens, undefined);
  });
});

describe('the output format', () => {
  const format = { type: 'schema', schema: { type: 'object', properties: {} } } as const;
  const tools: Conversation['tools'] = [{ type: 'function', name: 'read' }];
  const quirks: SomeQuirks = { output: { schema_with_tools: false } };

  it('is dropped if the request has tools and the model does not support both', () => {
    const { output, warnings } = fit({ output: { format, verbosity: 'low' }, tools }, quirks);
    assert.deepEqual(output, { verbosity: 'low' });
    assert.deepEqual(warnings, ['response_format:changed']);
  });

  it('is kept without tools', () => {
    assert.deepEqual(fit({ output: { format } }, quirks).output, { format });
    assert.deepEqual(fit({ output: { format }, tools }).output, { format });
  });
});

describe('media', () => {
  const see = (blocks: readonly Block[], quirks: SomeQuirks, role: Turn['role'] = 'user') =>
    adapted(conversationOf([said('user', 'Look'), { role, blocks }, said('user', 'Well?')]), quirks);
  const refused = (block: Block, quirks: SomeQuirks, param: string, words: RegExp): void =>
    assert.throws(
      () => see([block], quirks),
      (error: unknown) => {
        assert.ok(error instanceof GatewayError, 'it is refused, not broken');
        assert.deepEqual([error.status, error.param], [400, param]);
        assert.match(error.message, words);
        return true;
      },
    );
  const png: Block = { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AA==' } };
  const link: Block = { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } };
  const pdf: Block = { type: 'file', source: { kind: 'base64', mediaType: 'application/pdf', data: 'AA==' } };
  const spoken: Block = { type: 'audio', data: 'AA==', format: 'wav' };

  it('that a model does not support are refused by name', () => {
    refused(png, { image: { types: ['image/jpeg'] } }, 'messages.image', /image\/png.*image\/jpeg/);
    refused(png, { image: { types: [] } }, 'messages.image', /image input/);
    refused(link, { image: { url: 'refuse' } }, 'messages.image', /base64/);
    refused(pdf, { file: { pdf: 'refuse' } }, 'messages.file', /PDF/);
    refused(spoken, {}, 'messages.audio', /audio input/);
  });

  it('uploaded to another vendor are always refused', () => {
    refused({ type: 'image', source: { kind: 'id', id: 'file-1' } }, {}, 'messages.image', /upload/);
    refused({ type: 'file', source: { kind: 'id', id: 'file-1' } }, {}, 'messages.file', /upload/);
  });

  it('inside tool results are checked as well', () => {
    const turns: readonly Turn[] = [
      said('user', 'Look'),
      { role: 'assistant', blocks: [{ type: 'toolCall', id: 'a', name: 'shot', kind: 'function', input: '' }] },
      {
        role: 'user',
        blocks: [
          { type: 'toolResult', id: 'a', kind: 'function', content: [png] },
          { type: 'text', text: 'So?' },
        ],
      },
    ];
    const fitted = (quirks: SomeQuirks) => adapted(conversationOf(turns), quirks);
    assert.throws(() => fitted({ image: { types: [] } }), GatewayError);

    const moved = fitted({ content: { tool_result_images: 'user_message' } });
    assert.deepEqual(moved.turns[2]?.blocks, [
      { type: 'toolResult', id: 'a', kind: 'function', content: [] },
      { type: 'text', text: 'Images in the result of tool call a:' },
      png,
      { type: 'text', text: 'So?' },
    ]);
    assert.deepEqual(moved.serious, []);

    const dropped = fitted({ content: { tool_result_images: 'drop' }, image: { types: [] } });
    const [result] = dropped.turns[2]?.blocks ?? [];
    assert.deepEqual(result?.type === 'toolResult' && result.content, [{ type: 'text', text: '(image left out)' }]);
    assert.deepEqual(dropped.serious, ['messages.image:dropped']);
  });

  it("of the model's own audio answers become their transcript", () => {
    const { turns, serious } = see([{ ...spoken, transcript: 'Hello' }], {}, 'assistant');
    assert.deepEqual(turns[1], said('assistant', 'Hello'));
    assert.deepEqual(serious, []);
    assert.deepEqual(see([spoken], {}, 'assistant').serious, ['messages.audio:dropped']);
    assert.deepEqual(see([spoken], { audio: { output: true } }, 'assistant').turns[1]?.blocks, [spoken]);
  });

  it('audio output is refused if the model does not support it', () => {
    const output: Conversation['output'] = { modalities: ['text', 'audio'], audio: { voice: 'alloy' } };
    assert.throws(
      () => fit({ output }),
      (error: unknown) => error instanceof GatewayError && error.param === 'modalities',
    );
    assert.deepEqual(fit({ output }, { audio: { output: true } }).output, output);
    assert.deepEqual(fit({ output: { modalities: ['text'], audio: { voice: 'alloy' } } }).output, {
      modalities: ['text'],
    });
  });
});
