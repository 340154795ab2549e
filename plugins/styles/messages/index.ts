/** The style `messages`: messages made of blocks, whole and streamed. */
import type { Style } from '../../../core/plugin.ts';
import { about } from './about.ts';
import { readAnswer } from './answer.ts';
import { asked, spoken } from './bridge.ts';
import { finishAnswer } from './completion.ts';
import { errorBody, errorEvent } from './errors.ts';
import { event } from './event.ts';
import { createRelay } from './relay.ts';
import { patchRequest, readRequest } from './request.ts';

/** `POST /v1/messages`. */
export const messages: Style = {
  name: 'messages',
  path: '/v1/messages',
  idHeader: 'request-id',
  about,
  read: readRequest,
  neededHeaders: { 'anthropic-version': '2023-06-01' },
  patch: patchRequest,
  answer: readAnswer,
  finish: finishAnswer,
  relay: createRelay,
  overloadedStatus: 529,
  error: errorBody,
  errorEvent,
  // Comments would do, but this is what clients of this style know.
  keepAlive: event('ping'),
  asked,
  spoken,
};
