/** A debounced search field; Enter searches at once. */
import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { IconSearch } from '../icons.ts';
import { texts } from '../text.ts';

const useText = texts({ clear: ['Clear search', '清除搜索'] });

/** The field. `value` is the current filter of the list. */
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
  const text = useText();
  const [typed, setTyped] = useState(value);
  const reported = useRef(value);
  const report = (next: string): void => {
    const trimmed = next.trim();
    if (trimmed === reported.current) return;
    reported.current = trimmed;
    onSearch(trimmed);
  };
  const later = useDebouncedCallback(report, 300);
  // The filter was changed by other controls: it was cleared, or the user went back.
  useEffect(() => {
    if (value === reported.current) return;
    reported.current = value;
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
              report('');
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
      onKeyDown={({ key }) => key === 'Enter' && report(typed)}
    />
  );
}
