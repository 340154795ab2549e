/** Encodes a whole reply for a chat client. */
import type { Answering, Json, JsonObject } from '../../../../core/plugin.ts';
import type { Reply, ToolCallBlock } from '../../../../core/translation/index.ts';
import { headOf } from '../fields/completion.ts';
import { omitEnd, writeFinish } from '../fields/finish.ts';
import { audioId, writeAnnotation, writeImage } from '../fields/media.ts';
import { carriedDetail, extraContent, GAP } from '../fields/thinking.ts';
import { writeUsage } from '../fields/usage.ts';
import { knowsFunctionsOnly } from './decode-tools.ts';

/** Encodes one choice. Blocks are grouped by kind, because a chat message has no order among kinds. */
export function encodeReply(reply: Reply, as: Answering): JsonObject {
  const { message, logprobs, calls } = writeMessage(reply, as);
  const contained = { calls, refusal: message.refusal !== null };
  const word = writeFinish(reply.finish, contained);
  omitEnd(reply.finish, contained, as.warnings);
  if (reply.finish.reason === 'refusal') message.refusal ??= reply.finish.explanation ?? null;
  return {
    ...headOf('chat.completion', as),
    choices: [
      {
        index: 0,
        message,
        logprobs: logprobs.length === 0 ? null : { content: logprobs, refusal: null },
        finish_reason: word === 'tool_calls' && knowsFunctionsOnly(as.request) ? 'function_call' : word,
      },
    ],
    usage: writeUsage(reply.usage),
    ...(reply.serviceTier !== undefined && { service_tier: reply.serviceTier }),
  };
}

/** Several answers to one request: the choices of one reply. Their usage is that of the request. */
export function encodeReplies(replies: readonly Reply[], as: Answering): JsonObject {
  const bodies = replies.map((reply) => encodeReply(reply, as));
  const choices = bodies.flatMap(({ choices: own }) => own as readonly JsonObject[]);
  return { ...bodies[0], choices: choices.map((choice, index) => ({ ...choice, index })) };
}

interface Written {
  readonly message: Record<string, Json>;
  readonly logprobs: readonly Json[];
  readonly calls: boolean;
}

function writeMessage({ blocks }: Reply, as: Answering): Written {
  let content = '';
  let refusal = '';
  let reasoning = '';
  const details: JsonObject[] = [];
  const annotations: JsonObject[] = [];
  const images: JsonObject[] = [];
  const calls: ToolCallBlock[] = [];
  const logprobs: Json[] = [];
  let audio: JsonObject | undefined;

  for (const block of blocks) {
    switch (block.type) {
      case 'text':
        for (const citation of block.citations ?? []) {
          const annotation = writeAnnotation(citation, content.length, block.text.length, as.warnings);
          if (annotation !== undefined) annotations.push(annotation);
        }
        logprobs.push(...(block.logprobs ?? []));
        content += block.text;
        break;
      case 'refusal':
        refusal += block.text;
        break;
      case 'thinking': {
        if (reasoning !== '' && block.text !== '') reasoning += GAP;
        const start = reasoning.length;
        reasoning += block.text;
        if (block.opaque !== undefined) {
          details.push(carriedDetail(block.opaque, details.length, start, reasoning.length));
        }
        break;
      }
      case 'toolCall':
        calls.push(block);
        break;
      case 'audio':
        audio = {
          id: audioId(block.id, as),
          data: block.data,
          transcript: block.transcript ?? '',
          expires_at: block.expiresAt ?? 0,
        };
        break;
      case 'image': {
        const image = writeImage(block, images.length);
        if (image === undefined) as.warnings.omit('image');
        else images.push(image);
        break;
      }
      default:
        as.warnings.omit(block.type === 'foreign' ? block.what : block.type);
    }
  }

  const isSilent = content === '' && (calls.length > 0 || refusal !== '' || audio !== undefined);
  const message: Record<string, Json> = {
    role: 'assistant',
    content: isSilent ? null : content,
    refusal: refusal === '' ? null : refusal,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(annotations.length > 0 && { annotations }),
    ...(images.length > 0 && { images }),
    ...(audio !== undefined && { audio }),
    ...writeCalls(calls, as),
  };
  return { message, logprobs, calls: calls.length > 0 };
}

function writeCalls(calls: readonly ToolCallBlock[], { request, warnings }: Answering): JsonObject {
  const [first] = calls;
  if (first === undefined) return {};
  if (calls.some(({ namespace }) => namespace !== undefined)) warnings.omit('namespace');
  if (knowsFunctionsOnly(request)) {
    if (calls.length > 1) warnings.omit('tool_calls');
    return { function_call: { name: first.name, arguments: argumentsOf(first) } };
  }
  return {
    tool_calls: calls.map((call) => ({
      id: call.id,
      type: call.kind,
      ...(call.kind === 'custom'
        ? { custom: { name: call.name, input: call.input } }
        : { function: { name: call.name, arguments: argumentsOf(call) } }),
      ...extraContent(call.opaque),
    })),
  };
}

/** Clients parse the arguments, and an empty text is not JSON. */
function argumentsOf({ input }: ToolCallBlock): string {
  return input.trim() === '' ? '{}' : input;
}
