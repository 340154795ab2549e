/** Decodes translation warnings from the header `x-turnpike-translation`. Pure. */

/** A warning. */
export interface TranslationWarning {
  /** The field, such as `top_k`; none for `more`. */
  readonly field: string;
  readonly what: 'dropped' | 'changed' | 'omitted' | 'estimated' | 'more' | 'other';
  /** For `more`: the number of further warnings. */
  readonly count: number;
}

const KNOWN = ['dropped', 'changed', 'omitted', 'estimated'] as const;

/** The warnings in the header. */
export function warningsIn(header: string | null): readonly string[] {
  return (header ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/** The kind of a warning. */
export function parseWarning(token: string): TranslationWarning {
  const more = /^and (\d+) more$/.exec(token)?.[1];
  if (more !== undefined) return { field: '', what: 'more', count: Number(more) };
  const colon = token.lastIndexOf(':');
  const what = KNOWN.find((kind) => kind === token.slice(colon + 1));
  return what === undefined || colon < 1
    ? { field: token, what: 'other', count: 1 }
    : { field: token.slice(0, colon), what, count: 1 };
}
