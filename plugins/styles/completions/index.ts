/**
 * The style `completions`: one text that goes on, from before there were conversations. Its answers, streams and errors are
 * framed as those of chat, so the same code reads them.
 */

import { errorObject, type Style } from '../../../core/plugin.ts';
import { answerLimits } from '../../../core/translation/index.ts';
import { readAnswer } from '../chat/answer.ts';
import { finishAnswer } from '../chat/completion.ts';
import { errorEvent } from '../chat/errors.ts';
import { createRelay } from '../chat/relay.ts';
import { patchCommon } from '../chat/request.ts';
import { about } from './about.ts';
import { asked } from './bridge.ts';
import { heard } from './heard.ts';
import { readRequest } from './request.ts';

/** `POST /v1/completions`. */
export const completions: Style = {
  name: 'completions',
  path: '/v1/completions',
  about,
  read: readRequest,
  patch: (body, to) => ({ ...patchCommon(body, to), ...answerLimits(body, ['max_tokens'], to) }),
  answer: readAnswer,
  finish: finishAnswer,
  relay: createRelay,
  error: (error) => errorObject(error),
  errorEvent,
  keepAlive: ': keep-alive\n\n',
  asked,
  heard,
  texts: ['prompt', 'suffix', 'stop', 'user'],
};
