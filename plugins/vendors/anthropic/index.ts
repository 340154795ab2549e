/** The plugin `vendors/anthropic`: the vendor `anthropic` at its own address. */
import { type Caller, type Channel, definePlugin, type Vendor } from '../../../core/plugin.ts';
import { isObject, objectsIn } from '../../../core/translation/index.ts';
import { anthropicQuirks } from './quirks.ts';

/** The API version if the client sent none: the last one whose models support sampling options. */
const VERSION = '2023-06-01';

/** Beta features that a client requests: a list of names; lists that are too long are not forwarded. */
const BETAS = /^[\x21-\x7e][\x20-\x7e]{0,1023}$/;

function credentials(channel: Channel): Record<string, string> {
  return { 'x-api-key': channel.key, 'anthropic-version': VERSION };
}

/** `caller` is defined if the client uses the messages style, too. */
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
  models: {
    path: (after) => `/models?limit=1000${after === undefined ? '' : `&after_id=${encodeURIComponent(after)}`}`,
    read(answer) {
      if (!isObject(answer) || !Array.isArray(answer.data)) return undefined;
      const names = objectsIn(answer, 'data').flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
      return { names, next: answer.has_more === true ? names.at(-1) : undefined };
    },
  },
};

export default definePlugin({ name: 'vendors/anthropic', api: 2, create: () => ({ vendors: [vendor] }) });
