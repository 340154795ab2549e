/** The phases and how each runs: players, order, and failures. */

import { coreErrors } from '../contracts/errors.ts';
import type { Attempt, Offer } from '../contracts/formats/call.ts';
import type { Content, GivenAnswer, Inspection, Revision } from '../contracts/formats/content.ts';
import { GatewayError } from '../contracts/gateway-error.ts';
import type { Holder } from '../contracts/identity.ts';
import type {
  Awaitable,
  Entrant,
  Exchange,
  Known,
  Ordered,
  Parts,
  RouteEnd,
  Screening,
  Step,
  Unidentified,
} from '../plugin.ts';
import type { Deadlines } from '../runtime/deadlines.ts';
import type { Log } from '../runtime/logger.ts';
import { createTurns, type Turns } from '../text-search/turns.ts';
import { problemOfHolder, problemOfInspection, problemOfOffers } from './returned.ts';

/** A plugin's revision of one answer. */
export interface Revising {
  readonly plugin: string;
  readonly revision: Revision;
}

/** A result of `inspect`, and the plugin's index in the pipeline. */
export interface Inspector {
  readonly plugin: string;
  readonly at: number;
}

/** Applies a result; true: later plugins are not called. */
export type Take = (inspection: Inspection, by: Inspector) => Awaitable<boolean>;

/** The phases. */
export interface Pipeline {
  /** Who is calling? Refuses with 401 if no plugin knows. */
  authenticate(x: Unidentified): Awaitable<Holder>;
  /** May the request enter? */
  enter(x: Entrant): Awaitable<void>;
  /** May anything be done for the call? Rejects with the client's error if not. Synchronous unless a plugin returns a promise. */
  screen(x: Known, about: Screening): Awaitable<void>;
  /** Large contents are inspected one at a time per account. */
  readonly turns: Turns;
  /** Whether any plugin inspects calls. */
  readonly inspects: boolean;
  /** Whether any plugin revises answers. */
  readonly revises: boolean;
  /** Runs `inspect` of all plugins in turn; rejects if one refuses. Synchronous unless a plugin returns a promise. */
  inspect(x: Known, content: Content, take: Take): Awaitable<void>;
  /** May the call proceed? */
  admit(x: Known): Awaitable<void>;
  /** Which targets can serve it? Refuses with 404. */
  route(x: Known): Awaitable<Iterable<Offer>>;
  /** The targets as `order` of all plugins leaves them. Throws what they throw. */
  order(x: Known, offers: readonly Offer[]): readonly Offer[];
  /** Can the answer be paid? Rejects with the client's error if not. Synchronous unless a plugin returns a promise. */
  pay(x: Known): Awaitable<void>;
  /** The revisions of an answer, the last plugin's first, of plugins before index `before`. Throws what they throw. */
  revise(x: Known, before: number): readonly Revising[];
  /** Reports an attempt. */
  attempted(x: Known, attempt: Attempt): void;
  /** The settlement of a request: all plugins' steps, for one atomic list. Rejects if an essential plugin failed. */
  settle(x: Exchange): Awaitable<Settlement>;
  /** The same without one plugin that is not essential: of those the one at index `tried`; undefined: there is none. */
  without(settlement: Settlement, tried: number): Settlement | undefined;
  /** Logs the plugin whose steps were left out because of `error`. */
  blame(settlement: Settlement, error: unknown, x: Exchange): void;
  /** Reports that a settlement could not be written. */
  unsettled(x: Exchange): void;
  /** Reports the answer to a key's request for a route. */
  answered(x: Entrant, end: RouteEnd): void;
  /** `admit` → `keys → limits → quota`; for `check`. */
  describe(): readonly (readonly [phase: string, players: readonly string[]])[];
}

/** The settlement steps of a call, by plugin. */
export interface Settlement {
  /** Of all plugins, in pipeline order. */
  readonly steps: Step[];
  /** End index of each settling plugin's steps. */
  readonly ends: number[];
  /** The plugin whose steps were left out, by its index among the settling ones. */
  readonly omitted?: number;
}

