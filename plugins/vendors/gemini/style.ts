/** The style `gemini`: requests to and replies of the vendor. No client can use it; requests of other styles are translated. */
import type { AnswerFacts, Call, Json, JsonBody, JsonObject, Style } from '../../../core/plugin.ts';
import { objectsIn } from '../../../core/translation/index.ts';
import { decodeReply, failureOf, isAnswer } from './decode-reply.ts';
import { createStreamDecoder } from './decoder.ts';
import { encodeRequest } from './encode-request.ts';
import { STYLE_QUIRKS } from './quirks.ts';
import { usageIn, usesIn } from './usage.ts';

/** Reads a whole reply; undefined if it is not one. */
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

/** `generateContent` and `streamGenerateContent`. */
export const gemini: Style = {
  name: 'gemini',
  relay: { answer: readAnswer },
  vendor: { quirks: STYLE_QUIRKS, encodeRequest, decodeReply, createStreamDecoder },
};
