import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  CONSOLE_PIPELINE,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  signedIn,
  visitor,
} from '../../kit/console/console.ts';
import { isOfThisRun } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { FACTORS_PIPELINE } from '../../kit/stand-ins/factors.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

/** Everything that anybody may know. A name that is not here is told by accident. */
const KNOWN = [
  'HeaderNavModules',
  'SidebarModulesAdmin',
  'announcements_enabled',
  'api_info_enabled',
  'chats',
  'checkin_enabled',
  'custom_currency_exchange_rate',
  'custom_currency_symbol',
  'data_export_default_time',
  'default_collapse_sidebar',
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
  'linuxdo_minimum_trust_level',
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
  'theme',
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
    assert.ok(isOfThisRun(data.start_time * 1_000), 'it has just started');
  });

  it('says of a gateway without people’s plugins what is true there', async () => {
    const plain = await startGateway({
      config: {
        pipeline: CONSOLE_PIPELINE.filter(
          (name) =>
            ![
              'second-factors',
              'oauth',
              'payments',
              'quota',
              'plans',
              'notices',
              'departments',
              'audit',
              'mail',
            ].includes(name),
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

describe('what tools of this family ask for', () => {
  it('is there, or said not to be: never taken for the id of a user', async () => {
    const mia = await member(gateway, 'mia');
    for (const [method, path] of [
      ['get', '/api/user/aff'],
      ['get', '/api/user/checkin?month=2026-01'],
      ['post', '/api/user/checkin'],
    ] as const) {
      for (const who of [mia, await root(gateway)]) {
        const { status, body } = await who[method](path);
        assert.deepEqual([status, body.code], [404, 'not_available'], path);
      }
    }
    const setup = await visitor(gateway).data('GET', '/api/setup');
    assert.deepEqual(setup, { status: true, root_init: true, database_type: 'sqlite' });
  });

  it('are numbers in the words of a query', async () => {
    const mia = await signedIn(gateway, 'mia');
    for (const [query, message] of [
      ['p=1.5', 'p: must be a whole number, not a number with decimals'],
      ['p=x', 'p: must be a whole number, not text'],
    ] as const) {
      const { status, body } = await mia.get(`/api/token/?${query}`);
      assert.deepEqual([status, body.param], [400, 'p']);
      assert.doesNotMatch(body.message, /quotes|\$\{/, `${message}: ${body.message}`);
    }
    for (const query of ['page_size=0', 'size=0', 'p=0', '']) {
      const { page, page_size: size } = await mia.data('GET', `/api/token/?${query}`);
      assert.deepEqual([page, size], [1, 10], query);
    }
    const words = await mia.put('/api/token/', { id: '7' });
    assert.match(words.body.message, /write it without quotes\.$/, 'of a body nothing else is said');
  });
});

describe('passkeys at an address without a name', () => {
  it('are not offered, and check says why [T-PK-09]', async () => {
    for (const url of ['http://127.0.0.1:8080', 'http://[::1]:8080', 'https://203.0.113.7']) {
      const bare = await startGateway({
        config: { pipeline: FACTORS_PIPELINE, console: { ...PATIENT, url } },
        env: ROOT_ENV,
      });
      try {
        assert.equal((await visitor(bare).data('GET', '/api/status')).passkey_login, false, url);
        const ann = await signedIn(bare, 'ann');
        for (const path of ['/api/user/passkey/register/begin', '/api/user/passkey/login/begin'])
          assert.deepEqual(said(await ann.post(path)), '404 not_available', `${url} ${path}`);
      } finally {
        await bare.stop();
      }
    }
  });
});
