/** The five phases and how each runs: who plays, in which order, what a failure means. */
import type { Attempt, Offer } from './contracts/call.ts';
import type { Holder } from './contracts/keys.ts';
import { GatewayError, refuse } from './errors.ts';
import type { Log } from './log.ts';
import type { Exchange, Known, Parts, Step } from './plugin.ts';

/** A plugin's name and the parts it plays. */
export interface Player {
  readonly name: string;
  readonly parts: Parts;
}

export interface Pipeline {
  /** Who is calling? Refuses with 401 where nobody can tell. */
  authenticate(x: Exchange): Promise<Holder>;
  /** May the call go ahead? */
  admit(x: Known): Promise<void>;
  /** What can serve it? Refuses with 404. */
  route(x: Known): Promise<Iterable<Offer>>;
  /** Tells how an attempt went. */
  attempted(x: Known, attempt: Attempt): void;
  /** What is kept of an exchange: the steps of all plugins, to be written as one atomic list. Asked once. */
  settle(x: Exchange): Promise<readonly Step[]>;
  /** `admit` → `keys → limits → quota`; for `check`. */
  describe(): readonly (readonly [phase: string, players: readonly string[]])[];
}

/** A plugin broke a phase. The client learns no more than that. */
function broken(log: Log, phase: string, plugin: string, error: unknown, x: Exchange): never {
  if (error instanceof GatewayError) throw error;
  log.error('a plugin failed', { phase, plugin, exchange: x.id, error });
  throw error;
}

/** Builds the phases from the players, in the order of the pipeline. */
export function createPipeline(players: readonly Player[], log: Log): Pipeline {
  const having = <P extends keyof Parts>(phase: P) =>
    players
      .filter((player) => player.parts[phase] !== undefined)
      .map((player) => ({
        name: player.name,
        run: (player.parts[phase] as (...args: never[]) => unknown).bind(player.parts),
      }));
  const authenticate = having('authenticate') as { name: string; run: NonNullable<Parts['authenticate']> }[];
  const admit = having('admit') as { name: string; run: NonNullable<Parts['admit']> }[];
  const route = having('route') as { name: string; run: NonNullable<Parts['route']> }[];
  const attempted = having('attempted') as { name: string; run: NonNullable<Parts['attempted']> }[];
  const settle = having('settle') as { name: string; run: NonNullable<Parts['settle']> }[];

  // A plugin that answers at once is not awaited: eight awaited hooks cost more than the rest of the phase.
  return {
    async authenticate(x) {
      for (const { name, run } of authenticate) {
        try {
          const answer = run(x);
          const holder = answer instanceof Promise ? await answer : answer;
          if (holder !== undefined) return holder;
        } catch (error) {
          broken(log, 'authenticate', name, error, x);
        }
      }
      return refuse(401, 'invalid_api_key', 'No plugin of the pipeline knows who is calling.');
    },
    async admit(x) {
      for (const { name, run } of admit) {
        try {
          const waiting = run(x);
          if (waiting !== undefined) await waiting;
        } catch (error) {
          broken(log, 'admit', name, error, x);
        }
      }
    },
    async route(x) {
      for (const { name, run } of route) {
        try {
          const answer = run(x);
          const offers = answer instanceof Promise ? await answer : answer;
          if (offers !== undefined) return offers;
        } catch (error) {
          broken(log, 'route', name, error, x);
        }
      }
      return refuse(404, 'model_not_found', 'No plugin of the pipeline serves models.');
    },
    attempted(x, attempt) {
      for (const { name, run } of attempted) {
        try {
          run(x, attempt);
        } catch (error) {
          log.error('a plugin failed', { phase: 'attempted', plugin: name, exchange: x.id, error });
        }
      }
    },
    async settle(x) {
      const steps: Step[] = [];
      const failures: unknown[] = [];
      // Everybody is told that it is over, also where one of them fails and nothing can be written.
      for (const { name, run } of settle) {
        try {
          const answer = run(x);
          const more = answer instanceof Promise ? await answer : answer;
          if (more !== undefined) steps.push(...more);
        } catch (error) {
          log.error('a plugin failed', { phase: 'settle', plugin: name, exchange: x.id, error });
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
      return steps;
    },
    describe: () => [
      ['authenticate', authenticate.map((p) => p.name)],
      ['admit', admit.map((p) => p.name)],
      ['route', route.map((p) => p.name)],
      ['attempted', attempted.map((p) => p.name)],
      ['settle', settle.map((p) => p.name)],
    ],
  };
}
