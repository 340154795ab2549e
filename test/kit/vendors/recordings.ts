/** Real vendor traffic to test with, where it lies beside the checkout, and what its usage must come to. */

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import type { Usage } from '../../../core/contracts/formats/usage.ts';
import { chunk, head, inPieces, lastChunk, type Script, sized } from './script.ts';

/** One recorded exchange: a line of a file. */
export interface Recording {
  readonly id: string;
  /** `api.example.com` */
  readonly host: string;
  readonly path: string;
  readonly request: JsonObject;
  readonly status: number;
  readonly contentType: string;
  /** The answer, where it was one JSON value. */
  readonly response?: Json;
  /** The answer, where it was a stream. */
  readonly sse?: string;
}

/** Where they lie: beside the checkout, or where `TURNPIKE_RECORDINGS` says. */
export const recordingsFolder: string =
  process.env.TURNPIKE_RECORDINGS ?? fileURLToPath(new URL('../../../../shared/recordings', import.meta.url));

/** False on a machine that has only the checkout; tests say so and do without. */
export const recordingsAvailable = existsSync(recordingsFolder);

/** The files whose traffic is in the chat style. */
export const CHAT_RECORDINGS: readonly string[] = [
  'deepseek-chat',
  'groq-chat',
  'mistral-chat',
  'openai-chat',
  'openrouter-chat',
  'other-chat',
];

/** The recordings of these files (`openai-chat`), in order; none where there is no folder. */
export function recordings(names: readonly string[]): readonly Recording[] {
  if (!recordingsAvailable) return [];
  return names.flatMap((name) =>
    readFileSync(`${recordingsFolder}/${name}.jsonl`, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Recording),
  );
}

/** The body as the vendor sends it. */
export function recordedBytes(recording: Recording): Buffer {
  return Buffer.from(recording.sse ?? JSON.stringify(recording.response));
}

/** The vendor of a recording, playing it back. `pieces`: so many bytes in one write. */
export function recorded(recording: Recording, options: { readonly pieces?: number } = {}): Script {
  const body = recordedBytes(recording);
  const { status, contentType, sse } = recording;
  const whole =
    sse === undefined
      ? sized(status, contentType, body)
      : [
          head(status, { 'content-type': contentType, 'transfer-encoding': 'chunked' }),
          ...(body.length > 0 ? [chunk(body)] : []),
          lastChunk(),
        ];
  return options.pieces === undefined ? whole : inPieces(whole, options.pieces);
}

/** The usage a chat vendor told in a recording; undefined where it told none. Written without a look at the gateway's own reading. */
export function recordedUsage(recording: Recording): Usage | undefined {
  const values = recording.sse === undefined ? [recording.response] : eventsOf(recording.sse);
  let told: JsonObject | undefined;
  let tier: Json | undefined;
  for (const value of values) {
    const { usage, x_groq: extra, service_tier } = objectOf(value);
    for (const candidate of [objectOf(extra).usage, usage]) {
      if (typeof candidate !== 'object' || candidate === null) continue;
      told = objectOf(candidate);
      tier = service_tier;
    }
  }
  if (told === undefined) return undefined;
  const uses = usesOf(told, recording);
  return {
    ...usageOf(told),
    ...(typeof tier === 'string' && tier !== '' && { service: { tier } }),
    ...(uses !== undefined && { uses }),
  };
}

/** The searches that the vendor counts; an answer that cites the web had one at least. */
function usesOf(told: JsonObject, { response, sse }: Recording): Usage['uses'] {
  const searches = objectOf(told.server_tool_use).web_search_requests ?? told.num_search_queries;
  const isCited = sse === undefined && JSON.stringify(response).includes('"url_citation"');
  return typeof searches === 'number' ? { web_search: searches } : isCited ? { web_search: 1 } : undefined;
}

/** The JSON values of an event stream, in order. */
export function eventsOf(sse: string): readonly Json[] {
  return sse
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith('data:') && line.slice(5).trim() !== '[DONE]')
    .map((line) => JSON.parse(line.slice(5)) as Json);
}

function usageOf(told: JsonObject): Usage {
  const input = objectOf(told.prompt_tokens_details);
  const output = objectOf(told.completion_tokens_details);
  const prompt = count(told.prompt_tokens);
  const completion = count(told.completion_tokens);
  const reasoning = count(output.reasoning_tokens);
  // Some vendors count reasoning beside the completion; their total gives them away.
  const beside = reasoning > 0 && count(told.total_tokens) === prompt + completion + reasoning;
  const cacheRead = count(
    input.cached_tokens ?? told.prompt_cache_hit_tokens ?? told.cached_tokens ?? told.num_cached_tokens,
  );
  return {
    input: prompt,
    cacheRead,
    // Both are parts of the prompt; one vendor counts the same tokens as read and as written.
    cacheWrite: Math.min(count(input.cache_write_tokens), prompt - cacheRead),
    cacheWriteLong: 0,
    inputAudio: count(input.audio_tokens),
    output: completion + (beside ? reasoning : 0),
    reasoning,
    outputAudio: count(output.audio_tokens),
    estimated: false,
  };
}

function count(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
