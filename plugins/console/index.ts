/** The plugin `console`: the API `/api` for the console and other clients. It has routes, cookies and guards; services have the logic. */

import { Accounts } from '../../core/contracts/accounts.ts';
import { Alerts } from '../../core/contracts/alerts.ts';
import { Audit } from '../../core/contracts/audit.ts';
import { Catalog } from '../../core/contracts/catalog.ts';
import { ChosenKeys } from '../../core/contracts/chosen-keys.ts';
import { Configuring } from '../../core/contracts/configuring.ts';
import { Counters } from '../../core/contracts/counters.ts';
import { Departments } from '../../core/contracts/departments.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { Explaining } from '../../core/contracts/explaining.ts';
import { FirstStart } from '../../core/contracts/first-start.ts';
import { Groups } from '../../core/contracts/groups.ts';
import { Importing } from '../../core/contracts/importing.ts';
import { Invitations } from '../../core/contracts/invitations.ts';
import { KeyCheck } from '../../core/contracts/key-check.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Mail } from '../../core/contracts/mail.ts';
import { OAuth } from '../../core/contracts/oauth.ts';
import { Payments } from '../../core/contracts/payments.ts';
import { Prices } from '../../core/contracts/prices.ts';
import { Prompts } from '../../core/contracts/prompts.ts';
import { RateLimits } from '../../core/contracts/rate-limits.ts';
import { Records } from '../../core/contracts/records.ts';
import { Running } from '../../core/contracts/running.ts';
import { SecondFactors } from '../../core/contracts/second-factors.ts';
import { ServiceTokens } from '../../core/contracts/service-tokens.ts';
import { Sessions, Tickets } from '../../core/contracts/sessions.ts';
import { Site } from '../../core/contracts/site.ts';
import { Subscriptions } from '../../core/contracts/subscriptions.ts';
import { definePlugin, type Host, type JsonObject, refuse } from '../../core/plugin.ts';
import { type Cookies, createBrowsers, createCookies } from './access/cookies.ts';
import { checkOrigin, createGuards } from './access/guards.ts';
import { createInviter } from './access/invite.ts';
import { createLimiter, type Limiter } from './access/limiter.ts';
import { createSignIn } from './access/open-session.ts';
import { createGuesses } from './access/sign-in-attempts.ts';
import { createVerification } from './access/verification.ts';
import { tableOf } from './all-routes.ts';
import { createInviteCommand } from './commands/invite.ts';
import { createUserCommands } from './commands/user.ts';
import { errors } from './errors.ts';
import { routesOf } from './register-routes.ts';
import { createRepeats } from './repeats.ts';
import { createRevisions } from './revisions.ts';
import { idOf } from './route.ts';
import { consoleSection, siteOf } from './section.ts';
import { DIST, staticRoutes } from './static.ts';
import { migrations } from './tables.ts';
import type { Tools } from './tools.ts';

const HEADER = 'x-turnpike-key';

/** Creates the service. */
function createChosenKeys(host: Host, site: Site, cookies: Cookies, limiter: Limiter): ChosenKeys {
  const sessions = host.use(Sessions);
  const keys = host.use(Keys);
  return {
    isNamed: ({ headers }) => HEADER in headers,

    async find(caller) {
      await limiter.takeOf('requests', caller.ip);
      // Calls cost money, so the cross-site check applies to every HTTP method.
      checkOrigin(caller, site, true);
      const secret = cookies.read(caller.headers, 'session');
      const session = secret === undefined ? undefined : await sessions.find(secret);
      if (session === undefined) {
        throw coreErrors.not_signed_in(
          `${HEADER} selects a key of the signed-in user, but there is no session: sign in, or send a key.`,
        );
      }
      return keys.holderById(session.account.id, idOf(caller.headers[HEADER]));
    },
  };
}

export default definePlugin({
  name: 'console',
  api: 2,
  errors,
  migrations,
  sections: { console: consoleSection },
  needs: [Accounts, Sessions, ServiceTokens, Tickets, Invitations, Keys, Counters],
  wants: [
    Ledger,
    Alerts,
    RateLimits,
    Prices,
    Records,
    Prompts,
    Catalog,
    Audit,
    Mail,
    SecondFactors,
    OAuth,
    Departments,
    Groups,
    Subscriptions,
    Payments,
    Running,
    Configuring,
    Importing,
    KeyCheck,
    Explaining,
    FirstStart,
  ],
  provides: [Site, ChosenKeys],
  create(host, { console: section }) {
    const site = siteOf(section);
    host.provide(Site, site);
    host.find(FirstStart)?.signIn(`${site.root}/console`);
    const cookies = createCookies(site.secure);
    const limiter = createLimiter(host, section.limits);
    const guesses = createGuesses(host, createBrowsers(host, cookies), section.limits.signIn);
    const verification = createVerification(host, cookies, guesses);
    host.provide(ChosenKeys, createChosenKeys(host, site, cookies, limiter));
    const repeats = createRepeats(host);
    const revisions = createRevisions(host);
    const changing: Tools['changing'] = ({ id, conditions }, object) => [
      ...conditions,
      ...revisions.changed(object, id),
    ];
    const audited: Tools['audited'] = (
      { actor, id, conditions },
      action,
      object = `user ${actor.accountId}`,
      facts = {},
    ) => [
      ...(id === undefined || conditions === undefined ? [] : changing({ id, conditions }, object)),
      ...(host.find(Audit)?.steps({ actor, action, object, facts }) ?? []),
    ];
    const inviter = createInviter(host, site);
    const tools: Tools = {
      host,
      site,
      cookies,
      limiter,
      guesses,
      signIn: createSignIn(host, site, cookies, audited),
      verification,
      inviter,
      need: (service) =>
        host.find(service) ??
        refuse(coreErrors.not_available(`This gateway runs without ${service.id}: its plugin is not in the pipeline.`)),
      audited,
      changing,
      async note({ actor, query }, action) {
        const facts = JSON.parse(JSON.stringify(query)) as JsonObject;
        await host.find(Audit)?.note({ actor, action, object: '', facts });
      },
    };
    const paysElsewhere = (): boolean => (host.find(Payments)?.providers.length ?? 0) > 0;
    return {
      commands: [createInviteCommand(host, site, inviter), ...createUserCommands(host, site)],
      routes: [
        ...routesOf(tableOf(tools), repeats, revisions),
        ...staticRoutes(host.env.TURNPIKE_CONSOLE_FILES || DIST, paysElsewhere),
      ],
      guards: createGuards(host, site, cookies, limiter, verification),
      surrender: repeats.surrender,
      start() {
        repeats.start();
        revisions.start();
      },
      async stop() {
        await repeats.stop();
        await revisions.stop();
      },
    };
  },
});
