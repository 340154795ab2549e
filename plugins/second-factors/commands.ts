/** Second factor commands: list, and remove for users who lost theirs. */
import { type Account, Accounts } from '../../core/contracts/accounts.ts';
import { Audit, COMMAND_LINE } from '../../core/contracts/audit.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { FactorStatus, SecondFactors } from '../../core/contracts/second-factors.ts';
import type { Command, Host } from '../../core/plugin.ts';

/** `user factors NAME [--remove]`. */
export function userFactors(host: Host, factors: SecondFactors): Command {
  const noted = ({ id }: Account, action: string) =>
    host.find(Audit)?.steps({ actor: COMMAND_LINE, action, object: `user ${id}` }) ?? [];

  return {
    name: 'user factors',
    summary: 'shows the second factors of an account; --remove takes all of them away and ends its sessions',
    positionals: ['NAME'],
    options: { remove: { type: 'boolean' } },
    async run({ positionals: [name = ''], values }) {
      const account = await host.use(Accounts).findByName(name);
      if (account === undefined) throw coreErrors.account_not_found(name);
      const status = await factors.status(account.id);
      const lines = describe(status);
      if (values.remove !== true) return lines.length === 0 ? `${account.name} has no second factor` : lines.join('\n');
      if (lines.length === 0) throw coreErrors.no_second_factor(`${account.name} has no second factor.`);
      if (status.totp) await factors.reset(account.id, 'totp', noted(account, 'two-factor.reset'));
      if (status.passkey) await factors.reset(account.id, 'passkey', noted(account, 'passkey.reset'));
      return `removed from ${account.name}: ${lines.join(', ')}`;
    },
  };
}

function describe({ totp, backupCodes, passkey }: FactorStatus): readonly string[] {
  return [
    ...(totp ? [`authenticator (${backupCodes} backup codes left)`] : []),
    ...(passkey === undefined ? [] : [`passkey (made ${new Date(passkey.createdMs).toISOString()})`]),
  ];
}
