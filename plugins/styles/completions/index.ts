/**
 * The style `completions`: legacy text completion. Its replies, streams and errors have the framing of chat, so the same
 * code reads them.
 */

import type { Style } from '../../../core/plugin.ts';
import { answerLimits } from '../../../core/translation/index.ts';
import { readAnswer } from '../chat/answer.ts';
import { finishAnswer } from '../chat/completion.ts';
import { createRelay } from '../chat/relay.ts';
import { patchCommon } from '../chat/request.ts';
import { about } from './about.ts';
import { client } from './bridge.ts';
import { reader } from './decoder.ts';
import { readRequest } from './request.ts';

/** `POST /v1/completions`. */
export const completions: Style = {
  name: 'completions',
  ingress: {
    path: '/v1/completions',
    read: readRequest,
    texts: ['prompt', 'suffix', 'stop', 'user'],
    about,
  },
  relay: {
    patch: (body, to) => ({ ...patchCommon(body, to), ...answerLimits(body, ['max_tokens'], to) }),
    answer: readAnswer,
    finish: finishAnswer,
    stream: createRelay,
    reader,
  },
  client,
};
