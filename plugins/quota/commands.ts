/** Commands of the ledger. */
import { randomUUID } from 'node:crypto';
import type { Accounts } from '../../core/contracts/accounts.ts';
import { type Ledger, MICRO } from '../../core/contracts/ledger.ts';
import { type Command, refuse, UsageError } from '../../core/plugin.ts';
import { inQuota } from './ledger.ts';

/** `user credit NAME UNITS`. Accounts are looked up when it runs: their plugin may be created after this one. */
export function userCredit(ledger: Ledger, accounts: () => Accounts | undefined): Command {
  return {
    name: 'user credit',
    summary: 'gives an account quota units',
    positionals: ['NAME', 'UNITS'],
    async run({ positionals: [name, units] }) {
      if (name === undefined || units === undefined) throw new UsageError('user credit NAME UNITS');
      if (!/^[0-9]{1,18}$/.test(units) || BigInt(units) === 0n) {
        throw new UsageError(`UNITS is a whole number above zero, not "${units}"`);
      }
      const account = await accounts()?.findByName(name);
      if (account === undefined) return refuse(404, 'account_not_found', `There is no account "${name}".`);
      const layer = { kind: 'account', owner: account.id } as const;
      await ledger.credit(layer, BigInt(units) * MICRO, `cli:${randomUUID()}`, 'cli');
      const balance = await ledger.balance(layer);
      if (balance === undefined) throw new Error(`the account ${name} lost its bucket`);
      return `credited ${units} to ${name}: ${inQuota(balance.granted - balance.used - balance.held)} quota available\n`;
    },
  };
}
