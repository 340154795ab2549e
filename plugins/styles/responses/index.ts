/** The style `responses`: responses, whole and streamed. */
import { errorObject, type Style } from '../../../core/plugin.ts';
import { about } from './about.ts';
import { readAnswer } from './answer.ts';
import { asked, spoken } from './bridge.ts';
import { finishAnswer } from './completion.ts';
import { errorEvent } from './failures.ts';
import { createRelay } from './relay.ts';
import { patchRequest, readRequest } from './request.ts';

/** `POST /v1/responses`. */
export const responses: Style = {
  name: 'responses',
  path: '/v1/responses',
  about,
  read: readRequest,
  patch: patchRequest,
  answer: readAnswer,
  finish: finishAnswer,
  relay: createRelay,
  error: (error) => errorObject(error),
  errorEvent: (error) => errorEvent(error),
  keepAlive: ': keep-alive\n\n',
  asked,
  spoken,
};
