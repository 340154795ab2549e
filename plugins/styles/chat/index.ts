/** The style `chat`: chat completions, whole and streamed. */
import { errorObject, type Style } from '../../../core/plugin.ts';
import { about } from './about.ts';
import { readAnswer } from './answer.ts';
import { asked, spoken } from './bridge.ts';
import { finishAnswer } from './completion.ts';
import { errorEvent } from './errors.ts';
import { createRelay } from './relay.ts';
import { patchRequest, readRequest } from './request.ts';

/** `POST /v1/chat/completions`. */
export const chat: Style = {
  name: 'chat',
  path: '/v1/chat/completions',
  about,
  read: readRequest,
  patch: patchRequest,
  answer: readAnswer,
  finish: finishAnswer,
  relay: createRelay,
  error: (error) => errorObject(error),
  errorEvent,
  keepAlive: ': keep-alive\n\n',
  asked,
  spoken,
};
