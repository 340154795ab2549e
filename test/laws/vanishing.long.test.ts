/** Nothing that a client says vanishes: it is in what the vendor gets, or it is named among the warnings. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { isObject } from '../../core/bytes/fields.ts';
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import { GatewayError } from '../../core/contracts/gateway-error.ts';
import { adapt } from '../../core/translation/adapt/adapt.ts';
import { collectWarnings } from '../../core/translation/warnings/warnings.ts';
import { BODIES } from '../kit/clients/coding-clients.ts';
import fc from '../kit/fast-check.ts';
import { CLIENTS, type Client, MODELS, reread, targetOf } from './halves.ts';
import { law } from './law.ts';
import { MEANS } from './means.ts';

/** What nobody knows, and its value. */
const NAME = 'zz_unknown';
const VALUE = 'zz-value';

/** A body with one field too many. */
interface Strange {
  readonly body: JsonObject;
  /** The names on the way to the object that holds it, and the types of what stands there. */
  readonly within: readonly string[];
}

/** Bodies as clients send them, and as they could: whatever is within the style's means. */
function bodiesOf(client: Client): fc.Arbitrary<JsonObject> {
  const { conversations, quirks } = MEANS[client.name];
  const made = conversations.map((said) => reread(client, said, targetOf(client.spoken, quirks(said))).body);
  return fc.oneof(fc.constantFrom(...BODIES[client.name]), made);
}

describe('a field that nobody knows', () => {
  for (const client of CLIENTS) {
    const { name, asked } = client;
    const strange = bodiesOf(client).chain((body) => fc.nat().map((n) => withOneMore(body, n)));

    for (const style of ['chat', 'responses', 'messages', 'gemini'] as const) {
      if (style === name) continue;
      const models = MODELS.filter((model) => model.style === style);
      const cases = fc.tuple(strange, fc.constantFrom(...models));
      law(`in a request of ${name} does not vanish on its way to ${style}`, 100, cases, ([{ body, within }, model]) => {
        const warnings = collectWarnings(asked.names);
        let sent: string;
        try {
          const { conversation } = adapt(asked.decodeRequest(body, warnings), style, model.to, warnings);
          sent = JSON.stringify(model.spoken.encodeRequest(conversation, model.to, warnings));
        } catch (error) {
          if (error instanceof GatewayError) return;
          throw error;
        }
        if (sent.includes(NAME) || sent.includes(VALUE)) return;
        const named = warnings.all.flatMap((warning) => warning.slice(0, warning.lastIndexOf(':')).split('.'));
        // Chat clients spell this one in two ways.
        if (named.includes('cache_control')) named.push('prompt_cache_breakpoint');
        // Where a choice among some tools can only be told by leaving out the others, they go with all they hold.
        if (named.includes('tool_choice')) named.push('tools', 'web_search_options');
        assert.ok(
          [NAME, ...within].some((each) => named.includes(each)),
          `${within.join(' > ')} > ${NAME} is neither in ${sent.slice(0, 1_000)} nor in ${warnings.all}`,
        );
      });
    }
  }
});

/** The body with the field in the n-th of its objects. */
function withOneMore(body: JsonObject, n: number): Strange {
  const copy = JSON.parse(JSON.stringify(body)) as JsonObject;
  const objects = objectsIn(copy, []);
  const { object, within } = objects[n % objects.length]!;
  (object as Record<string, Json>)[NAME] = VALUE;
  return { body: copy, within };
}

interface Found {
  readonly object: JsonObject;
  readonly within: readonly string[];
}

function objectsIn(value: Json, within: readonly string[]): readonly Found[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((item) => objectsIn(item, within));
  if (!isObject(value)) return [];
  const own = typeof value.type === 'string' ? [...within, value.type] : within;
  const inner = Object.entries(value).flatMap(([name, member]) => objectsIn(member, [...own, name]));
  return [{ object: value, within: own }, ...inner];
}
