/** What makes responses last: they can be continued, read and deleted, whichever vendor made them. */
import { durationMs, type Host, type Parts, type Style } from '../../../core/plugin.ts';
import { createHistory } from './history.ts';
import { createIssuer } from './issuer.ts';
import { historyRoutes } from './routes.ts';
import type { ResponsesSection } from './section.ts';
import { createSweep } from './sweep.ts';
import { createTurns } from './turns.ts';

export { responsesSection } from './section.ts';
export { migrations } from './tables.ts';

/** The parts, and `Style.recall` for the style whose answers are kept. */
export interface ResponseHistory extends Required<Pick<Parts, 'settle' | 'routes' | 'start' | 'stop'>> {
  readonly recall: NonNullable<Style['recall']>;
}

export function createResponseHistory(host: Host, { keep }: ResponsesSection): ResponseHistory {
  const turns = createTurns(host);
  const issuer = createIssuer(host, turns);
  const history = createHistory(host, turns, issuer, keep === 0 ? 0 : durationMs(keep));
  const sweep = createSweep(host);
  return {
    recall: history.recall,
    settle(x) {
      const step = history.keep(x);
      return step && [step];
    },
    routes: historyRoutes(turns, issuer),
    start: sweep.start,
    stop: sweep.stop,
  };
}
