/** Holds what a client reads against what the vendor said. Every difference is one line. */
import type { Json } from '../../core/contracts/json.ts';
import type { ClientStyle } from './client.ts';
import type { VendorStyle } from './folder.ts';
import { brief, isObject, isSame, parsed } from './json.ts';
import type { Stop, Told, ToldCall, ToldUsage } from './told.ts';

/** What differs, as a client of this style can see it. */
export function differences(said: Told, got: Told, from: VendorStyle, client: ClientStyle): readonly string[] {
  return [
    ...textDiffers(said, got, client),
    ...refusalDiffers(said, got, from, client),
    ...reasoningDiffers(said, got),
    ...callsDiffer(said.calls, got.calls, client),
    ...stopDiffers(said, got, client),
    ...usageDiffers(said.usage, got.usage, client),
  ];
}

/** One message of a client may be several of the vendor's: what stands between them is free. */
const SEPARATORS: readonly string[] = ['', '\n', '\n\n', ' '];

function textDiffers(said: Told, got: Told, client: ClientStyle): readonly string[] {
  const text = got.texts.join('');
  const fits = (pieces: readonly string[]): boolean => SEPARATORS.some((between) => pieces.join(between) === text);
  // Messages have no block for a refusal: its words are text.
  if (fits(said.texts) || (client === 'messages' && fits([...said.texts, ...said.refusals]))) return [];
  return [`text ${at(said.texts.join(''), text)}`];
}

function refusalDiffers(said: Told, got: Told, from: VendorStyle, client: ClientStyle): readonly string[] {
  const [words, seen] = [said.refusals.join(''), got.refusals.join('')];
  if (words === seen) return [];
  if (client === 'messages' && got.texts.join('').endsWith(words)) return [];
  // One that has no words gets some where there is a place for them.
  if (words === '' && said.stop === 'refusal') return [];
  // Why it refuses is an extra of messages; the leaves tell whether its loss is named.
  if (from === 'messages' && seen === '') return [];
  return [`refusal ${at(words, seen)}`];
}

function reasoningDiffers(said: Told, got: Told): readonly string[] {
  const bare = (texts: readonly string[]): string => texts.join('').replaceAll(/\s+/g, '');
  const [thought, seen] = [bare(said.reasoning), bare(got.reasoning)];
  return thought === seen ? [] : [`reasoning ${at(thought, seen)}`];
}

function callsDiffer(said: readonly ToldCall[], got: readonly ToldCall[], client: ClientStyle): readonly string[] {
  if (said.length !== got.length) {
    const names = (calls: readonly ToldCall[]): string => calls.map(({ name }) => name).join(' ') || 'none';
    return [`calls: ${names(said)} became ${names(got)}`];
  }
  return said.flatMap((call, i) => {
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

/** Ids of these letters are legal in every style, and have no reason to change. */
const LEGAL_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/** A group of tools is a prefix where there are no groups. */
function namesOf({ name, namespace }: ToldCall): readonly string[] {
  return namespace === undefined ? [name] : [name, `${namespace}__${name}`];
}

function isInput(said: ToldCall, seen: ToldCall): boolean {
  if (said.input === seen.input) return true;
  const value = parsed(seen.input);
  if (said.custom) return wraps(value, said.input);
  if (said.input.trim() === '') return isSame(value, {});
  const wanted = parsed(said.input);
  if (wanted === undefined) return wraps(value, said.input);
  return isSame(wanted, value) || (!isObject(wanted) && isObject(value) && isSame(Object.values(value), [wanted]));
}

/** Free text, as the only member of an object. */
function wraps(value: Json | undefined, text: string): boolean {
  return isObject(value) && isSame(Object.values(value), [text]);
}

/** The ends that a client of each style may see for the vendor's. */
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

function stopDiffers(said: Told, got: Told, client: ClientStyle): readonly string[] {
  const allowed = [...STOPS[client][said.stop]];
  // The vendor's own tools made it stop: for whoever cannot see them it just stops.
  if (said.stop === 'tool_calls' && said.calls.length === 0) allowed.push('stop');
  // An end in a word that nobody knows does not hide the calls.
  if (said.stop === 'other' && said.calls.length > 0) allowed.push('tool_calls');
  const lines = allowed.includes(got.stop) ? [] : [`stop ${said.stop} became ${got.stop}`];
  if (client === 'messages' && said.stopSequence !== undefined && said.stopSequence !== got.stopSequence) {
    lines.push(`stop sequence ${brief(said.stopSequence)} became ${brief(got.stopSequence)}`);
  }
  return lines;
}

function usageDiffers(said: ToldUsage | undefined, got: ToldUsage | undefined, client: ClientStyle): readonly string[] {
  if (got === undefined) return ['no usage'];
  if (said === undefined) return [];
  return (['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const).flatMap((name) => {
    const [told, seen] = [said[name] ?? 0, got[name]];
    // Not every release of messages tells what was thought.
    if (told === seen || (name === 'reasoning' && client === 'messages' && seen === undefined)) return [];
    return [`${name} tokens ${told} became ${seen ?? 'nothing'}`];
  });
}

/** Two texts, from where they part. */
function at(one: string, other: string): string {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const from = Math.max(0, same - 10);
  const piece = (text: string): string => brief(text.slice(from), 60);
  return `${piece(one)} became ${piece(other)}${from === 0 ? '' : ` (from ${from})`}`;
}

/** Where two values part: `choices[0].message.content: "a" is not "b"`; undefined where they do not. */
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
