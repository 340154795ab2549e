/**
 * Channels of one-api, new-api and one-hub call their vendors as the program would. The expected paths, credentials and models stand here as the
 * programs' own code makes them (`GetRequestURL`, `SetupRequestHeader`), not as the import reads them.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { gatewayFiles } from '../../../plugins/import/gateway-file.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer } from '../../kit/vendors/script.ts';
import { inventoryOf, option, type TableRow } from './tables.ts';

type Program = 'one-api' | 'new-api' | 'one-hub';

/** A call of a model as the vendor sees it. `base`: what is behind the vendor's own address, default nothing. */
interface Case {
  readonly type: number;
  readonly path: string;
  readonly row?: TableRow;
  readonly base?: string;
  readonly model?: string;
  /** The header with the key, and what is before it. */
  readonly auth?: readonly [header: string, before: string];
  readonly headers?: Readonly<Record<string, string>>;
}

const BEARER = ['authorization', 'Bearer '] as const;
const chat = (types: readonly number[], path = '/v1/chat/completions'): readonly Case[] =>
  types.map((type) => ({ type, path }));
const azure = (type: number, path: string, more: Partial<Case> = {}): Case => ({
  ...{ type, path, auth: ['api-key', ''] },
  ...more,
});
const claude: Case = { type: 14, path: '/v1/messages', model: 'claude-3-haiku-20240307', auth: ['x-api-key', ''] };
const gemini = (type: number, more: Partial<Case> = {}): Case => ({
  ...{ type, path: '/v1beta/models/gemini-2.0-flash:generateContent', model: 'gemini-2.0-flash' },
  ...{ auth: ['x-goog-api-key', ''] as const },
  ...more,
});

const CASES: Readonly<Record<Program, readonly Case[]>> = {
  'new-api': [
    ...chat([1, 6, 7, 9, 10, 12, 13, 19, 20, 21, 22, 25, 31, 40, 42, 43, 47, 48, 53, 4, 35]),
    {
      type: 1,
      path: '/v1/chat/completions',
      row: { open_ai_organization: 'org-7' },
      headers: { 'openai-organization': 'org-7' },
    },
    { type: 1, path: '/v1/chat/completions', model: 'claude-3-5-sonnet-20241022' },
    { type: 1, path: '/v1/v1/chat/completions', base: '/v1' },
    {
      type: 1,
      path: '/v1/chat/completions',
      row: { header_override: '{"X-Extra":"42","X-Own":"{api_key}"}' },
      headers: { 'x-extra': '42' },
    },
    azure(3, '/openai/deployments/gpt-35-turbo/chat/completions?api-version=2024-06-01', {
      ...{ model: 'gpt-3.5-turbo', row: { other: '2024-06-01', created_time: 1_700_000_000 } },
    }),
    azure(3, '/openai/deployments/gpt-4.1/chat/completions?api-version=2024-06-01', {
      ...{ model: 'gpt-4.1', row: { other: '2024-06-01', created_time: 1_800_000_000 } },
    }),
    { type: 8, path: '/odd/path/chat/completions', base: '/odd/path/chat/completions' },
    {
      type: 8,
      path: '/m/real/chat/completions?v=1',
      base: '/m/{model}/chat/completions?v=1',
      row: { model_mapping: '{"M":"step","step":"real"}' },
    },
    claude,
    ...chat([17], '/compatible-mode/v1/chat/completions'),
    gemini(24),
    ...chat([26], '/api/paas/v4/chat/completions'),
    ...chat([27], '/chat/completions'),
    { type: 39, path: '/client/v4/accounts/acc/ai/v1/chat/completions', row: { other: 'acc' } },
    ...chat([45], '/api/v3/chat/completions'),
    { type: 46, path: '/v2/chat/completions', row: { key: 'sk-46|app-9' }, headers: { appid: 'app-9' } },
  ],
  'one-api': [
    ...chat([1, 2, 4, 5, 6, 7, 8, 9, 10, 12, 13, 19, 20, 22, 25, 26, 28, 29, 31, 32, 36, 39, 44, 45, 48, 27, 30]),
    azure(3, '/openai/deployments/gpt-35-turbo/chat/completions?api-version=2024-06-01', {
      ...{ model: 'gpt-3.5-turbo', row: { config: '{"api_version":"2024-06-01"}', created_time: 1_800_000_000 } },
    }),
    claude,
    ...chat([17, 49], '/compatible-mode/v1/chat/completions'),
    gemini(24),
    {
      type: 24,
      path: '/v1/models/gemini-pro:generateContent',
      model: 'gemini-pro',
      row: { config: '{"api_version":"v1"}' },
      auth: ['x-goog-api-key', ''],
    },
    { type: 37, path: '/client/v4/accounts/acc/ai/v1/chat/completions', row: { config: '{"user_id":"acc"}' } },
    ...chat([40], '/api/v3/chat/completions'),
    ...chat([41, 50, 51], '/chat/completions'),
    ...chat([47], '/v2/chat/completions'),
    // It maps a name once only.
    { type: 1, path: '/v1/chat/completions', row: { model_mapping: '{"M":"step","step":"real"}' } },
  ],
  'one-hub': [
    ...chat([1, 8, 19, 20, 26, 28, 29, 30, 31, 33, 39, 43, 45, 56]),
    // The administrator wrote its paths, or before that only their version.
    { type: 8, path: '/v9/chat/completions', row: { plugin: '{"customize":{"1":"/v9/chat/completions"}}' } },
    { type: 8, path: '/v4/chat/completions', row: { other: 'v4' } },
    { type: 8, path: '/chat/completions', row: { other: 'disable' } },
    { type: 1, path: '/v1/chat/completions', row: { model_headers: '{"x-extra":"1"}' }, headers: { 'x-extra': '1' } },
    azure(3, '/openai/deployments/gpt-3.5-turbo/chat/completions?api-version=2024-06-01', {
      ...{ model: 'gpt-3.5-turbo', row: { other: '2024-06-01' } },
    }),
    claude,
    ...chat([17], '/compatible-mode/v1/chat/completions'),
    { type: 17, path: '/v1/chat/completions', row: { plugin: '{"use_openai_api":{"enable":true}}' } },
    gemini(25),
    ...chat([49], '/chat/completions'),
  ],
};

