/** The response object around an output: the client's request is repeated in it, as clients that check its shape demand. */
import type { Answering, Json, JsonObject } from '../../../core/plugin.ts';
import { isObject, member } from '../../../core/translation/index.ts';

/** What changes while a response is made. */
export interface Progress {
  readonly status: 'in_progress' | 'completed' | 'incomplete';
  readonly output: readonly Json[];
  /** Null until it has ended. */
  readonly usage: JsonObject | null;
  /** When it was whole; undefined before, and where it never is. */
  readonly completedMs?: number;
  readonly serviceTier: string | undefined;
  readonly incompleteReason?: string;
}

/** Every member that some client requires; null, or what it is when nothing is asked, where the request does not say. */
export function responseObject(as: Answering, progress: Progress): JsonObject {
  const { request } = as;
  const asked = (name: string): Json | undefined => member(request, name);
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
    instructions: asked('instructions') ?? null,
    max_output_tokens: asked('max_output_tokens') ?? null,
    max_tool_calls: asked('max_tool_calls') ?? null,
    model: as.model,
    output,
    parallel_tool_calls: asked('parallel_tool_calls') ?? true,
    previous_response_id: asked('previous_response_id') ?? null,
    prompt_cache_key: asked('prompt_cache_key') ?? null,
    reasoning: { effort: null, summary: null, ...objectOf(asked('reasoning')) },
    safety_identifier: asked('safety_identifier') ?? null,
    service_tier: serviceTier ?? asked('service_tier') ?? 'default',
    store: asked('store') ?? true,
    temperature: asked('temperature') ?? 1,
    presence_penalty: asked('presence_penalty') ?? 0,
    frequency_penalty: asked('frequency_penalty') ?? 0,
    text: { format: { type: 'text' }, verbosity: 'medium', ...objectOf(asked('text')) },
    tool_choice: asked('tool_choice') ?? 'auto',
    tools: toolsOf(asked('tools')),
    top_logprobs: asked('top_logprobs') ?? 0,
    top_p: asked('top_p') ?? 1,
    truncation: asked('truncation') ?? 'disabled',
    usage,
    user: asked('user') ?? null,
    metadata: asked('metadata') ?? {},
  };
}

/** Members that are null say nothing. */
function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null)) : {};
}

/** Functions have all their members, though they may be null. */
function toolsOf(tools: Json | undefined): readonly Json[] {
  if (!Array.isArray(tools)) return [];
  return (tools as readonly Json[]).map((tool) =>
    member(tool, 'type') === 'function'
      ? { description: null, parameters: null, strict: null, ...objectOf(tool) }
      : tool,
  );
}
