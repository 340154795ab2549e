/** What every style must do, whatever it looks like on the wire. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEventSplitter } from '../../../core/bytes/event-splitter.ts';
import { scanAnswer, scanJson } from '../../../core/bytes/json-body.ts';
import type { Call } from '../../../core/contracts/formats/call.ts';
import type { Json, JsonBody, JsonObject } from '../../../core/contracts/formats/json.ts';
import type { EventKind, StreamRelay, Style } from '../../../core/contracts/formats/style.ts';
import type { Usage } from '../../../core/contracts/formats/usage.ts';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import { errorEvent, errorIn, keepAliveOf } from '../../../core/http/responses.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { ANY_CALL, arriving, bodyOf, callOf, patchTo } from '../gateway/calls.ts';

/** Examples of one style; the contract asks the style about them. */
export interface StyleFixtures {
  /** A request body that is right in every way and names the model `public-name`; `stream` is left out. */
  readonly request: JsonObject;
  /** Bodies that must be refused, each with the field that is wrong. */
  readonly refused: readonly (readonly [body: JsonObject, param: string])[];
  /** A whole answer and what it used. */
  readonly answer: { readonly body: JsonObject; readonly usage: Usage };
  /** The same answer as a stream, whose usage the client asked for: every event with its blank line, the last among them. */
  readonly stream: readonly string[];
  /** Which event of the stream (by its place) holds nothing but the usage; undefined where the style has none such. */
  readonly usageEvent?: number;
  /** A vendor's error inside an answer, and inside a stream. */
  readonly error: { readonly body: JsonObject; readonly event: string; readonly message: string };
}

