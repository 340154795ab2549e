/** Compares what a client reads with what the vendor sent. Every difference is one line. */
import type { Json } from '../../core/contracts/formats/json.ts';
import type { ClientStyle } from './client.ts';
import type { VendorStyle } from './folder.ts';
import { brief, isObject, isSame, parsed } from './json.ts';
import type { DecodedAnswer, DecodedCall, DecodedUsage, Stop } from './told.ts';

/** The differences, as a client of this style can see them. */
export function differences(
  sent: DecodedAnswer,
  got: DecodedAnswer,
  from: VendorStyle,
  client: ClientStyle,
): readonly string[] {
  return [
    ...textDiffers(sent, got, client),
    ...refusalDiffers(sent, got, from, client),
    ...reasoningDiffers(sent, got),
    ...callsDiffer(sent.calls, got.calls, client),
    ...stopDiffers(sent, got, client),
    ...usageDiffers(sent.usage, got.usage, client),
  ];
}

/** One message of a client may be several of the vendor's: separators are ignored. */
const SEPARATORS: readonly string[] = ['', '\n', '\n\n', ' '];

function textDiffers(sent: DecodedAnswer, got: DecodedAnswer, client: ClientStyle): readonly string[] {
  const text = got.texts.join('');
  const fits = (pieces: readonly string[]): boolean => SEPARATORS.some((between) => pieces.join(between) === text);
  // Messages has no block for a refusal: it is text.
  if (fits(sent.texts) || (client === 'messages' && fits([...sent.texts, ...sent.refusals]))) return [];
  return [`text ${at(sent.texts.join(''), text)}`];
}

function refusalDiffers(
  sent: DecodedAnswer,
  got: DecodedAnswer,
  from: VendorStyle,
  client: ClientStyle,
): readonly string[] {
  const [words, seen] = [sent.refusals.join(''), got.refusals.join('')];
  if (words === seen) return [];
  if (client === 'messages' && got.texts.join('').endsWith(words)) return [];
  // An empty refusal gets a text if the style requires one.
  if (words === '' && sent.stop === 'refusal') return [];
  // The reason is specific to messages; the leaves check that it is reported.
  if (from === 'messages' && seen === '') return [];
  return [`refusal ${at(words, seen)}`];
}

function reasoningDiffers(sent: DecodedAnswer, got: DecodedAnswer): readonly string[] {
  const bare = (texts: readonly string[]): string => texts.join('').replaceAll(/\s+/g, '');
  const [thought, seen] = [bare(sent.reasoning), bare(got.reasoning)];
  return thought === seen ? [] : [`reasoning ${at(thought, seen)}`];
}

function callsDiffer(
  sent: readonly DecodedCall[],
  got: readonly DecodedCall[],
  client: ClientStyle,
): readonly string[] {
  if (sent.length !== got.length) {
    const names = (calls: readonly DecodedCall[]): string => calls.map(({ name }) => name).join(' ') || 'none';
    return [`calls: ${names(sent)} became ${names(got)}`];
  }
  return sent.flatMap((call, i) => {
    const seen = got[i]!;
    const lines: string[] = [];
    if (!namesOf(call).includes(seen.name)) lines.push(`call ${call.name} is called ${seen.name}`);
    if (!isInput(call, seen)) lines.push(`arguments of ${call.name} ${at(call.input, seen.input)}`);
    if (LEGAL_ID.test(call.id) && seen.id !== call.id) lines.push(`id of ${call.name}: ${call.id} became ${seen.id}`);
    if (seen.id === '') lines.push(`${call.name} has no id`);
    if (call.custom && client !== 'messages' && !seen.custom) lines.push(`${call.name} is no custom tool any more`);
    return lines;
  });
}

/** Ids of these characters are valid in every style and must not change. */
const LEGAL_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/** A namespace becomes a prefix if the style has none. */
function namesOf({ name, namespace }: DecodedCall): readonly string[] {
  return namespace === undefined ? [name] : [name, `${namespace}__${name}`];
}

function isInput(sent: DecodedCall, seen: DecodedCall): boolean {
  if (sent.input === seen.input) return true;
  const value = parsed(seen.input);
  if (sent.custom) return wraps(value, sent.input);
  if (sent.input.trim() === '') return isSame(value, {});
  const input = parsed(sent.input);
  if (input === undefined) return wraps(value, sent.input);
  return isSame(input, value) || (!isObject(input) && isObject(value) && isSame(Object.values(value), [input]));
}

