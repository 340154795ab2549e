/** A model as the catalogue tells of it, and which of them somebody looks for. Pure. */
import type * as api from '../api/operations.ts';

/** A model. */
export type ModelCard = api.ModelCard;
/** What models are for. */
export const PURPOSES = ['chat', 'embeddings', 'images', 'speech', 'transcription'] as const;
/** One of them. */
export type Purpose = (typeof PURPOSES)[number];
/** What some of them can do beside answering with text. */
export const ABILITIES = ['vision', 'tools', 'reasoning', 'structured_output', 'audio_input', 'audio_output'] as const;
/** One of them. */
export type Ability = (typeof ABILITIES)[number];

/** What each purpose is asked in. */
const STYLES_FOR: Readonly<Record<Purpose, readonly string[]>> = {
  chat: ['chat', 'responses', 'messages'],
  embeddings: ['embeddings'],
  images: ['images'],
  speech: ['speech'],
  transcription: ['transcription'],
};

/** What a model may be tried for: what it is for where that is known, else whatever its styles are for. */
export function purposesOf({ purposes, styles }: Pick<ModelCard, 'purposes' | 'styles'>): readonly Purpose[] {
  const asked = PURPOSES.filter((purpose) => styles.some(({ name }) => STYLES_FOR[purpose].includes(name)));
  return purposes === null ? asked : asked.filter((purpose) => purposes.includes(purpose));
}

/** The styles that it is tried in; those that serve the same in other ways are left out. */
export function mainStyles(card: Pick<ModelCard, 'purposes' | 'styles'>): ModelCard['styles'] {
  const wanted = new Set(purposesOf(card).flatMap((purpose) => STYLES_FOR[purpose]));
  const main = card.styles.filter(({ name }) => wanted.has(name));
  return main.length > 0 ? main : card.styles;
}

/** What somebody looks for; empty: does not matter. */
export interface Wanted {
  readonly q: string;
  readonly purpose: string;
  readonly style: string;
  readonly ability: string;
  /** `yes` */
  readonly free: string;
}

/** Those that are like that. What nobody knows of a model does not speak for it. */
export function fitting(
  cards: readonly ModelCard[],
  { q, purpose, style, ability, free }: Wanted,
): readonly ModelCard[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return cards.filter((card) => {
    const named = `${card.name} ${card.model}`.toLowerCase();
    return (
      words.every((word) => named.includes(word)) &&
      (purpose === '' || purposesOf(card).some((one) => one === purpose)) &&
      (style === '' || card.styles.some(({ name }) => name === style)) &&
      (ability === '' || card.abilities[ability as Ability] === true) &&
      (free === '' || card.free)
    );
  });
}
