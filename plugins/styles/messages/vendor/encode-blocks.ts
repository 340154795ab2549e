/** Encodes blocks for a vendor of this style. */

import type { Json, JsonObject, Warnings } from '../../../../core/plugin.ts';
import type {
  AudioBlock,
  Block,
  FileBlock,
  ImageBlock,
  Quirks,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  Turn,
} from '../../../../core/translation/index.ts';
import { argumentsOf } from '../../../../core/translation/index.ts';
import type { CacheMarks } from '../fields/cache-marks.ts';

/** The context of the encoder. */
export interface BlockContext {
  readonly role: Turn['role'];
  readonly quirks: Quirks;
  readonly marks: CacheMarks;
  readonly warnings: Warnings;
}

/** Encodes the blocks; empty if a block has no content, or none that this style supports. */
export function encodeBlock(block: Block, context: BlockContext): readonly JsonObject[] {
  const { marks, warnings } = context;
  switch (block.type) {
    case 'text':
      return encodeText(block, context);
    case 'refusal':
      return encodeText({ type: 'text', text: block.text }, context);
    case 'thinking':
      return encodeThought(block, warnings);
    case 'image':
      return fromUser(block, context, encodeImage);
    case 'file':
      return fromUser(block, context, encodeFile);
    case 'audio':
      return encodeAudio(block, context);
    case 'toolCall': {
      const { id, name, kind, input } = block;
      return [{ type: 'tool_use', id, name, input: toInput(kind, input) }];
    }
    case 'toolResult':
      return [{ ...encodeResult(block, context), ...marks.on(block) }];
    case 'foreign':
      if (block.style === 'messages') return [block.raw as JsonObject];
      warnings.drop(`messages.${block.what}`);
      return [];
  }
}

/** All vendors refuse empty texts. */
function encodeText(block: TextBlock, { marks, warnings }: BlockContext): readonly JsonObject[] {
  const { text, citations } = block;
  if (text.trim() === '') return [];
  if (citations === undefined) return [{ type: 'text', text, ...marks.on(block) }];
  const own = citations.filter(({ style }) => style === 'messages').map(({ raw }): Json => raw);
  if (own.length < citations.length) warnings.drop('messages.citations', 'hint');
  return [{ type: 'text', text, ...(own.length > 0 && { citations: own }), ...marks.on(block) }];
}

/** Reasoning without its vendor's signature would be refused. */
function encodeThought({ text, opaque }: ThinkingBlock, warnings: Warnings): readonly JsonObject[] {
  if (opaque?.style === 'messages') {
    return opaque.kind === 'redacted'
      ? [{ type: 'redacted_thinking', data: opaque.value }]
      : [{ type: 'thinking', thinking: text, signature: opaque.value }];
  }
  warnings.drop('messages.reasoning', 'hint');
  return [];
}

/** Only user messages can have images and documents. */
function fromUser<B extends ImageBlock | FileBlock>(
  block: B,
  context: BlockContext,
  encode: (block: B, context: BlockContext) => JsonObject,
): readonly JsonObject[] {
  if (context.role === 'user') return [{ ...encode(block, context), ...context.marks.on(block) }];
  context.warnings.drop(`messages.${block.type}`);
  return [];
}

function encodeImage({ source, detail }: ImageBlock, { quirks, warnings }: BlockContext): JsonObject {
  if (detail !== undefined) warnings.drop('image.detail', 'hint');
  switch (source.kind) {
    case 'base64': {
      const { mediaType, data } = source;
      const { types } = quirks.image;
      if (types !== undefined && !types.includes(mediaType)) {
        return warnings.refuse('messages.image', `has the type ${mediaType}; this model accepts ${types.join(', ')}.`);
      }
      return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
    }
    case 'url':
      if (quirks.image.url === 'refuse')
        return warnings.refuse('messages.image', 'must be base64 data for this model.');
      return { type: 'image', source: { type: 'url', url: source.url } };
    case 'id':
      return warnings.refuse(
        'messages.image',
        'refers to an uploaded file that the vendor of this model does not have.',
      );
    case 'text':
      return warnings.refuse('messages.image', 'must be an image, not text.');
  }
}

function encodeFile(block: FileBlock, context: BlockContext): JsonObject {
  const { source, title = block.name, context: about, citable } = block;
  const { quirks, warnings } = context;
  if (source.kind === 'base64' && source.mediaType.startsWith('image/')) {
    return encodeImage({ type: 'image', source }, context);
  }
  return {
    type: 'document',
    source: documentSource(block, quirks, warnings),
    ...(title !== undefined && { title }),
    ...(about !== undefined && { context: about }),
    ...(citable === true && { citations: { enabled: true } }),
  };
}

function documentSource({ source }: FileBlock, quirks: Quirks, warnings: Warnings): JsonObject {
  switch (source.kind) {
    case 'base64': {
      const { mediaType, data } = source;
      if (isText(mediaType)) return textSource(Buffer.from(data, 'base64').toString('utf8'));
      if (mediaType === 'application/pdf' && quirks.file.pdf === 'native') {
        return { type: 'base64', media_type: mediaType, data };
      }
      return warnings.refuse('messages.file', `has the type ${mediaType}, which this model does not accept.`);
    }
    case 'url':
      if (quirks.file.url === 'refuse') return warnings.refuse('messages.file', 'must be base64 data for this model.');
      return { type: 'url', url: source.url };
    case 'id':
      return warnings.refuse(
        'messages.file',
        'refers to an uploaded file that the vendor of this model does not have.',
      );
    case 'text':
      return textSource(source.text);
  }
}

function textSource(data: string): JsonObject {
  return { type: 'text', media_type: 'text/plain', data };
}

function isText(mediaType: string): boolean {
  return /^(text\/.*|application\/(.*\+)?(json|xml|yaml|x-yaml|javascript|x-ndjson))$/.test(mediaType);
}

/** Audio output of the model is kept as its transcript; audio of the user is dropped for models without audio input. */
function encodeAudio({ transcript }: AudioBlock, { role, warnings }: BlockContext): readonly JsonObject[] {
  if (role !== 'assistant')
    return warnings.refuse('messages.audio', 'is not supported: this model does not accept audio input.');
  if (transcript === undefined || transcript.trim() === '') {
    warnings.drop('messages.audio');
    return [];
  }
  warnings.change('messages.audio');
  return [{ type: 'text', text: transcript }];
}

function encodeResult({ id, content, isError }: ToolResultBlock, context: BlockContext): JsonObject {
  const blocks = content.flatMap((block) => encodeBlock(block, context));
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...(blocks.length > 0 && { content: asText(blocks) ?? blocks }),
    ...(isError === true && { is_error: true }),
  };
}

/** A single plain text needs no list. */
function asText(blocks: readonly JsonObject[]): string | undefined {
  const [block, ...others] = blocks;
  if (others.length > 0 || block === undefined || Object.keys(block).length !== 2) return undefined;
  return typeof block.text === 'string' ? block.text : undefined;
}

/** The object for what a model wrote: arguments as JSON, or free text. */
export function toInput(kind: 'function' | 'custom', text: string): JsonObject {
  return kind === 'custom' ? { input: text } : argumentsOf(text);
}
