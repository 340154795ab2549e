/** What keys, deployments and settings of LiteLLM become: never more than there, and whatever is not here is named. */
import assert from 'node:assert/strict';
import { createCipheriv, hash, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Database } from '../../../plugins/import/databases.ts';
import { type ForeignKey, type Inventory, Secret, Variable } from '../../../plugins/import/inventory.ts';
import { liteLlmSource } from '../../../plugins/import/litellm/database.ts';
import { splitModel } from '../../../plugins/import/litellm/providers.ts';
import { isCovered } from '../../../plugins/import/litellm/rights.ts';
import { routesOf } from '../../../plugins/import/litellm/routes.ts';
import type { Row } from '../../../plugins/import/values.ts';

type Tables = Readonly<Record<string, readonly Row[]>>;

/** A database in memory. */
function databaseOf(tables: Tables): Database {
  const read = new Set<string>();
  const rowsIn = (table: string): readonly Row[] | undefined => {
    if (tables[table] !== undefined) read.add(table);
    return tables[table];
  };
  const counts = (): Map<string, number> => new Map(Object.entries(tables).map(([name, rows]) => [name, rows.length]));
  return {
    tables: async () => counts(),
    columns: async (table) => Object.keys(tables[table]?.[0] ?? {}),
    rows: async (table) => rowsIn(table),
    async *each(table, { newest, by = 'id' } = {}) {
      const rows = [...(rowsIn(table) ?? [])].sort((a, b) => (String(a[by]) < String(b[by]) ? -1 : 1));
      yield* newest === undefined ? rows : rows.reverse().slice(0, newest);
    },
    unread: async (known = []) => {
      const names = new Set([...read, ...known]);
      return new Map([...counts()].filter(([name, rows]) => rows > 0 && !names.has(name)));
    },
    close: async () => {},
  };
}

const inventoryOf = (tables: Tables, saltKey?: string, published?: () => { input: string }): Promise<Inventory> =>
  liteLlmSource(databaseOf({ LiteLLM_VerificationToken: [], ...tables }), 500_000, saltKey, { published }).inventory();

async function allOf<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

const tokenOf = (name: string): string => hash('sha256', `sk-${name}`, 'hex');
const keyRow = (name: string, row: Row = {}): Row => ({ token: tokenOf(name), key_alias: name, models: [], ...row });
const URL = 'http://127.0.0.1:1/v1';

/** A model in the database, in plain text. */
const modelRow = (name: string, params: Row = {}, info: Row = {}, row: Row = {}): Row => ({
  model_id: name,
  model_name: name,
  litellm_params: { model: `openai/${name}`, api_base: URL, api_key: 'k', input_cost_per_token: 1e-6, ...params },
  model_info: info,
  ...row,
});

const whyOf = ({ notes }: Inventory, what: string): string =>
  notes
    .filter((note) => note.what === what)
    .map(({ why }) => why)
    .join('; ');
const keyOf = ({ keys }: Inventory, name: string): ForeignKey => [...keys].find((key) => key.name === name)!;

