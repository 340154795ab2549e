/** The plugin `vendors/openai`: the vendor `openai` at its own address. */
import { type Channel, definePlugin, schema, type Vendor } from '../../../core/plugin.ts';

interface Options {
  /** Whose account is billed there, where a key belongs to several organizations. */
  readonly organization?: string;
  readonly project?: string;
}

function credentials(channel: Channel): Record<string, string> {
  const { organization, project } = channel.options as Options;
  return {
    authorization: `Bearer ${channel.key}`,
    ...(organization === undefined ? {} : { 'openai-organization': organization }),
    ...(project === undefined ? {} : { 'openai-project': project }),
  };
}

const vendor: Vendor = {
  name: 'openai',
  options: schema<Options>({
    type: 'object',
    properties: { organization: { type: 'string', minLength: 1 }, project: { type: 'string', minLength: 1 } },
  }),
  url: () => 'https://api.openai.com/v1',
  speaks: { chat: { path: '/chat/completions', headers: credentials } },
  credentials,
};

export default definePlugin({ name: 'vendors/openai', api: 1, create: () => ({ vendors: [vendor] }) });
