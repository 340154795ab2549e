/**
 * How users of one-api, new-api and one-hub sign in, and their own settings. Read in their code on 2026-11-29:
 *
 * - `users.password`: bcrypt. `users.access_token`: in plain text, 32 characters, sent as `Authorization`, with or without `Bearer`.
 * - `users.github_id`: the user's name at GitHub, which can be given up and taken by another person. Versions of new-api with the tables
 *   of custom providers store GitHub's numeric id instead, and replace an old name at the next sign-in (`oauth/github.go`). Before, a
 *   text of digits can be a name, too. one-hub stores the numeric id in `users.github_id_new`.
 * - `users.oidc_id`: the claim `sub`. The issuer is in the option `oidc.well_known` (new-api), `OidcWellKnown` (one-api) or `OIDCIssuer`
 *   (one-hub).
 * - `two_fas` (new-api, `model/twofa.go`): TOTP with SHA-1, 6 digits and 30 seconds; `two_fa_backup_codes`: bcrypt of 8 characters.
 * - `passkey_credentials` (new-api, `model/passkey.go`): standard base64; the user handle is the user's id in decimal (`service/passkey`),
 *   and credentials are made discoverable. The domain is the option `passkey.rp_id`, or the host of `ServerAddress`.
 * - `webauthn_credentials` (one-hub): made without asking for a discoverable credential, and used after the user name.
 * - `users.setting` (new-api, `dto/user_settings.go`): JSON.
 */
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import type { Database } from '../databases.ts';
import type { ForeignLink, ForeignPasskey, ForeignUser, Note, Program } from '../inventory.ts';
import { asObject, asTexts, isTrue, jsonOf, numberOf, type Row, textOf } from '../values.ts';

/** What belongs to users, by their id, and what of it is not here. */
export interface Identities {
  readonly byUser: ReadonlyMap<string, Partial<ForeignUser>>;
  readonly notes: readonly Note[];
}

/** A column of `users` with an identifier of the person at another service, and the service. */
const SERVICES: Readonly<Record<string, string>> = {
  wechat_id: 'WeChat',
  telegram_id: 'Telegram',
  lark_id: 'Lark',
  linux_do_id: 'Linux DO',
  discord_id: 'Discord',
};
/** Settings that are stored here under the same names. */
const SAME_TEXTS = ['webhook_url', 'notification_email', 'language', 'sidebar_modules'];
/** Settings that are not here, and why. */
const OTHER_SETTINGS: Readonly<Record<string, string>> = {
  accept_unset_model_ratio_model: 'a model without a price is not served',
  bark_url: 'notifications are sent by email or to a webhook',
  gotify_url: 'notifications are sent by email or to a webhook',
  gotify_token: 'notifications are sent by email or to a webhook',
  upstream_model_update_notify_enabled: 'models are configured in gateway.yaml',
};
/** Part of `gotify_url`. */
const WITHOUT_MEANING = ['gotify_priority'];
const DELETED = 3;

