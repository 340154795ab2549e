/** Images, audio and files in a request: refused if a model does not accept them, because to ignore them misleads. */

import type {
  AudioBlock,
  Block,
  FileBlock,
  ImageBlock,
  Output,
  Source,
  Turn,
} from '../../contracts/formats/conversation.ts';
import type { Quirks } from '../../contracts/formats/quirks.ts';
import type { Warnings } from '../../contracts/formats/warnings.ts';

/** Replaces an image that was removed from a tool result. */
const LEFT_OUT = '(image left out)';

/** Refuses images that the model does not accept; `mediaType` is checked if known. */
export function fitImage(block: ImageBlock, { image }: Quirks, warnings: Warnings): ImageBlock {
  const { source } = block;
  refuseUploaded('image', source, warnings);
  if (image.types?.length === 0)
    warnings.refuse('messages.image', 'is not supported: this model does not accept image input.');
  if (source.kind === 'url' && image.url === 'refuse') {
    warnings.refuse('messages.image', 'must be base64 data for this model, not a URL.');
  }
  const type = typeOf(source);
  if (type !== undefined && image.types?.includes(type) === false) {
    warnings.refuse('messages.image', `must not be ${type}: this model accepts ${image.types.join(', ')}.`);
  }
  return block;
}

/** The same for documents. */
export function fitFile(block: FileBlock, { file }: Quirks, warnings: Warnings): FileBlock {
  const { source } = block;
  refuseUploaded('file', source, warnings);
  if (source.kind === 'url' && file.url === 'refuse') {
    warnings.refuse('messages.file', 'must be base64 data for this model, not a URL.');
  }
  if (typeOf(source) === 'application/pdf' && file.pdf === 'refuse') {
    warnings.refuse('messages.file', 'must not be a PDF: this model does not accept PDF files.');
  }
  return block;
}

/** Audio input is refused; earlier audio output of the model is replaced by its transcript. */
export function fitAudio(
  block: AudioBlock,
  role: Turn['role'],
  { audio }: Quirks,
  warnings: Warnings,
): Block | undefined {
  if (role !== 'assistant') {
    if (!audio.input) warnings.refuse('messages.audio', 'is not supported: this model does not accept audio input.');
    return block;
  }
  if (audio.output) return block;
  if (block.transcript === undefined) warnings.drop('messages.audio');
  else warnings.change('messages.audio', 'hint');
  return block.transcript === undefined ? undefined : { type: 'text', text: block.transcript };
}

/** Replaces images in tool results by text if a model does not accept them there. */
export function fitResultImage(block: Block, { content }: Quirks, warnings: Warnings): Block {
  if (block.type !== 'image' || content.tool_result_images !== 'drop') return block;
  warnings.drop('messages.image');
  return { type: 'text', text: LEFT_OUT };
}

/** Moves images of tool results to a following user message, if a model only accepts user images. */
export function moveResultImages(turns: readonly Turn[], { content }: Quirks, warnings: Warnings): readonly Turn[] {
  if (content.tool_result_images !== 'user_message') return turns;
  return turns.map((turn) => {
    const images: Block[] = [];
    const blocks = turn.blocks.map((block) => {
      if (block.type !== 'toolResult') return block;
      const found = block.content.filter(({ type }) => type === 'image');
      if (found.length === 0) return block;
      warnings.change('messages.image', 'hint');
      images.push({ type: 'text', text: `Images in the result of tool call ${block.id}:` }, ...found);
      return { ...block, content: block.content.filter(({ type }) => type !== 'image') };
    });
    if (images.length === 0) return turn;
    const results = blocks.filter(({ type }) => type === 'toolResult');
    return { ...turn, blocks: [...results, ...images, ...blocks.filter(({ type }) => type !== 'toolResult')] };
  });
}

/** Refuses audio output if the model has none. */
export function fitVoice(output: Output, { audio }: Quirks, warnings: Warnings): Output {
  if (audio.output || (output.audio === undefined && output.modalities === undefined)) return output;
  if (output.modalities?.includes('audio'))
    warnings.refuse('modalities', 'must not contain audio: this model does not support audio output.');
  const { audio: voice, ...rest } = output;
  if (voice !== undefined) warnings.drop('audio', 'hint');
  return rest;
}

function refuseUploaded(what: 'image' | 'file', source: Source, warnings: Warnings): void {
  if (source.kind !== 'id') return;
  warnings.refuse(
    `messages.${what}`,
    'must not be the id of an upload: the vendor of this model does not have that file.',
  );
}

function typeOf(source: Source): string | undefined {
  return source.kind === 'base64' || source.kind === 'url' ? source.mediaType?.toLowerCase() : undefined;
}
