/** Selects the key for calls. */
import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { texts } from '../text.ts';
import type { ChosenKey, Key } from './chosen-key.ts';

const useText = texts({
  states: { 2: ['disabled', '已停用'], 3: ['expired', '已过期'], 4: ['used up', '额度用尽'] },
});

/** The field. */
export function KeySelect({ chosen, ...props }: SelectProps & { readonly chosen: ChosenKey }) {
  const text = useText();
  const { key, keys } = chosen;
  const find = useDebouncedCallback((typed: string) => chosen.find(typed), 250);
  const named = ({ name, key: masked, status }: Key): string =>
    `${name} · ${masked}${status === 1 ? '' : ` (${text.states[status]})`}`;
  const options = [...(keys ?? []), ...(key !== undefined && !keys?.some(({ id }) => id === key.id) ? [key] : [])];
  return (
    <Select
      label={text.words.key}
      data={options.map((each) => ({ value: String(each.id), label: named(each) }))}
      value={key === undefined ? null : String(key.id)}
      onChange={(id) => id !== null && chosen.choose(Number(id))}
      // The gateway searches, because there may be more keys than were loaded.
      onSearchChange={(typed) => find(key !== undefined && typed === named(key) ? '' : typed)}
      filter={({ options: all }) => all}
      nothingFoundMessage={text.words.noMatchingKeys}
      searchable
      allowDeselect={false}
      {...props}
    />
  );
}
