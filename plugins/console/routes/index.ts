/** All routes of `/api`. */
import type { ApiRoute, Tools } from '../route.ts';
import { auditRoutes } from './audit.ts';
import { configRoutes } from './config.ts';
import { departmentRoutes } from './departments.ts';
import { emailRoutes } from './email.ts';
import { forecastRoutes } from './forecast.ts';
import { inFlightRoutes } from './in-flight.ts';
import { interfaceRoutes } from './interface.ts';
import { invitationRoutes } from './invitations.ts';
import { keyUsageRoutes } from './key-usage.ts';
import { keyRoutes } from './keys.ts';
import { latencyRoutes } from './latency.ts';
import { logDetailRoutes } from './log-detail.ts';
import { logSumRoutes } from './log-sums.ts';
import { logRoutes } from './logs.ts';
import { modelRoutes } from './models.ts';
import { oauthRoutes } from './oauth.ts';
import { orderRoutes } from './orders.ts';
import { ownDepartmentRoutes } from './own-department.ts';
import { passkeyRoutes } from './passkey.ts';
import { passwordResetRoutes } from './password-reset.ts';
import { playgroundRoutes } from './playground.ts';
import { priceRoutes } from './prices.ts';
import { profileRoutes } from './profile.ts';
import { redemptionRoutes } from './redemption.ts';
import { registrationRoutes } from './registration.ts';
import { sessionRoutes } from './sessions.ts';
import { signInRoutes } from './sign-in.ts';
import { statementRoutes } from './statement.ts';
import { statusRoutes } from './status.ts';
import { subscriptionRoutes } from './subscriptions.ts';
import { systemRoutes } from './system.ts';
import { teamRoutes } from './team.ts';
import { topUpRoutes } from './top-up.ts';
import { twoFactorRoutes } from './two-factor.ts';
import { usageRoutes } from './usage.ts';
import { userRoutes } from './users.ts';
import { vendorRoutes } from './vendors.ts';
import { verifyRoutes } from './verify.ts';

export function tableOf(tools: Tools): readonly ApiRoute[] {
  return [
    ...statusRoutes(tools),
    ...signInRoutes(tools),
    ...registrationRoutes(tools),
    ...invitationRoutes(tools),
    ...passwordResetRoutes(tools),
    ...sessionRoutes(tools),
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
    ...configRoutes(tools),
    ...teamRoutes(tools),
    ...usageRoutes(tools),
    ...forecastRoutes(tools),
    ...topUpRoutes(tools),
    ...statementRoutes(tools),
    ...orderRoutes(tools),
    ...redemptionRoutes(tools),
  ];
}
