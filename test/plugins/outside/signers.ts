/** Vendors that sign in other ways: not at all, without looking at the body, by its bytes. */
import { definePlugin, type Vendor } from 'turnpike/plugin';

const speaks = { chat: { path: '/chat/completions', headers: () => ({ Authorization: 'Bearer old' }) } };
const credentials = (): Record<string, string> => ({ Authorization: 'Bearer old' });

const vendors: readonly Vendor[] = [
  {
    name: 'failing',
    speaks,
    credentials,
    async sign(_request, { key }) {
      throw new Error(key === '' ? 'there is no key' : 'the token service is down');
    },
  },
  { name: 'token', speaks, credentials, sign: async () => ({ authorization: 'Bearer fresh' }) },
  {
    name: 'hashing',
    speaks: { transcription: { path: '/audio/transcriptions', headers: () => ({}) } },
    async sign(request) {
      let length = 0;
      for await (const piece of request.body()) length += piece.length;
      return { 'X-Hash': await request.sha256(), 'X-Length': String(length) };
    },
  },
];

export default definePlugin({ name: 'signers', api: 2, create: () => ({ vendors }) });
