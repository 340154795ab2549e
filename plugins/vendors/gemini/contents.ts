/** Encodes turns: system instructions, then `user` and `model` turns, each a list of parts. */

import type { JsonObject, Target, Warnings } from '../../../core/plugin.ts';
import type {
  Block,
  Conversation,
  FileBlock,
  Opaque,
  ToolCallBlock,
  ToolResultBlock,
  Turn,
} from '../../../core/translation/index.ts';
import { argumentsOf, isFaithful, isObject, parsed, textOf } from '../../../core/translation/index.ts';
import { mediaPart } from './media.ts';

/** The turns of a request. */
export interface ContentFields {
  readonly systemInstruction?: JsonObject;
  readonly contents: readonly JsonObject[];
}

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: JsonObject[];
}

/** Encodes the turns of a conversation. */
export function encodeContents({ turns }: Conversation, to: Target, warnings: Warnings): ContentFields {
  const names = callNames(turns);
  const places = new Map([...names.keys()].map((id, place) => [id, place]));
  const spoken = turns.findIndex(({ role }) => role === 'user' || role === 'assistant');
  const leading = spoken === -1 ? turns : turns.slice(0, spoken);
  const instructions = leading.flatMap((turn) => encodeTurn(turn, names, to, warnings));
  const contents: Content[] = [];
  for (const turn of turns.slice(leading.length)) {
    const role = turn.role === 'assistant' ? 'model' : 'user';
    const parts = encodeTurn(turn, names, to, warnings);
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else if (parts.length > 0) contents.push({ role, parts });
  }
  return {
    ...(instructions.length > 0 && { systemInstruction: { parts: instructions } }),
    // Other content of the user follows the results of the preceding calls.
    contents: contents.map((content) => withResultsFirst(content, places)),
  };
}

/** Results are in the order of their calls, because some models match them by it. */
function withResultsFirst(content: Content, places: ReadonlyMap<string, number>): JsonObject {
  const { role, parts } = content;
  const placeOf = ({ functionResponse: result }: JsonObject): number =>
    places.get(textOf((result as JsonObject).id)) ?? places.size;
  return {
    role,
    parts: parts.some(isResult)
      ? [
          ...parts.filter(isResult).sort((a, b) => placeOf(a) - placeOf(b)),
          ...parts.filter(({ functionResponse }) => functionResponse === undefined),
        ]
      : parts,
  };
}

function isResult(part: JsonObject): boolean {
  return part.functionResponse !== undefined;
}

