/** The table `options` of one-api, new-api and one-hub. A program has a default for every option that has no row. */
import { jsonIn, objectIn, unreadable, wholeIn } from '../cells.ts';
import type { Row } from '../values.ts';

/** The options of a site. Their methods throw an `Error` that names an option whose value cannot be read. */
export interface Options {
  /** The text; undefined if there is no row, or an empty one. */
  text(name: string): string | undefined;
  /** Whether it is `true`; `otherwise` if there is no row. */
  truth(name: string, otherwise: boolean): boolean;
  /** A whole number. */
  whole(name: string): bigint | undefined;
  /** A JSON object; undefined if there is no row. */
  object(name: string): Row | undefined;
  /** A JSON list; undefined if there is no row. */
  list(name: string): readonly unknown[] | undefined;
  /** The names of all rows with a value. */
  readonly names: readonly string[];
  /** Their values by name. */
  readonly texts: Readonly<Record<string, string>>;
}

/** Reads the rows. */
export function optionsOf(rows: readonly Row[]): Options {
  const texts = new Map(
    rows.flatMap((row): readonly [string, string][] => {
      const value = row.value ?? '';
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return text.trim() === '' ? [] : [[String(row.key), text]];
    }),
  );
  const misread = (name: string, what: string): never => unreadable(`options, ${name}`, texts.get(name), what);
  return {
    names: [...texts.keys()],
    texts: Object.fromEntries(texts),
    text: (name) => texts.get(name)?.trim(),
    truth: (name, otherwise) => (texts.has(name) ? texts.get(name)!.trim() === 'true' : otherwise),
    whole(name) {
      const text = texts.get(name);
      return text === undefined ? undefined : (wholeIn(text) ?? misread(name, 'a whole number'));
    },
    object(name) {
      const text = texts.get(name);
      return text === undefined ? undefined : objectIn(text, (what) => misread(name, what));
    },
    list(name) {
      const text = texts.get(name);
      if (text === undefined) return undefined;
      const value = jsonIn(text, () => misread(name, 'a JSON list'));
      return Array.isArray(value) ? value : misread(name, 'a JSON list');
    },
  };
}

/** The names of a JSON object whose values are texts or anything: `{"default": "for all"}`. */
export const namesOf = (object: Row | undefined): readonly string[] => Object.keys(object ?? {});
