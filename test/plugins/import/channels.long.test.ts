/** What channels of one-api, new-api and one-hub become: addresses, keys, weights, names; and which are left, by name and reason. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ForeignChannel, type Inventory, Secret } from '../../../plugins/import/inventory.ts';
import { inventoryOf, option, type TableRow } from './tables.ts';

type Program = 'one-api' | 'new-api' | 'one-hub';

const channel = (row: TableRow): TableRow => ({
  ...{ id: 1, type: 1, status: 1, name: 'main', key: 'sk-1', models: 'm', group: 'default', weight: 0, priority: 0 },
  ...{ base_url: '' },
  ...row,
});
const PRICED = [option('SelfUseModeEnabled', 'true')];
const read = (program: Program, rows: readonly TableRow[], options: readonly TableRow[] = []): Promise<Inventory> =>
  inventoryOf(program, { channels: rows.map(channel), options: [...PRICED, ...options] });
const why = ({ notes }: Inventory, what: string): string =>
  notes
    .filter((note) => note.what === what)
    .map((note) => note.why)
    .join('; ');
const one = ({ channels, notes }: Inventory): ForeignChannel => {
  assert.equal(channels.length, 1, JSON.stringify(notes));
  return channels[0]!;
};

describe('a channel without an address', () => {
  it('has that of its type', async () => {
    const expected: Readonly<Record<Program, Readonly<Record<number, string>>>> = {
      'one-api': {
        4: 'https://api.closeai-proxy.xyz/v1',
        19: 'https://ai.360.cn/v1',
        26: 'https://api.baichuan-ai.com/v1',
        28: 'https://api.mistral.ai/v1',
        29: 'https://api.groq.com/openai/v1',
        32: 'https://api.stepfun.com/v1',
        36: 'https://api.deepseek.com/v1',
        40: 'https://ark.cn-beijing.volces.com/api/v3',
        41: 'https://api.novita.ai/v3/openai',
        44: 'https://api.siliconflow.cn/v1',
        45: 'https://api.x.ai/v1',
        47: 'https://qianfan.baidubce.com/v2',
        48: 'https://spark-api-open.xf-yun.com/v1',
        49: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
        51: 'https://generativelanguage.googleapis.com/v1beta/openai',
      },
      'new-api': {
        19: 'https://api.360.cn/v1',
        25: 'https://api.moonshot.cn/v1',
        26: 'https://open.bigmodel.cn/api/paas/v4',
        27: 'https://api.perplexity.ai',
        40: 'https://api.siliconflow.cn/v1',
        43: 'https://api.deepseek.com/v1',
        45: 'https://ark.cn-beijing.volces.com/api/v3',
        48: 'https://api.x.ai/v1',
        53: 'https://llm.submodel.ai/v1',
      },
      'one-hub': {
        28: 'https://api.deepseek.com/v1',
        30: 'https://api.mistral.ai/v1',
        31: 'https://api.groq.com/openai/v1',
        45: 'https://api.siliconflow.cn/v1',
        56: 'https://api.x.ai/v1',
      },
    };
    for (const [program, urls] of Object.entries(expected) as [Program, Record<number, string>][]) {
      const types = Object.keys(urls).map(Number);
      const { channels } = await read(
        program,
        types.map((type) => ({ id: type, type, name: `t${type}` })),
      );
      assert.deepEqual(Object.fromEntries(channels.map(({ type, url }) => [type, url])), urls, program);
    }
  });

  it('of OpenAI is one of the vendor `openai`, and of a relay one that any server can be', async () => {
    const { channels } = await read('new-api', [{}, { id: 2, base_url: 'https://relay.example' }]);
    assert.deepEqual(
      channels.map(({ vendor, url }) => [vendor, url]),
      [
        ['openai', undefined],
        ['compatible', 'https://relay.example/v1'],
      ],
    );
  });

  it('can be a plan of new-api, and an address behind a gateway of Cloudflare has the paths of that', async () => {
    const base = 'https://gateway.ai.cloudflare.com/v1/a/g';
    const { channels } = await read('new-api', [
      { type: 26, base_url: 'glm-coding-plan' },
      { id: 2, base_url: `${base}/openai` },
      { id: 3, type: 3, base_url: `${base}/azure-openai/res`, other: '2024-06-01' },
    ]);
    assert.deepEqual(
      channels.map(({ url }) => url),
      ['https://open.bigmodel.cn/api/coding/paas/v4', `${base}/openai`, `${base}/azure-openai/res/{model}`],
    );
  });
});

describe('a channel is left by name', () => {
  it('if nothing here calls its vendor, or its type is not known', async () => {
    for (const [program, type, reason] of [
      ['new-api', 2, /type 2 \(Midjourney\): images, music or video/],
      ['new-api', 5, /type 5 \(Midjourney Plus\)/],
      ['new-api', 33, /type 33 \(AWS Bedrock\): its requests are signed/],
      ['new-api', 57, /type 57 \(Codex\): its credential is an OAuth login/],
      ['new-api', 999, /type 999 is not known here/],
      ['new-api', 3, /type 3 \(Azure\): it has no address/],
      ['new-api', 39, /type 39 \(Cloudflare\): it has no account/],
      ['one-api', 43, /type 43 \(Proxy\): it forwards any path/],
      ['one-hub', 27, /type 27 \(MiniMax\)/],
    ] as const) {
      const inventory = await read(program, [{ type }]);
      assert.equal(inventory.channels.length, 0, program);
      assert.match(why(inventory, 'channel main'), reason);
    }
  });

  it('if it is disabled, with the reason of the program', async () => {
    const inventory = await read('new-api', [{ status: 3, other_info: '{"status_reason":"insufficient_quota"}' }]);
    assert.equal(why(inventory, 'channel main'), 'it is disabled: insufficient_quota');
  });

  it('if its proxy cannot be used here: it must not call its vendor from elsewhere', async () => {
    for (const [program, row] of [
      ['new-api', { setting: '{"proxy":"socks5://127.0.0.1:1080"}' }],
      ['one-hub', { proxy: 'socks5://127.0.0.1:1080' }],
    ] as const) {
      const inventory = await read(program, [row]);
      assert.equal(inventory.channels.length, 0);
      assert.match(why(inventory, 'channel main'), /it has a proxy that cannot be used here \(socks5:\/\/\)/);
    }
  });

  it('if one-hub has switched off all of its APIs that are known here', async () => {
    const customize = Object.fromEntries([1, 2, 3, 5, 6, 9, 10, 11].map((mode) => [mode, 'disable']));
    const row = { type: 8, base_url: 'https://up.example', plugin: JSON.stringify({ customize }), other: 'v2' };
    const inventory = await read('one-hub', [row]);
    assert.equal(inventory.channels.length, 0);
    assert.match(why(inventory, 'channel main'), /all of its APIs that are known here are off/);
  });

  it('if new-api calls exactly its address, and that is no path of an API', async () => {
    const inventory = await read('new-api', [{ type: 8, base_url: 'https://up.example/v1' }]);
    assert.match(why(inventory, 'channel main'), /does not end in \/chat\/completions/);
  });
});

describe('a proxy', () => {
  it('is that of the channel, and a secret if it has a password', async () => {
    const plain = one(await read('one-hub', [{ proxy: 'http://10.0.0.1:3128' }]));
    assert.equal(plain.more?.proxy, 'http://10.0.0.1:3128');
    const secret = one(await read('new-api', [{ setting: '{"proxy":"http://u:p@10.0.0.1:3128"}' }]));
    assert.deepEqual(secret.more?.proxy, new Secret('main_PROXY', 'http://u:p@10.0.0.1:3128'));
  });
});

describe('keys of a channel', () => {
  it('are all of them, except those that are disabled, which are told', async () => {
    const inventory = await read('new-api', [
      { key: 'a\nb\nc', channel_info: '{"is_multi_key":true,"multi_key_status_list":{"1":2}}' },
    ]);
    const { key, moreKeys } = one(inventory);
    assert.deepEqual([key, moreKeys], [{ secret: 'a' }, ['c']]);
    assert.match(why(inventory, 'channel main'), /its keys 2 are disabled/);
  });

  it('that are all disabled leave it', async () => {
    const inventory = await read('new-api', [
      { key: 'a\nb', channel_info: '{"is_multi_key":true,"multi_key_status_list":{"0":2,"1":3}}' },
    ]);
    assert.equal(inventory.channels.length, 0);
    assert.equal(why(inventory, 'channel main'), 'all of its keys are disabled');
  });

  it('make several channels if there are more than one can have', async () => {
    const keys = Array.from({ length: 250 }, (_, i) => `k${i}`);
    const inventory = await read('new-api', [{ key: keys.join('\n') }]);
    const all = inventory.channels.flatMap(({ key, moreKeys = [] }) => [
      'secret' in key ? key.secret : '',
      ...moreKeys,
    ]);
    assert.deepEqual([inventory.channels.length, all], [3, keys]);
    assert.equal(inventory.models.get('m')!.from.length, 3);
  });
});

describe('weights', () => {
  const weights = ({ channels }: Inventory): readonly (number | undefined)[] => channels.map(({ weight }) => weight);
  const rows = [
    { id: 1, name: 'a', weight: 5 },
    { id: 2, name: 'b', weight: 0 },
  ];

  it('are ignored by one-api, and new-api until v0.8.5 adds 10 to each', async () => {
    assert.deepEqual(weights(await read('one-api', rows)), [undefined, undefined]);
    assert.deepEqual(weights(await read('new-api', rows)), [3, 2]);
  });

  it('of 0 beside others give nothing in later versions', async () => {
    const late = rows.map((row) => ({ ...row, channel_info: '{}' }));
    const { models, ...inventory } = await read('new-api', late);
    assert.deepEqual(models.get('m')!.from, [{ channel: 'a', model: 'm' }]);
    assert.match(why({ models, ...inventory }, 'channel b: m'), /its weight is 0 beside others/);
  });

  it('of 0 are equal if all are, and count where nobody else is', async () => {
    const alone = await read('new-api', [
      { ...rows[0], channel_info: '{}', group: 'vip' },
      { ...rows[1], channel_info: '{}' },
    ]);
    assert.equal(alone.models.get('m')!.from.length, 2);
    const equal = await read('new-api', [
      { ...rows[1], channel_info: '{}' },
      { ...rows[1], id: 3, channel_info: '{}' },
    ]);
    assert.deepEqual([equal.models.get('m')!.from.length, weights(equal)], [2, [undefined, undefined]]);
  });

  it('and priorities are whole numbers, the lowest first', async () => {
    const { channels } = await read('new-api', [
      { id: 1, name: 'a', priority: 20, weight: 10 },
      { id: 2, name: 'b', priority: -5, weight: 30 },
    ]);
    assert.deepEqual(
      channels.map(({ priority, weight }) => [priority, weight]),
      [
        [undefined, undefined],
        [25, 2],
      ],
    );
  });
});

describe('a key with other credentials behind it', () => {
  it('leaves the channel, because they must not be sent', async () => {
    const inventory = await read('new-api', [{ type: 45, key: 'ark-key|access|secret' }]);
    assert.equal(inventory.channels.length, 0);
    assert.match(why(inventory, 'channel main'), /its key has several parts/);
  });
});

describe('names', () => {
  it('are readable, each different, and the same in a second import', async () => {
    const titles = ['主渠道', 'OpenAI fallback/备用', 'Zoë', 'main', 'main', '备用'];
    const rows = titles.map((name, i) => ({ id: i + 1, name }));
    const first = await read('new-api', rows);
    assert.deepEqual(
      first.channels.map(({ name, title }) => [name, title]),
      [
        ['channel-1', '主渠道'],
        ['OpenAI-fallback', 'OpenAI fallback/备用'],
        ['Zoe', 'Zoë'],
        ['main', 'main'],
        ['main-5', 'main'],
        ['channel-6', '备用'],
      ],
    );
    assert.deepEqual((await read('new-api', rows.toReversed())).channels.map(({ name }) => name).sort(), [
      ...['OpenAI-fallback', 'Zoe', 'channel-1', 'channel-6', 'main', 'main-5'],
    ]);
  });
});

describe('names of models', () => {
  it('that are switches of new-api are left, and the model itself stays', async () => {
    for (const [type, names, kept] of [
      [1, 'o3-mini,o3-mini-high,gpt-5-minimal,gpt-5.1-codex-max,gpt-4o', ['o3-mini', 'gpt-5.1-codex-max', 'gpt-4o']],
      [14, 'claude-3-7-sonnet,claude-3-7-sonnet-thinking', ['claude-3-7-sonnet']],
      [
        24,
        'gemini-2.5-pro,gemini-2.5-pro-thinking,gemini-2.5-pro-thinking-128,gemini-2.5-flash-nothinking',
        ['gemini-2.5-pro'],
      ],
      [20, 'a/b-thinking,moonshotai/kimi-k2-thinking,a/b', ['moonshotai/kimi-k2-thinking', 'a/b']],
      [46, 'ernie-4,ernie-4-search', ['ernie-4']],
      [48, 'grok-3-mini,grok-3-mini-high,grok-2-search', ['grok-3-mini']],
      [43, 'deepseek-chat,deepseek-v4-max', ['deepseek-chat']],
    ] as const) {
      const { models, notes } = await read('new-api', [{ type, models: names }]);
      assert.deepEqual([...models.keys()], kept, `type ${type}`);
      const left = notes.filter(({ where }) => where === 'channels.models').length;
      assert.equal(left, names.split(',').length - kept.length);
    }
  });

  it('with a star are left unless requests match them there, because here they would be patterns', async () => {
    const starred = 'gpt-4o,claude-*,*,gpt-4-gizmo-*,gemini-2.5-flash-thinking-*';
    for (const [program, row, kept] of [
      ['one-api', {}, ['gpt-4o']],
      ['new-api', {}, ['gpt-4o', 'gpt-4-gizmo-*']],
      ['new-api', { channel_info: '{}' }, ['gpt-4o', 'gpt-4-gizmo-*', 'gemini-2.5-flash-thinking-*']],
      ['one-hub', {}, ['gpt-4o', 'claude-*', '*', 'gpt-4-gizmo-*', 'gemini-2.5-flash-thinking-*']],
    ] as const) {
      const { models } = await read(program, [{ models: starred, ...row }]);
      assert.deepEqual([...models.keys()], kept, program);
    }
  });

  it('that the program calls at another path are left', async () => {
    for (const [program, type] of [
      ['new-api', 45],
      ['one-api', 40],
    ] as const) {
      const { models, notes } = await read(program, [
        { type, models: 'doubao-pro,bot-1,helper', model_mapping: '{"helper":"bot-2"}' },
      ]);
      assert.deepEqual([...models.keys()], ['doubao-pro'], program);
      assert.equal(notes.filter(({ where }) => where === 'channels.models').length, 2);
    }
  });

  it('are mapped before that: a switch behind a plain name is one, too', async () => {
    const { models } = await read('new-api', [{ models: 'fast,deep', model_mapping: '{"deep":"o3-mini-high"}' }]);
    assert.deepEqual([...models.keys()], ['fast']);
  });
});

describe('headers', () => {
  it('with placeholders, and those with the key, are not sent but told', async () => {
    const inventory = await read('new-api', [
      {
        header_override: JSON.stringify({
          ...{
            'X-Extra': '42',
            'X-Key': '{api_key}',
            'User-Agent': '{client_header:User-Agent}',
            '*': '',
            're:^x-': '',
          },
          ...{ Authorization: 'Bearer {api_key}', Host: 'evil.example' },
        }),
      },
    ]);
    assert.deepEqual(one(inventory).more?.headers, { 'X-Extra': '42' });
    assert.match(why(inventory, 'channel main'), /its headers X-Key, User-Agent, \*, re:\^x-, Host have placeholders/);
  });

  it('have the organization, whatever the column is called', async () => {
    for (const column of ['open_ai_organization', 'openai_organization']) {
      assert.deepEqual(one(await read('new-api', [{ [column]: 'org-7' }])).more?.headers, {
        'OpenAI-Organization': 'org-7',
      });
    }
  });
});
