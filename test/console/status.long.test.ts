import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CONSOLE_PIPELINE, member, PATIENT, ROOT_ENV, root, visitor } from '../kit/console.ts';
import { type FakeVendor, fakeVendor } from '../kit/fake-vendor.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../kit/gateway.ts';

/** Everything that anybody may know. A name that is not here is told by accident. */
const KNOWN = [
  'announcements_enabled',
  'api_info_enabled',
  'chats',
  'checkin_enabled',
  'custom_currency_exchange_rate',
  'custom_currency_symbol',
  'default_use_auto_group',
  'demo_site_enabled',
  'discord_client_id',
  'discord_oauth',
  'display_in_currency',
  'docs_link',
  'email_verification',
  'enable_batch_update',
  'enable_data_export',
  'enable_drawing',
  'enable_task',
  'faq_enabled',
  'footer_html',
  'github_client_id',
  'github_oauth',
  'invitation_required',
  'letters',
  'linuxdo_client_id',
  'linuxdo_oauth',
  'logo',
  'mj_notify_enabled',
  'oauth_providers',
  'oidc_authorization_endpoint',
  'oidc_client_id',
  'oidc_display_name',
  'oidc_enabled',
  'passkey_allow_insecure',
  'passkey_attachment',
  'passkey_display_name',
  'passkey_login',
  'passkey_origins',
  'passkey_rp_id',
  'passkey_user_verification',
  'password_login_enabled',
  'password_register_enabled',
  'price',
  'privacy_policy_enabled',
  'quota_display_type',
  'quota_per_unit',
  'register_enabled',
  'self_use_mode_enabled',
  'server_address',
  'setup',
  'start_time',
  'stripe_unit_price',
  'system_name',
  'telegram_bot_name',
  'telegram_oauth',
  'turnstile_check',
  'turnstile_site_key',
  'uptime_kuma_enabled',
  'usd_exchange_rate',
  'user_agreement_enabled',
  'version',
  'wechat_login',
  'wechat_qrcode',
];

const SECRET = 'oauth-canary-83d1c2';

let vendor: FakeVendor;
let gateway: TestGateway;

before(async () => {
  vendor = await fakeVendor();
  gateway = await startGateway({
    vendor,
    config: {
      pipeline: CONSOLE_PIPELINE,
      console: {
        ...PATIENT,
        url: 'https://console.example.com',
        name: 'Acme AI',
        registration: 'invite',
        oauth: {
          github: { id: 'github-client', secret: SECRET },
          corp: { id: 'corp-client', secret: SECRET, issuer: 'https://login.example.com', label: 'Corporate' },
          off: { id: '', secret: SECRET, issuer: 'https://off.example.com' },
        },
      },
    },
    env: ROOT_ENV,
  });
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

describe('the status', () => {
  it('tells what is on the list and nothing else, to everybody the same [T-AUTHZ-09]', async () => {
    const { status, body, text } = await visitor(gateway).get('/api/status');
    assert.equal(status, 200);
    assert.equal(body.success, true);
    assert.deepEqual(Object.keys(body.data).sort(), KNOWN);
    for (const secret of [SECRET, VENDOR_KEY, vendor.url, 'test-model', 'main', 'login.example.com', gateway.key]) {
      assert.ok(!text.includes(secret), `${secret} is nobody's business`);
    }
    for (const headers of [{ authorization: 'Bearer no-such-token' }, { authorization: `Bearer ${gateway.key}` }]) {
      assert.deepEqual((await visitor(gateway, headers).get('/api/status')).body, body);
    }
  });

  it('says how one comes in, and what quota is worth', async () => {
    const { data } = (await visitor(gateway).get('/api/status')).body;
    assert.deepEqual(
      {
        system_name: data.system_name,
        server_address: data.server_address,
        quota_per_unit: data.quota_per_unit,
        register_enabled: data.register_enabled,
        invitation_required: data.invitation_required,
        github_oauth: data.github_oauth,
        github_client_id: data.github_client_id,
        oidc_enabled: data.oidc_enabled,
        oidc_client_id: data.oidc_client_id,
        oauth_providers: data.oauth_providers.map(({ name }: { name: string }) => name),
        passkey_rp_id: data.passkey_rp_id,
        passkey_allow_insecure: data.passkey_allow_insecure,
        email_verification: data.email_verification,
        letters: data.letters,
      },
      {
        system_name: 'Acme AI',
        server_address: 'https://console.example.com',
        quota_per_unit: 500_000,
        register_enabled: true,
        invitation_required: true,
        github_oauth: true,
        github_client_id: 'github-client',
        oidc_enabled: true,
        oidc_client_id: 'corp-client',
        oauth_providers: ['github', 'corp'],
        passkey_rp_id: 'console.example.com',
        passkey_allow_insecure: false,
        email_verification: false,
        letters: 'logged',
      },
    );
    assert.match(data.version, /^\d+\.\d+\.\d+/);
    assert.ok(Math.abs(data.start_time - Date.now() / 1_000) < 120, 'it has just started');
  });

  it('says of a gateway without people’s plugins what is true there', async () => {
    const plain = await startGateway({
      config: {
        pipeline: CONSOLE_PIPELINE.filter(
          (name) =>
            !['second-factors', 'oauth', 'payments', 'quota', 'notices', 'departments', 'audit', 'mail'].includes(name),
        ),
        console: PATIENT,
      },
      env: ROOT_ENV,
      mustReconcile: false,
    });
    try {
      const { data } = (await visitor(plain).get('/api/status')).body;
      assert.deepEqual(Object.keys(data).sort(), KNOWN);
      assert.deepEqual(
        [data.passkey_login, data.github_oauth, data.oidc_enabled, data.register_enabled, data.price],
        [false, false, false, false, 1],
      );
      const ann = await member(plain, 'ann');
      // Without a ledger no key has a limit.
      assert.equal((await ann.data('POST', '/api/token/', { name: 'k' })).unlimited_quota, true);
    } finally {
      await plain.stop();
    }
  });

  it('has no texts', async () => {
    for (const path of ['/api/notice', '/api/about', '/api/home_page_content']) {
      assert.deepEqual((await visitor(gateway).get(path)).body, { success: true, message: '', data: '' });
    }
    assert.equal((await (await root(gateway)).get('/api/notice')).status, 200);
  });
});
