/** The translation of the style `chat` to and from the common form. */
import type { StyleClient, StyleVendor } from '../../../core/plugin.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { createStreamDecoder } from './decoder.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { createStreamEncoder } from './encoder.ts';
import { chatQuirks } from './quirks.ts';

/** `max_tokens` has two names; the newer one wins. */
const NEWER_LIMIT = { max_tokens: 'max_completion_tokens' } as const;

/** Chat clients with vendors of another style. */
export const client: StyleClient = {
  // `Losses` uses chat's field names, except for the web search, which is not a tool in chat.
  names: { 'tools.web_search': 'web_search_options' },
  namesIn: (body) => (body.has('max_completion_tokens') ? NEWER_LIMIT : {}),
  decodeRequest,
  encodeReply,
  createStreamEncoder,
};

/** Chat vendors with clients of another style. */
export const vendor: StyleVendor = {
  quirks: chatQuirks,
  encodeRequest,
  decodeReply,
  createStreamDecoder,
};
