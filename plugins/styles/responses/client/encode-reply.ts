/** Encodes replies, streamed or not, with the same code, so that the two cannot differ. */
import type { Answering, Json, JsonObject, Usage } from '../../../../core/plugin.ts';
import {
  type Block,
  type Finish,
  isObject,
  member,
  type Part,
  partsOf,
  type Reply,
} from '../../../../core/translation/index.ts';
import { asksSummary, createSummary } from '../compaction.ts';
import { usageObject } from '../fields/usage.ts';
import { createOutput, type EventSink, type Writing } from './encode-output-items.ts';

const REFUSAL = 'The model declined to answer.';

/** Starts a response; `events` gets the events of the stream. */
export function createResponse(as: Answering, events: EventSink) {
  const output = asksSummary(as.request) ? createSummary(as, events) : createOutput(as, events);
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
    if (explanation !== undefined && !isBare) as.warnings.omit('explanation');
    if (stopSequence !== undefined) as.warnings.omit('stop_sequence');
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

/** The members that change during a response. */
interface Progress {
  readonly status: 'in_progress' | 'completed' | 'incomplete';
  readonly output: readonly Json[];
  /** Null until it has ended. */
  readonly usage: JsonObject | null;
  /** Completion time; undefined before, and if it is never complete. */
  readonly completedMs?: number;
  readonly serviceTier: string | undefined;
  readonly incompleteReason?: string;
}

/** All members that some client requires; null, or the API's default, if the request does not set them. */
function responseObject(as: Answering, progress: Progress): JsonObject {
  const { request } = as;
  const requested = (name: string): Json | undefined => member(request, name);
  const { status, output, usage, completedMs, serviceTier, incompleteReason } = progress;
  return {
    id: `resp_${as.id}`,
    object: 'response',
    created_at: Math.floor(as.createdMs / 1_000),
    status,
    background: false,
    completed_at: completedMs === undefined ? null : Math.floor(completedMs / 1_000),
    error: null,
    incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
    instructions: requested('instructions') ?? null,
    max_output_tokens: requested('max_output_tokens') ?? null,
    max_tool_calls: requested('max_tool_calls') ?? null,
    model: as.model,
    output,
    parallel_tool_calls: requested('parallel_tool_calls') ?? true,
    previous_response_id: requested('previous_response_id') ?? null,
    prompt_cache_key: requested('prompt_cache_key') ?? null,
    reasoning: { effort: null, summary: null, ...objectOf(requested('reasoning')) },
    safety_identifier: requested('safety_identifier') ?? null,
    service_tier: serviceTier ?? requested('service_tier') ?? 'default',
    store: requested('store') ?? true,
    temperature: requested('temperature') ?? 1,
    presence_penalty: requested('presence_penalty') ?? 0,
    frequency_penalty: requested('frequency_penalty') ?? 0,
    text: { format: { type: 'text' }, verbosity: 'medium', ...objectOf(requested('text')) },
    tool_choice: requested('tool_choice') ?? 'auto',
    tools: toolsOf(requested('tools')),
    top_logprobs: requested('top_logprobs') ?? 0,
    top_p: requested('top_p') ?? 1,
    truncation: requested('truncation') ?? 'disabled',
    usage,
    user: requested('user') ?? null,
    metadata: requested('metadata') ?? {},
  };
}

/** Null members count as omitted. */
function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null)) : {};
}

/** Functions have all their members, which may be null. */
function toolsOf(tools: Json | undefined): readonly Json[] {
  if (!Array.isArray(tools)) return [];
  return (tools as readonly Json[]).map((tool) =>
    member(tool, 'type') === 'function'
      ? { description: null, parameters: null, strict: null, ...objectOf(tool) }
      : tool,
  );
}
