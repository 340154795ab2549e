/** Encodes blocks as the items of a response, and as events. */
import type { Answering, Json, JsonObject } from '../../../../core/plugin.ts';
import type {
  Block,
  Citation,
  Media,
  Opaque,
  ThinkingBlock,
  ToolCallBlock,
} from '../../../../core/translation/index.ts';
import { given, isObject, omitUnsaid, packOpaque, parsed, UNSEALED } from '../../../../core/translation/index.ts';
import { CLIENT_SEARCH, hasClientSearch } from '../fields/tools.ts';

/** Gets the events of a stream, in order, without their sequence numbers. */
export interface EventSink {
  /** True if the events are not sent, so that they need not be encoded. */
  readonly isSilent: boolean;
  emit(type: string, fields: JsonObject): void;
  /** A delta of a text. `place`: the members that identify the text, as JSON without braces. */
  emitDelta(type: string, place: string, delta: string, logprobs?: readonly Json[]): void;
}

/** An open block. */
export interface Writing {
  say(text: string, logprobs: readonly Json[]): void;
  cite(citation: Citation): void;
  seal(opaque: Opaque): void;
  end(): void;
}

/** A message that texts can be added to. */
interface Message {
  readonly index: number;
  readonly id: string;
  /** Its current parts. */
  readonly content: (() => JsonObject)[];
  open: number;
  closed: boolean;
}

