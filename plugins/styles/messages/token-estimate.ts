/** Estimates the tokens of a messages request, for vendors that do not count. */

import type { Json, JsonObject } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';

const PER_IMAGE = 1_600;
/** Tokens around a message, and of the vendor's preamble about tools. */
const PER_MESSAGE = 4;
const FOR_TOOLS = 300;
/** Bytes of a page of a document; a page is read as text and as an image. */
const BYTES_PER_PAGE = 50_000;
const PER_PAGE = 2_000;

/** The estimated input tokens of a request; at least 1. */
export function estimateTokens({ system, messages, tools }: JsonObject): number {
  const all = Array.isArray(messages) ? (messages as readonly Json[]) : [];
  const tokens = all.reduce(
    (sum: number, message) => sum + PER_MESSAGE + (isObject(message) ? contentTokens(message.content) : 0),
    0,
  );
  const declared = Array.isArray(tools) && tools.length > 0 ? FOR_TOOLS + textTokens(JSON.stringify(tools)) : 0;
  return Math.max(1, Math.ceil(tokens + contentTokens(system) + declared));
}

/** A text, or a list of blocks. */
function contentTokens(content: Json | undefined): number {
  if (typeof content === 'string') return textTokens(content);
  if (!Array.isArray(content)) return 0;
  return (content as readonly Json[]).reduce(
    (sum: number, block) => sum + (isObject(block) ? blockTokens(block) : 0),
    0,
  );
}

function blockTokens(block: JsonObject): number {
  switch (block.type) {
    case 'text':
      return textOf(block.text);
    case 'image':
      return PER_IMAGE;
    case 'document':
      return textOf(block.title) + textOf(block.context) + sourceTokens(block.source);
    case 'thinking':
      return textOf(block.thinking);
    case 'tool_use':
    case 'server_tool_use':
      return textOf(block.name) + textTokens(JSON.stringify(block.input ?? {}));
    case 'tool_result':
      return contentTokens(block.content);
    case 'redacted_thinking':
      return 0;
    default:
      return textTokens(JSON.stringify(block));
  }
}

/** The source of a document: text, blocks, or bytes, whose number decides. */
function sourceTokens(source: Json | undefined): number {
  if (!isObject(source)) return 0;
  if (source.type === 'text') return textOf(source.data);
  if (source.type === 'content') return contentTokens(source.content);
  const bytes = typeof source.data === 'string' ? (source.data.length * 3) / 4 : 0;
  return Math.max(1, Math.ceil(bytes / BYTES_PER_PAGE)) * PER_PAGE;
}

function textOf(value: Json | undefined): number {
  return typeof value === 'string' ? textTokens(value) : 0;
}

/** Characters per token: ASCII letters, other alphabets, and characters that are words. */
const ASCII = 4;
const LETTERS = 2.5;
const IDEOGRAPHS = 1.5;

/** The estimated tokens of a text. */
function textTokens(text: string): number {
  let ascii = 0;
  let letters = 0;
  let ideographs = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) ascii++;
    // From CJK radicals on: kana, hangul, and surrogates, which include emoji.
    else if (unit >= 0x2e80) ideographs++;
    else letters++;
  }
  return ascii / ASCII + letters / LETTERS + ideographs / IDEOGRAPHS;
}
