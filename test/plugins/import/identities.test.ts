/** How users of one-api, new-api and one-hub sign in, as the import reads it from their tables. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { openDatabase } from '../../../plugins/import/databases.ts';
import type { ForeignUser, Note, Program } from '../../../plugins/import/inventory.ts';
import { identityOf, readIdentities } from '../../../plugins/import/one-api/identities.ts';
import { makeSqlite, NEW_API_VERSIONS, ONE_API_VERSIONS, type TestRow } from './databases.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-identities-'));
after(() => rmSync(folder, { recursive: true }));
let files = 0;

/** The tables of newer versions of new-api. */
const TWO_FACTORS = `
  CREATE TABLE two_fas (id integer PRIMARY KEY, user_id integer, secret text, is_enabled numeric, failed_attempts integer,
    locked_until datetime, last_used_at datetime, created_at datetime, updated_at datetime, deleted_at datetime);
  CREATE TABLE two_fa_backup_codes (id integer PRIMARY KEY, user_id integer, code_hash text, is_used numeric, used_at datetime,
    created_at datetime, deleted_at datetime);
  CREATE TABLE passkey_credentials (id integer PRIMARY KEY, user_id integer, credential_id text, public_key text,
    attestation_type text, aaguid text, sign_count integer, clone_warning numeric, user_present numeric, user_verified numeric,
    backup_eligible numeric, backup_state numeric, transports text, attachment text, last_used_at datetime, created_at datetime,
    updated_at datetime, deleted_at datetime);`;
const PROVIDERS = `
  CREATE TABLE custom_oauth_providers (id integer PRIMARY KEY, name text, slug text, kind text, issuer text, well_known text,
    user_id_field text);
  CREATE TABLE user_oauth_bindings (id integer PRIMARY KEY, user_id integer, provider_id integer, provider_user_id text);`;

type Tables = Readonly<Record<string, readonly TestRow[]>>;

const user = (id: number, row: TestRow = {}): TestRow => ({
  id,
  username: `user${id}`,
  password: '$2a$10$x',
  status: 1,
  aff_code: `a${id}`,
  ...row,
});

/** What is read of a database with these rows. */
async function read(
  program: Program,
  tables: Tables,
  more = '',
): Promise<{ of(id: number): Partial<ForeignUser>; notes: readonly Note[] }> {
  const version = (program === 'new-api' ? NEW_API_VERSIONS : ONE_API_VERSIONS).at(-1)!;
  const file = join(folder, `${files++}.db`);
  makeSqlite(file, { ...version, sql: version.sql + more }, tables);
  const database = await openDatabase(file);
  try {
    const micro = (row: Readonly<Record<string, unknown>>, column: string) => BigInt(Number(row[column])) * 1_000_000n;
    const identities = await readIdentities(program, database, micro);
    return { of: (id) => identityOf({ id }, identities), notes: identities.notes };
  } finally {
    await database.close();
  }
}

/** Table or column, thing, and count if there are several. */
const told = (notes: readonly Note[]): readonly string[] =>
  notes.map(({ where, what, count }) => [where, what, ...(count === undefined ? [] : [count])].join(', '));

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const base64url = (text: string): string => Buffer.from(text).toString('base64url');