/** Creates the output of one response. */
export function createOutput(as: Answering, { isSilent, emit, emitDelta }: EventSink) {
  const output: JsonObject[] = [];
  /** The message of the next text, unless another item starts first. */
  let message: Message | undefined;
  const messages: Message[] = [];
  /** Signatures of calls, by their index in the output. */
  const sealed = new Map<number, Opaque>();
  const searches = hasClientSearch(as.request);

  // ---- items

  /** The members of an object as JSON, without braces. */
  function membersOf(value: JsonObject): string {
    return isSilent ? '' : JSON.stringify(value).slice(1, -1);
  }

  function newId(prefix: string): string {
    return `${prefix}_${as.id}_${output.length}`;
  }

  function addItem(item: JsonObject): number {
    const index = output.push(item) - 1;
    emit('response.output_item.added', { output_index: index, item });
    return index;
  }

  function finishItem(index: number, item: JsonObject): void {
    output[index] = item;
    emit('response.output_item.done', { output_index: index, item });
  }

  /** Adds an item that is complete at once. */
  function tellItem(item: JsonObject, begun: JsonObject = item): void {
    leaveMessage();
    finishItem(addItem(begun), item);
  }

  // ---- messages

  function enterMessage(): Message {
    if (message !== undefined) return message;
    const item = { id: newId('msg'), type: 'message', status: 'in_progress', role: 'assistant', content: [] };
    message = { index: addItem(item), id: item.id, content: [], open: 0, closed: false };
    messages.push(message);
    return message;
  }

  /** Another item starts: later texts belong to a new message. */
  function leaveMessage(): void {
    const left = message;
    message = undefined;
    if (left !== undefined) closeMessage(left);
  }

  function closeMessage(closing: Message, status = 'completed'): void {
    if (closing.open > 0 || closing.closed) return;
    closing.closed = true;
    finishItem(closing.index, messageItem(closing, status));
  }

  function messageItem({ id, content }: Message, status: string): JsonObject {
    return { id, type: 'message', status, role: 'assistant', content: content.map((part) => part()) };
  }

  /** A part of a message: `text` creates the part from its text, `type` is that of its events. */
  function writePart(
    type: 'output_text' | 'refusal',
    part: (text: string, annotations: readonly Json[], logprobs: readonly Json[]) => JsonObject,
  ): Writing {
    const within = enterMessage();
    const at = { item_id: within.id, output_index: within.index, content_index: within.content.length };
    const citations: Citation[] = [];
    const allLogprobs: Json[] = [];
    let text = '';
    const isText = type === 'output_text';
    const place = membersOf(at);
    within.open++;
    const encoded = (): JsonObject => {
      const annotations = citations.map((citation) => annotationOf(citation, text.length)).filter(isObject);
      return part(text, annotations, allLogprobs);
    };
    within.content.push(encoded);
    emit('response.content_part.added', { ...at, part: part('', [], []) });

    /** Added at the end: a citation that applies to all of the text needs its length. */
    function tellSources(): void {
      let index = 0;
      for (const citation of citations) {
        const annotation = annotationOf(citation, text.length);
        if (annotation === undefined) {
          as.warnings.omit('citations');
          continue;
        }
        omitUnsaid(citation, annotation, as.warnings);
        emit('response.output_text.annotation.added', { ...at, annotation_index: index++, annotation });
      }
    }

    return {
      say(delta, logprobs) {
        text += delta;
        allLogprobs.push(...logprobs);
        emitDelta(`response.${type}.delta`, place, delta, isText ? logprobs : undefined);
      },
      cite(citation) {
        if (isText) citations.push(citation);
        else as.warnings.omit('citations');
      },
      seal: () => {},
      end() {
        tellSources();
        if (!isSilent) {
          emit(`response.${type}.done`, { ...at, ...(isText ? { text, logprobs: allLogprobs } : { refusal: text }) });
          emit('response.content_part.done', { ...at, part: encoded() });
        }
        within.open--;
        if (message !== within) closeMessage(within);
      },
    };
  }

  // ---- thoughts

  function writeReasoning(block: ThinkingBlock): Writing {
    leaveMessage();
    const id = newId('rs');
    const index = addItem({ id, type: 'reasoning', summary: [] });
    const at = { item_id: id, output_index: index, summary_index: 0 };
    const place = membersOf(at);
    // Without a signature, a vendor that gets the reasoning back would look up our id.
    let { opaque = UNSEALED } = block;
    let text = '';
    return {
      say(delta) {
        if (text === '') {
          emit('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
        }
        text += delta;
        emitDelta('response.reasoning_summary_text.delta', place, delta);
      },
      cite: () => {},
      seal(sealed) {
        opaque = sealed;
      },
      end() {
        const part = { type: 'summary_text', text };
        if (text !== '') {
          emit('response.reasoning_summary_text.done', { ...at, text });
          emit('response.reasoning_summary_part.done', { ...at, part });
        }
        const summary = text === '' ? [] : [part];
        finishItem(index, { id, type: 'reasoning', summary, encrypted_content: packOpaque(opaque) });
      },
    };
  }

  // ---- calls

  /** Sets the signature of a call, now and whenever the vendor sends one. */
  function sealerOf({ id, opaque: first }: ToolCallBlock, index: number): (opaque: Opaque) => void {
    const seal = (opaque: Opaque): void => {
      sealed.set(index, { ...opaque, id });
    };
    if (first !== undefined) seal(first);
    return seal;
  }

  /** A client-side tool search, which has no events of its own. */
  function writeSearch(call: ToolCallBlock): Writing {
    leaveMessage();
    const id = newId('tsc');
    const item = (status: string, input: JsonObject): JsonObject => ({
      id,
      type: 'tool_search_call',
      status,
      execution: 'client',
      call_id: call.id,
      arguments: input,
    });
    const index = addItem(item('in_progress', {}));
    const seal = sealerOf(call, index);
    let input = '';
    return {
      say(delta) {
        input += delta;
      },
      cite: () => {},
      seal,
      end() {
        const given = parsed(input || '{}');
        finishItem(index, isObject(given) ? item('completed', given) : item('incomplete', {}));
      },
    };
  }

  function writeCall(call: ToolCallBlock): Writing {
    if (searches && call.name === CLIENT_SEARCH) return writeSearch(call);
    const isCustom = call.kind === 'custom';
    const type = isCustom ? 'custom_tool_call' : 'function_call';
    const events = isCustom ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
    leaveMessage();
    const id = newId(isCustom ? 'ctc' : 'fc');
    const item = (status: string, input: string): JsonObject =>
      given<JsonObject>({
        id,
        type,
        status,
        call_id: call.id,
        name: call.name,
        namespace: call.namespace,
        [isCustom ? 'input' : 'arguments']: input,
      });
    const index = addItem(item('in_progress', ''));
    const at = { item_id: id, output_index: index };
    const place = membersOf(at);
    const seal = sealerOf(call, index);
    let input = '';
    return {
      say(delta) {
        input += delta;
        emitDelta(`${events}.delta`, place, delta);
      },
      cite: () => {},
      seal,
      end() {
        // No arguments become an empty object, because clients parse them.
        if (!isCustom && input === '') input = '{}';
        emit(`${events}.done`, { ...at, ...(isCustom ? { input } : { name: call.name, arguments: input }) });
        // Truncated arguments must not look like a complete call to clients that act on whole items.
        const isWhole = isCustom || parsed(input) !== undefined;
        finishItem(index, item(isWhole ? 'completed' : 'incomplete', input));
      },
    };
  }

  // ---- blocks

  function begin(block: Block): Writing | undefined {
    switch (block.type) {
      case 'text':
        return writePart('output_text', (text, annotations, logprobs) => ({
          type: 'output_text',
          text,
          annotations,
          logprobs,
        }));
      case 'refusal':
        return writePart('refusal', (refusal) => ({ type: 'refusal', refusal }));
      case 'thinking':
        return writeReasoning(block);
      case 'toolCall':
        return writeCall(block);
      case 'image': {
        if (block.source.kind !== 'base64') break;
        const item = { id: newId('ig'), type: 'image_generation_call' };
        tellItem(
          { ...item, status: 'completed', output_format: formatOf(block.source), result: block.source.data },
          { ...item, status: 'in_progress', result: null },
        );
        return undefined;
      }
      case 'foreign':
        if (block.style === 'responses' && isObject(block.raw)) {
          tellItem(block.raw);
          return undefined;
        }
        as.warnings.omit(block.what);
        return undefined;
      default:
    }
    as.warnings.omit(block.type);
    return undefined;
  }

  return {
    /** Opens a block; undefined if it is complete at once, or not sent. */
    begin,
    /** Ends the last message. */
    close(status: 'completed' | 'incomplete'): void {
      if (message !== undefined) closeMessage(message, status);
      message = undefined;
      // The signature of a call is an item of its own, because clients send back known members only, and it may arrive after
      // the call has started. Its id refers to the call.
      for (const [, opaque] of [...sealed].sort(([a], [b]) => a - b)) {
        tellItem({ id: newId('rs'), type: 'reasoning', summary: [], encrypted_content: packOpaque(opaque) });
      }
    },
    items: output,
    /** The items of an answer that breaks off now: open messages have their text so far. */
    broken(): readonly JsonObject[] {
      const open = new Map(messages.filter(({ closed }) => !closed).map((each) => [each.index, each]));
      return output.map((item, index) => {
        const left = open.get(index);
        return left === undefined ? item : messageItem(left, 'incomplete');
      });
    },
  };
}

/** `png` of `image/png`. */
function formatOf({ mediaType }: Media): string {
  return mediaType.slice(mediaType.indexOf('/') + 1);
}

/** Encodes a citation; undefined if it has no URL, which the format requires. One without a range applies to the whole text. */
function annotationOf({ url, title, start, end, style, raw }: Citation, length: number): JsonObject | undefined {
  if (style === 'responses' && isObject(raw) && raw.type !== undefined) return raw;
  if (url === undefined) return undefined;
  return { type: 'url_citation', url, title: title ?? '', start_index: start ?? 0, end_index: end ?? length };
}
