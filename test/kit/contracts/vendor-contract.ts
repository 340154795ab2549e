/** What every vendor must do: first asked of the object itself, then seen on the wire behind a whole gateway. */

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { loadPlugin } from '../../../core/assembly/plugin-loader.ts';
import type { StyleName } from '../../../core/contracts/definitions.ts';
import type { Call, Offer, Upload } from '../../../core/contracts/formats/call.ts';
import type { Channel } from '../../../core/contracts/formats/channel.ts';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import type { Style } from '../../../core/contracts/formats/style.ts';
import type { Dialect, Vendor } from '../../../core/contracts/formats/vendor.ts';
import type { Caller, Parts, Plugin, Sections } from '../../../core/plugin.ts';
import { USUAL } from '../../../core/translation/quirks/quirks.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { callOf, NO_ATTACHMENTS, uploadOf } from '../gateway/calls.ts';
import { chatBody, chatEvents, chatRequest } from '../gateway/fixtures.ts';
import { VENDOR_KEY } from '../gateway/gateway.ts';
import { bareHost, defaultsOf } from '../gateway/plugin-alone.ts';
import { wholeAnswer } from '../vendors/script.ts';
import { type Framing, framed, shippedSpeech, streamOf, type VendorSpeech } from '../vendors/speech-wire.ts';
import {
  checkNothingLeaked,
  conversationContract,
  type SpokenStyle,
  type VendorWorld,
  vendorWorld,
} from '../vendors/vendor-wire.ts';
import { codecContract } from './codec-contract.ts';