describe('how users of new-api sign in', () => {
  it('is read from databases of every version', async () => {
    for (const version of [...NEW_API_VERSIONS, ...ONE_API_VERSIONS]) {
      const file = join(folder, `${files++}.db`);
      makeSqlite(file, version, { users: [user(1)] });
      const database = await openDatabase(file);
      const identities = await readIdentities('new-api', database, () => 0n);
      await database.close();
      assert.deepEqual(identityOf({ id: 1 }, identities), { passwordHash: '$2a$10$x' }, version.name);
      assert.deepEqual(identities.notes, [], version.name);
    }
  });

  it('with an authenticator that is enabled; backup codes are named', async () => {
    const { of, notes } = await read(
      'new-api',
      {
        users: [user(1), user(2), user(3), user(4, { deleted_at: '2026-01-01' })],
        two_fas: [
          { id: 1, user_id: 1, secret: 'JBSWY3DPEHPK3PXP', is_enabled: 1 },
          { id: 2, user_id: 2, secret: 'JBSWY3DPEHPK3PXQ', is_enabled: 0 },
          { id: 3, user_id: 3, secret: 'JBSWY3DPEHPK3PXR', is_enabled: 1, deleted_at: '2026-01-01' },
          { id: 4, user_id: 4, secret: 'JBSWY3DPEHPK3PXS', is_enabled: 1 },
        ],
        two_fa_backup_codes: [
          { id: 1, user_id: 1, code_hash: 'x', is_used: 0 },
          { id: 2, user_id: 1, code_hash: 'y', is_used: 0 },
          { id: 3, user_id: 2, code_hash: 'z', is_used: 1 },
        ],
      },
      TWO_FACTORS,
    );
    assert.deepEqual(
      [1, 2, 3, 4].map((id) => of(id).totpSecret),
      ['JBSWY3DPEHPK3PXP', undefined, undefined, undefined],
    );
    assert.deepEqual(told(notes), ['two_fas, user user2', 'two_fa_backup_codes, user user1']);
  });

  it('with passkeys that verify their user, the one that was used last first', async () => {
    const passkey = { credential_id: base64('credential'), public_key: base64('key'), user_verified: 1, sign_count: 7 };
    const tables = {
      users: [user(1), user(2)],
      passkey_credentials: [
        { id: 1, user_id: 1, ...passkey, created_at: '2026-01-01' },
        {
          id: 2,
          user_id: 1,
          ...passkey,
          credential_id: base64('used'),
          created_at: '2025-01-01',
          last_used_at: '2026-02-01',
          transports: '["internal"]',
        },
        { id: 3, user_id: 2, ...passkey, user_verified: 0 },
        { id: 4, user_id: 2, ...passkey, public_key: 'no base64!' },
      ],
    };
    const address = { key: 'ServerAddress', value: 'https://AI.example.com:8443/x' };
    const { of, notes } = await read('new-api', { ...tables, options: [address] }, TWO_FACTORS);
    const common = { rpId: 'ai.example.com', userHandle: base64url('1'), publicKey: base64url('key'), counter: 7 };
    assert.deepEqual(of(1).passkeys, [
      { ...common, id: '2', credentialId: base64url('used'), transports: ['internal'] },
      { ...common, id: '1', credentialId: base64url('credential') },
    ]);
    assert.deepEqual(of(2).passkeys, []);
    assert.deepEqual(
      notes.map(({ why }) => why),
      [
        'it is not known to verify its user by a PIN or a finger, which is required here',
        'its stored key cannot be read',
      ],
    );
    const own = await read(
      'new-api',
      { ...tables, options: [address, { key: 'passkey.rp_id', value: 'example.com' }] },
      TWO_FACTORS,
    );
    assert.equal(own.of(1).passkeys?.[0]?.rpId, 'example.com');
    const none = await read('new-api', tables, TWO_FACTORS);
    assert.deepEqual(none.of(1).passkeys, []);
    assert.equal(none.notes[0]?.why, 'its domain is not stored there');
  });

  it('at GitHub by its number, never by a name, even if that is made of digits', async () => {
    const users = [user(1, { github_id: '583231' }), user(2, { github_id: 'octocat' }), user(3, { github_id: '' })];
    const link = { type: 'github', issuer: 'https://github.com', provider: 'github', subject: '583231' };
    const numbers = await read('new-api', { users }, PROVIDERS);
    assert.deepEqual(
      [1, 2, 3].map((id) => numbers.of(id).links),
      [[link], undefined, undefined],
    );
    assert.deepEqual(told(numbers.notes), ['users.github_id, user user2']);
    for (const program of ['new-api', 'one-api'] as const) {
      const old = await read(program, { users });
      assert.deepEqual(
        [1, 2, 3].map((id) => old.of(id).links),
        [undefined, undefined, undefined],
      );
      assert.deepEqual(told(old.notes), ['users.github_id, user user1', 'users.github_id, user user2']);
    }
    const hub = await read(
      'one-hub',
      {
        users: [
          user(1, { github_id: 'octocat', github_id_new: 583231 }),
          user(2, { github_id: '12', github_id_new: 0 }),
        ],
      },
      'ALTER TABLE users ADD COLUMN github_id_new integer;',
    );
    assert.deepEqual(
      [1, 2].map((id) => hub.of(id).links),
      [[link], undefined],
    );
    assert.deepEqual(told(hub.notes), ['users.github_id, user user2']);
  });

  it('at a provider of OpenID Connect whose issuer is known', async () => {
    const users = [user(1, { oidc_id: 'sub-1' }), user(2, { oidc_id: 'sub-2' }), user(3, { oidc_id: 'sub-2' })];
    const more = 'ALTER TABLE users ADD COLUMN oidc_id text;';
    const discovery = 'https://id.example.com/realms/a/.well-known/openid-configuration';
    for (const [program, key, value] of [
      ['new-api', 'oidc.well_known', discovery],
      ['one-api', 'OidcWellKnown', discovery],
      ['one-hub', 'OIDCIssuer', 'https://id.example.com/realms/a'],
    ] as const) {
      const { of, notes } = await read(
        program,
        { users, options: [{ key, value }] },
        program === 'new-api' ? more : '',
      );
      const link = { type: 'oidc', issuer: 'https://id.example.com/realms/a', provider: 'oidc', subject: 'sub-1' };
      assert.deepEqual(
        [1, 2, 3].map((id) => of(id).links),
        [[link], [], []],
        program,
      );
      assert.deepEqual(told(notes), ['users, user user2', 'users, user user3']);
    }
    const unknown = await read('new-api', { users: users.slice(0, 1) }, more);
    assert.equal(unknown.of(1).links, undefined);
    assert.deepEqual(told(unknown.notes), ['users.oidc_id, user user1']);
  });

  it('at providers of its own, if they speak OpenID Connect', async () => {
    const { of, notes } = await read(
      'new-api',
      {
        users: [user(1), user(2), user(3), user(4)],
        custom_oauth_providers: [
          {
            id: 1,
            name: 'Keycloak',
            slug: 'kc',
            well_known: 'https://kc.example.com/.well-known/openid-configuration',
          },
          {
            id: 2,
            name: 'By name',
            slug: 'named',
            issuer: 'https://kc.example.com',
            user_id_field: 'preferred_username',
          },
          { id: 3, name: 'OAuth only', slug: 'plain' },
        ],
        user_oauth_bindings: [1, 2, 3, 9].map((provider_id, i) => ({
          id: i,
          user_id: i + 1,
          provider_id,
          provider_user_id: `kc-${i}`,
        })),
      },
      PROVIDERS,
    );
    const link = { type: 'oidc', issuer: 'https://kc.example.com', provider: 'kc', subject: 'kc-0' };
    assert.deepEqual(
      [1, 2, 3, 4].map((id) => of(id).links),
      [[link], undefined, undefined, undefined],
    );
    assert.deepEqual(
      told(notes),
      [2, 3, 4].map((id) => `user_oauth_bindings, user user${id}`),
    );
  });

  it('at services that are not here, by name; 0 is none', async () => {
    const { notes } = await read(
      'new-api',
      {
        users: [
          user(1, { telegram_id: '4711', discord_id: 'g-1', inviter_id: 1 }),
          user(2, { telegram_id: 0, discord_id: '' }),
        ],
      },
      'ALTER TABLE users ADD COLUMN telegram_id integer; ALTER TABLE users ADD COLUMN discord_id text;',
    );
    assert.deepEqual(
      notes.map(({ where, what, why }) => [where, what, why]),
      [
        ['users.telegram_id', 'user user1', 'there is no sign-in with Telegram here'],
        ['users.discord_id', 'user user1', 'there is no sign-in with Discord here'],
      ],
    );
  });

  it('with passkeys of one-hub only after the user name, so they are named', async () => {
    const { notes } = await read(
      'one-hub',
      { users: [user(1)], webauthn_credentials: [{ id: 1, user_id: 1, credential_id: 'x', public_key: 'y' }] },
      'CREATE TABLE webauthn_credentials (id integer PRIMARY KEY, user_id integer, credential_id blob, public_key blob);',
    );
    assert.deepEqual(told(notes), ['webauthn_credentials, passkey of user1, 1']);
  });
});

