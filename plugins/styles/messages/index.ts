/** The style `messages`, streamed or not. */
import type { Style } from '../../../core/plugin.ts';
import { about } from './about.ts';
import { readAnswer } from './answer.ts';
import { client, vendor } from './bridge.ts';
import { finishAnswer } from './completion.ts';
import { errorBody, errorEvent } from './errors.ts';
import { event } from './event.ts';
import { createRelay } from './relay.ts';
import { patchRequest, readRequest } from './request.ts';

/** `POST /v1/messages`. */
export const messages: Style = {
  name: 'messages',
  ingress: {
    path: '/v1/messages',
    read: readRequest,
    headers: { 'anthropic-version': '2023-06-01' },
    idHeader: 'request-id',
    // SSE comments would do, but clients of this style expect `ping`.
    keepAlive: event('ping'),
    about,
  },
  relay: { patch: patchRequest, answer: readAnswer, finish: finishAnswer, stream: createRelay },
  errors: { body: errorBody, event: errorEvent, overloadedStatus: 529 },
  client,
  vendor,
};
