/** What the routes of the console share. */

import type { Site } from '../../core/contracts/site.ts';
import type { Host, Service, Step } from '../../core/plugin.ts';
import type { Cookies } from './access/cookies.ts';
import type { Inviter } from './access/invite.ts';
import type { Limiter } from './access/limiter.ts';
import type { SignIn } from './access/open-session.ts';
import type { Guesses } from './access/sign-in-attempts.ts';
import type { Verification } from './access/verification.ts';
import type { Audited, Changing, ConsoleRequest } from './route.ts';

/** The dependencies of the routes of a file. */
export interface Tools {
  readonly host: Host;
  /** The section `console` of gateway.yaml. */
  readonly site: Site;
  readonly cookies: Cookies;
  readonly limiter: Limiter;
  readonly guesses: Guesses;
  readonly signIn: SignIn;
  readonly verification: Verification;
  readonly inviter: Inviter;
  /** Returns a service. If its plugin is not in the pipeline, the request is refused (404 `not_available`). */
  need<T>(service: Service<T>): T;
  /**
   * The steps that write an audit entry (actor, action, object such as `user 7`; default: the actor), for the list that makes the change,
   * and those of `changing`.
   */
  readonly audited: Audited;
  /** The conditions of a request and the new revision of what it changes, for the list that makes the change. */
  changing(request: Changing, object: string): readonly Step[];
  /** Writes an audit entry for a request that reads: its query is the facts. */
  note(request: Pick<ConsoleRequest, 'actor' | 'query'>, action: string): Promise<void>;
}
