/** Settings of one-api, new-api and one-hub become sections; every table and every option with content is taken over or listed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Inventory, Secret, type Setting } from '../../../plugins/import/inventory.ts';
import { inventoryOf, option, type TableRow, type Tables } from './tables.ts';

type Program = 'one-api' | 'new-api' | 'one-hub';
const read = (options: readonly TableRow[], program: Program = 'new-api', tables: Tables = {}): Promise<Inventory> =>
  inventoryOf(program, { ...tables, options });
const noted = ({ notes }: Inventory, name: string): boolean =>
  notes.some(({ where, what }) => where === `options.${name}` || (where === 'options' && what === name));

/** Options that other parts of an import are made of. */
const ELSEWHERE: Readonly<Record<string, unknown>> = {
  ...{
    ModelRatio: { m: 1 },
    CompletionRatio: { m: 2 },
    CacheRatio: {},
    ModelPrice: {},
    ImageRatio: {},
    AudioRatio: {},
  },
  ...{ AudioCompletionRatio: {}, CreateCacheRatio: {}, QuotaPerUnit: '500000', GroupRatio: { default: 1 } },
  ...{ GroupGroupRatio: {}, UserUsableGroups: { default: '' }, AutoGroups: ['default'] },
  ...{ 'group_ratio_setting.group_special_usable_group': {}, 'gemini.safety_settings': { default: 'OFF' } },
};
/** The others that a site of new-api has, with what becomes of them. */
const SECTIONS: Readonly<Record<string, unknown>> = {
  ...{ SystemName: 'Our Gateway', ServerAddress: 'https://ai.example.com/', RetryTimes: '2', QuotaForNewUser: '1000' },
  ...{ SMTPServer: 'smtp.example.com', SMTPPort: '465', SMTPAccount: 'a@example.com', SMTPToken: 'se:cret' },
  ...{ CheckSensitiveEnabled: 'true', SensitiveWords: 'bad.word\nother', RegisterEnabled: 'false' },
  ...{ GitHubClientId: 'gh-id', GitHubClientSecret: 'gh-secret', GitHubOAuthEnabled: 'true' },
  ...{ 'oidc.client_id': 'o', 'oidc.client_secret': 's', 'oidc.enabled': 'true' },
  'oidc.well_known': 'https://id.example.com/.well-known/openid-configuration',
  ...{ PayAddress: 'https://pay.example.com/', EpayId: '7', EpayKey: 'k', Price: '7.3', MinTopUp: '3' },
  PayMethods: [{ name: 'Alipay', type: 'alipay', color: 'blue' }],
  ...{ StripeApiSecret: 'sk_live', StripeWebhookSecret: 'whsec', StripeUnitPrice: '8' },
  ...{
    ModelRequestRateLimitEnabled: 'true',
    ModelRequestRateLimitCount: '100',
    ModelRequestRateLimitSuccessCount: '60',
  },
};
const LISTED: Readonly<Record<string, unknown>> = {
  ...{
    DemoSiteEnabled: 'false',
    QuotaForInviter: '500',
    QuotaForInvitee: '300',
    Notice: 'x',
  },
  ...{
    TopUpLink: 'https://shop',
    TopupGroupRatio: { vip: 0.9 },
    DefaultUseAutoGroup: 'true',
    ModelRequestRateLimitGroup: {},
  },
  ...{ 'claude.model_headers_settings': { m: {} }, 'checkin_setting.enabled': 'true', 'passkey.enabled': 'true' },
  ...{ 'general_setting.quota_display_type': 'CNY', USDExchangeRate: '7.3', ExposeRatioEnabled: 'true' },
  ...{
    'payment_setting.amount_discount': {},
    'model_deployment.ionet.enabled': 'false',
    TurnstileCheckEnabled: 'true',
  },
  ...{
    LinuxDOClientId: 'l',
    'discord.client_id': 'd',
    TelegramBotToken: 't',
    SomethingOfTomorrow: '1',
    'new_part.switch': 'true',
  },
};
const rows = (options: Readonly<Record<string, unknown>>): readonly TableRow[] =>
  Object.entries(options).map(([name, value]) => option(name, value));

