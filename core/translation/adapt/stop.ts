/** Stop sequences: those sent to the vendor, and those the gateway detects itself if the vendor supports none. */

import type { Part } from '../../contracts/formats/conversation.ts';
import type { Json } from '../../contracts/formats/json.ts';
import type { Quirks } from '../../contracts/formats/quirks.ts';
import type { Warnings } from '../../contracts/formats/warnings.ts';
import type { PartSink } from '../conversation/fold.ts';

/** The detection of stop sequences. */
export interface FittedStop {
  /** By the vendor. */
  readonly stop: readonly string[];
  /** By the gateway. */
  readonly emulated: readonly string[];
}

const NO_STOP: FittedStop = { stop: [], emulated: [] };

/** Limits for detection by the gateway; each is compared with every piece of the answer. */
const MAX_EMULATED = 16;
const MAX_EMULATED_LENGTH = 256;

/** The gateway detects those beyond the vendor's maximum number, and blank ones, which vendors refuse. */
export function fitStop(requested: readonly string[], { max }: Quirks['stop'], warnings: Warnings): FittedStop {
  if (requested.length === 0) return NO_STOP;
  const real = requested.filter((text) => text !== '');
  const stop = real.filter((text) => text.trim() !== '').slice(0, max);
  const forwarded = new Set(stop);
  const emulated = real.filter((text) => !forwarded.has(text));
  if (emulated.length > MAX_EMULATED) {
    warnings.refuse('stop', `must contain at most ${max + MAX_EMULATED} sequences for this model.`);
  }
  if (emulated.some(({ length }) => length > MAX_EMULATED_LENGTH)) {
    warnings.refuse(
      'stop',
      `must not contain sequences of more than ${MAX_EMULATED_LENGTH} characters for this model.`,
    );
  }
  // The answer ends as the client requested, although the vendor does not stop there.
  if (emulated.length > 0) warnings.change('stop', 'hint');
  return { stop, emulated };
}

/** A text of the answer. */
interface Watched {
  /** The end that could still become a stop sequence. */
  held: string;
  /** Log probabilities of tokens that have not been sent completely. */
  logprobs: Json[];
  /** Characters sent, and those whose log probabilities were sent. */
  passed: number;
  explained: number;
  /** A stop sequence was found here: no more of the text is sent. */
  cut: boolean;
}

/**
 * Cuts the answer where one of `stops` starts. Blocks open before the cut are completed, later ones are dropped, and
 * the usage is kept: the vendor continued, and charges for it.
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

/** The sequence that is complete first, as a vendor would detect it; of several with the same end, the longest. */
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

/** The number of characters at the end of a text that could be the start of a stop sequence. */
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
