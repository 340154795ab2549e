/** The plugin `vendors/anthropic`: the vendor `anthropic` at its own address. */
import { type Caller, type Channel, definePlugin, type Vendor } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';
import { anthropicQuirks } from './quirks.ts';

/** What is spoken where the client has no word for it. The last version whose models can be sampled from. */
const VERSION = '2023-06-01';

/** What a client asks to try out: a list of names, longer than any that makes sense is not passed on. */
const BETAS = /^[\x21-\x7e][\x20-\x7e]{0,1023}$/;

function credentials(channel: Channel): Record<string, string> {
  return { 'x-api-key': channel.key, 'anthropic-version': VERSION };
}

/** `caller` is there where the client speaks this vendor's own style. */
function headers(channel: Channel, _call: unknown, caller: Caller | undefined): Record<string, string> {
  const { 'anthropic-version': version, 'anthropic-beta': betas } = caller?.headers ?? {};
  return {
    ...credentials(channel),
    ...(version !== undefined && { 'anthropic-version': version }),
    ...(betas !== undefined && BETAS.test(betas) && { 'anthropic-beta': betas }),
  };
}

const vendor: Vendor = {
  name: 'anthropic',
  url: () => 'https://api.anthropic.com/v1',
  speaks: {
    messages: {
      path: (call, _offer, caller) =>
        call.style === 'messages' && caller.query.get('beta') === 'true' ? '/messages?beta=true' : '/messages',
      headers,
      count: {
        path: () => '/messages/count_tokens',
        read: (answer) =>
          isObject(answer) && typeof answer.input_tokens === 'number' ? answer.input_tokens : undefined,
      },
    },
  },
  quirks: anthropicQuirks,
  credentials,
};

export default definePlugin({ name: 'vendors/anthropic', api: 2, create: () => ({ vendors: [vendor] }) });
