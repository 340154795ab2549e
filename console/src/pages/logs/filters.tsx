/** The filters of the log: what can be asked for, and chips of what is. */
import { Autocomplete, Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type FormEvent, useEffect, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import { DepartmentSelect } from '../../parts/department-select.tsx';
import { FilterChip, FilterChips } from '../../parts/filter-chips.tsx';
import { PersonSelect } from '../../parts/person-select.tsx';
import { useText } from '../../text.ts';
import type { Line } from './line.ts';
import { TEXT } from './text.ts';
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

/** Which kind of lines. */
export function KindSelect({ view, change }: { readonly view: View; change(change: Change): void }) {
  const text = useText(TEXT);
  return (
    <NativeSelect
      size="xs"
      aria-label={text.filter.kind}
      data={[
        { value: '', label: text.filter.everything },
        ...(Object.keys(KINDS) as Kind[]).map((kind) => ({ value: kind, label: text.kinds[kind] })),
      ]}
      value={filterOf(view, 'kind')}
      onChange={({ currentTarget }) => change({ kind: currentTarget.value, outcome: '', before: '' })}
    />
  );
}

/** How calls ended. */
export function OutcomeSelect({ view, change }: { readonly view: View; change(change: Change): void }) {
  const text = useText(TEXT);
  return (
    <NativeSelect
      size="xs"
      aria-label={text.filter.outcome}
      data={[
        { value: '', label: text.filter.anyOutcome },
        ...OUTCOMES.map((outcome) => ({ value: outcome, label: text.outcomes[outcome] })),
      ]}
      value={filterOf(view, 'outcome')}
      // Only calls have one: a kind that has none would leave nothing.
      onChange={({ currentTarget }) => change({ outcome: currentTarget.value, kind: '', before: '' })}
    />
  );
}

/** The fields. What is chosen from a list counts at once, what is typed with Enter or the button. */
export function FilterFields({ view, change }: { readonly view: View; change(change: Change): void }) {
  const text = useText(TEXT).filter;
  const said = (name: Filter['name']): string => filterOf(view, name);
  const asked = { model: said('model'), key: said('key'), channel: said('channel'), request_id: said('request_id') };
  const [typed, setTyped] = useState(asked);
  const key = JSON.stringify(asked);
  // Chips and links change them, too.
  useEffect(() => setTyped(JSON.parse(key) as typeof asked), [key]);
  const models = useApi('GET /api/user/models', undefined, { staleTime: 60_000 });
  const channels = useApi('GET /api/vendor/', undefined, { staleTime: 60_000, enabled: view.everybody });
  const [keyword] = useDebouncedValue(typed.key, 250);
  const keys = useApi(
    'GET /api/token/search',
    { search: { keyword, page_size: OFFERED } },
    { staleTime: 30_000, enabled: !view.everybody, placeholderData: (before) => before },
  );
  const wrong = typed.request_id !== '' && !isId(typed.request_id);
  const apply = (more: Partial<typeof asked> = {}): void => {
    const next = { ...typed, ...more };
    change({
      ...next,
      // A name that is asked for takes the place of a number.
      ...(next.key !== asked.key && { token_id: '' }),
      ...(wrong && more.request_id === undefined && { request_id: asked.request_id }),
      before: '',
    });
  };
  const known = {
    model: unique(models.data ?? []),
    channel: unique((channels.data ?? []).map(({ name }) => name)),
  };
  const [several, setSeveral] = useState<readonly (keyof typeof known)[]>([]);
  // A part of a name stands for the one name that has it. A name that is not known any more may still be in the log.
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const names = ['model', 'channel'] as const;
    const found = Object.fromEntries(names.map((name) => [name, matching(known[name], typed[name])]));
    const unclear = names.filter((name) => (found[name]?.length ?? 0) > 1);
    setSeveral(unclear);
    if (unclear.length === 0)
      apply(
        Object.fromEntries(names.flatMap((name) => (found[name]?.[0] === undefined ? [] : [[name, found[name][0]]]))),
      );
  };
  const severalOf = (name: keyof typeof known): string | undefined =>
    several.includes(name) ? text.several : undefined;
  const field = (name: keyof typeof asked) => ({
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
        <Autocomplete label={text.model} data={known.model} error={severalOf('model')} {...field('model')} />
        <Autocomplete
          label={text.key}
          placeholder={text.keyAbout}
          data={view.everybody ? [] : unique((keys.data?.items ?? []).map(({ name }) => name))}
          {...field('key')}
        />
        {view.everybody && (
          <>
            <PersonSelect
              label={text.person}
              placeholder={text.anybody}
              value={said('user_id')}
              onChange={(user_id) => change({ user_id, username: '', whose: 'all', before: '' })}
            />
            <DepartmentSelect
              label={text.department}
              placeholder={text.anyDepartment}
              value={said('department_id')}
              onChange={(department_id) => change({ department_id, whose: 'all', before: '' })}
            />
            <Autocomplete
              label={text.channel}
              data={known.channel}
              error={severalOf('channel')}
              {...field('channel')}
            />
          </>
        )}
        <TextInput
          label={text.request}
          placeholder={text.requestAbout}
          maxLength={64}
          value={typed.request_id}
          error={wrong && typed.request_id.length >= 26 ? text.notAnId : undefined}
          onChange={({ currentTarget }) => {
            const request_id = currentTarget.value.trim();
            setTyped((before) => ({ ...before, request_id }));
          }}
        />
        <Button type="submit" variant="default" mt={28}>
          {text.apply}
        </Button>
      </Group>
    </form>
  );
}

/** A row of chips; nothing where nothing is asked for. `lines` know names of some numbers. */
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
          onRemove={() => change({ [filter.name]: '', before: '', ...(view.everybody && { whose: 'all' }) })}
        />
      ))}
    </FilterChips>
  );
}

/** Everything without filters; whose lines they are stays. */
export function clearedOf(view: View): Change {
  return { ...WITHOUT_FILTERS, ...(view.everybody && { whose: 'all' }) };
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
  const text = useText(TEXT).filter;
  const value = useFilterValue(filter, lines);
  const what = {
    kind: text.kind,
    outcome: text.outcome,
    model: text.model,
    key: text.key,
    token_id: text.key,
    channel: text.channel,
    request_id: text.request,
    username: text.person,
    user_id: text.person,
    department_id: text.department,
  }[filter.name];
  return <FilterChip what={what} value={value} onRemove={onRemove} />;
}

/** What people call what a filter asks for. */
function useFilterValue({ name, value }: Filter, lines: readonly Line[]): string {
  const { kinds, outcomes } = useText(TEXT);
  const person = useApi(
    'GET /api/user/{id}',
    { params: { id: value } },
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

/** The names that a typed text stands for: itself, or those that it is a part of. */
function matching(names: readonly string[], typed: string): readonly string[] {
  if (typed === '' || names.includes(typed)) return [typed];
  return names.filter((name) => name.toLowerCase().includes(typed.toLowerCase()));
}

/** Each once; a name stands before the longer ones that begin with it. */
function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
