/**
 * Image requests. Gemini models generate images in a conversation: the input images and the prompt are parts of one user
 * turn. Imagen generates several images from a prompt alone.
 */
import type { Attachments, Dialect, Json, JsonObject, Offer, Warnings } from '../../../core/plugin.ts';
import { member, objectsIn, textIn } from '../../../core/translation/index.ts';
import { countIn } from './looking.ts';
import { errorIn, usageIn } from './usage.ts';

/** Width and height in pixels. */
interface Edges {
  readonly width: number;
  readonly height: number;
}

/** The aspect ratios that a model family supports. */
const GEMINI_RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];
const IMAGEN_RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9'];

/** A size in pixels; undefined if there is none. */
function aspectOf(size: string | undefined): Edges | undefined {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size ?? '') ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/** The closest aspect ratio. */
function nearestRatio({ width, height }: Edges, ratios: readonly string[]): string {
  const distance = (ratio: string): number => {
    const [across, down] = ratio.split(':').map(Number);
    return Math.abs(Math.log((width * down!) / (height * across!)));
  };
  return ratios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

/** The closest step by the number of pixels: `2K` is a square of 2,048. */
function stepOf(
  { width, height }: Edges,
  steps: readonly number[],
): { readonly name: string; readonly pixels: number } {
  const thousands = Math.sqrt(width * height) / 1_024;
  const distance = (step: number): number => Math.abs(Math.log(thousands / step));
  const step = steps.reduce((best, each) => (distance(each) < distance(best) ? each : best));
  return { name: `${step}K`, pixels: step * 1_024 };
}

/** The dialects of both styles, without their headers. */
export const images: Omit<Dialect, 'headers'> & Required<Pick<Dialect, 'request'>> = {
  path: (_call, { model }) => `/models/${encodeURIComponent(model)}:${isImagen(model) ? 'predict' : 'generateContent'}`,
  request: (body, offer, files, warnings) =>
    isImagen(offer.model) ? encodeImagen(body, offer, warnings) : encodeGemini(body, offer, files, warnings),
  answer: readAnswer,
  models: ['gemini-*image*', 'imagen-*'],
};

/** Imagen cannot edit images. */
export const edits: typeof images = { ...images, models: ['gemini-*image*'] };

function isImagen(model: string): boolean {
  return model.startsWith('imagen-');
}

/** Fields that are encoded in another way, or that do not affect the image. */
const READ = ['model', 'prompt', 'size', 'n', 'stream', 'response_format'];
const HINTS = ['user', 'safety_identifier', 'partial_images'];

function dropRest(body: JsonObject, warnings: Warnings): void {
  for (const [name, value] of Object.entries(body)) {
    if (READ.includes(name) || value === null) continue;
    warnings.leave(name, HINTS.includes(name) ? 'hint' : undefined);
  }
}

function encodeGemini(
  body: JsonObject,
  { model }: Offer,
  { list, base64 }: Attachments,
  warnings: Warnings,
): JsonObject {
  dropRest(body, warnings);
  const parts: JsonObject[] = [];
  for (const file of list) {
    // These models have no mask; edits must be described.
    if (file.field.startsWith('image')) parts.push({ inlineData: { mimeType: file.mediaType, data: base64(file) } });
    else warnings.drop(file.field);
  }
  const prompt = textIn(body, 'prompt');
  if (prompt !== undefined) parts.push({ text: prompt });
  const imageConfig = configOf(body, model, warnings);
  // The first models require `TEXT` together with `IMAGE`.
  const responseModalities = /image-generation/.test(model) ? ['TEXT', 'IMAGE'] : ['IMAGE'];
  return {
    contents: [{ role: 'user', parts }],
    generationConfig: { responseModalities, ...(imageConfig && { imageConfig }) },
  };
}

function encodeImagen(body: JsonObject, { model }: Offer, warnings: Warnings): JsonObject {
  dropRest(body, warnings);
  const { aspectRatio, imageSize } = configOf(body, model, warnings) ?? {};
  return {
    instances: [{ prompt: textIn(body, 'prompt') ?? '' }],
    parameters: {
      sampleCount: countIn(body, 'n') || 1,
      ...(aspectRatio !== undefined && { aspectRatio }),
      ...(imageSize !== undefined && { sampleImageSize: imageSize }),
    },
  };
}

/** The closest supported size; undefined if none was requested. Exact pixels are up to the vendor, except for squares. */
function configOf(
  body: JsonObject,
  model: string,
  warnings: Warnings,
): { readonly aspectRatio: string; readonly imageSize?: string } | undefined {
  const requested = aspectOf(textIn(body, 'size'));
  if (requested === undefined) return undefined;
  if (/image-generation/.test(model)) {
    warnings.drop('size');
    return undefined;
  }
  const aspectRatio = nearestRatio(requested, isImagen(model) ? IMAGEN_RATIOS : GEMINI_RATIOS);
  const step = stepOf(requested, stepsOf(model));
  if (requested.width !== requested.height || requested.width !== step.pixels) warnings.change('size');
  return { aspectRatio, ...(step.pixels !== 1_024 && { imageSize: step.name }) };
}

/** The largest square that a model can generate, in thousands of pixels per edge. */
function stepsOf(model: string): readonly number[] {
  if (isImagen(model)) return /^imagen-4/.test(model) && !/fast/.test(model) ? [1, 2] : [1];
  return /^gemini-[12]\./.test(model) ? [1] : [1, 2, 4];
}

/** Decodes the vendor's reply, or the error in it. */
function readAnswer(body: JsonObject): JsonObject | undefined {
  const error = errorIn(body);
  if (error !== undefined) return { error: { ...error } };
  const isKnown = ['candidates', 'promptFeedback', 'predictions'].some((name) => member(body, name) !== undefined);
  // If everything is blocked, the reply may be empty.
  if (!isKnown && Object.keys(body).length > 0) return undefined;
  const data = [...drawn(body), ...predicted(body)].map((b64_json) => ({ b64_json }));
  if (data.length === 0) return { error: refusalIn(body) };
  const usage = usageOf(body);
  return { data, ...(usage && { usage }) };
}

/** Images that a model made while reasoning are drafts. */
function drawn(body: JsonObject): readonly string[] {
  return objectsIn(body, 'candidates').flatMap(({ content }) =>
    objectsIn(content, 'parts').flatMap((part) => {
      const data = part.thought === true ? undefined : member(part.inlineData, 'data');
      return typeof data === 'string' && data !== '' ? [data] : [];
    }),
  );
}

function predicted(body: JsonObject): readonly string[] {
  return objectsIn(body, 'predictions').flatMap(({ bytesBase64Encoded: data }) =>
    typeof data === 'string' && data !== '' ? [data] : [],
  );
}

/** Reasons for a reply without an image other than blocked content. */
const NOT_DRAWN = ['NO_IMAGE', 'STOP', 'MAX_TOKENS', 'IMAGE_OTHER', 'OTHER'];

/** Why there is no image. */
function refusalIn(body: JsonObject): JsonObject {
  const feedback = member(body, 'promptFeedback');
  const [candidate] = objectsIn(body, 'candidates');
  const reason = textIn(feedback, 'blockReason') ?? textIn(candidate, 'finishReason') ?? 'SAFETY';
  const explained =
    textIn(feedback, 'blockReasonMessage') ??
    textIn(candidate, 'finishMessage') ??
    textIn(objectsIn(body, 'predictions')[0], 'raiFilteredReason');
  const isBlocked = !NOT_DRAWN.includes(reason);
  const what = isBlocked ? 'The vendor refused to generate the requested image' : 'The model returned no image';
  return {
    message: `${what} (${reason})${explained === undefined ? '.' : `: ${explained}`}`,
    type: 'invalid_request_error',
    param: 'prompt',
    code: isBlocked ? 'content_policy_violation' : 'no_image',
  };
}

/** Tokens in the format of image clients. */
function usageOf(body: JsonObject): JsonObject | undefined {
  const usage = usageIn(body);
  if (usage === undefined) return undefined;
  const metadata = member(body, 'usageMetadata');
  const [seen, made] = [imageTokens(metadata, 'promptTokensDetails'), imageTokens(metadata, 'candidatesTokensDetails')];
  return {
    input_tokens: usage.input,
    output_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    input_tokens_details: {
      text_tokens: Math.max(0, usage.input - seen),
      image_tokens: seen,
      cached_tokens: usage.cacheRead,
    },
    output_tokens_details: {
      text_tokens: Math.max(0, usage.output - usage.reasoning - made),
      image_tokens: made,
      reasoning_tokens: usage.reasoning,
    },
  };
}

function imageTokens(metadata: Json | undefined, details: string): number {
  return objectsIn(metadata, details)
    .filter((detail) => textIn(detail, 'modality') === 'IMAGE')
    .reduce((sum, detail) => sum + countIn(detail, 'tokenCount'), 0);
}
