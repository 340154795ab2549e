/** Decodes and encodes the usage of messages replies. */

import type { Json, JsonObject, Usage } from '../../../../core/plugin.ts';
import { isCount, isObject, tokensIn, withCountedOutput } from '../../../../core/translation/index.ts';
import { reportedUses, serviceIn } from './hosted.ts';

/**
 * Decodes a usage object; undefined if it has no counts. Vendors of this style report tokens read from and written to a
 * cache separately from the input; in the common form, the input includes both. Compaction of the conversation is
 * billed, too, and reported separately.
 */
export function toUsage(reported: Json | undefined): Usage | undefined {
  if (!isObject(reported)) return undefined;
  if (!isCount(reported.input_tokens) && !isCount(reported.output_tokens)) return undefined;
  const own = countsOf(reported);
  if (!Array.isArray(reported.iterations)) return own;
  return reported.iterations
    .filter(isObject)
    .filter(({ type }) => type === 'compaction')
    .reduce((sum, each) => added(sum, countsOf(each)), own);
}

/** A refusal before any output is not billed, whatever the vendor reports. */
export function billed(usage: Usage | undefined, stopReason: Json | undefined, blocks: number): Usage | undefined {
  return usage !== undefined && stopReason === 'refusal' && blocks === 0 ? { ...usage, unbilled: true } : usage;
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

function countsOf(reported: JsonObject): Usage {
  const split = isObject(reported.cache_creation) ? reported.cache_creation : {};
  const long = tokensIn(split.ephemeral_1h_input_tokens);
  const written = tokensIn(
    Math.max(tokensIn(reported.cache_creation_input_tokens), long + tokensIn(split.ephemeral_5m_input_tokens)),
  );
  const cacheRead = tokensIn(reported.cache_read_input_tokens);
  const output = tokensIn(reported.output_tokens);
  const details = isObject(reported.output_tokens_details) ? reported.output_tokens_details : {};
  const uses = reportedUses(reported);
  const service = serviceIn(reported);
  return {
    input: tokensIn(tokensIn(reported.input_tokens) + cacheRead + written),
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

/** Collects the usage of one stream. */
export function followUsage() {
  let reported: JsonObject = {};
  let isCounted = false;

  function lay(later: Json | undefined): void {
    if (!isObject(later)) return;
    reported = {
      ...reported,
      ...Object.fromEntries(
        Object.entries(later).filter(([name, value]) => (value || !reported[name]) && !(Number(value) < 0)),
      ),
    };
  }

  return {
    /** From the start event; its output count is a placeholder unless the message in it has its end already. */
    begin(first: Json | undefined, isComplete: boolean): void {
      isCounted = isComplete;
      // No uses yet, which does not mean that there will be none.
      if (isObject(first)) lay({ ...first, server_tool_use: null });
    },
    /** Later counts replace earlier ones, because they are totals. Some vendors send zeros for counts that they have sent before. */
    add(later: Json | undefined): void {
      lay(later);
      if (isCounted || !isObject(later) || !isCount(later.output_tokens)) return;
      isCounted = true;
      // Also a zero: the count of the start event is only a placeholder.
      reported = { ...reported, output_tokens: later.output_tokens };
    },
    /** The usage so far; if the vendor has not reported the output, the gateway's count of this many characters. */
    after(textLength: number): Usage | undefined {
      const usage = toUsage(reported);
      return usage === undefined || isCounted || textLength === 0 ? usage : withCountedOutput(usage, textLength);
    },
  };
}

/** Encodes usage. Clients add up the three counts of the input. */
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
