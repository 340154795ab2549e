/** Every text of a request is seen by plugins, wherever its style has it, and what they replace goes to no vendor. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Conversation } from '../../../core/contracts/formats/conversation.ts';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import { adapt } from '../../../core/translation/adapt/adapt.ts';
import { mapArguments, mapConversation, mapJson } from '../../../core/translation/conversation/texts.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { share } from '../../kit/console/whole.ts';
import { conversationOf, conversations } from '../../kit/conversations/conversations.ts';
import fc from '../../kit/fast-check.ts';
import { CLIENTS, targetOf, VENDORS } from '../../laws/halves.ts';

const WORD = 'SECRET';

/** Members of requests in which people, models and tools say something. */
const SAID: ReadonlySet<string> = new Set([
  ...['text', 'content', 'instructions', 'system', 'input', 'output', 'refusal', 'description', 'title', 'context'],
  ...['thinking', 'reasoning_content', 'user', 'user_id', 'stop', 'cited_text', 'query', 'safety_identifier'],
]);

/** The body with the word in every text of such a member. */
function planted(value: Json, name = ''): Json {
  if (typeof value === 'string') return SAID.has(name) ? `${value} ${WORD}` : value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => planted(item, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => {
      // Arguments are JSON, and the word may be anywhere in them.
      if (member === 'arguments' && inner === '{}') return [member, `{"${WORD}":["${WORD}"]}`];
      return [member, planted(inner, member)];
    }),
  );
}

describe('the texts of a request that plugins see', () => {
  for (const { name, asked, spoken } of CLIENTS) {
    it(`in the style ${name} reach no vendor if a plugin replaces them`, () => {
      let count = 0;
      fc.assert(
        fc.property(conversations, (conversation) => {
          const to = targetOf(spoken);
          let clean: Conversation;
          try {
            const fitted = adapt(conversation, name, to, collectWarnings({})).conversation;
            const encoded = JSON.parse(
              JSON.stringify(spoken.encodeRequest(fitted, to, collectWarnings({}))),
            ) as JsonObject;
            const decoded = asked.decodeRequest(planted(encoded) as JsonObject, collectWarnings(asked.names, true));
            clean = mapConversation(decoded, (text) => text.replaceAll(WORD, ''));
          } catch (error) {
            // Not every conversation can be said, or read, in every style.
            if (error instanceof GatewayError) return;
            throw error;
          }
          for (const vendor of VENDORS) {
            const target = targetOf(vendor.spoken);
            try {
              const warnings = collectWarnings({});
              const sent = vendor.spoken.encodeRequest(
                adapt(clean, vendor.name, target, warnings).conversation,
                target,
                warnings,
              );
              const text = JSON.stringify(sent);
              assert.ok(!text.includes(WORD), `${vendor.name}: ${text}`);
              count++;
            } catch (error) {
              if (!(error instanceof GatewayError)) throw error;
            }
          }
        }),
        { numRuns: 1_000 },
      );
      assert.ok(count > share(300), `only ${count} were sent`);
    });
  }

  it('are encoded to the same conversation if nothing is replaced', () => {
    fc.assert(
      fc.property(conversations, (conversation) => {
        assert.equal(
          mapConversation(conversation, (text) => text),
          conversation,
        );
      }),
    );
  });

  it('are found decoded in arguments, and the rest of the JSON is unchanged', () => {
    const map = (text: string): string => text.replaceAll('Müller', 'X').replaceAll('4711', 'N');
    assert.equal(
      mapArguments('{ "a":"M\\u00fcller", "n": [1.50, 4711, 12345678901234567890] }', map),
      '{ "a":"X", "n": [1.50, "N", 12345678901234567890] }',
    );
    assert.equal(mapArguments('{"Müller":1}', map), '{"X":1}');
    assert.equal(mapArguments('{"a":"no \\"M\\u00fcller', map), '{"a":"no \\"M\\u00fcller', 'what is cut is no JSON');
    assert.equal(mapArguments('Müller', map), 'X');
    assert.equal(mapArguments('{"a":"\\\\"}', map), '{"a":"\\\\"}');
  });

  it('include labels of any name, and the location of a search', () => {
    const search = { location: { type: 'approximate', city: 'secret' } };
    const conversation = conversationOf([], {
      labels: { user: 'secret', metadata: { id: 'secret', url: 'secret' } },
      tools: [
        { type: 'hosted', name: 'web_search', style: 'chat', raw: { user_location: { city: 'secret' } }, search },
      ],
    });
    const { labels, tools } = mapConversation(conversation, (text) => text.replaceAll('secret', 'x'));
    assert.deepEqual(labels, { user: 'x', metadata: { id: 'x', url: 'x' } });
    assert.ok(!JSON.stringify(tools).includes('secret'));
  });

  it('do not include ids, types and media', () => {
    const upper = (text: string): string => text.toUpperCase();
    assert.deepEqual(
      mapJson(
        { type: 'search', id: 'a1', call_id: 'a2', query: 'who', sources: [{ url: 'https://a.b', title: 'it' }] },
        upper,
      ),
      { type: 'search', id: 'a1', call_id: 'a2', query: 'WHO', sources: [{ url: 'https://a.b', title: 'IT' }] },
    );
  });
});
