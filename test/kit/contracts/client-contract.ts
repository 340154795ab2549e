/** What every style with clients must do: whole conversations of its clients through a gateway, with a vendor of another style. */

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { StyleName } from '../../../core/contracts/definitions.ts';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import type { Style } from '../../../core/contracts/formats/style.ts';
import type { Plugin, Sections } from '../../../core/plugin.ts';
import { defaultConfig, startGateway, type TestGateway } from '../gateway/gateway.ts';
import { bareHost, defaultsOf } from '../gateway/plugin-alone.ts';
import type { Scenario } from '../speech.ts';
import { chatSpeech } from '../vendors/chat-speech.ts';
import { type FakeVendor, fakeVendor } from '../vendors/fake-vendor.ts';
import { errorAnswer, eventStream, fin, jsonAnswer, lastChunk, rst } from '../vendors/script.ts';
import { CONTRACT_SCENARIOS, GREETING } from '../vendors/speech-wire.ts';
import { ASKED, ASKED_WITHOUT_TOOLS, type Asked, checkArrived, warnedFields } from './asked.ts';
import { checkHeard, type Expected, type Heard, type HeardStream, readSoFar } from './heard.ts';

/** How clients use a style: the requests that they send, and what they read of the answers. Written without the style's own code. */
export interface ClientFixtures {
  /** The style's name. */
  readonly name: StyleName;
  /** A request of a client. */
  request(asked: Asked): ClientRequest;
  /** What a client reads of a whole answer, or of an error: the JSON of the body. */
  read(body: JsonObject): Heard;
  /** What a client reads of a stream, from its first byte to wherever it ended. `end` is undefined if the stream did not come to a good end. */
  readStream(stream: string): Heard;
  /** What the style has no place for; then it is neither asked nor expected. */
  readonly lacks?: readonly ('tools' | 'reasoning' | 'refusal' | 'cached' | 'callIds' | 'errors')[];
  /** Other plugins that the style needs. */
  readonly plugins?: readonly Plugin<Sections>[];
}

