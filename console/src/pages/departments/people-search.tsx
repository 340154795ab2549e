/** Multiple users found by a part of their name. */
import { MultiSelect } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { isRoot, KEEPS_DATA, useApi, useSelf } from '../../api/hooks.ts';
import type { User } from '../../api/operations.ts';
import { useText } from './text.ts';

type Person = User;

/** The number of users that one request can add. */
const MOST = 100;

/** The field. Users whose role is not below the viewer's are shown but cannot be selected. */
export function PeopleSearch({
  label,
  about,
  value,
  onChange,
}: {
  readonly label: string;
  readonly about?: string;
  readonly value: readonly string[];
  onChange(ids: string[]): void;
}) {
  const text = useText();
  const self = useSelf();
  const [typed, setTyped] = useState('');
  const [keyword] = useDebouncedValue(typed.trim(), 200);
  const [chosen, setChosen] = useState<readonly Person[]>([]);
  const results = useApi(
    'GET /api/user/search',
    { search: { keyword: keyword || undefined, status: 1, page_size: 20 } },
    KEEPS_DATA,
  );
  const people = new Map([...chosen, ...(results.data?.items ?? [])].map((person) => [`${person.id}`, person]));
  return (
    <MultiSelect
      label={label}
      description={about}
      placeholder={value.length === 0 ? text.findPeople : undefined}
      data={[...people].map(([id, person]) => ({
        value: id,
        label: labelOf(person, text),
        disabled: !isRoot(self) && person.role >= 10,
      }))}
      // The gateway did the filtering.
      filter={({ options }) => options}
      value={[...value]}
      onChange={(ids) => {
        setChosen(ids.flatMap((id) => people.get(id) ?? []));
        onChange(ids);
      }}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      nothingFoundMessage={text.words.noMatchingUsers}
      hidePickedOptions
      maxValues={MOST}
    />
  );
}

function labelOf(
  { username, display_name: displayName, department_name: department }: Person,
  text: ReturnType<typeof useText>,
): string {
  const name = displayName === '' || displayName === username ? username : `${displayName} (${username})`;
  return department === '' ? name : `${name} · ${text.nowIn(department)}`;
}
