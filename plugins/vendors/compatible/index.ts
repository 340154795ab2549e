/** The plugin `vendors/compatible`: anything that speaks the common styles at an address of its own. */
import { type Caller, type Channel, definePlugin, type Vendor } from '../../../core/plugin.ts';
import { compatibleQuirks } from './quirks.ts';

function credentials(channel: Channel): Record<string, string> {
  return { authorization: `Bearer ${channel.key}` };
}

/** What clients ask to try out; a list longer than any that makes sense is not passed on. */
const BETAS = /^[\x21-\x7e][\x20-\x7e]{0,1023}$/;

/** Servers of the messages style look for the key in one place or the other, and at the client's version if at all. */
function messagesHeaders(channel: Channel, _call: unknown, caller: Caller | undefined): Record<string, string> {
  const { 'anthropic-version': version = '2023-06-01', 'anthropic-beta': betas } = caller?.headers ?? {};
  return {
    ...credentials(channel),
    'x-api-key': channel.key,
    'anthropic-version': version,
    ...(betas !== undefined && BETAS.test(betas) && { 'anthropic-beta': betas }),
  };
}

const vendor: Vendor = {
  name: 'compatible',
  speaks: {
    chat: { path: '/chat/completions', headers: credentials },
    responses: { path: '/responses', headers: credentials },
    messages: { path: '/messages', headers: messagesHeaders },
    completions: { path: '/completions', headers: credentials },
    embeddings: { path: '/embeddings', headers: credentials },
    images: { path: '/images/generations', headers: credentials },
    edits: { path: '/images/edits', headers: credentials },
    speech: { path: '/audio/speech', headers: credentials },
    transcription: { path: '/audio/transcriptions', headers: credentials },
    translation: { path: '/audio/translations', headers: credentials },
  },
  // Nearly all have these; the others are for channels that say so.
  defaultStyles: ['chat', 'completions', 'embeddings'],
  quirks: compatibleQuirks,
  credentials,
};

export default definePlugin({ name: 'vendors/compatible', api: 2, create: () => ({ vendors: [vendor] }) });
