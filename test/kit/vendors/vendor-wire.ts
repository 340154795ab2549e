/** What must arrive between a client and a vendor: whole conversations through a whole gateway, in every style that the vendor has for them. */

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { StyleName } from '../../../core/contracts/definitions.ts';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import type { Dialect, Vendor } from '../../../core/contracts/formats/vendor.ts';
import type { Plugin, Sections } from '../../../core/plugin.ts';
import { ASKED, ASKED_WITHOUT_TOOLS, chatAsked, checkArrived, warnedFields } from '../contracts/asked.ts';
import { checkHeard, type HeardStream, readChat, readChatStream, readSoFar } from '../contracts/heard.ts';
import { defaultConfig, startGateway, type TestGateway, VENDOR_KEY } from '../gateway/gateway.ts';
import type { Scenario } from '../speech.ts';
import { type FakeVendor, fakeVendor } from './fake-vendor.ts';
import { fin, hold, inPieces, jsonAnswer, lastChunk, rst, type Script } from './script.ts';
import {
  CALLING,
  CONTRACT_SCENARIOS,
  type Framing,
  framed,
  GREETING,
  saidIn,
  saysIds,
  streamOf,
  type VendorSpeech,
} from './speech-wire.ts';

/** A vendor in one of its styles. */
export interface SpokenStyle {
  readonly plugins: readonly Plugin<Sections>[];
  readonly vendor: Vendor;
  readonly style: StyleName;
  readonly dialect: Dialect;
  readonly speech: VendorSpeech;
  readonly frame: Framing | undefined;
  /** Fields of a channel that only this vendor has; a function of the fake vendor's address where the channel has no `url`. */
  readonly options: JsonObject | ((upstream: string) => JsonObject);
}

/** A gateway whose only channel is at a fake vendor, and a client that says more than a vendor may get. */
export interface VendorWorld {
  readonly upstream: FakeVendor;
  readonly gateway: TestGateway;
  /** The vendor's name for the model. */
  readonly model: string;
  /** A request of the chat style, with what no vendor may get of it in every header. */
  ask(body: JsonObject, signal?: AbortSignal): Promise<Response>;
  stop(): Promise<void>;
}

/** What a client sends, and no vendor may get: in headers and in the query. */
export const CLIENT_SECRETS: readonly string[] = ['client-canary', '192.0.2.77'];

/** Starts such a gateway, for one style of a vendor. */
export async function vendorWorld(spoken: Omit<SpokenStyle, 'speech' | 'frame'>): Promise<VendorWorld> {
  const { plugins, vendor, style, dialect, options } = spoken;
  const upstream = await fakeVendor();
  const model = dialect.models?.[0]?.replaceAll('*', 'name') ?? 'vendor-name';
  const { pipeline } = defaultConfig([]) as { readonly pipeline: readonly string[] };
  const its = typeof options === 'function' ? options(upstream.url) : { ...options, url: upstream.url };
  const channel = { name: 'main', vendor: vendor.name, key: VENDOR_KEY, speaks: [style] };
  const gateway = await startGateway({
    plugins,
    config: {
      pipeline: pipeline.filter((name) => !name.startsWith('vendors/')),
      channels: [{ ...its, ...channel }],
      models: { 'public-name': { from: [{ main: model }], free: true } },
    },
  });
  return {
    upstream,
    gateway,
    model,
    ask: (body, signal) =>
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
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    async stop() {
      await gateway.stop();
      await upstream.close();
    },
  };
}

/** Fails if a request at the vendor has anything of the client's head, or the client's key. */
export function checkNothingLeaked({ upstream, gateway }: VendorWorld, place: number): void {
  const { path, rawHeaders, body } = upstream.requests[place]!;
  for (const [where, text] of [
    ['path', path],
    ['headers', JSON.stringify(rawHeaders)],
    ['body', body.toString()],
  ] as const) {
    assert.ok(!text.includes(gateway.key), `leaked to the vendor: the client's key is in the ${where}`);
    for (const secret of CLIENT_SECRETS) {
      assert.ok(!text.includes(secret), `leaked to the vendor: a header or the query of the client is in the ${where}`);
    }
  }
}