describe('options', () => {
  it('become sections, with secrets apart', async () => {
    const { sections } = await read(rows({ ...ELSEWHERE, ...SECTIONS }));
    const expected: Record<string, Setting> = {
      mail: {
        smtp: new Secret('SMTP_URL', 'smtps://a%40example.com:se%3Acret@smtp.example.com:465'),
        from: 'a@example.com',
      },
      console: {
        ...{ name: 'Our Gateway', url: 'https://ai.example.com', registration: 'closed' },
        oauth: {
          github: { id: 'gh-id', secret: new Secret('GITHUB_CLIENT_SECRET', 'gh-secret') },
          oidc: {
            type: 'oidc',
            id: 'o',
            secret: new Secret('OIDC_CLIENT_SECRET', 's'),
            issuer: 'https://id.example.com',
          },
        },
      },
      payments: {
        smallest: 3,
        epay: {
          ...{
            currency: 'CNY',
            price: '7.3',
            id: '7',
            key: new Secret('EPAY_KEY', 'k'),
            url: 'https://pay.example.com',
          },
          methods: [{ type: 'alipay', name: 'Alipay' }],
        },
        stripe: {
          secret: new Secret('STRIPE_SECRET', 'sk_live'),
          webhookSecret: new Secret('STRIPE_WEBHOOK_SECRET', 'whsec'),
          price: '8',
        },
      },
      guard: {
        rules: [{ name: 'sensitive words', pattern: '(?i)bad\\.word|other', where: 'input', action: 'refuse' }],
      },
      listen: { attempts: { max: 3 } },
      quota: { welcome: 1_000 },
      limits: { perAccount: { requestsPerMinute: 60 } },
    };
    assert.deepEqual(sections, expected);
  });

  it('are all used or listed, those of versions that are not known, too', async () => {
    const inventory = await read(rows({ ...ELSEWHERE, ...SECTIONS, ...LISTED }));
    for (const name of Object.keys(LISTED)) assert.ok(noted(inventory, name), name);
    for (const name of Object.keys(ELSEWHERE)) assert.ok(!noted(inventory, name), name);
    const unknown = inventory.notes.filter(({ why }) => why === 'this import does not know it').map(({ what }) => what);
    assert.deepEqual(unknown.sort(), ['SomethingOfTomorrow', 'new_part.switch']);
    const text = JSON.stringify(inventory.notes);
    for (const secret of ['se:cret', 'gh-secret', 'sk_live', 'whsec']) assert.ok(!text.includes(secret), secret);
  });

  it('that have only a part of a section are listed', async () => {
    const names = [
      'GitHubClientId',
      'PayAddress',
      'EpayId',
      'StripeWebhookSecret',
      'SMTPToken',
      'Price',
      'oidc.client_id',
    ];
    const inventory = await read(names.map((name) => option(name, 'x')));
    for (const name of names) assert.ok(noted(inventory, name), name);
  });

  it('that open the registration do so only if they are stored, and not for other domains', async () => {
    const open = await read([option('RegisterEnabled', 'true')]);
    assert.deepEqual(open.sections.console, { registration: 'open' });
    const silent = await read([]);
    assert.equal(silent.sections.console, undefined);
    assert.ok(noted(silent, 'RegisterEnabled'));
    const narrow = await read([option('RegisterEnabled', 'true'), option('EmailDomainRestrictionEnabled', 'true')]);
    assert.deepEqual(narrow.sections.console, { registration: 'closed' });
  });

  it('of a sign-in that is off there do not turn it on here', async () => {
    const off = { ...SECTIONS, GitHubOAuthEnabled: 'false', 'oidc.enabled': 'false' };
    const { sections, notes } = await read(rows(off));
    assert.equal((sections.console as Record<string, Setting>).oauth, undefined);
    for (const what of ['sign-in with GitHub', 'sign-in with OIDC'])
      assert.ok(
        notes.some((note) => note.what === what && note.why === 'it is off there'),
        what,
      );
  });

  it('that price top-ups need no decision if there is no provider of payments', async () => {
    const { notes } = await read([option('Price', '7.3')]);
    assert.equal(notes.find(({ what }) => what === 'Price')?.kind, 'left');
  });

  it('of one-api and one-hub are found under their own names', async () => {
    const names = {
      OidcClientId: 'o',
      OidcClientSecret: 's',
      OidcWellKnown: 'https://id.example/.well-known/openid-configuration',
      OidcEnabled: 'true',
    };
    const oneApi = await read(rows(names), 'one-api');
    assert.equal(
      ((oneApi.sections.console as Record<string, Setting>).oauth as Record<string, Setting>).oidc !== undefined,
      true,
    );
    const hub = await read(
      rows({
        ...{ OIDCClientId: 'o', OIDCClientSecret: 's', OIDCIssuer: 'https://id.example', OldTokenMaxId: '0' },
        OIDCAuthEnabled: 'true',
      }),
      'one-hub',
    );
    assert.equal(
      ((hub.sections.console as Record<string, Setting>).oauth as Record<string, Setting>).oidc !== undefined,
      true,
    );
    assert.ok(noted(hub, 'OldTokenMaxId'));
  });
});

