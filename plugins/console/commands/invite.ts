/** `turnpike user invite`: invites email addresses from the command line. */
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Audit, COMMAND_LINE } from '../../../core/contracts/audit.ts';
import { Departments } from '../../../core/contracts/departments.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { mailLanguage } from '../../../core/contracts/mail.ts';
import type { Site } from '../../../core/contracts/site.ts';
import { type Command, type Host, UsageError } from '../../../core/plugin.ts';
import { readDuration, readUnits, table } from '../../../core/sdk.ts';
import { type Inviter, MOST_ADDRESSES, MOST_DAYS, shownInvited } from '../access/invite.ts';
import { EMAIL_PATTERN } from '../format/schemas.ts';
import { DAY_MS } from '../format/units.ts';

const EMAIL = new RegExp(EMAIL_PATTERN);

/** The command. */
export function createInviteCommand(host: Host, site: Site, inviter: Inviter): Command {
  return {
    name: 'user invite',
    summary:
      'invites email addresses, separated by commas (`-`: from standard input); without a mail server it prints the links',
    positionals: ['EMAIL'],
    options: {
      role: { type: 'string', value: 'member|admin' },
      department: { type: 'string' },
      balance: { type: 'string' },
      plan: { type: 'string' },
      expires: { type: 'string' },
    },
    async run({ values, positionals: [word], stdin, remark }) {
      const {
        role = 'member',
        department,
        balance,
        plan,
        expires,
      } = values as Readonly<Record<string, string>> & { readonly role?: 'member' | 'admin' };
      if (word === undefined) throw new UsageError('user invite EMAIL,EMAIL…');
      const { items } = await host.use(Accounts).search({ role: 'root', offset: 0, limit: 1 });
      const root = items[0];
      if (root === undefined) throw coreErrors.account_not_found('root');
      const language = mailLanguage(root.settings);
      const invited = await inviter.invite({
        by: { id: root.id, role: root.role, name: language === 'zh' ? '管理员' : 'An administrator' },
        language,
        emails: addressesIn(word === '-' ? stdin : word),
        preset: {
          role,
          departmentId: department === undefined ? undefined : departmentNamed(host, department),
          balance: balance === undefined ? undefined : readUnits(balance, '--balance'),
          plan,
        },
        forMs: expires === undefined ? site.invitations.forMs : readDuration(expires, '--expires', MOST_DAYS * DAY_MS),
        noted: (id, facts) =>
          host
            .find(Audit)
            ?.steps({ actor: COMMAND_LINE, action: 'invitation.create', object: `invitation ${id}`, facts }) ?? [],
      });
      const rows = await Promise.all(
        invited.map(async ({ email, outcome, link, sent }) => {
          if (outcome === 'exists') return [email, 'an account has this address'];
          if (outcome === 'link') return [email, link];
          return [email, (await sent) ? 'sent' : 'not sent: the log says why'];
        }),
      );
      if (invited.some(({ outcome }) => outcome === 'link')) {
        remark('no mail server is configured (mail.smtp): pass the links on yourself');
      }
      return { text: table(rows), json: invited.map(shownInvited) };
    },
  };
}

/** The addresses in a text: separated by commas, semicolons, spaces or lines. */
function addressesIn(text: string): readonly string[] {
  const emails = text.split(/[\s,;]+/).filter((each) => each !== '');
  if (emails.length > MOST_ADDRESSES) throw new UsageError(`at most ${MOST_ADDRESSES} addresses at a time`);
  if (emails.length === 0) throw new UsageError('there is no email address');
  for (const email of emails) {
    if (!EMAIL.test(email)) throw new UsageError(`"${email}" is not an email address`);
  }
  return emails;
}

/** The department with this id or name. */
function departmentNamed(host: Host, given: string): number {
  const found = (host.find(Departments)?.all() ?? []).filter(
    ({ id, name }) => `${id}` === given || name.toLowerCase() === given.toLowerCase(),
  );
  const [first, second] = found;
  if (first === undefined) {
    throw coreErrors.department_not_found().with({ message: `There is no department "${given}".` });
  }
  if (second !== undefined) {
    throw new UsageError(
      `several departments are named "${given}": use the id (${found.map(({ id }) => id).join(', ')})`,
    );
  }
  return first.id;
}
