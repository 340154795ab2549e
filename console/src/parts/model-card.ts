/** Models of the catalogue, and their filters. Pure. */
import type * as api from '../api/operations.ts';

/** A model. */
export type ModelCard = api.ModelCard;
/** The purposes of models. */
export const PURPOSES = ['chat', 'embeddings', 'images', 'speech', 'transcription'] as const;
/** A value of `PURPOSES`. */
export type Purpose = (typeof PURPOSES)[number];
/** Capabilities other than text. */
export const ABILITIES = ['vision', 'tools', 'reasoning', 'structured_output', 'audio_input', 'audio_output'] as const;
/** A value of `ABILITIES`. */
export type Ability = (typeof ABILITIES)[number];

/** The APIs of each purpose. */
const STYLES_FOR: Readonly<Record<Purpose, readonly string[]>> = {
  chat: ['chat', 'responses', 'messages'],
  embeddings: ['embeddings'],
  images: ['images'],
  speech: ['speech'],
  transcription: ['transcription'],
};

/** The tasks that the playground offers for a model: its purpose if known, otherwise those of its APIs. */
export function purposesOf({ purposes, styles }: Pick<ModelCard, 'purposes' | 'styles'>): readonly Purpose[] {
  const possible = PURPOSES.filter((purpose) => styles.some(({ name }) => STYLES_FOR[purpose].includes(name)));
  return purposes === null ? possible : possible.filter((purpose) => purposes.includes(purpose));
}

/** The APIs that the playground offers for a model; equivalent ones are left out. */
export function mainStyles(card: Pick<ModelCard, 'purposes' | 'styles'>): ModelCard['styles'] {
  const names = new Set(purposesOf(card).flatMap((purpose) => STYLES_FOR[purpose]));
  const main = card.styles.filter(({ name }) => names.has(name));
  return main.length > 0 ? main : card.styles;
}

/** The filters; empty: any. */
export interface ModelFilters {
  readonly q: string;
  readonly purpose: string;
  readonly style: string;
  readonly ability: string;
  /** `yes` */
  readonly free: string;
}

/** The matching models. Models with an unknown property do not match. */
export function matchingModels(
  cards: readonly ModelCard[],
  { q, purpose, style, ability, free }: ModelFilters,
): readonly ModelCard[] {
  const terms = q.toLowerCase().split(/\s+/).filter(Boolean);
  return cards.filter((card) => {
    const named = `${card.name} ${card.model}`.toLowerCase();
    return (
      terms.every((word) => named.includes(word)) &&
      (purpose === '' || purposesOf(card).some((value) => value === purpose)) &&
      (style === '' || card.styles.some(({ name }) => name === style)) &&
      (ability === '' || card.abilities[ability as Ability] === true) &&
      (free === '' || card.free)
    );
  });
}
