/** Everything that serves requests by one configuration. */

import type { LiveExchange } from '../call/live-exchange.ts';
import type { Pipeline } from '../call/phases.ts';
import type { BodyLimits } from '../config/core-sections.ts';
import type { DeliverTools } from '../delivery/deliver.ts';
import type { Origins } from '../http/cors.ts';
import type { Router } from '../http/router.ts';
import type { Intake } from '../incoming/body-budgets.ts';
import type { Guard } from '../plugin.ts';
import type { Roll } from '../runtime/registry.ts';

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
