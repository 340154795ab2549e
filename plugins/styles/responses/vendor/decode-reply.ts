/** Decodes the output of a whole response as blocks. */

import type { Json, JsonObject, Origin, Warnings } from '../../../../core/plugin.ts';
import type {
  Block,
  Citation,
  Finish,
  Opaque,
  Reply,
  TextBlock,
  ToolCallBlock,
} from '../../../../core/translation/index.ts';
import {
  given,
  isObject,
  jsonText,
  member,
  objectsIn,
  readDataUrl,
  textOf,
} from '../../../../core/translation/index.ts';
import { failureOf } from '../errors.ts';
import { omitFromItem, omitFromResponse } from '../fields/members.ts';
import { usageIn } from '../fields/usage.ts';

/** Decodes a whole reply; undefined if it is not one. */
export function decodeReply(body: JsonObject, from: Origin, warnings: Warnings): Reply | undefined {
  if (!Array.isArray(body.output) || isUnfinished(body) || failureOf(body) !== undefined) return undefined;
  const items = objectsIn(body, 'output');
  const blocks = items.flatMap((item) => blocksOf(item, from));
  omitFromResponse(body, warnings);
  for (const item of items) omitFromItem(item, warnings);
  const serviceTier = textOf(member(body, 'service_tier'));
  return {
    id: textOf(member(body, 'id')),
    model: textOf(member(body, 'model')) || from.model,
    blocks,
    finish: finishOf(
      body,
      blocks.map(({ type }) => type),
    ),
    usage: usageIn(body),
    ...(serviceTier !== '' && { serviceTier }),
  };
}

/** A background response, which clients of other styles cannot poll. */
function isUnfinished(response: Json | undefined): boolean {
  const status = member(response, 'status');
  return status === 'queued' || status === 'in_progress';
}

/** Decodes one item. */
export function blocksOf(item: JsonObject, from: Origin): readonly Block[] {
  switch (item.type) {
    case 'message':
      return objectsIn(item, 'content').map(contentBlock);
    case 'reasoning': {
      const text = thoughtText(item);
      const opaque = opaqueOf(item, from);
      return text === '' && opaque === undefined ? [] : [{ type: 'thinking', text, ...(opaque && { opaque }) }];
    }
    case 'function_call':
    case 'custom_tool_call': {
      const call = callOf(item);
      return call === undefined ? [] : [{ ...call, input: inputOf(item) }];
    }
    case 'image_generation_call': {
      const format = textOf(member(item, 'output_format')) || 'png';
      const media = readDataUrl(textOf(member(item, 'result')), `image/${format}`);
      return [media === undefined ? foreign(item) : { type: 'image', source: { kind: 'base64', ...media } }];
    }
    default:
      return [foreign(item)];
  }
}

function foreign(item: JsonObject): Block {
  return { type: 'foreign', style: 'responses', what: textOf(member(item, 'type')) || 'item', raw: item };
}

/** Decodes one part of a message. */
export function contentBlock(part: JsonObject): Block {
  if (part.type === 'refusal') return { type: 'refusal', text: textOf(member(part, 'refusal')) };
  if (part.type !== 'output_text' && part.type !== 'text') return foreign(part);
  const citations = citationsOf(part);
  const logprobs = logprobsIn(part);
  return given<TextBlock>({
    type: 'text',
    text: textOf(member(part, 'text')),
    citations: citations.length === 0 ? undefined : citations,
    logprobs,
  });
}

/** Decodes the citations of a text. */
export function citationsOf(part: Json | undefined): readonly Citation[] {
  return objectsIn(part, 'annotations').map(citationOf);
}

/** Decodes one annotation. File citations have no URL; the file's name is the title. */
export function citationOf(annotation: JsonObject): Citation {
  const { url, start_index: start, end_index: end } = annotation;
  return given<Citation>({
    url: typeof url === 'string' ? url : undefined,
    title: textOf(member(annotation, 'title')) || textOf(member(annotation, 'filename')) || undefined,
    start: typeof start === 'number' ? start : undefined,
    end: typeof end === 'number' ? end : undefined,
    style: 'responses',
    raw: annotation,
  });
}

/** Log probabilities of a part or a delta; undefined if there are none. */
export function logprobsIn(value: JsonObject): readonly Json[] | undefined {
  const entries = objectsIn(value, 'logprobs');
  return entries.length === 0 ? undefined : entries;
}

/** Decodes summaries and, if a vendor sends it, the reasoning text. */
export function thoughtText(item: JsonObject): string {
  const texts = [...objectsIn(item, 'summary'), ...objectsIn(item, 'content')].map((part) =>
    textOf(member(part, 'text')),
  );
  return texts.filter((text) => text !== '').join('\n\n');
}

/** The encrypted reasoning of an item. */
export function opaqueOf(item: JsonObject, { channel }: Origin): Opaque | undefined {
  const value = textOf(member(item, 'encrypted_content'));
  if (value === '') return undefined;
  return given<Opaque>({
    style: 'responses',
    channel,
    kind: 'encrypted',
    value,
    id: textOf(member(item, 'id')) || undefined,
  });
}

/** A call without its input; undefined if it has no name. Some servers send the item's id only. */
export function callOf(item: JsonObject): ToolCallBlock | undefined {
  const name = textOf(member(item, 'name'));
  const id = textOf(member(item, 'call_id')) || textOf(member(item, 'id'));
  if (name === '' || id === '') return undefined;
  return given<ToolCallBlock>({
    type: 'toolCall',
    id,
    name,
    namespace: textOf(member(item, 'namespace')) || undefined,
    kind: item.type === 'custom_tool_call' ? 'custom' : 'function',
    input: '',
  });
}

/** The arguments of a call, or its free text. */
export function inputOf(item: JsonObject): string {
  const input = item.type === 'custom_tool_call' ? item.input : item.arguments;
  return typeof input === 'string' ? input : isObject(input) ? jsonText(input) : '';
}

/** Why a response ended. `types`: the types of its blocks. */
export function finishOf(response: Json | undefined, types: readonly Block['type'][]): Finish {
  if (member(response, 'status') === 'incomplete') {
    const reason = textOf(member(member(response, 'incomplete_details'), 'reason'));
    if (reason === 'content_filter') return { reason };
    if (reason === 'max_output_tokens' || reason === '') return { reason: 'length' };
  }
  if (types.includes('toolCall')) return { reason: 'tool_calls' };
  return { reason: types.includes('refusal') ? 'refusal' : 'stop' };
}
