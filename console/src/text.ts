/** Texts in two languages. Each part of the console has its own; the compiler reports missing ones. */
import { createContext, useContext } from 'react';

/** The languages of the console. */
export const LANGUAGES = ['en', 'zh'] as const;
/** A value of `LANGUAGES`. */
export type Language = (typeof LANGUAGES)[number];

/** A text: a string, or a function of values. Sets of texts can be nested. */
type Text = string | ((...values: never[]) => string) | { readonly [name: string]: Text };

/** The same names with texts of the same type: the shape of every other language. */
type Like<T> = T extends string
  ? string
  : T extends (...values: infer V) => string
    ? (...values: V) => string
    : { readonly [K in keyof T]: Like<T[K]> };

/** Texts by language. */
export type Texts<T> = Readonly<Record<Language, T>>;

/** Pairs the languages, with a type check: `texts({ title: 'Keys' }, { title: '密钥' })`. */
export function texts<T extends { readonly [name: string]: Text }>(en: T, zh: Like<T>): Texts<T> {
  return { en, zh: zh as unknown as T };
}

/** The viewer's language, and how to change it. */
export const LanguageContext = createContext<{
  readonly language: Language;
  choose(language: Language): void;
}>({ language: 'en', choose: () => {} });

/** The texts in the viewer's language. */
export function useText<T>(of: Texts<T>): T {
  return of[useContext(LanguageContext).language];
}

/** The stored language, otherwise that of the browser. */
export function firstLanguage(): Language {
  const chosen = localStorage.getItem('turnpike.language');
  if (chosen === 'en' || chosen === 'zh') return chosen;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}
