/** Texts that end an answer: those the vendor is told, and those the gateway looks for itself where the vendor knows none. */

import type { Part } from '../contracts/conversation.ts';
import type { Json } from '../contracts/json.ts';
import type { Quirks } from '../contracts/quirks.ts';
import type { Losses } from '../contracts/style.ts';
import type { PartSink } from './restore.ts';

/** Who looks for which of them. */
export interface FittedStop {
  /** The vendor. */
  readonly stop: readonly string[];
  /** The gateway. */
  readonly emulated: readonly string[];
}

const NO_STOP: FittedStop = { stop: [], emulated: [] };

/** What the gateway looks for itself; each is compared with every piece of the answer. */
const MAX_EMULATED = 16;
const MAX_EMULATED_LENGTH = 256;

/** What the vendor cannot be told is looked for here: texts beyond its number, and such as are nothing but space, which vendors refuse. */
export function fitStop(asked: readonly string[], { max }: Quirks['stop'], losses: Losses): FittedStop {
  if (asked.length === 0) return NO_STOP;
  const real = asked.filter((text) => text !== '');
  const stop = real.filter((text) => text.trim() !== '').slice(0, max);
  const told = new Set(stop);
  const emulated = real.filter((text) => !told.has(text));
  if (emulated.length > MAX_EMULATED) {
    losses.refuse('stop', `may hold ${max + MAX_EMULATED} texts at most with this model.`);
  }
  if (emulated.some(({ length }) => length > MAX_EMULATED_LENGTH)) {
    losses.refuse('stop', `may not hold texts of more than ${MAX_EMULATED_LENGTH} characters with this model.`);
  }
  // The answer ends where the client wants it to end; only the vendor does not stop there.
  if (emulated.length > 0) losses.change('stop', 'hint');
  return { stop, emulated };
}

/** A text of the answer on its way. */
interface Watched {
  /** What could still become one of the texts that end the answer. */
  held: string;
  /** Log probabilities of tokens that have not passed as a whole. */
  logprobs: Json[];
  /** Characters that have passed, and of those the ones whose log probabilities have. */
  passed: number;
  explained: number;
  /** The end was found here: nothing of its text passes any more. */
  cut: boolean;
}

/**
 * Cuts the answer where one of `stops` begins. What was open before the cut goes on to its end, what would begin behind it never
 * does, and the usage passes: the vendor went on, and what it used is used.
 */
export function cutAtStop(stops: readonly string[], next: PartSink): PartSink {
  const open = new Set<number>();
  const texts = new Map<number, Watched>();
  let hit: string | undefined;

  function pass(key: number, text: Watched, length: number): void {
    const passing = text.held.slice(0, length);
    text.held = text.held.slice(length);
    text.passed += length;
    const logprobs: Json[] = [];
    for (let entry = text.logprobs[0]; entry !== undefined; entry = text.logprobs[0]) {
      if (text.explained + tokenLength(entry) > text.passed) break;
      text.explained += tokenLength(entry);
      logprobs.push(entry);
      text.logprobs.shift();
    }
    if (passing === '' && logprobs.length === 0) return;
    next({ type: 'delta', key, text: passing, ...(logprobs.length > 0 && { logprobs }) });
  }

  function watch(part: Part & { readonly type: 'delta' }, text: Watched): void {
    text.logprobs.push(...(part.logprobs ?? []));
    if (text.cut) {
      pass(part.key, text, 0);
      return;
    }
    text.held += part.text;
    const found = firstEnd(text.held, stops);
    pass(part.key, text, found?.start ?? text.held.length - openEnd(text.held, stops));
    if (found === undefined) return;
    text.cut = true;
    text.held = '';
    hit ??= found.stop;
  }

  return (part) => {
    if (part.type === 'finish') {
      next(hit === undefined ? part : { type: 'finish', finish: { reason: 'stop_sequence', stopSequence: hit } });
      return;
    }
    if (!('key' in part)) {
      next(part);
      return;
    }
    if (part.type === 'blockStart') {
      if (hit !== undefined) return;
      open.add(part.key);
      if (part.block.type === 'text') {
        texts.set(part.key, { held: '', logprobs: [], passed: 0, explained: 0, cut: false });
      }
    }
    if (!open.has(part.key)) return;
    const text = texts.get(part.key);
    if (part.type === 'delta' && text !== undefined) {
      watch(part, text);
      return;
    }
    if (part.type === 'citation' && text?.cut && (part.citation.end ?? 0) > text.passed) return;
    if (part.type === 'blockEnd') {
      if (text !== undefined && !text.cut) pass(part.key, text, text.held.length);
      open.delete(part.key);
      texts.delete(part.key);
    }
    next(part);
  };
}

/** The text that is complete first, as a vendor would notice it; the longest where several end at one place. */
function firstEnd(
  text: string,
  stops: readonly string[],
): { readonly start: number; readonly stop: string } | undefined {
  let first: { start: number; stop: string; end: number } | undefined;
  for (const stop of stops) {
    const start = text.indexOf(stop);
    const end = start + stop.length;
    if (start === -1 || (first && (end > first.end || (end === first.end && start > first.start)))) continue;
    first = { start, stop, end };
  }
  return first;
}

/** How many characters at the end of a text could be the beginning of one that ends the answer. */
function openEnd(text: string, stops: readonly string[]): number {
  let longest = 0;
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(stop.slice(0, length))) longest = length;
    }
  }
  return longest;
}

function tokenLength(entry: Json): number {
  const token = typeof entry === 'object' && entry !== null && 'token' in entry ? entry.token : undefined;
  return typeof token === 'string' ? token.length : 0;
}
