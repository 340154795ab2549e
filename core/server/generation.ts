/** Everything that serves requests by one configuration. */

import type { BodyLimits } from '../config/core-sections.ts';
import type { Origins } from '../cors.ts';
import type { DeliverTools } from '../deliver.ts';
import type { LiveExchange } from '../exchange.ts';
import type { Intake } from '../intake.ts';
import type { Pipeline } from '../pipeline.ts';
import type { Guard } from '../plugin.ts';
import type { Roll } from '../roll.ts';
import type { Router } from '../router.ts';

/** Everything a request needs from one configuration. A reload swaps it; running requests keep theirs. */
export interface Generation {
  readonly router: Router;
  readonly pipeline: Pipeline;
  readonly guards: Readonly<Record<string, Guard>>;
  readonly deliver: DeliverTools;
  readonly trusted: (ip: string) => boolean;
  readonly origins: Origins;
  readonly limits: BodyLimits;
  /** The body budgets of all generations. */
  readonly intake: Intake;
  /** The folder for uploaded files. */
  readonly spoolDirectory: string;
  /** Requests that run in this generation. */
  readonly live: Roll<LiveExchange>;
}
