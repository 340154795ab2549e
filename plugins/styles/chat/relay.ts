/** Forwards a chat stream byte for byte and meters it. */
import type { EventKind, Json, JsonObject, RelayOptions, StreamRelay } from '../../../core/plugin.ts';
import type { VendorError } from '../../../core/translation/index.ts';
import {
  countedUsage,
  eventData,
  eventName,
  isCutShort,
  isEndMark,
  isObject,
  objectsIn,
  parsed,
  readVendorError,
} from '../../../core/translation/index.ts';
import { errorEvent } from './errors.ts';
import { usageEvent } from './fields/completion.ts';
import { failureIn } from './fields/finish.ts';
import { CITED, SEARCHED } from './fields/hosted.ts';
import { errorIn, followUsage, isToldUsage, usageIn } from './fields/usage.ts';
import { type Glance, glance } from './glance.ts';

const DATA = 'data:';

/** Creates a relay for one attempt. It parses the few events with usage or an error, and scans the others. */
export function createRelay({ hideUsage, call, warnings }: RelayOptions): StreamRelay {
  const { choices } = call.bounds;
  const usage = followUsage();
  let textLength = 0;
  let begun = false;
  /** The choices that have started, in events that were parsed, with their finish reasons. */
  const ends = new Map<number, string | undefined>();
  /** The latest parsed event, and whether any event reported usage where clients look for it. */
  let latest: JsonObject | undefined;
  let hasUsage = false;
  let error: ReturnType<StreamRelay['error']>;
  /** An error arrived after the end of the answer. */
  let warned = false;
  /** Undefined until it is known whether the check is needed. */
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

  /** True if every requested choice, and every other that has started, has a finish reason. */
  function isComplete(): boolean {
    return ends.size >= choices && ![...ends.values()].includes(undefined);
  }

  /** The failure in which all choices end. */
  function failure(): VendorError | undefined {
    const failures = [...ends.values()].map((reason) => failureIn(reason));
    return failures.includes(undefined) ? undefined : failures[0];
  }

  /** `data`: the content of the event's data lines. */
  function judge(
    event: Buffer,
    out: (Buffer | string)[],
    summary: Glance,
    data: string | undefined,
    isError: boolean,
  ): EventKind {
    if (data === undefined) {
      out.push(event);
      return 'hold';
    }
    if (isEndMark(data)) {
      if (!begun) return 'hold';
      sendUsage(out);
      out.push(event);
      return 'last';
    }
    const value = parsed(data);
    if (value === undefined) return judgeText(isError, data);
    const failed = errorIn(value) ?? (isError ? readVendorError(value) : undefined);
    // After the end of the answer, an error changes nothing.
    if (failed !== undefined && isComplete()) warned = true;
    else if (failed !== undefined) {
      error = failed;
      out.push(event);
      return 'error';
    }
    if (isObject(value)) latest = value;
    textLength += summary.textLength;
    followChoices(value);
    error = summary.finished && isComplete() ? failure() : undefined;
    if (error !== undefined) return 'error';
    const counted = summary.usage ? usageIn(value) : undefined;
    hasUsage ||= isObject(value) && isToldUsage(value.usage);
    if (counted === undefined) return pass(event, out);
    usage.add(counted, textLength);
    return hideUsage && !hasChoices(value) ? 'hold' : pass(event, out);
  }

  /**
   * If the client requested usage and the vendor does not report it, or in a member of its own, the gateway sends the
   * event: with the vendor's counts, otherwise with its own.
   */
  function sendUsage(out: (Buffer | string)[]): void {
    if (!call.asksUsage || hasUsage || latest === undefined) return;
    warnings.change('usage', 'hint');
    out.push(usageEvent(latest, usage.after(textLength) ?? countedUsage(call.bounds, textLength)));
  }

  /** Data that is not JSON is not an event of this style: an error as plain text, part of an event, or meaningless. */
  function judgeText(isError: boolean, words: string): EventKind {
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
      const summary = isPlain ? glance(event, DATA.length) : glance(Buffer.from(data ?? ''), 0);
      // Most events are one line of data and need no parsing. With several choices, any of them may continue.
      const isRead =
        !isPlain ||
        !summary.closed ||
        summary.usage ||
        summary.error ||
        summary.empty ||
        summary.finished ||
        choices > 1;
      if (!isRead) {
        textLength += summary.textLength;
        return pass(event, out);
      }
      return judge(event, out, summary, data ?? eventData(event), eventName(event) === 'error');
    },
    close(out) {
      if (!begun || !isComplete()) return 'broken';
      if (warned) return 'whole';
      sendUsage(out);
      out.push('data: [DONE]\n\n');
      return 'untidy';
    },
    fail: errorEvent,
    usage: () => usage.after(textLength),
    uses: () => (searched ? SEARCHED : undefined),
    textLength: () => textLength,
    error: () => error,
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
