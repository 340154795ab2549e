/** One department, found by typing a part of its name or of one above it. */
import { Select } from '@mantine/core';
import { useMemo } from 'react';
import { useApi } from '../api/hooks.ts';

/** A department with the names of those above it: `Engineering / Platform`. */
export interface NamedDepartment {
  readonly id: number;
  readonly path: string;
  /** Itself and those above it. */
  readonly ids: readonly number[];
}

/** All departments with their paths, by path; undefined as long as they are not known. */
export function useDepartments(): readonly NamedDepartment[] | undefined {
  const { data } = useApi('GET /api/department/names', undefined, { staleTime: 30_000 });
  return useMemo(() => {
    if (data === undefined) return undefined;
    const byId = new Map(data.map((department) => [department.id, department]));
    return data
      .map(({ id }): NamedDepartment => {
        const names: string[] = [];
        const ids: number[] = [];
        for (let at = byId.get(id); at !== undefined && !ids.includes(at.id); at = byId.get(at.parent_id ?? 0)) {
          names.unshift(at.name);
          ids.push(at.id);
        }
        return { id, path: names.join(' / '), ids };
      })
      .sort((a, b) => a.path.localeCompare(b.path));
  }, [data]);
}

/** The field. `value` '': none is chosen. `but`: neither this department nor those below it. */
export function DepartmentSelect({
  label,
  value,
  onChange,
  placeholder,
  about,
  but,
  error,
  disabled = false,
  hiddenLabel = false,
  size = 'sm',
}: {
  readonly label: string;
  readonly value: string;
  onChange(id: string): void;
  /** What it means that none is chosen. */
  readonly placeholder?: string;
  readonly about?: string;
  readonly but?: number;
  readonly error?: string | undefined;
  readonly disabled?: boolean;
  /** The label is only read aloud. */
  readonly hiddenLabel?: boolean;
  readonly size?: 'xs' | 'sm';
}) {
  const departments = useDepartments() ?? [];
  const offered = but === undefined ? departments : departments.filter(({ ids }) => !ids.includes(but));
  return (
    <Select
      {...(hiddenLabel ? { 'aria-label': label } : { label })}
      size={size}
      description={about}
      placeholder={placeholder}
      data={offered.map(({ id, path }) => ({ value: `${id}`, label: path }))}
      value={value === '' ? null : value}
      onChange={(chosen) => onChange(chosen ?? '')}
      searchable
      clearable
      limit={50}
      error={error}
      disabled={disabled}
    />
  );
}
