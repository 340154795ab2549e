/** Encodes streams. */
import type { Answering, PartWriter } from '../../../../core/plugin.ts';
import { deltaText, errorEvent, eventText, failedEvent } from '../errors.ts';
import { createResponse } from './encode-reply.ts';

/** Encodes one stream. */
export function createStreamEncoder(as: Answering): PartWriter {
  let sequence = 0;
  let text = '';
  const response = createResponse(as, {
    isSilent: false,
    emit(type, fields) {
      text += eventText(type, sequence++, fields);
    },
    emitDelta(type, ...about) {
      text += deltaText(type, sequence++, ...about);
    },
  });
  return {
    write(part) {
      text = '';
      response.write(part);
      return text;
    },
    fail(error) {
      const broken = response.broken();
      return broken === undefined ? errorEvent(error, sequence++) : failedEvent(broken, error, sequence++);
    },
    answer: () => (response.ended() ? response.object() : undefined),
  };
}
