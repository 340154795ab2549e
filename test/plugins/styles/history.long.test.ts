import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { scanJson } from '../../../core/bytes/json-body.ts';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Catalog } from '../../../core/contracts/catalog.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { Running } from '../../../core/contracts/running.ts';
import {
  type Answer,
  type ApiRequest,
  definePlugin,
  type Host,
  type Json,
  type JsonObject,
  type Known,
  type Question,
  type Recalled,
  refuse,
  type VendorReply,
} from '../../../core/plugin.ts';
import { packOpaque } from '../../../core/translation/index.ts';
import {
  createResponseHistory,
  migrations,
  type ResponseHistory,
  responsesSection,
} from '../../../plugins/styles/history/index.ts';
import type { ResponsesSection } from '../../../plugins/styles/history/keeping.ts';
import { bytesAreSummed, clearEnded } from '../../../plugins/styles/history/sizes.ts';
import { caller, type Driven, drive, exchange, verdict } from '../../kit/gateway/drive.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, hold, jsonAnswer } from '../../kit/vendors/script.ts';

const DAY_MS = 86_400_000;
const ROUTE = '/v1/responses/:id';
const CHAT_ANSWER: JsonObject = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Late.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** The history of a plugin, driven by hand, and a vendor that answers what a test lets it. */
interface Stage {
  readonly host: Driven;
  readonly history: ResponseHistory;
  readonly asked: (Question & { readonly channel: string })[];
  readonly warnings: string[];
  vendor: (question: Question) => Promise<VendorReply>;
}

interface StageOptions {
  readonly responses?: Partial<ResponsesSection>;
  /** Bytes that may still be written for what calls can do without. */
  readonly disk?: { free: number };
}

async function stage(keep: string | 0 = '30d', { responses = {}, disk }: StageOptions = {}): Promise<Stage> {
  const asked: Stage['asked'] = [];
  const warnings: string[] = [];
  let history: ResponseHistory | undefined;
  const plugin = definePlugin({
    name: 'styles',
    api: 2,
    sections: { responses: responsesSection },
    migrations,
    create(host, { responses }) {
      const around: Host = {
        ...host,
        log: { ...host.log, warn: (message) => void warnings.push(message) },
        vendors: () =>
          new Map([['acme', { name: 'acme', speaks: { responses: { path: '/responses', headers: () => ({}) } } }]]),
        ask(channel, question) {
          asked.push({ ...question, channel: channel.name });
          return it.vendor(question);
        },
      };
      history = createResponseHistory(around, responses);
      const { recall: _, ...parts } = history;
      return parts;
    },
  });
  const host = await drive([plugin], {
    sections: { responses: { perAccount: '100mb', perAccountFree: '4mb', keep, ...responses } },
    services: () => [
      [
        Catalog,
        {
          channel: (name: string) => (name === 'gone' ? undefined : { name, vendor: 'acme' }),
          require: (name: string) => ({ free: name === 'free' }),
        },
      ],
      [Running, { hasRoom: (bytes: number) => disk === undefined || bytes < disk.free }],
    ],
  });
  const it: Stage = {
    host,
    history: history!,
    asked,
    warnings,
    vendor: async () => ({ status: 500, body: undefined }),
  };
  return it;
}

const MINE = 3;
const THEIRS = 4;
const identityOf = (account: number) => ({ key: { id: 7 }, account: { id: account } }) as Known['identity'];
const bodyOf = (value: Json | string) =>
  scanJson(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));

/** A call at the moment when what it refers to is filled in. */
const asking = (account: number, body = bodyOf({})): Known =>
  exchange({ identity: identityOf(account), call: { body, model: 'm' } as never });

/** An answer with one text. */
const response = (id: string, text: string, more: JsonObject = {}): JsonObject => ({
  id,
  object: 'response',
  status: 'completed',
  output: [{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content: [said(text)] }],
  ...more,
});
const said = (text: string): JsonObject => ({ type: 'output_text', text, annotations: [] });
const user = (text: string): JsonObject => ({ type: 'message', role: 'user', content: text });
/** The answer as it is said again: no labels of whoever kept it. */
const output = (_id: string, text: string): Json => [{ type: 'message', role: 'assistant', content: [said(text)] }];

/** One call from its beginning to its end, as core goes through it. */
async function call(
  { host, history }: Stage,
  request: JsonObject | string,
  answer: JsonObject | undefined,
  facts: { readonly account?: number; readonly issuer?: string } & Partial<Known> = {},
): Promise<Recalled | undefined> {
  const { account = MINE, issuer, ...more } = facts;
  const body = bodyOf(request);
  const x = exchange({
    identity: identityOf(account),
    style: { name: 'responses' } as never,
    outcome: 'served',
    served: { style: issuer === undefined ? 'chat' : 'responses', channel: { name: issuer ?? 'other' } } as never,
    answer: () => answer,
    pending: () => undefined,
    call: { body, model: body.get('model') } as never,
    ...more,
  });
  const recalled = await history.recall(x, body);
  const said = recalled && { body: recalled.body, earlier: { channel: recalled.channel, body } };
  if (said !== undefined) Object.assign(x, { call: said });
  await host.store.atomic((await history.settle(x)) ?? []);
  return recalled;
}

/** What a request that goes on from a response says in full. */
async function recalledInput(at: Stage, id: string, input: Json = 'And?', account = MINE): Promise<Json | undefined> {
  const body = bodyOf({ model: 'm', input, previous_response_id: id });
  const recalled = await at.history.recall(asking(account, body), body);
  assert.ok(recalled, 'a request that names an earlier response is filled in');
  return bodyOf(recalled.body.bytes.toString()).get('input');
}

/** Asks a route as an account's key would. */
async function ask(
  { history }: Stage,
  method: string,
  path: string,
  { id, account = MINE, query = '' }: { readonly id: string; readonly account?: number; readonly query?: string },
): Promise<Json> {
  const route = history.routes.find((each) => each.method === method && each.path === path);
  assert.ok(route, `${method} ${path} is served`);
  assert.deepEqual(route.access, ['key']);
  const request = {
    ...caller({ method, path, query }),
    id: 'x',
    params: { id },
    body: undefined,
    account: { id: account },
    holder: undefined,
  } as unknown as ApiRequest;
  const result = await route.handle(request);
  const { body } = result as Answer;
  return body === undefined ? (result as Json) : (JSON.parse(body.toString()) as Json);
}

const ids = ({ host }: Stage): unknown =>
  host.store.db.prepare('SELECT id FROM response_turn ORDER BY id').pluck().all();

