import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { scanJson } from '../../../core/bytes/json-body.ts';
import type { Json, JsonObject, Style } from '../../../core/plugin.ts';
import { speech } from '../../../plugins/styles/audio/index.ts';
import { chat } from '../../../plugins/styles/chat/index.ts';
import { completions } from '../../../plugins/styles/completions/index.ts';
import { embeddings } from '../../../plugins/styles/embeddings/index.ts';
import { imageStyles } from '../../../plugins/styles/images/index.ts';
import { messages } from '../../../plugins/styles/messages/index.ts';
import { responses } from '../../../plugins/styles/responses/index.ts';
import { arriving } from '../../kit/gateway/calls.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';

const [images, edits] = imageStyles(fakeClock());

/** A request that each style takes. */
const GOOD: readonly (readonly [Style, JsonObject])[] = [
  [chat, { model: 'm', messages: [{ role: 'user', content: 'Hello' }] }],
  [completions, { model: 'm', prompt: 'Hello' }],
  [responses, { model: 'm', input: 'Hello' }],
  [messages, { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }],
  [embeddings, { model: 'm', input: 'Hello' }],
  [images!, { model: 'm', prompt: 'A gate' }],
  [edits!, { model: 'm', prompt: 'Open it', image: 'data:image/png;base64,iVBORw0KGgo=' }],
  [speech, { model: 'm', input: 'Hello', voice: 'alloy' }],
];

/** At, below and beyond every limit, and of every type. */
const VALUES: readonly (Json | undefined)[] = [
  undefined,
  null,
  true,
  false,
  '',
  'x',
  'auto',
  'disabled',
  'float',
  'base64',
  'url',
  'mp3',
  'sse',
  'x'.repeat(256),
  'x'.repeat(257),
  'x'.repeat(4_096),
  '🙂'.repeat(4_096),
  '🙂'.repeat(4_097),
  -1,
  -0.001,
  0,
  0.24,
  0.25,
  0.5,
  1,
  1.001,
  2,
  2.001,
  3,
  4,
  4.001,
  10,
  11,
  128,
  129,
  1e9,
  [],
  [1],
  [-1],
  [1.5],
  ['a'],
  [''],
  ['a', 1],
  [[1, 2]],
  [[1], ['a']],
  [[]],
  Array(2_048).fill('a'),
  Array(2_049).fill('a'),
  [{ role: 'user', content: 'Hello' }],
  {},
  { id: 'voice-1' },
];

/** What is a rule of several members, or of a member's spelling, and not to be said in the schema of one. */
const BEYOND: Readonly<Record<string, readonly string[]>> = {
  responses: ['input'],
  images: ['size', 'input', 'parameters'],
  edits: ['size', 'input', 'parameters', 'image', 'images', 'mask', 'n'],
  speech: ['voice'],
};

/** Lists whose items only the vendor validates: the description says more of them than the style reads. */
const OF_VENDOR: Readonly<Record<string, readonly string[]>> = {
  chat: ['messages', 'tools', 'modalities'],
  responses: ['tools'],
  messages: ['tools', 'stop_sequences'],
};

describe('the OpenAPI description of a style', () => {
  for (const [style, good] of GOOD) {
    it(`${style.name} accepts exactly what the style accepts`, () => {
      const { request } = style.ingress?.about ?? {};
      assert.ok(request !== undefined, 'it describes its requests');
      const fits = new Ajv2020({ strict: false }).compile(request);
      assert.ok(fits(good), JSON.stringify(fits.errors));
      const { properties } = request as { readonly properties: JsonObject };
      for (const name of Object.keys(properties)) {
        if (BEYOND[style.name]?.includes(name)) continue;
        for (const value of VALUES) {
          const { [name]: _, ...rest } = good;
          const body = value === undefined ? rest : { ...rest, [name]: value };
          const shown = JSON.stringify(value)?.slice(0, 60);
          if (OF_VENDOR[style.name]?.includes(name) && Array.isArray(value) && value.length > 0) {
            assert.ok(isRead(style, body), `${name}: ${shown}`);
            continue;
          }
          assert.equal(fits(body), isRead(style, body), `${name}: ${shown} ${JSON.stringify(fits.errors)}`);
        }
      }
    });
  }
});

function isRead(style: Style, body: JsonObject): boolean {
  try {
    style.ingress!.read(scanJson(Buffer.from(JSON.stringify(body))), arriving(style.ingress!.headers));
    return true;
  } catch {
    return false;
  }
}
