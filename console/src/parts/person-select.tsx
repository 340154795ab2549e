/** A user, found by a part of the name, the email address or the ID. For administrators. */
import { Loader, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { KEEPS_DATA, useApi } from '../api/hooks.ts';
import { texts } from '../text.ts';

const useText = texts({ noMatches: ['No matching users', '没有符合条件的用户'] });

const MOST = 20;

/** The field. `value` '': none, otherwise an ID. */
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
  /** Shown if none is selected. */
  readonly placeholder?: string;
  readonly about?: string;
  readonly error?: string | undefined;
  /** The label is for screen readers only. */
  readonly hiddenLabel?: boolean;
}) {
  const text = useText();
  const [typed, setTyped] = useState('');
  const [keyword] = useDebouncedValue(typed, 250);
  // The field contains the selected name, which is not a search.
  const [isSearching, setLooking] = useState(false);
  const { data, isFetching } = useApi(
    'GET /api/user/search',
    { search: { keyword: isSearching ? keyword : '', page_size: MOST } },
    { staleTime: 30_000, ...KEEPS_DATA },
  );
  const chosen = useApi(
    'GET /api/user/{id}',
    { params: { id: value }, search: { deleted: 'also' } },
    { enabled: value !== '', staleTime: 60_000 },
  );
  const offered = data?.items.map(({ id, username, display_name }) => named(id, username, display_name)) ?? [];
  const selected =
    value !== '' && !offered.some((each) => each.value === value)
      ? [named(Number(value), chosen.data?.username ?? `#${value}`, chosen.data?.display_name ?? '')]
      : [];
  return (
    <Select
      {...(hiddenLabel ? { 'aria-label': label } : { label })}
      description={about}
      placeholder={placeholder}
      data={[...selected, ...offered]}
      // The gateway did the filtering, by more than the shown text.
      filter={({ options }) => options}
      value={value === '' ? null : value}
      onChange={(id) => {
        setLooking(false);
        onChange(id ?? '');
      }}
      onSearchChange={setTyped}
      onInput={() => setLooking(true)}
      onDropdownOpen={() => setLooking(false)}
      nothingFoundMessage={isFetching ? <Loader size="xs" /> : text.noMatches}
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
