/** The style `gemini`: what the vendor is asked and answers. No client uses it; requests of other styles are translated. */
import type { AnswerFacts, Call, Json, JsonBody, JsonObject, PartReader, Style } from '../../../core/plugin.ts';
import { CUT_SHORT, isCutShort, objectsIn, parsed } from '../../../core/translation/index.ts';
import { STYLE_QUIRKS } from './quirks.ts';
import { createReader } from './reader.ts';
import { decodeReply, failureOf, isAnswer } from './reply.ts';
import { encodeRequest } from './request.ts';
import { usageIn, usesIn } from './usage.ts';

/** What a whole answer tells; undefined where it is none. */
function readAnswer(body: JsonBody, call: Call): AnswerFacts | undefined {
  const answer = body.tree();
  const error = failureOf(answer);
  if (error === undefined && !isAnswer(answer as JsonObject)) return undefined;
  const usage = usageIn(answer);
  const uses = usesIn(answer, call.model);
  return { usage: usage && uses ? { ...usage, uses } : usage, textLength: () => textLength(answer), error };
}

function textLength(answer: Json): number {
  let length = 0;
  for (const candidate of objectsIn(answer, 'candidates')) {
    for (const { text, functionCall } of objectsIn(candidate.content, 'parts')) {
      if (typeof text === 'string') length += text.length;
      if (functionCall !== undefined) length += JSON.stringify(functionCall).length;
    }
  }
  return length;
}

/** Each event holds an answer of its own; nothing marks the last one. */
function createStreamDecoder(...[from, losses]: Parameters<typeof createReader>): PartReader {
  const reader = createReader(from, losses);
  return {
    read({ data }) {
      const value = parsed(data);
      if (value !== undefined) return reader.take(value);
      return isCutShort(data) ? [{ type: 'error', ...CUT_SHORT }] : [];
    },
    close: () => reader.end(false),
    uses() {
      return reader.uses();
    },
  };
}

/** `generateContent` and `streamGenerateContent`. */
export const gemini: Style = {
  name: 'gemini',
  relay: { answer: readAnswer },
  vendor: { quirks: STYLE_QUIRKS, encodeRequest, decodeReply, createStreamDecoder },
};
