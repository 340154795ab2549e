/** `prove`: recorded calls of one-api and new-api are computed again with the imported prices, to the unit, and differences have causes. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { MICRO } from '../../../core/contracts/ledger.ts';
import { Prices } from '../../../core/contracts/prices.ts';
import { decimal } from '../../../core/sdk.ts';
import { openDatabase } from '../../../plugins/import/databases.ts';
import { oneApiSource } from '../../../plugins/import/one-api/index.ts';
import { type Proof, proofLine, prove } from '../../../plugins/import/prove.ts';
import { Database } from '../../../plugins/stores/sqlite/binding.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { changeSqlite, makeSqlite, NEW_API_VERSIONS, ONE_API_VERSIONS, type TestRow } from './databases.ts';

const PER_UNIT = 500_000;
/** The last one is a third, as Go prints it. */
const GROUPS = { default: 1, vip: 0.8, svip: 0.5, free: 0, odd: 1.234567, third: 0.3333333333333333 };
const GROUP_NAMES = Object.keys(GROUPS) as (keyof typeof GROUPS)[];
const LOGS = `CREATE TABLE logs (id integer PRIMARY KEY, user_id integer, created_at bigint, type integer, content text,
  model_name text, quota integer, prompt_tokens integer, completion_tokens integer, channel_id integer`;

/** Users 1 to 6 are in these groups, in this order. */
const USERS: readonly TestRow[] = GROUP_NAMES.map((group, index) => ({
  id: index + 1,
  username: `user-${index + 1}`,
  password: 'x',
  role: index === 0 ? 100 : 1,
  status: 1,
  quota: 0,
  group,
  aff_code: `a${index}`,
}));

/** Numbers that are the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Logged {
  readonly user: number;
  readonly content: string;
  readonly model: string;
  readonly quota: number;
  readonly input: number;
  readonly output: number;
  readonly channel: number;
  readonly other?: object;
}

function writeLogs(file: string, rows: readonly Logged[]): void {
  const db = new Database(file);
  const withOther = rows.some(({ other }) => other !== undefined);
  const insert = db.prepare(
    `INSERT INTO logs (user_id, created_at, type, content, model_name, quota, prompt_tokens, completion_tokens, channel_id
      ${withOther ? ', "group", other' : ''}) VALUES (?, ?, 2, ?, ?, ?, ?, ?, ? ${withOther ? ', ?, ?' : ''})`,
  );
  db.exec('BEGIN');
  for (const { user, content, model, quota, input, output, channel, other } of rows) {
    const more = withOther ? [GROUP_NAMES[user - 1]!, JSON.stringify(other ?? {})] : [];
    insert.run(user, 1_750_000_000, content, model, quota, input, output, channel, ...more);
  }
  // Other kinds of entries: a top-up, and one by an administrator.
  db.exec(
    "INSERT INTO logs (user_id, created_at, type, content, quota) VALUES (1, 1750000000, 1, 'x', 5), (1, 1750000000, 3, 'x', 7)",
  );
  db.exec('COMMIT');
  db.close();
}

/** `%.2f` of Go. */
const twoPlaces = (value: number): string => value.toFixed(2);

/** As new-api v0.6 charges a call: text to the nearest unit, Claude's style down, in binary fractions; and at least one unit. */
function newApiRow(random: (below: number) => number, model: keyof typeof NEW_API_MODELS): Logged {
  const { ratio, completion, cache = 1, price } = NEW_API_MODELS[model] as NewApiModel;
  const user = 1 + random(GROUP_NAMES.length - 1);
  const group = GROUPS[GROUP_NAMES[user - 1]!];
  const [input, output] = [1 + random(200_000), random(8_000)];
  const shared = { user, model, input, output, channel: 1 };
  if (price !== undefined) {
    const quota = Math.round(price * PER_UNIT * group);
    return { ...shared, quota, content: '', other: { model_price: price, group_ratio: group, model_ratio: 0 } };
  }
  const rates = { model_price: -1, model_ratio: ratio, completion_ratio: completion, group_ratio: group };
  if (model.startsWith('gpt-4o-audio')) {
    const [audioIn, audioOut] = [random(1_000), random(500)];
    const sum = input + output * completion + audioIn * 40 + audioOut * 40 * 2;
    const other = {
      ...rates,
      audio: true,
      text_input: input,
      text_output: output,
      audio_input: audioIn,
      audio_output: audioOut,
    };
    return {
      ...shared,
      input: input + audioIn,
      output: output + audioOut,
      quota: charge(sum * ratio * group, ratio * group),
      content: '',
      other: { ...other, audio_ratio: 40, audio_completion_ratio: 2 },
    };
  }
  if (model.startsWith('claude')) {
    const [read, written] = [random(50_000), random(10_000)];
    const sum = (input + read * cache + written * 1.25 + output * completion) * group * ratio;
    const quota = Math.trunc(ratio !== 0 && sum <= 0 ? 1 : sum);
    const other = {
      ...rates,
      claude: true,
      cache_tokens: read,
      cache_ratio: cache,
      cache_creation_tokens: written,
      cache_creation_ratio: 1.25,
    };
    return { ...shared, quota, content: '', other };
  }
  const read = random(input);
  const sum = (input - read + read * cache + output * completion) * ratio * group;
  return {
    ...shared,
    quota: charge(sum, ratio * group),
    content: '',
    other: { ...rates, cache_tokens: read, cache_ratio: cache },
  };
}

