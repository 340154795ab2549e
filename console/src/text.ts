/** Texts in two languages: each part of the console says its own, and the compiler sees that none is missing. */
import { createContext, useContext } from 'react';

/** The languages of the console. */
export const LANGUAGES = ['en', 'zh'] as const;
/** One of them. */
export type Language = (typeof LANGUAGES)[number];

/** What a text may be: words, or words around values. Sets of texts may hold sets. */
type Text = string | ((...values: never[]) => string) | { readonly [name: string]: Text };

/** The same names with texts of the same kind: what every other language must have. */
type Like<T> = T extends string
  ? string
  : T extends (...values: infer V) => string
    ? (...values: V) => string
    : { readonly [K in keyof T]: Like<T[K]> };

/** Texts by language. */
export type Texts<T> = Readonly<Record<Language, T>>;

/** Lets the compiler compare the languages: `texts({ title: 'Keys' }, { title: '密钥' })`. */
export function texts<T extends { readonly [name: string]: Text }>(en: T, zh: Like<T>): Texts<T> {
  return { en, zh: zh as unknown as T };
}

/** The language of whoever looks, and how to change it. */
export const LanguageContext = createContext<{
  readonly language: Language;
  choose(language: Language): void;
}>({ language: 'en', choose: () => {} });

/** The texts in the language of whoever looks. */
export function useText<T>(of: Texts<T>): T {
  return of[useContext(LanguageContext).language];
}

/** What was chosen, else what the browser says. */
export function firstLanguage(): Language {
  const chosen = localStorage.getItem('turnpike.language');
  if (chosen === 'en' || chosen === 'zh') return chosen;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}