/** Time limit of a plugin for one phase of one call. */
const PHASE_MS = 30_000;
/** Additional time before it counts as failed. */
const GRACE_MS = 1_000;

/** Accounts whose large contents are inspected at the same time. */
const MOST_INSPECTED = 8;
/** Large contents of one account that may wait. */
const MOST_WAITING = 64;

function tooManyInspections(): never {
  throw coreErrors.concurrency_limit_exceeded(
    `Of one account, ${MOST_WAITING} large requests may wait to be inspected. Try again when one has ended.`,
  );
}

/** A plugin failed in a phase. The client learns no more than that. */
function broken(log: Log, phase: string, plugin: string, error: unknown, x: { readonly id: string }): never {
  if (error instanceof GatewayError) throw error;
  log.error('a plugin failed', { phase, plugin, exchange: x.id, error });
  throw error;
}

type Phase = 'authenticate' | 'enter' | 'screen' | 'inspect' | 'admit' | 'route' | 'order' | 'revise' | 'pay';

/** A plugin's function for a phase: from `X` to `T`. */
interface Asked<X, T> {
  readonly name: string;
  run(x: X): Awaitable<T | undefined>;
}

/** Converts what `work` throws to a rejection. */
async function rejected(work: () => never): Promise<never> {
  return work();
}

/** A result of `inspect` that can be taken. */
function fitting(inspection: Inspection): Inspection {
  const problem = problemOfInspection(inspection);
  if (problem !== undefined) throw new Error(problem);
  return inspection;
}

function nobodyKnows(): never {
  throw coreErrors.invalid_api_key('No plugin in the pipeline authenticates callers.');
}

function nobodyServes(): never {
  throw coreErrors.model_not_found('No plugin in the pipeline serves models.');
}

