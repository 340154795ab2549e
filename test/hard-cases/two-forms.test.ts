/** A stream and a whole answer are two forms of one thing: whatever a vendor says, a client hears the same of both, and is told the same warnings. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import { eventsIn } from '../../scripts/replay/event-stream.ts';
import { fold } from '../../scripts/replay/fold.ts';
import { read } from '../../scripts/replay/told.ts';
import { type ClientStyle, call, chatSays, list, responsesSay, type VendorKind } from './kit.ts';
import { STREAM_OF } from './told-streams.ts';
import { ANSWERS } from './two-forms-answers.ts';

const CLIENT_NAMES: readonly ClientStyle[] = ['chat', 'responses', 'messages'];

/** Clients of the old kind know one function and no tools. */
const OLD_FUNCTIONS: JsonObject = { functions: [{ name: 'look', parameters: { type: 'object', properties: {} } }] };

const REQUESTS: readonly (readonly [client: ClientStyle, as: string, request: JsonObject])[] = [
  ...CLIENT_NAMES.map((client) => [client, client, {}] as const),
  ['chat', 'chat with functions of the old kind', OLD_FUNCTIONS],
];

describe('an answer and the same in a stream', () => {
  for (const kind of Object.keys(ANSWERS) as VendorKind[]) {
    for (const [what, body] of Object.entries(ANSWERS[kind])) {
      for (const [client, as, request] of REQUESTS) {
        it(`${kind} to ${as}: ${what}`, async () => {
          const whole = await call(client, kind, request);
          const said = whole.whole(body).body;
          const streamed = await call(client, kind, { ...request, stream: true, ...usageAsked(client) });
          const { text, ended } = streamed.stream(STREAM_OF[kind](body));
          assert.ok(ended, `it comes to a good end\n${text}`);
          const folded = fold(client, eventsIn(text)).body;
          if (whole.warnings().length === 0) {
            const missing = addressesIn(body).filter((address) => !addressesIn(said).includes(address));
            assert.deepEqual(missing, [], 'a source that is not told is named');
          }
          assert.deepEqual([...streamed.warnings()].sort(), [...whole.warnings()].sort(), 'the warnings are the same');
          assert.deepEqual(sourcesIn(client, folded), sourcesIn(client, said), 'the sources are the same');
          assert.deepEqual(heard(client, folded), heard(client, said), 'what is said is the same');
        });
      }
    }
  }

  it('has in its last event the sources that were added while it came', async () => {
    for (const kind of Object.keys(ANSWERS) as VendorKind[]) {
      for (const [what, body] of Object.entries(ANSWERS[kind])) {
        const { text } = (await call('responses', kind, { stream: true })).stream(STREAM_OF[kind](body));
        const events = eventsIn(text).map(({ data }) => data as JsonObject);
        const added = events.filter(({ type }) => type === 'response.output_text.annotation.added');
        const told = added.map(({ annotation }) => annotation);
        assert.deepEqual(told, sourcesIn('responses', fold('responses', eventsIn(text)).body), `${kind}: ${what}`);
      }
    }
  });
});

describe('a source that comes before its text is over', () => {
  const told = { type: 'url_citation', url: 'https://a.test', title: 'A' };
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const said: Readonly<Record<'chat' | 'responses', string>> = {
    chat: chatSays([{ content: 'Water ' }, { annotations: [{ ...told, url_citation: told }] }, { content: 'boils.' }]),
    responses: responsesSay(
      [
        ['response.output_text.delta', { ...at, delta: 'Water ' }],
        ['response.output_text.annotation.added', { ...at, annotation_index: 0, annotation: told }],
        ['response.output_text.delta', { ...at, delta: 'boils.' }],
      ],
      [],
    ),
  };

  for (const [client, kind] of [['responses', 'chat'] as const, ['chat', 'responses'] as const]) {
    it(`belongs to all of it for ${client} clients`, async () => {
      const { text } = (await call(client, kind, { stream: true })).stream(said[kind]);
      const [source] = sourcesIn(client, fold(client, eventsIn(text)).body) as readonly JsonObject[];
      const { start_index: start, end_index: end } = (source?.url_citation ?? source) as JsonObject;
      assert.deepEqual([start, end], [0, 'Water boils.'.length]);
    });
  }
});

/** Addresses anywhere in an answer. */
function addressesIn(body: JsonObject): readonly string[] {
  return JSON.stringify(body).match(/https:\/\/[a-z./]+/g) ?? [];
}

function usageAsked(client: ClientStyle): JsonObject {
  return client === 'chat' ? { stream_options: { include_usage: true } } : {};
}

/** Where the texts of an answer say that they have something from. */
function sourcesIn(client: ClientStyle, body: JsonObject): readonly Json[] {
  const all = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);
  switch (client) {
    case 'chat':
      return list(body, 'choices').flatMap(({ message }) => all((message as JsonObject).annotations));
    case 'responses':
      return list(body, 'output').flatMap(({ content }) =>
        (all(content) as readonly JsonObject[]).flatMap(({ annotations }) => all(annotations)),
      );
    case 'messages':
      return list(body, 'content').flatMap(({ citations }) => all(citations));
  }
}

/** What an answer says; where one piece of a text ends and the next begins is not a part of it. */
function heard(client: ClientStyle, body: JsonObject) {
  const { texts, reasoning, refusals, ...rest } = read(client, body);
  return { ...rest, texts: texts.join(''), reasoning: reasoning.join(''), refusals: refusals.join('') };
}
