/** The response object around an output. It repeats the client's request, because some clients validate its members. */
import type { Answering, Json, JsonObject } from '../../../core/plugin.ts';
import { isObject, member } from '../../../core/translation/index.ts';

/** The members that change during a response. */
export interface Progress {
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
export function responseObject(as: Answering, progress: Progress): JsonObject {
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