describe('keys of LiteLLM', () => {
  const MODELS = [
    modelRow('gpt-4o'),
    modelRow('gpt-4o-mini'),
    modelRow('beta-1', {}, { access_groups: ['beta'] }),
    modelRow('openai/*', { model: 'openai/*' }),
  ];

  it('call the models that all of their lists allow: access groups, patterns with their provider, words', async () => {
    const inventory = await inventoryOf({
      LiteLLM_ProxyModelTable: MODELS,
      LiteLLM_TeamTable: [{ team_id: 't', team_alias: 'T', models: ['gpt-4o', 'beta'] }],
      LiteLLM_UserTable: [
        { user_id: 'none', models: ['no-default-models'] },
        { user_id: 'some', models: ['gpt-4o-mini'] },
      ],
      LiteLLM_ProjectTable: [
        { project_id: 'p', team_id: 't', models: ['beta-1'] },
        { project_id: 'off', team_id: 't', models: [], blocked: true },
      ],
      LiteLLM_AccessGroupTable: [{ access_group_id: 'ag', access_model_names: ['gpt-4o'], assigned_team_ids: [] }],
      LiteLLM_VerificationToken: [
        keyRow('open'),
        keyRow('group', { models: ['beta'] }),
        keyRow('pattern', { models: ['openai/*'] }),
        keyRow('all', { models: ['all-proxy-models'] }),
        keyRow('team', { team_id: 't' }),
        keyRow('all-team', { team_id: 't', models: ['all-team-models'] }),
        keyRow('narrow', { team_id: 't', models: ['gpt-4o', 'gpt-4o-mini'] }),
        keyRow('project', { team_id: 't', project_id: 'p' }),
        keyRow('blocked project', { team_id: 't', project_id: 'off' }),
        keyRow('unified', { models: ['beta-1'], access_group_ids: ['ag'] }),
        keyRow('nothing', { user_id: 'none' }),
        keyRow('of user', { user_id: 'some' }),
      ],
    });
    const models = Object.fromEntries(
      [...inventory.keys].map(({ name, models: its, enabled }) => [name, enabled ? its : 'disabled']),
    );
    assert.deepEqual(models, {
      open: undefined,
      group: ['beta-1'],
      pattern: ['gpt-4o', 'gpt-4o-mini', 'openai/*'],
      all: undefined,
      team: ['gpt-4o', 'beta-1'],
      'all-team': ['gpt-4o', 'beta-1'],
      narrow: ['gpt-4o'],
      project: ['beta-1'],
      'blocked project': 'disabled',
      unified: ['gpt-4o', 'beta-1'],
      nothing: 'disabled',
      'of user': ['gpt-4o-mini'],
    });
    assert.match(whyOf(inventory, 'key blocked project'), /its project is blocked there; it is disabled here/);
  });

  it('are disabled if they could call fewer routes there', async () => {
    assert.equal(routesOf([]), 'all');
    assert.equal(routesOf(['llm_api_routes']), 'all');
    assert.equal(routesOf(['openai_routes', 'anthropic_routes']), 'all');
    assert.equal(routesOf(['/v1/*']), 'all');
    assert.equal(routesOf(['/v1/chat/completions']), 'some');
    assert.equal(routesOf(['openai_routes']), 'some');
    assert.equal(routesOf(['/key/info']), 'none');
    const inventory = await inventoryOf({
      LiteLLM_VerificationToken: [
        keyRow('chat', { allowed_routes: ['/v1/chat/completions'] }),
        keyRow('info', { allowed_routes: ['/key/info'] }),
        keyRow('reader', { key_type: 'read_only' }),
        keyRow('usual', { allowed_routes: ['llm_api_routes'], permissions: { get_spend_routes: true } }),
      ],
    });
    assert.deepEqual(
      [...inventory.keys].map(({ enabled }) => enabled),
      [false, false, false, true],
    );
    assert.match(whyOf(inventory, 'key chat'), /it may only call \/v1\/chat\/completions there/);
    assert.match(whyOf(inventory, 'key usual'), /no rights to manage anything/);
    assert.deepEqual(
      ['chat', 'info', 'reader'].map((name) => inventory.notes.find(({ what }) => what === `key ${name}`)?.kind),
      ['decide', 'changed', 'changed'],
      'what calls nothing there needs no decision',
    );
  });

  it('keep other names of models, unless the name means another model for somebody else', async () => {
    const inventory = await inventoryOf({
      LiteLLM_ProxyModelTable: MODELS,
      LiteLLM_VerificationToken: [
        keyRow('own name', { models: ['gpt-4o-mini', 'mini'], aliases: { mini: 'gpt-4o-mini' } }),
        keyRow('replaced', { aliases: { 'gpt-4o': 'gpt-4o-mini' } }),
        keyRow('of team', { team_id: 't', aliases: { house: 'beta-1' } }),
      ],
      LiteLLM_TeamTable: [{ team_id: 't', team_alias: 'T', models: ['beta-1'], model_id: 1 }],
      LiteLLM_ModelTable: [{ id: 1, aliases: { fast: 'house', theirs: 'gpt-4o' } }],
    });
    assert.deepEqual(
      [...inventory.aliases],
      [
        ['mini', 'gpt-4o-mini'],
        ['fast', 'beta-1'],
        ['theirs', 'gpt-4o'],
        ['house', 'beta-1'],
      ],
    );
    assert.deepEqual(keyOf(inventory, 'of team').models, ['beta-1', 'house', 'fast', 'theirs']);
    assert.deepEqual(keyOf(inventory, 'own name').models, ['gpt-4o-mini', 'mini']);
    // It would reach the model that the alias replaces.
    assert.ok(!keyOf(inventory, 'replaced').models!.includes('gpt-4o'));
    assert.match(whyOf(inventory, 'alias gpt-4o'), /the name means another model for everybody here/);
  });

  it('go on working by the secret that they had before, for as long as there, unless a budget would count twice', async () => {
    const old = (name: string): Row => ({
      id: name,
      token: tokenOf(`old ${name}`),
      active_token_id: tokenOf(name),
      revoke_at: '2027-01-01T00:00:00',
    });
    const inventory = await inventoryOf({
      LiteLLM_VerificationToken: [keyRow('free'), keyRow('bounded', { max_budget: 5 })],
      LiteLLM_DeprecatedVerificationToken: [old('free'), old('bounded'), old('gone')],
    });
    const graced = keyOf(inventory, 'free (old secret)');
    assert.equal(graced.expiresMs, Date.parse('2027-01-01T00:00:00Z'));
    assert.ok(graced.enabled);
    assert.equal(graced.secret!.hash, tokenOf('old free'));
    assert.ok(!keyOf(inventory, 'bounded (old secret)').enabled);
    assert.match(whyOf(inventory, 'old secret of key bounded'), /would count twice/);
    assert.equal(inventory.keys.length, 4);
  });

  it('of sessions of its pages, and its own user, are left', async () => {
    const inventory = await inventoryOf({
      LiteLLM_UserTable: [{ user_id: 'default_user_id', user_role: 'proxy_admin' }],
      LiteLLM_VerificationToken: [
        keyRow('session', { team_id: 'litellm-dashboard' }),
        keyRow('made there', { user_id: 'default_user_id' }),
      ],
    });
    assert.deepEqual(
      [...inventory.keys].map(({ name, user }) => [name, user]),
      [['made there', 'keys without owner']],
    );
    assert.deepEqual(
      inventory.users.map(({ id }) => id),
      ['keys without owner'],
    );
    assert.match(whyOf(inventory, 'user default_user_id'), /sign in as root here/);
  });

  it('of a member with a budget in a team belong to an account with what is left of it', async () => {
    const inventory = await inventoryOf({
      LiteLLM_TeamTable: [{ team_id: 't', team_alias: 'T' }],
      LiteLLM_UserTable: [{ user_id: 'bob', user_email: 'bob@example.com', max_budget: 9 }],
      LiteLLM_BudgetTable: [{ budget_id: 'b', max_budget: 3 }],
      LiteLLM_TeamMembership: [{ user_id: 'bob', team_id: 't', budget_id: 'b', spend: 1 }],
      LiteLLM_VerificationToken: [
        keyRow('member', { user_id: 'bob', team_id: 't' }),
        keyRow('own', { user_id: 'bob' }),
      ],
    });
    const owner = inventory.users.find(({ id }) => id === keyOf(inventory, 'member').user)!;
    assert.equal(owner.balance, 1_000_000_000_000n);
    assert.equal(owner.department, 't');
    assert.equal(keyOf(inventory, 'own').user, 'user bob');
  });

  it('with a value that cannot be read end the import, by table, row and column', async () => {
    for (const [column, value] of [
      ['max_budget', 'NaN'],
      ['spend', '1,000'],
      ['expires', 'next year'],
      ['aliases', '{"a"'],
    ] as const) {
      await assert.rejects(
        inventoryOf({ LiteLLM_VerificationToken: [keyRow('wrong', { max_budget: 1, [column]: value })] }),
        (error: Error) =>
          error.message.startsWith(`LiteLLM_VerificationToken, row ${tokenOf('wrong')}, column ${column}:`),
        column,
      );
    }
  });
});

