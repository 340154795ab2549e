/** Account commands: create, list, change the password, enable and disable. */
import type { Account, Accounts } from '../../core/contracts/accounts.ts';
import { Audit, COMMAND_LINE } from '../../core/contracts/audit.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { type Balance, Ledger, MICRO } from '../../core/contracts/ledger.ts';
import { type Command, type CommandRequest, type Host, refuse, type Step, UsageError } from '../../core/plugin.ts';
import { table } from '../../core/sdk.ts';

/** The commands, on the service of this plugin. */
export function createCommands(host: Host, accounts: Accounts): readonly Command[] {
  async function named(command: string, { positionals: [name] }: CommandRequest): Promise<Account> {
    if (name === undefined) throw new UsageError(`user ${command} NAME`);
    const account = await accounts.findByName(name);
    return account ?? refuse(coreErrors.account_not_found(name));
  }

  const noted = ({ id }: Pick<Account, 'id'>, action: string): readonly Step[] =>
    host.find(Audit)?.steps({ actor: COMMAND_LINE, action, object: `user ${id}` }) ?? [];

  const switching = (command: 'enable' | 'disable', enabled: boolean, summary: string): Command => ({
    name: `user ${command}`,
    summary,
    positionals: ['NAME'],
    async run(request) {
      const account = await named(command, request);
      await accounts.change(account.id, { enabled }, noted(account, `user.${command}`));
      return `${command}d ${account.name}`;
    },
  });

  return [
    {
      name: 'user create',
      summary: 'creates an account and prints its id; the password is read from standard input',
      options: {
        name: { type: 'string' },
        role: { type: 'string', value: 'member|admin' },
        'password-stdin': { type: 'boolean' },
      },
      async run(request) {
        const { name, role } = request.values;
        if (typeof name !== 'string') throw new UsageError('--name is missing');
        if (role !== 'member' && role !== 'admin') throw new UsageError('--role must be member or admin');
        requireStdin(request);
        const newAccount = { name, role, password: typedPassword(request) } as const;
        const account = await accounts.create(newAccount, (id) => noted({ id }, 'user.create'));
        return `${account.id}`;
      },
    },
    {
      name: 'user password',
      summary: 'sets the password of an account, read from standard input, and ends its sessions',
      positionals: ['NAME'],
      options: { 'password-stdin': { type: 'boolean' } },
      async run(request) {
        const account = await named('password', request);
        requireStdin(request);
        await accounts.setPassword(account.id, typedPassword(request), noted(account, 'user.password'));
        return `changed the password of ${account.name}`;
      },
    },
    switching('enable', true, 'enables an account'),
    switching('disable', false, 'disables an account and its keys, and ends its sessions'),
    {
      name: 'user list',
      summary: 'lists accounts: id, name, role, whether enabled, creation time, remaining quota',
      options: { json: { type: 'boolean' } },
      async run({ values }) {
        const ledger = host.find(Ledger);
        const rows = [];
        for (const account of await accounts.list()) {
          const balance = await ledger?.balance({ kind: 'account', owner: account.id });
          rows.push({ ...account, balance: describe(balance) });
        }
        if (values.json === true) return JSON.stringify(rows);
        return table([
          ['ID', 'NAME', 'ROLE', 'ENABLED', 'CREATED', 'BALANCE'],
          ...rows.map((row) => [
            `${row.id}`,
            row.name,
            row.role,
            row.enabled ? 'yes' : 'no',
            new Date(row.createdMs).toISOString(),
            row.balance ?? '-',
          ]),
        ]);
      },
    },
  ];
}

/** A password in the arguments would be in the process list and the shell's history. */
function requireStdin({ values }: CommandRequest): void {
  if (values['password-stdin'] !== true) throw new UsageError('--password-stdin is missing');
}

const typedPassword = ({ stdin }: CommandRequest): string => stdin.replace(/\r?\n$/, '');

/** Remaining whole quota units, as text: the amount may exceed what a JSON number can represent. */
function describe(balance: Balance | undefined): string | null {
  if (balance === undefined) return null;
  return balance.unlimited ? 'unlimited' : `${(balance.granted - balance.held - balance.used) / MICRO}`;
}
