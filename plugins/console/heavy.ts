/** Statistics, logs and files: of one account one at a time, because many at once would take the gateway from all others. */

import { coreErrors } from '../../core/contracts/errors.ts';
import { Answer, answer } from '../../core/plugin.ts';
import { createTurns } from '../../core/sdk.ts';
import type { Tag } from './access/tags.ts';
import type { ApiRoute, ConsoleRequest } from './route.ts';

/** The tags of routes that read many rows. */
const HEAVY: ReadonlySet<Tag> = new Set(['Usage', 'Logs', 'Team', 'Audit']);
/** Accounts that are answered at the same time. */
const MOST_AT_ONCE = 4;
/** Requests of one account that may wait: a page of the console asks for a few at once. */
const MOST_WAITING = 16;

/** Answers the routes of a table. */
export function createHeavyWork() {
  const turns = createTurns({ atOnce: MOST_AT_ONCE, waiting: MOST_WAITING, refuse: tooMany });
  // A file is sent as fast as its client reads, which may take long: only its own account waits for its end.
  const files = createTurns({ atOnce: Number.POSITIVE_INFINITY, waiting: 0, refuse: oneFile });

  async function file(owner: number, row: ApiRoute, request: ConsoleRequest): Promise<unknown> {
    const end = await files.begin(owner);
    try {
      const given = await turns.take(owner, async () => row.handle(request));
      if (!(given instanceof Answer) || typeof given.body !== 'object' || !(Symbol.asyncIterator in given.body)) {
        end();
        return given;
      }
      return answer(given.status, endedBy(given.body, end), given.headers);
    } catch (error) {
      end();
      throw error;
    }
  }

  return {
    /** Answers the request; when it is the account's turn if the route is a heavy one. */
    async handle(row: ApiRoute, request: ConsoleRequest): Promise<unknown> {
      const owner = (request.holder?.account ?? request.visitor)?.id;
      if (owner === undefined) return row.handle(request);
      if (isFile(row, request)) return file(owner, row, request);
      if (row.heavy !== true && !readsMany(row)) return row.handle(request);
      return turns.take(owner, async () => row.handle(request));
    },
  };
}

/** Whether a route reads many rows; one with an id in its path reads those of one thing. */
function readsMany({ method, tag, path }: ApiRoute): boolean {
  return method === 'GET' && HEAVY.has(tag) && !path.includes('/:');
}

function isFile({ answer: type }: ApiRoute, { query }: ConsoleRequest): boolean {
  return type === 'text/csv' || (query as { readonly format?: string } | undefined)?.format === 'csv';
}

/** The same pieces; calls `end` after the last one, and when the client has left, even before the first. */
function endedBy(pieces: AsyncIterable<string>, end: () => void): AsyncIterable<string> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = pieces[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            const piece = await iterator.next();
            if (piece.done === true) end();
            return piece;
          } catch (error) {
            end();
            throw error;
          }
        },
        async return() {
          end();
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function tooMany(): never {
  throw coreErrors.concurrency_limit_exceeded(
    `Of one account, statistics and lists are read one at a time, and ${MOST_WAITING} requests may wait. Try again when one has ended.`,
  );
}

function oneFile(): never {
  throw coreErrors.concurrency_limit_exceeded(
    'Of one account, files are exported one at a time. Try again when the other one is complete.',
  );
}
