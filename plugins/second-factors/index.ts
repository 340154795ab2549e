/** Second factors: codes of an authenticator, backup codes, passkeys. */

import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit, COMMAND_LINE } from '../../core/contracts/audit.ts';
import { coreErrors, notWritten } from '../../core/contracts/errors.ts';
import type { Account } from '../../core/contracts/identity.ts';
import { type FactorStatus, SecondFactors } from '../../core/contracts/second-factors.ts';
import { Sessions, Tickets } from '../../core/contracts/sessions.ts';
import { Site } from '../../core/contracts/site.ts';
import { type Command, definePlugin, type Host, type Migration } from '../../core/plugin.ts';
import { type Codes, createCodes, noCodes } from './codes.ts';
import { createEndings, type Endings } from './endings.ts';
import { errors } from './errors.ts';
import { createPasskeys, noPasskey, type Passkeys } from './passkeys.ts';

/**
 * `totp`: `last_step` is the newest time step whose code was used; `wrong`, `locked_until_ms` and `lock_ms` (duration of the next lock)
 * count wrong codes; locks until `noted_ms` are in the audit log. `totp_pending` is an authenticator that waits for its first code. The
 * hash of a backup code is the SHA-256 of its 24 characters; `pending` ones are not active yet. `passkey_user` has the user handle of an
 * account, which is kept when its passkey is removed; `transports` is a JSON list.
 */
const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'codes and passkeys',
    sql: [
      `CREATE TABLE totp (
        account_id INTEGER NOT NULL PRIMARY KEY,
        secret TEXT NOT NULL,
        last_step INTEGER NOT NULL,
        wrong INTEGER NOT NULL,
        locked_until_ms INTEGER NOT NULL,
        lock_ms INTEGER NOT NULL,
        noted_ms INTEGER NOT NULL
      ) STRICT`,
      `CREATE TABLE totp_pending (
        account_id INTEGER NOT NULL PRIMARY KEY,
        secret TEXT NOT NULL
      ) STRICT`,
      `CREATE TABLE backup_code (
        account_id INTEGER NOT NULL,
        hash BLOB NOT NULL,
        pending INTEGER NOT NULL CHECK (pending IN (0, 1)),
        PRIMARY KEY (account_id, hash)
      ) STRICT`,
      `CREATE TABLE passkey_user (
        account_id INTEGER NOT NULL PRIMARY KEY,
        handle TEXT NOT NULL UNIQUE
      ) STRICT`,
      `CREATE TABLE passkey (
        account_id INTEGER NOT NULL PRIMARY KEY,
        credential_id TEXT NOT NULL UNIQUE,
        public_key BLOB NOT NULL,
        counter INTEGER NOT NULL,
        transports TEXT NOT NULL,
        backed_up INTEGER NOT NULL CHECK (backed_up IN (0, 1)),
        created_ms INTEGER NOT NULL,
        last_used_ms INTEGER
      ) STRICT`,
    ],
  },
];

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

    async adoptSteps(accountId, { totpSecret, passkey }) {
      const totp = totpSecret === undefined ? [] : codes.adoptSteps(accountId, totpSecret);
      const key = passkey === undefined ? [] : await passkeys.adoptSteps(accountId, passkey);
      return {
        steps: [...(totp ?? []), ...(typeof key === 'string' ? [] : key)],
        problems: {
          ...(totp === undefined && { totp: 'its stored secret cannot be read' }),
          ...(typeof key === 'string' && { passkey: key }),
        },
      };
    },

    async reset(accountId, what, along = []) {
      const must = 'there is one';
      const steps = what === 'totp' ? codes.removeSteps(accountId, must) : [passkeys.removeStep(accountId)];
      const failed = await host.store.atomic([...steps, ...endings(accountId), ...along]);
      if (failed === undefined) return;
      if (failed !== must && failed !== 'there is one') throw notWritten(failed);
      if (what === 'passkey') noPasskey();
      noCodes();
    },
  };
}

/** `user factors NAME [--remove]`. */
function userFactors(host: Host, factors: SecondFactors): Command {
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
      const json = {
        username: account.name,
        totp: status.totp,
        backup_codes_remaining: status.backupCodes,
        passkey: status.passkey !== undefined,
      };
      if (values.remove !== true) {
        const text = lines.length === 0 ? `${account.name} has no second factor` : lines.join('\n');
        return { text, json };
      }
      if (lines.length === 0) throw coreErrors.no_second_factor(`${account.name} has no second factor.`);
      if (status.totp) await factors.reset(account.id, 'totp', noted(account, 'two-factor.reset'));
      if (status.passkey) await factors.reset(account.id, 'passkey', noted(account, 'passkey.reset'));
      return { text: `removed from ${account.name}: ${lines.join(', ')}`, json };
    },
  };
}

function describe({ totp, backupCodes, passkey }: FactorStatus): readonly string[] {
  return [
    ...(totp ? [`authenticator (${backupCodes} backup codes left)`] : []),
    ...(passkey === undefined ? [] : [`passkey (made ${new Date(passkey.createdMs).toISOString()})`]),
  ];
}
