/** The key that a client shall use, and its text, which is known only as long as this page is open. */
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client.ts';
import { useApi, useDoing } from '../api/hooks.ts';
import type * as api from '../api/operations.ts';

/** A key as `/api` shows it. */
export type Key = api.Key;

/** So many at once: the others are found by name. */
const SHOWN = 50;

/** Which key, what is known of it, and how it comes to be known. */
export interface ChosenKey {
  /** Undefined as long as they are read. */
  readonly keys: readonly Key[] | undefined;
  /** There is none at all. */
  readonly none: boolean;
  readonly key: Key | undefined;
  /** Made here, or pasted; undefined where neither. */
  readonly text: string | undefined;
  readonly isNew: boolean;
  readonly pasted: string;
  readonly isMaking: boolean;
  find(name: string): void;
  choose(id: number): void;
  paste(text: string): void;
  make(name: string): void;
}

/** `id`: what the address says; empty: the newest that works. */
export function useChosenKey(id: string, onChoose: (id: string) => void): ChosenKey {
  const [keyword, find] = useState('');
  const [made, setMade] = useState<Readonly<Record<number, string>>>({});
  const [pasted, paste] = useState('');
  const list = useApi(
    'GET /api/token/',
    { search: { page_size: SHOWN, keyword } },
    { placeholderData: keepPreviousData },
  );
  const asked = /^\d+$/.test(id) ? Number(id) : undefined;
  const listed = list.data?.items.find((key) => key.id === asked);
  const single = useApi(
    'GET /api/token/{id}',
    { params: { id: asked ?? 0 } },
    { enabled: asked !== undefined && list.data !== undefined && listed === undefined, retry: false },
  );
  const newest = list.data?.items.find(({ status }) => status === 1) ?? list.data?.items[0];
  const key = listed ?? (asked === undefined || single.isError ? newest : single.data);
  const making = useDoing((name: string) => call('POST /api/token/', { body: { name } }), {
    changes: ['GET /api/token/'],
    done(record) {
      setMade((before) => ({ ...before, [record.id]: record.key }));
      paste('');
      onChoose(String(record.id));
    },
  });
  const text = looksLikeKey(pasted) ? pasted : key && made[key.id];
  return {
    keys: list.data?.items,
    none: list.data?.total === 0 && keyword === '',
    key,
    text,
    isNew: text !== undefined && text === (key && made[key.id]),
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

/** Whether a text of somebody's is a key as they are made here. */
export function looksLikeKey(text: string): boolean {
  return /^sk-[\w-]{8,200}$/.test(text);
}
