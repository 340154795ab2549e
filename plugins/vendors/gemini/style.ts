/** The style `gemini`: requests to and replies of the vendor. No client can use it; requests of other styles are translated. */
import type { AnswerFacts, Call, Json, JsonBody, JsonObject, Origin, Style, Warnings } from '../../../core/plugin.ts';
import { foldParts, member, objectsIn, type Reply, type VendorError } from '../../../core/translation/index.ts';
import { createReader, createStreamDecoder } from './decoder.ts';
import { encodeRequest } from './encode-request.ts';
import { failureIn } from './finish.ts';
import { STYLE_QUIRKS } from './quirks.ts';
import { errorIn, usageIn, usesIn } from './usage.ts';

/** The error that the vendor sent instead of an answer, or in which its answer ended; undefined if there is none. */
function failureOf(body: Json): VendorError | undefined {
  return errorIn(body) ?? failureIn(objectsIn(body, 'candidates')[0]);
}

/** True for a reply of this style, even an empty one. */
function isAnswer(body: JsonObject): boolean {
  return (
    failureOf(body) === undefined &&
    ['candidates', 'promptFeedback', 'usageMetadata'].some((name) => typeof member(body, name) === 'object')
  );
}

/** Decodes the reply; undefined if the body is not one. */
function decodeReply(body: JsonObject, from: Origin, warnings: Warnings): Reply | undefined {
  if (!isAnswer(body)) return undefined;
  const reader = createReader(from, warnings);
  return foldParts([...reader.take(body), ...reader.end(true)]);
}

/** One reply for each candidate; what the vendor says beside them belongs to all. */
function decodeReplies(body: JsonObject, from: Origin, warnings: Warnings): readonly Reply[] | undefined {
  const replies = objectsIn(body, 'candidates').map((candidate) =>
    decodeReply({ ...body, candidates: [{ ...candidate, index: 0 }] }, from, warnings),
  );
  return replies.length > 0 && replies.every((reply) => reply !== undefined) ? replies : undefined;
}

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
  vendor: { quirks: STYLE_QUIRKS, encodeRequest, decodeReply, decodeReplies, createStreamDecoder },
};
