/** One person, found by typing a part of their name, their address or their id. For administrators. */
import { Loader, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useApi } from '../api/hooks.ts';
import { texts, useText } from '../text.ts';

const TEXT = texts({ nobody: 'No matching people' }, { nobody: '没有找到此用户' });

/** How many are offered. */
const MOST = 20;

/** The field. `value` '': nobody is chosen; else an id. */
export function PersonSelect({
  label,
  value,
  onChange,
  placeholder,
  about,
  error,
  hiddenLabel = false,
}: {
  readonly label: string;
  readonly value: string;
  onChange(id: string): void;
  /** What it means that nobody is chosen. */
  readonly placeholder?: string;
  readonly about?: string;
  readonly error?: string | undefined;
  /** The label is only read aloud. */
  readonly hiddenLabel?: boolean;
}) {
  const text = useText(TEXT);
  const [typed, setTyped] = useState('');
  const [keyword] = useDebouncedValue(typed, 250);
  // What is chosen stands in the field: nobody is looked for by that.
  const [looking, setLooking] = useState(false);
  const { data, isFetching } = useApi(
    'GET /api/user/search',
    { search: { keyword: looking ? keyword : '', page_size: MOST } },
    { staleTime: 30_000, placeholderData: (before) => before },
  );
  const chosen = useApi('GET /api/user/{id}', { params: { id: value } }, { enabled: value !== '', staleTime: 60_000 });
  const offered = data?.items.map(({ id, username, display_name }) => named(id, username, display_name)) ?? [];
  const known =
    value !== '' && !offered.some((each) => each.value === value)
      ? [named(Number(value), chosen.data?.username ?? `#${value}`, chosen.data?.display_name ?? '')]
      : [];
  return (
    <Select
      {...(hiddenLabel ? { 'aria-label': label } : { label })}
      description={about}
      placeholder={placeholder}
      data={[...known, ...offered]}
      // The gateway has found them by more than what is shown.
      filter={({ options }) => options}
      value={value === '' ? null : value}
      onChange={(id) => {
        setLooking(false);
        onChange(id ?? '');
      }}
      onSearchChange={setTyped}
      onInput={() => setLooking(true)}
      onDropdownOpen={() => setLooking(false)}
      nothingFoundMessage={isFetching ? <Loader size="xs" /> : text.nobody}
      searchable
      clearable
      limit={MOST + 1}
      error={error}
    />
  );
}

function named(id: number, username: string, displayName: string) {
  return {
    value: `${id}`,
    label: displayName === '' || displayName === username ? username : `${username} (${displayName})`,
  };
}