describe('random keys of LiteLLM', () => {
  /** The same numbers in every run. */
  function numbers(start: number): () => number {
    let state = start;
    return () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
  }
  const NAMES = ['gpt-4o', 'gpt-4o-mini', 'house', 'house-2', 'openai/*', 'house-*'];
  const GROUPS = ['beta', 'gold'];
  const WRITTEN = [...NAMES, ...GROUPS, 'all-proxy-models', 'no-default-models', '*', 'gpt-*', 'openai/gpt-*', 'h*2'];
  const REQUESTS = ['gpt-4o', 'gpt-4o-mini', 'house', 'house-2', 'house-9', 'openai/gpt-4o', 'other'];

  it('reach nothing that a list there does not allow', async () => {
    const random = numbers(26);
    const some = <T>(all: readonly T[], share: number): T[] => all.filter(() => random() < share);
    let allowed = 0;
    for (let site = 0; site < 60; site++) {
      const models = some(NAMES, 0.7).map((name) => modelRow(name, {}, { access_groups: some(GROUPS, 0.4) }));
      const lists = new Map(
        Array.from({ length: 12 }, (_, i) => [`k${i}`, [some(WRITTEN, 0.2), some(WRITTEN, 0.3)] as const]),
      );
      const inventory = await inventoryOf({
        LiteLLM_ProxyModelTable: models,
        LiteLLM_UserTable: [...lists].map(([name, [, ofUser]]) => ({ user_id: name, models: ofUser })),
        LiteLLM_VerificationToken: [...lists].map(([name, [own]]) => keyRow(name, { models: own, user_id: name })),
      });
      for (const [name, [own, ofUser]] of lists) {
        const key = keyOf(inventory, name);
        for (const request of REQUESTS) {
          if (!key.enabled || !(key.models === undefined || isCovered(key.models, request))) continue;
          allowed++;
          const isThere =
            allowsThere(own, request, models) &&
            !ofUser.includes('no-default-models') &&
            allowsThere(ofUser, request, models);
          assert.ok(isThere, JSON.stringify({ request, own, ofUser, here: key.models }));
        }
      }
    }
    assert.ok(allowed > 500, String(allowed));
  });

  /** The rule of LiteLLM for one list, one name at a time. */
  function allowsThere(list: readonly string[], name: string, models: readonly Row[]): boolean {
    const matches = (pattern: string, text: string): boolean =>
      pattern === text || (pattern.includes('*') && new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text));
    const serving = models.filter((row) => row.model_name === name);
    const served = serving.length > 0 ? serving : models.filter((row) => matches(row.model_name as string, name));
    const groups = new Set(served.flatMap((row) => (row.model_info as { access_groups: string[] }).access_groups));
    if (list.length === 0 || list.includes('*') || list.includes('all-proxy-models')) return true;
    if (list.some((each) => groups.has(each))) return true;
    const provider = /^gpt-4o(-mini)?$/.test(name) ? 'openai/' : '/';
    return list.some(
      (each) => each === name || (each.includes('*') && (matches(each, name) || matches(each, provider + name))),
    );
  }
});

