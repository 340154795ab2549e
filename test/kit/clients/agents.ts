/**
 * Coding agents as they keep a conversation: what each sends for a turn, what it keeps of an answer, and how it gives a tool's
 * result back. Written by hand, in the shapes in which they were seen on the wire.
 */
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import type { CodingClient } from './coding-clients.ts';

type List = readonly JsonObject[];

/** A tool call as the agent carries it out. */
export interface AgentCall {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
}

/** One conversation of an agent's; `answer` is the whole answer as its library puts it together. */
export interface AgentConversation {
  say(text: string): void;
  /** The next request. */
  body(model: string): JsonObject;
  /** Keeps an answer as the agent does. */
  keep(answer: JsonObject): { readonly text: string; readonly thoughts: string; readonly calls: readonly AgentCall[] };
  result(call: AgentCall, text: string): void;
}

/** An agent. */
export interface Agent {
  readonly name: string;
  readonly style: CodingClient['style'];
  readonly path: string;
  open(): AgentConversation;
}

const SCHEMAS: Readonly<Record<string, JsonObject>> = {
  read_file: { path: { type: 'string' }, limit: { type: 'integer', minimum: 1 } },
  write_file: { path: { type: 'string' }, content: { type: 'string' } },
};

/** The tools of every agent here. */
export const AGENT_TOOLS: readonly { readonly name: string; readonly schema: JsonObject }[] = Object.entries(
  SCHEMAS,
).map(([name, properties]) => ({
  name,
  schema: { type: 'object', properties, required: ['path'], additionalProperties: false },
}));

const INSTRUCTIONS = 'You are a coding agent. Use your tools, and say in the end what you did.';

function textsOf(list: Json | undefined, type: string, member: string): string {
  return ((list ?? []) as List).flatMap((each) => (each.type === type ? [String(each[member])] : [])).join('');
}

/** Claude Code: content blocks as they came, thoughts among them, and marks for the cache on what is said last. */
const claudeCode: Agent = {
  name: 'Claude Code',
  style: 'messages',
  path: '/v1/messages?beta=true',
  open() {
    const messages: JsonObject[] = [];
    const marked = { cache_control: { type: 'ephemeral' } } as const;
    const addToUser = (block: JsonObject): void => {
      const last = messages.at(-1);
      if (last?.role === 'user') (last.content as Json[]).push(block);
      else messages.push({ role: 'user', content: [block] });
    };
    return {
      say: (text) => addToUser({ type: 'text', text }),
      body: (model) => ({
        model,
        max_tokens: 32_000,
        stream: true,
        system: [{ type: 'text', text: INSTRUCTIONS, ...marked }],
        thinking: { type: 'enabled', budget_tokens: 31_999 },
        tools: AGENT_TOOLS.map(({ name, schema }) => ({
          name,
          description: `Usage of ${name}.`,
          input_schema: schema,
        })),
        messages: messages.map((message, i) => {
          const content = message.content as List;
          if (i < messages.length - 1) return message;
          return { ...message, content: [...content.slice(0, -1), { ...content.at(-1)!, ...marked }] };
        }),
      }),
      keep({ content }) {
        messages.push({ role: 'assistant', content: content! });
        const calls = (content as List).filter(({ type }) => type === 'tool_use');
        return {
          text: textsOf(content, 'text', 'text'),
          thoughts: textsOf(content, 'thinking', 'thinking'),
          calls: calls.map(({ id, name, input }) => ({ id: String(id), name: String(name), input: input! })),
        };
      },
      result: ({ id }, text) => addToUser({ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text }] }),
    };
  },
};

/** Codex: output items as they came, sealed reasoning among them, without their ids; nothing is kept by the server. */
const codex: Agent = {
  name: 'Codex',
  style: 'responses',
  path: '/v1/responses',
  open() {
    const input: JsonObject[] = [];
    return {
      say: (text) => void input.push({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }),
      body: (model) => ({
        model,
        stream: true,
        store: false,
        instructions: INSTRUCTIONS,
        input: [...input],
        tools: AGENT_TOOLS.map(({ name, schema }) => ({
          type: 'function',
          name,
          description: `Usage of ${name}.`,
          strict: false,
          parameters: schema,
        })),
        tool_choice: 'auto',
        parallel_tool_calls: true,
        reasoning: { effort: 'medium', summary: 'auto' },
        include: ['reasoning.encrypted_content'],
        prompt_cache_key: 'conversation-1',
      }),
      keep({ output }) {
        const items = output as List;
        for (const { id, status: _, ...item } of items) {
          input.push(item.type === 'reasoning' ? { ...item, id: id! } : item);
        }
        const said = items.filter(({ type }) => type === 'message');
        return {
          text: said.map(({ content }) => textsOf(content, 'output_text', 'text')).join(''),
          thoughts: items.map(({ summary }) => textsOf(summary, 'summary_text', 'text')).join(''),
          calls: items
            .filter(({ type }) => type === 'function_call')
            .map((call) => ({
              id: String(call.call_id),
              name: String(call.name),
              input: JSON.parse(String(call.arguments)) as Json,
            })),
        };
      },
      result: ({ id }, text) => void input.push({ type: 'function_call_output', call_id: id, output: text }),
    };
  },
};

/** Agents of the chat style. `keepsReasoning`: opencode and its like send a model's reasoning back, qwen and Continue do not. */
function chatAgent(name: string, limit: 'max_tokens' | 'max_completion_tokens', keepsReasoning: boolean): Agent {
  return {
    name,
    style: 'chat',
    path: '/v1/chat/completions',
    open() {
      const messages: JsonObject[] = [{ role: 'system', content: INSTRUCTIONS }];
      return {
        say: (text) => void messages.push({ role: 'user', content: text }),
        body: (model) => ({
          model,
          [limit]: 32_000,
          messages: [...messages],
          tools: AGENT_TOOLS.map(({ name: called, schema }) => ({
            type: 'function',
            function: { name: called, description: `Usage of ${called}.`, parameters: schema },
          })),
          tool_choice: 'auto',
          stream: true,
          stream_options: { include_usage: true },
        }),
        keep({ choices }) {
          const message = (choices as List)[0]!.message as JsonObject;
          const { content, tool_calls: made = [], reasoning_content: thoughts, reasoning_details: details } = message;
          const calls = (made ?? []) as List;
          messages.push({
            role: 'assistant',
            content: content ?? '',
            ...(calls.length > 0 && { tool_calls: calls }),
            ...(keepsReasoning && thoughts !== undefined && { reasoning_content: thoughts }),
            ...(keepsReasoning && details !== undefined && { reasoning_details: details }),
          });
          return {
            text: String(content ?? ''),
            thoughts: String(thoughts ?? ''),
            calls: calls.map(({ id, function: called }) => {
              const { name: of, arguments: json } = called as JsonObject;
              return { id: String(id), name: String(of), input: JSON.parse(String(json)) as Json };
            }),
          };
        },
        result: ({ id }, text) => void messages.push({ role: 'tool', tool_call_id: id, content: text }),
      };
    },
  };
}

/** All of them. */
export const AGENTS: readonly Agent[] = [
  claudeCode,
  codex,
  chatAgent('opencode', 'max_tokens', true),
  chatAgent('cline', 'max_completion_tokens', true),
  chatAgent('qwen', 'max_tokens', false),
  chatAgent('Continue', 'max_tokens', false),
];
