/** `turnpike import litellm`: the database of three versions, and the file config.yaml. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Departments } from '../../../core/contracts/departments.ts';
import { limitsText } from '../../../core/contracts/key-limits.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { Ledger } from '../../../core/contracts/ledger.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../../kit/stand-ins/postgres.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { fullReport, LITELLM_VERSIONS, lines } from './databases.ts';

function configOf(vendor: FakeVendor): Record<string, unknown> {
  const usual = defaultConfig([vendor]);
  return {
    ...usual,
    pipeline: [...(usual.pipeline as string[]), 'departments', 'audit', 'console', 'vendors/anthropic', 'import'],
  };
}

/** Dollars in micro-quota, at 500,000 quota units per dollar. */
const DOLLAR = 500_000_000_000n;

const secretOf = (name: string): string => `sk-${name}-0123456789abcdefghij`;
const tokenOf = (name: string): string => hash('sha256', secretOf(name), 'hex');

const ROWS = `
  INSERT INTO "LiteLLM_BudgetTable" ("budget_id", "max_budget", "created_by", "updated_by") VALUES ('b1', 5, 'a', 'a');
  INSERT INTO "LiteLLM_TeamTable" ("team_id", "team_alias", "members_with_roles", "max_budget", "spend", "budget_duration", "models") VALUES
    ('t1', 'Search', '[{"user_id": "u2", "role": "user"}]', 100, 12.5, NULL, '{}'),
    ('t2', 'Ads', '[]', 50, 20, '30d', '{free-model}');
  INSERT INTO "LiteLLM_TeamTable" ("team_id", "team_alias", "blocked") VALUES ('t3', 'Gone', true);
  INSERT INTO "LiteLLM_UserTable" ("user_id", "user_role", "user_email", "max_budget", "spend", "budget_duration", "teams") VALUES
    ('u1', 'internal_user', 'ann@example.com', 10, 2.1, NULL, '{}'),
    ('u2', 'proxy_admin', 'bob@example.com', NULL, 3, NULL, '{t1}'),
    ('u3', 'internal_user', 'carl@example.com', 1, 1.5, '7d', '{}');
  INSERT INTO "LiteLLM_VerificationToken" ("token", "key_name", "key_alias", "user_id", "team_id", "max_budget", "spend", "models", "expires", "budget_duration") VALUES
    ('${tokenOf('ann')}', 'sk-...ghij', 'ann laptop', 'u1', NULL, NULL, 2.1, '{}', NULL, NULL),
    ('${tokenOf('lim')}', 'sk-...ghij', 'limited', 'u1', NULL, 0.3, 0.1, '{test-model,gone-model}', NULL, NULL),
    ('${tokenOf('exp')}', 'sk-...ghij', NULL, 'u1', NULL, NULL, 0, '{}', '2024-05-01T00:00:00', NULL),
    ('${tokenOf('bob')}', 'sk-...ghij', 'bob search', 'u2', 't1', NULL, 0, '{all-team-models}', NULL, NULL),
    ('${tokenOf('ads')}', 'sk-...ghij', 'ads', NULL, 't2', NULL, 0, '{all-team-models}', NULL, NULL),
    ('${tokenOf('none')}', 'sk-...ghij', 'nobody', NULL, NULL, NULL, 0, '{}', NULL, NULL),
    ('${tokenOf('off')}', 'sk-...ghij', 'of gone', NULL, 't3', NULL, 0, '{}', NULL, NULL),
    ('${tokenOf('carl')}', 'sk-...ghij', 'carl', 'u3', NULL, NULL, 0, '{}', NULL, NULL);
  INSERT INTO "LiteLLM_VerificationToken" ("token", "key_name", "key_alias", "user_id", "max_budget", "spend", "budget_duration", "rpm_limit", "tpm_limit", "max_parallel_requests", "metadata", "model_max_budget") VALUES
    ('${tokenOf('rate')}', 'sk-...ghij', 'rated', 'u1', 3, 2.5, '7d', 100, 50000, 4,
     '{"model_rpm_limit": {"free-model": 1, "gone-model": 0}, "model_tpm_limit": {"gone-model": 9}}',
     '{"test-model": {"budget_limit": 0.5, "time_period": "1d"}, "gone-model": {"max_budget": 1, "budget_duration": "12h"}}');`;

