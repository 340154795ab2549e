/** Pairs of client style and vendor style. */
import { write } from './folder.ts';
import type { Ask } from './load.ts';
import { CONTENT, MAX_TOKENS } from './requests.ts';
import type { SpokenStyle } from './turnpike.ts';

/** The style of a client, and that of the vendor. */
export interface Pair {
  /** For the tables. */
  readonly title: string;
  readonly client: keyof typeof ASKED;
  readonly vendor: SpokenStyle;
}

/** The reference: both use one style, nothing is translated. */
export const BYTES: Pair = { title: 'chat client, chat vendor: bytes', client: 'chat', vendor: 'chat' };

/** Clients of two other styles with a chat vendor. */
export const MESSAGES: Pair = { title: 'messages client, chat vendor', client: 'messages', vendor: 'chat' };
export const RESPONSES: Pair = { title: 'responses client, chat vendor', client: 'responses', vendor: 'chat' };

export const TRANSLATED: readonly Pair[] = [
  { title: 'chat client, messages vendor', client: 'chat', vendor: 'messages' },
  MESSAGES,
  RESPONSES,
  { title: 'chat client, gemini vendor', client: 'chat', vendor: 'gemini' },
  { title: 'chat client, responses vendor', client: 'chat', vendor: 'responses' },
];

const USER_TURNS = ['user', 'assistant', 'user'].map((role) => ({ role, content: CONTENT }));

/** The same request of 2 KB in each style, without the model and the stream flag. */
const ASKED = {
  chat: {
    path: '/v1/chat/completions',
    headers: [],
    body: { max_tokens: MAX_TOKENS, messages: [{ role: 'system', content: CONTENT }, ...USER_TURNS] },
  },
  messages: {
    path: '/v1/messages',
    headers: ['anthropic-version: 2023-06-01'],
    body: { max_tokens: MAX_TOKENS, system: CONTENT, messages: USER_TURNS },
  },
  responses: {
    path: '/v1/responses',
    headers: [],
    // Storing an answer costs something per stream, but nothing per event.
    body: { max_output_tokens: MAX_TOKENS, store: false, instructions: CONTENT, input: USER_TURNS },
  },
} as const;

/** The request of a pair's client: the vendor's models are named after its style. */
export function askOf({ client, vendor }: Pair, stream: boolean): Ask {
  const { path, headers, body } = ASKED[client];
  const name = `${client}-${vendor}-${stream ? 'stream' : 'whole'}.json`;
  return { path, headers, body: write(name, JSON.stringify({ model: vendor, stream, ...body })) };
}
