/** Filters of the usage records: fields, and chips of the active filters. */
import { Autocomplete, Group, NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type FormEvent, useEffect, useState } from 'react';
import { KEEPS_DATA, useApi } from '../../api/hooks.ts';
import { DepartmentSelect } from '../../parts/department-select.tsx';
import { FilterChip, FilterChips } from '../../parts/filter-chips.tsx';
import { anyOr } from '../../parts/filter-select.tsx';
import { PlainButton } from '../../parts/page.tsx';
import { PersonSelect } from '../../parts/person-select.tsx';
import type { Line } from './line.ts';
import { useText } from './text.ts';
import {
  type Change,
  type Filter,
  filterOf,
  isId,
  KINDS,
  type Kind,
  OUTCOMES,
  type Outcome,
  type View,
  WITHOUT_FILTERS,
} from './view.ts';

const OFFERED = 50;

/** The record kind. */
export function KindSelect({ view, change }: { readonly view: View; change(change: Change): void }) {
  const text = useText();
  return (
    <NativeSelect
      size="xs"
      aria-label={text.filter.kind}
      data={anyOr(text.words.all, Object.keys(KINDS) as Kind[], (kind) => text.kinds[kind])}
      value={filterOf(view, 'kind')}
      onChange={({ currentTarget }) => change({ kind: currentTarget.value, outcome: '', before: '' })}
    />
  );
}

/** The outcome of calls. */
export function OutcomeSelect({ view, change }: { readonly view: View; change(change: Change): void }) {
  const text = useText();
  return (
    <NativeSelect
      size="xs"
      aria-label={text.words.state}
      data={anyOr(text.words.anyState, OUTCOMES, (outcome) => text.outcomes[outcome])}
      value={filterOf(view, 'outcome')}
      // Only calls have an outcome: with another kind, the list would be empty.
      onChange={({ currentTarget }) => change({ outcome: currentTarget.value, kind: '', before: '' })}
    />
  );
}

/** The fields. A selection applies at once, typed text on Enter or with the button. */
export function FilterFields({ view, change }: { readonly view: View; change(change: Change): void }) {
  const { filter: text, words } = useText();
  const current = (name: Filter['name']): string => filterOf(view, name);
  const active = {
    model: current('model'),
    key: current('key'),
    channel: current('channel'),
    request_id: current('request_id'),
  };
  const [typed, setTyped] = useState(active);
  const key = JSON.stringify(active);
  // Chips and links change the filters, too.
  useEffect(() => setTyped(JSON.parse(key) as typeof active), [key]);
  const models = useApi('GET /api/user/models', undefined, { staleTime: 60_000 });
  const channels = useApi('GET /api/vendor/', undefined, { staleTime: 60_000, enabled: view.allUsers });
  const [keyword] = useDebouncedValue(typed.key, 250);
  const keys = useApi(
    'GET /api/token/search',
    { search: { keyword, page_size: OFFERED } },
    { staleTime: 30_000, enabled: !view.allUsers, ...KEEPS_DATA },
  );
  const wrong = typed.request_id !== '' && !isId(typed.request_id);
  const apply = (more: Partial<typeof active> = {}): void => {
    const next = { ...typed, ...more };
    change({
      ...next,
      // A name replaces an ID.
      ...(next.key !== active.key && { token_id: '' }),
      ...(wrong && more.request_id === undefined && { request_id: active.request_id }),
      before: '',
    });
  };
  const candidates = {
    model: unique(models.data ?? []),
    channel: unique((channels.data ?? []).map(({ name }) => name)),
  };
  const [several, setSeveral] = useState<readonly (keyof typeof candidates)[]>([]);
  // A part of a name selects the only match. A deleted name may still be in the usage records.
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const names = ['model', 'channel'] as const;
    const matches = Object.fromEntries(names.map((name) => [name, matching(candidates[name], typed[name])]));
    const unclear = names.filter((name) => (matches[name]?.length ?? 0) > 1);
    setSeveral(unclear);
    if (unclear.length === 0)
      apply(
        Object.fromEntries(
          names.flatMap((name) => (matches[name]?.[0] === undefined ? [] : [[name, matches[name][0]]])),
        ),
      );
  };
  const severalOf = (name: keyof typeof candidates): string | undefined =>
    several.includes(name) ? text.several : undefined;
  const field = (name: keyof typeof active) => ({
    value: typed[name],
    onChange: (value: string) => {
      setTyped((before) => ({ ...before, [name]: value }));
      setSeveral([]);
    },
    onOptionSubmit: (value: string) => apply({ [name]: value }),
    limit: OFFERED,
    maxLength: 256,
  });
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="flex-start" className="logs-fields">
        <Autocomplete label={words.model} data={candidates.model} error={severalOf('model')} {...field('model')} />
        <Autocomplete
          label={words.key}
          placeholder={text.keyAbout}
          data={view.allUsers ? [] : unique((keys.data?.items ?? []).map(({ name }) => name))}
          {...field('key')}
        />
        {view.allUsers && (
          <>
            <PersonSelect
              label={words.user}
              placeholder={words.allUsers}
              value={current('user_id')}
              onChange={(user_id) => change({ user_id, username: '', whose: 'all', before: '' })}
            />
            <DepartmentSelect
              label={words.department}
              placeholder={words.allDepartments}
              value={current('department_id')}
              onChange={(department_id) => change({ department_id, whose: 'all', before: '' })}
            />
            <Autocomplete
              label={words.channel}
              data={candidates.channel}
              error={severalOf('channel')}
              {...field('channel')}
            />
          </>
        )}
        <TextInput
          label={words.requestId}
          placeholder={text.requestAbout}
          maxLength={64}
          value={typed.request_id}
          error={wrong && typed.request_id.length >= 26 ? text.notAnId : undefined}
          onChange={({ currentTarget }) => {
            const request_id = currentTarget.value.trim();
            setTyped((before) => ({ ...before, request_id }));
          }}
        />
        <PlainButton type="submit" mt={28}>
          {text.apply}
        </PlainButton>
      </Group>
    </form>
  );
}