for (const [program, cases] of Object.entries(CASES) as [Program, readonly Case[]][]) {
  describe(`channels of ${program}`, () => {
    let vendor: FakeVendor;
    let gateway: TestGateway | undefined;
    const names = cases.map(({ model }, i) => `${model ?? 'model'}@${i}`);
    const upstreamOf = ({ model, row }: Case, i: number): string => {
      if (row?.model_mapping !== undefined) return program === 'new-api' ? 'real' : 'step';
      return model ?? `model${i}`;
    };

    before(async () => {
      vendor = await fakeVendor();
      vendor.always(errorAnswer(400, 'no'));
      const origin = vendor.url.replace(/\/v1$/, '');
      const { channels, models, ...others } = await inventoryOf(program, {
        channels: cases.map(({ type, row, base = '' }, i): TableRow => {
          const mapping = (row?.model_mapping as string | undefined)?.replace('"M"', JSON.stringify(names[i]));
          return {
            ...{
              id: i + 1,
              type,
              status: 1,
              name: `type ${type}`,
              key: `sk-${i}`,
              models: names[i]!,
              group: 'default',
            },
            ...{ base_url: origin + base, priority: 0, weight: 1 },
            ...row,
            model_mapping: mapping ?? JSON.stringify({ [names[i]!]: upstreamOf(cases[i]!, i) }),
          };
        }),
        // Without it, it is an early one-hub, which calls deployments without dots.
        user_groups: [],
        options: [option('SelfUseModeEnabled', 'true'), option('gemini.safety_settings', { default: 'BLOCK_NONE' })],
      });
      assert.equal(channels.length, cases.length, JSON.stringify(others.notes));
      const files = gatewayFiles(program, { ...others, channels, models, groups: [], sections: {} })!;
      const part = parse(files.yaml) as { readonly channels: object[]; readonly models: Record<string, object> };
      const usual = defaultConfig([vendor]);
      gateway = await startGateway({
        vendor,
        env: parseEnv(files.env) as Record<string, string>,
        config: {
          ...usual,
          pipeline: [...(usual.pipeline as string[]), 'vendors/anthropic', 'vendors/gemini'],
          channels: [...(usual.channels as object[]), ...part.channels],
          models: {
            ...(usual.models as object),
            ...Object.fromEntries(Object.entries(part.models).map(([name, model]) => [name, { ...model, free: true }])),
          },
        },
      });
    });
    after(async () => {
      await gateway?.stop();
      await vendor.close();
    });

    for (const [i, each] of cases.entries()) {
      it(`of type ${each.type} call ${each.path} (${i + 1})`, async () => {
        const before = vendor.requests.length;
        await (await gateway!.chat({ model: names[i]! })).text();
        const request = vendor.requests[before]!;
        const [header, front] = each.auth ?? BEARER;
        const key = ((each.row?.key as string | undefined) ?? `sk-${i}`).split('|')[0];
        const isInPath = each.auth?.[0] === 'x-goog-api-key';
        const upstream = upstreamOf(each, i);
        const undotted = each.path.includes('/gpt-35-turbo/') ? upstream.replaceAll('.', '') : upstream;
        assert.deepEqual(
          { path: request.path, key: request.headers[header], model: isInPath ? upstream : request.json.model },
          { path: each.path, key: `${front}${key}`, model: undotted },
        );
        for (const [name, value] of Object.entries(each.headers ?? {}))
          assert.equal(request.headers[name], value, name);
        assert.equal(request.headers['x-own'], undefined, 'a placeholder is never sent');
      });
    }
  });
}
