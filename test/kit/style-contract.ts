/** What every style must do, whatever it looks like on the wire. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, JsonObject, Usage } from '../../core/contracts/call.ts';
import type { EventKind, StreamMeter, Style } from '../../core/contracts/style.ts';
import { GatewayError } from '../../core/errors.ts';
import { createEventSplitter } from '../../core/events.ts';
import { type JsonBody, scanAnswer, scanJson } from '../../core/json.ts';

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

  describe(`style: ${style.name}`, () => {
    it('stands at a path below /v1', () => {
      assert.match(style.path, /^\/v1(\/[a-z]+)+$/);
    });

    it('reads what is asked', () => {
      const whole = style.read(request(), {});
      assert.equal(whole.model, 'public-name');
      assert.equal(whole.stream, false);
      assert.equal(style.read(request({ stream: true }), {}).stream, true);
      assert.ok(Number.isInteger(whole.bounds.choices) && whole.bounds.choices >= 1);
      assert.equal(whole.bounds.media, 0);
    });

    it('bounds the input by its text, and lets no field go uncounted', () => {
      const { inputBytes } = style.read(request(), {}).bounds;
      const longer = style.read(request({ some_field_of_a_vendor: 'x'.repeat(1_000) }), {}).bounds;
      assert.ok(inputBytes > 0);
      assert.ok(longer.inputBytes >= inputBytes + 1_000);
    });

    it('lets fields pass that it does not know', () => {
      assert.equal(style.read(request({ some_field_of_a_vendor: { deep: [1] } }), {}).model, 'public-name');
    });

    it('refuses what is wrong with 400 and the name of the field', () => {
      for (const [body, param] of fixtures.refused) {
        assert.throws(
          () => style.read(bodyOf(body), {}),
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
      const sent = body.patched(style.patch(body, { model: 'vendor/name "x"', askUsage: false }));
      assert.deepEqual(JSON.parse(sent.toString()), { ...fixtures.request, model: 'vendor/name "x"' });
      assert.equal(body.patched(style.patch(body, { model: 'public-name', askUsage: false })), body.bytes);
    });

    it("asks for a stream's usage without losing what the client wrote, and not where there is no stream", () => {
      const body = request({ stream: true });
      const sent = scanJson(body.patched(style.patch(body, { model: 'm', askUsage: true })));
      for (const name of body.members.keys()) {
        if (name !== 'model') assert.deepEqual(sent.get(name), body.get(name));
      }
      // Asked once is asked enough.
      assert.equal(sent.patched(style.patch(sent, { model: 'm', askUsage: true })), sent.bytes);
      const whole = request();
      assert.equal(whole.patched(style.patch(whole, { model: 'public-name', askUsage: true })), whole.bytes);
    });

    it('reads a whole answer', () => {
      const facts = style.answer(answerOf(fixtures.answer.body));
      assert.deepEqual(facts?.usage, fixtures.answer.usage);
      assert.ok(facts.textLength > 0);
      assert.equal(facts.error, undefined);
    });

    it('sees an error in the clothes of an answer, and knows what is no answer at all', () => {
      assert.equal(style.answer(answerOf(fixtures.error.body))?.error?.message, fixtures.error.message);
      assert.equal(style.answer(answerOf({})), undefined);
      assert.equal(style.answer(answerOf({ hello: 'world' })), undefined);
    });

    it('measures a stream like the whole answer', () => {
      const { meter, kinds } = measure(style, fixtures.stream, false);
      assert.deepEqual(meter.usage, fixtures.answer.usage);
      assert.equal(meter.textLength, style.answer(answerOf(fixtures.answer.body))?.textLength);
      assert.equal(meter.finished, true);
      assert.equal(meter.error, undefined);
      assert.deepEqual(kinds, [...fixtures.stream.slice(1).map(() => 'pass'), 'last']);
    });

    it('measures the same however the lines end and whatever comments come between', () => {
      const crlf = fixtures.stream.flatMap((event) => [': comment "{\r\n\r\n', event.replaceAll('\n', '\r\n')]);
      const { meter, kinds } = measure(style, crlf, false);
      assert.deepEqual(meter.usage, fixtures.answer.usage);
      assert.equal(meter.textLength, measure(style, fixtures.stream, false).meter.textLength);
      assert.equal(kinds.at(-1), 'last');
      assert.ok(kinds.slice(0, -1).every((kind) => kind === 'pass'));
    });

    it('hides the event that holds only usage from a client that did not ask for it', () => {
      const { meter, kinds } = measure(style, fixtures.stream, true);
      assert.deepEqual(meter.usage, fixtures.answer.usage);
      const hidden = kinds.flatMap((kind, place) => (kind === 'hide' ? [place] : []));
      assert.deepEqual(hidden, fixtures.usageEvent === undefined ? [] : [fixtures.usageEvent]);
    });

    it('has not seen the end of a stream that broke off', () => {
      const { meter, kinds } = measure(style, fixtures.stream.slice(0, 2), false);
      assert.equal(meter.finished, false);
      assert.ok(!kinds.includes('last'));
    });

    it('sees that the vendor gives up inside a stream', () => {
      const { meter, kinds } = measure(style, [...fixtures.stream.slice(0, 2), fixtures.error.event], false);
      assert.equal(kinds.at(-1), 'error');
      assert.equal(meter.error?.message, fixtures.error.message);
    });

    it('survives whatever a vendor sends', () => {
      for (const event of [
        '\n',
        ':\n\n',
        'data:\n\n',
        'data: {\n\n',
        'data: "\\\n\n',
        'data: null\n\n',
        'data: []\n\n',
        'x\n\n',
        '\xff\n\n',
      ]) {
        const meter = style.meter({ hideUsage: true });
        assert.equal(meter.see(Buffer.from(event, 'latin1')), 'pass', JSON.stringify(event));
      }
    });

    it('spells errors so that clients find their message and code', () => {
      const error = new GatewayError(429, 'rate_limit_exceeded', 'Slow "down".', { param: 'model' });
      const spelt = style.error(error, 'request-1') as { readonly error: JsonObject };
      assert.equal(spelt.error.message, 'Slow "down".');
      assert.equal(spelt.error.code, 'rate_limit_exceeded');
      for (const member of ['message', 'type', 'param', 'code']) assert.equal(typeof spelt.error[member], 'string');
      const { meter, kinds } = measure(style, [style.errorEvent(error, 'request-1')], false);
      assert.equal(kinds.at(-1), 'error');
      assert.equal(meter.error?.message, 'Slow "down".');
    });

    it('writes whole events of its own', () => {
      const error = style.errorEvent(new GatewayError(502, 'upstream_error', 'x'), 'request-1');
      for (const text of [error, style.terminal, style.keepAlive]) assert.equal(eventsIn([text]).join(''), text);
      assert.equal(measure(style, [style.terminal], false).kinds.at(-1), 'last');
      assert.equal(measure(style, [style.keepAlive], false).kinds[0], 'pass');
    });
  });
}

function bodyOf(value: Json): JsonBody {
  return scanJson(Buffer.from(JSON.stringify(value)));
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

/** What a fresh meter says to each event of a stream. */
export function measure(
  style: Style,
  events: readonly string[],
  hideUsage: boolean,
): { readonly meter: StreamMeter; readonly kinds: readonly EventKind[] } {
  const meter = style.meter({ hideUsage });
  return { meter, kinds: events.map((event) => meter.see(Buffer.from(event))) };
}