const charge = (sum: number, ratio: number): number => (ratio !== 0 && sum <= 0 ? 1 : Math.round(sum));

interface NewApiModel {
  readonly ratio: number;
  readonly completion: number;
  readonly cache?: number;
  readonly price?: number;
}

/** As the program computes them, not as the options say: the completion ratios of known names are in its code. */
const NEW_API_MODELS = {
  'gpt-4o': { ratio: 1.25, completion: 4, cache: 0.5 },
  'o3-mini': { ratio: 0.55, completion: 4, cache: 0.5 },
  'gpt-3.5-turbo-16k': { ratio: 1.5, completion: 4 / 3 },
  'house-model': { ratio: 3, completion: 2.5, cache: 0.25 },
  'no-completion': { ratio: 2.5, completion: 1 },
  'ERNIE-4.0-8K': { ratio: 8.219178082191782, completion: 1 },
  tiny: { ratio: 0.000001, completion: 1 },
  'free-model': { ratio: 0, completion: 1 },
  'claude-3-7-sonnet-20250219': { ratio: 1.5, completion: 5, cache: 0.1 },
  'gpt-4o-audio-preview': { ratio: 1.25, completion: 4 },
  'per-call': { ratio: 0, completion: 1, price: 0.05 },
} as const satisfies Readonly<Record<string, NewApiModel>>;

const NEW_API_OPTIONS = {
  GroupRatio: GROUPS,
  ModelRatio: Object.fromEntries(Object.entries(NEW_API_MODELS).map(([name, { ratio }]) => [name, ratio])),
  CompletionRatio: { 'house-model': 2.5, 'gpt-4o': 2 },
  CacheRatio: { 'gpt-4o': 0.5, 'o3-mini': 0.5, 'house-model': 0.25, 'claude-3-7-sonnet-20250219': 0.1 },
  ModelPrice: { 'per-call': 0.05 },
};

const optionRows = (options: Readonly<Record<string, unknown>>): readonly TestRow[] =>
  Object.entries(options).map(([key, value]) => ({ key, value: JSON.stringify(value) }));

const CHANNEL = {
  type: 1,
  key: 'sk-a',
  status: 1,
  name: 'one',
  base_url: 'https://vendor.example',
  group: GROUP_NAMES.join(','),
};

function makeNewApi(file: string, rows: readonly Logged[]): void {
  const models = Object.keys(NEW_API_MODELS).join(',');
  const channels = [{ ...CHANNEL, id: 1, models }];
  makeSqlite(file, NEW_API_VERSIONS[1]!, { users: USERS, channels, options: optionRows(NEW_API_OPTIONS) });
  changeSqlite(file, `${LOGS}, "group" text, other text)`);
  writeLogs(file, rows);
}

/** As one-api charges a call: rounded up, by the ratios of the mapped name at the type of the channel. */
function oneApiRow(random: (below: number) => number): Logged {
  const [channel, model, ratio, completion] = ONE_API_CALLS[random(ONE_API_CALLS.length)]!;
  const user = 1 + random(GROUP_NAMES.length - 1);
  const group = GROUPS[GROUP_NAMES[user - 1]!];
  const [input, output] = random(20) === 0 ? [0, 0] : [1 + random(200_000), random(8_000)];
  const sum = Math.ceil((input + output * completion) * (ratio * group));
  const quota = input + output === 0 ? 0 : ratio * group !== 0 && sum <= 0 ? 1 : sum;
  const content = `倍率：${twoPlaces(ratio)} × ${twoPlaces(group)} × ${twoPlaces(completion)}`;
  return { user, channel, model, input, output, quota, content };
}

