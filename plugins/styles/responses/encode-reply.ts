/** Encodes replies, streamed or not, with the same code, so that the two cannot differ. */
import type { Answering, JsonObject, Usage } from '../../../core/plugin.ts';
import { type Block, type Finish, type Part, partsOf, type Reply } from '../../../core/translation/index.ts';
import { createOutput, type EventSink, type Writing } from './output-items.ts';
import { type Progress, responseObject } from './response-object.ts';
import { usageObject } from './usage.ts';

const REFUSAL = 'The model declined to answer.';

/** Starts a response; `events` gets the events of the stream. */
export function createResponse(as: Answering, events: EventSink) {
  const output = createOutput(as, events);
  const blocks = new Map<number, Writing>();
  let progress: Progress | undefined;
  let usage: Usage | undefined;
  let refused = false;

  function show(type: string): void {
    if (progress !== undefined && !events.isSilent) events.emit(type, { response: responseObject(as, progress) });
  }

  function begin(block: Block): Writing | undefined {
    refused ||= block.type === 'refusal';
    return output.begin(block);
  }

  function finish({ reason, explanation, stopSequence }: Finish): void {
    const isBare = reason === 'refusal' && !refused;
    if (explanation !== undefined && !isBare) as.losses.omit('explanation');
    if (stopSequence !== undefined) as.losses.omit('stop_sequence');
    for (const writing of blocks.values()) writing.end();
    blocks.clear();
    if (isBare) {
      const refusal = begin({ type: 'refusal', text: '' });
      refusal?.say(explanation ?? REFUSAL, []);
      refusal?.end();
    }
    const end = endOf(reason);
    output.close(end.status === 'incomplete' ? 'incomplete' : 'completed');
    progress = {
      output: output.items,
      serviceTier: progress?.serviceTier,
      usage: usageObject(usage),
      ...(end.status === 'completed' && { completedMs: as.now() }),
      ...end,
    };
    show(`response.${end.status}`);
  }

  return {
    write(part: Part): void {
      switch (part.type) {
        case 'start':
          progress = { status: 'in_progress', output: output.items, usage: null, serviceTier: part.serviceTier };
          show('response.created');
          show('response.in_progress');
          break;
        case 'blockStart': {
          const writing = begin(part.block);
          if (writing !== undefined) blocks.set(part.key, writing);
          break;
        }
        case 'delta':
          if (part.text !== '' || part.logprobs !== undefined) {
            blocks.get(part.key)?.say(part.text, part.logprobs ?? []);
          }
          break;
        case 'citation':
          blocks.get(part.key)?.cite(part.citation);
          break;
        case 'opaque':
          blocks.get(part.key)?.seal(part.opaque);
          break;
        case 'blockEnd':
          blocks.get(part.key)?.end();
          blocks.delete(part.key);
          break;
        case 'usage':
          usage = part.usage;
          break;
        case 'finish':
          finish(part.finish);
          break;
        default:
      }
    },
    /** The current state; undefined before its start. */
    object: (): JsonObject | undefined => progress && responseObject(as, progress),
    /** The same for an answer that breaks off here. */
    broken: (): JsonObject | undefined => progress && responseObject(as, { ...progress, output: output.broken() }),
    ended: (): boolean => progress !== undefined && progress.status !== 'in_progress',
  };
}

function endOf(reason: Finish['reason']): Pick<Progress, 'status' | 'incompleteReason'> {
  switch (reason) {
    case 'length':
    case 'context_full':
      return { status: 'incomplete', incompleteReason: 'max_output_tokens' };
    case 'content_filter':
      return { status: 'incomplete', incompleteReason: 'content_filter' };
    default:
      return { status: 'completed' };
  }
}

/** Encodes a whole reply. */
export function encodeReply(reply: Reply, as: Answering): JsonObject {
  const response = createResponse(as, { isSilent: true, emit() {}, emitDelta() {} });
  for (const part of partsOf(reply)) response.write(part);
  return response.object() ?? {};
}
