/** The style `responses`, streamed or not. */
import type { Style } from '../../../core/plugin.ts';
import { about } from './about.ts';
import { readAnswer } from './answer.ts';
import { client, vendor } from './bridge.ts';
import { finishAnswer } from './completion.ts';
import { errorEvent } from './errors.ts';
import { createRelay } from './relay.ts';
import { patchRequest, readRequest } from './request.ts';

/** `POST /v1/responses`. */
export const responses: Style = {
  name: 'responses',
  ingress: { path: '/v1/responses', read: readRequest, about },
  relay: { patch: patchRequest, answer: readAnswer, finish: finishAnswer, stream: createRelay },
  errors: { event: (error) => errorEvent(error) },
  client,
  vendor,
};
