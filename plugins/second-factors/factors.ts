/** The service: codes and passkeys together. */
import type { SecondFactors } from '../../core/contracts/second-factors.ts';
import type { Host } from '../../core/plugin.ts';
import { type Codes, noCodes } from './codes.ts';
import type { Endings } from './endings.ts';
import { noPasskey, type Passkeys } from './passkeys.ts';

export function createFactors(host: Host, codes: Codes, passkeys: Passkeys, endings: Endings): SecondFactors {
  const { setUp, enable, disable, renewBackupCodes, check } = codes;
  return {
    ...passkeys,
    setUp,
    enable,
    disable,
    renewBackupCodes,
    check,

    async status(accountId) {
      return { ...(await codes.status(accountId)), passkey: await passkeys.status(accountId) };
    },

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
