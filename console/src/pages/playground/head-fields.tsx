/** The choice of kind, model, APIs and key, and its fields. */
import { Select, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import { IconPlus } from '../../icons.ts';
import { useAddress } from '../../parts/address.ts';
import { type ChosenKey, type Key, KeySelect, useChosenKey } from '../../parts/chosen-key.tsx';
import { Choice } from '../../parts/filter-select.tsx';
import { type ModelCard, purposesOf } from '../../parts/model-card.ts';
import { PlainButton, Small } from '../../parts/page.tsx';
import { type Endpoint, type Kind, STYLES, type Style } from './prompt.ts';
import { useText } from './text.ts';

/** The key for the calls; without a key, offers to create one. */
export function KeyField({ chosen }: { readonly chosen: ChosenKey }) {
  const text = useText();
  const { none } = chosen;
  if (none)
    return (
      <Stack gap={4} align="flex-start">
        <Text size="sm" fw={500}>
          {text.needsKey}
        </Text>
        <Small>{text.needsKeyAbout}</Small>
        <PlainButton
          leftSection={<IconPlus size={14} />}
          loading={chosen.isMaking}
          onClick={() => chosen.make('playground')}
        >
          {text.makeKey}
        </PlainButton>
      </Stack>
    );
  return (
    <KeySelect
      chosen={chosen}
      description={text.keyAbout}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
    />
  );
}

/** The model to call. */
export function ModelField({
  names,
  model,
  about,
  onChoose,
}: {
  /** Undefined while loading. */
  readonly names: readonly string[] | undefined;
  readonly model: string;
  /** Its price. */
  readonly about: string | undefined;
  onChoose(model: string): void;
}) {
  const text = useText();
  const isGone = model !== '' && names?.includes(model) === false;
  return (
    <Select
      label={text.words.model}
      description={about}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      error={isGone ? text.modelGone : undefined}
      data={isGone ? [model, ...(names ?? [])] : [...(names ?? [])]}
      value={model === '' ? null : model}
      onChange={(chosen) => chosen !== null && onChoose(chosen)}
      placeholder={names?.length === 0 ? text.noModel : undefined}
      nothingFoundMessage={text.words.noMatchingModels}
      limit={50}
      searchable
      allowDeselect={false}
    />
  );
}

/** The task, if the model supports several. */
export function KindField({
  kinds,
  kind,
  onChoose,
}: {
  readonly kinds: readonly Kind[];
  readonly kind: Kind;
  onChoose(kind: Kind): void;
}) {
  const text = useText();
  if (kinds.length < 2) return null;
  const data = kinds.map((each) => ({ value: each, label: text.kinds[each] }));
  return <Choice label={text.words.type} data={data} value={kind} onChange={onChoose} />;
}

/** The selection, and how to change it. */
export interface Target {
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
export function useChoice(cards: readonly ModelCard[]): Target {
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
