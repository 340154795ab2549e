/** Responses requests: validates what the gateway needs; the vendor validates the rest. */

import type { Origin } from '../../../core/contracts/formats/style.ts';
import { remembered } from '../../../core/contracts/formats/uses.ts';
import type { CallFacts, Json, JsonBody, Patch } from '../../../core/plugin.ts';
import { checkKinds } from '../../../core/sdk.ts';
import {
  answerLimits,
  CARRIER,
  callId,
  effortAt,
  exactJson,
  exactMember,
  hasOddCallIds,
  isMadeBy,
  isObject,
  member,
  SEALED,
  unpackOpaque,
} from '../../../core/translation/index.ts';
import { checkNumber, modelOf, serviceOf, wrong } from '../request-fields.ts';
import { summaryMessage } from './compaction.ts';
import { allowedUses, spareUses } from './fields/hosted.ts';

/** Types of the members that are not numbers; the vendor validates their values, and whether there is any input. */
const KINDS = {
  input: ['string', 'array'],
  instructions: ['string'],
  previous_response_id: ['string'],
  tools: ['array'],
  tool_choice: ['string', 'object'],
  reasoning: ['object'],
  truncation: ['string'],
} as const;

/** Reads the body. Refuses with 400 `invalid_request_error` and the field's name; `null` counts as omitted. */
export function readRequest(body: JsonBody): CallFacts {
  const model = modelOf(body.get('model'));
  checkKinds(body, KINDS);
  checkNumber(body.get('temperature'), 'temperature', 2);
  checkNumber(body.get('top_p'), 'top_p', 1);
  check(body, 'max_output_tokens', isCount, 'must be a whole number above 0');
  check(body, 'stream', (value) => typeof value === 'boolean', 'must be true or false');
  const uses = remembered(() => allowedUses(body, model));
  return {
    model,
    stream: body.get('stream') === true,
    // Streams of this style always report usage.
    asksUsage: true,
    bounds: {
      inputBytes: body.textBytes,
      media: body.media,
      outputTokens: (body.get('max_output_tokens') as number | null | undefined) ?? undefined,
      choices: 1,
      // Read only if an answer costs more than was reserved.
      open() {
        const tools = body.get('tools');
        const hosted =
          uses() !== undefined ||
          (Array.isArray(tools) && tools.some((tool) => !OWN_TOOLS.includes(member(tool, 'type'))));
        const isKept = ['conversation', 'prompt'].some((name) => body.has(name)) || body.holds('"item_reference"');
        return hosted || isKept;
      },
      uses: () => uses(),
      spare: remembered(() => spareUses(body, model)),
      service: serviceOf(body),
    },
  };
}

/** Tools that the client runs; the vendor runs all others. */
const OWN_TOOLS: readonly (Json | undefined)[] = ['function', 'custom', 'namespace'];

/** Sets the vendor's model name, and unpacks sealed reasoning. */
export function patchRequest(body: JsonBody, to: Patch): Readonly<Record<string, string | undefined>> {
  const changes: Record<string, string> = {};
  if (body.get('model') !== to.model) {
    changes.model = JSON.stringify(to.model);
    const reasoning = body.get('reasoning');
    const fitting = isObject(reasoning) ? effortAt(reasoning.effort, to.quirks.reasoning) : undefined;
    if (isObject(reasoning) && fitting !== reasoning.effort) {
      changes.reasoning = JSON.stringify({ ...reasoning, effort: fitting });
      to.warnings.change('reasoning_effort');
    }
  }
  Object.assign(changes, answerLimits(body, ['max_output_tokens'], to));
  const isSealed = body.holds(SEALED);
  // A call that the vendor keeps has its own id.
  const isKept = ['previous_response_id', 'conversation'].some((name) => (body.get(name) ?? null) !== null);
  const hasOddIds = !isKept && hasOddCallIds(body, 'call_id', to.quirks.tools);
  if (isSealed || hasOddIds) {
    const input = exactMember(body, 'input');
    if (Array.isArray(input)) {
      const items = isSealed ? input.flatMap((item) => unsealed(item, to)) : input;
      changes.input = exactJson(hasOddIds ? items.map((item: Json) => withCallId(item, to)) : items);
    }
  }
  return changes;
}

/** Calls that another vendor made may have ids that this one refuses. */
function withCallId(item: Json, { quirks: { tools }, warnings }: Patch): Json {
  const id = member(item, 'call_id');
  if (!isObject(item) || typeof id !== 'string' || callId(id, tools) === id) return item;
  warnings.change('messages.tool_calls.id', 'hint');
  return { ...item, call_id: callId(id, tools) };
}

/**
 * An item as its vendor made it. Reasoning that another vendor encrypted, or that is not encrypted, is left out: this
 * vendor would look up its id, which is ours.
 */
function unsealed(item: Json, by: Origin): readonly Json[] {
  const summary = summaryMessage(item);
  if (summary !== undefined) return [summary];
  const sealed = member(item, 'encrypted_content');
  if (!isObject(item) || item.type !== 'reasoning' || typeof sealed !== 'string' || !sealed.startsWith(CARRIER)) {
    return [item];
  }
  const opaque = unpackOpaque(sealed);
  if (opaque?.style !== 'responses' || !isMadeBy(opaque, by)) return [];
  return [{ ...item, ...(opaque.id !== undefined && { id: opaque.id }), encrypted_content: opaque.value }];
}

function check(body: JsonBody, name: string, is: (value: Json) => boolean, should: string): void {
  const value = body.get(name) ?? undefined;
  if (value !== undefined && !is(value)) wrong(name, should);
}

function isCount(value: Json): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}