/** Builds the phases from the plugins, in pipeline order. */
export function createPipeline(players: readonly Player[], log: Log, deadlines: Deadlines): Pipeline {
  const having = <P extends keyof Parts>(phase: P) =>
    players.flatMap(({ name, parts }, at) =>
      parts[phase] === undefined
        ? []
        : [
            {
              name,
              at,
              isEssential: parts.essential === true,
              run: (parts[phase] as (...args: never[]) => unknown).bind(parts),
            },
          ],
    );
  const authenticate = having('authenticate') as { name: string; run: NonNullable<Parts['authenticate']> }[];
  const enter = having('enter') as { name: string; run: NonNullable<Parts['enter']> }[];
  const screen = having('screen') as { name: string; run: NonNullable<Parts['screen']> }[];
  const inspect = having('inspect') as { name: string; at: number; run: NonNullable<Parts['inspect']> }[];
  const admit = having('admit') as { name: string; run: NonNullable<Parts['admit']> }[];
  const route = having('route') as { name: string; run: NonNullable<Parts['route']> }[];
  const order = having('order') as { name: string; run: NonNullable<Parts['order']> }[];
  const revise = having('revise') as { name: string; at: number; run: NonNullable<Parts['revise']> }[];
  const pay = having('pay') as { name: string; run: NonNullable<Parts['pay']> }[];
  const attempted = having('attempted') as { name: string; run: NonNullable<Parts['attempted']> }[];
  const settle = having('settle') as { name: string; isEssential: boolean; run: NonNullable<Parts['settle']> }[];
  const unsettled = having('unsettled') as { name: string; run: NonNullable<Parts['unsettled']> }[];
  const answered = having('answered') as { name: string; run: NonNullable<Parts['answered']> }[];

  /**
   * Calls the players in turn; with `problemOf`, until one returns a value, which must have no problem. Synchronous if all are: needless promises
   * would cost a call more than the rest of its phases. Rejects, and never throws.
   */
  function ask<X extends { readonly id: string }, T>(
    phase: Phase,
    players: readonly Asked<X, T>[],
    x: X,
    problemOf?: (answer: T) => string | undefined,
    from = 0,
  ): Awaitable<T | undefined> {
    const wins = problemOf !== undefined;
    const checked = (answer: T): T => {
      const problem = problemOf!(answer);
      if (problem !== undefined) throw new Error(problem);
      return answer;
    };
    for (let i = from; i < players.length; i++) {
      const { name, run } = players[i]!;
      try {
        const answer = run(x);
        if (answer instanceof Promise) {
          const failed = (error: unknown): never => broken(log, phase, name, error, x);
          const answering = inTime(answer).then((found) => (wins && found !== undefined ? checked(found) : undefined));
          return answering.then((found) => found ?? ask(phase, players, x, problemOf, i + 1), failed);
        }
        if (wins && answer !== undefined) return checked(answer);
      } catch (error) {
        return rejected(() => broken(log, phase, name, error, x));
      }
    }
    return undefined;
  }

  /** A player's result, or a rejection after the time limit. */
  function inTime<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (): void => reject(new Error(`it has not answered within ${PHASE_MS / 1_000} s`));
      // If the whole process was paused, the result may already be there.
      let deadline = deadlines.set(PHASE_MS, () => {
        deadline = deadlines.set(GRACE_MS, late);
      });
      answer.then(resolve, reject).finally(() => deadlines.clear(deadline));
    });
  }

  /** Calls `inspect` of the players from this one on. Rejects, and never throws. */
  function inspectFrom(i: number, x: Known, content: Content, take: Take): Awaitable<void> {
    for (let next = i; next < inspect.length; next++) {
      const { name, at, run } = inspect[next]!;
      const failed = (error: unknown): never => broken(log, 'inspect', name, error, x);
      try {
        const result = run(x, content);
        if (result instanceof Promise) {
          return inTime(result)
            .then((inspection) => inspection !== undefined && take(fitting(inspection), { plugin: name, at }))
            .catch(failed)
            .then((isLast) => (isLast ? undefined : inspectFrom(next + 1, x, content, take)));
        }
        if (result === undefined) continue;
        const taking = take(fitting(result), { plugin: name, at });
        if (taking instanceof Promise) {
          return taking.catch(failed).then((isLast) => (isLast ? undefined : inspectFrom(next + 1, x, content, take)));
        }
        if (taking) return;
      } catch (error) {
        return rejected(() => failed(error));
      }
    }
  }

  /** Asks every player for the order of targets. */
  function inOrder(x: Known, offers: readonly Offer[]): readonly Offer[] {
    let ordered = offers;
    for (const { name, run } of order) {
      try {
        const result = run(x, ordered) ?? ordered;
        if (result.some((offer) => !ordered.includes(offer)) || new Set(result).size < result.length)
          throw new Error('`order` must return targets that it was given, each once');
        ordered = result;
      } catch (error) {
        broken(log, 'order', name, error, x);
      }
    }
    return ordered;
  }

  /** Notifies every player. */
  function tell<X extends { readonly id: string }, T>(
    phase: 'attempted' | 'answered' | 'unsettled',
    players: readonly { readonly name: string; run(x: X, what: T): void }[],
    x: X,
    what: T,
  ): void {
    for (const { name, run } of players) {
      try {
        run(x, what);
      } catch (error) {
        log.error('a plugin failed', { phase, plugin: name, exchange: x.id, error });
      }
    }
  }

  /** Logs a failure; one of an essential plugin fails the call. */
  function failedToSettle(place: number, error: unknown, x: Exchange, failures: unknown[]): void {
    const { name, isEssential } = settle[place]!;
    log.error('a plugin failed', { phase: 'settle', plugin: name, exchange: x.id, error });
    if (isEssential) failures.push(error);
  }

  /** Collects the steps of the players from this one on; all are called, even if one of them fails. */
  function collect(x: Exchange, from: number, settlement: Settlement, failures: unknown[]): Awaitable<Settlement> {
    const { steps, ends } = settlement;
    for (let i = from; i < settle.length; i++) {
      try {
        const answer = settle[i]!.run(x);
        if (answer instanceof Promise) {
          return inTime(answer)
            .then(
              (more) => void steps.push(...(more ?? [])),
              (error) => failedToSettle(i, error, x, failures),
            )
            .then(() => {
              ends.push(steps.length);
              return collect(x, i + 1, settlement, failures);
            });
        }
        if (answer !== undefined) steps.push(...answer);
      } catch (error) {
        failedToSettle(i, error, x, failures);
      }
      ends.push(steps.length);
    }
    return failures.length > 0 ? Promise.reject(failures[0]) : settlement;
  }

  /** Indexes of the settling plugins that have steps and are not essential. */
  function dispensable({ ends }: Settlement): readonly number[] {
    return settle.flatMap(({ isEssential }, i) => (isEssential || ends[i] === (ends[i - 1] ?? 0) ? [] : [i]));
  }

  return {
    authenticate(x) {
      const holder = ask('authenticate', authenticate, x, problemOfHolder);
      if (holder instanceof Promise) return holder.then((found) => found ?? nobodyKnows());
      return holder ?? rejected(nobodyKnows);
    },
    enter: (x) => ask('enter', enter, x),
    screen(x, about) {
      if (screen.length === 0) return undefined;
      const own = screen.map(({ name, run }) => ({ name, run: (each: Known) => run(each, about) }));
      return ask('screen', own, x);
    },
    turns: createTurns({ atOnce: MOST_INSPECTED, waiting: MOST_WAITING, refuse: tooManyInspections }),
    inspects: inspect.length > 0,
    revises: revise.length > 0,
    inspect: (x, content, take) => inspectFrom(0, x, content, take),
    admit: (x) => ask('admit', admit, x),
    revise(x, before) {
      const found: Revising[] = [];
      for (const { name, at, run } of revise) {
        if (at >= before) break;
        try {
          const revision = run(x);
          if (revision !== undefined) found.unshift({ plugin: name, revision });
        } catch (error) {
          broken(log, 'revise', name, error, x);
        }
      }
      return found;
    },
    order: inOrder,
    route(x) {
      const ordered: Ordered = (offers) => (order.length === 0 ? offers : inOrder(x, offers));
      const asked = route.map(({ name, run }) => ({ name, run: (x: Known) => run(x, ordered) }));
      const offers = ask('route', asked, x, problemOfOffers);
      if (offers instanceof Promise) return offers.then((found) => found ?? nobodyServes());
      return offers ?? rejected(nobodyServes);
    },
    pay: (x) => ask('pay', pay, x),
    attempted: (x, attempt) => tell('attempted', attempted, x, attempt),
    answered: (x, end) => tell('answered', answered, x, end),
    unsettled: (x) => tell('unsettled', unsettled, x, undefined),
    settle: (x) => collect(x, 0, { steps: [], ends: [] }, []),
    without(settlement, tried) {
      const omitted = dispensable(settlement)[tried];
      if (omitted === undefined) return undefined;
      const { steps, ends } = settlement;
      return { steps: steps.filter((_, i) => i < (ends[omitted - 1] ?? 0) || i >= ends[omitted]!), ends, omitted };
    },
    blame({ omitted }, error, x) {
      const plugin = settle[omitted!]!.name;
      log.error('the store refused the steps of a plugin', { plugin, exchange: x.id, error });
    },
    describe() {
      const phases = { authenticate, enter, screen, inspect, admit, route, order, attempted, revise, pay, settle };
      return Object.entries(phases).map(([phase, found]) => [phase, found.map(({ name }) => name)] as const);
    },
  };
}

/** An answer that a plugin gives in place of a vendor, and which plugin that is. */
export interface Given extends Inspector {
  readonly answer: GivenAnswer;
}

/** A plugin's name and its parts. */
export interface Player {
  readonly name: string;
  readonly parts: Parts;
}
