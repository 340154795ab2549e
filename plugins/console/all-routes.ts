/** All routes of `/api`. */

import { Departments } from '../../core/contracts/departments.ts';
import { type Balance, Ledger } from '../../core/contracts/ledger.ts';
import { type LogFilter, Records } from '../../core/contracts/records.ts';
import { personWith } from './access/subordinate.ts';
import { answerIfChanged, tagOf } from './format/conditional.ts';
import { integer, list, number, partly, queryOf, text } from './format/schemas.ts';
import { secondsOf } from './format/units.ts';
import type { Described } from './openapi/described.ts';
import { openApi } from './openapi/document.ts';
import { budgetUse, monthOf } from './records/people/department.ts';
import { PPM } from './records/people/department-form.ts';
import { latencyOf, latencySchema } from './records/usage/latency.ts';
import { createLogSearch, FILTER_ERRORS, logProperties, peopleProperties } from './records/usage/log-search.ts';
import { type ApiRoute, tagged } from './route.ts';
import { emailRoutes } from './routes/account/email.ts';
import { keyUsageRoutes } from './routes/account/key-usage.ts';
import { keyRoutes } from './routes/account/keys.ts';
import { playgroundRoutes } from './routes/account/playground.ts';
import { profileRoutes } from './routes/account/profile.ts';
import { serviceTokenRoutes } from './routes/account/service-tokens.ts';
import { importRoutes } from './routes/import.ts';
import { auditRoutes } from './routes/logs/audit.ts';
import { forecastRoutes } from './routes/logs/forecast.ts';
import { inFlightRoutes } from './routes/logs/in-flight.ts';
import { logDetailRoutes } from './routes/logs/log-detail.ts';
import { logSumRoutes } from './routes/logs/log-sums.ts';
import { logRoutes } from './routes/logs/logs.ts';
import { usageRoutes } from './routes/logs/usage.ts';
import { orderRoutes } from './routes/money/orders.ts';
import { priceRoutes } from './routes/money/prices.ts';
import { redemptionRoutes } from './routes/money/redemption.ts';
import { statementRoutes } from './routes/money/statement.ts';
import { subscriptionRoutes } from './routes/money/subscriptions.ts';
import { topUpRoutes } from './routes/money/top-up.ts';
import { oauthRoutes } from './routes/sign-in/oauth.ts';
import { passkeyRoutes } from './routes/sign-in/passkey.ts';
import { passwordResetRoutes } from './routes/sign-in/password-reset.ts';
import { registrationRoutes } from './routes/sign-in/registration.ts';
import { sessionRoutes } from './routes/sign-in/sessions.ts';
import { signInRoutes } from './routes/sign-in/sign-in.ts';
import { twoFactorRoutes } from './routes/sign-in/two-factor.ts';
import { verifyRoutes } from './routes/sign-in/verify.ts';
import { alertRoutes } from './routes/system/alerts.ts';
import { configRoutes } from './routes/system/config.ts';
import { configEditorRoutes } from './routes/system/config-editor.ts';
import { modelRoutes } from './routes/system/models.ts';
import { statusRoutes, version } from './routes/system/status.ts';
import { systemRoutes } from './routes/system/system.ts';
import { vendorRoutes } from './routes/system/vendors.ts';
import { departmentRoutes } from './routes/users/departments.ts';
import { invitationRoutes } from './routes/users/invitations.ts';
import { teamRoutes } from './routes/users/team.ts';
import { userRoutes } from './routes/users/users.ts';
import type { Tools } from './tools.ts';

const logRoute = tagged('Logs');
/** Calls that are examined. */
const MOST_CALLS = 5_000;

const { request_id: _, ...own } = logProperties;
const everybodys = { ...own, ...peopleProperties };

function latencyRoutes({ host, need }: Tools): readonly ApiRoute[] {
  const search = createLogSearch(host);

  const latency = async (filter: LogFilter | undefined) =>
    latencyOf(filter === undefined ? [] : await need(Records).timings(filter, MOST_CALLS));

  return [
    logRoute('member', 'GET', '/api/log/self/latency', {
      errors: ['account_not_found', 'filter_too_wide'],
      summary: `Returns the latency of your newest ${MOST_CALLS} calls; with filters, of the newest 48 hours that have matching calls.`,
      search: queryOf(own),
      answer: latencySchema,
      handle: async ({ account, query }) => latency(await search.own(await personWith(host, account.id), query)),
    }),
    logRoute('admin', 'GET', '/api/log/latency', {
      errors: FILTER_ERRORS,
      summary: `Returns the latency of the newest ${MOST_CALLS} calls of all users.`,
      search: queryOf(everybodys),
      answer: latencySchema,
      handle: async ({ query }) => latency(await search.everybody(query)),
    }),
  ];
}