/** A request of a client: POST. */
export interface ClientRequest {
  /** With its query: `/v1/chat/completions`. */
  readonly path: string;
  /** Beside `content-type`; the key is in `authorization` unless a header here has it. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** Runs the contract for one style of a plugin. Its vendor uses the chat style. */
export function clientContract(plugin: Plugin<Sections>, fixtures: ClientFixtures): void {
  const lacks = new Set(fixtures.lacks);
  const asked = lacks.has('tools') ? ASKED_WITHOUT_TOOLS : ASKED;

  describe(`clients of the style ${fixtures.name}`, () => {
    let upstream: FakeVendor;
    let gateway: TestGateway;
    let style: Style;
    before(async () => {
      const { styles = [] } = await plugin.create(bareHost(), defaultsOf(plugin));
      const found = styles.find(({ name }) => name === fixtures.name);
      assert.ok(found !== undefined, `the plugin ${plugin.name} brings no style '${fixtures.name}'`);
      assert.ok(found.ingress !== undefined && found.client !== undefined, `the style ${found.name} has no clients`);
      style = found;
      upstream = await fakeVendor();
      gateway = await startGateway({
        vendor: upstream,
        plugins: [plugin, ...(fixtures.plugins ?? [])],
        config: {
          channels: (defaultConfig([upstream]).channels as readonly JsonObject[]).filter(({ name }) => name === 'main'),
          models: { 'public-name': { from: [{ main: 'vendor-name' }], free: true } },
        },
      });
    });
    beforeEach(() => upstream.forget());
    after(async () => {
      await gateway.stop();
      await upstream.close();
    });

    const ask = (more: Partial<Asked> = {}, key = gateway.key): Promise<Response> => {
      const { path, headers, body } = fixtures.request({ ...asked, ...more });
      return fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    };
    const whole = async (scenario: Scenario): Promise<Heard> => {
      upstream.next(({ json }) => jsonAnswer(200, chatSpeech.whole(scenario, json)));
      return fixtures.read((await (await ask()).json()) as JsonObject);
    };
    const streamed = async (scenario: Scenario, ...end: Parameters<typeof eventStream>[0]): Promise<HeardStream> => {
      upstream.next(({ json }) => {
        const events = chatSpeech.events(scenario, json);
        const begun = 1 + events.findIndex((event) => event.includes(scenario.text?.[0] ?? '[DONE]'));
        return eventStream(end.length === 0 ? events : [...events.slice(0, begun), ...end]);
      });
      return readSoFar(await ask({ stream: true }), fixtures.readStream);
    };
    const expected = (scenario: Scenario): Expected => ({
      scenario,
      callId: (call) => (lacks.has('callIds') ? undefined : chatSpeech.callId(call)),
      model: 'vendor-name',
      tellsRefusal: scenario.refusal !== undefined && !lacks.has('refusal'),
      tellsReasoning: scenario.reasoning !== undefined && !lacks.has('reasoning'),
      tellsInput: true,
      tellsOutput: true,
      tellsCached: !lacks.has('cached'),
    });

    for (const [name, scenario] of Object.entries<Scenario>(CONTRACT_SCENARIOS)) {
      const isLacking =
        (scenario.calls !== undefined && lacks.has('tools')) ||
        (scenario.refusal !== undefined && lacks.has('refusal'));
      if (isLacking) continue;
      it(`read ${name}, whole`, async () => checkHeard(await whole(scenario), expected(scenario)));
      it(`read ${name}, streamed`, async () => checkHeard(await streamed(scenario), expected(scenario)));
    }

    it('bring the whole request to the vendor, in order, and are told what is left out', async () => {
      for (const stream of [false, true]) {
        const answer = await ask({ stream });
        await answer.text();
        assert.equal(answer.status, 200);
        const sent = upstream.requests.at(-1)!.json;
        const { names } = style.client!;
        checkArrived(sent, asked, { warned: warnedFields(answer), names, hasIds: !lacks.has('callIds') });
        assert.equal(sent.model, 'vendor-name', 'the wrong model was asked');
        assert.equal(sent.stream === true, stream, 'a stream was asked for, or was not');
      }
    });

    it('never take an answer for complete if the vendor breaks off', async () => {
      for (const end of [rst(), fin(), lastChunk()]) {
        const heard = await streamed(GREETING, end);
        assert.ok(heard.text.startsWith('Hello'), 'the client reads what came before');
        // A style whose clients repeat the request after a cut has no event for it.
        checkBroken(heard, 'the vendor broke off in the middle', heard.isCut || heard.error !== undefined);
      }
    });

    it('never take an answer for complete if the vendor gives up in the middle of a stream', async () => {
      checkBroken(
        await streamed(GREETING, chatSpeech.errorEvent('The vendor gives up.')),
        'the vendor gave up in the middle',
      );
    });

    function checkBroken(heard: Heard, what: string, isTold = heard.error !== undefined): void {
      assert.equal(heard.end, undefined, `swallowed: ${what}, and the client reads a good end`);
      if (!lacks.has('errors')) assert.ok(isTold, `swallowed: ${what}, and the client reads no error`);
    }

    it('are told what is wrong, in their own format', async () => {
      upstream.next(errorAnswer(400, 'The vendor minds the field x.'));
      const refused = await ask();
      assert.equal(refused.status, 400);
      const { error } = fixtures.read((await refused.json()) as JsonObject);
      assert.match(error ?? '', /The vendor minds the field x/, "lost: the vendor's words about the request");
      const stranger = await ask({}, 'sk-wrong');
      assert.equal(stranger.status, 401);
      assert.notEqual(fixtures.read((await stranger.json()) as JsonObject).error, undefined);
    });

    it('ask in whatever way they like: a wrong field is refused, and nothing else happens', async () => {
      const { path, headers, body } = fixtures.request(asked);
      for (const name of Object.keys(body)) {
        for (const value of [7, 'x', [], {}, [7], [[]], true]) {
          const answer = await fetch(`${gateway.url}${path}`, {
            method: 'POST',
            headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
            body: JSON.stringify({ ...body, [name]: value }),
          });
          await answer.text();
          const what = `\`${name}\`: ${JSON.stringify(value)}`;
          assert.ok([200, 400, 404].includes(answer.status), `${what} is answered with ${answer.status}`);
        }
      }
    });
  });
}