/** A result has the name of its function. */
function callNames(turns: readonly Turn[]): ReadonlyMap<string, string> {
  if (!turns.some(({ blocks }) => blocks.some(({ type }) => type === 'toolCall'))) return NO_NAMES;
  const calls = turns.flatMap(({ blocks }) => blocks.filter((block) => block.type === 'toolCall'));
  return new Map(calls.map(({ id, name }) => [id, name]));
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

function encodeTurn(turn: Turn, names: ReadonlyMap<string, string>, to: Target, warnings: Warnings): JsonObject[] {
  if (turn.name !== undefined) warnings.drop('messages.name', 'hint');
  const parts: JsonObject[] = [];
  for (const block of turn.blocks) encodeBlock(block, names, parts, to, warnings);
  const { echo, echo_filler: filler } = to.quirks.reasoning;
  const call = parts.findIndex((part) => part.functionCall !== undefined);
  // A call that another vendor's model made has no signature; these models refuse it without one.
  if (echo !== 'never' && echo !== 'none' && call !== -1 && parts[call]!.thoughtSignature === undefined) {
    parts[call] = { ...parts[call], thoughtSignature: filler };
  }
  return parts;
}

function encodeBlock(
  block: Block,
  names: ReadonlyMap<string, string>,
  parts: JsonObject[],
  to: Target,
  warnings: Warnings,
): void {
  if ('cache' in block && block.cache !== undefined) warnings.drop('messages.cache_control', 'hint');
  switch (block.type) {
    case 'text':
      if (block.citations !== undefined && block.citations.length > 0) warnings.drop('messages.annotations', 'hint');
      addText(block.text, parts);
      break;
    case 'refusal':
      addText(block.text, parts);
      break;
    case 'thinking':
      addThought(block.text, block.opaque, parts, warnings);
      break;
    case 'toolCall':
      parts.push(callPart(block));
      break;
    case 'toolResult':
      parts.push(...resultParts(block, names, to, warnings));
      break;
    case 'foreign':
      if (block.style === 'gemini' && isObject(block.raw)) parts.push(block.raw);
      else warnings.drop(`messages.${block.what}`);
      break;
    default: {
      if (block.type === 'file') addText(headOf(block, warnings).join('\n'), parts);
      const part = mediaPart(block, warnings);
      if (part !== undefined) parts.push(part);
    }
  }
}

/** Adds a text; if its signature arrived first, in an empty text part, that part gets the text. */
function addText(text: string, parts: JsonObject[]): void {
  if (text === '') return;
  const last = parts.at(-1);
  if (last?.text === '' && last.thoughtSignature !== undefined) parts[parts.length - 1] = { ...last, text };
  else parts.push({ text });
}

/**
 * Reasoning is sent back only with its signature. The signature of a text is in a block after it, or before it if the
 * client's style has a single place for reasoning.
 */
function addThought(text: string, opaque: Opaque | undefined, parts: JsonObject[], warnings: Warnings): void {
  const last = parts.at(-1);
  if (opaque?.style !== 'gemini') warnings.drop('messages.reasoning', 'hint');
  else if (text !== '') parts.push({ text, thought: true, thoughtSignature: opaque.value });
  else if (last !== undefined && last.thoughtSignature === undefined && last.functionCall === undefined) {
    parts[parts.length - 1] = { ...last, thoughtSignature: opaque.value };
  } else parts.push({ text: '', thoughtSignature: opaque.value });
}

function callPart({ id, name, kind, input, opaque }: ToolCallBlock): JsonObject {
  const args = kind === 'custom' ? { input } : argumentsOf(input);
  return {
    functionCall: { id, name, args },
    ...(opaque?.style === 'gemini' && { thoughtSignature: opaque.value }),
  };
}

function resultParts(
  { id, content, isError }: ToolResultBlock,
  names: ReadonlyMap<string, string>,
  to: Target,
  warnings: Warnings,
): readonly JsonObject[] {
  const texts: string[] = [];
  const media: JsonObject[] = [];
  for (const block of content) {
    if ('cache' in block && block.cache !== undefined) warnings.drop('messages.cache_control', 'hint');
    if (block.type === 'text' || block.type === 'refusal') texts.push(block.text);
    else if (block.type === 'image' || block.type === 'audio' || block.type === 'file') {
      if (block.type === 'file') texts.push(...headOf(block, warnings));
      const part = mediaPart(block, warnings);
      if (typeof part?.text === 'string') texts.push(part.text);
      else if (part !== undefined) media.push(part);
    } else {
      warnings.drop(`messages.${block.type === 'foreign' ? block.what : block.type}`);
    }
  }
  const text = texts.join('\n');
  const name = names.get(id) ?? id;
  const inside = media.length > 0 && to.quirks.content.tool_result_images === 'native';
  const response = isError === true ? { error: text } : responseOf(text);
  return [{ functionResponse: { id, name, response, ...(inside && { parts: media }) } }, ...(inside ? [] : media)];
}

/**
 * A result is an object here, too. One that parsing would change remains a text, and so does one with names that the vendor would follow: it
 * looks up references (`$ref`) in results, and refuses the conversation.
 */
function responseOf(text: string): JsonObject {
  const value = /^\s*[[{]/.test(text) ? parsed(text) : undefined;
  if (value === undefined || JSON.stringify(value).includes('"$') || !isFaithful(text, value)) return { result: text };
  return isObject(value) ? value : { result: value };
}

/** The metadata of a document, as a text before it. */
function headOf({ title, context, citable }: FileBlock, warnings: Warnings): readonly string[] {
  if (citable === true) warnings.drop('messages.citations');
  return [title, context].flatMap((line) => line || []);
}
