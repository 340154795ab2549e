/** The filters that the address says, each to be taken away again. */
import { useApi } from '../../api/hooks.ts';
import { FilterChip, FilterChips } from '../../parts/filter-chips.tsx';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';
import { type Change, searchOf, type View, WITHOUT_FILTERS } from './view.ts';

/** A row of chips; nothing where nothing is asked for. */
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

/** What people call what a filter asks for by its number. */
function useFilterName(view: View, { by, value }: View['filters'][number]): string {
  const named = by === 'key' || by === 'account';
  // Of the filters this alone, and the other way round: whoever has no calls under all of them has a name all the same.
  const { data } = useApi(
    view.everybody ? 'GET /api/usage/sums' : 'GET /api/usage/self/sums',
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

function useDepartmentNames(wanted: boolean): ReadonlyMap<number, string> | undefined {
  const { data } = useApi('GET /api/department/names', undefined, { staleTime: 30_000, enabled: wanted });
  return data && new Map(data.map(({ id, name }) => [id, name]));
}