/** A row of chips; renders nothing without filters. `lines` provide the names of some IDs. */
export function Chips({
  view,
  change,
  lines,
}: {
  readonly view: View;
  change(change: Change): void;
  readonly lines: readonly Line[];
}) {
  if (view.filters.length === 0) return null;
  return (
    <FilterChips onClear={view.filters.length > 1 ? () => change(clearedOf(view)) : undefined}>
      {view.filters.map((filter) => (
        <Chip
          key={filter.name}
          filter={filter}
          lines={lines}
          onRemove={() => change({ [filter.name]: '', before: '', ...(view.allUsers && { whose: 'all' }) })}
        />
      ))}
    </FilterChips>
  );
}

/** Removes all filters; the scope stays. */
export function clearedOf(view: View): Change {
  return { ...WITHOUT_FILTERS, ...(view.allUsers && { whose: 'all' }) };
}

function Chip({
  filter,
  lines,
  onRemove,
}: {
  readonly filter: Filter;
  readonly lines: readonly Line[];
  onRemove(): void;
}) {
  const { filter: text, words } = useText();
  const value = useFilterValue(filter, lines);
  const what = {
    kind: text.kind,
    outcome: words.state,
    model: words.model,
    key: words.key,
    token_id: words.key,
    channel: words.channel,
    request_id: words.requestId,
    username: words.user,
    user_id: words.user,
    department_id: words.department,
  }[filter.name];
  return <FilterChip what={what} value={value} onRemove={onRemove} />;
}

/** The display name of a filter value. */
function useFilterValue({ name, value }: Filter, lines: readonly Line[]): string {
  const { kinds, outcomes } = useText();
  const person = useApi(
    'GET /api/user/{id}',
    { params: { id: value }, search: { deleted: 'also' } },
    { enabled: name === 'user_id', staleTime: 60_000, retry: false },
  );
  const departments = useApi('GET /api/department/names', undefined, {
    enabled: name === 'department_id',
    staleTime: 60_000,
  });
  const number = Number(value);
  switch (name) {
    case 'kind':
      return kinds[value as Kind];
    case 'outcome':
      return outcomes[value as Outcome];
    case 'token_id':
      return lines.find(({ token_id }) => token_id === number)?.token_name || `#${value}`;
    case 'user_id':
      return person.data?.username ?? `#${value}`;
    case 'department_id':
      return departments.data?.find(({ id }) => id === number)?.name ?? `#${value}`;
    default:
      return value;
  }
}

/** The names that typed text matches: an exact match, or those that contain it. */
function matching(names: readonly string[], typed: string): readonly string[] {
  if (typed === '' || names.includes(typed)) return [typed];
  return names.filter((name) => name.toLowerCase().includes(typed.toLowerCase()));
}

/** Without duplicates; shorter names first. */
function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
