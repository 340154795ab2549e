/** Processes the texts of stored responses without reading the store: for large ones, it runs in a worker thread. */
import type { Json, JsonBody, JsonObject } from '../../../core/plugin.ts';
import { factsOf, isObject, packOpaque, scanJson } from '../../../core/translation/index.ts';
import { errors } from '../errors.ts';
import { itemsOf } from './items.ts';
import { referencesIn, resolveReferences } from './references.ts';
import { bufferOf, type ItemsFound, type Joined, type JoinWork, textOf, type Work } from './work.ts';

/** Item types whose id and status only describe storage and completion. */
const LABELLED: readonly (Json | undefined)[] = ['message', 'function_call', 'custom_tool_call'];

/**
 * Converts the output items of a response. `channel`: the channel whose vendor answered in this style, and which alone
 * can read its reasoning; reasoning that is not sealed is left out. Null: the gateway wrote the response, and has sealed
 * its reasoning already.
 */
function toInputItems(output: readonly Json[], channel: string | null): readonly Json[] {
  return output.flatMap((item): readonly Json[] => {
    if (!isObject(item)) return [item];
    if (item.type === 'reasoning' && channel !== null) {
      const { id, encrypted_content: value } = item;
      if (typeof value !== 'string' || value === '') return [];
      const sealed = { style: 'responses', channel, kind: 'encrypted', value } as const;
      return [{ ...item, encrypted_content: packOpaque(typeof id === 'string' ? { ...sealed, id } : sealed) }];
    }
    if (!LABELLED.includes(item.type)) return [item];
    const { id: _, status: __, ...rest } = item;
    return [rest];
  });
}

/** The maximum turns and bytes of a restored conversation: about what a body may have. */
export const MAX_TURNS = 1_000;
export const MAX_BYTES = 16 * 1_024 * 1_024;

/** Runs a job. Refuses like a body that the client had sent in full. */
export function work(job: Work): Joined | readonly string[] | ItemsFound {
  switch (job.kind) {
    case 'join':
      return join(job);
    case 'find':
      return referencesIn(newItems(scanned(job.body)));
    case 'items':
      return itemsOf(job);
  }
}

/** The nesting depth of its parts was validated when they arrived. */
function scanned(bytes: Uint8Array): JsonBody {
  return scanJson(bufferOf(bytes), { depth: Number.POSITIVE_INFINITY });
}

function join({ body: bytes, named, turns }: JoinWork): Joined {
  const body = scanned(bytes);
  const input = newItems(body);
  const resolved = resolveReferences(input, named, MAX_BYTES);
  const newInput = resolved ?? input;
  if (turns === undefined) {
    if (resolved === undefined) return { bytes: undefined, facts: undefined, resolved: undefined };
    return joined(body.patched({ input: newInput }), resolved);
  }
  const items: Buffer[] = [];
  let size = newInput.length;
  for (const turn of turns) {
    const { output } = JSON.parse(textOf(turn.response)) as JsonObject;
    const answered = Array.isArray(output) ? toInputItems(output as readonly Json[], turn.channel) : [];
    size += turn.input.length + turn.response.length;
    items.push(listed(bufferOf(turn.input)), listed(Buffer.from(JSON.stringify(answered))));
  }
  if (size > MAX_BYTES) tooLong(turns.length);
  items.push(listed(Buffer.from(newInput)));
  return joined(withInput(body, items), resolved);
}

/** The body with these items as its input. They may be megabytes: they are copied once, as bytes. */
function withInput(body: JsonBody, items: readonly Buffer[]): Buffer {
  const empty = body.patched({ input: '[]', previous_response_id: undefined });
  const { start, end } = scanned(empty).members.get('input')!;
  const pieces = items
    .filter(({ length }) => length > 0)
    .flatMap((item, i) => (i === 0 ? [item] : [Buffer.from(','), item]));
  return Buffer.concat([empty.subarray(0, start + 1), ...pieces, empty.subarray(end - 1)]);
}

function joined(bytes: Buffer, resolved: string | undefined): Joined {
  const body = scanned(bytes);
  return {
    bytes,
    facts: factsOf(body),
    resolved: resolved === undefined ? undefined : Buffer.from(resolved),
  };
}

const QUOTE = 0x22;
const OPEN_ARRAY = 0x5b;
const SPACE = 0x20;

/** `input` as a JSON array of items; the client's own text, because some numbers would be written differently. */
export function newItems({ bytes, members }: JsonBody): string {
  const span = members.get('input');
  const first = span && bytes[span.start];
  if (span === undefined || (first !== QUOTE && first !== OPEN_ARRAY)) return '[]';
  // Between two items, a line break can be replaced by a space; inside a string, raw control characters are invalid.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is about them
  const text = bytes.toString('utf8', span.start, span.end).replaceAll(/[\u0000-\u001f]/g, ' ');
  return first === QUOTE ? `[{"type":"message","role":"user","content":${text}}]` : text;
}

/** A JSON array without its brackets. */
function listed(array: Buffer): Buffer {
  let start = 1;
  let end = array.length - 1;
  while (start < end && array[start]! <= SPACE) start++;
  while (start < end && array[end - 1]! <= SPACE) end--;
  return array.subarray(start, end);
}

export function tooLong(turns: number): never {
  throw errors
    .conversation_too_long(
      `The conversation has grown too long to be continued by its id: ${turns} turns. At most ${MAX_TURNS} turns and ${MAX_BYTES / 1_024 / 1_024} MiB are. Send what is still needed of it in \`input\`, without \`previous_response_id\`.`,
    )
    .with({ param: 'previous_response_id' });
}
