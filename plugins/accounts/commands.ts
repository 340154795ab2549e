/** `user create` and `user list`. */
import type { Accounts } from '../../core/contracts/accounts.ts';
import type { Balance } from '../../core/contracts/ledger.ts';
import { Ledger, MICRO } from '../../core/contracts/ledger.ts';
import type { Command, Host } from '../../core/plugin.ts';
import { table, UsageError } from '../../core/plugin.ts';

/** The commands, for the service of the same plugin. */
export function createCommands(host: Host, accounts: Accounts): readonly Command[] {
  return [
    {
      name: 'user create',
      summary: 'makes an account and prints its id; the password is read from standard input',
      options: { name: { type: 'string' }, role: { type: 'string' }, 'password-stdin': { type: 'boolean' } },
      async run({ values, stdin }) {
        const { name, role } = values;
        if (typeof name !== 'string') throw new UsageError('--name is missing');
        if (role !== 'member' && role !== 'admin') throw new UsageError('--role must be member or admin');
        // A password among the arguments would stand in the process list and in the shell's history.
        if (values['password-stdin'] !== true) throw new UsageError('--password-stdin is missing');
        const account = await accounts.create({ name, role, password: stdin.replace(/\r?\n$/, '') });
        return `${account.id}`;
      },
    },
    {
      name: 'user list',
      summary: 'lists the accounts: id, name, role, whether enabled, when made, quota left',
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

/** Whole quota units that are left, as text: an amount may be beyond what a JSON number holds. */
function describe(balance: Balance | undefined): string | null {
  if (balance === undefined) return null;
  return balance.unlimited ? 'unlimited' : `${(balance.granted - balance.held - balance.used) / MICRO}`;
}
