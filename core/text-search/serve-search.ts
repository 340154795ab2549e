/** The thread's side of `search.ts`: several texts are searched in turn, so that a long one does not delay the others. */
import type { MessagePort } from 'node:worker_threads';
import type { Json } from '../contracts/formats/json.ts';
import type { Finder } from '../contracts/matching.ts';
import { MatchCollector, type Matches } from './matches.ts';

/** To the thread: first its configuration, then texts, finally `close`. */
export type ToSearch =
  | { readonly config: Json }
  | { readonly number: number; readonly text: string; readonly of: readonly number[]; readonly most: number }
  | 'close';
/** From the thread: the result of a search. */
export interface FromSearch {
  readonly number: number;
  readonly matches?: Matches;
  readonly failure?: string;
}

/** How long one text is searched before the next one is. */
const TURN_MS = 10;

interface Job {
  readonly number: number;
  readonly collector: MatchCollector;
}

/** Serves searches with the matchers that `create` makes of the plugin's configuration. */
export function serveSearch<C>(port: MessagePort, create: (config: C) => readonly Finder[]): void {
  const jobs: Job[] = [];
  let finders: readonly Finder[] = [];

  function answer({ number, collector }: Job): void {
    const { matches } = collector;
    const reply: FromSearch = { number, matches };
    port.postMessage(reply, [matches.buffer as ArrayBuffer]);
  }

  function fail(number: number, error: unknown): void {
    const reply: FromSearch = { number, failure: error instanceof Error ? error.message : String(error) };
    port.postMessage(reply);
  }

  function work(): void {
    const job = jobs.shift();
    if (job === undefined) return;
    try {
      const untilMs = performance.now() + TURN_MS;
      let goesOn = true;
      while (goesOn && performance.now() < untilMs) goesOn = job.collector.next();
      if (goesOn) jobs.push(job);
      else answer(job);
    } catch (error) {
      fail(job.number, error);
    }
    if (jobs.length > 0) setImmediate(work);
  }

  port.on('message', (message: ToSearch) => {
    if (message === 'close') {
      port.close();
      return;
    }
    if ('config' in message) {
      finders = create(message.config as C);
      return;
    }
    const { number, text, of, most } = message;
    try {
      jobs.push({ number, collector: new MatchCollector(finders, text, of, most) });
    } catch (error) {
      fail(number, error);
      return;
    }
    if (jobs.length === 1) setImmediate(work);
  });
}