export function tableOf(tools: Tools): readonly ApiRoute[] {
  return [
    ...statusRoutes(tools),
    ...signInRoutes(tools),
    ...registrationRoutes(tools),
    ...invitationRoutes(tools),
    ...passwordResetRoutes(tools),
    ...sessionRoutes(tools),
    ...serviceTokenRoutes(tools),
    ...twoFactorRoutes(tools),
    ...passkeyRoutes(tools),
    ...verifyRoutes(tools),
    ...profileRoutes(tools),
    ...interfaceRoutes(tools),
    ...emailRoutes(tools),
    ...oauthRoutes(tools),
    ...keyUsageRoutes(tools),
    ...keyRoutes(tools),
    ...modelRoutes(tools),
    ...priceRoutes(tools),
    ...playgroundRoutes(tools),
    ...vendorRoutes(tools),
    ...subscriptionRoutes(tools),
    ...userRoutes(tools),
    ...departmentRoutes(tools),
    ...ownDepartmentRoutes(tools),
    ...auditRoutes(tools),
    ...logRoutes(tools),
    ...logSumRoutes(tools),
    ...logDetailRoutes(tools),
    ...latencyRoutes(tools),
    ...inFlightRoutes(tools),
    ...systemRoutes(tools),
    ...alertRoutes(tools),
    ...configRoutes(tools),
    ...configEditorRoutes(tools),
    ...importRoutes(tools),
    ...teamRoutes(tools),
    ...usageRoutes(tools),
    ...forecastRoutes(tools),
    ...topUpRoutes(tools),
    ...statementRoutes(tools),
    ...orderRoutes(tools),
    ...redemptionRoutes(tools),
  ];
}

/** The document as bytes, with its entity tag. */
function withTag(described: Described): { readonly bytes: Buffer; readonly tag: string } {
  const bytes = Buffer.from(JSON.stringify(openApi(described)));
  return { bytes, tag: tagOf(bytes) };
}

function interfaceRoutes({ host, site, cookies }: Tools): readonly ApiRoute[] {
  // It is constant while a configuration runs.
  let document: { readonly bytes: Buffer; readonly tag: string } | undefined;
  return [
    tagged('Status')('visitor', 'GET', '/api/openapi.json', {
      spelling: 'bare',
      summary: 'Returns this OpenAPI document.',
      answer: {
        ...partly(['openapi', 'paths'], {
          openapi: { ...text, examples: ['3.1.0'] },
          paths: { type: 'object', examples: [{}] },
        }),
        additionalProperties: true,
      },
      handle(request) {
        document ??= withTag({
          title: site.name,
          version,
          url: site.root,
          sessionCookie: cookies.nameOf('session'),
          routes: host.routes(),
          styles: host.styles().values(),
          guards: host.guards(),
          errors: host.errors(),
        });
        const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache' };
        return answerIfChanged(request, document.bytes, document.tag, headers);
      },
    }),
  ];
}

function ownDepartmentRoutes({ host }: Tools): readonly ApiRoute[] {
  return [
    tagged('Departments')('member', 'GET', '/api/user/department', {
      summary: 'Lists your department and those above it, with the budgets that limit your calls.',
      answer: {
        ...list({
          name: text,
          status: { enum: [0, 1], description: '1 enabled; 0 disabled: calls are refused.' },
          ratio: {
            ...number,
            description:
              "Price factor of calls by its members: 1 is the full price. The first department's factor applies.",
          },
          budgets: list({
            window: { enum: ['total', 'month'], description: 'Total, or per calendar month (UTC).' },
            limit: { ...integer, description: 'Quota units.' },
            used: { ...integer, description: 'Used by all members, those of departments below included.' },
            remaining: { ...integer, description: 'Less the reservations of running calls.' },
            resets_at: { type: ['integer', 'null'], description: 'Unix seconds; null: never.' },
          }),
        }),
        description: 'From your department to the top; empty if you are in none.',
      },
      async handle({ account: { id } }) {
        const path = host.find(Departments)?.pathOf(id) ?? [];
        const ids = path.map((department) => department.id);
        const { startMs, endMs } = monthOf(host.clock.now());
        const totals = await host.find(Ledger)?.balances('department', ids);
        const months = await host.find(Ledger)?.balances('department-month', ids, startMs);
        const line = (window: 'total' | 'month', limit: bigint | undefined, balance: Balance | undefined) =>
          limit === undefined
            ? []
            : [{ window, ...budgetUse(limit, balance), resets_at: window === 'month' ? secondsOf(endMs) : null }];
        return path.map((department) => ({
          name: department.name,
          status: department.enabled ? 1 : 0,
          ratio: department.factorPpm / PPM,
          budgets: [
            ...line('month', department.monthlyBudget, months?.get(department.id)),
            ...line('total', department.budget, totals?.get(department.id)),
          ],
        }));
      },
    }),
  ];
}
