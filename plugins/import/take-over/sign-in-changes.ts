/**
 * A later import: what users have changed there about how they sign in. What is new comes, because after the switch they have only that; what they have
 * set up or used here stays.
 */

import type { Person } from '../../../core/contracts/accounts.ts';
import { OAuth } from '../../../core/contracts/oauth.ts';
import { SecondFactors } from '../../../core/contracts/second-factors.ts';
import { Sessions } from '../../../core/contracts/sessions.ts';
import type { Step } from '../../../core/plugin.ts';
import type { ForeignUser } from '../inventory.ts';
import type { Difference, Updating } from './difference.ts';
import type { Run } from './run.ts';
import { linkMark, passkeyMark } from './seen.ts';

/** The fields of a user that are about it, as `seenUser` names them, and one of each for texts. */
const ONE_OF = {
  password: 'password',
  authenticator: 'authenticator',
  passkeys: 'passkey',
  links: 'linked account',
  'access token': 'access token',
} as const;
type SignInField = keyof typeof ONE_OF;

/** Whether a field is about how a user signs in: its values are secrets, or marks of them. */
export function isOfSignIn(field: string): field is SignInField {
  return Object.hasOwn(ONE_OF, field);
}

/** `a new passkey`. */
export function signInText(field: SignInField, was: string, is: string): string {
  const one = ONE_OF[field];
  const isNone = (text: string): boolean => text === 'none' || text === '';
  return isNone(is) ? `no ${one} any more` : isNone(was) ? `a new ${one}` : `another ${one}`;
}

/** Applies those of the differences that are about it. */
export async function updateSignIn(
  run: Run,
  here: Person,
  user: ForeignUser,
  differences: readonly Difference[],
  update: Updating,
): Promise<void> {
  for (const { field, was, is } of differences) {
    if (!isOfSignIn(field)) continue;
    const isGone = is === null || (Array.isArray(is) && is.length === 0);
    const found = isGone
      ? 'it was removed there, and goes on working here'
      : await stepsOf(run, here, user, field, was);
    if (typeof found === 'string') {
      update.conflict(field, found);
      continue;
    }
    const audited = run.audited('user.change', `user ${here.id}`, { fields: [field] });
    const failed = run.isDry
      ? undefined
      : await run.host.store.atomic([...update.along([field]), ...found, ...audited]);
    if (failed !== undefined) {
      update.conflict(field, WHY_NOT[failed] ?? 'it was changed at the same time: import again');
      continue;
    }
    update.applied([field]);
    // A link that stays is a way in that its user has closed there.
    if (field === 'links' && isList(was) && isList(is) && was.some((mark) => !is.includes(mark)))
      run.notes.push({
        kind: 'decide',
        where: 'linked accounts',
        what: `account ${here.name}`,
        why: 'one was removed there, and goes on working here',
      });
  }
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const PASSWORD_KEPT = 'a password was set or used here: it stays';
/** The `must` of steps that write nothing where another one is. */
const NOT_WRITTEN = 'not_written';
const WHY_NOT: Readonly<Record<string, string>> = {
  password_kept: PASSWORD_KEPT,
  [NOT_WRITTEN]: 'the account has another one here, or another account has it',
};

/** The steps of one thing, the last of which writes it: nothing counts as written that was not. */
function surely(steps: readonly Step[]): readonly Step[] {
  return steps.map((step, i) =>
    i < steps.length - 1 || !('sql' in step) || step.must !== undefined ? step : { ...step, must: NOT_WRITTEN },
  );
}

/** The steps that write what is new; or why it cannot be had. */
async function stepsOf(
  { host, accounts }: Run,
  here: Person,
  { passwordHash, totpSecret, passkeys = [], links = [], accessToken }: ForeignUser,
  field: SignInField,
  was: Difference['was'],
): Promise<readonly Step[] | string> {
  const { id } = here;
  const isKnown = (mark: string): boolean => Array.isArray(was) && was.includes(mark);
  switch (field) {
    case 'password': {
      const problem = accounts.passwordHashProblem(passwordHash!);
      if (problem !== undefined) return problem;
      return here.hasPassword && !here.hasOldPassword ? PASSWORD_KEPT : accounts.adoptSteps(id, { passwordHash });
    }
    case 'authenticator': {
      const factors = host.find(SecondFactors);
      if (factors === undefined) return 'the plugin second-factors is not in the pipeline';
      if ((await factors.status(id)).totp)
        return 'the account has another one here: `turnpike user factors NAME --remove` removes it, then import again';
      const { steps, problems } = await factors.adoptSteps(id, { totpSecret });
      return problems.totp ?? surely(steps);
    }
    case 'passkeys': {
      const factors = host.find(SecondFactors);
      if (factors === undefined) return 'the plugin second-factors is not in the pipeline';
      const fresh = passkeys.filter((passkey) => !isKnown(passkeyMark(passkey)));
      if (fresh.length === 0) return 'one was removed there, and goes on working here';
      if ((await factors.status(id)).passkey !== undefined)
        return 'an account has one passkey, and this one has another';
      let why = '';
      for (const passkey of fresh) {
        const { steps, problems } = await factors.adoptSteps(id, { passkey });
        if (problems.passkey === undefined) return surely(steps);
        why = problems.passkey;
      }
      return why;
    }
    case 'links': {
      const oauth = host.find(OAuth);
      if (oauth === undefined) return 'the plugin oauth is not in the pipeline';
      const fresh = links.filter((link) => !isKnown(linkMark(link)));
      if (fresh.length === 0) return 'one was removed there, and goes on working here';
      const linked = await oauth.bindings(id);
      const steps: Step[] = [];
      for (const { type, issuer, provider: name, subject } of fresh) {
        const adopted = await oauth.adoptSteps(id, { type, issuer, name, subject });
        if (typeof adopted === 'string') return adopted;
        if (linked.some(({ provider }) => provider === adopted.provider))
          return `the account is linked to another one of ${adopted.provider} here`;
        steps.push(...surely(adopted.steps));
      }
      return steps;
    }
    case 'access token': {
      const sessions = host.find(Sessions);
      if ((await sessions?.accessToken(id)) !== undefined) return 'the account has another one here';
      const adopted = sessions?.adoptAccessTokenSteps(id, accessToken!);
      return adopted === undefined ? 'its access token is too short, or cannot be sent in a header' : surely(adopted);
    }
  }
}
