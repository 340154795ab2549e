/** Where a text says it has something from. */

import type { Json, JsonObject, Losses } from '../../../core/plugin.ts';
import { type Citation, isObject, omitUnsaid } from '../../../core/translation/index.ts';

/** The citations of a text in the common form; `length` is how long it is. Those of a text without words are named. */
export function decodeCitations(raw: readonly Json[], length: number, losses: Losses): readonly Citation[] {
  if (length === 0 && raw.length > 0) losses.omit('citations');
  return length === 0 ? [] : raw.map((citation) => decodeCitation(citation, length));
}

/** One of them. A text of this style is cited as a whole. */
export function decodeCitation(raw: Json, length: number): Citation {
  const { url, source, title, document_title: documentTitle, cited_text: quote } = isObject(raw) ? raw : {};
  const name = title ?? documentTitle;
  // What a client found itself has a source, which is an address more often than not.
  const address = url ?? (typeof source === 'string' && /^https?:/.test(source) ? source : undefined);
  return {
    style: 'messages',
    raw,
    start: 0,
    end: length,
    ...(typeof address === 'string' && { url: address }),
    ...(typeof name === 'string' && { title: name }),
    ...(typeof quote === 'string' && { quote }),
  };
}

/** As this style spells it; undefined where it has no form for it. What is not told is named. */
export function encodeCitation(citation: Citation, losses: Losses): JsonObject | undefined {
  const { style, raw, url, title, quote } = citation;
  if (style === 'messages' && isObject(raw)) return raw;
  if (url === undefined) {
    losses.omit('citations');
    return undefined;
  }
  const told = {
    type: 'web_search_result_location',
    url,
    title: title ?? null,
    cited_text: quote ?? '',
    encrypted_index: '',
  };
  omitUnsaid(citation, told, losses);
  return told;
}
