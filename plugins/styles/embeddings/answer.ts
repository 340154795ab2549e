/** Embedding replies: decodes them, and adds what some vendors omit. */
import { setImmediate } from 'node:timers/promises';
import type { AnswerFacts, Call, Finishing, Json, JsonBody, Span, Usage } from '../../../core/plugin.ts';
import { isObject, member, NO_TOKENS, tokensIn } from '../../../core/translation/index.ts';
import { errorIn } from '../chat/fields/usage.ts';
import { readInputs } from './inputs.ts';
import { asksBase64, asksOtherNumbers, requestedDimensions } from './request.ts';
import { type Entry, hasData, readEntries, vectorAs } from './vectors.ts';

/** Reads a reply; undefined if it is neither an error nor a list with one vector per input. */
export function readAnswer(body: JsonBody, call: Call): AnswerFacts | undefined {
  const error = errorIn({ error: body.get('error') ?? null });
  if (error === undefined && !isWhole(body, call)) return undefined;
  return { usage: usageIn(body.get('usage')), textLength: () => 0, error };
}

function isWhole(body: JsonBody, call: Call): boolean {
  if (asksOtherNumbers(call.body)) return hasData(body);
  return readEntries(body)?.length === readInputs(call.body).count;
}

/** Undefined if there is no count: some vendors send zeros, some the total alone. */
function usageIn(reported: Json | undefined): Usage | undefined {
  const input = tokensIn(member(reported, 'prompt_tokens')) || tokensIn(member(reported, 'total_tokens'));
  return input === 0 ? undefined : { ...NO_TOKENS, input };
}

/** Vectors that are converted before other requests get a turn. */
const AT_ONCE = 64;

/** The reply in the requested format; undefined if it has that already. */
export async function finishAnswer(body: JsonBody, call: Call, to: Finishing): Promise<Buffer | undefined> {
  const changes: Record<string, string> = {};
  if (body.get('object') !== 'list') changes.object = '"list"';
  if (typeof body.get('model') !== 'string') changes.model = JSON.stringify(to.model);
  const usage = body.get('usage');
  if (usageIn(usage) === undefined || !tellsBoth(usage)) {
    changes.usage = JSON.stringify({
      ...(isObject(usage) && usage),
      prompt_tokens: to.usage.input,
      total_tokens: to.usage.input,
    });
  }
  const entries = asksOtherNumbers(call.body) ? undefined : readEntries(body);
  const data = entries && (await finishEntries(body, entries, asksBase64(call.body) ? 'base64' : 'numbers'));
  if (data !== undefined) changes.data = data;
  const requested = requestedDimensions(call.body);
  if (requested !== undefined && entries?.some(({ dimensions }) => dimensions !== requested))
    to.warnings.change('dimensions');
  return Object.keys(changes).length === 0 ? undefined : body.patched(changes);
}

function tellsBoth(usage: Json | undefined): boolean {
  return ['prompt_tokens', 'total_tokens'].every((name) => typeof member(usage, name) === 'number');
}

/** `data` with every vector in the requested encoding, and every entry with its index; undefined if it is so already. */
async function finishEntries(
  { bytes }: JsonBody,
  entries: readonly Entry[],
  form: Entry['form'],
): Promise<string | undefined> {
  const isFinished = (entry: Entry): boolean =>
    entry.form === form && ['object', 'index'].every((name) => tells(bytes, entry.members.get(name)));
  if (entries.every(isFinished)) return undefined;
  const texts: string[] = [];
  for (const [i, entry] of entries.entries()) {
    // Thousands of vectors take a while, so other requests get a turn in between.
    if (i % AT_ONCE === AT_ONCE - 1) await setImmediate();
    texts.push(finishEntry(bytes, entry, i, form));
  }
  return `[${texts.join(',')}]`;
}

function tells(bytes: Buffer, span: Span | undefined): boolean {
  return span !== undefined && textAt(bytes, span) !== 'null';
}

function finishEntry(bytes: Buffer, entry: Entry, index: number, form: Entry['form']): string {
  const texts = new Map([
    ['object', '"embedding"'],
    ['index', String(index)],
  ]);
  for (const [name, span] of entry.members) {
    const text = name === 'embedding' && entry.form !== form ? vectorAs(form, bytes, entry) : textAt(bytes, span);
    if (text !== 'null' || !texts.has(name)) texts.set(name, text);
  }
  return `{${[...texts].map(([name, text]) => `"${name}":${text}`).join(',')}}`;
}

function textAt(bytes: Buffer, { start, end }: Span): string {
  return bytes.toString('utf8', start, end);
}