/** Parameters of a model in the database, encrypted with this key by another implementation of NaCl. */
const SALT_KEY = 'sk-salt';
const BOXED = {
  model: 'AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYB6Zj9UAsOT80TGpAF3lbEfNctZ7CyoAt_aVE',
  api_key: 'AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYng11vKcUWI56Zy9tYReVT_5DqJXHjtw97voYfQ',
};

/** What each old key is answered with, for the models `test-model` and `free-model`. */
const ANSWERS: Readonly<Record<string, readonly [string, string]>> = {
  ann: ['200', '200'],
  lim: ['200', '403 model_not_allowed'],
  exp: ['401 key_expired', '401 key_expired'],
  bob: ['200', '200'],
  ads: ['403 model_not_allowed', '200'],
  none: ['200', '200'],
  off: ['403 department_disabled', '403 department_disabled'],
  carl: ['403 QUOTA_USER_INSUFFICIENT', '200'],
  rate: ['200', '200'],
};

/** As gateway.yaml names an environment variable. */
const variable = (name: string): string => `\${${name}:-}`;

async function outcome(gateway: TestGateway, secret: string, model: string): Promise<string> {
  const response = await gateway.chat({ model }, { key: secret });
  const body = (await response.json()) as { readonly error?: { readonly code?: string } };
  return response.status === 200 ? '200' : `${response.status} ${body.error?.code}`;
}

describe('an import of the database of', { skip: noPostgres() ?? false }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.remove());

  for (const [i, version] of LITELLM_VERSIONS.entries()) {
    it(`${version.name} takes over teams, users, budgets and keys, and the second time nothing`, async () => {
      const vendor = await fakeVendor();
      const gateway = await startGateway({ vendor, config: configOf(vendor) });
      const url = await server.database();
      await server.query(url, version.sql + ROWS);
      if (i > 0) {
        await server.query(
          url,
          `UPDATE "LiteLLM_VerificationToken" SET "blocked" = true WHERE "key_alias" = 'nobody';
          UPDATE "LiteLLM_VerificationToken" SET "budget_id" = 'b1' WHERE "key_alias" = 'ann laptop';
          UPDATE "LiteLLM_UserTable" SET "user_alias" = 'Carl' WHERE "user_id" = 'u3';
          INSERT INTO "LiteLLM_ProxyModelTable" VALUES ('m1', 'boxed', '${JSON.stringify(BOXED)}', '{}');`,
        );
      }
      try {
        const dry = fullReport(await gateway.command(`import litellm ${url} --dry-run`));
        assert.match(dry, /dry run, nothing was changed: \d+ would be new, 0 unchanged/);
        assert.equal((await gateway.host.use(Keys).list()).length, 1);

        if (i > 0) assert.match(dry, /models in the database: they are encrypted with another key/);

        const { stdout } = await gateway.tryCommand('import litellm -', `${url}\n${SALT_KEY}\n`);
        const text = fullReport(stdout);
        assert.match(text, /^18 new, 0 unchanged, \d+ left$/m, text);
        assert.match(text, /user (Carl|carl@example.com): its budget resets every 7d/);
        if (i > 0) {
          const part = parse(readFileSync(join(gateway.dir, 'litellm.gateway.yaml'), 'utf8')) as Record<string, object>;
          assert.deepEqual(part.models, { boxed: { from: [{ openai: 'up-9' }] } });
          assert.deepEqual(lines(join(gateway.dir, 'litellm.gateway.env')), ['IMPORTED_OPENAI_KEY=boxed-secret']);
        }

        const accounts = gateway.host.use(Accounts);
        const ledger = gateway.host.use(Ledger);
        const balanceOf = async (name: string) => {
          const { id } = (await accounts.findByName(name))!;
          const balance = (await ledger.balance({ kind: 'account', owner: id }))!;
          return balance.unlimited ? 'unlimited' : balance.granted - balance.used - balance.held;
        };
        assert.equal(await balanceOf('ann@example.com'), (79n * DOLLAR) / 10n);
        assert.equal(await balanceOf('bob@example.com'), 'unlimited');
        assert.equal(await balanceOf(i > 0 ? 'Carl' : 'carl@example.com'), 0n);
        assert.equal(await balanceOf('team Ads'), 'unlimited');
        const departments = gateway.host.use(Departments);
        assert.deepEqual(
          departments.all().map(({ name, budget, monthlyBudget, enabled }) => [name, budget, monthlyBudget, enabled]),
          [
            ['Search', (875n * DOLLAR) / 10n, undefined, true],
            ['Ads', undefined, 50n * DOLLAR, true],
            ['Gone', undefined, undefined, false],
          ],
        );
        const bob = (await accounts.findByName('bob@example.com'))!;
        assert.equal(bob.role, 'admin');
        assert.equal(departments.departmentOf(bob.id)?.name, 'Search');

        const limited = (await gateway.host.use(Keys).list()).find(({ name }) => name === 'limited')!;
        const allowance = (await ledger.balance({ kind: 'key', owner: limited.id }))!;
        assert.equal(allowance.granted, (2n * DOLLAR) / 10n);
        assert.deepEqual(limited.models, ['test-model', 'gone-model']);

        for (const [name, [paid, free]] of Object.entries(ANSWERS)) {
          const isBlocked = i > 0 && name === 'none';
          assert.equal(
            await outcome(gateway, secretOf(name), 'test-model'),
            isBlocked ? '401 key_disabled' : paid,
            name,
          );
          assert.equal(
            await outcome(gateway, secretOf(name), 'free-model'),
            isBlocked ? '401 key_disabled' : free,
            name,
          );
        }
        assert.equal(await outcome(gateway, secretOf('rate'), 'free-model'), '429 rate_limit_exceeded');
        const rated = (await gateway.host.use(Keys).list()).find(({ name }) => name === 'rated')!;
        assert.equal(
          limitsText(rated.limits),
          'requests=100,tokens=50000,concurrent=4,week=1500000; free-model: requests=1; gone-model: tokens=9; test-model: day=250000',
        );
        assert.match(dry, new RegExp(`the same key, limit none, limits ${limitsText(rated.limits)} `));
        assert.match(
          dry,
          /key rated: rpm_limit 0 of gone-model, a budget of gone-model for every 12h: there is no such/,
        );
        assert.match(dry, /key rated: its budgets are of calendar days, weeks or months \(UTC\)/);
        const again = (await gateway.tryCommand('import litellm -', url)).stdout;
        assert.match(again, /^nothing was changed: 18 unchanged, \d+ left$/m);
        assert.match(await gateway.command('reconcile'), /^(ok .*\n?)+$/);
      } finally {
        await gateway.stop();
        await vendor.close();
      }
    });
  }
});

