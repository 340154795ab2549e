/** Texts in two languages. Each part of the console has its own; the compiler reports missing ones. */
import { createContext, useContext } from 'react';
import { WORDS } from './words.ts';

/** The languages of the console. */
export const LANGUAGES = ['en', 'zh'] as const;
/** A value of `LANGUAGES`. */
export type Language = (typeof LANGUAGES)[number];

/** A text in one language. */
type Text = string | ((...values: never[]) => string);
/** A text in English and Chinese. */
export type Pair<T extends Text = string> = readonly [en: T, zh: T];
/** Texts by name; sets of texts can be nested. */
type Table = { readonly [name: string]: Pair<Text> | Table };
type Like<T> = T extends (...values: infer V) => string ? (...values: V) => string : string;
/** One language of a table; a text whose two languages take different values is `never`. */
type InOne<T> = {
  readonly [K in keyof T]: T[K] extends readonly [infer E, infer Z]
    ? Z extends Like<E>
      ? Like<E>
      : never
    : InOne<T[K]>;
};

type Texts<T> = Readonly<Record<Language, T>>;
/** A hook for the viewer's language, and both languages. */
type Translated<T> = (() => T) & Texts<T>;

/**
 * `useText` of `texts({ title: ['Keys', '密钥'] })` returns the texts in the viewer's language, with the common words; one that is
 * missing does not compile. Outside of components, `useText.en` and `useText.zh` are the languages.
 */
export function texts<T extends Table>(table: T): Translated<InOne<T> & Common> {
  return translated({ en: { ...inOne<T>(table, 0), words: EN }, zh: { ...inOne<T>(table, 1), words: ZH } });
}

/** A count in English: `1 key`, `2 keys`. `several`: the plural, unless it only has an s more. */
export function counted(count: string, one: string, several = `${one}s`): string {
  return `${count} ${count === '1' ? one : several}`;
}

/** The hook of texts that are in two tables. */
export function translated<T>(of: Texts<T>): Translated<T> {
  const useText = (): T => of[useContext(LanguageContext).language];
  return Object.assign(useText, of);
}

function inOne<T>(table: Table, language: 0 | 1): InOne<T> {
  const named = Object.entries(table).map(([name, of]) => [
    name,
    Array.isArray(of) ? of[language] : inOne(of as Table, language),
  ]);
  return Object.fromEntries(named) as InOne<T>;
}

/** The words that pages share. */
type Common = { readonly words: InOne<typeof WORDS> };
const EN = inOne<typeof WORDS>(WORDS, 0);
const ZH = inOne<typeof WORDS>(WORDS, 1);

/** The viewer's language, and how to change it. */
export const LanguageContext = createContext<{
  readonly language: Language;
  choose(language: Language): void;
}>({ language: 'en', choose: () => {} });

/** The language that the viewer chose; undefined: none. */
export function chosenLanguage(): Language | undefined {
  const chosen = localStorage.getItem('turnpike.language');
  return chosen === 'en' || chosen === 'zh' ? chosen : undefined;
}

/** The chosen language, otherwise that of the browser. */
export function firstLanguage(): Language {
  return chosenLanguage() ?? (navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en');
}
