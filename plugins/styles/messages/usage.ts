/** How messages vendors say what was used, and the one form it is brought into; and the way back. */

import type { Json, JsonObject, Usage } from '../../../core/plugin.ts';
import { isObject, tokensIn, withCountedOutput } from '../../../core/translation/index.ts';
import { serviceIn, usesTold } from './hosted.ts';

/**
 * The common form of a usage object; undefined where it counts nothing. Vendors of this style count what a cache held and what
 * was written to it beside the input; in the common form the input holds both. Where the vendor shortened the conversation first,
 * that is billed, too, and counted beside the answer.
 */
export function toUsage(told: Json | undefined): Usage | undefined {
  if (!isObject(told)) return undefined;
  if (typeof told.input_tokens !== 'number' && typeof told.output_tokens !== 'number') return undefined;
  const own = countsOf(told);
  if (!Array.isArray(told.iterations)) return own;
  return told.iterations
    .filter(isObject)
    .filter(({ type }) => type === 'compaction')
    .reduce((sum, each) => added(sum, countsOf(each)), own);
}

function added(sum: Usage, more: Usage): Usage {
  return {
    ...sum,
    input: tokensIn(sum.input + more.input),
    cacheRead: tokensIn(sum.cacheRead + more.cacheRead),
    cacheWrite: tokensIn(sum.cacheWrite + more.cacheWrite),
    cacheWriteLong: tokensIn(sum.cacheWriteLong + more.cacheWriteLong),
    output: tokensIn(sum.output + more.output),
    reasoning: tokensIn(sum.reasoning + more.reasoning),
  };
}

function countsOf(told: JsonObject): Usage {
  const split = isObject(told.cache_creation) ? told.cache_creation : {};
  const long = tokensIn(split.ephemeral_1h_input_tokens);
  const written = tokensIn(
    Math.max(tokensIn(told.cache_creation_input_tokens), long + tokensIn(split.ephemeral_5m_input_tokens)),
  );
  const cacheRead = tokensIn(told.cache_read_input_tokens);
  const output = tokensIn(told.output_tokens);
  const details = isObject(told.output_tokens_details) ? told.output_tokens_details : {};
  const uses = usesTold(told);
  const service = serviceIn(told);
  return {
    input: tokensIn(tokensIn(told.input_tokens) + cacheRead + written),
    cacheRead,
    cacheWrite: written - long,
    cacheWriteLong: long,
    inputAudio: 0,
    output,
    reasoning: Math.min(tokensIn(details.thinking_tokens), output),
    outputAudio: 0,
    ...(uses !== undefined && { uses }),
    ...(service !== undefined && { service }),
    estimated: false,
  };
}

/** The usage of one stream, as its vendor tells it bit by bit. */
export interface StreamUsage {
  /** With the message, before anything is said: its count of the output only holds the place. */
  begin(told: Json | undefined): void;
  /** What is said later counts, for it is the sum and not an addition. Some write zeros for what they have said before. */
  add(told: Json | undefined): void;
  /** So far; the output of so many characters is our own count where the vendor has not told one. */
  after(textLength: number): Usage | undefined;
}

/** Follows one stream. */
export function followUsage(): StreamUsage {
  let told: JsonObject = {};
  let isCounted = false;

  function lay(later: Json | undefined): void {
    if (!isObject(later)) return;
    told = { ...told, ...Object.fromEntries(Object.entries(later).filter(([name, value]) => value || !told[name])) };
  }

  return {
    begin(first) {
      // Nothing has been run yet, which says nothing of what will be.
      if (isObject(first)) lay({ ...first, server_tool_use: null });
    },
    add(later) {
      lay(later);
      isCounted ||= isObject(later) && tokensIn(later.output_tokens) > 0;
    },
    after(textLength) {
      const usage = toUsage(told);
      return usage === undefined || isCounted || textLength === 0 ? usage : withCountedOutput(usage, textLength);
    },
  };
}

/** As this style tells it. Clients add the three counts of the input up. */
export function usageBody(usage: Usage | undefined, serviceTier?: string): JsonObject {
  const { input, cacheRead, cacheWrite, cacheWriteLong, output, reasoning } = usage ?? NOTHING;
  return {
    input_tokens: Math.max(0, input - cacheRead - cacheWrite - cacheWriteLong),
    cache_creation_input_tokens: cacheWrite + cacheWriteLong,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: cacheWriteLong },
    output_tokens: output,
    ...(reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } }),
    ...(serviceTier !== undefined && { service_tier: serviceTier }),
  };
}

const NOTHING = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, output: 0, reasoning: 0 };
