/** What every vendor must do: first asked of the object itself, then seen on the wire behind a whole gateway. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Call, Offer, StyleName, Upload } from '../../core/contracts/call.ts';
import type { JsonObject } from '../../core/contracts/json.ts';
import type { Style } from '../../core/contracts/style.ts';
import type { Channel, Dialect, Vendor } from '../../core/contracts/vendor.ts';
import { loadPlugin } from '../../core/loader.ts';
import type { Caller, Host, Plugin, Sections } from '../../core/plugin.ts';
import { checkValue } from '../../core/sdk.ts';
import { collectLosses } from '../../core/translation/losses.ts';
import { USUAL } from '../../core/translation/quirks.ts';
import { callOf, NO_ATTACHMENTS, uploadOf } from './calls.ts';
import { fakeClock } from './clock.ts';
import { type FakeVendor, fakeVendor } from './fake-vendor.ts';
import { CHAT_DELTAS, chatBody, chatEvents, chatRequest } from './fixtures.ts';
import { defaultConfig, startGateway, type TestGateway, VENDOR_KEY } from './gateway.ts';
import { errorAnswer, eventStream, hold, streamAnswer, wholeAnswer } from './script.ts';

export interface VendorFixtures {
  /** The vendor's name. */
  readonly name: string;
  /** Fields of a channel that only this vendor has. */
  readonly options?: JsonObject;
  /**
   * How each style it speaks is asked: the style, and a right body that names the model `public-name`. Those that ship with the
   * gateway are known but for the translated ones: of these only `chat` is.
   */
  readonly styles?: Readonly<Record<StyleName, StyleFixture>>;
  /** False for a vendor that answers itself, so that nothing of it can be seen on the wire. */
  readonly isRemote?: boolean;
}

/** A style, and how it is asked. */
export interface StyleFixture {
  readonly style: Style;
  readonly request: JsonObject;
  /** It comes as a form with these. */
  readonly files?: readonly Upload[];
}

