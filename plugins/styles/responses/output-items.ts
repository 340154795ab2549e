/** Makes the items of a response out of blocks, and the events by which a client sees them grow. */
import type { Answering, Json, JsonObject } from '../../../core/plugin.ts';
import type { Block, Citation, Media, Opaque, ThinkingBlock, ToolCallBlock } from '../../../core/translation/index.ts';
import { given, isObject, omitUnsaid, packOpaque, parsed, UNSEALED } from '../../../core/translation/index.ts';
import { CLIENT_SEARCH, hasClientSearch } from './tools.ts';

/** The output of a response that is being made. */
export interface Output {
  /** Begins a block; undefined where it is whole at once, or shows nowhere. */
  begin(block: Block): Writing | undefined;
  /** Nothing is added any more. */
  close(status: 'completed' | 'incomplete'): void;
  readonly items: readonly JsonObject[];
  /** The items of an answer that breaks off now: open messages hold what was said so far. */
  broken(): readonly JsonObject[];
}

/** Gets the events of a stream, in order, without their sequence numbers. */
export interface EventSink {
  /** Nobody hears them: what only an event would tell need not be made. */
  readonly isSilent: boolean;
  emit(type: string, fields: JsonObject): void;
  /** One more piece of a text. `place`: the members that tell which, as JSON without the braces around it. */
  emitDelta(type: string, place: string, delta: string, logprobs?: readonly Json[]): void;
}

/** A block that has begun. */
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
  /** Its parts, as they are when asked. */
  readonly content: (() => JsonObject)[];
  open: number;
  closed: boolean;
}

/** The output of one response. */
export function createOutput(as: Answering, { isSilent, emit, emitDelta }: EventSink): Output {
  const output: JsonObject[] = [];
  /** The message that the next text belongs to, unless another item comes first. */
  let message: Message | undefined;
  const messages: Message[] = [];
  /** What vendors sealed for calls, by their places in the output. */
  const sealed = new Map<number, Opaque>();
  const searches = hasClientSearch(as.request);

  // ---- items

  /** The members of an object as JSON, without the braces around them. */
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

  /** An item that is told at once. */
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

  /** Another item begins: later texts belong to a message of their own. */
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

  /** A part of a message: `text` makes the part of its text, `type` is that of its events. */
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
    const whole = (): JsonObject => {
      const annotations = citations.map((citation) => annotationOf(citation, text.length)).filter(isObject);
      return part(text, annotations, allLogprobs);
    };
    within.content.push(whole);
    emit('response.content_part.added', { ...at, part: part('', [], []) });

    /** In the end, for where a source belongs to all of the text, its length has to be known. */
    function tellSources(): void {
      let index = 0;
      for (const citation of citations) {
        const annotation = annotationOf(citation, text.length);
        if (annotation === undefined) {
          as.losses.omit('citations');
          continue;
        }
        omitUnsaid(citation, annotation, as.losses);
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
        else as.losses.omit('citations');
      },
      seal: () => {},
      end() {
        tellSources();
        if (!isSilent) {
          emit(`response.${type}.done`, { ...at, ...(isText ? { text, logprobs: allLogprobs } : { refusal: text }) });
          emit('response.content_part.done', { ...at, part: whole() });
        }
        within.open--;
        if (message !== within) closeMessage(within);
      },
    };
  }

  // ---- thoughts

  function writeThought(block: ThinkingBlock): Writing {
    leaveMessage();
    const id = newId('rs');
    const index = addItem({ id, type: 'reasoning', summary: [] });
    const at = { item_id: id, output_index: index, summary_index: 0 };
    const place = membersOf(at);
    // Without any seal, a vendor that gets the thought back would look for it by our id.
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

  /** A search for tools that the client carries out; it has no events of its own. */
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
    const seal = (opaque: Opaque): void => {
      sealed.set(index, { ...opaque, id: call.id });
    };
    if (call.opaque !== undefined) seal(call.opaque);
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
    const seal = (opaque: Opaque): void => {
      sealed.set(index, { ...opaque, id: call.id });
    };
    if (call.opaque !== undefined) seal(call.opaque);
    let input = '';
    return {
      say(delta) {
        input += delta;
        emitDelta(`${events}.delta`, place, delta);
      },
      cite: () => {},
      seal,
      end() {
        // No arguments are an empty object: clients parse what stands here.
        if (!isCustom && input === '') input = '{}';
        emit(`${events}.done`, { ...at, ...(isCustom ? { input } : { name: call.name, arguments: input }) });
        // Arguments that stop in the middle must not be taken for a call by clients that act on whole items.
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
        return writeThought(block);
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
        as.losses.omit(block.what);
        return undefined;
      default:
    }
    as.losses.omit(block.type);
    return undefined;
  }

  return {
    begin,
    close(status) {
      if (message !== undefined) closeMessage(message, status);
      message = undefined;
      // A seal can have no place in its call, for clients send back only the members they know, and it may come when the call
      // has long begun. Its id tells whose it is.
      for (const [, opaque] of [...sealed].sort(([a], [b]) => a - b)) {
        tellItem({ id: newId('rs'), type: 'reasoning', summary: [], encrypted_content: packOpaque(opaque) });
      }
    },
    items: output,
    broken() {
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

/** Undefined where a citation cannot be told: the format's own have an address. One without a place is about the whole text. */
function annotationOf({ url, title, start, end, style, raw }: Citation, length: number): JsonObject | undefined {
  if (style === 'responses' && isObject(raw) && raw.type !== undefined) return raw;
  if (url === undefined) return undefined;
  return { type: 'url_citation', url, title: title ?? '', start_index: start ?? 0, end_index: end ?? length };
}
