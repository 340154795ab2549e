/** Account commands: create, list, change the password, enable and disable. */

import type { Accounts } from '../../core/contracts/accounts.ts';
import { Audit, COMMAND_LINE } from '../../core/contracts/audit.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { Account } from '../../core/contracts/identity.ts';
import { type Balance, Ledger, MICRO, remaining } from '../../core/contracts/ledger.ts';
import { shownAccount } from '../../core/contracts/shown.ts';
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

  /** The record of `/api`. */
  const shown = async (account: Account) =>
    shownAccount(account, await host.find(Ledger)?.balance({ kind: 'account', owner: account.id }));

  const switching = (command: 'enable' | 'disable', enabled: boolean, summary: string): Command => ({
    name: `user ${command}`,
    summary,
    positionals: ['NAME'],
    async run(request) {
      const account = await named(command, request);
      await accounts.change(account.id, { enabled }, noted(account, `user.${command}`));
      return { text: `${command}d ${account.name}`, json: await shown({ ...account, enabled }) };
    },
  });

  return [
    {
      name: 'user create',
      summary: 'creates an account and prints its id; the password is read from standard input',
      options: {
        name: { type: 'string', required: true },
        role: { type: 'string', value: 'member|admin', required: true },
        'password-stdin': PASSWORD,
      },
      async run(request) {
        const { name, role } = request.values as { readonly name: string; readonly role: 'member' | 'admin' };
        const newAccount = { name, role, password: typedPassword(request) };
        const account = await accounts.create(newAccount, (id) => noted({ id }, 'user.create'));
        return { text: `${account.id}`, json: await shown(account) };
      },
    },
    {
      name: 'user password',
      summary: 'sets the password of an account, read from standard input, and ends its sessions',
      positionals: ['NAME'],
      options: { 'password-stdin': PASSWORD },
      async run(request) {
        const account = await named('password', request);
        await accounts.setPassword(account.id, typedPassword(request), noted(account, 'user.password'));
        return { text: `changed the password of ${account.name}`, json: await shown(account) };
      },
    },
    switching('enable', true, 'enables an account'),
    switching('disable', false, 'disables an account and its keys, and ends its sessions'),
    {
      name: 'user list',
      summary:
        'lists accounts: id, name, role, whether enabled, creation time, remaining quota, reserved for running calls, owed',
      async run() {
        const list = await accounts.list();
        const balances = await host.find(Ledger)?.balances(
          'account',
          list.map(({ id }) => id),
        );
        const rows = list.map((account) => ({ ...account, ...describe(balances?.get(account.id)) }));
        const lines = table([
          ['ID', 'NAME', 'ROLE', 'ENABLED', 'CREATED', 'BALANCE', 'HELD', 'OWED'],
          ...rows.map((row) => [
            `${row.id}`,
            row.name,
            row.role,
            row.enabled ? 'yes' : 'no',
            new Date(row.createdMs).toISOString(),
            row.balance ?? '-',
            row.held ?? '-',
            row.debt ?? '-',
          ]),
        ]);
        return { text: lines, json: list.map((account) => shownAccount(account, balances?.get(account.id))) };
      },
    },
  ];
}

/** A password in the arguments would be in the process list and the shell's history. */
const PASSWORD = { type: 'boolean', required: true } as const;

const typedPassword = ({ stdin }: CommandRequest): string => stdin.replace(/\r?\n$/, '');

/** Remaining, reserved and owed quota units, as texts: the amounts may exceed what a JSON number can represent. */
function describe(balance: Balance | undefined) {
  if (balance === undefined) return { balance: null, held: null, debt: null };
  const { unlimited, held, debt = 0n } = balance;
  return {
    balance: unlimited ? 'unlimited' : wholeUnits(remaining(balance)),
    held: wholeUnits(held),
    debt: `${(debt + MICRO - 1n) / MICRO}`,
  };
}

/** Rounded down, as in `/api`. */
function wholeUnits(micro: bigint): string {
  return `${(micro < 0n ? micro - MICRO + 1n : micro) / MICRO}`;
}
