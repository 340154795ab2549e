/**
 * Values that only pass through are what they were, between every style of clients and every style of vendors, whole and streamed: arguments
 * of calls, results, and numbers in schemas, also those that `JSON.parse` changes.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exactJson, parseExactly } from '../../core/bytes/exact.ts';
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import { adapt } from '../../core/translation/adapt/adapt.ts';
import { createRestorer } from '../../core/translation/adapt/restore.ts';
import { collectWarnings } from '../../core/translation/warnings/warnings.ts';
import fc from '../kit/fast-check.ts';
import { assertArguments, collectedArguments, quote, REPLIES, REQUESTS, SCHEMA, STREAMS } from './exact-values.ts';
import { answering, CLIENTS, FROM, targetOf, VENDORS } from './halves.ts';
import { law } from './law.ts';

const { always, literals } = {
  always: ['null', 'true', '"x"', '[]', '""', '{}', '0.5', '7', '"\\\\\\"{"'],
  literals: ['9007199254740993', '-0', '1.0', '1e400', '1e3', '-12345678901234567890.50', '0.1000000000000000055511'],
};
const names = fc.constantFrom('"a"', '"b"', '"2"', '"1"', '"__proto__"', '"input"', '"schema"');

/** JSON texts of objects as models write them, with what parsing changes: numbers, order, and members that are there twice. */
const objects = fc
  .letrec<{ value: string; object: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(...always, ...literals),
      tie('object'),
      fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    ),
    object: fc.array(fc.tuple(names, tie('value')), { maxLength: 4 }).map(textOf),
  }))
  .object.filter((text) => text !== '{}');

function textOf(members: readonly (readonly [name: string, value: string])[]): string {
  return `{${members.map(([name, value]) => `${name}:${value}`).join(',')}}`;
}

for (const { name: client, asked } of CLIENTS) {
  for (const { name: vendor, spoken } of VENDORS) {
    describe(`between ${client} clients and ${vendor} vendors`, () => {
      law(
        'the history and the tools of a request stay what they were',
        40,
        fc.tuple(objects, objects),
        ([args, result]) => {
          const body = parseExactly(REQUESTS[client]!(args, result, SCHEMA(literals[args.length % literals.length]!)));
          const warnings = collectWarnings({});
          const to = targetOf(spoken);
          const { conversation } = adapt(asked.decodeRequest(body as JsonObject, warnings), vendor, to, warnings);
          const wire = exactJson(spoken.encodeRequest(conversation, to, warnings));
          assertArguments(vendor, wire, args);
          assert.ok(wire.includes(`"maximum":${literals[args.length % literals.length]}`), wire);
          assert.ok(wire.includes(quote(result)) || wire.includes(`"response":${result}`), wire);
        },
      );

      law('the arguments of a whole reply do', 40, objects, (args) => {
        const reply = spoken.decodeReply(parseExactly(REPLIES[vendor]!(args)) as JsonObject, FROM, collectWarnings({}));
        const restored = createRestorer({ tools: new Map(), stop: [] }).reply(reply!);
        assertArguments(client, exactJson(asked.encodeReply(restored, answering(asked))), args);
      });

      law('the arguments of a stream do', 40, objects, (args) => {
        assert.equal(streamed(args), args);
      });

      function streamed(args: string): string {
        const reader = spoken.createStreamDecoder(FROM, collectWarnings({}));
        const restored = createRestorer({ tools: new Map(), stop: [] }).parts();
        const writer = asked.createStreamEncoder(answering(asked));
        const parts = [...STREAMS[vendor]!(args).flatMap((each) => [...reader.read(each)]), ...reader.close()];
        const stream = parts.flatMap((part) => restored(part).map((own) => writer.write(own))).join('');
        return collectedArguments(client, stream);
      }

      if (vendor === 'chat' || vendor === 'responses') {
        it('what servers write for no arguments is an empty object', () => {
          for (const none of ['null', '[]', '""', ' [ ] ']) {
            assert.ok(['', '{}'].includes(streamed(none)), none);
            const body = parseExactly(REPLIES[vendor]!(none)) as JsonObject;
            const reply = spoken.decodeReply(body, FROM, collectWarnings({}))!;
            const restored = createRestorer({ tools: new Map(), stop: [] }).reply(reply);
            assertArguments(client, exactJson(asked.encodeReply(restored, answering(asked))), '{}');
          }
        });
      }
    });
  }
}
