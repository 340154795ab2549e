/** The plugin `vendors/anthropic`: the vendor `anthropic` at its own address. */
import { type Caller, type Channel, definePlugin, type Vendor } from '../../../core/plugin.ts';
import { isCount, isObject, objectsIn, type Quirks } from '../../../core/translation/index.ts';
import { anthropicQuirks } from './quirks.ts';

/** The API version if the client sent none: the last one whose models support sampling options. */
const VERSION = '2023-06-01';

/** Beta features that a client requests: a list of names, as long as the head of a request may be. */
const BETAS = /^[\x21-\x7e][\x20-\x7e]*$/;

function credentials(channel: Channel): Record<string, string> {
  return { 'x-api-key': channel.key, 'anthropic-version': VERSION };
}

/** The feature behind `thinking.block_binding`, which the gateway adds to requests that it changes. */
const BINDING = 'thinking-binding-controls-2026-08-01';

/** `caller` is defined if the client uses the messages style, too. */
function headers(
  channel: Channel,
  _call: unknown,
  caller: Caller | undefined,
  quirks: Quirks | undefined,
): Record<string, string> {
  const { 'anthropic-version': version, 'anthropic-beta': requested = '' } = caller?.headers ?? {};
  const betas = BETAS.test(requested) ? requested : '';
  const own = quirks?.reasoning.binding === true && !betas.includes(BINDING) ? BINDING : '';
  const all = [betas, own].filter((list) => list !== '').join(',');
  return {
    ...credentials(channel),
    ...(version !== undefined && { 'anthropic-version': version }),
    ...(all !== '' && { 'anthropic-beta': all }),
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
        read: (answer) => (isObject(answer) && isCount(answer.input_tokens) ? answer.input_tokens : undefined),
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
