/** Decodes a vendor's stream of the responses style. Servers omit and repeat events and mix up ids; the items at the end count. */
import type { Json, JsonObject, Origin, PartReader, Warnings } from '../../../../core/plugin.ts';
import type { Part, VendorError } from '../../../../core/translation/index.ts';
import {
  CUT_SHORT,
  isCutShort,
  isObject,
  member,
  parsed,
  readVendorError,
  textOf,
} from '../../../../core/translation/index.ts';
import { failureOf } from '../errors.ts';
import { followUses } from '../fields/hosted.ts';
import { omitFromResponse } from '../fields/members.ts';
import { usageIn } from '../fields/usage.ts';
import { followItems, type IncomingItems } from './decode-output-items.ts';
import { finishOf } from './decode-reply.ts';

/** The handler of each event that changes items. */
const ITEM_EVENTS: Readonly<Record<string, (items: IncomingItems, event: JsonObject) => void>> = {
  'response.output_item.added': (items, event) => items.added(event),
  'response.output_item.done': (items, event) => items.done(event),
  'response.content_part.added': (items, event) => items.partAdded(event),
  'response.content_part.done': (items, event) => items.partDone(event),
  'response.output_text.delta': (items, event) => items.addDelta(event, 'text'),
  'response.refusal.delta': (items, event) => items.addDelta(event, 'refusal'),
  'response.output_text.annotation.added': (items, event) => items.annotated(event),
  'response.reasoning_summary_text.delta': (items, event) => items.thought(event, `summary ${event.summary_index}`),
  'response.reasoning_text.delta': (items, event) => items.thought(event, `content ${event.content_index}`),
  'response.function_call_arguments.delta': (items, event) =>
    items.input(event, 'function_call', textOf(member(event, 'delta')), false),
  'response.function_call_arguments.done': (items, event) =>
    items.input(event, 'function_call', textOf(member(event, 'arguments')), true),
  'response.custom_tool_call_input.delta': (items, event) =>
    items.input(event, 'custom_tool_call', textOf(member(event, 'delta')), false),
  'response.custom_tool_call_input.done': (items, event) =>
    items.input(event, 'custom_tool_call', textOf(member(event, 'input')), true),
};

/** Creates a decoder for one stream. */
export function createStreamDecoder(from: Origin, warnings: Warnings): PartReader {
  let parts: Part[] = [];
  const items = followItems(from, warnings, (part) => void parts.push(part));
  const run = followUses();
  let started = false;
  let ended = false;

  function start(response: Json | undefined): void {
    if (started) return;
    started = true;
    const serviceTier = textOf(member(response, 'service_tier'));
    parts.push({
      type: 'start',
      id: textOf(member(response, 'id')),
      model: textOf(member(response, 'model')) || from.model,
      ...(serviceTier !== '' && { serviceTier }),
    });
  }

  function tellUsage(response: Json | undefined): void {
    const usage = usageIn(response);
    if (usage !== undefined) parts.push({ type: 'usage', usage });
  }

  function finish(response: Json | undefined): void {
    start(response);
    items.finish(response);
    if (isObject(response)) omitFromResponse(response, warnings);
    tellUsage(response);
    ended = true;
    parts.push({ type: 'finish', finish: finishOf(response, items.types) });
  }

  function fail(error: VendorError): void {
    ended = true;
    parts.push({ type: 'error', ...error });
  }

  function read(type: string, event: JsonObject): void {
    const response = member(event, 'response');
    if (type === 'response.output_item.done') run.see(member(event, 'item'));
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        start(response);
        break;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed': {
        const failure = failureOf(response);
        if (failure === undefined && type !== 'response.failed') {
          finish(response);
        } else {
          start(response);
          tellUsage(response);
          fail(failure ?? readVendorError(response));
        }
        break;
      }
      case 'error':
        // Some vendors nest the error as in replies, some spread it over the event.
        fail(readVendorError(member(event, 'error') ?? event));
        break;
      case 'keepalive':
      case 'ping':
        if (started) parts.push({ type: 'ping' });
        break;
      default: {
        if (!Object.hasOwn(ITEM_EVENTS, type)) break;
        start(undefined);
        ITEM_EVENTS[type]?.(items, event);
      }
    }
  }

  return {
    read({ name, data }) {
      parts = [];
      const event = ended ? undefined : parsed(data);
      if (isObject(event)) read(textOf(member(event, 'type')) || (name ?? ''), event);
      else if (!ended && event === undefined && isCutShort(data)) fail(CUT_SHORT);
      return parts;
    },
    // A stream of this style has an end event; without one it is truncated, and an incomplete call must not be run.
    close: () => [],
    uses: () => run.uses(),
  };
}