/** Runs the contract of one style. */
export function conversationContract(spoken: SpokenStyle): void {
  const { style, dialect, speech, frame } = spoken;
  const asked = speech.whole(CALLING, {}) === undefined ? ASKED_WITHOUT_TOOLS : ASKED;
  const request = (stream: boolean): JsonObject => chatAsked({ ...asked, stream });
  const events = (scenario: Scenario, body: JsonObject) => framed(speech.events(scenario, body), dialect, frame);
  // Cut before it is framed: frames may encode the text.
  const beginning = (body: JsonObject) => framed(cut(speech.events(GREETING, body)), dialect, frame);

  describe(`conversations in the style ${style}`, () => {
    let world: VendorWorld;
    let seen = 0;
    before(async () => {
      world = await vendorWorld(spoken);
    });
    beforeEach(() => {
      seen = world.upstream.requests.length;
      world.upstream.forget();
    });
    after(() => world.stop());

    /** What a client reads of a stream that the vendor answers with. */
    const streamed = async (script: (body: JsonObject) => Script): Promise<HeardStream> => {
      world.upstream.next(({ json }) => script(json));
      return readSoFar(await world.ask(request(true)), readChatStream);
    };

    for (const [name, scenario] of Object.entries<Scenario>(CONTRACT_SCENARIOS)) {
      if (speech.whole(scenario, {}) === undefined) continue;
      it(`bring ${name} to the client, whole`, async () => {
        let said = '';
        world.upstream.next(({ json }) => {
          const body = speech.whole(scenario, json)!;
          said = JSON.stringify(body);
          return jsonAnswer(200, body);
        });
        const answer = await world.ask(request(false));
        checkHeard(readChat((await answer.json()) as JsonObject), saidIn(said, scenario, speech));
      });

      it(`bring ${name} to the client, streamed`, async () => {
        let said = '';
        const heard = await streamed((body) => {
          said = speech.events(scenario, body).join('');
          return streamOf(dialect, events(scenario, body));
        });
        checkHeard(heard, saidIn(said, scenario, speech));
      });
    }

    it('are the same wherever the bytes of a stream are cut, in the middle of a character as well', async () => {
      let said = '';
      const heard = await streamed((body) => {
        said = speech.events(GREETING, body).join('');
        return inPieces(streamOf(dialect, events(GREETING, body)), 1);
      });
      checkHeard(heard, saidIn(said, GREETING, speech));
    });

    it('bring the whole request to the vendor, in order, and name what they leave out', async () => {
      for (const stream of [false, true]) {
        world.upstream.next(({ json }) =>
          stream ? streamOf(dialect, events(GREETING, json)) : jsonAnswer(200, speech.whole(GREETING, json)!),
        );
        const answer = await world.ask(request(stream));
        await answer.text();
        const sent = world.upstream.requests.at(-1)!;
        checkArrived(sent.json, asked, { warned: warnedFields(answer), hasIds: saysIds(speech) });
      }
    });

    it("name the model as the vendor does, and never by the client's name for it", async () => {
      world.upstream.next(({ json }) => jsonAnswer(200, speech.whole(GREETING, json)!));
      await world.ask(request(false));
      const { path, body } = world.upstream.requests[seen]!;
      const sent = decodeURIComponent(path) + body.toString();
      assert.ok(sent.includes(world.model), `the model ${world.model} is neither in the path nor in the body`);
      assert.ok(!sent.includes('public-name'), "the client's name for the model is sent to the vendor");
    });

    it("send nothing of the client's to the vendor but the body", async () => {
      for (const stream of [false, true]) {
        const place = world.upstream.requests.length;
        world.upstream.next(({ json }) =>
          stream ? streamOf(dialect, events(GREETING, json)) : jsonAnswer(200, speech.whole(GREETING, json)!),
        );
        await (await world.ask(request(stream))).text();
        checkNothingLeaked(world, place);
      }
    });

    it('have an event with the text as it stands, so that these tests can cut a stream behind it', () => {
      cut(speech.events(GREETING, {}));
    });

    it('never look complete if the vendor breaks off', async () => {
      // By a reset, by an end of the connection, and by an end that HTTP thinks is a good one.
      for (const [end, isTold] of [
        // Clients of chat repeat a request whose connection was lost, and show an error event to the user.
        [rst(), false],
        [fin(), false],
        [lastChunk(), true],
      ] as const) {
        const heard = await streamed((body) => streamOf(dialect, beginning(body), end));
        assert.ok(heard.text.startsWith('Hello'), 'the client reads what came before');
        assert.deepEqual(
          [heard.end, heard.error !== undefined, heard.isCut],
          [undefined, isTold, true],
          'swallowed: the vendor broke off in the middle, and the stream of the client was not cut',
        );
      }
    });

    const { errorEvent } = speech;
    if (errorEvent !== undefined) {
      it('never look complete if the vendor gives up in the middle of a stream', async () => {
        const heard = await streamed((body) => {
          const failed = framed([errorEvent('The vendor gives up.')], dialect, frame);
          return streamOf(dialect, [...beginning(body), ...failed]);
        });
        assert.deepEqual(
          [heard.end, heard.error !== undefined],
          [undefined, true],
          "swallowed: the vendor's error in the middle of a stream did not reach the client",
        );
      });
    }

    it('show the client an error about its request, and never what is between us and the vendor', async () => {
      for (const [status, shown] of [
        [400, 400],
        [401, 502],
        [403, 502],
        [500, 502],
      ] as const) {
        world.upstream.next(jsonAnswer(status, speech.error(status, `No: ${VENDOR_KEY}`)));
        const answer = await world.ask(request(false));
        assert.equal(answer.status, shown, `the vendor answers ${status}`);
        const text = JSON.stringify([await answer.text(), ...answer.headers]);
        assert.ok(!text.includes(VENDOR_KEY), "leaked to the client: the channel's key");
      }
    });

    it('end at the vendor when the client leaves', async () => {
      world.upstream.next(({ json }) => streamOf(dialect, beginning(json), hold()));
      const client = new AbortController();
      const answer = await world.ask(request(true), client.signal);
      await answer.body!.getReader().read();
      client.abort();
      const left = () => world.upstream.requests[seen]?.state === 'aborted';
      await world.upstream
        .waitFor(left)
        .catch(() => assert.fail('ignored: the client has left, and the call goes on at the vendor'));
    });
  });
}

/** The beginning of a stream: up to the first piece of its text. */
function cut(events: readonly (string | Buffer)[]): readonly (string | Buffer)[] {
  const at = events.findIndex((event) => event.includes(GREETING.text![0]!));
  assert.ok(at >= 0, `no event of the speech has the text ${GREETING.text![0]} as it stands`);
  return events.slice(0, at + 1);
}
