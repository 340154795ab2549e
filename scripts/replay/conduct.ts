/** Checks that a stream of the gateway has the event order that the strictest clients of its style require. */
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import type { ClientStyle } from './client.ts';
import { firstDifference } from './compare.ts';
import type { StreamEvent } from './event-stream.ts';
import { isObject, listOf, numberOf, objectOf, objectsOf, textOf } from './json.ts';

/** The complaints of a strict client, one line each. A stream with an error may end anywhere. */
export function conductFaults(style: ClientStyle, events: readonly StreamEvent[]): readonly string[] {
  const faults = new Set<string>();
  CONDUCT[style](events, (holds, otherwise) => {
    if (!holds) faults.add(otherwise);
  });
  return [...faults];
}

type Must = (holds: boolean, otherwise: string) => void;

const CONDUCT: Readonly<Record<ClientStyle, (events: readonly StreamEvent[], must: Must) => void>> = {
  chat: chatConduct,
  responses: responsesConduct,
  messages: messagesConduct,
};

function chatConduct(events: readonly StreamEvent[], must: Must): void {
  const last = events.at(-1);
  const failed = events.some(({ data }) => objectOf(data).error !== undefined);
  must(failed || last?.text === '[DONE]', 'no [DONE] at the end');
  const chunks = events.flatMap(({ data }) => (isObject(data) && data.error === undefined ? [data] : []));
  const [first] = objectsOf(chunks[0]?.choices);
  must(objectOf(first?.delta).role === 'assistant', 'the first chunk has no role');
  must(new Set(chunks.map(({ id }) => id)).size <= 1, 'the id changes');
  const calls = new Set<number>();
  let finishes = 0;
  for (const { choices, object } of chunks) {
    must(object === 'chat.completion.chunk', 'a chunk that is no chunk');
    must(Array.isArray(choices), 'a chunk without choices');
    for (const { delta, finish_reason: reason } of objectsOf(choices)) {
      if (typeof reason === 'string') finishes++;
      else must(finishes === 0, 'a chunk behind the finish');
      for (const { index, id, type, function: called, custom } of objectsOf(objectOf(delta).tool_calls)) {
        must(typeof index === 'number', 'a call without an index');
        if (calls.has(numberOf(index))) continue;
        must(numberOf(index) === calls.size, 'the indexes of calls have gaps');
        calls.add(numberOf(index));
        const { name } = objectOf(type === 'custom' ? custom : called);
        must(
          textOf(id) !== '' && typeof type === 'string' && textOf(name) !== '',
          'a call begins without id, type or name',
        );
      }
    }
  }
  must(failed || finishes === 1, `${finishes} finish reasons`);
}

function responsesConduct(events: readonly StreamEvent[], must: Must): void {
  const open = new Map<number, JsonObject>();
  const parts = new Map<string, string>();
  const done: JsonObject[] = [];
  const types = events.map(({ data }) => textOf(objectOf(data).type));
  const last = types.at(-1) ?? '';
  must(/^(response\.(completed|incomplete|failed)|error)$/.test(last), `${last || 'nothing'} at the end`);
  must(types[0] === 'response.created' || types[0] === 'error', 'response.created does not come first');
  for (const [i, { name, data }] of events.entries()) {
    const event = objectOf(data);
    const type = textOf(event.type);
    const index = numberOf(event.output_index);
    const part = `${index}/${numberOf(event.content_index ?? event.summary_index)}/${type.includes('summary') ? 'summary' : ''}`;
    must(name === type, `the event line ${String(name)} of ${type}`);
    must(event.sequence_number === i, 'sequence numbers have gaps');
    if (type === 'response.output_item.added') {
      must(!open.has(index) && done[index] === undefined, 'an output index comes twice');
      open.set(index, objectOf(event.item));
    } else if (/_part\.added$/.test(type)) {
      must(open.has(index), `${type} outside its item`);
      parts.set(part, '');
    } else if (/_text\.delta$|refusal\.delta$/.test(type)) {
      must(open.has(index), `${type} outside its item`);
      must(parts.has(part), `${type} outside its part`);
      parts.set(part, (parts.get(part) ?? '') + textOf(event.delta));
    } else if (/_text\.done$|refusal\.done$/.test(type)) {
      must(textOf(event.text ?? event.refusal) === parts.get(part), `${type} is not what its deltas said`);
    } else if (/(arguments|_input)\.delta$/.test(type)) {
      must(open.has(index), `${type} outside its item`);
    } else if (type === 'response.output_item.done') {
      must(open.delete(index), 'an item is done that was never added');
      done[index] = objectOf(event.item);
    }
  }
  if (last !== 'response.completed' && last !== 'response.incomplete') return;
  must(open.size === 0, 'an item is never done');
  const { output } = objectOf(objectOf(events.at(-1)?.data).response);
  const differs = firstDifference(done, listOf(output), 'output');
  must(differs === undefined, `the last event has another output: ${differs}`);
}

const DELTAS: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
  server_tool_use: ['input_json_delta'],
};

function messagesConduct(events: readonly StreamEvent[], must: Must): void {
  let open: string | undefined;
  let next = 0;
  let deltas = 0;
  const real = events.filter(({ name }) => name !== 'ping');
  const failed = real.at(-1)?.name === 'error';
  must(real[0]?.name === 'message_start' || failed, 'message_start does not come first');
  must(real.at(-1)?.name === 'message_stop' || failed, 'message_stop does not come last');
  for (const { name, data } of real) {
    const event = objectOf(data);
    must(name === event.type, `the event line ${String(name)} of ${textOf(event.type)}`);
    switch (name) {
      case 'message_start': {
        const { usage, content } = objectOf(event.message);
        must(typeof objectOf(usage).input_tokens === 'number', 'message_start without usage');
        must(Array.isArray(content) && listOf(content).length === 0, 'message_start with content');
        break;
      }
      case 'content_block_start':
        must(open === undefined, 'two blocks are open at once');
        must(event.index === next++, 'the indexes of blocks have gaps');
        open = textOf(objectOf(event.content_block).type);
        break;
      case 'content_block_delta': {
        const type = textOf(objectOf(event.delta).type);
        must(open !== undefined && event.index === next - 1, 'a delta of a block that is not open');
        must(DELTAS[open ?? '']?.includes(type) ?? true, `${type} in a block of ${String(open)}`);
        break;
      }
      case 'content_block_stop':
        must(open !== undefined && event.index === next - 1, 'a stop of a block that is not open');
        open = undefined;
        break;
      case 'message_delta':
        must(open === undefined, 'message_delta inside a block');
        must(++deltas === 1, 'message_delta comes twice');
        must(typeof objectOf(event.usage).output_tokens === 'number', 'message_delta without usage');
        must(typeof objectOf(event.delta).stop_reason === 'string', 'message_delta without a stop reason');
        break;
      case 'message_stop':
        must(deltas === 1, 'message_stop without message_delta');
        must(next > 0, 'no block at all');
        break;
      case 'error':
        break;
      default:
        must(false, `an event that clients do not know: ${String(name)}`);
    }
  }
}
