/** What is tried: which model with which key, what for, in which styles. It lives in the address. */
import { useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import { useAddress } from '../../parts/address.ts';
import { type ChosenKey, type Key, useChosenKey } from '../../parts/chosen-key.ts';
import { type ModelCard, purposesOf } from '../../parts/model-card.ts';
import { type Kind, STYLES, type Style, type Way } from './prompt.ts';

/** It, and how it changes. */
export interface Choice {
  readonly key: ChosenKey;
  /** Those that the key may call. */
  readonly models: readonly string[];
  /** Empty: there is none. */
  readonly model: string;
  /** Undefined: nobody knows the model. */
  readonly card: ModelCard | undefined;
  readonly kinds: readonly Kind[];
  readonly kind: Kind;
  /** Those that were chosen, and that the model answers in. */
  readonly styles: readonly Style[];
  /** The calls that are made at once. */
  readonly ways: readonly Way[];
  choose(change: { readonly model?: string; readonly kind?: Kind; readonly styles?: readonly Style[] }): void;
}

/** As many as the field of keys lists: they are read once. */
const KEYS_LISTED = 50;
const NO_STYLE = 'none';

/** `cards`: all models. */
export function useChoice(cards: readonly ModelCard[]): Choice {
  const [address, change] = useAddress({ model: '', key: '', kind: '', styles: '' });
  const listed = useApi('GET /api/token/', { search: { page_size: KEYS_LISTED, keyword: '' } });
  // Whoever comes with a model wants a key that may call it.
  const fits = listed.data?.items.find((key) => key.status === 1 && scopeOf(key)?.has(address.model) !== false);
  const usualKey = address.model === '' ? undefined : fits;
  const chosen = useChosenKey(address.key === '' ? `${usualKey?.id ?? ''}` : address.key, (key) => change({ key }));
  const { key } = chosen;
  const allowed = useMemo(() => {
    const scope = key && scopeOf(key);
    return cards.filter(({ name }) => scope?.has(name) !== false);
  }, [cards, key]);
  // To begin with one that talks, and that can be called.
  const usual =
    allowed.find((card) => (card.free || card.price !== null) && purposesOf(card).includes('chat')) ?? allowed[0];
  const model = address.model !== '' ? address.model : (usual?.name ?? '');
  const card = cards.find(({ name }) => name === model);
  const kinds = card === undefined ? CHAT : purposesOf(card);
  const kind = kinds.find((each) => each === address.kind) ?? kinds[0] ?? 'chat';
  const styles = useMemo(() => {
    // One call, unless more are wanted: each is paid.
    const usual =
      card?.styles.find(({ name, native }) => native && STYLES.some((style) => style === name))?.name ?? 'chat';
    const asked = address.styles === '' ? [usual] : address.styles.split(',');
    return STYLES.filter(
      (style) => asked.includes(style) && (card === undefined || card.styles.some(({ name }) => name === style)),
    );
  }, [address.styles, card]);
  const ways = useMemo(() => (kind === 'chat' ? styles : [kind]), [kind, styles]);
  return {
    key: chosen,
    models: useMemo(() => allowed.map(({ name }) => name), [allowed]),
    model,
    card,
    kinds,
    kind,
    styles,
    ways,
    choose(to) {
      change({
        ...(to.model !== undefined && { model: to.model }),
        ...(to.kind !== undefined && { kind: to.kind }),
        ...(to.styles !== undefined && { styles: to.styles.join(',') || NO_STYLE }),
      });
    },
  };
}

/** The models that a key is for; undefined: all. */
function scopeOf(key: Key): ReadonlySet<string> | undefined {
  return key.model_limits_enabled ? new Set(key.model_limits.split(',')) : undefined;
}

const CHAT: readonly Kind[] = ['chat'];
