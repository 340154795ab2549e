/** The plugin `vendors/openai`: the vendor `openai` at its own address. */
import {
  type Accepted,
  type Channel,
  definePlugin,
  type TokenCount,
  typed,
  type Vendor,
} from '../../../core/plugin.ts';
import { isCount, isObject, usualDialects } from '../../../core/translation/index.ts';
import { openaiQuirks } from './quirks.ts';

const options = typed({
  type: 'object',
  // The account to bill, if a key belongs to several organizations.
  properties: { organization: { type: 'string', minLength: 1 }, project: { type: 'string', minLength: 1 } },
});

function credentials(channel: Channel): Record<string, string> {
  const { organization, project } = channel.options as Accepted<typeof options>;
  return {
    authorization: `Bearer ${channel.key}`,
    ...(organization === undefined ? {} : { 'openai-organization': organization }),
    ...(project === undefined ? {} : { 'openai-project': project }),
  };
}

/** The fields that are counted; the endpoint refuses all others. */
const COUNTED = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'text',
  'truncation',
]);

const count: TokenCount = {
  path: () => '/responses/input_tokens',
  body: (body) => Object.fromEntries(Object.entries(body).filter(([name]) => COUNTED.has(name))),
  read: (answer) => (isObject(answer) && isCount(answer.input_tokens) ? answer.input_tokens : undefined),
};

const vendor: Vendor = {
  name: 'openai',
  options,
  url: () => 'https://api.openai.com/v1',
  // The first style can express the most: reasoning, free-text tools, files by URL.
  speaks: {
    responses: { path: '/responses', headers: credentials, count },
    chat: { path: '/chat/completions', headers: credentials },
    completions: {
      path: '/completions',
      headers: credentials,
      models: ['gpt-3.5-turbo-instruct*', 'davinci-*', 'babbage-*'],
    },
    ...usualDialects(credentials, 'embeddings', 'images', 'edits', 'speech', 'transcription', 'translation'),
  },
  quirks: openaiQuirks,
  credentials,
};

export default definePlugin({ name: 'vendors/openai', api: 2, create: () => ({ vendors: [vendor] }) });
