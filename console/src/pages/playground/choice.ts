/** The selection: model, key, task and APIs. Kept in the address. */
import { useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import { useAddress } from '../../parts/address.ts';
import { type ChosenKey, type Key, useChosenKey } from '../../parts/chosen-key.tsx';
import { type ModelCard, purposesOf } from '../../parts/model-card.ts';
import { type Endpoint, type Kind, STYLES, type Style } from './prompt.ts';

/** The selection, and how to change it. */
export interface Choice {
  readonly key: ChosenKey;
  /** The models that the key can call. */
  readonly models: readonly string[];
  /** Empty: none. */
  readonly model: string;
  /** Undefined: an unknown model. */
  readonly card: ModelCard | undefined;
  readonly kinds: readonly Kind[];
  readonly kind: Kind;
  /** The selected APIs that the model supports. */
  readonly styles: readonly Style[];
  /** The calls that one press of Send makes. */
  readonly ways: readonly Endpoint[];
  choose(change: { readonly model?: string; readonly kind?: Kind; readonly styles?: readonly Style[] }): void;
}

/** The same page size as the key field, so that keys are loaded once. */
const KEYS_LISTED = 50;
const NO_STYLE = 'none';

/** `cards`: all models. */
export function useChoice(cards: readonly ModelCard[]): Choice {
  const [address, change] = useAddress({ model: '', key: '', kind: '', styles: '' });
  const listed = useApi('GET /api/token/', { search: { page_size: KEYS_LISTED, keyword: '' } });
  // If the address names a model, select a key that can call it.
  const fits = listed.data?.items.find((key) => key.status === 1 && scopeOf(key)?.has(address.model) !== false);
  const usualKey = address.model === '' ? undefined : fits;
  const chosen = useChosenKey(address.key === '' ? `${usualKey?.id ?? ''}` : address.key, (key) => change({ key }));
  const { key } = chosen;
  const allowed = useMemo(() => {
    const scope = key && scopeOf(key);
    return cards.filter(({ name }) => scope?.has(name) !== false);
  }, [cards, key]);
  // By default a chat model that can be called.
  const defaultModel =
    allowed.find((card) => (card.free || card.price !== null) && purposesOf(card).includes('chat')) ?? allowed[0];
  const model = address.model !== '' ? address.model : (defaultModel?.name ?? '');
  const card = cards.find(({ name }) => name === model);
  const kinds = card === undefined ? CHAT : purposesOf(card);
  const kind = kinds.find((each) => each === address.kind) ?? kinds[0] ?? 'chat';
  const styles = useMemo(() => {
    // By default one API, because each call is charged.
    const defaultEndpoint =
      card?.styles.find(({ name, native }) => native && STYLES.some((style) => style === name))?.name ?? 'chat';
    const selected = address.styles === '' ? [defaultEndpoint] : address.styles.split(',');
    return STYLES.filter(
      (style) => selected.includes(style) && (card === undefined || card.styles.some(({ name }) => name === style)),
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

/** The models of a key; undefined: all. */
function scopeOf(key: Key): ReadonlySet<string> | undefined {
  return key.model_limits_enabled ? new Set(key.model_limits.split(',')) : undefined;
}

const CHAT: readonly Kind[] = ['chat'];
