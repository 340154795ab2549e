/** Embedding requests: validates what the gateway needs, and adapts the body to the vendor's model. */
import type { CallFacts, JsonBody, Patch } from '../../../core/plugin.ts';
import { enumIn, fieldsIn, modelOf, serviceOf, wholeNumberIn } from '../request-fields.ts';
import { readInputs } from './inputs.ts';

/** The members that the gateway parses; `input` is read in place. */
const NAMES = ['model', 'encoding_format', 'dimensions', 'user'];

/**
 * A reservation counts bytes as tokens, and the gateway's own count takes four bytes per token: in both, a token id
 * counts as four bytes.
 */
const BYTES_PER_TOKEN = 4;

/** Reads the body. Refuses with 400 and the field's name; `null` counts as omitted. */
export function readRequest(body: JsonBody): CallFacts {
  const fields = fieldsIn(body, NAMES);
  const model = modelOf(fields.text('model'));
  const { tokens } = readInputs(body);
  enumIn(fields, 'encoding_format', ['float', 'base64']);
  wholeNumberIn(fields, 'dimensions', 1);
  fields.text('user');
  return {
    model,
    stream: false,
    asksUsage: false,
    bounds: {
      inputBytes: tokens === undefined ? body.textBytes : tokens * BYTES_PER_TOKEN,
      media: 0,
      outputTokens: 0,
      choices: 1,
      service: serviceOf(body),
    },
  };
}

/** Sets the vendor's model name and removes what the model does not support; refuses what would change the answer. */
export function patchRequest(body: JsonBody, to: Patch): Readonly<Record<string, string | undefined>> {
  const { dimensions, base64, max_inputs: most } = to.quirks.embeddings;
  const { model } = to;
  const requested = requestedDimensions(body);
  if (requested !== undefined && dimensions === false) {
    to.warnings.refuse('dimensions', `is not supported by the model ${model}. Omit it.`);
  }
  if (requested !== undefined && typeof dimensions === 'number' && requested > dimensions) {
    to.warnings.refuse('dimensions', `must be at most ${dimensions} for the model ${model}.`);
  }
  if (readInputs(body).count > most) {
    to.warnings.refuse(
      'input',
      `must have at most ${most} texts for the model ${model}. Send the others in another request.`,
    );
  }
  return {
    ...(body.get('model') !== model && { model: JSON.stringify(model) }),
    // The gateway encodes base64 itself, from the numbers in the reply.
    ...(asksBase64(body) && !base64 && { encoding_format: undefined }),
  };
}

/** The requested size of the vectors; undefined if it is the model's default. */
export function requestedDimensions(body: JsonBody): number | undefined {
  const requested = body.get('dimensions');
  return typeof requested === 'number' ? requested : undefined;
}

/** True if vectors are requested in base64 instead of numbers. */
export function asksBase64(body: JsonBody): boolean {
  return body.get('encoding_format') === 'base64';
}

/** Fields by which some vendors return other numbers than floats: Voyage and Mistral, Jina, Cohere. */
const OTHER_NUMBERS = ['output_dtype', 'embedding_type', 'embedding_types'];

/** True if integers or bits are requested, whose format only the vendor knows: the reply is forwarded as it is. */
export function asksOtherNumbers(body: JsonBody): boolean {
  return OTHER_NUMBERS.some((name) => (body.get(name) ?? 'float') !== 'float');
}
