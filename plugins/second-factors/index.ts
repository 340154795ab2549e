/** Second factors: codes of an authenticator, backup codes, passkeys. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit } from '../../core/contracts/audit.ts';
import { SecondFactors } from '../../core/contracts/second-factors.ts';
import { Sessions, Tickets } from '../../core/contracts/sessions.ts';
import { Site } from '../../core/contracts/site.ts';
import { definePlugin, type Host } from '../../core/plugin.ts';
import { type Codes, createCodes, noCodes } from './codes.ts';
import { userFactors } from './commands.ts';
import { createEndings, type Endings } from './endings.ts';
import { errors } from './errors.ts';
import { createPasskeys, noPasskey, type Passkeys } from './passkeys.ts';
import { migrations } from './tables.ts';

export default definePlugin({
  name: 'second-factors',
  api: 2,
  errors,
  migrations,
  needs: [Accounts, Sessions, Tickets],
  wants: [Site, Audit],
  provides: [SecondFactors],
  create(host) {
    const endings = createEndings(host);
    const codes = createCodes(host, endings);
    const factors = createFactors(host, codes, createPasskeys(host, endings), endings);
    host.provide(SecondFactors, factors);
    return {
      commands: [userFactors(host, factors)],
      surrender: codes.surrender,
      report() {
        const { passkeys } = host.find(Site) ?? {};
        if (passkeys === undefined || passkeys.possible) return [];
        return [
          `warning: console.url: passkeys are not available for "${passkeys.rpId}", because browsers require a host name; use one in console.url (http://localhost:8080 on this machine)`,
        ];
      },
    };
  },
});

function createFactors(host: Host, codes: Codes, passkeys: Passkeys, endings: Endings): SecondFactors {
  const { setUp, enable, disable, renewBackupCodes, check } = codes;
  return {
    ...passkeys,
    setUp,
    enable,
    disable,
    renewBackupCodes,
    check,

    status: async (accountId) => ({ ...(await codes.status(accountId)), passkey: await passkeys.status(accountId) }),

    async reset(accountId, what, along = []) {
      const must = 'there is one';
      const steps = what === 'totp' ? codes.removeSteps(accountId, must) : [passkeys.removeStep(accountId)];
      const failed = await host.store.atomic([...steps, ...endings.steps(accountId), ...along]);
      if (failed === undefined) return;
      if (what === 'passkey') noPasskey();
      noCodes();
    },
  };
}
