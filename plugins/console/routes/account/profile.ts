/** The user's own account: reading, updating and deleting it. */

import { Accounts } from '../../../../core/contracts/accounts.ts';
import { Ledger } from '../../../../core/contracts/ledger.ts';
import { OAuth } from '../../../../core/contracts/oauth.ts';
import { Records } from '../../../../core/contracts/records.ts';
import { sessionOf } from '../../access/guards.ts';
import { personWith, removeAccount } from '../../access/subordinate.ts';
import { errors } from '../../errors.ts';
import { done, inTheirWords } from '../../format/envelope.ts';
import { type Accepted, bodyOf, nameRules, nothing, passwordOrNone, withRules } from '../../format/schemas.ts';
import { differences, PERSON_WORDS, personSchema, shownPerson } from '../../records/people/person.ts';
import { keptProperties, settingsForm, settingsOf } from '../../records/people/settings-form.ts';
import { revisedPerson } from '../../records/people/user.ts';
import { type ApiRoute, type ConsoleRequest, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Account');

const profileForm = bodyOf([], {
  username: { type: 'string', maxLength: 200 },
  display_name: { type: 'string', maxLength: 200 },
  password: {
    description: 'The new password; empty: unchanged, otherwise 8 to 256 characters. Ends all other sessions.',
    type: 'string',
    maxLength: 1_024,
  },
  original_password: {
    description: 'The current password; required to change it.',
    type: 'string',
    maxLength: 1_024,
  },
  ...keptProperties,
});

export function profileRoutes({ host, cookies, verification, audited, changing }: Tools): readonly ApiRoute[] {
  const accounts = host.use(Accounts);

  const revised = async ({ account }: ConsoleRequest) => revisedPerson(await personWith(host, account.id));

  /** A new password requires the current one, and a verification by the second factor if there is one. */
  async function checkOriginal(request: ConsoleRequest<Accepted<typeof profileForm>>): Promise<void> {
    const { account, body } = request;
    sessionOf(request);
    // The current password counts as the verification of an account without a second factor.
    const byPassword = (await verification.methods(account.id)).includes('password');
    if (!byPassword) await verification.demandOrRecent(request);
    if (!(await personWith(host, account.id)).hasPassword) return;
    await verification.checkPassword(account, body.original_password ?? '', 'original_password');
  }

  return [
    route('member', 'GET', '/api/user/self', {
      errors: ['account_not_found'],
      summary: 'Returns your account and its balance.',
      answer: personSchema,
      revised,
      async handle(request) {
        const { id } = request.account;
        const ledger = host.find(Ledger);
        const [person, balance, bindings = [], sums = []] = await Promise.all([
          personWith(host, id),
          ledger?.balance({ kind: 'account', owner: id }),
          host.find(OAuth)?.bindings(id),
          host.find(Records)?.sums({ accounts: [id] }, []),
        ]);
        const calls = sums.reduce((all, sum) => all + sum.calls + sum.errors, 0);
        return shownPerson(person, { balance, bindings, calls });
      },
    }),
    route('member', 'PUT', '/api/user/self', {
      errors: [
        'session_wanted',
        'verification_required',
        'invalid_name',
        'invalid_password',
        'common_password',
        'name_taken',
        'email_taken',
        'wrong_password',
        'account_not_found',
      ],
      summary: 'Updates your account; absent members stay unchanged.',
      body: profileForm,
      request: withRules(profileForm, { username: nameRules, display_name: nameRules, password: passwordOrNone }),
      answer: nothing,
      revised,
      async handle(request) {
        const { account, body, session } = request;
        const { username, display_name, password = '', language, sidebar_modules } = body;
        const kept = {
          ...(language !== undefined && { language }),
          ...(sidebar_modules !== undefined && { sidebar_modules }),
        };
        const changes = {
          ...(username !== undefined && { name: username }),
          ...(display_name !== undefined && { displayName: display_name }),
        };
        if (password !== '') await checkOriginal(request);
        if (Object.keys({ ...changes, ...kept }).length > 0) {
          const facts = differences(await personWith(host, account.id), changes);
          const object = `user ${account.id}`;
          const along =
            Object.keys(facts).length === 0
              ? changing(request, object)
              : audited(request, 'user.change', object, facts);
          await inTheirWords(PERSON_WORDS, accounts.change(account.id, { ...changes, settings: kept }, along));
        }
        if (password !== '') {
          await accounts.setPassword(account.id, password, audited(request, 'user.password'), session?.id);
        }
        return null;
      },
    }),
    route('member', 'DELETE', '/api/user/self', {
      sessionOnly: true,
      verified: 'or-recent',
      errors: ['root_protected', 'last_root'],
      summary: 'Deletes your account.',
      answer: nothing,
      async handle(request) {
        const { account } = request;
        if (account.role === 'root') throw errors.root_protected('Root cannot be deleted.');
        const along = audited(request, 'user.delete', `user ${account.id}`, { username: account.name });
        await removeAccount(host, account.id, along);
        return done(null, { cookies: [cookies.clear('session')] });
      },
    }),
    route('member', 'PUT', '/api/user/setting', {
      errors: ['read_only', 'webhook_url_wanted', 'invalid_webhook_url', 'account_not_found'],
      summary: 'Updates your settings; absent members stay unchanged.',
      body: settingsForm,
      request: withRules(settingsForm, { webhook_url: { pattern: '^$|^https?://' } }),
      answer: nothing,
      revised,
      async handle(request) {
        const settings = settingsOf(request.body, await personWith(host, request.account.id), host.vault);
        await accounts.change(request.account.id, { settings }, changing(request, `user ${request.account.id}`));
        return null;
      },
    }),
  ];
}
