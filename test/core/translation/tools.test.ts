import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Conversation, Tool, ToolChoice } from '../../../core/contracts/formats/conversation.ts';
import type { SomeQuirks } from '../../../core/contracts/formats/quirks.ts';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import { adapted, conversationOf, said } from '../../kit/conversations/conversations.ts';

const fit = (more: Partial<Conversation>, quirks: SomeQuirks = {}) =>
  adapted(conversationOf([said('user', 'Hi')], more), quirks);
const tool = (name: string, more: Partial<Tool & { type: 'function' }> = {}): Tool => ({
  type: 'function',
  name,
  ...more,
});
const hosted = (name: string, style = 'responses'): Tool => ({ type: 'hosted', name, style, raw: { type: name } });
const read = tool('read');
const namesOf = (tools: readonly Tool[]): readonly string[] => tools.map(({ name }) => name);
const refusal = (param: string) => (error: unknown) => error instanceof GatewayError && error.param === param;

describe('tools', () => {
  it('declared twice count once', () => {
    const { tools, warnings } = fit({ tools: [read, tool('read', { description: 'another' })] });
    assert.deepEqual(tools, [read]);
    assert.deepEqual(warnings, ['tools.read:dropped']);
  });

  it('have names that the vendor accepts, the same in the history and in the choice', () => {
    const long = 'mcp__server__'.repeat(10);
    const conversation = conversationOf(
      [
        said('user', 'Hi'),
        { role: 'assistant', blocks: [{ type: 'toolCall', id: 'a', name: long, kind: 'function', input: '' }] },
      ],
      { tools: [tool(long), tool('a.b c')], toolChoice: { mode: 'required', only: [long] } },
    );
    const { tools, turns, toolChoice, warnings } = adapted(conversation);
    const [first = '', second = ''] = namesOf(tools);
    assert.match(first, /^(mcp__server__){4}mcp_[0-9a-f]{8}$/);
    assert.match(second, /^a_b_c_[0-9a-f]{8}$/);
    const [called] = turns[1]?.blocks ?? [];
    assert.equal(called?.type === 'toolCall' && called.name, first);
    assert.deepEqual(toolChoice, { mode: 'required', only: [first] });
    assert.deepEqual(warnings, []);
    assert.deepEqual(namesOf(adapted(conversation).tools), [first, second]);
  });

  it('of a namespace are distinguished from one with the same name without it', () => {
    const { tools } = fit({ tools: [tool('read', { namespace: 'ns' }), tool('ns__read'), read] });
    const [first, second = '', third] = namesOf(tools);
    assert.equal(first, 'ns__read');
    assert.match(second, /^ns__read.*_[0-9a-f]{8}$/);
    assert.equal(third, 'read');
    assert.ok(
      tools.every((each) => !('namespace' in each)),
      'no namespace is left',
    );
  });

  it('with free-text input become functions, with their grammar in the description', () => {
    const patch: Tool = {
      type: 'custom',
      name: 'apply_patch',
      description: 'Edits files.',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
    };
    const { tools, warnings } = fit({ tools: [patch] });
    const [made] = tools;
    assert.equal(made?.type, 'function');
    assert.deepEqual(made?.type === 'function' && made.schema?.required, ['input']);
    assert.match((made?.type === 'function' && made.description) || '', /^Edits files\.\n\n.*grammar:\nstart: "x"$/s);
    assert.deepEqual(warnings, ['tools.format:changed']);
    assert.deepEqual(fit({ tools: [patch] }, { tools: { custom: true } }).tools, [patch]);
  });

  it('with free-text input have wrapped calls in the history as well', () => {
    const { turns } = adapted(
      conversationOf([
        said('user', 'Hi'),
        { role: 'assistant', blocks: [{ type: 'toolCall', id: 'a', name: 'sh', kind: 'custom', input: 'ls "x"' }] },
        { role: 'user', blocks: [{ type: 'toolResult', id: 'a', kind: 'custom', content: [] }] },
      ]),
    );
    assert.deepEqual(turns[1]?.blocks, [
      { type: 'toolCall', id: 'a', name: 'sh', kind: 'function', input: '{"input":"ls \\"x\\""}' },
    ]);
    assert.deepEqual(turns[2]?.blocks, [{ type: 'toolResult', id: 'a', kind: 'function', content: [] }]);
  });

  it('lose `strict` if the vendor does not support it', () => {
    const quirks: SomeQuirks = { tools: { strict: false } };
    assert.deepEqual(fit({ tools: [tool('read', { strict: true })] }, quirks).tools, [read]);
    assert.deepEqual(fit({ tools: [tool('read', { strict: true })] }, quirks).serious, ['tools.strict:dropped']);
    assert.deepEqual(fit({ tools: [tool('read', { strict: false })] }, quirks).serious, []);
  });
});

