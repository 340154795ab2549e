/** Every figure that a vendor can report, as a number that is none: calls end well or cleanly, statistics answer, and all sums are exact. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV, root, type Visitor, verify } from '../../kit/console/console.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { ledgerFaults } from '../../kit/gateway/reconcile.ts';
import type { SpeechName } from '../../kit/speech.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { SCENARIOS, SPEECHES } from '../../kit/vendors/scenarios.ts';
import { eventStream, type Script, sized } from '../../kit/vendors/script.ts';

/** As they are on the wire. */
const VALUES = ['9007199254740992', '1e999', '"NaN"', '-1e6', '"12"', 'null', '{}'];
const MARK = '"@figure@"';

/** Members of usage that the usual answers do not have. */
const MORE: Readonly<Record<SpeechName, JsonObject>> = {
  chat: {
    prompt_tokens_details: { cached_tokens: 1, audio_tokens: 1, image_tokens: 1, cache_write_tokens: 1 },
    completion_tokens_details: { reasoning_tokens: 1, audio_tokens: 1, image_tokens: 1 },
    prompt_cache_hit_tokens: 1,
    server_tool_use: { web_search_requests: 1 },
    num_search_queries: 1,
  },
  responses: {
    input_tokens_details: { cached_tokens: 1, audio_tokens: 1, cache_write_tokens: 1 },
    output_tokens_details: { reasoning_tokens: 1, audio_tokens: 1 },
  },
  messages: {
    cache_creation_input_tokens: 2,
    cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 1 },
    server_tool_use: { web_search_requests: 1, web_fetch_requests: 1, code_execution_requests: 1 },
    iterations: [{ type: 'compaction', input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 1 }],
  },
  gemini: {
    toolUsePromptTokenCount: 1,
    thoughtsTokenCount: 1,
    cachedContentTokenCount: 1,
    promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 1 }],
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1 }],
  },
};

/** The places of numbers inside usage. */
function figuresOf(value: Json, isInside = false): readonly (readonly (string | number)[])[] {
  if (typeof value === 'number') return isInside ? [[]] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    figuresOf(inner as Json, isInside || /usage|^duration$|^seconds$/i.test(name)).map((rest) => [name, ...rest]),
  );
}

/** The JSON text with something else at some places. */
function spoiled(answer: Json, places: readonly (readonly (string | number)[])[], value: string): string {
  const copy = structuredClone(answer);
  for (const place of places) {
    let at = copy as Record<string | number, unknown>;
    for (const name of place.slice(0, -1)) at = at[name] as Record<string | number, unknown>;
    at[place.at(-1)!] = JSON.parse(MARK);
  }
  return JSON.stringify(copy).replaceAll(MARK, value);
}

/** Adds what the usual usage does not have. */
function enriched(value: Json, more: JsonObject): Json {
  if (Array.isArray(value)) return value.map((each) => enriched(each, more));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const isUsage = /^usage(Metadata)?$/.test(name) && typeof inner === 'object' && inner !== null;
      return [name, isUsage ? { ...(inner as JsonObject), ...more } : enriched(inner as Json, more)];
    }),
  );
}

/** An answer of a vendor: one text of JSON for each event; whole ones are one. */
interface Answered {
  readonly name: string;
  readonly path: string;
  readonly ask: JsonObject | FormData;
  readonly events: readonly Json[];
  script(texts: readonly string[]): Script;
}

const whole = (texts: readonly string[]): Script => sized(200, 'application/json', texts[0]!);

