/** A field that filters a list while somebody types: told a moment after the last letter, or at once with Enter. */
import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { texts, useText } from '../text.ts';

const TEXT = texts({ clear: 'Clear the search' }, { clear: '清除搜索' });

/** The field. `value` is what the list is filtered by. */
export function SearchField({
  label,
  value,
  onSearch,
  maxLength = 100,
}: {
  readonly label: string;
  readonly value: string;
  onSearch(value: string): void;
  readonly maxLength?: number;
}) {
  const text = useText(TEXT);
  const [typed, setTyped] = useState(value);
  const told = useRef(value);
  const tell = (next: string): void => {
    const trimmed = next.trim();
    if (trimmed === told.current) return;
    told.current = trimmed;
    onSearch(trimmed);
  };
  const later = useDebouncedCallback(tell, 300);
  // What was filtered by something else: a cleared filter, an address that somebody went back to.
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setTyped(value);
  }, [value]);
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={
        typed !== '' && (
          <CloseButton
            size="sm"
            aria-label={text.clear}
            onClick={() => {
              setTyped('');
              tell('');
            }}
          />
        )
      }
      value={typed}
      maxLength={maxLength}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        later(currentTarget.value);
      }}
      onKeyDown={({ key }) => key === 'Enter' && tell(typed)}
    />
  );
}
