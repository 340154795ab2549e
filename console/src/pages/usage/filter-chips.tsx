/** The active filters; each can be removed. */
import { useApi } from '../../api/hooks.ts';
import { FilterChip, FilterChips } from '../../parts/filter-chips.tsx';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';
import { type Change, searchOf, type View, WITHOUT_FILTERS } from './view.ts';

/** A row of chips; renders nothing without filters. */
export function Chips({ view, change }: { readonly view: View; change(change: Change): void }) {
  if (view.filters.length === 0) return null;
  return (
    <FilterChips onClear={view.filters.length > 1 ? () => change(WITHOUT_FILTERS) : undefined}>
      {view.filters.map((filter) => (
        <Chip
          key={filter.name}
          view={view}
          filter={filter}
          onRemove={() => change({ [filter.name]: '', group: filter.by, page: '1' })}
        />
      ))}
    </FilterChips>
  );
}

function Chip({
  view,
  filter,
  onRemove,
}: {
  readonly view: View;
  readonly filter: View['filters'][number];
  onRemove(): void;
}) {
  const text = useText(TEXT);
  return <FilterChip what={text.column[filter.by]} value={useFilterName(view, filter)} onRemove={onRemove} />;
}

/** The display name of a filter by ID. */
function useFilterName(view: View, { by, value }: View['filters'][number]): string {
  const named = by === 'key' || by === 'account';
  // Queried with this filter only, and the other way round, because the combination may have no calls.
  const { data } = useApi(
    view.allUsers ? 'GET /api/usage/sums' : 'GET /api/usage/self/sums',
    {
      search: {
        ...searchOf({ ...view, filters: view.filters.filter((filter) => filter.by === by) }, view.range),
        group_by: by === 'account' ? 'account' : 'key',
      } as object,
    },
    { enabled: named },
  );
  const departments = useDepartmentNames(by === 'department');
  if (by === 'model' || by === 'channel') return value;
  const name =
    by === 'department' ? departments?.get(Number(value)) : data?.items.find(({ group }) => group === value)?.name;
  return name === undefined || name === '' ? `#${value}` : name;
}

function useDepartmentNames(isNeeded: boolean): ReadonlyMap<number, string> | undefined {
  const { data } = useApi('GET /api/department/names', undefined, { staleTime: 30_000, enabled: isNeeded });
  return data && new Map(data.map(({ id, name }) => [id, name]));
}
