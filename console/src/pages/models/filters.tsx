/** What somebody looks for in the list of models. */
import { Checkbox, Group, NativeSelect } from '@mantine/core';
import { ABILITIES, type ModelCard, PURPOSES, purposesOf, type Wanted } from '../../parts/model-card.ts';
import { SearchField } from '../../parts/search-field.tsx';
import { useText } from '../../text.ts';
import { useStyleName } from './marks.tsx';
import { TEXT } from './text.ts';

/** The fields; they offer what some model has. */
export function Filters({
  cards,
  wanted,
  onWant,
}: {
  readonly cards: readonly ModelCard[];
  readonly wanted: Wanted;
  onWant(change: Partial<Wanted>): void;
}) {
  const text = useText(TEXT);
  const nameOf = useStyleName();
  const purposes = PURPOSES.filter((purpose) => cards.some((card) => purposesOf(card).includes(purpose)));
  const styles = [...new Set(cards.flatMap((card) => card.styles.map(({ name }) => name)))];
  const abilities = ABILITIES.filter((ability) => cards.some((card) => card.abilities[ability] === true));
  return (
    <Group gap="xs">
      <SearchField label={text.search} value={wanted.q} onSearch={(q) => onWant({ q })} />
      <NativeSelect
        aria-label={text.purpose}
        data={[
          { value: '', label: text.anyPurpose },
          ...purposes.map((value) => ({ value, label: text.purposes[value] })),
        ]}
        value={wanted.purpose}
        onChange={({ currentTarget: { value } }) => onWant({ purpose: value })}
      />
      <NativeSelect
        aria-label={text.style}
        data={[{ value: '', label: text.anyStyle }, ...styles.map((value) => ({ value, label: nameOf(value) }))]}
        value={wanted.style}
        onChange={({ currentTarget: { value } }) => onWant({ style: value })}
      />
      {(abilities.length > 0 || wanted.ability !== '') && (
        <NativeSelect
          aria-label={text.ability}
          data={[
            { value: '', label: text.anyAbility },
            ...(abilities.length > 0 ? abilities : ABILITIES).map((value) => ({ value, label: text.abilities[value] })),
          ]}
          value={wanted.ability}
          onChange={({ currentTarget: { value } }) => onWant({ ability: value })}
        />
      )}
      <Checkbox
        label={text.onlyFree}
        checked={wanted.free !== ''}
        onChange={({ currentTarget: { checked } }) => onWant({ free: checked ? 'yes' : '' })}
      />
    </Group>
  );
}