describe('vendor-side tools', () => {
  it('that are not supported are dropped if there are others', () => {
    const { tools, serious } = fit({ tools: [hosted('web_search'), read, hosted('code_interpreter')] });
    assert.deepEqual(tools, [read]);
    assert.deepEqual(serious, ['tools.web_search:dropped', 'tools.code_interpreter:dropped']);
  });

  it('that are not supported are refused if there are no others, or one is forced', () => {
    assert.throws(() => fit({ tools: [hosted('web_search')] }), refusal('tools.web_search'));
    const toolChoice: ToolChoice = { mode: 'required', only: ['web_search'] };
    assert.throws(() => fit({ tools: [read, hosted('web_search')], toolChoice }), refusal('tools.web_search'));
  });

  it('that may not be called are dropped without a warning', () => {
    const { tools, serious } = fit({ tools: [hosted('web_search')], toolChoice: { mode: 'none' } });
    assert.deepEqual(tools, []);
    assert.deepEqual(serious, []);
  });

  it('are kept if the vendor supports them', () => {
    const tools = [hosted('web_search'), hosted('url_context', 'chat')];
    assert.deepEqual(fit({ tools }, { tools: { web_search: true } }).tools, tools);
  });
});

describe('tool_choice', () => {
  it('is dropped without tools', () => {
    const { toolChoice, parallelToolCalls, warnings, serious } = fit({
      toolChoice: { mode: 'auto' },
      parallelToolCalls: false,
    });
    assert.equal(toolChoice, undefined);
    assert.equal(parallelToolCalls, undefined);
    assert.deepEqual(warnings, ['tool_choice:dropped', 'parallel_tool_calls:dropped']);
    assert.deepEqual(serious, []);
  });

  it('is limited to declared tools', () => {
    const choose = (only: readonly string[]) => fit({ tools: [read], toolChoice: { mode: 'required', only } });
    assert.deepEqual(choose(['read', 'gone']).toolChoice, { mode: 'required', only: ['read'] });
    assert.deepEqual(choose(['read', 'gone']).serious, []);
    assert.deepEqual(choose(['gone']).toolChoice, { mode: 'auto' });
    assert.deepEqual(choose(['gone']).serious, ['tool_choice:changed']);
  });

  it('finds a tool of a namespace by its bare name', () => {
    const { toolChoice } = fit({
      tools: [tool('read', { namespace: 'ns' })],
      toolChoice: { mode: 'auto', only: ['read'] },
    });
    assert.deepEqual(toolChoice, { mode: 'auto', only: ['ns__read'] });
  });

  it('is not forced if none of its tools exists', () => {
    const choose = (mode: ToolChoice['mode']) => fit({ tools: [read], toolChoice: { mode, only: ['gone', 'lost'] } });
    for (const [mode, left] of [
      ['required', 'auto'],
      ['auto', 'auto'],
      ['none', 'none'],
    ] as const) {
      assert.deepEqual([choose(mode).toolChoice, choose(mode).serious], [{ mode: left }, ['tool_choice:changed']]);
    }
  });

  it('stays forced for a model with a reasoning budget, which then does not reason', () => {
    const quirks: SomeQuirks = { tools: { force_with_thinking: false }, reasoning: { input: 'budget' } };
    const toolChoice: ToolChoice = { mode: 'required' };
    const asked = (reasoning: Conversation['reasoning']) => fit({ tools: [read], toolChoice, reasoning }, quirks);
    assert.deepEqual(asked({ mode: 'auto', summary: 'auto' }).toolChoice, toolChoice);
    assert.deepEqual(asked({ mode: 'auto', summary: 'auto' }).warnings, []);
    assert.deepEqual(asked({ mode: 'auto', effort: 'low' }).toolChoice, { mode: 'auto' });
    assert.deepEqual(asked({ mode: 'on', budget: 2_000 }).toolChoice, { mode: 'auto' });
  });

  it('cannot be forced while a model reasons, but the list of tools can be reduced', () => {
    const quirks: SomeQuirks = {
      tools: { force_with_thinking: false },
      reasoning: { input: 'effort', levels: ['none', 'low'] },
    };
    const more = { tools: [read, tool('write')], toolChoice: { mode: 'required', only: ['read'] } } as const;
    const thinking = fit({ ...more, reasoning: { mode: 'on', effort: 'low' } }, quirks);
    assert.deepEqual(thinking.toolChoice, { mode: 'auto' });
    assert.deepEqual(thinking.tools, [read]);
    assert.deepEqual(thinking.serious, ['tool_choice:changed']);
    assert.deepEqual(fit({ ...more, reasoning: { mode: 'off' } }, quirks).toolChoice, more.toolChoice);
    const able = fit({ ...more, reasoning: { mode: 'on' } }, { ...quirks, tools: { force_with_thinking: true } });
    assert.deepEqual(able.toolChoice, more.toolChoice);
  });

  it('of one call at a time is reported if the vendor does not support it', () => {
    const quirks: SomeQuirks = { tools: { parallel_flag: false } };
    assert.deepEqual(fit({ tools: [read], parallelToolCalls: false }, quirks).serious, ['parallel_tool_calls:dropped']);
    assert.deepEqual(fit({ tools: [read], parallelToolCalls: true }, quirks).serious, []);
    assert.equal(fit({ tools: [read], parallelToolCalls: false }).parallelToolCalls, false);
  });
});
