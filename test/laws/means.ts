/** Conversations within the means of one style: everything in them has a place of its own there. */
import { chatMeans } from './chat-means.ts';
import type { Means } from './dialogues.ts';
import { messagesMeans } from './messages-means.ts';
import { responsesMeans } from './responses-means.ts';

/** By style. */
export const MEANS: Readonly<Record<'chat' | 'responses' | 'messages', Means>> = {
  chat: chatMeans,
  responses: responsesMeans,
  messages: messagesMeans,
};