export interface VendorFixtures {
  /** The vendor's name. */
  readonly name: string;
  /**
   * Fields of a channel that only this vendor has. A function gets the address of the fake vendor, for a plugin with a server of its own in
   * between: the channel has no `url` then.
   */
  readonly options?: JsonObject | ((upstream: string) => JsonObject);
  /**
   * How the vendor answers in a style of its own, by the style's name. Needed for each conversation style that does not ship with the
   * gateway; for those that do, the kit knows.
   */
  readonly speeches?: Readonly<Record<StyleName, VendorSpeech>>;
  /** How this vendor frames an event of a style that ships, if its streams are no server-sent events. */
  readonly frame?: Framing;
  /** Other plugins that it needs, such as the one with its style. */
  readonly plugins?: readonly Plugin<Sections>[];
  /**
   * How clients use a style that neither ships with the gateway nor is one that only vendors use: the style, and a right body that names the
   * model `public-name`.
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

/**
 * Runs the contract for one vendor of a plugin: the members of the vendor by themselves, and for each of its conversation styles whole calls
 * through a gateway. A style that the plugin brings along is checked with it.
 */
export function vendorContract(plugin: Plugin<Sections>, fixtures: VendorFixtures): void {
  describe(`vendor: ${fixtures.name}`, async () => {
    const plugins = [plugin, ...(fixtures.plugins ?? [])];
    const own = await Promise.all(plugins.map((each) => each.create(bareHost(), defaultsOf(each))));
    const vendor = vendorOf(own, fixtures.name, plugin);
    const ownStyles = new Map(own.flatMap(({ styles = [] }) => styles.map((style) => [style.name, style] as const)));
    const styles: Readonly<Record<StyleName, StyleFixture>> = { ...(await shippedStyles()), ...fixtures.styles };
    const speechOf = (style: StyleName): VendorSpeech | undefined => fixtures.speeches?.[style] ?? shippedSpeech(style);
    /** Only vendors use it: clients of chat are translated. */
    const isSpokenOnly = (style: StyleName): boolean =>
      ownStyles.has(style) && ownStyles.get(style)?.ingress === undefined;
    /** Every style the vendor speaks, with a call that goes there. */
    const dialects = (): readonly (readonly [Dialect, Call, StyleName])[] =>
      Object.entries(vendor.speaks).map(([name, dialect]) => {
        const asked = isSpokenOnly(name) ? styles.chat : styles[name];
        assert.ok(asked !== undefined && dialect !== undefined, `the fixtures lack the style '${name}'`);
        return [dialect, callOf(asked.style, { ...asked.request, user: 'client-canary' }, asked.files), name];
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
      for (const [dialect, call, style] of dialects()) {
        // The body of a translated call is what the style encodes, which is seen on the wire.
        if (isSpokenOnly(style)) continue;
        const body = { ...(call.body.tree() as JsonObject), model: 'vendor-name' };
        const before = structuredClone(body);
        const sent = dialect.request?.(body, offerOf(channelOf(fixtures)), NO_ATTACHMENTS, collectWarnings({}));
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

    if (fixtures.isRemote === false) return;
    const frame = fixtures.frame;
    const options = fixtures.options ?? {};
    if (vendor.speaks.chat !== undefined)
      bytesContract({ plugins, vendor, style: 'chat', dialect: vendor.speaks.chat, frame, options });
    for (const [style, dialect] of Object.entries(vendor.speaks)) {
      const its = ownStyles.get(style) ?? styles[style]?.style;
      if (its?.vendor === undefined || dialect === undefined) continue;
      const speech = speechOf(style);
      if (speech === undefined) {
        it(`answers in the style ${style}`, () =>
          assert.fail(`the fixtures lack \`speeches.${style}\`: how this vendor answers in it`));
        continue;
      }
      conversationContract({ plugins, vendor, style, dialect, speech, frame, options });
      if (ownStyles.has(style)) codecContract({ style: its, dialect, speech });
    }
  });
}

/** The chat style through a gateway, with a vendor that remembers what it was sent: the bytes of both sides pass as they are. */
function bytesContract(spoken: Omit<SpokenStyle, 'speech'>): void {
  describe('on the wire', () => {
    const { dialect, frame } = spoken;
    const { sign } = spoken.vendor;
    let world: VendorWorld;
    let seen = 0;
    before(async () => {
      world = await vendorWorld(spoken);
    });
    beforeEach(() => {
      seen = world.upstream.requests.length;
    });
    after(() => world.stop());

    const ask = (more: JsonObject = {}): Promise<Response> => world.ask(chatRequest({ model: 'public-name', ...more }));

    it("sends the vendor what it must know, and nothing of the client's but the body", async () => {
      world.upstream.next(wholeAnswer());
      const answer = await ask({ seed: 7, unknown_field: [1.5] });
      assert.equal(answer.status, 200);
      assert.deepEqual(await answer.json(), chatBody());
      const sent = world.upstream.requests[seen]!;
      assert.equal(sent.method, 'POST');
      assert.deepEqual(sent.json, chatRequest({ model: world.model, seed: 7, unknown_field: [1.5] }));
      checkNothingLeaked(world, seen);
      assert.ok(sign !== undefined || JSON.stringify([sent.path, sent.rawHeaders]).includes(VENDOR_KEY));
      assert.equal(sent.headers['content-type'], 'application/json');
      assert.ok(![...answer.headers].some(([, value]) => value.includes(VENDOR_KEY)));
    });

    it('passes a stream on byte by byte, with the usage only where the client asked for it', async () => {
      const events = chatEvents();
      const answer = streamOf(dialect, framed(events, dialect, frame));
      world.upstream.next(answer, answer);
      const asked = await ask({ stream: true, stream_options: { include_usage: true } });
      assert.equal(await asked.text(), events.join(''));
      const unasked = await ask({ stream: true });
      assert.equal(await unasked.text(), events.filter((_, place) => place !== events.length - 2).join(''));
      assert.deepEqual(world.upstream.requests[seen + 1]!.json.stream_options, { include_usage: true });
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

function vendorOf(parts: readonly Parts[], name: string, plugin: Plugin<Sections>): Vendor {
  const vendor = parts.flatMap(({ vendors = [] }) => vendors).find((candidate) => candidate.name === name);
  assert.ok(vendor !== undefined, `the plugin ${plugin.name} brings no vendor '${name}'`);
  return vendor;
}

/** How the styles that ship are asked, as far as one request tells of all. */
const SHIPPED: Readonly<Record<StyleName, Omit<StyleFixture, 'style'>>> = {
  chat: { request: chatRequest(PUBLIC_NAME) },
  completions: { request: { ...PUBLIC_NAME, prompt: 'Hello?' } },
  messages: { request: chatRequest({ ...PUBLIC_NAME, max_tokens: 100 }) },
  responses: { request: { ...PUBLIC_NAME, input: 'Hello?' } },
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
  const { styles = [] } = await plugin.create(bareHost(), defaultsOf(plugin));
  const known = styles.filter(({ name }) => name in SHIPPED);
  return Object.fromEntries(known.map((style) => [style.name, { style, ...SHIPPED[style.name]! }]));
}

function channelOf(fixtures: VendorFixtures, key = 'credential-one'): Channel {
  const url = 'https://vendor.example/v1';
  return {
    name: 'main',
    vendor: fixtures.name,
    url,
    key,
    weight: 1,
    priority: 0,
    timeout: { connectMs: 1_000, headMs: undefined, idleMs: 1_000, totalMs: 10_000 },
    speaks: undefined,
    streamUsage: 'include_usage',
    quirks: {},
    options: typeof fixtures.options === 'function' ? fixtures.options(url) : (fixtures.options ?? {}),
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
