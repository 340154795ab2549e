/** How the users of another gateway sign in here: old passwords, authenticators, passkeys, linked accounts, access tokens; and their settings. */
import { Accounts } from '../../../core/contracts/accounts.ts';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { MICRO } from '../../../core/contracts/ledger.ts';
import { OAuth } from '../../../core/contracts/oauth.ts';
import { SecondFactors } from '../../../core/contracts/second-factors.ts';
import { Sessions, Tickets } from '../../../core/contracts/sessions.ts';
import { Site } from '../../../core/contracts/site.ts';
import type { Host, Step } from '../../../core/plugin.ts';
import type { ForeignUser, Note } from '../inventory.ts';

/** The longest text of a setting, as `PUT /api/user/setting` has it. */
const LONGEST: Readonly<Record<string, number>> = {
  webhook_url: 2_000,
  notification_email: 254,
  language: 35,
  sidebar_modules: 20_000,
};
/** Of the secret of a webhook. */
const LONGEST_SECRET = 500;

/** What is written for a user. */
export interface IdentitySteps {
  /** For the list that creates the account. */
  readonly steps: readonly Step[];
  /** What is told with the account. */
  readonly told: readonly string[];
  readonly notes: readonly Note[];
}

/** Returns whether the old password of a user works here. */
export function hasOldPassword(host: Pick<Host, 'use'>, { passwordHash }: ForeignUser): boolean {
  return passwordHash !== undefined && host.use(Accounts).passwordHashProblem(passwordHash) === undefined;
}

/** Whether links for a new password can be made: they open a page of the console. */
export function givesLinks(host: Pick<Host, 'find'>): boolean {
  return host.find(Site) !== undefined && host.find(Tickets) !== undefined;
}

/**
 * The steps that write how a user signs in. The root account of this gateway keeps its own password and second factors: it gets only access token,
 * linked accounts and settings of the other root.
 */
export async function identitySteps(host: Host, accountId: number, user: ForeignUser): Promise<IdentitySteps> {
  const [accounts, factors] = [host.use(Accounts), host.find(SecondFactors)];
  const isRoot = user.role === 'root';
  const what = `user ${user.name}`;
  const steps: Step[] = [];
  const told: string[] = [];
  const notes: Note[] = [];
  const leave = (where: string, why: string): void => void notes.push({ kind: 'left', where, what, why });
  let canSignIn = isRoot;

  const { passwordHash, totpSecret, passkeys = [], links = [], accessToken } = user;
  if (isRoot) {
    if (passwordHash !== undefined || totpSecret !== undefined || passkeys.length > 0)
      leave('users', 'root keeps its password and second factors of this gateway');
  } else {
    const problem = passwordHash === undefined ? undefined : accounts.passwordHashProblem(passwordHash);
    if (problem !== undefined) leave('users.password', problem);
    else if (passwordHash !== undefined) {
      steps.push(...accounts.adoptSteps(accountId, { passwordHash }));
      told.push('old password');
      canSignIn = true;
    }
    if (totpSecret !== undefined) {
      const adopted = await factors?.adoptSteps(accountId, { totpSecret });
      steps.push(...(adopted?.steps ?? []));
      const why = adopted === undefined ? 'the plugin second-factors is not in the pipeline' : adopted.problems.totp;
      if (why === undefined) told.push('authenticator');
      else
        notes.push({ kind: 'decide', where: 'authenticators', what, why: `${why}: its password is enough to sign in` });
    }
    await adoptPasskey();
  }
  for (const { type, issuer, provider: name, subject } of links) {
    const adopted = await host.find(OAuth)?.adoptSteps(accountId, { type, issuer, name, subject });
    if (adopted === undefined || typeof adopted === 'string') {
      leave(`linked accounts (${name})`, adopted ?? 'the plugin oauth is not in the pipeline');
      continue;
    }
    steps.push(...adopted.steps);
    told.push(`linked to ${adopted.provider}`);
    canSignIn ||= adopted.isConfigured;
    if (!adopted.isConfigured) {
      const why = `it works as soon as console.oauth has the provider ${adopted.provider} (${issuer})`;
      notes.push({ kind: 'decide', where: `linked accounts (${name})`, what, why });
    }
  }
  if (accessToken !== undefined) {
    const adopted = host.find(Sessions)?.adoptAccessTokenSteps(accountId, accessToken);
    if (adopted === undefined)
      leave('users.access_token', 'its access token is too short, or cannot be sent in a header');
    else told.push('access token');
    steps.push(...(adopted ?? []));
  }
  const settings = settingsOf(host, accountId, user, leave);
  if (Object.keys(settings).length > 0) {
    steps.push(...accounts.adoptSteps(accountId, { settings }));
    told.push('settings');
  }
  const getsLink = user.email !== undefined && givesLinks(host);
  if (user.isPerson && user.enabled && !canSignIn && !getsLink) {
    const why = 'it has no password that works here: make a link for a new one with `turnpike user link NAME`';
    notes.push({ kind: 'decide', where: 'users', what, why });
  }
  return { steps, told, notes };

  /** An account has one passkey: the first that can be used. */
  async function adoptPasskey(): Promise<void> {
    let isTaken = false;
    for (const passkey of passkeys) {
      const adopted = isTaken ? undefined : await factors?.adoptSteps(accountId, { passkey });
      if (adopted !== undefined && adopted.problems.passkey === undefined) {
        steps.push(...adopted.steps);
        told.push('passkey');
        isTaken = true;
        canSignIn = true;
        continue;
      }
      const why = isTaken ? 'an account has one passkey' : 'the plugin second-factors is not in the pipeline';
      leave('passkeys', adopted?.problems.passkey ?? why);
    }
  }
}

/** The settings of an account, as the console stores them. */
function settingsOf(
  { vault }: Pick<Host, 'vault'>,
  accountId: number,
  { lowBalance, settings = {}, webhookSecret }: ForeignUser,
  leave: (where: string, why: string) => void,
): JsonObject {
  const kept = Object.entries(settings).filter(([name, value]) => {
    const isKept =
      typeof value !== 'string' ||
      (value.length <= (LONGEST[name] ?? LONGEST_SECRET) && (name !== 'webhook_url' || /^https?:\/\//i.test(value)));
    if (!isKept) leave(`users.setting.${name}`, 'its value is not one that this setting can have');
    return isKept;
  });
  const isSigned = webhookSecret !== undefined && webhookSecret.length <= LONGEST_SECRET;
  if (webhookSecret !== undefined && !isSigned) leave('users.setting.webhook_secret', 'it is too long');
  // Rounded up: a notification that comes early is better than one that comes late.
  const threshold = lowBalance === undefined ? 0n : (lowBalance + MICRO - 1n) / MICRO;
  return {
    ...Object.fromEntries(kept),
    ...(threshold > 0n &&
      threshold <= BigInt(Number.MAX_SAFE_INTEGER) && { quota_warning_threshold: Number(threshold) }),
    // Encrypted as by `PUT /api/user/setting`, for the plugin that signs with it.
    ...(isSigned && { webhook_secret: vault.seal(`account.webhook_secret ${accountId}`, webhookSecret) }),
  };
}
