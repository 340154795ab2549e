/** The range of a page: selected by name or by date, kept in the address. Days are the UTC days of the ledger. */
import { Group, Text, TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useFormat } from '../shell/format.ts';
import { texts } from '../text.ts';
import { Choice } from './filter-select.tsx';
import { dateOf, RANGE_NAMES, type RangeName, rangeFrom, type TimeRange } from './range.ts';

const useText = texts({
  label: ['Range', '时间范围'],
  names: {
    today: ['Today', '今天'],
    '7d': ['7 days', '7 天'],
    '30d': ['30 days', '30 天'],
    month: ['This month', '本月'],
    'last-month': ['Last month', '上月'],
    custom: ['Custom', '自定义'],
  },
  days: [
    (first: string, last: string) => (first === last ? `${first} (UTC day)` : `${first} – ${last} (UTC days)`),
    (first: string, last: string) => (first === last ? `${first}（UTC 日）` : `${first} – ${last}（UTC 日）`),
  ],
  hours: [
    (first: string, last: string, zone: string) => `${first} – ${last} (${zone})`,
    (first: string, last: string, zone: string) => `${first} – ${last}（${zone}）`,
  ],
});

/** The parameters that a selection sets. */
export type RangeChange = { readonly range: string; readonly start: string; readonly end: string };

/** The range in the address. Returns the same object until the range changes. */
export function useRangeOf({ range, start, end }: RangeChange, defaultRange: RangeName = '7d'): TimeRange {
  // Recomputed once a day.
  const today = Math.floor(Date.now() / 86_400_000) * 86_400;
  return useMemo(() => rangeFrom({ range, start, end }, defaultRange, today), [range, start, end, defaultRange, today]);
}

/** The parameters for exactly this range. */
export function customRange(start: number, end: number): RangeChange {
  return { range: '', start: dayEdge(start, 0), end: dayEdge(end, 86_399) };
}

/** Whole days are written as dates. */
function dayEdge(unix: number, remainder: number): string {
  return unix % 86_400 === remainder ? dateOf(unix) : `${unix}`;
}

/** The control. */
export function TimeRangePicker({
  range,
  onChange,
}: {
  readonly range: TimeRange;
  onChange(change: RangeChange): void;
}) {
  const text = useText();
  const choices = RANGE_NAMES.map((name) => ({ value: name, label: text.names[name] }));
  const choose = (name: string): void =>
    onChange(name === 'custom' ? customRange(range.start, range.end) : { range: name, start: '', end: '' });
  const date = (entered: string, edge: 'start' | 'end'): void => {
    const [first, last] = [
      edge === 'start' ? entered : dateOf(range.start),
      edge === 'end' ? entered : dateOf(range.end),
    ];
    // If one end is moved past the other, the range becomes a single day.
    onChange({
      range: '',
      start: first > last && edge === 'end' ? last : first,
      end: first > last && edge === 'start' ? first : last,
    });
  };
  const today = dateOf(Date.now() / 1_000);
  return (
    <Group gap="xs" align="center">
      <Choice label={text.label} data={choices} value={range.name} onChange={choose} />
      {range.name === 'custom' && (
        <Group gap={6} wrap="nowrap" maw="100%">
          <DayInput
            label={text.words.firstDayUtc}
            value={dateOf(range.start)}
            max={today}
            onChange={(day) => date(day, 'start')}
          />
          <Text size="sm" aria-hidden>
            –
          </Text>
          <DayInput
            label={text.words.lastDayUtc}
            value={dateOf(range.end)}
            max={today}
            onChange={(day) => date(day, 'end')}
          />
        </Group>
      )}
    </Group>
  );
}

/** A day. Incomplete dates, or those of the year 2, stay in the field while the user types. */
function DayInput({
  label,
  value,
  max,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly max: string;
  onChange(day: string): void;
}) {
  const [typed, setTyped] = useState<string>();
  return (
    <TextInput
      type="date"
      size="xs"
      miw={0}
      aria-label={label}
      max={max}
      value={typed ?? value}
      onChange={({ currentTarget: { value: entered } }) => {
        setTyped(entered);
        if (entered >= '2000-01-01' && entered <= max) onChange(entered);
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}

/** The days of a range in words. */
export function useRangeWords(): (range: Pick<TimeRange, 'start' | 'end'>) => string {
  const text = useText();
  const { dates, zone } = useFormat();
  return ({ start, end }) => {
    const isWholeDays = start % 86_400 === 0 && end % 86_400 === 86_399;
    const write = dates({ dateStyle: 'medium', ...(!isWholeDays && { timeStyle: 'short' as const }) }, isWholeDays);
    const [first, last] = [write(start), write(end)];
    return isWholeDays ? text.days(first, last) : text.hours(first, last, zone);
  };
}