describe('deployments of LiteLLM', () => {
  it('of a team are reached by its keys only, under their public name', async () => {
    const inventory = await inventoryOf({
      LiteLLM_TeamTable: [{ team_id: 't', team_alias: 'Team B' }],
      LiteLLM_ProxyModelTable: [
        modelRow('gpt-4o'),
        modelRow('model_name_t_1', { api_key: 'of the team' }, { team_id: 't', team_public_model_name: 'team-only' }),
        modelRow('model_name_t_2', { api_key: 'of the team' }, { team_id: 't', team_public_model_name: 'gpt-4o' }),
      ],
      LiteLLM_VerificationToken: [keyRow('theirs', { team_id: 't' }), keyRow('other')],
    });
    assert.deepEqual([...inventory.models.keys()], ['gpt-4o', 'team-only']);
    assert.deepEqual(
      inventory.groups.map(({ name, channels }) => [name, channels]),
      [
        ['default', ['openai']],
        // Its own deployments of gpt-4o are all that it has of it.
        ['Team-B', ['openai-2']],
      ],
    );
    assert.equal(keyOf(inventory, 'theirs').group, 'Team-B');
    assert.equal(keyOf(inventory, 'other').group, undefined);
  });

  it('are opened with both kinds of encryption, and use credentials of the database', async () => {
    const key = hash('sha256', 'salt', 'buffer');
    const seal = (text: string): string => {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const box = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `v2:gcm:${box.toString('base64url')}`;
    };
    const tables: Tables = {
      LiteLLM_CredentialsTable: [
        { credential_name: 'c', credential_values: { api_key: seal('from-credential'), api_base: seal(URL) } },
      ],
      LiteLLM_ProxyModelTable: [
        modelRow('sealed', { model: seal('openai/up'), api_base: seal(URL), api_key: seal('secret') }),
        modelRow('shared', { api_base: undefined, api_key: undefined, litellm_credential_name: seal('c') }),
        modelRow('lost', { api_base: undefined, api_key: undefined, litellm_credential_name: 'nowhere' }),
      ],
    };
    const inventory = await inventoryOf(tables, 'salt');
    assert.deepEqual(
      inventory.channels.map((channel) => channel.key),
      [{ secret: 'secret' }, { secret: 'from-credential' }],
    );
    assert.match(whyOf(inventory, 'deployment of lost'), /its credential nowhere is not there/);
    const closed = await inventoryOf(tables, 'another');
    assert.equal(closed.channels.length, 0);
    assert.match(whyOf(closed, 'models in the database'), /encrypted with another key/);
  });

  it('that are blocked, answer by themselves, or are of a cloud with signed requests, are left by name', async () => {
    const inventory = await inventoryOf({
      LiteLLM_ProxyModelTable: [
        modelRow('blocked', {}, {}, { blocked: true }),
        modelRow('mock', { mock_response: 'hello' }),
        modelRow('signed', {
          model: 'azure/x',
          api_base: 'https://a.openai.azure.com',
          api_key: undefined,
          client_secret: 's',
        }),
        modelRow('cloud', { model: 'bedrock/x' }),
      ],
    });
    assert.equal(inventory.channels.length, 0);
    assert.match(whyOf(inventory, 'deployment of blocked'), /it is blocked there/);
    assert.match(whyOf(inventory, 'deployment of mock'), /mock_response/);
    assert.match(whyOf(inventory, 'deployment of signed'), /its requests are signed/);
    assert.match(whyOf(inventory, 'deployment of cloud'), /bedrock\/x: there is no vendor/);
  });

  it('go to the path that LiteLLM calls, with order and share', async () => {
    const inventory = await inventoryOf({
      LiteLLM_ProxyModelTable: [
        modelRow('a', { model: 'ollama_chat/llama3', api_base: 'http://127.0.0.1:11434' }),
        modelRow('b', { model: 'fireworks_ai/llama', api_base: undefined }),
        modelRow('c', { model: 'openai/responses/gpt-5', api_base: undefined }),
        modelRow('d', { api_base: 'os.environ/BASE', timeout: 1.5 }),
        modelRow('e', { model: 'anthropic/claude-x', api_base: 'http://127.0.0.1:2/' }),
        modelRow('f', { weight: 0.5, api_key: '1' }),
        modelRow('f', { weight: 0.25, api_key: '2' }),
        modelRow('f', { api_key: '3' }),
        modelRow('f', { order: 2, api_key: '4' }),
        modelRow('g', { order: 2, api_key: '5' }),
        modelRow('g', { order: 1, api_key: '6', rpm: 5 }),
        modelRow('g', { order: 1, api_key: '6', rpm: 7 }),
      ],
    });
    const of = (name: string) =>
      inventory.models.get(name)!.from.map(({ channel, model }) => {
        const { url, urlFrom, priority, weight, more } = inventory.channels.find((each) => each.name === channel)!;
        return { model, url: url ?? urlFrom, priority, weight, more };
      });
    const none = { priority: undefined, weight: undefined, more: undefined };
    assert.deepEqual(of('a'), [{ model: 'llama3', url: 'http://127.0.0.1:11434/v1', ...none }]);
    assert.deepEqual(of('b'), [
      { model: 'accounts/fireworks/models/llama', url: 'https://api.fireworks.ai/inference/v1', ...none },
    ]);
    assert.deepEqual(of('c'), [{ model: 'gpt-5', url: undefined, ...none, more: { speaks: ['responses'] } }]);
    assert.deepEqual(of('d'), [
      { model: 'd', url: new Variable('BASE'), ...none, more: { timeout: { head: '1500ms' } } },
    ]);
    assert.deepEqual(of('e'), [{ model: 'claude-x', url: 'http://127.0.0.1:2/v1', ...none }]);
    // Those with an order come first; of the others, one without a share gets calls only if the rest fails.
    assert.deepEqual(
      of('f').map(({ priority, weight }) => [priority, weight]),
      [
        [undefined, undefined],
        [1, 2],
        [1, undefined],
        [2, undefined],
      ],
    );
    assert.deepEqual(
      of('g').map(({ priority, weight }) => [priority, weight]),
      [
        [undefined, undefined],
        [1, undefined],
      ],
    );
    assert.deepEqual(splitModel('openai/x', 'hosted_vllm'), { name: 'hosted_vllm', upstream: 'openai/x' });
  });

  it('cost what they state, what recorded calls cost, or the list price', async () => {
    const call = (id: string, model: string, spend: number, costs: Row | null): Row => ({
      request_id: id,
      call_type: 'acompletion',
      model_group: model,
      spend,
      total_tokens: 30,
      prompt_tokens: 20,
      completion_tokens: 10,
      startTime: `2026-11-0${id}T00:00:00`,
      metadata: { status: 'success', model_map_information: { model_map_key: model, model_map_value: costs } },
    });
    const bare = { input_cost_per_token: undefined };
    const inventory = await inventoryOf(
      {
        LiteLLM_ProxyModelTable: [
          modelRow('stated', {
            input_cost_per_token: '0.000001',
            cache_read_input_token_cost: 1e-7,
            input_cost_per_token_above_200k_tokens: 2e-6,
          }),
          modelRow('recorded', bare),
          modelRow('unknown', bare),
          modelRow('listed', bare),
          modelRow('zero', { input_cost_per_token: 0, output_cost_per_token: 0 }),
          modelRow('odd', { output_cost_per_video_per_second: 0.1 }),
        ],
        LiteLLM_SpendLogs: [
          call('1', 'recorded', 1, { input_cost_per_token: 9e-6 }),
          call('2', 'recorded', 1, { input_cost_per_token: 3e-6, output_cost_per_token: 6e-6 }),
          call('3', 'unknown', 0, null),
        ],
      },
      undefined,
      () => ({ input: '7' }),
    );
    const price = (name: string) => inventory.models.get(name)!.price ?? inventory.models.get(name)!.free;
    assert.deepEqual(price('stated'), {
      input: '1',
      cacheRead: '0.1',
      output: '0',
      tiers: [{ above: '200000', input: '2' }],
    });
    assert.deepEqual(price('recorded'), { input: '3', output: '6' });
    assert.equal(price('unknown'), true);
    assert.equal(price('zero'), true);
    assert.match(whyOf(inventory, 'deployment of odd'), /prices here cannot have this cost/);
  });
});