describe('a request that continues a response', () => {
  it('has the whole conversation, oldest first, then the new input', async () => {
    const at = await stage();
    await call(at, { model: 'm', input: 'One?' }, response('resp_1', 'One.'));
    await call(at, { model: 'm', input: [user('Two?')], previous_response_id: 'resp_1' }, response('resp_2', 'Two.'));
    const recalled = await call(
      at,
      { previous_response_id: 'resp_2', model: 'm', input: 'Three?', temperature: 1 },
      response('resp_3', 'Three.'),
    );
    assert.deepEqual(bodyOf(recalled!.body.bytes.toString()).tree(), {
      model: 'm',
      input: [
        user('One?'),
        ...(output('resp_1', 'One.') as Json[]),
        user('Two?'),
        ...(output('resp_2', 'Two.') as Json[]),
        user('Three?'),
      ],
      temperature: 1,
    });
  });

  it("keeps the client's numbers and spelling, and every output item", async () => {
    const at = await stage();
    const call1 = '{"type":"function_call_output","call_id":"c","output":"\\u00e9","n":1.0}';
    const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed', status: null };
    await call(at, `{"model":"m","input":[\n  ${call1}\n]}`, { id: 'resp_1', output: [thought] });
    const recalled = await call(at, '{"model":"m","previous_response_id":"resp_1","input":[]}', undefined);
    const expected = `{"model":"m","input":[${call1},${JSON.stringify(thought)}]}`;
    assert.equal(recalled!.body.bytes.toString(), expected);
  });

  it('has output in a form for any vendor: reasoning sealed, and no vendor ids', async () => {
    const at = await stage();
    const sealed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' };
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
    const output = [
      sealed,
      { type: 'reasoning', id: 'rs_2', summary: [] },
      search,
      { type: 'message', id: 'msg_1', role: 'assistant', content: [said('Hello.')] },
      { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{}' },
    ];
    await call(at, { model: 'm', input: 'Hi.' }, { id: 'resp_1', output }, { issuer: 'main' });
    assert.deepEqual(await recalledInput(at, 'resp_1'), [
      user('Hi.'),
      {
        ...sealed,
        encrypted_content: packOpaque({
          style: 'responses',
          channel: 'main',
          kind: 'encrypted',
          value: 'sealed',
          id: 'rs_1',
        }),
      },
      search,
      { type: 'message', role: 'assistant', content: [said('Hello.')] },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      user('And?'),
    ]);
  });

  it('needs no input, and none in the earlier request', async () => {
    const at = await stage();
    await call(at, { model: 'm' }, response('resp_1', 'Hello.'));
    const body = bodyOf({ model: 'm', previous_response_id: 'resp_1' });
    const recalled = await at.history.recall(asking(MINE, body), body);
    assert.deepEqual(bodyOf(recalled!.body.bytes.toString()).get('input'), output('resp_1', 'Hello.'));
  });

  it('is unchanged if it references no response', async () => {
    const at = await stage();
    const x = asking(MINE);
    assert.equal(at.history.recall(x, bodyOf({ model: 'm', input: 'Hi' })), undefined);
    assert.equal(at.history.recall(x, bodyOf({ model: 'm', previous_response_id: null })), undefined);
    assert.equal(at.host.store.reads, 0);
  });

  it('may branch from one response, and each branch has only its own turns', async () => {
    const at = await stage();
    await call(at, { input: 'One?' }, response('resp_1', 'One.'));
    await call(at, { input: 'Left?', previous_response_id: 'resp_1' }, response('resp_l', 'Left.'));
    await call(at, { input: 'Right?', previous_response_id: 'resp_1' }, response('resp_r', 'Right.'));
    const left = JSON.stringify(await recalledInput(at, 'resp_l'));
    assert.match(left, /Left\./);
    assert.doesNotMatch(left, /Right/);
  });

  it('is tried first with the channel that issued the response, and with none if only we know it', async () => {
    const at = await stage();
    await call(at, { input: 'One?' }, response('resp_1', 'One.'), { issuer: 'main' });
    const next = { input: 'Two?', previous_response_id: 'resp_1' };
    assert.equal((await call(at, next, response('resp_2', 'Two.')))!.channel, 'main');
    const last = { input: 'Three?', previous_response_id: 'resp_2' };
    assert.equal((await call(at, last, response('resp_3', 'Three.')))!.channel, undefined);
  });

  it('is not sent by id to a vendor that stores nothing', async () => {
    const at = await stage();
    await call(at, { input: 'One?' }, response('resp_1', 'One.', { store: false }), { issuer: 'main' });
    const recalled = await call(at, { input: 'Two?', previous_response_id: 'resp_1' }, undefined);
    assert.equal(recalled!.channel, undefined);
  });

  const refusal = async (at: Stage, id: string, account = MINE): Promise<string> =>
    verdict(() => recalledInput(at, id, 'And?', account));

  it('is refused with 404 for an unknown response and one of another account, with the same message', async () => {
    const at = await stage();
    await call(at, { input: 'One?' }, response('resp_1', 'One.'));
    assert.equal(await refusal(at, 'resp_2'), '404 previous_response_not_found');
    assert.equal(await refusal(at, 'resp_1', THEIRS), '404 previous_response_not_found');
    assert.equal(await refusal(at, 'resp_1'), 'ok');
    const wordsFor = async (id: string, account: number) => {
      const error = await recalledInput(at, id, 'And?', account).catch((thrown: unknown) => thrown);
      assert.ok(error instanceof Error && 'param' in error, 'it is refused');
      assert.equal(error.param, 'previous_response_id');
      return error.message.replace(id, 'ID');
    };
    assert.equal(await wordsFor('resp_1', THEIRS), await wordsFor('resp_2', MINE));
    assert.match(await wordsFor('resp_2', MINE), /Send the whole conversation in `input`.*`store: false`/);
  });

  it('is refused before any lookup if the id is invalid', async () => {
    const at = await stage();
    for (const id of ['', '../resp_1', 'a/b', 'a%2fb', 'a b', '.', 'resp_1\u0000', 'x'.repeat(257)]) {
      assert.equal(await refusal(at, id), '404 previous_response_not_found');
    }
    assert.equal(at.host.store.reads, 0);
  });

  it('is refused if a turn in the middle was deleted', async () => {
    const at = await stage();
    await call(at, { input: 'One?' }, response('resp_1', 'One.'));
    await call(at, { input: 'Two?', previous_response_id: 'resp_1' }, response('resp_2', 'Two.'));
    await ask(at, 'DELETE', ROUTE, { id: 'resp_1' });
    assert.equal(await refusal(at, 'resp_2'), '404 previous_response_not_found');
  });

  it('is refused if the conversation is longer or larger than a body may be', async () => {
    const at = await stage();
    const { db } = at.host.store;
    await call(at, { input: 'One?' }, response('resp_1', 'One.'));
    await call(at, { input: 'Two?', previous_response_id: 'resp_1' }, response('resp_2', 'Two.'));
    const sizes = db.prepare('SELECT turns, bytes FROM response_turn ORDER BY id').raw();
    const [first, second] = sizes.all() as [number, number][];
    assert.deepEqual([first![0], second![0]], [1, 2]);
    assert.ok(second![1] > first![1], 'the bytes of a turn are its own and those before it');
    db.exec("UPDATE response_turn SET turns = 999 WHERE id = 'resp_2'");
    assert.equal(await refusal(at, 'resp_2'), 'ok');
    db.exec("UPDATE response_turn SET turns = 1000 WHERE id = 'resp_2'");
    assert.equal(await refusal(at, 'resp_2'), '400 conversation_too_long');
    db.exec(`UPDATE response_turn SET turns = 2, bytes = ${16 * 2 ** 20 + 1} WHERE id = 'resp_2'`);
    assert.equal(await refusal(at, 'resp_2'), '400 conversation_too_long');
  });

  it('gets the final state from the vendor if the response was still in progress when it was kept', async () => {
    const at = await stage();
    const begun = { ...response('resp_1', ''), status: 'in_progress', background: true, output: [] };
    await call(at, { input: 'One?' }, begun, { issuer: 'main' });
    at.vendor = async () => ({ status: 200, body: response('resp_1', 'One.') });
    assert.match(JSON.stringify(await recalledInput(at, 'resp_1')), /One\./);
  });
});

describe('a request that references items of earlier responses', () => {
  const EXCHANGE = '01k7sa70lc0000001f9g1a1ufc';
  const call1 = { type: 'function_call', id: `fc_${EXCHANGE}_1`, call_id: 'c1', name: 'f', arguments: '{}' };
  const answered = response(`resp_${EXCHANGE}`, 'One moment.', {
    output: [{ type: 'reasoning', id: `rs_${EXCHANGE}_0` }, call1],
  });
  const named = (id: string): JsonObject => ({ type: 'item_reference', id });
  const result = { type: 'function_call_output', call_id: 'c1', output: '7' };
  const recalledFor = async (at: Stage, input: readonly Json[], more: JsonObject = {}, account = MINE) => {
    const x = asking(account);
    const recalled = await at.history.recall(x, bodyOf({ model: 'm', input, ...more }));
    return recalled && bodyOf(recalled.body.bytes.toString()).get('input');
  };

  it('has the items in place of the references', async () => {
    const at = await stage();
    await call(at, { model: 'm', input: 'Go.' }, answered);
    const input = [user('Go.'), named(`rs_${EXCHANGE}_0`), named(call1.id), result];
    assert.deepEqual(await recalledFor(at, input), [
      user('Go.'),
      { type: 'reasoning', id: `rs_${EXCHANGE}_0` },
      call1,
      result,
    ]);
    assert.deepEqual(await recalledFor(at, [named(call1.id), result], { previous_response_id: `resp_${EXCHANGE}` }), [
      user('Go.'),
      { type: 'reasoning', id: `rs_${EXCHANGE}_0` },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      call1,
      result,
    ]);
  });

  it('keeps the items, so that it can be continued itself', async () => {
    const at = await stage();
    await call(at, { model: 'm', input: 'Go.' }, answered);
    await call(at, { model: 'm', input: [user('Go.'), named(call1.id), result] }, response('resp_2', 'Done.'));
    const whole = [user('Go.'), call1, result, ...(output('resp_2', 'Done.') as Json[]), user('And?')];
    assert.deepEqual(await recalledInput(at, 'resp_2'), whole);
  });

  it('is refused if references expand to more than a body may have, or to too many responses', async () => {
    const at = await stage();
    const large = { ...call1, arguments: JSON.stringify({ a: 'x'.repeat(200_000) }) };
    await call(at, { model: 'm', input: 'Go.' }, { ...answered, output: [large] });
    const often = Array.from({ length: 100 }, () => named(call1.id));
    assert.equal(await verdict(() => recalledFor(at, often)), '400 conversation_too_long');
    const many = Array.from({ length: 65 }, (_, i) => named(`fc_${String(i).padStart(26, '0')}_0`));
    assert.equal(await verdict(() => recalledFor(at, many)), '400 conversation_too_long');
  });

  it('leaves unknown references, those to another account and those of the vendor to the vendor', async () => {
    const at = await stage();
    await call(at, { model: 'm', input: 'Go.' }, answered);
    assert.equal(await recalledFor(at, [named(call1.id)], {}, THEIRS), undefined);
    for (const id of [`fc_${EXCHANGE}_9`, 'fc_68ab', `fc_${EXCHANGE.replace('0', '1')}_1`, '', '../x']) {
      assert.equal(await recalledFor(at, [named(id)]), undefined, id);
    }
    assert.equal(await recalledFor(at, [user('I say "item_reference".')]), undefined);
  });
});

describe('what is kept of a call', () => {
  it('is nothing if the client says so, or the call failed', async () => {
    const at = await stage();
    await call(at, { input: 'Hi', store: false }, response('resp_1', 'a'));
    await call(at, { input: 'Hi' }, response('resp_2', 'a'), { outcome: 'aborted' });
    await call(at, { input: 'Hi' }, response('../resp_4', 'a'));
    await call(at, { input: 'Hi' }, undefined);
    await call(at, { input: 'Hi' }, { object: 'response' });
    assert.deepEqual(ids(at), []);
    await call(at, { input: 'Hi', store: null }, response('resp_5', 'a'));
    await call(at, { input: 'Hi', store: true }, response('resp_6', 'a'));
    assert.deepEqual(ids(at), ['resp_5', 'resp_6']);
  });

  it('is nothing without a key, or if the call was refused before its body was read', async () => {
    const at = await stage();
    const style = { name: 'responses' } as never;
    const stranger = { ...exchange({ style, outcome: 'served' }), identity: undefined };
    assert.equal(at.history.settle(stranger), undefined);
    const x = exchange({ style, identity: identityOf(MINE), outcome: 'refused' });
    Object.defineProperty(x, 'call', {
      get() {
        throw new Error('an exchange has no call before `admit`');
      },
    });
    assert.equal(at.history.settle(x), undefined);
  });

  it('is only the new input of its request', async () => {
    const at = await stage();
    await call(at, { input: 'One?' }, response('resp_1', 'One.'));
    await call(at, { input: 'Two?', previous_response_id: 'resp_1' }, response('resp_2', 'Two.'));
    const inputs = at.host.store.db.prepare('SELECT input FROM response_turn ORDER BY id').pluck().all();
    assert.deepEqual(
      inputs.map((text) => JSON.parse(text as string)),
      [[user('One?')], [user('Two?')]],
    );
  });

  it('is unchanged if a vendor reuses an id, and two accounts may have the same id', async () => {
    const at = await stage();
    await call(at, { input: 'One?' }, response('resp_1', 'mine'));
    await call(at, { input: 'Two?' }, response('resp_1', 'again'));
    await call(at, { input: 'One?' }, response('resp_1', 'theirs'), { account: THEIRS });
    assert.deepEqual(await ask(at, 'GET', ROUTE, { id: 'resp_1' }), response('resp_1', 'mine'));
    assert.deepEqual(await ask(at, 'GET', ROUTE, { id: 'resp_1', account: THEIRS }), response('resp_1', 'theirs'));
  });

  it('is nothing if gateway.yaml says 0, and the refusal says so', async () => {
    for (const keep of [0, '0s'] as const) {
      const at = await stage(keep);
      await call(at, { input: 'One?' }, response('resp_1', 'One.'));
      assert.deepEqual(ids(at), []);
      await assert.rejects(
        recalledInput(at, 'resp_1'),
        /this gateway stores no responses\. Send the whole conversation/,
      );
    }
  });
});

describe('the size of stored responses', () => {
  const kilobyte = 'x'.repeat(1_024);
  const bytesKept = (at: Stage, account = MINE): number =>
    at.host.store.db
      .prepare(
        'SELECT COALESCE(SUM(octet_length(input) + octet_length(response)), 0) FROM response_turn WHERE account_id = ?',
      )
      .pluck()
      .get(account) as number;
  /** What is wrong with the sums. */
  const faults = (at: Stage) => at.history.invariants[0]!.check(at.host.store);

  it('is limited per account: the oldest are deleted, those of others remain', async () => {
    const at = await stage('30d', { responses: { perAccount: '8kb' } });
    await call(at, { input: kilobyte }, response('resp_theirs', 'a'), { account: THEIRS });
    for (let i = 10; i < 30; i++) {
      at.host.clock.advance(1);
      await call(at, { input: kilobyte }, response(`resp_${i}`, 'a'));
      assert.ok(bytesKept(at) <= 8_192, `${i}: ${bytesKept(at)}`);
    }
    assert.ok(bytesKept(at) > 6_000);
    assert.equal(await verdict(() => recalledInput(at, 'resp_10')), '404 previous_response_not_found');
    for (const id of ['resp_25', 'resp_29']) await recalledInput(at, id);
    await recalledInput(at, 'resp_theirs', 'And?', THEIRS);
    assert.deepEqual(await faults(at), []);
  });

  it('is limited if many calls end at once', async () => {
    const at = await stage('30d', { responses: { perAccount: '8kb' } });
    await Promise.all(Array.from({ length: 30 }, (_, i) => call(at, { input: kilobyte }, response(`resp_${i}`, 'a'))));
    assert.ok(bytesKept(at) <= 8_192);
    assert.deepEqual(await faults(at), []);
  });

  it('has a smaller budget for free models', async () => {
    const at = await stage('30d', { responses: { perAccount: '100kb', perAccountFree: '4kb' } });
    await call(at, { input: kilobyte, model: 'paid' }, response('resp_paid', 'a'));
    for (let i = 0; i < 20; i++) await call(at, { input: kilobyte, model: 'free' }, response(`resp_free_${i}`, 'a'));
    assert.ok(bytesKept(at) <= 4_096 + 2_048);
    await recalledInput(at, 'resp_paid');
    assert.deepEqual(await faults(at), []);
  });

  it('excludes a request larger than the budget, and its client is told', async () => {
    const at = await stage('30d', { responses: { perAccount: '8kb' } });
    const dropped: string[] = [];
    const drop = (field: string) => void dropped.push(field);
    await call(at, { input: 'small' }, response('resp_1', 'a'), { drop });
    assert.deepEqual(dropped, []);
    await call(at, { input: kilobyte.repeat(9) }, response('resp_2', 'a'), { drop });
    assert.deepEqual([dropped, ids(at)], [['store'], ['resp_1']]);
    await call(at, { input: kilobyte.repeat(9), store: false }, response('resp_3', 'a'), { drop });
    assert.deepEqual(dropped, ['store']);
  });

  it('is a single response if its output exceeds the budget, because its client was told that it is kept', async () => {
    const at = await stage('30d', { responses: { perAccount: '8kb' } });
    await call(at, { input: 'One?' }, response('resp_1', 'a'));
    await call(at, { input: 'Two?' }, response('resp_2', kilobyte.repeat(20)));
    assert.deepEqual(ids(at), ['resp_2']);
    await call(at, { input: 'Three?' }, response('resp_3', 'a'));
    assert.deepEqual(ids(at), ['resp_3']);
    assert.deepEqual(await faults(at), []);
  });

  it('stops growing before the disk is full, including running calls; clients are told', async () => {
    const disk = { free: 4_096 };
    const at = await stage('30d', { disk });
    const dropped: string[] = [];
    const releases: (() => unknown)[] = [];
    const facts = {
      drop: (field: string) => void dropped.push(field),
      defer: (release: () => unknown) => void releases.push(release),
    };
    for (const id of ['resp_1', 'resp_2', 'resp_3', 'resp_4'])
      await call(at, { input: kilobyte }, response(id, 'a'), facts);
    assert.deepEqual([ids(at), dropped], [['resp_1', 'resp_2', 'resp_3'], ['store']]);
    for (const release of releases.splice(0)) release();
    await call(at, { input: kilobyte }, response('resp_5', 'a'), facts);
    disk.free = 0;
    await call(at, { input: 'Hi' }, response('resp_6', 'a'), facts);
    assert.deepEqual(
      [ids(at), dropped],
      [
        ['resp_1', 'resp_2', 'resp_3', 'resp_5'],
        ['store', 'store'],
      ],
    );
    // What is kept is still there.
    await recalledInput(at, 'resp_5');
  });

  it('is counted to the byte for every operation on a response', async () => {
    const at = await stage('1d');
    await call(at, { input: 'Ünï' }, response('resp_1', 'a', { status: 'in_progress' }), { issuer: 'acme' });
    await call(at, { input: 'Hi' }, response('resp_2', 'a'));
    await call(at, { input: 'again' }, response('resp_2', 'a twin'));
    assert.deepEqual(await faults(at), []);
    at.vendor = async () => ({ status: 200, body: response('resp_1', 'ä much longer end') });
    await ask(at, 'GET', ROUTE, { id: 'resp_1' });
    assert.deepEqual(await faults(at), []);
    await ask(at, 'DELETE', ROUTE, { id: 'resp_2' });
    assert.deepEqual([ids(at), await faults(at)], [['resp_1'], []]);
    at.host.store.db.exec("UPDATE response_turn SET input = '[1]'");
    assert.match((await faults(at)).join(), /account 3 is counted \d+ bytes of stored responses, and has \d+/);
  });

  it('is reduced within the hour if gateway.yaml lowers the budget', async () => {
    const at = await stage('30d', { responses: { perAccount: '2kb', perAccountFree: '2kb' } });
    const { db } = at.host.store;
    for (let i = 0; i < 200; i++) {
      const account = 1 + (i % 2);
      db.prepare(
        `INSERT INTO response_turn (account_id, id, conversation, turns, bytes, expires_ms, input, response, free)
          VALUES (?, ?, 'c', 1, 100, ?, '[]', ?, ?)`,
      ).run(account, `resp_${i}`, at.host.clock.now() + DAY_MS + i, `"${'x'.repeat(96)}"`, account % 2);
    }
    db.exec('INSERT INTO response_bytes SELECT account_id, free, 100 * COUNT(*) FROM response_turn GROUP BY 1, 2');
    assert.deepEqual(await faults(at), []);
    await at.host.start();
    at.host.clock.advance(3_600_000);
    for (let i = 0; i < 60; i++) await turn();
    assert.deepEqual([bytesKept(at, 1), bytesKept(at, 2)], [2_000, 2_000]);
    assert.deepEqual(await faults(at), []);
    await at.host.stop();
  });

  it('includes what an older gateway has kept', async () => {
    const at = await stage();
    await call(at, { input: 'One?' }, response('resp_1', 'a'));
    await call(at, { input: 'Two?' }, response('resp_2', 'a'), { account: THEIRS });
    const { db } = at.host.store;
    db.exec(`DROP TABLE response_bytes; DROP TABLE response_evicted; DROP INDEX response_turn_by_age;
      ALTER TABLE response_turn DROP COLUMN free`);
    for (const sql of migrations[1]!.sql) db.exec(sql);
    assert.deepEqual(await faults(at), []);
    assert.equal(db.prepare('SELECT COUNT(*) FROM response_bytes').pluck().get(), 2);
  });
});

describe('a large conversation', () => {
  it('counts in the memory budget before it is read, and is refused beyond it', async (t) => {
    const at = await stage();
    t.after(() => at.history.stop());
    await call(at, { input: 'x'.repeat(100_000) }, response('resp_1', 'a'));
    const body = bodyOf({ model: 'm', input: 'And?', previous_response_id: 'resp_1' });
    const held: number[] = [];
    const recalled = await at.history.recall({ ...asking(MINE, body), hold: (bytes) => void held.push(bytes) }, body);
    assert.ok(recalled!.body.textBytes > 100_000);
    assert.deepEqual([held.length, held[0]! > 100_000], [1, true]);
    const before = at.host.store.reads;
    const hold = (): never => refuse(429, 'too_much', 'Too much.');
    const refused = await verdict(() => at.history.recall({ ...asking(MINE, body), hold }, body));
    assert.deepEqual([refused, at.host.store.reads - before], ['429 too_much', 1]);
  });
});

describe('expiry', () => {
  const HOUR_MS = 3_600_000;
  /** Moves it forward, and lets the sweep of the hour after that run. */
  async function pass(at: Stage, ms: number): Promise<void> {
    at.host.clock.advance(ms - HOUR_MS);
    for (let i = 0; i < 10; i++) await turn();
    at.host.clock.advance(HOUR_MS);
    for (let i = 0; i < 40; i++) await turn();
  }

  it('hides a response at once, and deletes it within the hour', async () => {
    const at = await stage('2d');
    await call(at, { input: 'One?' }, response('resp_1', 'One.'));
    await at.host.start();
    at.host.clock.advance(2 * DAY_MS - 1);
    assert.deepEqual(await ask(at, 'GET', ROUTE, { id: 'resp_1' }), response('resp_1', 'One.'));
    at.host.clock.advance(1);
    assert.equal(await verdict(() => ask(at, 'GET', ROUTE, { id: 'resp_1' })), '404 response_not_found');
    assert.equal(await verdict(() => recalledInput(at, 'resp_1')), '404 previous_response_not_found');
    await pass(at, HOUR_MS);
    assert.deepEqual(ids(at), []);
    await at.host.stop();
  });

  it('keeps a conversation complete as long as its last turn can be continued', async () => {
    const at = await stage('2d');
    await at.host.start();
    await call(at, { input: 'One?' }, response('resp_1', 'One.'));
    await call(at, { input: 'Other?' }, response('resp_9', 'Other.'));
    await pass(at, DAY_MS);
    await call(at, { input: 'Two?', previous_response_id: 'resp_1' }, response('resp_2', 'Two.'));
    await pass(at, 1.5 * DAY_MS);
    assert.deepEqual(ids(at), ['resp_1', 'resp_2']);
    assert.match(JSON.stringify(await recalledInput(at, 'resp_2')), /One\./);
    assert.equal(await verdict(() => ask(at, 'GET', ROUTE, { id: 'resp_1' })), '404 response_not_found');
    await pass(at, DAY_MS);
    assert.deepEqual(ids(at), []);
    await at.host.stop();
  });

  it('deletes in batches, and a stop waits for one batch at most', async () => {
    const at = await stage('1d');
    for (let i = 0; i < 120; i++) await call(at, { input: 'Hi' }, response(`resp_${i}`, 'a'));
    await at.host.start();
    const { atomic } = at.host.store;
    let stopped: Promise<void> | undefined;
    Object.assign(at.host.store, {
      atomic: (...list: Parameters<typeof atomic>) => {
        stopped ??= at.host.stop();
        return atomic(...list);
      },
    });
    await pass(at, 2 * DAY_MS);
    await stopped;
    assert.equal((ids(at) as unknown[]).length, 70);
  });

  it('continues at the next hour after the store has failed', async () => {
    const at = await stage('1d');
    await call(at, { input: 'Hi' }, response('resp_1', 'a'));
    await at.host.start();
    at.host.store.db.exec('ALTER TABLE response_turn RENAME TO elsewhere');
    await pass(at, 2 * DAY_MS);
    at.host.store.db.exec('ALTER TABLE elsewhere RENAME TO response_turn');
    assert.deepEqual(ids(at), ['resp_1']);
    await pass(at, HOUR_MS);
    assert.deepEqual(ids(at), []);
    await at.host.stop();
  });
});

describe('GET and DELETE /v1/responses/:id', () => {
  it('returns the response as the client got it, byte for byte, every time', async () => {
    const at = await stage();
    const answer = response('resp_1', 'Grüße \u2028 "quoted"', { usage: null, metadata: { b: 1, a: 2 } });
    await call(at, { input: 'Hi' }, answer);
    const route = at.history.routes.find(({ method, path }) => method === 'GET' && path === ROUTE)!;
    const request = { ...caller(), params: { id: 'resp_1' }, account: { id: MINE } } as unknown as ApiRequest;
    const texts = [await route.handle(request), await route.handle(request)].map((each) => (each as Answer).body);
    assert.deepEqual(texts, [JSON.stringify(answer), JSON.stringify(answer)]);
    assert.deepEqual(at.asked, []);
  });

  it('answers 404 for an unknown id, one of another account, and an invalid one', async () => {
    const at = await stage();
    await call(at, { input: 'Hi' }, response('resp_1', 'a'), { issuer: 'main' });
    for (const [id, account] of [
      ['resp_2', MINE],
      ['resp_1', THEIRS],
      ['../resp_1', MINE],
    ] as const) {
      for (const [method, path] of [
        ['GET', ROUTE],
        ['DELETE', ROUTE],
        ['GET', `${ROUTE}/input_items`],
        ['POST', `${ROUTE}/cancel`],
      ] as const) {
        assert.equal(await verdict(() => ask(at, method, path, { id, account })), '404 response_not_found');
      }
    }
    assert.deepEqual(ids(at), ['resp_1']);
    assert.deepEqual(at.asked, []);
  });

  it('deletes a response that only we know without a request to a vendor', async () => {
    const at = await stage();
    await call(at, { input: 'Hi' }, response('resp_1', 'a'));
    const deleted = await ask(at, 'DELETE', ROUTE, { id: 'resp_1' });
    assert.deepEqual(deleted, { id: 'resp_1', object: 'response', deleted: true });
    assert.equal(await verdict(() => ask(at, 'GET', ROUTE, { id: 'resp_1' })), '404 response_not_found');
    assert.deepEqual(at.asked, []);
  });

  it('deletes at the vendor, too, and locally whatever the vendor answers', async () => {
    const at = await stage();
    for (const id of ['resp_1', 'resp_2', 'resp_3'])
      await call(at, { input: 'Hi' }, response(id, 'a'), { issuer: 'main' });
    at.vendor = async () => ({ status: 200, body: { deleted: true } });
    await ask(at, 'DELETE', ROUTE, { id: 'resp_1' });
    assert.deepEqual(at.asked, [{ channel: 'main', method: 'DELETE', path: '/responses/resp_1' }]);
    assert.deepEqual(at.warnings, []);
    at.vendor = async () => ({ status: 404, body: { error: { message: 'no such response' } } });
    await ask(at, 'DELETE', ROUTE, { id: 'resp_2' });
    at.vendor = () => Promise.reject(new Error('no answer in time'));
    await ask(at, 'DELETE', ROUTE, { id: 'resp_3' });
    assert.equal(at.warnings.length, 2);
    assert.deepEqual(ids(at), []);
  });

  it('works if the channel does not exist any more', async () => {
    const at = await stage();
    await call(at, { input: 'Hi' }, { ...response('resp_1', 'a'), status: 'queued' }, { issuer: 'gone' });
    assert.equal(((await ask(at, 'GET', ROUTE, { id: 'resp_1' })) as JsonObject).status, 'queued');
    await ask(at, 'DELETE', ROUTE, { id: 'resp_1' });
    assert.deepEqual(ids(at), []);
  });

  it('gets the state of a response in progress from the vendor, and keeps the final one', async () => {
    const at = await stage();
    const queued = { ...response('resp_1', ''), status: 'queued', background: true };
    await call(at, { input: 'Hi' }, queued, { issuer: 'main' });
    const get = () => ask(at, 'GET', ROUTE, { id: 'resp_1' });
    assert.deepEqual(await get(), queued, 'where the vendor fails it is what it was');
    at.vendor = async () => ({ status: 200, body: { ...queued, id: 'resp_other', status: 'completed' } });
    assert.deepEqual(await get(), queued, 'another response is no answer');
    at.vendor = async () => ({ status: 200, body: { ...queued, status: 'in_progress' } });
    assert.equal(((await get()) as JsonObject).status, 'in_progress');
    const ended = response('resp_1', 'Done.', { background: true });
    at.vendor = async () => ({ status: 200, body: ended });
    assert.deepEqual(await get(), ended);
    assert.deepEqual(at.asked.at(-1), { channel: 'main', method: 'GET', path: '/responses/resp_1' });
    const before = at.asked.length;
    assert.deepEqual(await get(), ended);
    assert.equal(at.asked.length, before);
  });

  it('refuses to stream a response that no vendor runs in the background', async () => {
    const at = await stage();
    await call(at, { input: 'Hi' }, response('resp_1', 'a'));
    await call(at, { input: 'Hi' }, response('resp_2', 'a'), { issuer: 'main' });
    for (const id of ['resp_1', 'resp_2']) {
      const again = () => ask(at, 'GET', ROUTE, { id, query: 'stream=true' });
      assert.equal(await verdict(again), '400 invalid_request_error');
    }
  });
});

describe('POST /v1/responses/:id/cancel', () => {
  const cancel = (at: Stage, id: string) => ask(at, 'POST', `${ROUTE}/cancel`, { id });
  const running = (id: string): JsonObject => ({ ...response(id, ''), status: 'in_progress', background: true });

  it('stops a background response, and keeps its final state', async () => {
    const at = await stage();
    await call(at, { input: 'Hi' }, running('resp_1'), { issuer: 'main' });
    assert.equal(await verdict(() => cancel(at, 'resp_1')), '502 upstream_error');
    const cancelled = { ...running('resp_1'), status: 'cancelled' };
    at.vendor = async () => ({ status: 200, body: cancelled });
    assert.deepEqual(await cancel(at, 'resp_1'), cancelled);
    assert.deepEqual(at.asked.at(-1), { channel: 'main', method: 'POST', path: '/responses/resp_1/cancel' });
    const before = at.asked.length;
    assert.deepEqual(await cancel(at, 'resp_1'), cancelled, 'cancelling twice changes nothing');
    assert.equal(at.asked.length, before);
  });

  it('is refused for every other response', async () => {
    const at = await stage();
    await call(at, { input: 'Hi' }, running('resp_1'));
    await call(at, { input: 'Hi' }, response('resp_2', 'a'), { issuer: 'main' });
    for (const id of ['resp_1', 'resp_2']) {
      assert.equal(await verdict(() => cancel(at, id)), '400 invalid_request_error');
    }
    assert.deepEqual(at.asked, []);
  });
});

describe('GET /v1/responses/:id/input_items', () => {
  interface Page {
    readonly data: readonly JsonObject[];
    readonly first_id: string | null;
    readonly last_id: string | null;
    readonly has_more: boolean;
  }
  const page = async (at: Stage, id: string, query = ''): Promise<Page> =>
    (await ask(at, 'GET', `${ROUTE}/input_items`, { id, query })) as unknown as Page;

  it('lists all input, each item with id, type and parts', async () => {
    const at = await stage();
    const result = { type: 'function_call_output', id: 'fco_1', call_id: 'c', output: '4' };
    await call(at, { input: 'One?' }, response('resp_1', 'One.'));
    const input = [result, { role: 'assistant', content: 'Well' }];
    await call(at, { input, previous_response_id: 'resp_1' }, response('resp_2', 'Two.'));
    const all = await page(at, 'resp_2', 'order=asc');
    assert.deepEqual(all.data, [
      {
        status: 'completed',
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'One?' }],
        id: 'item_1_0',
      },
      ...(response('resp_1', 'One.').output as Json[]),
      result,
      {
        status: 'completed',
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Well' }],
        id: 'item_2_1',
      },
    ]);
    assert.deepEqual([all.first_id, all.last_id, all.has_more], ['item_1_0', 'item_2_1', false]);
    const newest = await page(at, 'resp_2');
    assert.deepEqual(newest.data, all.data.toReversed());
  });

  it('is paginated', async () => {
    const at = await stage();
    await call(at, { input: ['a', 'b', 'c', 'd', 'e'].map(user) }, response('resp_1', 'a'));
    const read: unknown[] = [];
    for (let query = 'limit=2&order=asc', more = true; more; ) {
      const { data, last_id, has_more } = await page(at, 'resp_1', query);
      read.push(data.map(({ id }) => id));
      query = `limit=2&order=asc&after=${last_id}`;
      more = has_more;
    }
    assert.deepEqual(read, [['item_1_0', 'item_1_1'], ['item_1_2', 'item_1_3'], ['item_1_4']]);
    const beyond = await page(at, 'resp_1', 'order=asc&after=item_1_4');
    assert.deepEqual([beyond.data, beyond.first_id, beyond.last_id, beyond.has_more], [[], null, null, false]);
  });

  it('reads no more turns than the page needs, however long the conversation is', async () => {
    const at = await stage();
    for (let i = 1; i <= 60; i++) {
      await call(
        at,
        { input: 'Hi', ...(i > 1 && { previous_response_id: `resp_${i - 1}` }) },
        response(`resp_${i}`, 'a'),
      );
    }
    for (const [query, turns] of [
      ['limit=4', 4],
      ['limit=4&order=asc', 3],
      ['limit=4&order=asc&after=item_30_0', 4],
    ] as const) {
      const before = at.host.store.reads;
      const page = (await ask(at, 'GET', `${ROUTE}/input_items`, { id: 'resp_60', query })) as JsonObject;
      assert.equal((page.data as Json[]).length, 4);
      assert.equal(page.has_more, true);
      // The response itself, its links, and then turn by turn.
      assert.ok(at.host.store.reads - before <= 2 + turns, `${query}: ${at.host.store.reads - before}`);
    }
  });

  it('refuses an invalid page', async () => {
    const at = await stage();
    await call(at, { input: 'Hi' }, response('resp_1', 'a'));
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'order=up', 'after=item_9']) {
      assert.equal(await verdict(() => page(at, 'resp_1', query)), '400 invalid_request_error');
    }
  });
});

