/** Passes one stream of chat chunks on, byte for byte, and counts along. */
import type { EventKind, Json, JsonObject, RelayOptions, StreamRelay, Usage } from '../../../core/plugin.ts';
import type { VendorError } from '../../../core/translation/index.ts';
import {
  eventData,
  eventName,
  isCutShort,
  isEndMark,
  isObject,
  objectsIn,
  parsed,
  readVendorError,
  withCountedOutput,
} from '../../../core/translation/index.ts';
import { usageEvent } from './completion.ts';
import { errorEvent } from './errors.ts';
import { failureIn } from './finish.ts';
import { type Glance, glance } from './glance.ts';
import { CITED, SEARCHED } from './hosted.ts';
import { errorIn, isPlaceholder, usageIn } from './usage.ts';

const DATA = 'data:';

/** A relay for one attempt. It parses the few events that carry usage or an error, and only glances at the others. */
export function createRelay({ hideUsage, call, losses }: RelayOptions): StreamRelay {
  const { choices } = call.bounds;
  let usage: Usage | undefined;
  let textLength = 0;
  /** How much of it had come when the usage was told. */
  let toldAt = 0;
  let begun = false;
  /** The choices that have begun, as far as events are read: why each ends, once the vendor has said so. */
  const ends = new Map<number, string | undefined>();
  /** The latest event that was read, and whether any told the usage. */
  let latest: JsonObject | undefined;
  let told = false;
  let error: ReturnType<StreamRelay['error']>;
  /** An error came behind the end of the answer. */
  let warned = false;
  /** Undefined until it is known whether to look. */
  let searches: boolean | undefined;
  let searched = false;

  function pass(event: Buffer, out: (Buffer | string)[]): EventKind {
    begun = true;
    out.push(event);
    return 'pass';
  }

  function followChoices(value: Json | undefined): void {
    for (const { index, finish_reason: reason } of objectsIn(value, 'choices')) {
      const choice = typeof index === 'number' ? index : 0;
      ends.set(choice, typeof reason === 'string' && reason !== '' ? reason : ends.get(choice));
    }
  }

  /** Every choice that was asked for, and every other that has begun, has said why it ends. */
  function isComplete(): boolean {
    return ends.size >= choices && ![...ends.values()].includes(undefined);
  }

  /** The failure in which all of them end. */
  function failure(): VendorError | undefined {
    const failures = [...ends.values()].map((reason) => failureIn(reason));
    return failures.includes(undefined) ? undefined : failures[0];
  }

  /** `data` is what the event's data lines hold. */
  function judge(
    event: Buffer,
    out: (Buffer | string)[],
    seen: Glance,
    data: string | undefined,
    isError: boolean,
  ): EventKind {
    if (data === undefined) {
      out.push(event);
      return 'hold';
    }
    if (isEndMark(data)) {
      if (!begun) return 'hold';
      tellUsage(out);
      out.push(event);
      return 'last';
    }
    const value = parsed(data);
    if (value === undefined) return judgeWords(isError, data);
    const failed = errorIn(value) ?? (isError ? readVendorError(value) : undefined);
    // Behind the end of the answer it takes nothing from it.
    if (failed !== undefined && isComplete()) warned = true;
    else if (failed !== undefined) {
      error = failed;
      out.push(event);
      return 'error';
    }
    if (isObject(value)) latest = value;
    textLength += seen.textLength;
    followChoices(value);
    error = seen.finished && isComplete() ? failure() : undefined;
    if (error !== undefined) return 'error';
    const counted = seen.usage ? usageIn(value) : undefined;
    if (counted === undefined) return pass(event, out);
    told = true;
    // The last word counts, but some send zeros in place of one.
    if (counted.input + counted.output > 0) {
      usage = counted;
      toldAt = textLength;
    }
    return hideUsage && !hasChoices(value) ? 'hold' : pass(event, out);
  }

  /** A client that asked for the usage gets it, where its vendor does not tell by our own count. */
  function tellUsage(out: (Buffer | string)[]): void {
    if (!call.asksUsage || told || latest === undefined) return;
    losses.change('usage', 'hint');
    out.push(usageEvent(latest, call, textLength));
  }

  /** Data that is not JSON is no event of this style: an error in words, part of an event, or words that say nothing. */
  function judgeWords(isError: boolean, words: string): EventKind {
    if (!isError) return isCutShort(words) ? 'broken' : 'hold';
    error = readVendorError(words);
    return 'error';
  }

  return {
    see(event, out) {
      searches ??= Object.hasOwn(call.bounds.uses?.() ?? {}, 'web_search');
      if (searches) searched ||= event.includes(CITED);
      const isPlain = startsWithData(event);
      const data = isPlain ? undefined : eventData(event);
      const seen = isPlain ? glance(event, DATA.length) : glance(Buffer.from(data ?? ''), 0);
      // The common event is one line of data, and nothing about it needs to be read; of several choices any may go on.
      const isRead = !isPlain || !seen.closed || seen.usage || seen.error || seen.empty || seen.finished || choices > 1;
      if (!isRead) {
        textLength += seen.textLength;
        return pass(event, out);
      }
      return judge(event, out, seen, data ?? eventData(event), eventName(event) === 'error');
    },
    close(out) {
      if (!begun || !isComplete()) return 'broken';
      if (warned) return 'whole';
      tellUsage(out);
      out.push('data: [DONE]\n\n');
      return 'untidy';
    },
    fail: errorEvent,
    usage() {
      return usage !== undefined && isPlaceholder(usage, toldAt, textLength)
        ? withCountedOutput(usage, textLength)
        : usage;
    },
    uses() {
      return searched ? SEARCHED : undefined;
    },
    textLength() {
      return textLength;
    },
    error() {
      return error;
    },
  };
}

function startsWithData(event: Buffer): boolean {
  for (let i = 0; i < DATA.length; i++) if (event[i] !== DATA.charCodeAt(i)) return false;
  return true;
}

function hasChoices(value: Json | undefined): boolean {
  const choices = (value as JsonObject).choices;
  return Array.isArray(choices) && choices.length > 0;
}