describe('access tokens and settings of users', () => {
  it('are read; what has no place here is counted', async () => {
    const setting = JSON.stringify({
      accept_unset_model_ratio_model: true,
      notification_email: 'warn@example.com',
      notify_type: 'email',
      quota_warning_threshold: 1000.5,
      gotify_priority: 5,
      record_ip_log: false,
    });
    const hook = JSON.stringify({
      notify_type: 'webhook',
      webhook_url: 'https://hook.example.com',
      webhook_secret: 's',
      billing_preference: 'wallet',
    });
    const { of, notes } = await read('new-api', {
      users: [
        user(1, { setting, access_token: 'fbaxeDN3G/z7M37jSRgaMiSPd0LY+3NQ' }),
        user(2, { setting: hook, access_token: 'fbaxeDN3G/z7M37jSRgaMiSPd0LY+3NR ' }),
        user(3, { setting: '{broken' }),
        user(4, {
          setting: JSON.stringify({
            accept_unset_model_ratio_model: true,
            notify_type: 'bark',
            bark_url: 'https://b.example',
          }),
        }),
        user(5, { setting: '' }),
        user(6, { setting: '{}' }),
        user(7, { setting: '[1]' }),
      ],
    });
    const password = { passwordHash: '$2a$10$x' };
    assert.deepEqual(of(1), {
      ...password,
      accessToken: 'fbaxeDN3G/z7M37jSRgaMiSPd0LY+3NQ',
      lowBalance: 1_001_000_000n,
      settings: { notification_email: 'warn@example.com', notify_type: 'email' },
    });
    assert.deepEqual(of(2), {
      ...password,
      accessToken: 'fbaxeDN3G/z7M37jSRgaMiSPd0LY+3NR',
      settings: { notify_type: 'webhook', webhook_url: 'https://hook.example.com' },
      webhookSecret: 's',
    });
    for (const id of [3, 4, 5, 6, 7]) assert.deepEqual(of(id), password);
    assert.deepEqual(told(notes), [
      'users.setting, user user3',
      'users.setting, user user7',
      'users.setting.accept_unset_model_ratio_model, settings of users, 2',
      'users.setting.billing_preference, settings of users, 1',
      'users.setting.notify_type, settings of users, 1',
      'users.setting.bark_url, settings of users, 1',
      'users.access_token, access tokens, 2',
    ]);
  });
});
