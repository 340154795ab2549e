/** A department, found by a part of its name or of the name of one above it. */
import { Select } from '@mantine/core';
import { useMemo } from 'react';
import { useApi } from '../api/hooks.ts';

/** A department with the names of those above it: `Engineering / Platform`. */
export interface NamedDepartment {
  readonly id: number;
  readonly path: string;
  /** The IDs of the department and those above it. */
  readonly ids: readonly number[];
}

/** All departments by path; undefined while loading. */
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

/** The field. `value` '': none. `but`: excludes this department and those below it. */
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
  /** Shown if none is selected. */
  readonly placeholder?: string;
  readonly about?: string;
  readonly but?: number;
  readonly error?: string | undefined;
  readonly disabled?: boolean;
  /** The label is for screen readers only. */
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
