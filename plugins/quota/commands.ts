/** Commands of the ledger. */
import { randomUUID } from 'node:crypto';
import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit, COMMAND_LINE } from '../../core/contracts/audit.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { inQuota, type Ledger, MICRO } from '../../core/contracts/ledger.ts';
import { type Command, type Host, UsageError } from '../../core/plugin.ts';

/** `user credit NAME UNITS`. It finds the other plugins when it runs, because they may be created after this one. */
export function userCredit(host: Host, ledger: Ledger): Command {
  return {
    name: 'user credit',
    summary: 'gives an account quota units',
    positionals: ['NAME', 'UNITS'],
    async run({ positionals: [name, units] }) {
      if (name === undefined || units === undefined) throw new UsageError('user credit NAME UNITS');
      if (!/^[0-9]{1,18}$/.test(units) || BigInt(units) === 0n) {
        throw new UsageError(`UNITS must be a whole number above zero, not "${units}"`);
      }
      const account = await host.find(Accounts)?.findByName(name);
      if (account === undefined) throw coreErrors.account_not_found(name);
      const layer = { kind: 'account', owner: account.id } as const;
      if ((await ledger.balance(layer))?.unlimited === true) {
        throw coreErrors.unlimited(`"${name}" is unlimited: there is no balance to credit.`);
      }
      const facts = { mode: 'add', value: Number(units) };
      const noted = host
        .find(Audit)
        ?.steps({ actor: COMMAND_LINE, action: 'user.quota', object: `user ${account.id}`, facts });
      await ledger.credit(layer, BigInt(units) * MICRO, `cli:${randomUUID()}`, 'cli', noted);
      const balance = await ledger.balance(layer);
      if (balance === undefined) throw new Error(`the account ${name} has no bucket`);
      return `credited ${units} to ${name}: ${inQuota(balance.granted - balance.used - balance.held)} quota available\n`;
    },
  };
}
