/**
 * What coding clients and chat applications send: written by hand, in the shape in which they were seen on the wire. Each tells
 * the second request of a conversation from the answer to the first, in the way in which it keeps its history.
 */
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';

/** What a tool of the client's found. */
export interface Found {
  readonly id: string;
  readonly text: string;
}

/** A client. */
export interface CodingClient {
  readonly name: string;
  readonly style: 'chat' | 'responses' | 'messages';
  /** Below the gateway's address. */
  readonly path: string;
  /** Beside the key, which they all send as a bearer token, and the content type. */
  readonly headers: Readonly<Record<string, string>>;
  first(model: string): JsonObject;
  /** `answer`: the whole answer, as its library puts it together. */
  second(model: string, answer: JsonObject, found: readonly Found[]): JsonObject;
}

type List = readonly JsonObject[];

const object = (properties: JsonObject, ...required: readonly string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const string = (description: string): JsonObject => ({ type: 'string', description });

// ---- Claude Code

/** The session that it puts into the id of its user. */
export const CLAUDE_SESSION = '7d0c7a4e-52a3-4a5f-9a3e-1f4b3c2d1e0f';

const EPHEMERAL = { cache_control: { type: 'ephemeral' } } as const;

/** The block that is another one in each request. */
export const BILLING = 'x-anthropic-billing-header: cc_version=2.1.328.c1f; cc_entrypoint=cli; cch=5e3a1;';

const SCHEMA_DIALECT = 'https://json-schema.org/draft/2020-12/schema';

function claudeTool(name: string, properties: JsonObject, ...required: readonly string[]): JsonObject {
  return {
    name,
    description: `Usage of ${name}.\n- It is described at length.`,
    input_schema: { $schema: SCHEMA_DIALECT, ...object(properties, ...required) },
  };
}

const CLAUDE_TOOLS: List = [
  claudeTool('Agent', { description: string('In short.'), prompt: string('The task.') }, 'description', 'prompt'),
  claudeTool(
    'Bash',
    {
      command: string('What to run.'),
      timeout: { type: 'number', description: 'In milliseconds.' },
      run_in_background: { type: 'boolean' },
    },
    'command',
  ),
  claudeTool(
    'Edit',
    {
      file_path: string('Absolute.'),
      old_string: string('What is there.'),
      new_string: string('What shall be there.'),
      replace_all: { type: 'boolean', default: false },
    },
    'file_path',
    'old_string',
    'new_string',
  ),
  claudeTool('Glob', { pattern: string('Which files.'), path: string('Below which folder.') }, 'pattern'),
  claudeTool(
    'Grep',
    { pattern: string('An expression.'), output_mode: { type: 'string', enum: ['content', 'count'] } },
    'pattern',
  ),
  claudeTool(
    'Read',
    {
      file_path: string('Absolute.'),
      offset: { type: 'integer', minimum: 0, maximum: 9_007_199_254_740_991 },
      limit: { type: 'integer', exclusiveMinimum: 0, maximum: 9_007_199_254_740_991 },
    },
    'file_path',
  ),
  claudeTool('Skill', { skill: string('Which one.'), args: string('For it.') }, 'skill'),
  claudeTool('ToolSearch', { query: string('What is looked for.'), max_results: { type: 'number' } }, 'query'),
  claudeTool(
    'WebFetch',
    { url: { type: 'string', format: 'uri' }, prompt: string('What to look for.') },
    'url',
    'prompt',
  ),
  claudeTool('WebSearch', { query: { type: 'string', minLength: 2 } }, 'query'),
  claudeTool('Write', { file_path: string('Absolute.'), content: string('All of it.') }, 'file_path', 'content'),
  {
    ...claudeTool('mcp__tracker__list_issues', { labels: { type: 'array', items: { type: 'string' } } }),
    defer_loading: true,
  },
];

const CLAUDE_MESSAGES: List = [
  {
    role: 'user',
    content: [
      { type: 'text', text: '<system-reminder>\nThe date is 2026-11-20.\n</system-reminder>' },
      { type: 'text', text: 'Why does the test of the parser fail?' },
    ],
  },
  {
    role: 'system',
    content: [{ type: 'text', text: 'The following skills are available:\n- review', ...EPHEMERAL }],
  },
];

function claudeBody(model: string, messages: List): JsonObject {
  return {
    model,
    messages,
    system: [
      { type: 'text', text: BILLING },
      { type: 'text', text: "You are Claude Code, Anthropic's official CLI for Claude.", ...EPHEMERAL },
      { type: 'text', text: 'You help with software. The working directory is /src/parser.', ...EPHEMERAL },
    ],
    tools: CLAUDE_TOOLS,
    metadata: {
      user_id: JSON.stringify({ device_id: 'a'.repeat(64), account_uuid: '', session_id: CLAUDE_SESSION }),
    },
    max_tokens: 32_000,
    thinking: { type: 'adaptive', display: 'omitted' },
    output_config: { effort: 'high' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    stream: true,
  };
}

/** Claude Code 2.1. */
export const claudeCode: CodingClient = {
  name: 'Claude Code',
  style: 'messages',
  path: '/v1/messages?beta=true',
  headers: {
    'anthropic-version': '2023-06-01',
    'anthropic-beta': [
      'claude-code-20250219',
      'interleaved-thinking-2025-05-14',
      'context-management-2025-06-27',
      'prompt-caching-scope-2026-01-05',
      'mid-conversation-system-2026-04-07',
      'effort-2025-11-24',
      'advanced-tool-use-2025-11-20',
    ].join(),
    'anthropic-dangerous-direct-browser-access': 'true',
    'user-agent': 'claude-cli/2.1.328 (external, cli)',
    'x-app': 'cli',
    'x-claude-code-session-id': CLAUDE_SESSION,
    'x-stainless-lang': 'js',
  },
  first: (model) => claudeBody(model, CLAUDE_MESSAGES),
  second(model, answer, found) {
    const results = found.map(
      ({ id, text }, i): JsonObject => ({
        type: 'tool_result',
        tool_use_id: id,
        content: text,
        ...(i === found.length - 1 && EPHEMERAL),
      }),
    );
    // Of a thought it keeps these three members, whatever else there was.
    const said = (answer.content as List).map((block) =>
      block.type === 'thinking' ? { type: 'thinking', thinking: block.thinking!, signature: block.signature! } : block,
    );
    return claudeBody(model, [
      CLAUDE_MESSAGES[0]!,
      { role: 'system', content: 'The following skills are available:\n- review' },
      { role: 'assistant', content: said },
      { role: 'user', content: results },
    ]);
  },
};

// ---- Codex

/** What its requests share a prompt by. */
export const CODEX_SESSION = '019a9d3c-7c1e-7d51-a9ab-0f6f0d4c2b11';

/** The grammar of the tool that is called with free text. */
export const PATCH_GRAMMAR = 'start: begin_patch hunk+ end_patch\nbegin_patch: "*** Begin Patch" LF';

function codexTool(name: string, properties: JsonObject, ...required: readonly string[]): JsonObject {
  return {
    type: 'function',
    name,
    description: `Usage of ${name}.`,
    strict: false,
    parameters: object(properties, ...required),
  };
}

const CODEX_TOOLS: List = [
  codexTool('exec_command', { cmd: string('What to run.'), yield_time_ms: { type: 'number' } }, 'cmd'),
  codexTool('write_stdin', { session_id: { type: 'number' }, chars: string('What to type.') }, 'session_id'),
  codexTool('update_plan', { plan: { type: 'array', items: object({ step: { type: 'string' } }, 'step') } }, 'plan'),
  codexTool('list_mcp_resources', { server: { type: 'string' } }),
  codexTool('list_mcp_resource_templates', { server: { type: 'string' } }),
  codexTool('read_mcp_resource', { server: { type: 'string' }, uri: { type: 'string' } }, 'server', 'uri'),
  codexTool('request_user_input', { question: { type: 'string' } }, 'question'),
  codexTool('view_image', { path: string('Where it is.') }, 'path'),
  {
    type: 'namespace',
    name: 'multi_agent_v1',
    description: 'Work in parallel.',
    tools: [
      codexTool('spawn_agent', { message: { type: 'string' } }, 'message'),
      codexTool('wait_agent', { ids: { type: 'array', items: { type: 'string' } } }, 'ids'),
    ],
  },
  { type: 'web_search', external_web_access: false },
  {
    type: 'custom',
    name: 'apply_patch',
    description: 'Edits files. This is a freeform tool: do not wrap the patch in JSON.',
    format: { type: 'grammar', syntax: 'lark', definition: PATCH_GRAMMAR },
  },
];

const said = (role: string, ...texts: readonly string[]): JsonObject => ({
  type: 'message',
  role,
  content: texts.map((text) => ({ type: 'input_text', text })),
});

const CODEX_INPUT: List = [
  said('developer', 'You are a coding agent.', '<permissions instructions>\nread-only\n</permissions instructions>'),
  said('developer', '<collaboration_mode># Default</collaboration_mode>'),
  {
    type: 'additional_tools',
    role: 'developer',
    tools: [codexTool('automation_update', { id: { type: 'string' } }, 'id')],
  },
  said('user', '<environment_context>\n<cwd>/src/parser</cwd>\n</environment_context>'),
  said('user', 'Why does the test of the parser fail?'),
];

function codexBody(model: string, input: List): JsonObject {
  return {
    model,
    input,
    tools: CODEX_TOOLS,
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'medium', summary: 'auto' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: CODEX_SESSION,
    text: { verbosity: 'low' },
    client_metadata: { 'x-codex-installation-id': '11111111-2222-3333-4444-555555555555' },
  };
}

/** Codex CLI 0.169. */
export const codex: CodingClient = {
  name: 'Codex',
  style: 'responses',
  path: '/v1/responses',
  headers: {
    accept: 'text/event-stream',
    originator: 'codex_exec',
    'session-id': CODEX_SESSION,
    'user-agent': 'codex_exec/0.169.0 (Linux; x86_64)',
    'x-client-request-id': CODEX_SESSION,
    'x-codex-beta-features': 'remote_models',
    'x-codex-turn-metadata': JSON.stringify({ session_id: CODEX_SESSION, sandbox: 'none', workspaces: {} }),
    'x-codex-window-id': `${CODEX_SESSION}:0`,
  },
  first: (model) => codexBody(model, CODEX_INPUT),
  second(model, answer, found) {
    const output = answer.output as List;
    const results = found.map(({ id, text }): JsonObject => {
      const isCustom = output.some(({ type, call_id }) => type === 'custom_tool_call' && call_id === id);
      return { type: isCustom ? 'custom_tool_call_output' : 'function_call_output', call_id: id, output: text };
    });
    return codexBody(model, [...CODEX_INPUT, ...output.map(withoutStatus), ...results]);
  },
};

/** It keeps neither the state of an item nor, of its own messages and calls, the id. */
function withoutStatus({ status: _, ...item }: JsonObject): JsonObject {
  if (item.type === 'reasoning') return item;
  const { id: _id, ...rest } = item;
  return rest;
}

// ---- an agent on the official library

const AGENT_TOOLS: List = ['get_weather', 'get_time'].map((name) => ({
  type: 'function',
  function: {
    name,
    description: `Tells what ${name} says.`,
    parameters: object({ city: string('Which one.') }, 'city'),
    strict: true,
  },
}));

const AGENT_MESSAGES: List = [
  { role: 'system', content: 'You are a helpful assistant.' },
  { role: 'user', content: 'How are things in Oslo, and what time is it in Rome?' },
];

function agentBody(model: string, messages: List): JsonObject {
  return {
    model,
    messages,
    tools: AGENT_TOOLS,
    tool_choice: 'auto',
    parallel_tool_calls: true,
    max_completion_tokens: 2_000,
    seed: 7,
    stream: true,
    stream_options: { include_usage: true },
    user: 'user-1',
  };
}

/** An agent that uses the official library for chat completions, with strict tools that may be called in parallel. */
export const agent: CodingClient = {
  name: 'an agent',
  style: 'chat',
  path: '/v1/chat/completions',
  headers: { 'user-agent': 'OpenAI/JS 7.55.0', 'x-stainless-lang': 'js', 'x-stainless-retry-count': '0' },
  first: (model) => agentBody(model, AGENT_MESSAGES),
  second(model, answer, found) {
    const [choice] = answer.choices as List;
    const results = found.map(({ id, text }): JsonObject => ({ role: 'tool', tool_call_id: id, content: text }));
    return agentBody(model, [...AGENT_MESSAGES, choice!.message as JsonObject, ...results]);
  },
};

// ---- a chat application

/** The picture that its user shows. */
export const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const APP_MESSAGES: List = [
  { role: 'system', content: 'Answer in the language of the user.' },
  { role: 'user', content: 'Hallo!' },
  { role: 'assistant', content: 'Hallo, was kann ich tun?', reasoning_content: 'They greet me.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Was ist das?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}`, detail: 'auto' } },
    ],
  },
];

function appBody(model: string, messages: List): JsonObject {
  return {
    model,
    messages,
    temperature: 0.7,
    top_p: 1,
    max_tokens: 4_096,
    presence_penalty: 0,
    frequency_penalty: 0,
    stop: ['<end>'],
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** A chat application with many vendors: penalties that say nothing, and thoughts sent back as a text. */
export const chatApplication: CodingClient = {
  name: 'a chat application',
  style: 'chat',
  path: '/v1/chat/completions',
  headers: { 'user-agent': 'Mozilla/5.0 Electron/38.4.0', 'http-referer': 'https://example.com', 'x-title': 'Chat' },
  first: (model) => appBody(model, APP_MESSAGES),
  second(model, answer) {
    const [choice] = answer.choices as List;
    const { role, content, reasoning_content: thoughts } = choice!.message as JsonObject;
    return appBody(model, [
      ...APP_MESSAGES,
      { role: role!, content: content ?? '', ...(thoughts !== undefined && { reasoning_content: thoughts }) },
      { role: 'user', content: 'Danke!' },
    ]);
  },
};

/** Whole bodies of all of them by style, the second ones with an answer of a vendor of the same style: for whoever needs real ones. */
export const BODIES: Readonly<Record<CodingClient['style'], readonly JsonObject[]>> = {
  messages: [
    claudeCode.first('some-model'),
    claudeCode.second(
      'some-model',
      {
        content: [
          { type: 'thinking', thinking: 'Let me look.', signature: 'EqoBCkgIBRABGAI+/==' },
          { type: 'redacted_thinking', data: 'EmwKAhgBEgy3+/==' },
          { type: 'text', text: 'I will look at it.' },
          { type: 'tool_use', id: 'toolu_01', name: 'Read', input: { file_path: '/src/parser/parser.ts', limit: 20 } },
          { type: 'tool_use', id: 'toolu_02', name: 'Bash', input: { command: 'npm test' } },
        ],
      },
      [
        { id: 'toolu_01', text: '1\texport {};' },
        { id: 'toolu_02', text: 'not ok 1' },
      ],
    ),
    {
      model: 'some-model',
      max_tokens: 1_000,
      temperature: 1,
      stop_sequences: ['END'],
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      tool_choice: { type: 'tool', name: 'Read', disable_parallel_tool_use: true },
      tools: [
        claudeTool('Read', { file_path: string('Absolute.') }, 'file_path'),
        { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } },
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' },
              title: 'Paper',
              citations: { enabled: true },
            },
            { type: 'text', text: 'What is this?', ...EPHEMERAL },
          ],
        },
      ],
    },
  ],
  responses: [
    codex.first('some-model'),
    codex.second(
      'some-model',
      {
        output: [
          {
            type: 'reasoning',
            id: 'rs_1',
            summary: [{ type: 'summary_text', text: 'Let me look.' }],
            encrypted_content: 'gAAAAABpHs+/==',
          },
          {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'I will look at it.', annotations: [] }],
          },
          { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'exec_command', arguments: '{"cmd":"ls"}' },
          {
            type: 'function_call',
            id: 'fc_2',
            call_id: 'call_2',
            name: 'spawn_agent',
            namespace: 'multi_agent_v1',
            arguments: '{"message":"Go."}',
          },
          { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_3', name: 'apply_patch', input: '*** Begin Patch' },
        ],
      },
      ['call_1', 'call_2', 'call_3'].map((id) => ({ id, text: 'Done.' })),
    ),
    {
      model: 'some-model',
      instructions: 'Be brief.',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url: `data:image/png;base64,${PICTURE}`, detail: 'low' },
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQK' },
          ],
        },
      ],
      max_output_tokens: 1_000,
      temperature: 1,
      top_logprobs: 2,
      include: ['message.output_text.logprobs'],
      text: {
        format: { type: 'json_schema', name: 'shape', schema: object({ a: { type: 'number' } }, 'a'), strict: true },
      },
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'exec_command' }] },
      tools: CODEX_TOOLS.slice(0, 2),
      metadata: { team: 'red' },
      truncation: 'auto',
    },
  ],
  chat: [
    agent.first('some-model'),
    agent.second(
      'some-model',
      {
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            message: {
              role: 'assistant',
              content: null,
              refusal: null,
              annotations: [],
              tool_calls: [
                { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
                { id: 'call_2', type: 'function', function: { name: 'get_time', arguments: '{"city":"Rome"}' } },
              ],
            },
          },
        ],
      },
      [
        { id: 'call_1', text: 'It rains.' },
        { id: 'call_2', text: 'It is nine.' },
      ],
    ),
    chatApplication.first('some-model'),
    {
      model: 'some-model',
      messages: [
        {
          role: 'user',
          name: 'ann',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQK' } },
          ],
        },
      ],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'shape', schema: object({ a: { type: 'number' } }, 'a'), strict: true },
      },
      tools: [{ type: 'custom', custom: { name: 'apply_patch', format: { type: 'text' } } }],
      tool_choice: { type: 'custom', custom: { name: 'apply_patch' } },
      reasoning_effort: 'low',
      logprobs: true,
      top_logprobs: 2,
      logit_bias: { 50: 1 },
      web_search_options: { search_context_size: 'low' },
      metadata: { team: 'red' } satisfies JsonObject as Json,
    },
  ],
};