/** Three files: the first, with little; one with routing; one with settings of newer versions. */
const CONFIGS = (url: string) => [
  {
    model_list: [
      { model_name: 'chatty', litellm_params: { model: 'openai/up-1', api_base: url, api_key: 'plain-secret' } },
      { model_name: 'strange', litellm_params: { model: 'bedrock/x' } },
    ],
  },
  {
    model_list: [
      {
        model_name: 'chatty',
        litellm_params: { model: 'openai/up-1', api_base: url, api_key: 'os.environ/UP_KEY', weight: 2 },
      },
      {
        model_name: 'chatty',
        litellm_params: {
          model: 'openai/up-2',
          api_base: url,
          api_key: 'os.environ/OTHER_KEY',
          weight: 1,
          max_parallel_requests: 5,
        },
      },
      { model_name: 'gpt-4o', litellm_params: { model: 'gpt-4o', api_key: 'os.environ/OPENAI_API_KEY' } },
      {
        model_name: 'azure-4o',
        litellm_params: {
          model: 'azure/deployed',
          api_base: 'https://a.openai.azure.com/',
          api_key: 'k',
          api_version: '2025-01-01',
        },
      },
    ],
    router_settings: {
      model_group_alias: { fast: 'chatty', 'gpt-4o': 'chatty' },
      fallbacks: [{ chatty: ['gpt-4o', 'nowhere'] }],
    },
    general_settings: { master_key: 'sk-1234', database_url: 'os.environ/DATABASE_URL' },
  },
  {
    model_list: [
      {
        model_name: 'chatty',
        litellm_params: {
          model: 'hosted_vllm/up-1',
          api_base: `${url}/`,
          input_cost_per_token: 1.5e-6,
          output_cost_per_token: 0.000006,
        },
      },
      { model_name: 'anthropic/*', litellm_params: { model: 'anthropic/*', api_key: 'os.environ/ANTHROPIC_API_KEY' } },
    ],
    litellm_settings: { fallbacks: [{ 'anthropic/*': ['chatty'] }], drop_params: true },
    guardrails: [{ guardrail_name: 'x' }],
  },
];

