/** The style `chat`: chat completions, whole and streamed. */
import { errorObject, type Style } from '../../../core/plugin.ts';
import { readAnswer } from './answer.ts';
import { createMeter } from './meter.ts';
import { patchRequest, readRequest } from './request.ts';

/** `POST /v1/chat/completions`. */
export const chat: Style = {
  name: 'chat',
  path: '/v1/chat/completions',
  read: readRequest,
  patch: patchRequest,
  answer: readAnswer,
  meter: createMeter,
  error: (error) => errorObject(error),
  errorEvent: (error) => `data: ${JSON.stringify(errorObject(error))}\n\n`,
  terminal: 'data: [DONE]\n\n',
  keepAlive: ': keep-alive\n\n',
};
