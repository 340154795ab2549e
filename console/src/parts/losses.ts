/** What a translation did to a call, as the header `x-turnpike-translation` names it. Pure. */

/** One of its words. */
export interface Loss {
  /** `top_k`; of `more` nothing. */
  readonly field: string;
  readonly what: 'dropped' | 'changed' | 'omitted' | 'estimated' | 'more' | 'other';
  /** Of `more`: so many that are not named. */
  readonly count: number;
}

const KNOWN = ['dropped', 'changed', 'omitted', 'estimated'] as const;

/** The words of the header. */
export function lossesIn(header: string | null): readonly string[] {
  return (header ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/** What a word means. */
export function lossOf(word: string): Loss {
  const more = /^and (\d+) more$/.exec(word)?.[1];
  if (more !== undefined) return { field: '', what: 'more', count: Number(more) };
  const colon = word.lastIndexOf(':');
  const what = KNOWN.find((known) => known === word.slice(colon + 1));
  return what === undefined || colon < 1
    ? { field: word, what: 'other', count: 1 }
    : { field: word.slice(0, colon), what, count: 1 };
}