describe('figures that vendors report', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  let boss: Visitor;
  before(async () => {
    vendor = await fakeVendor();
    const channel = { url: vendor.url, key: VENDOR_KEY };
    const price = { input: 1.37, output: 2.11, cacheRead: 0.3 };
    gateway = await startGateway({
      config: {
        pipeline: [...CONSOLE_PIPELINE, 'vendors/anthropic', 'vendors/gemini'],
        console: PATIENT,
        channels: [
          {
            ...{ name: 'chat', vendor: 'compatible', ...channel },
            speaks: ['chat', 'embeddings', 'images', 'speech', 'transcription'],
          },
          { name: 'responses', vendor: 'compatible', ...channel, speaks: ['responses'] },
          { name: 'messages', vendor: 'anthropic', ...channel },
          { name: 'gemini', vendor: 'gemini', ...channel },
        ],
        models: {
          chat: { from: ['chat'], price: { ...price, perUse: { web_search: 0.01 } } },
          responses: { from: ['responses'], price },
          messages: { from: [{ messages: 'claude-sonnet-4-5' }], price },
          gemini: { from: [{ gemini: 'gemini-2.5-flash' }], price },
          painter: { from: ['chat'], price: { ...price, perImage: { default: 0.04 } } },
          drawer: { from: ['chat'], price },
          listener: { from: ['chat'], price: { perSecond: 0.0001 } },
          hearer: { from: ['chat'], price },
        },
      },
      env: ROOT_ENV,
    });
    boss = await verify(await root(gateway));
  });
  after(async () => {
    await gateway?.stop();
    await vendor?.close();
  });

  /** Sends a call; it must end well, or with an error that is not ours. */
  async function call({ name, path, ask }: Answered, script: Script, what: string): Promise<void> {
    vendor.next(script);
    const isForm = ask instanceof FormData;
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'anthropic-version': '2023-06-01',
        ...(!isForm && { 'content-type': 'application/json' }),
      },
      body: isForm ? ask : JSON.stringify(ask),
    });
    const text = await response.text().catch((error: unknown) => assert.fail(`${name}: ${what}: ${error}`));
    assert.ok([200, 502].includes(response.status), `${name}: ${what}: ${response.status} ${text}`);
    assert.doesNotMatch(text, /internal_error/, `${name}: ${what}`);
  }

  async function each(answered: Answered): Promise<void> {
    const figures = answered.events.map((event) => figuresOf(event));
    assert.ok(figures.flat().length > 0, `${answered.name}: it reports no figure`);
    const names = new Set(figures.flat().map((place) => place.join('.').replace(/^.*usage(Metadata)?\./i, '')));
    for (const value of VALUES) {
      for (const one of [...names, undefined]) {
        const texts = answered.events.map((event, i) => {
          const hit = figures[i]!.filter((place) => one === undefined || place.join('.').endsWith(one));
          return spoiled(event, hit, value);
        });
        await call(answered, answered.script(texts), `${one ?? 'everything'} is ${value}`);
      }
    }
  }

  const question = { messages: [{ role: 'user', content: 'Hello?' }], max_tokens: 16 };
  const SCENARIO = SCENARIOS.reasoning;
  const CLIENTS: Readonly<Record<string, { readonly path: string; readonly ask: JsonObject }>> = {
    chat: { path: '/v1/chat/completions', ask: question },
    responses: { path: '/v1/responses', ask: { input: 'Hello?', max_output_tokens: 16 } },
    messages: { path: '/v1/messages', ask: question },
  };
  for (const [wire, speech] of Object.entries(SPEECHES) as [SpeechName, (typeof SPEECHES)[SpeechName]][]) {
    const ofWire = { ...(CLIENTS[wire] ?? CLIENTS.chat!) };
    it(`of ${wire} in whole answers, for its own clients`, async () => {
      const answer = enriched(speech.whole(SCENARIO, {}), MORE[wire]);
      const ask = { ...ofWire.ask, model: wire };
      await each({ name: wire, path: ofWire.path, ask, events: [answer], script: whole });
    });
    it(`of ${wire} in streams, for chat clients`, async () => {
      const { path, ask } = CLIENTS.chat!;
      const told = speech.events(SCENARIO, { stream_options: { include_usage: true } });
      const parsed = told.map((event) => /^data: (\{.*\})$/m.exec(event)?.[1]);
      const events = parsed.map((text) => (text === undefined ? null : enriched(JSON.parse(text), MORE[wire])));
      await each({
        name: `${wire}, streamed`,
        path,
        ask: { ...ask, model: wire, stream: true },
        events,
        script: (texts) =>
          eventStream(
            told.map((event, i) => (parsed[i] === undefined ? event : event.replace(parsed[i], () => texts[i]!))),
          ),
      });
    });
  }

  it('of embeddings, images and audio', async () => {
    const usage = { prompt_tokens: 5, total_tokens: 5 };
    const embedding = {
      object: 'list',
      model: 'm',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      usage,
    };
    await each({
      ...{ name: 'embeddings', path: '/v1/embeddings', ask: { model: 'chat', input: 'Hello' } },
      ...{ events: [embedding], script: whole },
    });
    const image = {
      created: 1,
      data: [{ b64_json: 'iVBORw0KGgo=' }],
      usage: {
        ...{ input_tokens: 5, output_tokens: 7, total_tokens: 12 },
        input_tokens_details: { text_tokens: 2, image_tokens: 3, cached_tokens: 1 },
        output_tokens_details: { image_tokens: 6, reasoning_tokens: 1 },
      },
      svg_usage: { input_tokens: 1, output_tokens: 1, reasoning_tokens: 1 },
    };
    for (const model of ['painter', 'drawer']) {
      const ask = { model, prompt: 'A cat', n: 1 };
      await each({ name: `images of ${model}`, path: '/v1/images/generations', ask, events: [image], script: whole });
    }
    const form = (model: string): FormData => {
      const data = new FormData();
      data.set('model', model);
      data.set('file', new Blob([Buffer.alloc(4_000)]), 'a.mp3');
      return data;
    };
    const byTokens = {
      text: 'Hello',
      usage: {
        type: 'tokens',
        ...{ input_tokens: 5, output_tokens: 7, total_tokens: 12 },
        input_token_details: { text_tokens: 2, audio_tokens: 3 },
      },
    };
    const bySeconds = { text: 'Hello', duration: 3.5, usage: { type: 'duration', seconds: 3 } };
    for (const model of ['listener', 'hearer']) {
      for (const answer of [byTokens, bySeconds]) {
        const name = `audio of ${model} by ${answer.usage.type}`;
        await each({ name, path: '/v1/audio/transcriptions', ask: form(model), events: [answer], script: whole });
      }
    }
  });

  it('leave sums that are exact, in every statistic', async () => {
    const rows = gateway.rows(
      'SELECT CAST(charged AS TEXT) AS charged, CAST(input AS TEXT) AS input, CAST(output AS TEXT) AS output FROM usage_record',
    );
    assert.ok(rows.length > 800, `${rows.length} calls`);
    const sumOf = (name: string): bigint => rows.reduce((sum, row) => sum + BigInt(String(row[name] ?? 0)), 0n);
    const [bucket] = gateway.rows(`SELECT CAST(used AS TEXT) AS used FROM bucket WHERE kind = 'account' AND owner = 1`);
    assert.equal(sumOf('charged'), BigInt(String(bucket!.used)));
    const failed: string[] = [];
    const { body } = await boss.get('/api/openapi.json');
    const now = Math.floor(Date.now() / 1_000);
    for (const [path, { get }] of Object.entries(body.paths) as [string, { get?: JsonObject }][]) {
      if (get === undefined || !/^\/api\/(data|log|usage|team|user\/statement|user\/self|alerts)/.test(path)) continue;
      if (path.includes('{') || /live|export|token\/?$|print$/.test(path)) continue;
      const has = (name: string) => ((get.parameters ?? []) as { name: string }[]).some((each) => each.name === name);
      const query = has('start_timestamp') ? `?start_timestamp=${now - 86_400}&end_timestamp=${now + 60}` : '';
      const answer = await boss.get(`${path}${query}`);
      if (![200, 400, 404].includes(answer.status)) failed.push(`${path}: ${answer.status} ${answer.text}`);
      if (answer.status === 400) failed.push(`${path}: ${answer.text}`);
    }
    assert.deepEqual(failed, []);
    const stat = await boss.data('GET', `/api/log/stat?start_timestamp=${now - 86_400}&end_timestamp=${now + 60}`);
    const micro = (quota: number): bigint => BigInt(Math.round(quota * 1e6));
    assert.equal(micro(stat.quota), sumOf('charged'), JSON.stringify(stat));
    assert.deepEqual(ledgerFaults(gateway.storeFile), []);
    assert.doesNotMatch(gateway.log.join('\n'), /budgets could not be checked|too large for a number/);
  });
});
