/** Codes of authenticators (TOTP) and backup codes: setup, verification, removal. */

import { createHash, randomInt } from 'node:crypto';
import { createGuardrails, generateSecret, generateURI, verifySync } from 'otplib';
import { Accounts } from '../../core/contracts/accounts.ts';
import { Audit } from '../../core/contracts/audit.ts';
import { coreErrors, notWritten } from '../../core/contracts/errors.ts';
import type { SecondFactors } from '../../core/contracts/second-factors.ts';
import { Site } from '../../core/contracts/site.ts';
import type { Host, Step, Surrender } from '../../core/plugin.ts';
import type { Endings } from './endings.ts';
import { errors } from './errors.ts';

const SECRET_BYTES = 20;
/** Tolerates a clock that is one step off, and the time to type. */
const TOLERANCE_SECONDS = 30;
const CODE = /^[0-9]{6}$/;
/** Secrets of other programs may be as short as 80 bits, as most examples of them are; ours have 160. */
const GUARDRAILS = createGuardrails({ MIN_SECRET_BYTES: 10 });

/** Creates a secret: 20 random bytes in base32. */
export function newTotpSecret(): string {
  return generateSecret({ length: SECRET_BYTES });
}

/** The time step of a code, at most one step from now; undefined for wrong codes of any form. */
export function stepOfCode(secret: string, code: string, nowMs: number): number | undefined {
  // The library throws for malformed codes.
  if (!CODE.test(code)) return undefined;
  const result = verifySync({
    secret,
    token: code,
    epoch: Math.floor(nowMs / 1_000),
    epochTolerance: TOLERANCE_SECONDS,
    guardrails: GUARDRAILS,
  });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
}

/** A secret of another program as it is stored here: base32 without spaces and padding; undefined for other texts. */
function readSecret(text: string): string | undefined {
  const secret = text.replace(/[\s-]|=+$/g, '').toUpperCase();
  try {
    stepOfCode(secret, '000000', 0);
    return secret;
  } catch {
    return undefined;
  }
}

