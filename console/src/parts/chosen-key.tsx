/** The selected key, and its secret, which is known only while the page is open. */
import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client.ts';
import { useAction, useApi } from '../api/hooks.ts';
import type * as api from '../api/operations.ts';
import { texts } from '../text.ts';

/** A key from `/api`. */
export type Key = api.Key;

/** The page size; other keys are found by name. */
const SHOWN = 50;

/** The selected key and its secret. */
export interface ChosenKey {
  /** Undefined while loading. */
  readonly keys: readonly Key[] | undefined;
  /** True if the user has no key. */
  readonly none: boolean;
  readonly key: Key | undefined;
  /** The secret, if the key was created or pasted here. */
  readonly text: string | undefined;
  readonly isNew: boolean;
  readonly pasted: string;
  readonly isMaking: boolean;
  find(name: string): void;
  choose(id: number): void;
  paste(text: string): void;
  make(name: string): void;
}

/** `id`: from the address; empty: the newest usable key. */
export function useChosenKey(id: string, onChoose: (id: string) => void): ChosenKey {
  const [keyword, find] = useState('');
  const [secrets, setMade] = useState<Readonly<Record<number, string>>>({});
  const [pasted, paste] = useState('');
  const list = useApi(
    'GET /api/token/',
    { search: { page_size: SHOWN, keyword } },
    { placeholderData: keepPreviousData },
  );
  const selectedId = /^\d+$/.test(id) ? Number(id) : undefined;
  const listed = list.data?.items.find((key) => key.id === selectedId);
  const single = useApi(
    'GET /api/token/{id}',
    { params: { id: selectedId ?? 0 } },
    { enabled: selectedId !== undefined && list.data !== undefined && listed === undefined, retry: false },
  );
  const newest = list.data?.items.find(({ status }) => status === 1) ?? list.data?.items[0];
  const key = listed ?? (selectedId === undefined || single.isError ? newest : single.data);
  const making = useAction((name: string) => call('POST /api/token/', { body: { name } }), {
    changes: ['GET /api/token/'],
    done(record) {
      setMade((before) => ({ ...before, [record.id]: record.key }));
      paste('');
      onChoose(String(record.id));
    },
  });
  const text = isKeyFormat(pasted) ? pasted : key && secrets[key.id];
  return {
    keys: list.data?.items,
    none: list.data?.total === 0 && keyword === '',
    key,
    text,
    isNew: text !== undefined && text === (key && secrets[key.id]),
    pasted,
    isMaking: making.isPending,
    find,
    choose(chosen) {
      paste('');
      onChoose(String(chosen));
    },
    paste: (typed) => paste(typed.trim()),
    make: (name) => making.mutate(name),
  };
}

/** Whether a text has the format of a key. */
export function isKeyFormat(text: string): boolean {
  return /^sk-[\w-]{8,200}$/.test(text);
}

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
