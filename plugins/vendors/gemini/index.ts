/** The plugin `vendors/gemini`: the vendor `gemini`, and its style, which no client can use. */
import {
  type Accepted,
  type Call,
  type Channel,
  type Dialect,
  definePlugin,
  type Json,
  type JsonObject,
  type Offer,
  type TokenCount,
  typed,
  type Vendor,
  type Warnings,
} from '../../../core/plugin.ts';
import { isCount, isObject, member, objectsIn, tokensIn } from '../../../core/translation/index.ts';
import { edits, images } from './images.ts';
import { MODEL_QUIRKS } from './quirks.ts';
import { gemini } from './style.ts';

/** The dialect, without its headers. */
const embeddings: Omit<Dialect, 'headers'> = {
  path: (_call, { model }) => `/models/${encodeURIComponent(model)}:batchEmbedContents`,
  // Other members (`taskType`, `title`) are vendor-specific and apply to every text.
  request({ input, dimensions, user, model: _model, encoding_format: _format, ...own }, { model }, _files, warnings) {
    if (user != null) warnings.drop('user', 'hint');
    const shared = { ...own, model: `models/${model}`, ...(dimensions && { outputDimensionality: dimensions }) };
    return { requests: textsIn(input, model, warnings).map((text) => ({ ...shared, content: { parts: [{ text }] } })) };
  },
  answer(body, { model }) {
    const { embeddings: vectors } = body;
    if (!Array.isArray(vectors)) return undefined;
    const tokens = tokensIn(member(body.usageMetadata, 'promptTokenCount'));
    return {
      object: 'list',
      data: vectors.map((vector: Json, index) => entryOf(vector, index)),
      model,
      ...(tokens > 0 && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    };
  },
  models: ['*embedding*'],
};

function textsIn(input: Json, model: string, warnings: Warnings): readonly string[] {
  const texts = typeof input === 'string' ? [input] : input;
  if (Array.isArray(texts) && texts.every((text) => typeof text === 'string')) return texts;
  return warnings.refuse(
    'input',
    `must be text for the model ${model}: it does not accept token ids. Clients that count tokens themselves have an option for that, such as check_embedding_ctx_length=False.`,
  );
}

function entryOf(vector: Json, index: number): JsonObject {
  return { object: 'embedding', index, embedding: member(vector, 'values') ?? null };
}

/** The probability of harm from which the vendor blocks content; by default the vendor's own. */
const safety = {
  enum: ['BLOCK_LOW_AND_ABOVE', 'BLOCK_MEDIUM_AND_ABOVE', 'BLOCK_ONLY_HIGH', 'BLOCK_NONE', 'OFF'],
} as const;
const options = typed({ type: 'object', properties: { safety } });

const CATEGORIES = [
  'HARM_CATEGORY_HARASSMENT',
  'HARM_CATEGORY_HATE_SPEECH',
  'HARM_CATEGORY_SEXUALLY_EXPLICIT',
  'HARM_CATEGORY_DANGEROUS_CONTENT',
  'HARM_CATEGORY_CIVIC_INTEGRITY',
];

function credentials(channel: Channel): Record<string, string> {
  return { 'x-goog-api-key': channel.key };
}

/** Without `alt=sse`, a stream would be one long JSON array. */
function path({ stream }: Call, { model }: Offer): string {
  return `/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
}

function withSafety(body: Record<string, unknown>, { channel }: Offer): Record<string, unknown> {
  const { safety: threshold } = channel.options as Accepted<typeof options>;
  if (threshold === undefined) return body;
  return { ...body, safetySettings: CATEGORIES.map((category) => ({ category, threshold })) };
}

/** Safety settings apply to requests in the conversation format only. */
const drawSafely: NonNullable<Dialect['request']> = (body, offer, files, warnings) => {
  const encoded = images.request(body, offer, files, warnings);
  return 'contents' in encoded ? withSafety(encoded, offer) : encoded;
};

/** The request to count. */
const COUNTED = new Set(['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig']);

const count: TokenCount = {
  path: (model) => `/models/${encodeURIComponent(model)}:countTokens`,
  body: (body, model) => ({
    generateContentRequest: {
      model: `models/${model}`,
      ...Object.fromEntries(Object.entries(body).filter(([name]) => COUNTED.has(name))),
    },
  }),
  read: (answer) => (isObject(answer) && isCount(answer.totalTokens) ? answer.totalTokens : undefined),
};

const vendor: Vendor = {
  name: 'gemini',
  options,
  url: () => 'https://generativelanguage.googleapis.com/v1beta',
  speaks: {
    gemini: { path, headers: credentials, request: withSafety, count },
    embeddings: { ...embeddings, headers: credentials },
    images: { ...images, headers: credentials, request: drawSafely },
    edits: { ...edits, headers: credentials, request: drawSafely },
  },
  quirks: MODEL_QUIRKS,
  // The vendor reports an invalid key as a bad request; it is the operator's key, so the client is not at fault.
  judge: (status, _headers, body) => (status === 400 && body.includes('API_KEY_INVALID') ? 'next' : undefined),
  credentials,
  models: {
    path: (after) => `/models?pageSize=1000${after === undefined ? '' : `&pageToken=${encodeURIComponent(after)}`}`,
    read(answer) {
      if (!isObject(answer) || !Array.isArray(answer.models)) return undefined;
      const { nextPageToken: next } = answer;
      return {
        names: objectsIn(answer, 'models').flatMap(({ name }) =>
          typeof name === 'string' ? [name.replace(/^models\//, '')] : [],
        ),
        next: typeof next === 'string' && next !== '' ? next : undefined,
      };
    },
  },
};

export default definePlugin({
  name: 'vendors/gemini',
  api: 2,
  create: () => ({ styles: [gemini], vendors: [vendor] }),
});
