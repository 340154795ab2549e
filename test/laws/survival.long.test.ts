/** Whatever a vendor says or a client asks, however broken: nothing throws that is not meant for the client's ears. */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { scanAnswer } from '../../core/bytes/json-body.ts';
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import { GatewayError } from '../../core/contracts/gateway-error.ts';
import { adapt } from '../../core/translation/adapt/adapt.ts';
import { foldParts } from '../../core/translation/conversation/fold.ts';
import { collectWarnings } from '../../core/translation/warnings/warnings.ts';
import { gemini } from '../../plugins/vendors/gemini/style.ts';
import { BODIES } from '../kit/clients/coding-clients.ts';
import { conversations, streamsOf } from '../kit/conversations/conversations.ts';
import { checkParts } from '../kit/conversations/parts.ts';
import fc from '../kit/fast-check.ts';
import { ANY_CALL } from '../kit/gateway/calls.ts';
import type { Scenario } from '../kit/speech.ts';
import { SCENARIOS, SPEECHES } from '../kit/vendors/scenarios.ts';
import { replies } from './answers.ts';
import { edited } from './edits.ts';
import { answering, CLIENTS, eventsIn, FROM, heard, MODELS, type StreamEvent, VENDORS, written } from './halves.ts';
import { law } from './law.ts';

const ASKED: JsonObject = {
  model: 'their-model',
  stream_options: { include_usage: true },
  include: ['reasoning.encrypted_content'],
  reasoning: { summary: 'auto' },
  generationConfig: { thinkingConfig: { includeThoughts: true } },
};
const scenarios: readonly Scenario[] = Object.values(SCENARIOS);

describe('a vendor', () => {
  for (const { name, spoken } of VENDORS) {
    const speech = SPEECHES[name as keyof typeof SPEECHES];

    const told = scenarios.map((scenario) =>
      eventsIn(speech.events(scenario, ASKED).join('')).map(({ name: event = null, data }) => [event, parsed(data)]),
    );
    law(`that speaks ${name} may say anything in a stream`, 200, edited(told, 4), (events) => {
      const parts = heard(spoken, asEvents(events));
      checkParts(parts);
      foldParts(parts);
    });

    const answers = scenarios.map((scenario) => speech.whole(scenario, ASKED));
    law(`that speaks ${name} may say anything in one piece`, 150, edited(answers, 4), (answer) => {
      const body = scanAnswer(Buffer.from(JSON.stringify(answer)));
      if (body === undefined) return;
      const style = name === 'gemini' ? gemini : CLIENTS.find((client) => client.name === name)!.style;
      if (style.relay.answer(body, ANY_CALL) === undefined) return;
      const reply = spoken.decodeReply(body.tree() as JsonObject, FROM, collectWarnings({}));
      if (reply === undefined) return;
      for (const { asked } of CLIENTS) asked.encodeReply(reply, answering(asked));
    });
  }

  for (const { name, asked, spoken } of CLIENTS) {
    const streams = replies.chain((reply) => streamsOf(reply, true)).map((parts) => eventsIn(written(asked, parts)));
    const damaged = streams.chain((events) =>
      edited([events.map(({ name: event = null, data }) => [event, parsed(data)])], 3),
    );
    law(`that speaks ${name} may say anything in a stream that holds whatever there is`, 80, damaged, (events) => {
      checkParts(heard(spoken, asEvents(events)));
    });

    const style = CLIENTS.find((client) => client.name === name)!.style;
    law(`that speaks ${name} may say anything that passes byte for byte`, 80, damaged, (events) => {
      const relay = style.relay.stream!({ hideUsage: true, call: ANY_CALL, warnings: collectWarnings({}) });
      const out: (Buffer | string)[] = [];
      for (const { name: event, data } of asEvents(events)) {
        relay.see(Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`), out);
      }
      relay.close(out);
      relay.fail(new GatewayError(502, 'upstream_error', 'x'), 'id');
    });
  }
});

describe('a client', () => {
  for (const { name, asked } of CLIENTS) {
    law(`of ${name} may ask anything, and is told what is wrong with it`, 400, edited(BODIES[name], 3), (body) => {
      if (typeof body !== 'object' || body === null || Array.isArray(body)) return;
      refusing(() => asked.decodeRequest(body as JsonObject, collectWarnings(asked.names)));
    });

    const asking = fc.tuple(edited(BODIES[name], 2), fc.constantFrom(...MODELS));
    law(`of ${name} may ask any model anything that it understands`, 400, asking, ([body, { style, spoken, to }]) => {
      if (typeof body !== 'object' || body === null || Array.isArray(body)) return;
      refusing(() => {
        const warnings = collectWarnings(asked.names);
        const { conversation } = adapt(asked.decodeRequest(body as JsonObject, warnings), style, to, warnings);
        JSON.stringify(spoken.encodeRequest(conversation, to, warnings));
      });
    });
  }

  law('may have any conversation with any model', 60, conversations, (conversation) => {
    for (const { style, spoken, to } of MODELS) {
      refusing(() => {
        const warnings = collectWarnings({});
        JSON.stringify(spoken.encodeRequest(adapt(conversation, style, to, warnings).conversation, to, warnings));
      });
    }
  });

  // What the gateway itself puts between the two never needs them to have been fitted.
  law('that is not understood at once is refused in words', 200, fc.tuple(conversations, fc.nat()), ([any, i]) => {
    const { spoken, to } = MODELS[i % MODELS.length]!;
    refusing(() => void spoken.encodeRequest(any, to, collectWarnings({})));
  });
});

/** Runs it; whatever it throws must tell the client which field is wrong. */
function refusing(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    assert.equal(error.status, 400);
    assert.notEqual(error.param, '', error.message);
    assert.ok(error.message.includes(error.param), error.message);
  }
}

function parsed(data: string): Json {
  return data === '[DONE]' ? data : (JSON.parse(data) as Json);
}

/** Damaged events as they come from the wire; a text in the place of one is its data as it stands. */
function asEvents(events: Json): readonly StreamEvent[] {
  return (Array.isArray(events) ? (events as readonly Json[]) : [events]).map((event): StreamEvent => {
    const [name, data] = Array.isArray(event) ? (event as readonly Json[]) : [null, event];
    return {
      name: typeof name === 'string' ? name : undefined,
      data: typeof data === 'string' ? data : JSON.stringify(data ?? null),
    };
  });
}
