/** A whole answer in the common form: what its reader says, put together. */
import { foldParts, type JsonObject, type Losses, member, type Origin, type Reply } from '../../../core/plugin.ts';
import { createReader } from './reader.ts';
import { errorIn } from './usage.ts';

/** True for an answer of this style, were it one without a word. */
export function isAnswer(body: JsonObject): boolean {
  return (
    errorIn(body) === undefined &&
    ['candidates', 'promptFeedback', 'usageMetadata'].some((name) => typeof member(body, name) === 'object')
  );
}

/** The answer; undefined where the body is none. */
export function readReply(body: JsonObject, from: Origin, losses: Losses): Reply | undefined {
  if (!isAnswer(body)) return undefined;
  const reader = createReader(from, losses);
  return foldParts([...reader.take(body), ...reader.end(true)]);
}
