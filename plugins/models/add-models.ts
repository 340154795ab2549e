/** Adds models to the section `models` of a gateway.yaml, as text: everything else stays as it is, comments included. */
import { readFile, writeFile } from 'node:fs/promises';
import { isMap, isScalar, parseDocument } from 'yaml';
import { errors } from './errors.ts';

/** A text that cannot be extended; the message is part of a sentence. */
class NotExtendable extends Error {}

/** Words that would not be text in YAML. */
const NOT_PLAIN = /^(true|false|null|yes|no|on|off|y|n)$/i;

/**
 * Adds models of a channel to gateway.yaml; a running gateway then reloads it. Returns the names that it did not have. Refuses (409) if the file cannot
 * be written, or has no block of models.
 */
export async function addModels(file: string, names: readonly string[], channel: string): Promise<readonly string[]> {
  try {
    const text = await readFile(file, 'utf8');
    const { text: extended, added } = withModels(text, names, channel);
    if (added.length > 0) await writeFile(file, extended);
    return added;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof NotExtendable || code !== undefined) {
      throw errors.models_not_added(error instanceof NotExtendable ? error.message : `it cannot be written (${code})`);
    }
    throw error;
  }
}

/**
 * The text with a line `NAME: { from: [CHANNEL] }` for each name behind the last model. Names that the section has already are left out. Throws
 * `NotExtendable` if the section is not a block with a model per line.
 */
function withModels(
  text: string,
  names: readonly string[],
  channel: string,
): { readonly text: string; readonly added: readonly string[] } {
  const doc = parseDocument(text, { keepSourceTokens: true });
  const models = doc.get('models', true);
  if (doc.errors.length > 0) throw new NotExtendable('it has a mistake: see `turnpike check`');
  const last = isMap(models) && models.flow !== true ? models.items.at(-1) : undefined;
  if (!isMap(models) || last === undefined || !isScalar(last.key) || !last.key.range) {
    throw new NotExtendable('its section `models` is not a block with at least one model');
  }
  const added = names.filter((name) => !models.has(name));
  const start = last.key.range[0];
  const indent = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  if (indent.trim() !== '') throw new NotExtendable('its section `models` is not a block with a model per line');
  const { range } = (last.value ?? last.key) as { readonly range?: readonly [number, number, number] | null };
  const content = range?.[1] ?? start;
  // A block value ends behind its line.
  const end = text[content - 1] === '\n' ? content - 1 : text.indexOf('\n', content);
  const at = end === -1 ? text.length : end;
  const lines = added.map((name) => `\n${indent}${written(name)}: { from: [${channel}] }`);
  return { text: text.slice(0, at) + lines.join('') + text.slice(at), added };
}

function written(name: string): string {
  return /^[A-Za-z][\w./-]*$/.test(name) && !NOT_PLAIN.test(name) ? name : JSON.stringify(name);
}