/** Runs the contract. */
export function styleContract(style: Style, fixtures: StyleFixtures): void {
  const request = (more: JsonObject = {}): JsonBody => bodyOf({ ...fixtures.request, ...more });
  const headers = style.ingress?.headers ?? {};
  const call = callOf(style, fixtures.request);

  describe(`style: ${style.name}`, () => {
    it('has a path', () => {
      assert.match(style.ingress?.path ?? '', /^(\/[\w.:*-]+)+$/);
    });

    it('reads what is asked', () => {
      const whole = style.ingress!.read(request(), arriving(headers));
      assert.equal(whole.model, 'public-name');
      assert.equal(whole.stream, false);
      assert.equal(style.ingress!.read(request({ stream: true }), arriving(headers)).stream, true);
      assert.ok(Number.isInteger(whole.bounds.choices) && whole.bounds.choices >= 1);
      assert.equal(whole.bounds.media, 0);
    });

    it('refuses a request without the headers it needs, and names them', () => {
      for (const name of Object.keys(headers)) {
        const { [name]: _, ...others } = headers;
        for (const given of [others, { ...others, [name]: '' }]) {
          assert.throws(
            () => style.ingress!.read(request(), arriving(given)),
            (error) => error instanceof GatewayError && error.status === 400 && error.param === name,
            `${name} is needed`,
          );
        }
      }
    });

    it('bounds the input by its text, and lets no field go uncounted', () => {
      const { inputBytes } = style.ingress!.read(request(), arriving(headers)).bounds;
      const longer = style.ingress!.read(
        request({ some_field_of_a_vendor: 'x'.repeat(1_000) }),
        arriving(headers),
      ).bounds;
      assert.ok(inputBytes > 0);
      assert.ok(longer.inputBytes >= inputBytes + 1_000);
    });

    it('lets fields pass that it does not know', () => {
      assert.equal(
        style.ingress!.read(request({ some_field_of_a_vendor: { deep: [1] } }), arriving(headers)).model,
        'public-name',
      );
    });

    it('refuses what is wrong with 400 and the name of the field', () => {
      for (const [body, param] of fixtures.refused) {
        assert.throws(
          () => style.ingress!.read(bodyOf(body), arriving(headers)),
          (error) =>
            error instanceof GatewayError &&
            error.status === 400 &&
            error.param === param &&
            error.message.includes(param),
          `${JSON.stringify(body)} should be refused because of \`${param}\``,
        );
      }
    });

    it("sends the vendor's name for the model, and changes nothing else", () => {
      const body = request();
      const sent = body.patched(style.relay.patch!(body, patchTo({ model: 'vendor/name "x"', askUsage: false })));
      assert.deepEqual(JSON.parse(sent.toString()), { ...fixtures.request, model: 'vendor/name "x"' });
      assert.equal(
        body.patched(style.relay.patch!(body, patchTo({ model: 'public-name', askUsage: false }))),
        body.bytes,
      );
    });

    it("asks for a stream's usage without losing what the client wrote, and not where there is no stream", () => {
      const body = request({ stream: true });
      const sent = scanJson(body.patched(style.relay.patch!(body, patchTo({ model: 'm', askUsage: true }))));
      for (const name of body.members.keys()) {
        if (name !== 'model') assert.deepEqual(sent.get(name), body.get(name));
      }
      // Asked once is asked enough.
      assert.equal(sent.patched(style.relay.patch!(sent, patchTo({ model: 'm', askUsage: true }))), sent.bytes);
      const whole = request();
      assert.equal(
        whole.patched(style.relay.patch!(whole, patchTo({ model: 'public-name', askUsage: true }))),
        whole.bytes,
      );
    });

    it('reads a whole answer', () => {
      const facts = style.relay.answer(answerOf(fixtures.answer.body), call);
      assert.deepEqual(facts?.usage, fixtures.answer.usage);
      assert.ok(facts.textLength() > 0);
      assert.equal(facts.error, undefined);
    });

    it('sees an error in the clothes of an answer, and knows what is no answer at all', () => {
      assert.equal(style.relay.answer(answerOf(fixtures.error.body), call)?.error?.message, fixtures.error.message);
      assert.equal(style.relay.answer(answerOf({}), call), undefined);
      assert.equal(style.relay.answer(answerOf({ hello: 'world' }), call), undefined);
    });

    it('passes a stream byte for byte, and measures it like the whole answer', () => {
      const { relay, kinds, text } = relayed(style, fixtures.stream);
      assert.equal(text, fixtures.stream.join(''));
      assert.deepEqual(relay.usage(), fixtures.answer.usage);
      assert.equal(relay.textLength(), style.relay.answer(answerOf(fixtures.answer.body), call)?.textLength());
      assert.equal(relay.error(), undefined);
      assert.match(kinds.join(' '), /^(hold )*(pass )+last$/);
    });

    it('measures the same however the lines end and whatever comments come between', () => {
      const crlf = fixtures.stream.flatMap((event) => [': comment "{\r\n\r\n', event.replaceAll('\n', '\r\n')]);
      const { relay, kinds, text } = relayed(style, crlf);
      assert.equal(text, crlf.join(''));
      assert.deepEqual(relay.usage(), fixtures.answer.usage);
      assert.equal(relay.textLength(), relayed(style, fixtures.stream).relay.textLength());
      assert.equal(kinds.at(-1), 'last');
      assert.ok(!kinds.slice(0, -1).includes('last'), 'only the last event is the last');
    });

    it('commits to nothing while there are only comments', () => {
      assert.deepEqual(relayed(style, [': one\n\n', ': two\n\n']).kinds, ['hold', 'hold']);
    });

    it('hides the event that holds only usage from a client that did not ask for it', () => {
      const { relay, text } = relayed(style, fixtures.stream, true);
      assert.deepEqual(relay.usage(), fixtures.answer.usage);
      const shown = fixtures.stream.filter((_, place) => place !== fixtures.usageEvent);
      assert.equal(text, shown.join(''));
    });

    it('has not seen the end of a stream that broke off', () => {
      const { relay, kinds, text } = relayed(style, fixtures.stream.slice(0, 2));
      assert.ok(!kinds.includes('last'), 'there was no last event');
      const out: (Buffer | string)[] = [];
      assert.equal(relay.close(out), 'broken');
      assert.deepEqual(out, []);
      assert.equal(text, fixtures.stream.slice(0, 2).join(''));
    });

    it('has seen no answer where only the end of one came', () => {
      const { relay, kinds } = relayed(style, fixtures.stream.slice(-1));
      if (kinds[0] === 'last') assert.notEqual(relay.answer?.(), undefined, 'its last event holds the whole answer');
      else assert.equal(relay.close([]), 'broken');
    });

    it('sees that the vendor gives up inside a stream, and tells the client', () => {
      const { relay, kinds, text } = relayed(style, [...fixtures.stream.slice(0, 2), fixtures.error.event]);
      assert.equal(kinds.at(-1), 'error');
      assert.equal(relay.error()?.message, fixtures.error.message);
      assert.ok(text.endsWith(fixtures.error.event), 'in the words of the vendor');
    });

    /** What a fresh relay makes of one event. */
    const seen = (event: string) => {
      const out: (Buffer | string)[] = [];
      const kind = style.relay.stream!({ hideUsage: true, call, warnings: collectWarnings({}) }).see(
        Buffer.from(event, 'latin1'),
        out,
      );
      return { kind, out };
    };

    it('survives whatever a vendor sends', () => {
      for (const event of ['\n', ':\n\n', 'data: null\n\n', 'data: []\n\n', 'x\n\n', '\xff\n\n']) {
        const { kind, out } = seen(event);
        assert.ok(kind === 'pass' || kind === 'hold', JSON.stringify(event));
        assert.deepEqual(out, [Buffer.from(event, 'latin1')]);
      }
    });

    it('keeps data that is not JSON from the client, and breaks off where it is a part of an event', () => {
      for (const words of ['', ' "\\', ' <html>', ' ping']) {
        assert.deepEqual(seen(`data:${words}\n\n`), { kind: 'hold', out: [] }, words);
      }
      assert.deepEqual(seen('data: {\n\n'), { kind: 'broken', out: [] });
      for (const event of fixtures.stream) {
        const cut = `${event.trimEnd().slice(0, -1)}\n\n`;
        const { kind, out } = seen(cut);
        assert.deepEqual([kind, out], [event.includes('[DONE]') ? 'hold' : 'broken', []], cut);
      }
    });

    it('takes an error in words for one, and leaves its spelling to core', () => {
      const { relay, kinds, text } = relayed(style, ['event: error\ndata: <html>Bad gateway\n\n']);
      assert.deepEqual([kinds, text, relay.error()?.message], [['error'], '', '<html>Bad gateway']);
    });

    it('ends a stream that has begun with an error of its own kind', () => {
      const error = new GatewayError(502, 'upstream_broke_off', 'The answer "broke" off.');
      const begun = relayed(style, fixtures.stream.slice(0, 2)).relay.fail(error, 'request-1');
      assert.equal(eventsIn([begun]).join(''), begun);
      const { relay, kinds } = relayed(style, [...fixtures.stream.slice(0, 2), ...eventsIn([begun])]);
      assert.equal(kinds.at(-1), 'error');
      assert.equal(relay.error()?.message, 'The answer "broke" off.');
    });

    it('spells errors so that clients find their message and code', () => {
      const error = new GatewayError(429, 'rate_limit_exceeded', 'Slow "down".', { param: 'model' });
      const spelt = errorIn(style, error, 'request-1') as { readonly error: JsonObject };
      assert.equal(spelt.error.message, 'Slow "down".');
      assert.equal(spelt.error.code, 'rate_limit_exceeded');
      for (const member of ['message', 'type', 'param', 'code']) assert.equal(typeof spelt.error[member], 'string');
      const { relay, kinds } = relayed(style, [errorEvent(error, style, 'request-1')]);
      assert.equal(kinds.at(-1), 'error');
      assert.equal(relay.error()?.message, 'Slow "down".');
    });

    it('writes whole events of its own', () => {
      const error = errorEvent(new GatewayError(502, 'upstream_error', 'x'), style, 'request-1');
      for (const text of [error, keepAliveOf(style)]) assert.equal(eventsIn([text]).join(''), text);
      assert.deepEqual(relayed(style, [keepAliveOf(style)]).kinds, ['hold']);
    });
  });
}

function answerOf(value: Json): JsonBody {
  return scanAnswer(Buffer.from(JSON.stringify(value)))!;
}

/** The whole events in a text, whether it ends in one or not. */
function eventsIn(texts: readonly string[]): readonly string[] {
  return createEventSplitter({ maxBytes: 1_000_000 })
    .push(Buffer.from(texts.join('')))!
    .map(String);
}

/** What a fresh relay makes of a stream. */
export function relayed(
  style: Style,
  events: readonly string[],
  hideUsage = false,
  call: Call = ANY_CALL,
): { readonly relay: StreamRelay; readonly kinds: readonly EventKind[]; readonly text: string } {
  const relay = style.relay.stream!({ hideUsage, call, warnings: collectWarnings({}) });
  const out: (Buffer | string)[] = [];
  const kinds = events.map((event) => relay.see(Buffer.from(event), out));
  return { relay, kinds, text: out.map(String).join('') };
}
