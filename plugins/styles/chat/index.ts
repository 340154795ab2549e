/** The style `chat`: chat completions, whole and streamed. */
import type { Style } from '../../../core/plugin.ts';
import { about } from './about.ts';
import { readAnswer } from './answer.ts';
import { client, vendor } from './bridge.ts';
import { finishAnswer } from './completion.ts';
import { createRelay } from './relay.ts';
import { patchRequest, readRequest } from './request.ts';

/** `POST /v1/chat/completions`. */
export const chat: Style = {
  name: 'chat',
  ingress: { path: '/v1/chat/completions', read: readRequest, about },
  relay: { patch: patchRequest, answer: readAnswer, finish: finishAnswer, stream: createRelay },
  client,
  vendor,
};