/** Reads the tables. `micro`: an amount in a column, in micro-quota. */
export async function readIdentities(
  program: Program,
  database: Database,
  micro: (row: Row, column: string) => bigint,
): Promise<Identities> {
  const rowsOf = async (table: string): Promise<readonly Row[]> =>
    ((await database.rows(table)) ?? []).filter((row) => textOf(row, 'deleted_at') === undefined);
  const users = (await rowsOf('users')).filter((row) => numberOf(row, 'status') !== DELETED);
  const options = new Map((await rowsOf('options')).map((row) => [String(row.key), textOf(row, 'value')]));
  const names = new Map(users.map((row) => [textOf(row, 'id') ?? '', textOf(row, 'username') ?? '']));
  const notes: Note[] = [];
  const note = (kind: Note['kind'], where: string, what: string, why: string, count?: number): void => {
    if (count !== 0) notes.push({ kind, where, what, why, ...(count !== undefined && { count }) });
  };
  /** Rows of a table by the users who are taken over. */
  function byUser(rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
    const found = new Map<string, Row[]>();
    for (const row of rows) {
      const id = textOf(row, 'user_id') ?? '';
      if (names.has(id)) found.set(id, [...(found.get(id) ?? []), row]);
    }
    return found;
  }

  const codes = byUser(await rowsOf('two_fas'));
  const backupCodes = byUser((await rowsOf('two_fa_backup_codes')).filter((row) => !isTrue(row, 'is_used')));
  const secrets = new Map<string, string>();
  for (const [id, rows] of codes) {
    const secret = textOf(rows.find((row) => isTrue(row, 'is_enabled')) ?? {}, 'secret');
    if (secret === undefined) note('left', 'two_fas', `user ${names.get(id)}`, 'its authenticator was never enabled');
    else secrets.set(id, secret);
  }
  for (const id of backupCodes.keys()) {
    const why = 'its backup codes are too short to be used here: create new ones under Security';
    note('changed', 'two_fa_backup_codes', `user ${names.get(id)}`, why);
  }

  const passkeys = new Map<string, readonly ForeignPasskey[]>();
  const rpId = hostOf(options.get('passkey.rp_id')) ?? hostOf(options.get('ServerAddress'));
  for (const [id, rows] of byUser(await rowsOf('passkey_credentials'))) {
    const newest = [...rows].sort((a, b) => lastUse(b).localeCompare(lastUse(a)));
    const read = newest.map((row) => passkeyOf(row, id, rpId));
    passkeys.set(
      id,
      read.filter((each) => typeof each !== 'string'),
    );
    for (const why of read.filter((each) => typeof each === 'string'))
      note('left', 'passkey_credentials', `passkey of ${names.get(id)}`, why);
  }
  for (const [id, rows] of byUser(await rowsOf('webauthn_credentials'))) {
    const why = 'it works only after the user name, and passkeys here sign in without: add a new one under Security';
    note('left', 'webauthn_credentials', `passkey of ${names.get(id)}`, why, rows.length);
  }

  const links = await linksOf(users, await rowsOf('user_oauth_bindings'));

  /** The accounts at other services that can be used here. */
  async function linksOf(rows: readonly Row[], bindings: readonly Row[]): Promise<ReadonlyMap<string, ForeignLink[]>> {
    const found = new Map<string, ForeignLink[]>();
    const add = (id: string, link: ForeignLink): void => void found.set(id, [...(found.get(id) ?? []), link]);
    const hasNumericIds = program === 'new-api' && (await database.columns('user_oauth_bindings')).length > 0;
    const issuer = issuerOf(
      options.get('oidc.well_known') ?? options.get('OidcWellKnown') ?? options.get('OIDCIssuer'),
    );
    for (const row of rows) {
      const id = textOf(row, 'id') ?? '';
      const what = `user ${names.get(id)}`;
      const github = hasNumericIds ? identifierIn(row, 'github_id') : identifierIn(row, 'github_id_new');
      const name = identifierIn(row, 'github_id');
      if (github !== undefined && /^\d+$/.test(github))
        add(id, { type: 'github', issuer: 'https://github.com', provider: 'github', subject: github });
      else if (name !== undefined) {
        const why =
          'it is a GitHub user name, which another person can take over: users link GitHub again after signing in';
        note('left', 'users.github_id', what, why);
      }
      const subject = identifierIn(row, 'oidc_id');
      if (subject !== undefined && issuer !== undefined) add(id, { type: 'oidc', issuer, provider: 'oidc', subject });
      else if (subject !== undefined) {
        const why = 'the issuer of OpenID Connect is not stored there: users link their account again after signing in';
        note('left', 'users.oidc_id', what, why);
      }
      for (const [column, service] of Object.entries(SERVICES))
        if (identifierIn(row, column) !== undefined)
          note('left', `users.${column}`, what, `there is no sign-in with ${service} here`);
    }
    const providers = new Map((await rowsOf('custom_oauth_providers')).map((row) => [textOf(row, 'id'), row]));
    for (const [id, ofUser] of byUser(bindings)) {
      for (const row of ofUser) {
        const provider = providers.get(textOf(row, 'provider_id')) ?? {};
        const subject = identifierIn(row, 'provider_user_id');
        const its = issuerOf(textOf(provider, 'well_known') ?? textOf(provider, 'issuer'));
        const slug = textOf(provider, 'slug') ?? '';
        const isSub = (textOf(provider, 'user_id_field') ?? 'sub') === 'sub';
        const isFlow = (textOf(provider, 'kind') ?? 'oauth_code') === 'oauth_code';
        if (subject !== undefined && its !== undefined && isSub && isFlow && /^[a-z][a-z0-9-]{0,30}$/.test(slug))
          add(id, { type: 'oidc', issuer: its, provider: slug, subject });
        else {
          const why = `the provider ${slug || textOf(row, 'provider_id')} is not stored as one of OpenID Connect with discovery`;
          note('left', 'user_oauth_bindings', `user ${names.get(id)}`, why);
        }
      }
    }
    return withoutShared(found);
  }

  /** Without those that several users have: which of them signs in would be chance. */
  function withoutShared(found: ReadonlyMap<string, ForeignLink[]>): ReadonlyMap<string, ForeignLink[]> {
    const key = ({ issuer, subject }: ForeignLink): string => JSON.stringify([issuer, subject]);
    const counts = new Map<string, number>();
    for (const link of [...found.values()].flat()) counts.set(key(link), (counts.get(key(link)) ?? 0) + 1);
    return new Map(
      [...found].map(([id, all]) => {
        const own = all.filter((link) => counts.get(key(link)) === 1);
        for (const { provider } of all.filter((link) => !own.includes(link))) {
          const why = `several users have the same account at ${provider}: they link it again after signing in`;
          note('left', 'users', `user ${names.get(id)}`, why);
        }
        return [id, own];
      }),
    );
  }

  const unknownSettings = new Map<string, number>();
  const identities = new Map(
    users.map((row): readonly [string, Partial<ForeignUser>] => {
      const id = textOf(row, 'id') ?? '';
      const { others, isUnreadable, ...settings } = settingsOf(row, micro);
      if (isUnreadable) note('left', 'users.setting', `user ${names.get(id)}`, 'its settings cannot be read');
      for (const name of others) unknownSettings.set(name, (unknownSettings.get(name) ?? 0) + 1);
      const token = textOf(row, 'access_token');
      const fields: Partial<ForeignUser> = {
        passwordHash: textOf(row, 'password'),
        totpSecret: secrets.get(id),
        passkeys: passkeys.get(id),
        links: links.get(id),
        accessToken: token,
        ...settings,
      };
      return [id, Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))];
    }),
  );
  for (const [name, count] of unknownSettings)
    note(
      'left',
      `users.setting.${name}`,
      'settings of users',
      OTHER_SETTINGS[name] ?? 'there is no such setting',
      count,
    );
  const tokens = [...identities.values()].filter(({ accessToken }) => accessToken !== undefined).length;
  const lifetime = 'they work until console.accessToken.days (usually 90) after the import; they had no end there';
  note('changed', 'users.access_token', 'access tokens', lifetime, tokens);
  return { byUser: identities, notes };
}

