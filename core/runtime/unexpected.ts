/** What is thrown where nothing handles it: logged with the plugin that it comes from, which cannot end the process. */
import { basename, dirname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from './logger.ts';

/** Plugins by the file, or the folder with a separator at its end, that their code is in. */
const places = new Map<string, string>();
/** The plugin that called the function of core that failed. */
const callers = new WeakMap<object, string>();

/** Remembers where the code of a plugin is; `source` is the file that was loaded. */
export function placePlugin(plugin: string, source: string): void {
  places.set(source, plugin);
  if (/^index\.[cm]?[jt]s$/.test(basename(source))) places.set(dirname(source) + sep, plugin);
}

/** A function of core for one plugin: what it throws or rejects with is known to be of that plugin, whose call may be in no stack. */
export function onBehalfOf<A extends unknown[], T>(
  plugin: string,
  work: (...args: A) => Promise<T>,
): (...args: A) => Promise<T> {
  return (...args) =>
    work(...args).catch((error: unknown) => {
      if (typeof error === 'object' && error !== null && !callers.has(error)) callers.set(error, plugin);
      throw error;
    });
}

/** Where an error comes from. */
export interface Origin {
  /** Undefined: of the gateway itself, or unknown. */
  readonly plugin: string | undefined;
  /** File and line of the first frame that is not of Node.js; undefined: it has none. */
  readonly at: string | undefined;
}

/** The origin of an error, as its stack, or the function of core that it passed, tells it. */
export function originOf(error: unknown): Origin {
  const isObject = typeof error === 'object' && error !== null;
  const stack = isObject ? (error as { readonly stack?: unknown }).stack : undefined;
  const frames = typeof stack === 'string' ? framesOf(stack) : [];
  const plugin = (isObject ? callers.get(error) : undefined) ?? frames.map(({ file }) => pluginAt(file)).find(Boolean);
  const [first] = frames;
  return { plugin, at: first && `${first.file}:${first.line}` };
}

interface Frame {
  readonly file: string;
  readonly line: string;
}

const FRAME = /^ {4}at (?:.*\(|async )?((?:file:\/\/)?\/[^?:()]+)(?:\?[^:()]*)?:(\d+):\d+\)?$/;

/** The frames of a stack that are in a file, the innermost first. */
function framesOf(stack: string): readonly Frame[] {
  return stack.split('\n').flatMap((text) => {
    const [, place, line] = FRAME.exec(text) ?? [];
    if (place === undefined || line === undefined) return [];
    return [{ file: place.startsWith('file:') ? fileURLToPath(place) : place, line }];
  });
}

function pluginAt(file: string): string | undefined {
  const exact = places.get(file);
  if (exact !== undefined) return exact;
  for (const [place, plugin] of places) if (place.endsWith(sep) && file.startsWith(place)) return plugin;
  return undefined;
}

/**
 * Handles what nothing else does. A rejected promise is logged. So is an exception in a timer or event of a plugin: the process goes on. After any other
 * exception its state is not known: `mustEnd` is called once, to drain and end the process.
 */
export function watchUnexpected(log: Log, mustEnd: (error: Error) => void): void {
  process.on('unhandledRejection', (error) => {
    log.error('a promise was rejected, and nothing handles it', { ...originOf(error), error });
  });
  let ends = false;
  process.on('uncaughtException', (error) => {
    const origin = originOf(error);
    log.error('an exception was thrown, and nothing handles it', { ...origin, error });
    if (origin.plugin !== undefined || ends) return;
    ends = true;
    mustEnd(error);
  });
}
