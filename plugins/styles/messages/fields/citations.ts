/** Citations of a text. */

import type { Json, JsonObject, Warnings } from '../../../../core/plugin.ts';
import { type Citation, isObject, omitUnsaid } from '../../../../core/translation/index.ts';

/** Decodes the citations of a text; `length`: its length. Citations of an empty text are reported as lost. */
export function decodeCitations(raw: readonly Json[], length: number, warnings: Warnings): readonly Citation[] {
  if (length === 0 && raw.length > 0) warnings.omit('citations');
  return length === 0 ? [] : raw.map((citation) => decodeCitation(citation, length));
}

/** Decodes one citation. In this style, a citation applies to the whole text block. */
export function decodeCitation(raw: Json, length: number): Citation {
  const { url, source, title, document_title: documentTitle, cited_text: quote } = isObject(raw) ? raw : {};
  const name = title ?? documentTitle;
  // Results of client-side searches have a `source`, which usually is a URL.
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

/** Encodes a citation; undefined if this style has no form for it. Reports what is lost. */
export function encodeCitation(citation: Citation, warnings: Warnings): JsonObject | undefined {
  const { style, raw, url, title, quote } = citation;
  if (style === 'messages' && isObject(raw)) return raw;
  if (url === undefined) {
    warnings.omit('citations');
    return undefined;
  }
  const encoded = {
    type: 'web_search_result_location',
    url,
    title: title ?? null,
    cited_text: quote ?? '',
    encrypted_index: '',
  };
  omitUnsaid(citation, encoded, warnings);
  return encoded;
}
