/** Embedding requests: what is asked, checked as far as the gateway must understand it, and what a vendor's model is told of it. */
import type { CallFacts, JsonBody, Patch } from '../../../core/plugin.ts';
import { fieldsIn, modelIn, wholeNumberIn, wordIn } from '../request-fields.ts';
import { readInputs } from './inputs.ts';

/** Everything that is looked at before the vendor sees it; `input` is looked at where it stands. */
const NAMES = ['model', 'encoding_format', 'dimensions', 'user'];

/** A reservation takes bytes for tokens, and our own count takes four of them for one: a token id is worth four bytes to both. */
const BYTES_PER_TOKEN = 4;

/** What the body asks for. Refuses with 400 and the field's name; `null` counts as left out. */
export function readRequest(body: JsonBody): CallFacts {
  const fields = fieldsIn(body, NAMES);
  const model = modelIn(fields);
  const { tokens } = readInputs(body);
  wordIn(fields, 'encoding_format', ['float', 'base64']);
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
    },
  };
}

/** The vendor's model name, without what its model does not take; refuses what that would make another answer of. */
export function patchRequest(body: JsonBody, to: Patch): Readonly<Record<string, string | undefined>> {
  const { dimensions, base64, max_inputs: most } = to.quirks.embeddings;
  const { model } = to;
  const asked = askedDimensions(body);
  if (asked !== undefined && dimensions === false) {
    to.losses.refuse('dimensions', `cannot be chosen for the model ${model}. Leave it out.`);
  }
  if (asked !== undefined && typeof dimensions === 'number' && asked > dimensions) {
    to.losses.refuse('dimensions', `must be at most ${dimensions} for the model ${model}.`);
  }
  if (readInputs(body).count > most) {
    to.losses.refuse(
      'input',
      `must have at most ${most} texts for the model ${model}. Send the others in another request.`,
    );
  }
  return {
    ...(body.get('model') !== model && { model: JSON.stringify(model) }),
    // Made of its numbers when they have come.
    ...(asksBase64(body) && !base64 && { encoding_format: undefined }),
  };
}

/** The size of the vectors that is asked for; undefined where it is left to the model. */
export function askedDimensions(body: JsonBody): number | undefined {
  const asked = body.get('dimensions');
  return typeof asked === 'number' ? asked : undefined;
}

/** Vectors are wanted in base64, else as numbers. */
export function asksBase64(body: JsonBody): boolean {
  return body.get('encoding_format') === 'base64';
}

/** Fields by which some vendors are asked for other numbers than floats: Voyage and Mistral, Jina, Cohere. */
const OTHER_NUMBERS = ['output_dtype', 'embedding_type', 'embedding_types'];

/** Integers or bits are wanted, in a form that only the vendor knows: its answer is passed on as it is. */
export function asksOtherNumbers(body: JsonBody): boolean {
  return OTHER_NUMBERS.some((name) => (body.get(name) ?? 'float') !== 'float');
}