/** The otpauth URL of a secret and its QR code (an SVG document). */
export async function totpCard(
  issuer: string,
  name: string,
  secret: string,
): Promise<{ readonly uri: string; readonly qr: string }> {
  const uri = generateURI({ issuer, label: name, secret, algorithm: 'sha1', digits: 6, period: 30 });
  // Loaded on demand.
  const { default: qrcode } = await import('qrcode');
  return { uri, qr: await qrcode.toString(uri, { type: 'svg' }) };
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const LENGTH = 24;
const HOW_MANY = 10;
const PLAIN = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

/** Creates ten codes, `ABCD-EFGH-IJKL-MNOP-QRST-UVWX`. */
export function newBackupCodes(): readonly string[] {
  return Array.from({ length: HOW_MANY }, () => {
    const characters = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
    return characters.replace(/.{4}(?=.)/g, '$&-');
  });
}

/** The stored hash of a code; undefined for invalid texts. `plain`: without dashes, in upper case. */
export function hashOfBackupCode(plain: string): Uint8Array | undefined {
  return PLAIN.test(plain) ? createHash('sha256').update(plain).digest() : undefined;
}

/** The number of consecutive wrong codes that locks an account's codes; each lock is twice as long as the previous one. */
const TRIES = 5;
const FIRST_LOCK_MS = 5 * 60_000;
const LONGEST_LOCK_MS = 24 * 60 * 60_000;

/** Counts an attempt before the code is compared, so that at most `TRIES` concurrent attempts are compared. */
const TAKE_TRY = `UPDATE totp SET
    wrong = CASE WHEN wrong + 1 < ${TRIES} THEN wrong + 1 ELSE 0 END,
    locked_until_ms = CASE WHEN wrong + 1 < ${TRIES} THEN 0 ELSE ? + lock_ms END,
    lock_ms = CASE
      WHEN wrong + 1 < ${TRIES} THEN lock_ms
      WHEN lock_ms * 2 < ${LONGEST_LOCK_MS} THEN lock_ms * 2
      ELSE ${LONGEST_LOCK_MS} END
  WHERE account_id = ? AND locked_until_ms <= ?`;

/** The `must` of the step that redeems a code. */
const REDEEMED = 'the code is good';

interface TotpRow {
  /** Encrypted. */
  readonly secret: string;
  readonly locked_until_ms: number;
}

/** The state of an account's codes, and the service's methods about codes. */
export interface Codes extends Pick<SecondFactors, 'setUp' | 'enable' | 'disable' | 'renewBackupCodes' | 'check'> {
  status(
    accountId: number,
  ): Promise<{ readonly totp: boolean; readonly lockedUntilMs: number; readonly backupCodes: number }>;
  /** The steps that remove all codes; with `must` they fail for an account without an authenticator. */
  removeSteps(accountId: number, must?: string): readonly Step[];
  /** The steps that give an account the secret of another program; undefined if it is none. */
  adoptSteps(accountId: number, secret: string): readonly Step[] | undefined;
  /** All authenticators and their backup codes: without the master key, their secrets cannot be decrypted. */
  surrender(): Promise<readonly Surrender[]>;
}

export function createCodes(host: Host, endings: Endings): Codes {
  const { store, clock, vault } = host;

  const rowOf = (accountId: number): Promise<TotpRow | undefined> =>
    store.one<TotpRow>('SELECT secret, locked_until_ms FROM totp WHERE account_id = ?', accountId);

  /** Takes an attempt. Refuses if there are no codes, or after too many attempts. */
  async function takeTry(accountId: number): Promise<TotpRow> {
    const now = clock.now();
    const taken = await store.run(TAKE_TRY, now, accountId, now);
    const row = await rowOf(accountId);
    if (row === undefined) noCodes();
    if (taken > 0) return row;
    const seconds = Math.max(1, Math.ceil((row.locked_until_ms - clock.now()) / 1_000));
    throw errors.codes_locked(seconds).with({ headers: { 'retry-after': String(seconds) } });
  }

  /** The steps that redeem a code exactly once; undefined if it is wrong. */
  function redeemSteps(accountId: number, { secret }: TotpRow, code: string): readonly Step[] | undefined {
    const plain = plainCode(code);
    const step = stepOfCode(vault.open(sealedFor(accountId), secret), plain, clock.now());
    if (step !== undefined) {
      return [
        {
          sql: 'UPDATE totp SET last_step = ? WHERE account_id = ? AND secret = ? AND last_step < ?',
          params: [step, accountId, secret, step],
          must: REDEEMED,
        },
        forgetTries(accountId),
      ];
    }
    const hash = hashOfBackupCode(plain);
    if (hash === undefined) return undefined;
    return [
      {
        sql: 'DELETE FROM backup_code WHERE account_id = ? AND hash = ? AND pending = 0',
        params: [accountId, hash],
        must: REDEEMED,
      },
      forgetTries(accountId),
    ];
  }

  /** Redeems a code and writes a change in one list. */
  async function redeem(accountId: number, code: string, change: readonly Step[] = []): Promise<void> {
    const row = await takeTry(accountId);
    const steps = redeemSteps(accountId, row, code);
    if (steps !== undefined && (await write([...steps, ...change]))) return;
    if (row.locked_until_ms > 0) await noteLock(accountId, row.locked_until_ms);
    wrongCode();
  }

  /** False if another request has redeemed the code. */
  async function write(steps: readonly Step[]): Promise<boolean> {
    const failed = await store.atomic(steps);
    if (failed !== undefined && failed !== REDEEMED) throw notWritten(failed);
    return failed === undefined;
  }

  /** Writes the lock to the audit log, once per lock. */
  async function noteLock(accountId: number, untilMs: number): Promise<void> {
    const name = (await host.use(Accounts).find(accountId))?.name ?? '';
    const actor = { accountId, name, ip: '' };
    const event = { actor, action: 'two-factor.locked', object: `user ${accountId}` };
    await store.atomic([
      {
        sql: 'UPDATE totp SET noted_ms = ? WHERE account_id = ? AND noted_ms < ?',
        params: [untilMs, accountId, untilMs],
        must: 'not noted yet',
      },
      ...(host.find(Audit)?.steps(event) ?? []),
    ]);
  }

  return {
    async status(accountId) {
      const row = await rowOf(accountId);
      const codes = await store.one<{ n: number }>(
        'SELECT COUNT(*) AS n FROM backup_code WHERE account_id = ? AND pending = 0',
        accountId,
      );
      const lockedUntilMs = row?.locked_until_ms ?? 0;
      return {
        totp: row !== undefined,
        lockedUntilMs: lockedUntilMs > clock.now() ? lockedUntilMs : 0,
        backupCodes: codes?.n ?? 0,
      };
    },

    async setUp({ id, name }) {
      const secret = newTotpSecret();
      const backupCodes = newBackupCodes();
      const failed = await store.atomic([
        {
          sql: `INSERT INTO totp_pending (account_id, secret)
            SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM totp WHERE account_id = ?)
            ON CONFLICT (account_id) DO UPDATE SET secret = excluded.secret`,
          params: [id, vault.seal(pendingFor(id), secret), id],
          must: 'not enabled',
        },
        { sql: 'DELETE FROM backup_code WHERE account_id = ?', params: [id] },
        ...insertCodes(id, backupCodes, 1),
      ]);
      if (failed !== undefined) enabledAlready();
      return { secret, ...(await totpCard(host.find(Site)?.name ?? 'Turnpike', name, secret)), backupCodes };
    },

    async enable({ id }, code, session, along = []) {
      if ((await rowOf(id)) !== undefined) enabledAlready();
      const pending = await store.one<{ secret: string }>('SELECT secret FROM totp_pending WHERE account_id = ?', id);
      if (pending === undefined) throw errors.no_setup();
      // Attempts are not counted: the signed-in user knows the secret and need not guess.
      const secret = vault.open(pendingFor(id), pending.secret);
      const step = stepOfCode(secret, plainCode(code), clock.now());
      if (step === undefined) wrongCode();
      const enabled = await write([
        {
          sql: 'DELETE FROM totp_pending WHERE account_id = ? AND secret = ?',
          params: [id, pending.secret],
          must: REDEEMED,
        },
        {
          sql: `INSERT INTO totp (account_id, secret, last_step, wrong, locked_until_ms, lock_ms, noted_ms)
            VALUES (?, ?, ?, 0, 0, ?, 0)`,
          params: [id, vault.seal(sealedFor(id), secret), step, FIRST_LOCK_MS],
        },
        { sql: 'UPDATE backup_code SET pending = 0 WHERE account_id = ?', params: [id] },
        ...endings(id, session),
        ...along,
      ]);
      if (!enabled) wrongCode();
    },

    disable({ id }, code, session, along = []) {
      return redeem(id, code, [...removeSteps(id), ...endings(id, session), ...along]);
    },

    async renewBackupCodes({ id }, code, session, along = []) {
      const backupCodes = newBackupCodes();
      // Requires a code of the authenticator: with backup codes alone, a user could create new ones forever.
      const ofAuthenticator = hashOfBackupCode(plainCode(code)) === undefined ? code : '';
      await redeem(id, ofAuthenticator, [
        { sql: 'DELETE FROM backup_code WHERE account_id = ?', params: [id] },
        ...insertCodes(id, backupCodes, 0),
        ...endings(id, session),
        ...along,
      ]);
      return backupCodes;
    },

    check: (accountId, code) => redeem(accountId, code),
    removeSteps,

    adoptSteps(accountId, text) {
      const secret = readSecret(text);
      if (secret === undefined) return undefined;
      return [
        {
          sql: `INSERT INTO totp (account_id, secret, last_step, wrong, locked_until_ms, lock_ms, noted_ms)
            VALUES (?, ?, 0, 0, 0, ?, 0) ON CONFLICT DO NOTHING`,
          params: [accountId, vault.seal(sealedFor(accountId), secret), FIRST_LOCK_MS],
        },
      ];
    },

    async surrender() {
      const row = await store.one<{ n: number }>('SELECT COUNT(*) AS n FROM totp');
      const what = `${row?.n ?? 0} authenticators with their backup codes: their accounts have no such second factor any more`;
      const tables = ['totp', 'totp_pending', 'backup_code'];
      return [{ what, steps: tables.map((table) => ({ sql: `DELETE FROM ${table}` })) }];
    },
  };
}

function removeSteps(accountId: number, must?: string): readonly Step[] {
  return [
    { sql: 'DELETE FROM totp WHERE account_id = ?', params: [accountId], ...(must !== undefined && { must }) },
    { sql: 'DELETE FROM totp_pending WHERE account_id = ?', params: [accountId] },
    { sql: 'DELETE FROM backup_code WHERE account_id = ?', params: [accountId] },
  ];
}

const insertCodes = (accountId: number, codes: readonly string[], pending: 0 | 1): readonly Step[] =>
  codes.map((code) => ({
    sql: 'INSERT INTO backup_code (account_id, hash, pending) VALUES (?, ?, ?)',
    params: [accountId, hashOfBackupCode(plainCode(code)) ?? null, pending],
  }));

const forgetTries = (accountId: number): Step => ({
  sql: 'UPDATE totp SET wrong = 0, locked_until_ms = 0, lock_ms = ? WHERE account_id = ?',
  params: [FIRST_LOCK_MS, accountId],
});

/** Normalizes a typed code: groups, lower case, surrounding space. */
const plainCode = (typed: string): string => typed.replace(/[\s-]/g, '').toUpperCase();

/** The vault context of a secret: a pending secret cannot be moved to the place of an active one. */
const sealedFor = (accountId: number): string => `totp.secret ${accountId}`;
const pendingFor = (accountId: number): string => `totp_pending.secret ${accountId}`;

export function noCodes(): never {
  throw coreErrors.no_second_factor();
}

function wrongCode(): never {
  throw coreErrors.wrong_code('This code is incorrect or was already used.');
}

function enabledAlready(): never {
  throw errors.two_factor_enabled();
}