describe('a database of LiteLLM', () => {
  it('charges nothing for cached tokens without a cost if its migrations end before version 1.103', async () => {
    const cacheRead = async (...migrations: readonly string[]) => {
      const inventory = await inventoryOf({
        LiteLLM_ProxyModelTable: [modelRow('m')],
        _prisma_migrations: migrations.map((migration_name) => ({ id: migration_name, migration_name })),
      });
      return inventory.models.get('m')!.price!.cacheRead;
    };
    assert.equal(await cacheRead('20260910000000_skills_on_object_permission'), '0');
    assert.equal(
      await cacheRead('20260910000000_skills_on_object_permission', '20260913000000_add_tpd_limit'),
      undefined,
    );
    assert.equal(await cacheRead(), undefined, 'a database without migrations counts as a later version');
  });

  it('has no table, column or option with content that is neither taken over nor named', async () => {
    const inventory = await inventoryOf({
      LiteLLM_VerificationToken: [keyRow('k', { metadata: { tags: ['a'], later_member: 1 }, later_column: 'x' })],
      LiteLLM_TeamTable: [{ team_id: 't', policies: ['p'] }],
      LiteLLM_UserTable: [{ user_id: 'u', organization_id: 'o' }],
      LiteLLM_ProxyModelTable: [modelRow('m', { later_param: 1 }, { later_info: 'x' })],
      LiteLLM_Config: [
        { param_name: 'general_settings', param_value: { later_setting: 1 } },
        { param_name: 'later_part', param_value: { a: 1 } },
        { param_name: 'environment_variables', param_value: { OTHER: 'x' } },
      ],
      LiteLLM_GuardrailsTable: [{ guardrail_id: 'g' }],
      LiteLLM_LaterTable: [{ id: 1 }, { id: 2 }],
      LiteLLM_Empty: [],
    });
    const found = new Set(inventory.notes.map(({ where }) => where));
    for (const where of [
      'LiteLLM_VerificationToken.metadata.tags',
      'LiteLLM_VerificationToken.metadata.later_member',
      'LiteLLM_VerificationToken.later_column',
      'LiteLLM_TeamTable.policies',
      'LiteLLM_UserTable.organization_id',
      'LiteLLM_ProxyModelTable.later_param',
      'LiteLLM_ProxyModelTable.model_info.later_info',
      'general_settings.later_setting',
      'later_part',
      'environment_variables.OTHER',
      'LiteLLM_GuardrailsTable',
      'LiteLLM_LaterTable',
    ])
      assert.ok(found.has(where), where);
    assert.ok(!found.has('LiteLLM_Empty'));
    assert.equal(inventory.notes.find(({ where }) => where === 'LiteLLM_LaterTable')!.count, 2);
  });

  it('gives settings that have a section here, passwords as they are stored, and links where the identifier is the same', async () => {
    const password = `scrypt:${randomBytes(48).toString('base64')}`;
    const inventory = await inventoryOf({
      LiteLLM_UserTable: [
        { user_id: 'u', password, sso_user_id: '117' },
        { user_id: 'v', password: 'plain text' },
      ],
      LiteLLM_SSOConfig: [
        { id: 'sso_config', sso_settings: { google_client_id: 'id', google_client_secret: 'secret' } },
      ],
      LiteLLM_Config: [
        {
          param_name: 'environment_variables',
          param_value: { SMTP_HOST: 'mail', SMTP_SENDER_EMAIL: 'a@b.c', SMTP_USERNAME: 'u', SMTP_PASSWORD: 'p@' },
        },
        { param_name: 'router_settings', param_value: { num_retries: 2 } },
        { param_name: 'general_settings', param_value: { allowed_ips: ['10.0.0.1'] } },
      ],
      LiteLLM_VerificationToken: [keyRow('k')],
    });
    const { mail, console: signIn, listen } = inventory.sections as Record<string, Record<string, unknown>>;
    assert.deepEqual(mail, { smtp: new Secret('SMTP_URL', 'smtp://u:p%40@mail:587'), from: 'a@b.c' });
    assert.deepEqual(listen, { attempts: { max: 3 } });
    assert.deepEqual(Object.keys(signIn!.oauth as object), ['google']);
    const [user, other] = inventory.users;
    assert.equal(user!.passwordHash, password);
    assert.deepEqual(user!.links, [
      { type: 'oidc', provider: 'google', issuer: 'https://accounts.google.com', subject: '117' },
    ]);
    assert.equal(other!.passwordHash, undefined);
    assert.deepEqual(keyOf(inventory, 'k').addresses, ['10.0.0.1']);
  });

  it('gives recorded calls with their tokens, the newest first, and sums by day', async () => {
    const call = (id: string, at: string, row: Row = {}): Row => ({
      request_id: id,
      call_type: 'acompletion',
      api_key: tokenOf('k'),
      user: 'u',
      model_group: 'gpt-4o',
      spend: 0.0000025,
      prompt_tokens: 100,
      completion_tokens: 10,
      startTime: at,
      metadata: {
        usage_object: {
          prompt_tokens_details: { cached_tokens: 40 },
          completion_tokens_details: { reasoning_tokens: 4 },
        },
      },
      ...row,
    });
    const source = liteLlmSource(
      databaseOf({
        LiteLLM_UserTable: [{ user_id: 'u' }],
        LiteLLM_VerificationToken: [keyRow('k', { user_id: 'u' })],
        LiteLLM_SpendLogs: [
          call('a', '2026-11-01T10:00:00'),
          call('b', '2026-11-01T23:59:59'),
          call('c', '2026-11-02T00:00:00', { cache_hit: 'True', spend: 0 }),
        ],
      }),
      500_000,
      undefined,
    );
    const calls = await allOf(source.usage(2));
    assert.deepEqual(
      calls.map(({ id, unknown }) => [id, unknown]),
      [
        ['c', 'LiteLLM answered it from its cache'],
        ['b', undefined],
      ],
    );
    assert.deepEqual(calls[1]!.tokens, { input: 100, output: 10, cacheRead: 40, reasoning: 4 });
    assert.equal(calls[1]!.charged, 1_250_000n);
    const days = await allOf(source.history());
    const day = { user: 'user u', key: tokenOf('k'), model: 'gpt-4o' };
    assert.deepEqual(days, [
      { ...day, dayMs: Date.parse('2026-11-01T00:00:00Z'), calls: 2, input: 200, output: 20, charged: 2_500_000n },
      { ...day, dayMs: Date.parse('2026-11-02T00:00:00Z'), calls: 1, input: 100, output: 10, charged: 0n },
    ]);
  });
});
