/** Filters of the model list. */
import { Checkbox, Group, NativeSelect } from '@mantine/core';
import { anyOr } from '../../parts/filter-select.tsx';
import { ABILITIES, type ModelCard, type ModelFilters, PURPOSES, purposesOf } from '../../parts/model-card.ts';
import { SearchField } from '../../parts/search-field.tsx';
import { useText } from '../../text.ts';
import { useStyleName } from './marks.tsx';
import { TEXT } from './text.ts';

/** The fields. They offer only values that some model has. */
export function Filters({
  cards,
  filters,
  onWant,
}: {
  readonly cards: readonly ModelCard[];
  readonly filters: ModelFilters;
  onWant(change: Partial<ModelFilters>): void;
}) {
  const text = useText(TEXT);
  const nameOf = useStyleName();
  const purposes = PURPOSES.filter((purpose) => cards.some((card) => purposesOf(card).includes(purpose)));
  const styles = [...new Set(cards.flatMap((card) => card.styles.map(({ name }) => name)))];
  const abilities = ABILITIES.filter((ability) => cards.some((card) => card.abilities[ability] === true));
  return (
    <Group gap="xs">
      <SearchField label={text.search} value={filters.q} onSearch={(q) => onWant({ q })} />
      <NativeSelect
        aria-label={text.purpose}
        data={anyOr(text.anyPurpose, purposes, (value) => text.purposes[value])}
        value={filters.purpose}
        onChange={({ currentTarget: { value } }) => onWant({ purpose: value })}
      />
      <NativeSelect
        aria-label={text.style}
        data={anyOr(text.anyStyle, styles, (value) => nameOf(value))}
        value={filters.style}
        onChange={({ currentTarget: { value } }) => onWant({ style: value })}
      />
      {(abilities.length > 0 || filters.ability !== '') && (
        <NativeSelect
          aria-label={text.ability}
          data={anyOr(text.anyAbility, abilities.length > 0 ? abilities : ABILITIES, (value) => text.abilities[value])}
          value={filters.ability}
          onChange={({ currentTarget: { value } }) => onWant({ ability: value })}
        />
      )}
      <Checkbox
        label={text.onlyFree}
        checked={filters.free !== ''}
        onChange={({ currentTarget: { checked } }) => onWant({ free: checked ? 'yes' : '' })}
      />
    </Group>
  );
}
