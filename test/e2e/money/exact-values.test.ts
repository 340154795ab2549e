/**
 * Values that only pass through a gateway are what they were: large and unusual numbers, null, empty lists and texts, the order of members and
 * members that are there twice; in answers, whole and streamed, and in the history that a client sends back.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openStand, type Stand } from '../../clients/stand.ts';
import { eventStream, sized } from '../../kit/vendors/script.ts';
import {
  assertArguments,
  collectedArguments,
  quote,
  REPLIES,
  REQUESTS,
  SCHEMA,
  STREAMS,
} from '../../laws/exact-values.ts';
import { CLIENTS, type ClientName } from '../faults/style-clients.ts';

/** The gateway refuses a member that is there twice in a body; in the text of arguments, it is the client's. */
const TWICE = '{"same":1,"other":true,"same":2}';

const VALUES = [
  '{"n":9007199254740993,"m":-12345678901234567890.50}',
  '{"e":1e400,"z":-0,"d":1.0,"x":1e3,"p":0.1000000000000000055511}',
  '{"b":null,"a":[],"2":"","1":{},"c":[null,[],"",{}]}',
  TWICE,
  '{"text":"\\\\\\"{ 9007199254740993","n":18446744073709551616}',
];

describe('values that pass through a gateway', () => {
  let stand: Stand;
  before(async () => {
    stand = await openStand();
  });
  after(() => stand?.stop());

  async function ask(client: ClientName, vendor: string, text: string, streamed = false): Promise<string> {
    const { path, headers } = CLIENTS[client];
    const body = text.replace('"model":"m"', `"model":"${vendor}-0"${streamed ? ',"stream":true' : ''}`);
    const answer = await fetch(stand.root + path, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' },
      body,
    });
    const got = await answer.text();
    assert.equal(answer.status, 200, got);
    return got;
  }

  for (const client of ['chat', 'responses', 'messages'] as const) {
    for (const vendor of ['chat', 'responses', 'messages', 'gemini'] as const) {
      it(`are the same for ${client} clients and ${vendor} vendors: arguments, results and schemas, whole, streamed and in histories`, async () => {
        for (const args of VALUES) {
          const sent = client === 'messages' && args === TWICE ? VALUES[0]! : args;
          const request = REQUESTS[client]!(sent, args, SCHEMA('9007199254740993'));
          stand.vendor.next(sized(200, 'application/json', REPLIES[vendor]!(args)));
          assertArguments(client, await ask(client, vendor, request), args);
          const wire = stand.vendor.requests.at(-1)!.body.toString('utf8');
          assertArguments(vendor, wire, sent);
          assert.ok(wire.includes(quote(args)) || wire.includes(`"response":${args}`), `the result is not in ${wire}`);
          assert.ok(wire.includes('"maximum":9007199254740993'), wire);
          const events = STREAMS[vendor]!(args).map(({ name, data }) => {
            const event = name ?? (vendor === 'chat' || vendor === 'gemini' ? undefined : JSON.parse(data).type);
            return `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`;
          });
          stand.vendor.next(eventStream(events));
          const stream = await ask(client, vendor, request, true);
          // In the same style, all events are forwarded; those with the usage may get more of it.
          const own = events.filter((event) => !/usage|response.completed/.test(event));
          if (client === vendor)
            assert.ok(
              own.every((event) => stream.includes(event)),
              stream,
            );
          else assert.equal(collectedArguments(client, stream), args);
        }
      });
    }
  }
});