describe('tables', () => {
  it('with rows are read or listed with their number; columns that are not known, too', async () => {
    const row = { id: 1 };
    const inventory = await read([], 'new-api', {
      ...{
        abilities: [row, { id: 2 }],
        logs: [row],
        setups: [row],
        quota_data: [row],
        midjourneys: [],
        tomorrow: [row],
      },
      channels: [{ id: 1, type: 1, status: 2, name: 'x', of_tomorrow: 'y' }],
    });
    const listed = Object.fromEntries(
      inventory.notes.flatMap(({ where, what, count }) => (what.startsWith('table ') ? [[where, count]] : [])),
    );
    assert.deepEqual(listed, { abilities: 2, logs: 1, quota_data: 1, setups: 1, tomorrow: 1 });
    assert.ok(inventory.notes.some(({ where }) => where === 'channels.of_tomorrow'));
  });
});

describe('a value that cannot be read', () => {
  const user = { id: 5, username: 'ann', role: 1, status: 1, quota: 1, group: 'default' };
  const token = {
    id: 6,
    user_id: 5,
    key: 'k'.repeat(48),
    status: 1,
    name: 'k',
    expired_time: -1,
    unlimited_quota: 1,
    remain_quota: 0,
  };
  const channel = { id: 7, type: 1, status: 1, name: 'c', key: 'k', models: 'm', group: 'default' };

  it('ends the import, with table, row, column and value', async () => {
    const cases: readonly (readonly [Tables, RegExp])[] = [
      [{ users: [{ ...user, quota: 'abc' }] }, /users, id 5, quota: "abc" is not a whole number/],
      [
        { users: [user], tokens: [{ ...token, unlimited_quota: 0, remain_quota: '1,000' }] },
        /tokens, id 6, remain_quota: "1,000"/,
      ],
      [
        { users: [user], tokens: [{ ...token, expired_time: '2026-12-31' }] },
        /tokens, id 6, expired_time: "2026-12-31"/,
      ],
      [
        { users: [user], tokens: [{ ...token, unlimited_quota: 'maybe' }] },
        /tokens, id 6, unlimited_quota: "maybe" is not true or false/,
      ],
      [
        { channels: [{ ...channel, model_mapping: '{broken' }] },
        /channels, id 7, model_mapping: "\{broken" is not a JSON object/,
      ],
      [{ channels: [{ ...channel, setting: '[1]' }] }, /channels, id 7, setting/],
      [
        { options: [option('GroupRatio', '{"default":"x"}')] },
        /options, GroupRatio, default: "x" is not a decimal number/,
      ],
      [{ options: [option('GroupRatio', '{"default":-1}')] }, /options, GroupRatio, default: "-1"/],
      [{ options: [option('GroupRatio', 'x')] }, /options, GroupRatio: "x" is not a JSON object/],
      [{ options: [option('QuotaPerUnit', 'abc')] }, /QuotaPerUnit/],
      [{ options: [option('ModelRatio', '{"m":')] }, /ModelRatio/],
      [{ options: [option('RetryTimes', 'many')] }, /options, RetryTimes: "many" is not a whole number/],
    ];
    for (const [tables, message] of cases) await assert.rejects(inventoryOf('new-api', tables), { message });
  });
});