/** Channel, mapped name, model ratio, completion ratio. */
const ONE_API_CALLS: readonly (readonly [number, string, number, number])[] = [
  [1, 'gpt-4o', 2.5, 4],
  [1, 'gpt-4o-mini', 0.075, 4],
  [1, 'unknown-model', 30, 1],
  [1, 'house', 3, 2.5],
  [2, 'house', 6, 2.5],
  [2, 'mistral-x', 30, 3],
];

function makeOneApi(file: string, rows: readonly Logged[]): void {
  const channels = [
    {
      ...CHANNEL,
      id: 1,
      models: 'gpt-4o,gpt-4o-mini,unknown-model,house-model',
      model_mapping: '{"house-model":"house"}',
    },
    { ...CHANNEL, id: 2, type: 3, models: 'house-azure,mistral-x', model_mapping: '{"house-azure":"house"}' },
  ];
  const options = { GroupRatio: GROUPS, ModelRatio: { house: 3, 'house(3)': 6 }, CompletionRatio: { house: 2.5 } };
  makeSqlite(file, ONE_API_VERSIONS[2]!, { users: USERS, channels, options: optionRows(options) });
  changeSqlite(file, `${LOGS})`);
  writeLogs(file, rows);
}

describe('prove', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  let folder: string;
  before(async () => {
    vendor = await fakeVendor();
    gateway = await startGateway({ config: defaultConfig([vendor]) });
    folder = mkdtempSync(join(tmpdir(), 'turnpike-prove-'));
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
    rmSync(folder, { recursive: true });
  });

  async function proofOf(program: 'one-api' | 'new-api', file: string, most?: number): Promise<Proof> {
    const source = oneApiSource(program, await openDatabase(file), PER_UNIT);
    try {
      return await prove(gateway.host, await source.inventory(), source, most);
    } finally {
      await source.close();
    }
  }

  it('computes 10,000 calls of new-api to the unit', async () => {
    const random = numbers(1);
    const names = Object.keys(NEW_API_MODELS) as (keyof typeof NEW_API_MODELS)[];
    const rows = Array.from({ length: 10_050 }, () => newApiRow(random, names[random(names.length)]!));
    makeNewApi(join(folder, 'new-api.db'), rows);
    const proof = await proofOf('new-api', join(folder, 'new-api.db'));
    assert.deepEqual(proof.differences, []);
    assert.equal(proofLine(proof), '10,000 of 10,000 recorded calls cost the same here, to the unit');
    assert.equal(proof.rows.length, names.length * (GROUP_NAMES.length - 1));
    const newest = rows.slice(50).reduce((sum, { quota }) => sum + BigInt(quota), 0n);
    assert.equal(proof.there, newest * 1_000_000n);
    // Units are rounded there, at most one for each call.
    const off = proof.here - proof.there;
    assert.ok((off < 0n ? -off : off) <= 10_000n * 1_000_000n);
  });

  it('computes 10,000 calls of one-api to the unit', async () => {
    const random = numbers(2);
    const rows = Array.from({ length: 10_000 }, () => oneApiRow(random));
    makeOneApi(join(folder, 'one-api.db'), rows);
    const proof = await proofOf('one-api', join(folder, 'one-api.db'));
    assert.deepEqual(proof.differences, []);
    assert.equal(proof.equal, 10_000);
    assert.ok(
      proof.rows.some(({ model }) => model === 'house-azure'),
      'calls count for the public name of the model',
    );
  });

  it('reads only as many of the newest calls as asked for', async () => {
    assert.equal((await proofOf('one-api', join(folder, 'one-api.db'), 7)).calls, 7);
  });

  it('names the cause of each difference', async () => {
    const random = numbers(3);
    const call = (change: Partial<Logged>, other: object): Logged => {
      const row = { ...newApiRow(random, 'house-model'), user: 2, input: 1_000, output: 500, quota: 5_400 };
      const rates = { model_price: -1, model_ratio: 3, completion_ratio: 2.5, group_ratio: 0.8 };
      return { ...row, ...change, other: { ...rates, ...other } };
    };
    const rows = [
      call({}, {}),
      call({ quota: 5_401 }, {}),
      call({ quota: 7_200 }, { model_ratio: 4 }),
      call({ quota: 6_075 }, { group_ratio: 0.9 }),
      call({ model: 'gone-model' }, {}),
      call({ quota: 13_400 }, { web_search: true, web_search_call_count: 2, web_search_price: 10 }),
      call({ quota: 9_999 }, {}),
      call({ quota: 0, input: 0, output: 0 }, {}),
      call({ user: 6, input: 3_000_000, output: 0, quota: 3_000_000 }, { group_ratio: 0.3333333333333333 }),
    ];
    makeNewApi(join(folder, 'different.db'), rows);
    const proof = await proofOf('new-api', join(folder, 'different.db'));
    assert.deepEqual([proof.calls, proof.equal], [9, 4]);
    const causes = proof.differences.map(({ id, cause }) => [id, cause.replace(/;.*/, '')]);
    assert.deepEqual(causes, [
      ['7', 'no cause is known'],
      ['6', 'uses of tools are charged otherwise: {"web_search":2}'],
      ['5', 'the model is not here'],
      ['4', 'the factor of the group vip changed since'],
      ['3', 'its price changed since, or differs by channel'],
    ]);
    assert.match(
      proof.differences[4]!.cause,
      /the row says: model ratio 4, completion ratio 2.5, group ratio 0.8; here: /,
    );
    assert.match(proofLine(proof), /^4 of 9 recorded calls cost the same here, to the unit; 5 differ: 1 /);
    assert.equal(proof.rows.find(({ model }) => model === 'gone-model')?.there, 5_400n * MICRO);
  });

  it('computes images, speech, transcriptions, expressions and uses of tools', async () => {
    const file = join(folder, 'kinds.db');
    const expression = 'len <= 1000 ? tier("a", p * 2 + c * 8) : tier("b", p * 4 + c * 16)';
    const models = 'dall-e-3,tts-1,whisper-1,house-model,gpt-4o';
    const options = {
      'billing_setting.billing_mode': { 'house-model': 'tiered_expr' },
      'billing_setting.billing_expr': { 'house-model': expression },
    };
    makeSqlite(file, NEW_API_VERSIONS[2]!, {
      users: USERS,
      channels: [{ ...CHANNEL, id: 1, models }],
      options: optionRows(options),
    });
    // The newest rules are those of databases with this table.
    changeSqlite(file, `CREATE TABLE subscription_plans (id integer); ${LOGS}, "group" text, other text)`);
    const row = (model: string, input: number, output: number, quota: number, other: object, content = ''): Logged => {
      return { user: 1, channel: 1, model, input, output, quota, content, other: { group_ratio: 1, ...other } };
    };
    const ratio = (model_ratio: number, completion_ratio: number) => ({
      model_price: -1,
      model_ratio,
      completion_ratio,
    });
    writeLogs(file, [
      row('dall-e-3', 1, 0, 120_000, { model_price: 0.24 }, '大小 1024x1792, 品质 hd, 生成数量 2'),
      row('tts-1', 1_000, 0, 7_500, ratio(7.5, 1)),
      row('whisper-1', 1_500, 0, 22_500, ratio(15, 1)),
      row('house-model', 2_000, 100, 4_800, {
        billing_mode: 'tiered_expr',
        expr_b64: Buffer.from(expression).toString('base64'),
      }),
      row('gpt-4o', 1_000, 500, 28_750, {
        ...ratio(1.25, 4),
        tool_surcharges: [{ name: 'web_search_preview', count: 2, price: 25 }],
      }),
    ]);
    const proof = await proofOf('new-api', file);
    assert.deepEqual(proof.differences, []);
    assert.deepEqual([proof.calls, proof.equal], [5, 5]);
  });

  it('computes at a price as gateway.yaml has it, and refuses one that is none', () => {
    const prices = gateway.host.use(Prices);
    const usage = { input: 1_000, output: 10, ...{ cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0, inputAudio: 0 } };
    const cost = prices.costsAt({ input: 2, output: 8, tiers: [{ above: 500, input: 4 }] }, PER_UNIT);
    assert.equal(cost({ ...usage, reasoning: 0, outputAudio: 0, estimated: false }, decimal(0.5)), 1_020_000_000n);
    assert.throws(() => prices.costsAt({ inptu: 2 }, PER_UNIT), /not a price: inptu .*did you mean input/);
  });

  it('says so if nothing was recorded', async () => {
    makeNewApi(join(folder, 'empty.db'), []);
    const proof = await proofOf('new-api', join(folder, 'empty.db'));
    assert.equal(proofLine(proof), 'The source has no recorded calls to prove prices with');
  });
});