describe('an import of config.yaml', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  let out: string;

  before(async () => {
    vendor = await fakeVendor();
    gateway = await startGateway({ vendor, config: configOf(vendor) });
    out = mkdtempSync(join(tmpdir(), 'turnpike-import-'));
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
    rmSync(out, { recursive: true, force: true });
  });

  /** Imports one of the files into a folder of its own. */
  async function imported(i: number) {
    const folder = mkdtempSync(join(out, 'config-'));
    const file = join(folder, 'config.yaml');
    writeFileSync(file, stringify(CONFIGS(vendor.url)[i]));
    const text = fullReport(await gateway.command(`import litellm ${file} --out ${folder}`));
    const part = parse(readFileSync(join(folder, 'litellm.gateway.yaml'), 'utf8')) as Record<string, object>;
    return { text, part, folder };
  }

  /** A gateway with the written part answers a call of the model `chatty`. */
  async function serves(part: Record<string, object>, env: Record<string, string>): Promise<string> {
    const other = await startGateway({ config: { ...configOf(vendor), ...part, quota: { unpriced: 'free' } }, env });
    try {
      const result = await outcome(other, other.key, 'chatty');
      return `${result} ${vendor.requests.at(-1)!.headers.authorization}`;
    } finally {
      await other.stop();
    }
  }

  it('moves a secret from the file to the environment, and says what has no vendor', async () => {
    const { text, part, folder } = await imported(0);
    assert.match(text, /deployment of strange: bedrock\/x: there is no vendor for this provider/);
    assert.deepEqual(lines(join(folder, 'litellm.gateway.env')), ['IMPORTED_OPENAI_KEY=plain-secret']);
    assert.doesNotMatch(readFileSync(join(folder, 'litellm.gateway.yaml'), 'utf8'), /plain-secret/);
    assert.deepEqual(part.models, { chatty: { from: [{ openai: 'up-1' }] } });
    assert.equal(await serves(part, { IMPORTED_OPENAI_KEY: 'plain-secret' }), '200 Bearer plain-secret');
  });

  it('makes a channel for each account, and keeps weights, aliases and fallbacks', async () => {
    const { text, part } = await imported(1);
    const channel = { vendor: 'compatible', url: vendor.url };
    assert.deepEqual(part.channels, [
      { name: 'openai', ...channel, key: variable('UP_KEY'), weight: 2 },
      { name: 'openai-2', ...channel, key: variable('OTHER_KEY') },
      { name: 'openai-3', vendor: 'openai', key: variable('OPENAI_API_KEY') },
      {
        name: 'azure',
        vendor: 'compatible',
        url: 'https://a.openai.azure.com/openai/deployments/{model}',
        key: variable('IMPORTED_AZURE_KEY'),
        query: { 'api-version': '2025-01-01' },
        auth: { header: 'api-key' },
      },
    ]);
    assert.deepEqual(part.models, {
      chatty: { from: [{ openai: 'up-1' }, { 'openai-2': 'up-2' }], fallback: ['gpt-4o'] },
      'gpt-4o': { from: ['openai-3'] },
      'azure-4o': { from: [{ azure: 'deployed' }] },
      fast: { alias: 'chatty' },
    });
    assert.match(text, /alias gpt-4o: there is a model with this name/);
    assert.match(text, /fallbacks of chatty: there is no model nowhere/);
    assert.match(text, /deployment of chatty: there is no such setting of a channel/);
    assert.match(text, /master_key: it is not imported/);
    assert.match(await serves(part, { UP_KEY: 'a', OTHER_KEY: 'b', OPENAI_API_KEY: 'c' }), /^200 Bearer [ab]$/);
  });

  it('takes over prices per token and patterns', async () => {
    const { text, part } = await imported(2);
    assert.deepEqual(part.prices, { chatty: { input: 1.5, output: 6 } });
    assert.deepEqual(part.models, {
      chatty: { from: [{ hosted_vllm: 'up-1' }] },
      'anthropic/*': { from: [{ anthropic: '*' }], fallback: ['chatty'] },
    });
    assert.match(
      text,
      /litellm_settings.drop_params: parameters that a model does not accept are always left out here/,
    );
    assert.match(text, /guardrails: the section `guard` has rules for requests/);
    assert.equal(await serves(part, {}), '200 Bearer none');
  });

  it('writes the same files the second time, and says that nothing changed', async () => {
    const { folder } = await imported(1);
    const text = fullReport(await gateway.command(`import litellm ${join(folder, 'config.yaml')} --out ${folder}`));
    assert.match(text, /litellm\.gateway\.yaml: unchanged/);
    assert.match(text, /nothing was changed: 0 unchanged, \d+ left$/m);
  });
});