describe('a conversation through the whole gateway', () => {
  /** A vendor of the client's style, beside the one of chat that the kit has. */
  const acme = definePlugin({
    name: 'vendors/acme',
    api: 2,
    create: () => ({
      vendors: [
        {
          name: 'acme',
          speaks: { responses: { path: '/responses', headers: ({ key }) => ({ authorization: `Bearer ${key}` }) } },
          credentials: ({ key }) => ({ authorization: `Bearer ${key}` }),
        },
      ],
    }),
  });

  interface Opened {
    readonly gateway: TestGateway;
    readonly chat: FakeVendor;
    readonly native: FakeVendor;
    /** One request to the gateway; its status and what it answers. */
    send(method: string, path: string, body?: JsonObject, key?: string): Promise<readonly [number, JsonObject]>;
  }

  async function open(t: TestContext, config: JsonObject = {}): Promise<Opened> {
    const chat = await fakeVendor();
    let made = 0;
    const native = await fakeVendor(({ method }) =>
      method === 'POST'
        ? jsonAnswer(200, { ...response(`resp_native${++made}`, `Answer ${made}.`), model: 'm', usage: null })
        : jsonAnswer(200, { deleted: true }),
    );
    const gateway = await startGateway({
      plugins: [acme],
      config: {
        ...config,
        channels: [
          { name: 'native', vendor: 'acme', url: native.url, key: VENDOR_KEY, priority: 0 },
          { name: 'chat', vendor: 'compatible', url: chat.url, key: VENDOR_KEY, priority: 1 },
        ],
        models: { plain: { from: ['chat'], free: true }, both: { from: ['native', 'chat'], free: true } },
      },
    });
    t.after(async () => {
      await gateway.stop();
      await Promise.all([chat.close(), native.close()]);
    });
    return {
      gateway,
      chat,
      native,
      async send(method, path, body, key = gateway.key) {
        const answer = await fetch(`${gateway.url}${path}`, {
          method,
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        });
        return [answer.status, (await answer.json()) as JsonObject];
      },
    };
  }
  const codeOf = (body: JsonObject): unknown => (body.error as JsonObject | undefined)?.code;

  it('continues with a vendor that stores nothing, belongs to its account, and can be read and deleted', async (t) => {
    const { gateway, chat, send } = await open(t);
    const [status, first] = await send('POST', '/v1/responses', { model: 'plain', input: 'One?' });
    assert.equal(status, 200, JSON.stringify(first));
    const next: JsonObject = { model: 'plain', input: 'Two?', previous_response_id: first.id! };
    assert.equal((await send('POST', '/v1/responses', next))[0], 200);
    const messages = chat.requests.at(-1)!.json.messages as readonly JsonObject[];
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'user'],
    );
    assert.match(JSON.stringify(messages), /One\?.*Hello from the vendor\..*Two\?/);

    const path = `/v1/responses/${first.id}`;
    assert.deepEqual(await send('GET', path), [200, first]);
    const stranger = await gateway.customer(1_000);
    const calls = chat.requests.length;
    for (const [method, at] of [
      ['GET', path],
      ['DELETE', path],
      ['GET', `${path}/input_items`],
      ['POST', `${path}/cancel`],
    ] as const) {
      const [code, body] = await send(method, at, undefined, stranger);
      assert.deepEqual([code, codeOf(body)], [404, 'response_not_found']);
    }
    const [code, refused] = await send('POST', '/v1/responses', next, stranger);
    assert.deepEqual([code, codeOf(refused)], [404, 'previous_response_not_found']);
    assert.equal(chat.requests.length, calls);

    assert.deepEqual(await send('DELETE', path), [200, { id: first.id!, object: 'response', deleted: true }]);
    assert.equal((await send('GET', path))[0], 404);
    assert.equal((await send('POST', '/v1/responses', next))[0], 404);
  });

  it('is deleted with its key and with its account, also of a call that is running then', async (t) => {
    const { gateway, chat, send } = await open(t);
    const accounts = gateway.host.use(Accounts);
    const keys = gateway.host.use(Keys);
    const ann = await accounts.create({ name: 'ann', role: 'member' });
    const opened = [];
    for (const name of ['one', 'two', 'three', 'four'])
      opened.push(await keys.create({ accountId: ann.id, name, allowance: undefined }));
    const [one, two, three, four] = opened;
    const ask = (secret: string, more: JsonObject = {}): Promise<readonly [number, JsonObject]> =>
      send('POST', '/v1/responses', { model: 'plain', input: 'A secret question?', ...more }, secret);
    const stored = async (): Promise<number> => {
      const row = await gateway.host.store.one<{ n: number }>('SELECT COUNT(*) AS n FROM response_turn');
      assert.deepEqual(await bytesAreSummed.check(gateway.host.store), []);
      return row!.n;
    };
    const [, first] = await ask(one!.secret);
    // More than one list deletes.
    for (let n = 0; n < 70; n++) await ask(two!.secret);
    for (const { secret } of [three!, four!, { secret: gateway.key }]) await ask(secret);
    assert.equal(await stored(), 74);

    chat.next([hold(), ...jsonAnswer(200, CHAT_ANSWER)]);
    const running = ask(one!.secret);
    await chat.waitFor(() => chat.requests.at(-1)?.holding !== undefined);
    assert.equal(await keys.revoke(one!.key.id), true);
    chat.release();
    assert.equal((await running)[0], 200);
    assert.equal(await stored(), 73);
    const [status, refused] = await ask(two!.secret, { previous_response_id: first.id! });
    assert.deepEqual([status, codeOf(refused)], [404, 'previous_response_not_found']);

    assert.equal(await keys.revokeAll(ann.id, [two!.key.id, three!.key.id]), 2);
    assert.equal(await stored(), 8, 'those beyond one list are left to the sweep');
    await clearEnded(gateway.host, () => true);
    assert.equal(await stored(), 2);
    await accounts.remove(ann.id, keys.revokeSteps(ann.id));
    assert.equal(await stored(), 1);
  });

  it('keeps a streamed response, too, and none if the client opts out', async (t) => {
    const { gateway, send } = await open(t);
    const stream = await fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'plain', input: 'One?', stream: true }),
    });
    const text = await stream.text();
    const last = /^data: (.*"type":"response\.completed".*)$/m.exec(text)?.[1];
    assert.ok(last, text);
    const { response: ended } = JSON.parse(last) as { readonly response: JsonObject };
    assert.deepEqual(await send('GET', `/v1/responses/${ended.id}`), [200, ended]);
    const [, unkept] = await send('POST', '/v1/responses', { model: 'plain', input: 'One?', store: false });
    assert.equal((await send('GET', `/v1/responses/${unkept.id}`))[0], 404);
  });

  it('is not kept while the disk is nearly full: calls are served, and the client is told', async (t) => {
    const root = new URL('../../..', import.meta.url).pathname;
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-'));
    const driver = join(dir, 'store.mts');
    writeFileSync(
      driver,
      `import sqlite from '${root}plugins/stores/sqlite/index.ts';
       export default {
         ...sqlite,
         async open(options) {
           const store = await sqlite.open(options);
           return { ...store, room: async () => ({ ...(await store.room()), ...globalThis.turnpikeTestRoom }) };
         },
       };`,
    );
    const room = { disk: 1_000_000_000, free: 900_000_000 };
    Object.assign(globalThis, { turnpikeTestRoom: room });
    t.after(() => {
      Reflect.deleteProperty(globalThis, 'turnpikeTestRoom');
      rmSync(dir, { recursive: true });
    });
    const { gateway } = await open(t, { store: { driver, file: './turnpike.db' } });
    const ask = (more: JsonObject) =>
      fetch(`${gateway.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'plain', input: 'One?', ...more }),
      });
    const running = gateway.host.use(Running);
    const told: (string | null)[] = [];
    const scarce: boolean[] = [];
    for (const free of [900_000_000, 50_000_000, 900_000_000]) {
      room.free = free;
      scarce.push((await running.vitals()).store.scarce);
      for (const more of [{}, { model: 'both' }, { stream: true }, { store: false }]) {
        const answer = await ask(more);
        assert.equal(answer.status, 200);
        await answer.text();
        told.push(answer.headers.get('x-turnpike-translation'));
      }
    }
    assert.deepEqual(scarce, [false, true, false]);
    const [before, during, after] = [told.slice(0, 4), told.slice(4, 8), told.slice(8)];
    assert.deepEqual(after, before);
    assert.deepEqual(
      during.map((value) => value?.includes('store:dropped') ?? false),
      [true, true, true, false],
    );
    assert.ok(!before.join().includes('store:dropped'));
    const kept = await gateway.host.store.one<{ n: number }>('SELECT COUNT(*) AS n FROM response_turn');
    assert.equal(kept?.n, 6);
  });

  it('is sent by id to the vendor that issued it, and in full to any other', async (t) => {
    const { chat, native, send } = await open(t);
    const [, first] = await send('POST', '/v1/responses', { model: 'both', input: 'One?' });
    assert.equal(first.id, 'resp_native1');
    const next = { model: 'both', input: 'Two?', previous_response_id: 'resp_native1' };
    await send('POST', '/v1/responses', next);
    assert.deepEqual(native.requests.at(-1)!.json, next);
    native.next(errorAnswer(500));
    const last = { model: 'both', input: 'Three?', previous_response_id: 'resp_native2' };
    const [status] = await send('POST', '/v1/responses', last);
    assert.equal(status, 200);
    const said = JSON.stringify(chat.requests.at(-1)!.json.messages);
    assert.match(said, /One\?.*Answer 1\..*Two\?.*Answer 2\..*Three\?/);

    await send('DELETE', '/v1/responses/resp_native1');
    const asked = native.requests.at(-1)!;
    assert.deepEqual([asked.method, asked.path], ['DELETE', '/v1/responses/resp_native1']);
    assert.equal(asked.headers.authorization, `Bearer ${VENDOR_KEY}`);
  });
});

/** Lets everything that is ready run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
