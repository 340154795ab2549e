/** Requests of this style: what is asked, checked as far as the gateway must understand it; everything else is the vendor's business. */

import { invalidField } from '../../../core/contracts/errors.ts';
import { remembered, servedAs } from '../../../core/contracts/uses.ts';
import type { CallFacts, Json, JsonBody, Patch } from '../../../core/plugin.ts';
import { checkKinds } from '../../../core/sdk.ts';
import { answerLimits, CARRIER, isObject, member, unpackOpaque } from '../../../core/translation/index.ts';
import { usesAsked } from './hosted.ts';

/** What is no number has to be of these kinds; its values are the vendor's business, and whether there is a question at all. */
const KINDS = {
  input: ['string', 'array'],
  instructions: ['string'],
  previous_response_id: ['string'],
  tools: ['array'],
  tool_choice: ['string', 'object'],
  reasoning: ['object'],
  truncation: ['string'],
} as const;

/** What the body asks for. Refuses with 400 `invalid_request_error` and the field's name; `null` counts as left out. */
export function readRequest(body: JsonBody): CallFacts {
  const model = body.get('model');
  if (typeof model !== 'string' || model === '' || model.length > 256) {
    wrong('model', 'must be the name of a model, a string of 1 to 256 characters');
  }
  checkKinds(body, KINDS);
  check(body, 'temperature', (value) => isWithin(value, 2), 'must be a number from 0 to 2');
  check(body, 'top_p', (value) => isWithin(value, 1), 'must be a number from 0 to 1');
  check(body, 'max_output_tokens', isCount, 'must be a whole number above 0');
  check(body, 'stream', (value) => typeof value === 'boolean', 'must be true or false');
  const uses = remembered(() => usesAsked(body));
  return {
    model,
    stream: body.get('stream') === true,
    // Streams of this style always tell it.
    asksUsage: true,
    bounds: {
      inputBytes: body.textBytes,
      media: body.media,
      outputTokens: (body.get('max_output_tokens') as number | null | undefined) ?? undefined,
      choices: 1,
      // Asked for only where an answer costs more than was thought.
      open() {
        const tools = body.get('tools');
        const hosted = Array.isArray(tools) && tools.some((tool) => !OWN_TOOLS.includes(member(tool, 'type')));
        const elsewhere =
          ['conversation', 'prompt'].some((name) => body.has(name)) || body.bytes.includes('item_reference');
        return hosted || elsewhere;
      },
      uses() {
        return uses();
      },
      service: servedAs({ tier: body.get('service_tier') }),
    },
  };
}

/** Tools that the client runs; the vendor runs all others. */
const OWN_TOOLS: readonly (Json | undefined)[] = ['function', 'custom', 'namespace'];

/** The vendor's model name, and the thoughts as the vendor sealed them. */
export function patchRequest(body: JsonBody, to: Patch): Readonly<Record<string, string | undefined>> {
  const changes: Record<string, string> = {};
  if (body.get('model') !== to.model) changes.model = JSON.stringify(to.model);
  Object.assign(changes, answerLimits(body, ['max_output_tokens'], to));
  if (body.bytes.includes(CARRIER)) {
    const input = body.get('input');
    if (Array.isArray(input)) changes.input = JSON.stringify(input.flatMap((item) => unsealed(item, to.channel)));
  }
  return changes;
}

/**
 * An item as its vendor made it. A thought that another vendor sealed is left out, and so is one that nobody did: by its id,
 * which is ours, this vendor would look for it in vain.
 */
function unsealed(item: Json, channel: string): readonly Json[] {
  const sealed = member(item, 'encrypted_content');
  if (!isObject(item) || item.type !== 'reasoning' || typeof sealed !== 'string' || !sealed.startsWith(CARRIER)) {
    return [item];
  }
  const opaque = unpackOpaque(sealed);
  if (opaque?.style !== 'responses' || (opaque.channel ?? channel) !== channel) return [];
  return [{ ...item, ...(opaque.id !== undefined && { id: opaque.id }), encrypted_content: opaque.value }];
}

function check(body: JsonBody, name: string, is: (value: Json) => boolean, should: string): void {
  const value = body.get(name) ?? undefined;
  if (value !== undefined && !is(value)) wrong(name, should);
}

function isWithin(value: Json, highest: number): boolean {
  return typeof value === 'number' && value >= 0 && value <= highest;
}

function isCount(value: Json): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}

function wrong(param: string, should: string): never {
  throw invalidField(param, should);
}
