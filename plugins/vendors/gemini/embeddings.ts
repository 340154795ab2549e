/**
 * Encodes embedding requests: one batch with a request per text. Shorter vectors of `gemini-embedding-001` are not
 * normalized. They are forwarded as they are, so that they match vectors from the vendor itself: cosine similarity is
 * unaffected, but for dot products clients must normalize them.
 */
import type { Dialect, Json, JsonObject, Losses } from '../../../core/plugin.ts';
import { member, tokensIn } from '../../../core/translation/index.ts';

/** The dialect, without its headers. */
export const embeddings: Omit<Dialect, 'headers'> = {
  path: (_call, { model }) => `/models/${encodeURIComponent(model)}:batchEmbedContents`,
  // Other members (`taskType`, `title`) are vendor-specific and apply to every text.
  request({ input, dimensions, user, model: _model, encoding_format: _format, ...own }, { model }, _files, losses) {
    if (user != null) losses.drop('user', 'hint');
    const shared = { ...own, model: `models/${model}`, ...(dimensions && { outputDimensionality: dimensions }) };
    return { requests: textsIn(input, model, losses).map((text) => ({ ...shared, content: { parts: [{ text }] } })) };
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

function textsIn(input: Json, model: string, losses: Losses): readonly string[] {
  const texts = typeof input === 'string' ? [input] : input;
  if (Array.isArray(texts) && texts.every((text) => typeof text === 'string')) return texts;
  return losses.refuse('input', `must be text for the model ${model}: it does not take token ids.`);
}

function entryOf(vector: Json, index: number): JsonObject {
  return { object: 'embedding', index, embedding: member(vector, 'values') ?? null };
}
