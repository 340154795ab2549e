/** Decodes the replies of completion vendors, for plugins that inspect them: the text of the only choice. */
import type { Json, JsonObject, Origin, PartReader, Relay, Warnings } from '../../../core/plugin.ts';
import {
  CUT_SHORT,
  isCutShort,
  isEndMark,
  isObject,
  type Part,
  parsed,
  type Reply,
  readVendorError,
  textOf,
} from '../../../core/translation/index.ts';
import { failureIn, readFinish } from '../chat/fields/finish.ts';
import { errorIn, followUsage, usageIn } from '../chat/fields/usage.ts';

const TEXT_ONLY = { calls: false, refusal: false };

/** The decoding half of a translation. */
export const reader: NonNullable<Relay['reader']> = { decodeReply, createStreamDecoder };

function decodeReply(body: JsonObject, from: Origin, warnings: Warnings): Reply | undefined {
  const choice = Array.isArray(body.choices) ? (body.choices as readonly Json[])[0] : undefined;
  if (!isObject(choice) || typeof choice.text !== 'string' || failureIn(choice.finish_reason) !== undefined) {
    return undefined;
  }
  if (isObject(choice.logprobs)) warnings.omit('logprobs');
  return {
    id: textOf(body.id),
    model: textOf(body.model) || from.model,
    blocks: [{ type: 'text', text: choice.text }],
    finish: readFinish(choice.finish_reason, choice.stop_reason, TEXT_ONLY),
    usage: usageIn(body),
  };
}

/** Decodes one stream. It is complete at `[DONE]`, or if the vendor closes it after a `finish_reason`. */
function createStreamDecoder(from: Origin, warnings: Warnings): PartReader {
  let isOpen = false;
  let isDone = false;
  const usage = followUsage();
  /** Characters so far. */
  let length = 0;
  let reason: Json | undefined;
  let stopped: Json | undefined;

  function begin(value: JsonObject): readonly Part[] {
    if (isOpen) return [];
    isOpen = true;
    return [
      { type: 'start', id: textOf(value.id), model: textOf(value.model) || from.model },
      { type: 'blockStart', key: 0, block: { type: 'text', text: '' } },
    ];
  }

  function finish(): readonly Part[] {
    isDone = true;
    if (!isOpen) return [{ type: 'error', message: 'The vendor ended its stream without an answer.', code: '' }];
    const failure = failureIn(reason);
    if (failure !== undefined) return [{ type: 'error', ...failure }];
    const used = usage.after(length);
    return [
      { type: 'blockEnd', key: 0 },
      ...(used === undefined ? [] : [{ type: 'usage' as const, usage: used }]),
      { type: 'finish', finish: readFinish(reason, stopped, TEXT_ONLY) },
    ];
  }

  function readChunk(value: JsonObject): readonly Part[] {
    const choice = Array.isArray(value.choices) ? (value.choices as readonly Json[])[0] : undefined;
    if (isObject(choice)) length += textOf(choice.text).length;
    const counted = usageIn(value);
    if (counted !== undefined) usage.add(counted, length);
    if (!isObject(choice)) return [];
    reason = choice.finish_reason || reason;
    stopped = choice.stop_reason ?? stopped;
    if (isObject(choice.logprobs)) warnings.omit('logprobs');
    const text = textOf(choice.text);
    return [...begin(value), ...(text === '' ? [] : [{ type: 'delta' as const, key: 0, text }])];
  }

  return {
    read({ name, data }) {
      if (isDone) return [];
      if (isEndMark(data)) return finish();
      const value = parsed(data);
      const error = errorIn(value) ?? (name === 'error' ? readVendorError(value ?? data) : undefined);
      if (error !== undefined || (value === undefined && isCutShort(data))) {
        isDone = true;
        return [{ type: 'error', ...(error ?? CUT_SHORT) }];
      }
      return isObject(value) ? readChunk(value) : [];
    },
    close: () => (isDone || reason === undefined ? [] : finish()),
  };
}
