/** The plugin `vendors/compatible`: any server with one of the common styles, at a configured URL. */

import type { ModelQuirks } from '../../../core/plugin.ts';
import { type Accepted, type Caller, type Channel, definePlugin, typed, type Vendor } from '../../../core/plugin.ts';
import { usualDialects } from '../../../core/translation/index.ts';

/** Styles that request reasoning by an effort. */
const EFFORT_STYLES = ['chat', 'responses'];

/** Models that are known to accept one. */
const KNOW_EFFORT = [
  ...['*gpt-oss*', '*gpt-5*', '*gpt-6*', '*o1', '*o1-*', '*o3', '*o3-*', '*o4-*', '*claude-*', '*gemini-*'],
  ...['*deepseek*', '*kimi*', '*glm-*', '*qwen3*thinking*', '*grok-3-mini*', '*magistral*', '*minimax-m*'],
];

/** Other models that reason: they know what reasoning in a history is. */
const REASON = ['*qwen3*', '*qwq*', '*-r1*', '*grok-4*', '*mimo*', '*minimax*', '*nemotron*', '*thinking*', '*reason*'];

/** Later ones win. */
const compatibleQuirks: readonly ModelQuirks[] = [
  // What most servers accept: the templates of many models take one system message, at the front.
  { models: ['*'], quirks: { roles: { developer: 'system', mid_system: 'user_wrap', merge_system: true } } },
  // `store` is for vendors that show what they keep; strict servers refuse it.
  { models: ['*'], styles: ['chat'], quirks: { drop_fields: ['store'] } },
  // A model that knows no effort is refused with one, and reasoning in its history is that of another model.
  { models: ['*'], styles: ['chat'], quirks: { reasoning: { echo: 'never' } } },
  { models: ['*'], styles: EFFORT_STYLES, quirks: { reasoning: { input: 'none' } } },
  { models: [...REASON, ...KNOW_EFFORT], styles: ['chat'], quirks: { reasoning: { echo: 'none' } } },
  { models: KNOW_EFFORT, styles: EFFORT_STYLES, quirks: { reasoning: { input: 'effort' } } },
  // Their names at other addresses than OpenAI's own.
  { models: ['*gpt-*', 'o1*', 'o3*', 'o4*'], styles: ['chat'], quirks: { tools: { id_max: 40 } } },
  // They refuse other ids of calls.
  {
    models: ['*mistral*', '*mixtral*', '*ministral*', '*magistral*', '*codestral*', '*devstral*', '*pixtral*'],
    styles: ['chat'],
    quirks: { tools: { id_max: 9, id_pattern: '^[a-zA-Z0-9]{9}$' } },
  },
  // With reasoning on, they refuse a history whose tool calls have no reasoning.
  { models: ['*kimi*', '*deepseek*', '*glm-*', '*mimo*'], quirks: { reasoning: { echo: 'tool_turns' } } },
  // Variants without reasoning, or without reasoning in tool calls: their servers may not support the member.
  {
    models: ['*kimi-k2-instruct*', '*kimi-k2-0*', '*kimi-vl*', '*deepseek-r1*'],
    quirks: { reasoning: { echo: 'none' } },
  },
];

const word = (title: string) => ({ type: 'string', title, pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }) as const;

const options = typed({
  type: 'object',
  properties: {
    auth: {
      type: 'object',
      additionalProperties: false,
      description: 'The header in which the server expects the key; without it, `authorization` with a bearer token.',
      properties: {
        header: { ...word('name of a header'), default: 'authorization', examples: ['api-key'] },
        scheme: {
          ...word('word'),
          description: 'The authorization scheme, a word before the key. Without it, the header has only the key.',
          examples: ['Token'],
        },
      },
    },
  },
});
type Options = Accepted<typeof options>;

function credentials(channel: Channel): Record<string, string> {
  const { auth } = channel.options as Options;
  if (auth === undefined) return { authorization: `Bearer ${channel.key}` };
  return { [auth.header.toLowerCase()]: auth.scheme === undefined ? channel.key : `${auth.scheme} ${channel.key}` };
}

/** Beta features that a client requests: a list of names, as long as the head of a request may be. */
const BETAS = /^[\x21-\x7e][\x20-\x7e]*$/;

/** Servers of the messages style read the key in one of two headers, and the client's API version if any. */
function messagesHeaders(channel: Channel, _call: unknown, caller: Caller | undefined): Record<string, string> {
  const { 'anthropic-version': version = '2023-06-01', 'anthropic-beta': betas } = caller?.headers ?? {};
  const { auth } = channel.options as Options;
  return {
    ...credentials(channel),
    ...(auth === undefined && { 'x-api-key': channel.key }),
    'anthropic-version': version,
    ...(betas !== undefined && BETAS.test(betas) && { 'anthropic-beta': betas }),
  };
}

const vendor: Vendor = {
  name: 'compatible',
  options,
  speaks: {
    ...usualDialects(credentials, 'chat', 'responses'),
    messages: { path: '/messages', headers: messagesHeaders },
    ...usualDialects(
      credentials,
      'completions',
      'embeddings',
      'images',
      'edits',
      'speech',
      'transcription',
      'translation',
    ),
  },
  // Nearly all servers have these; for the others, the channel lists its styles.
  defaultStyles: ['chat', 'completions', 'embeddings'],
  quirks: compatibleQuirks,
  credentials,
};

export default definePlugin({ name: 'vendors/compatible', api: 2, create: () => ({ vendors: [vendor] }) });