/** Runs the contract for one vendor of a plugin. A vendor that speaks `chat` as most do is watched on the wire, too. */
export function vendorContract(plugin: Plugin<Sections>, fixtures: VendorFixtures): void {
  describe(`vendor: ${fixtures.name}`, async () => {
    const vendor = await vendorOf(plugin, fixtures.name);
    const styles: Readonly<Record<StyleName, StyleFixture>> = { ...(await shippedStyles()), ...fixtures.styles };
    /** Every style the vendor speaks, with how it is asked. */
    const dialects = (): readonly (readonly [Dialect, Call])[] =>
      Object.entries(vendor.speaks).map(([name, dialect]) => {
        const asked = styles[name];
        assert.ok(asked !== undefined && dialect !== undefined, `the fixtures lack the style '${name}'`);
        return [dialect, callOf(asked.style, { ...asked.request, user: 'client-canary' }, asked.files)];
      });

    it('speaks at least one style, and by default none that it does not speak', () => {
      assert.match(vendor.name, /^[a-z0-9][a-z0-9-]*$/);
      assert.ok(dialects().length > 0);
      for (const style of vendor.defaultStyles ?? []) assert.ok(style in vendor.speaks, style);
    });

    it('has an address of its own, or says by its silence that a channel needs one', () => {
      const url = vendor.url?.();
      if (url !== undefined && fixtures.isRemote !== false) assert.match(url, /^https?:\/\/[^?#]*[^/?#]$/);
    });

    it('asks at a path below the address', () => {
      for (const [dialect, call] of dialects()) {
        const path =
          typeof dialect.path === 'string' ? dialect.path : dialect.path(call, offerOf(channelOf(fixtures)), CALLER);
        assert.match(path, /^\/[^\s#]*$/);
      }
    });

    it('is asked for numbers of tokens at a path below the address, and reads none where there is none', () => {
      for (const dialect of Object.values(vendor.speaks)) {
        if (dialect?.count === undefined) continue;
        assert.match(dialect.count.path('vendor/name'), /^\/[^\s#]*$/);
        for (const answer of [null, 7, [], {}]) assert.equal(dialect.count.read(answer), undefined);
        // There is no call then.
        checkHeaders(dialect.headers(channelOf(fixtures), undefined, CALLER));
      }
    });

    it("takes its credential from the channel, and says nothing of the client's", () => {
      // Of one that signs, no header has to say the credential itself.
      const needsNone = vendor.keyless === true || vendor.sign !== undefined;
      for (const [dialect, call] of dialects()) {
        const headers = dialect.headers(channelOf(fixtures, 'credential-one'), call, CALLER);
        const others = dialect.headers(channelOf(fixtures, 'credential-two'), call, undefined);
        assert.equal(needsNone || JSON.stringify(headers).includes('credential-one'), true);
        assert.ok(!JSON.stringify(others).includes('credential-one'));
        assert.ok(!JSON.stringify(headers).includes('client-canary'));
        checkHeaders(headers);
      }
      if (vendor.credentials !== undefined) {
        const headers = vendor.credentials(channelOf(fixtures, 'credential-one'));
        assert.ok(needsNone || JSON.stringify(headers).includes('credential-one'));
        checkHeaders(headers);
      }
    });

    it('keeps the name that the offer has for the model where it writes the body itself', () => {
      for (const [dialect, call] of dialects()) {
        const body = { ...(call.body.tree() as JsonObject), model: 'vendor-name' };
        const before = structuredClone(body);
        const sent = dialect.request?.(body, offerOf(channelOf(fixtures)), NO_ATTACHMENTS, collectLosses({}));
        if (sent !== undefined && 'model' in sent) assert.equal(sent.model, 'vendor-name');
        assert.deepEqual(body, before, 'another attempt must find the body as it was');
      }
    });

    it('asks another channel where this one cannot, and only there', () => {
      const judge = vendor.judge?.bind(vendor);
      if (judge === undefined) return;
      for (const status of [401, 402, 403, 408, 429, 500, 502, 503, 504, 529]) {
        assert.notEqual(judge(status, {}, Buffer.alloc(0)), 'relay', `status ${status}`);
      }
      assert.ok(['relay', undefined].includes(judge(400, {}, Buffer.alloc(0))), 'status 400');
    });

    if (fixtures.isRemote !== false && vendor.speaks.chat !== undefined) onTheWire(plugin, fixtures, vendor);
  });
}

/** The chat style through a gateway, with a vendor that remembers what it was sent. */
function onTheWire(plugin: Plugin<Sections>, fixtures: VendorFixtures, { sign }: Vendor): void {
  describe('on the wire', () => {
    let upstream: FakeVendor;
    let gateway: TestGateway;
    let seen = 0;
    before(async () => {
      upstream = await fakeVendor();
      const { pipeline } = defaultConfig([]) as { readonly pipeline: readonly string[] };
      gateway = await startGateway({
        plugins: [plugin],
        config: {
          pipeline: pipeline.filter((name) => !name.startsWith('vendors/')),
          channels: [
            {
              ...fixtures.options,
              name: 'main',
              vendor: fixtures.name,
              url: upstream.url,
              key: VENDOR_KEY,
              speaks: ['chat'],
            },
          ],
          models: { 'public-name': { from: [{ main: 'vendor-name' }], free: true } },
        },
      });
    });
    beforeEach(() => {
      seen = upstream.requests.length;
    });
    after(async () => {
      await gateway.stop();
      await upstream.close();
    });

    const ask = (more: JsonObject = {}, signal?: AbortSignal): Promise<Response> =>
      fetch(`${gateway.url}/v1/chat/completions?key=client-canary`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${gateway.key}`,
          'content-type': 'application/json',
          cookie: 'session=client-canary',
          'user-agent': 'client-canary',
          'x-client': 'client-canary',
          'x-forwarded-for': '192.0.2.77',
        },
        body: JSON.stringify(chatRequest({ model: 'public-name', ...more })),
        ...(signal === undefined ? {} : { signal }),
      });

    it("sends the vendor what it must know, and nothing of the client's but the body", async () => {
      upstream.next(wholeAnswer());
      const answer = await ask({ seed: 7, unknown_field: [1.5] });
      assert.equal(answer.status, 200);
      assert.deepEqual(await answer.json(), chatBody());
      const sent = upstream.requests[seen]!;
      assert.equal(sent.method, 'POST');
      assert.deepEqual(sent.json, chatRequest({ model: 'vendor-name', seed: 7, unknown_field: [1.5] }));
      const head = JSON.stringify([sent.path, sent.rawHeaders]);
      for (const secret of ['client-canary', gateway.key, '192.0.2.77']) assert.ok(!head.includes(secret), secret);
      assert.ok(sign !== undefined || head.includes(VENDOR_KEY));
      assert.equal(sent.headers['content-type'], 'application/json');
      assert.ok(![...answer.headers].some(([, value]) => value.includes(VENDOR_KEY)));
    });

    it('passes a stream on byte by byte, with the usage only where the client asked for it', async () => {
      const events = chatEvents();
      upstream.next(streamAnswer(), streamAnswer());
      const asked = await ask({ stream: true, stream_options: { include_usage: true } });
      assert.equal(await asked.text(), events.join(''));
      const unasked = await ask({ stream: true });
      assert.equal(await unasked.text(), events.filter((_, place) => place !== events.length - 2).join(''));
      assert.deepEqual(upstream.requests[seen + 1]!.json.stream_options, { include_usage: true });
    });

    it('never shows the client what is between us and the vendor', async () => {
      for (const status of [401, 403, 500]) {
        upstream.next(errorAnswer(status, `Bad key ${VENDOR_KEY}.`));
        const answer = await ask();
        assert.equal(answer.status, 502);
        assert.ok(!(await answer.text()).includes(VENDOR_KEY));
      }
    });

    it('leaves the vendor when the client leaves', async () => {
      upstream.next(eventStream([...chatEvents().slice(0, 2), hold()]));
      const client = new AbortController();
      const answer = await ask({ stream: true }, client.signal);
      const reader = answer.body!.getReader();
      const { value } = await reader.read();
      assert.ok(Buffer.from(value ?? []).includes(CHAT_DELTAS[0]!));
      client.abort();
      await upstream.waitFor(() => upstream.requests[seen]?.state === 'aborted');
    });
  });
}

/** A client that says more than a vendor may hear. */
const CALLER: Caller = {
  method: 'POST',
  path: '/v1/chat/completions',
  query: new URLSearchParams('key=client-canary'),
  headers: { authorization: 'Bearer client-canary', cookie: 'client-canary', 'user-agent': 'client-canary' },
  ip: '192.0.2.77',
};
const PUBLIC_NAME = { model: 'public-name' };

async function vendorOf(plugin: Plugin<Sections>, name: string): Promise<Vendor> {
  const parts = await plugin.create(bareHost(), {});
  const vendor = parts.vendors?.find((candidate) => candidate.name === name);
  assert.ok(vendor !== undefined, `the plugin ${plugin.name} brings no vendor '${name}'`);
  return vendor;
}

/** How the styles that ship are asked, as far as one request tells of all. */
const SHIPPED: Readonly<Record<StyleName, Omit<StyleFixture, 'style'>>> = {
  chat: { request: chatRequest(PUBLIC_NAME) },
  embeddings: { request: { ...PUBLIC_NAME, input: 'Hello?' } },
  images: { request: { ...PUBLIC_NAME, prompt: 'A gate.' } },
  edits: { request: { ...PUBLIC_NAME, prompt: 'Open it.', image: 'https://images.example/gate.png' } },
  speech: { request: { ...PUBLIC_NAME, input: 'Hello?', voice: 'alloy' } },
  transcription: { request: PUBLIC_NAME, files: [uploadOf('file', 'hello.mp3', Buffer.from('la la'))] },
  translation: { request: PUBLIC_NAME, files: [uploadOf('file', 'hello.mp3', Buffer.from('la la'))] },
};

/** The gateway's own styles, loaded as its pipeline would: the kit imports no plugin. */
async function shippedStyles(): Promise<Readonly<Record<StyleName, StyleFixture>>> {
  const plugin = await loadPlugin('styles', '.');
  const config: Record<string, unknown> = {};
  for (const [section, schema] of Object.entries(plugin.sections ?? {})) {
    const { default: blank = {}, ...checked } = schema;
    config[section] = structuredClone(blank);
    checkValue(checked, config[section]);
  }
  const { styles = [] } = await plugin.create(bareHost(), config);
  const known = styles.filter(({ name }) => name in SHIPPED);
  return Object.fromEntries(known.map((style) => [style.name, { style, ...SHIPPED[style.name]! }]));
}

function bareHost(): Host {
  const quiet = (): void => {};
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet, hide: quiet };
  return { clock: fakeClock(), log } as unknown as Host;
}

function channelOf(fixtures: VendorFixtures, key = 'credential-one'): Channel {
  return {
    name: 'main',
    vendor: fixtures.name,
    url: 'https://vendor.example/v1',
    key,
    weight: 1,
    priority: 0,
    timeout: { connectMs: 1_000, headMs: undefined, idleMs: 1_000, totalMs: 10_000 },
    speaks: undefined,
    streamUsage: 'include_usage',
    quirks: {},
    options: fixtures.options ?? {},
  };
}

function offerOf(channel: Channel): Offer {
  return { channel, model: 'vendor-name', style: 'chat', quirks: USUAL, strict: false, priced: 'public-name' };
}

/** Headers as they may stand on the wire; those of the body and of the connection are not a vendor's to set. */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    assert.match(name, /^[a-z0-9-]+$/);
    assert.match(value, /^[\x20-\x7e]+$/);
    assert.ok(!['content-length', 'content-type', 'transfer-encoding', 'connection', 'host'].includes(name), name);
  }
}
