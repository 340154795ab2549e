/** `user show`, `user link` and `user delete`, with the records and the rules of `/api/user`. */
import { Accounts, type Person } from '../../../core/contracts/accounts.ts';
import { Audit, COMMAND_LINE } from '../../../core/contracts/audit.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { Tickets } from '../../../core/contracts/sessions.ts';
import type { Site } from '../../../core/contracts/site.ts';
import { type Command, type Host, refuse, UsageError } from '../../../core/plugin.ts';
import { table } from '../../../core/sdk.ts';
import { removeAccount } from '../access/subordinate.ts';
import { errors } from '../errors.ts';
import { DAY_MS, secondsOf } from '../format/units.ts';
import { shownDetail } from '../records/people/user.ts';

/** How long a link is valid: long enough to pass it on. */
const LINK_MS = 7 * DAY_MS;

/** The commands. */
export function createUserCommands(host: Host, site: Pick<Site, 'root'>): readonly Command[] {
  /** The user with this name or id. Refuses a text that is the name of one and the id of another, and (404) a deleted user. */
  async function given(word: string): Promise<Person> {
    const accounts = host.use(Accounts);
    const [named, numbered] = await Promise.all([
      accounts.findByName(word),
      /^[1-9]\d{0,14}$/.test(word) ? accounts.person(Number(word)) : undefined,
    ]);
    const byId = numbered?.deletedMs === undefined ? numbered : undefined;
    if (named !== undefined && byId !== undefined && named.id !== byId.id) {
      throw new UsageError(`"${word}" is the name of user ${named.id} and the ID of "${byId.name}": use the other one`);
    }
    const person = named === undefined ? byId : await accounts.person(named.id);
    return person ?? refuse(coreErrors.account_not_found(word));
  }

  return [
    {
      name: 'user show',
      summary: 'shows an account: role, balance, department, last sign-in, and how it can sign in',
      positionals: ['NAME|ID'],
      async run({ positionals: [word = ''] }) {
        const person = await given(word);
        const json = await shownDetail(host, person);
        const signIn = [
          ...(json.has_password ? ['password'] : []),
          ...(json.two_factor ? ['authenticator'] : []),
          ...(json.passkey ? ['passkey'] : []),
          ...json.bindings,
        ];
        const lines = table([
          ['ID', `${json.id}`],
          ['NAME', json.username],
          ['DISPLAY NAME', json.display_name],
          ['EMAIL', json.email || '-'],
          ['ROLE', person.role],
          ['ENABLED', person.enabled ? 'yes' : 'no'],
          ['DEPARTMENT', json.department_name || '-'],
          ['GROUP', json.group],
          ['REMARK', json.remark || '-'],
          ['CREATED', new Date(person.createdMs).toISOString()],
          ['LAST SIGN-IN', person.lastLoginMs === undefined ? 'never' : new Date(person.lastLoginMs).toISOString()],
          ['SIGN-IN', signIn.join(', ') || '-'],
          ['BALANCE', json.unlimited_quota ? 'unlimited' : `${json.quota}`],
          ['USED', `${json.used_quota}`],
          ['HELD', `${json.held_quota}`],
          ['OWED', `${json.debt}`],
        ]);
        return { text: lines, json };
      },
    },
    {
      name: 'user link',
      summary:
        'prints a link with which a user sets a new password, for users without an email address, too; valid once, for 7 days',
      positionals: ['NAME|ID'],
      async run({ positionals: [word = ''] }) {
        const { id, name, email, enabled } = await given(word);
        if (!enabled) throw coreErrors.account_disabled();
        const token = await host.use(Tickets).issue('password-reset', { accountId: id, forMs: LINK_MS });
        const event = {
          actor: COMMAND_LINE,
          action: 'user.password-link',
          object: `user ${id}`,
          facts: { username: name },
        };
        await host.find(Audit)?.note(event);
        const link = `${site.root}/console/reset?email=${encodeURIComponent(email ?? name)}&code=${token}`;
        return { text: link, json: { id, username: name, link, expires_at: secondsOf(host.clock.now() + LINK_MS) } };
      },
    },
    {
      name: 'user delete',
      summary: 'deletes an account with its keys and sessions; its name stays reserved, the ledger keeps its balance',
      positionals: ['NAME|ID'],
      async run({ positionals: [word = ''] }) {
        const { id, name, role } = await given(word);
        if (role === 'root') throw errors.root_protected('Root cannot be deleted.');
        const event = { actor: COMMAND_LINE, action: 'user.delete', object: `user ${id}`, facts: { username: name } };
        await removeAccount(host, id, host.find(Audit)?.steps(event) ?? []);
        return { text: `deleted ${name}`, json: { id, username: name } };
      },
    },
  ];
}