/** What of it belongs to a row of `users`. */
export function identityOf(row: Row, identities: Identities): Partial<ForeignUser> {
  return identities.byUser.get(textOf(row, 'id') ?? '') ?? {};
}

/** An identifier of a person; undefined if there is none: one-hub stores 0 then. */
function identifierIn(row: Row, column: string): string | undefined {
  const text = textOf(row, column);
  return text === '0' ? undefined : text;
}

/** The host in a URL or before a port, in lower case. */
function hostOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  return URL.canParse(url) ? new URL(url).hostname || undefined : undefined;
}

/** The issuer with this address of discovery, or with this one itself. */
function issuerOf(text: string | undefined): string | undefined {
  const issuer = text?.replace(/\/\.well-known\/openid-configuration\/*$/, '');
  return issuer !== undefined && /^https?:\/\//i.test(issuer) && URL.canParse(issuer) ? issuer : undefined;
}

/** The time of its last use, or of its making. */
const lastUse = (row: Row): string => textOf(row, 'last_used_at') ?? textOf(row, 'created_at') ?? '';

/** A passkey, or why it is of no use here. */
function passkeyOf(row: Row, userId: string, rpId: string | undefined): ForeignPasskey | string {
  if (!isTrue(row, 'user_verified'))
    return 'it is not known to verify its user by a PIN or a finger, which is required here';
  if (rpId === undefined) return 'its domain is not stored there';
  const [credentialId, publicKey] = [base64urlIn(row, 'credential_id'), base64urlIn(row, 'public_key')];
  const counter = numberOf(row, 'sign_count') ?? 0;
  if (credentialId === undefined || publicKey === undefined || !Number.isSafeInteger(counter) || counter < 0)
    return 'its stored key cannot be read';
  const transports = asTexts(jsonOf(row, 'transports'));
  return {
    id: textOf(row, 'id') ?? '',
    rpId,
    userHandle: Buffer.from(userId).toString('base64url'),
    credentialId,
    publicKey,
    counter,
    ...(transports.length > 0 && { transports }),
  };
}

/** Standard base64 as base64url; undefined if it is none. */
function base64urlIn(row: Row, column: string): string | undefined {
  const text = textOf(row, column);
  if (text === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const plain = text.replace(/=+$/, '');
  const url = Buffer.from(text, 'base64').toString('base64url');
  // A last character with bits that no byte has is not base64.
  return url === plain.replaceAll('+', '-').replaceAll('/', '_') ? url : undefined;
}

/** The settings in a row of `users`. */
function settingsOf(
  row: Row,
  micro: (row: Row, column: string) => bigint,
): Pick<ForeignUser, 'lowBalance' | 'settings' | 'webhookSecret'> & {
  readonly others: readonly string[];
  readonly isUnreadable: boolean;
} {
  const text = textOf(row, 'setting');
  const stored = jsonOf(row, 'setting');
  const given = asObject(stored);
  const settings: Record<string, JsonObject[string]> = {};
  const others: string[] = [];
  let lowBalance: bigint | undefined;
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === '' || value === false || value === 0 || WITHOUT_MEANING.includes(name)) continue;
    if (name === 'quota_warning_threshold' && typeof value === 'number' && value > 0 && Number.isFinite(value)) {
      lowBalance = micro({ [name]: Math.ceil(value) }, name);
    } else if (name === 'notify_type' && (value === 'email' || value === 'webhook')) settings[name] = value;
    else if (name === 'record_ip_log' && value === true) settings[name] = true;
    else if (SAME_TEXTS.includes(name) && typeof value === 'string') settings[name] = value;
    else if (name !== 'webhook_secret' || typeof value !== 'string') others.push(name);
  }
  return {
    lowBalance,
    settings: Object.keys(settings).length === 0 ? undefined : settings,
    webhookSecret: textOf(given, 'webhook_secret'),
    others,
    isUnreadable: text !== undefined && (typeof stored !== 'object' || Array.isArray(stored)),
  };
}
