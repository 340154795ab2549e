/** Keeps responses: they can be continued, read and deleted, whichever vendor made them. */

import type { Host, Ingress, Parts } from '../../../core/plugin.ts';
import { durationMs } from '../../../core/sdk.ts';
import { createHistory } from './history.ts';
import { createIssuer } from './issuer.ts';
import { createJoiner } from './joiner.ts';
import { createKeeping } from './keeping.ts';
import { historyRoutes } from './routes.ts';
import type { ResponsesSection } from './section.ts';
import { bytesAreSummed } from './sizes.ts';
import { createSweep } from './sweep.ts';
import { createTurns } from './turns.ts';

export { responsesSection } from './section.ts';
export { migrations } from './tables.ts';

/** The routes and tasks, and `Ingress.recall` for the style whose responses are kept. */
export interface ResponseHistory extends Required<Pick<Parts, 'settle' | 'routes' | 'invariants' | 'start' | 'stop'>> {
  readonly recall: NonNullable<Ingress['recall']>;
}

export function createResponseHistory(host: Host, section: ResponsesSection): ResponseHistory {
  const keepMs = section.keep === 0 ? 0 : durationMs(section.keep);
  const turns = createTurns(host);
  const issuer = createIssuer(host, turns);
  const joiner = createJoiner();
  const keeping = createKeeping(host, section, keepMs > 0);
  const history = createHistory(host, { turns, issuer, keeping, joiner, keepMs });
  const sweep = createSweep(host, keeping.budgets);
  return {
    recall: history.recall,
    settle: history.keep,
    routes: historyRoutes(turns, issuer, joiner),
    invariants: [bytesAreSummed],
    start: sweep.start,
    async stop() {
      await Promise.all([sweep.stop(), joiner.close()]);
    },
  };
}
