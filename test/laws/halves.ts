/** The styles whose laws are tested, and short ways through the halves of their translation. */
import { createParser } from 'eventsource-parser';
import type { Conversation, Part } from '../../core/contracts/formats/conversation.ts';
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import type { SomeQuirks } from '../../core/contracts/formats/quirks.ts';
import type { Answering, Origin, Style, StyleClient, StyleVendor, Target } from '../../core/contracts/formats/style.ts';
import type { Vendor } from '../../core/contracts/formats/vendor.ts';
import { layQuirks, quirksOfModel } from '../../core/translation/quirks/quirks.ts';
import { type CollectedWarnings, collectWarnings } from '../../core/translation/warnings/warnings.ts';
import { chat } from '../../plugins/styles/chat/index.ts';
import { messages } from '../../plugins/styles/messages/index.ts';
import { responses } from '../../plugins/styles/responses/index.ts';
import { anthropicQuirks } from '../../plugins/vendors/anthropic/quirks.ts';
import { MODEL_QUIRKS as geminiQuirks } from '../../plugins/vendors/gemini/quirks.ts';
import { gemini } from '../../plugins/vendors/gemini/style.ts';
import { openaiQuirks } from '../../plugins/vendors/openai/quirks.ts';

/** A style with both halves. */
export interface Client {
  readonly name: 'chat' | 'responses' | 'messages';
  readonly style: Style;
  readonly asked: StyleClient;
  readonly spoken: StyleVendor;
}

/** The styles that clients ask in. */
export const CLIENTS: readonly Client[] = [
  { name: 'chat', style: chat, asked: chat.client!, spoken: chat.vendor! },
  { name: 'responses', style: responses, asked: responses.client!, spoken: responses.vendor! },
  { name: 'messages', style: messages, asked: messages.client!, spoken: messages.vendor! },
];

/** The styles that vendors answer in. */
export const VENDORS: readonly { readonly name: string; readonly spoken: StyleVendor }[] = [
  ...CLIENTS,
  { name: 'gemini', spoken: gemini.vendor! },
];

/** Whoever answers in these tests. */
export const FROM: Origin = { channel: 'here', model: 'their-model' };

/** A model that takes these quirks, asked in this style. */
export function targetOf(spoken: StyleVendor, ...quirks: readonly SomeQuirks[]): Target {
  return { ...FROM, stream: true, askUsage: false, quirks: layQuirks(spoken.quirks, ...quirks) };
}

/** A model, and the style in which it is asked. */
export interface Model {
  readonly name: string;
  readonly style: string;
  readonly spoken: StyleVendor;
  readonly to: Target;
}

/** Models that differ much in what they take, of every vendor. */
export const MODELS: readonly Model[] = [
  ...modelsOf('chat', openaiQuirks, 'gpt-3.5-turbo', 'gpt-4o', 'gpt-4o-audio', 'o3', 'gpt-5.1', 'gpt-6'),
  ...modelsOf('responses', openaiQuirks, 'gpt-4.1', 'o1-preview', 'gpt-5', 'gpt-5.6'),
  ...modelsOf('messages', anthropicQuirks, 'claude-3-opus', 'claude-sonnet-4-5', 'claude-opus-4-7', 'claude-next'),
  ...modelsOf('gemini', geminiQuirks, 'gemini-2.0-flash', 'gemini-2.5-pro', 'gemini-3.5-flash', 'gemini-4-tts'),
  ...modelsOf('chat', undefined, 'anything'),
  ...modelsOf('messages', undefined, 'anything'),
  ...modelsOf('responses', undefined, 'anything'),
  ...modelsOf(
    'chat',
    [
      {
        models: ['*'],
        quirks: {
          roles: { mid_system: 'front', merge_system: true, first_user: true },
          content: { array: false, tool_result_images: 'drop' },
          reasoning: { input: 'budget', echo: 'all', field: 'reasoning_details' },
          output: { json_object: false, json_schema: false },
          limits: { context: 50 },
          stop: { max: 0 },
          prefill: false,
        },
      },
    ],
    'strict-template',
  ),
];

function modelsOf(style: string, quirks: Vendor['quirks'], ...names: readonly string[]): readonly Model[] {
  const { spoken } = VENDORS.find(({ name }) => name === style)!;
  return names.map((name) => ({ name, style, spoken, to: targetOf(spoken, ...quirksOfModel(quirks, name, style)) }));
}

/** For a client of this style whose request this was. */
export function answering(
  asked: StyleClient,
  request: JsonObject = {},
  warnings = collectWarnings(asked.names),
): Answering {
  const id = '0123456789ABCDEFGHJKMNPQRS';
  return {
    id,
    model: 'public-name',
    createdMs: 0,
    now: () => 1_000,
    request,
    asksUsage: true,
    estimatedInput: 7,
    warnings,
  };
}

/** The stream that a client of this style gets for these parts. */
export function written(asked: StyleClient, parts: readonly Part[]): string {
  const writer = asked.createStreamEncoder(answering(asked));
  return parts.map((part) => writer.write(part)).join('');
}

/** One event of a stream. */
export interface StreamEvent {
  readonly name: string | undefined;
  readonly data: string;
}

/** The events of a stream. */
export function eventsIn(stream: string): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  createParser({ onEvent: ({ event: name, data }) => void events.push({ name, data }) }).feed(stream);
  return events;
}

/** What a vendor of this style has said with these events, after which it closed. */
export function heard(spoken: StyleVendor, events: readonly StreamEvent[]): readonly Part[] {
  const reader = spoken.createStreamDecoder(FROM, collectWarnings({}));
  const parts = events.flatMap((event) => [...reader.read(event)]);
  return [...parts, ...reader.close()];
}

/** A request as a vendor of the same style as the client's would get it, in the common form once more. */
export function reread(
  { asked, spoken }: Client,
  conversation: Conversation,
  to: Target,
): { readonly conversation: Conversation; readonly body: JsonObject; readonly warnings: CollectedWarnings } {
  const warnings = collectWarnings({});
  // Both ends see JSON.
  const body = JSON.parse(JSON.stringify(spoken.encodeRequest(conversation, to, warnings))) as JsonObject;
  return { conversation: asked.decodeRequest(body, warnings), body, warnings };
}