/** Free text, as the only member of an object. */
function wraps(value: Json | undefined, text: string): boolean {
  return isObject(value) && isSame(Object.values(value), [text]);
}

/** The finish reasons that a client of each style may see for the vendor's. */
const STOPS: Readonly<Record<ClientStyle, Readonly<Record<Stop, readonly Stop[]>>>> = {
  chat: {
    stop: ['stop'],
    stop_sequence: ['stop'],
    length: ['length'],
    context_full: ['length'],
    tool_calls: ['tool_calls'],
    refusal: ['refusal', 'content_filter'],
    content_filter: ['content_filter', 'refusal'],
    pause: ['stop'],
    error: ['stop', 'error', 'content_filter'],
    unfinished: [],
    other: ['stop'],
  },
  responses: {
    stop: ['stop'],
    stop_sequence: ['stop'],
    length: ['length'],
    context_full: ['length'],
    tool_calls: ['tool_calls'],
    refusal: ['refusal', 'content_filter'],
    content_filter: ['content_filter', 'refusal'],
    pause: ['stop'],
    error: ['error', 'stop'],
    unfinished: [],
    other: ['stop'],
  },
  messages: {
    stop: ['stop'],
    stop_sequence: ['stop_sequence'],
    length: ['length'],
    context_full: ['context_full'],
    tool_calls: ['tool_calls'],
    refusal: ['refusal'],
    content_filter: ['refusal'],
    pause: ['pause'],
    error: ['stop', 'error'],
    unfinished: [],
    other: ['stop'],
  },
};

function stopDiffers(sent: DecodedAnswer, got: DecodedAnswer, client: ClientStyle): readonly string[] {
  const allowed = [...STOPS[client][sent.stop]];
  // A stop caused by vendor-side tools is a normal stop for clients that cannot see them.
  if (sent.stop === 'tool_calls' && sent.calls.length === 0) allowed.push('stop');
  // An unknown finish reason does not hide tool calls.
  if (sent.stop === 'other' && sent.calls.length > 0) allowed.push('tool_calls');
  const lines = allowed.includes(got.stop) ? [] : [`stop ${sent.stop} became ${got.stop}`];
  if (client === 'messages' && sent.stopSequence !== undefined && sent.stopSequence !== got.stopSequence) {
    lines.push(`stop sequence ${brief(sent.stopSequence)} became ${brief(got.stopSequence)}`);
  }
  return lines;
}

function usageDiffers(
  sent: DecodedUsage | undefined,
  got: DecodedUsage | undefined,
  client: ClientStyle,
): readonly string[] {
  if (got === undefined) return ['no usage'];
  if (sent === undefined) return [];
  return (['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const).flatMap((name) => {
    const [expected, seen] = [sent[name] ?? 0, got[name]];
    // Not every version of messages reports reasoning tokens.
    if (expected === seen || (name === 'reasoning' && client === 'messages' && seen === undefined)) return [];
    return [`${name} tokens ${expected} became ${seen ?? 'nothing'}`];
  });
}

/** Two texts from their first difference. */
function at(one: string, other: string): string {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const from = Math.max(0, same - 10);
  const piece = (text: string): string => brief(text.slice(from), 60);
  return `${piece(one)} became ${piece(other)}${from === 0 ? '' : ` (from ${from})`}`;
}

/** The first difference of two values: `choices[0].message.content: "a" is not "b"`; undefined if they are equal. */
export function firstDifference(one: Json | undefined, other: Json | undefined, path = ''): string | undefined {
  if (isSame(one, other)) return undefined;
  if (Array.isArray(one) && Array.isArray(other)) {
    for (let i = 0; i < Math.max(one.length, other.length); i++) {
      const found = firstDifference(one[i], other[i], `${path}[${i}]`);
      if (found !== undefined) return found;
    }
  }
  if (isObject(one) && isObject(other)) {
    for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const found = firstDifference(one[name], other[name], path === '' ? name : `${path}.${name}`);
      if (found !== undefined) return found;
    }
  }
  return `${path}: ${brief(one, 60)} is not ${brief(other, 60)}`;
}
