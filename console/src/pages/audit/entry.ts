/** An entry of the audit log in words, and its facts as names with values. */
import { useMemo } from 'react';
import type { AuditEntry } from '../../api/operations.ts';
import { useDepartments } from '../../parts/department-select.tsx';
import { type Format, useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { FIELDS, type Said, SENTENCES } from './sentences.ts';
import { TEXT } from './text.ts';

/** An entry. */
export type Entry = AuditEntry;

/** Facts in quota units. */
const MONEY = new Set(['value', 'was', 'amount', 'quota', 'monthly_quota', 'remain_quota', 'before']);

/** Whoever has the command line, as the log has them. */
const COMMAND_LINE = 'command line';

/** Says what an entry is about. */
export function useSentence(): (entry: Entry) => string {
  const text = useText(TEXT);
  const sentences = useText(SENTENCES);
  const fields = useText(FIELDS);
  const format = useFormat();
  const departments = useDepartments();
  return useMemo(
    () => (entry) => {
      const facts = entry.facts as Readonly<Record<string, unknown>>;
      const who = entry.actor === COMMAND_LINE ? text.commandLine : entry.actor || text.nobody;
      const whom = entry.object_name || entry.object;
      const said: Said = {
        who,
        whom,
        own: entry.actor_id !== null && entry.object === `user ${entry.actor_id}`,
        fact(name) {
          const value = facts[name];
          if (value === undefined || value === null) return '';
          if (name !== 'department') return valueText(value);
          return departments?.find(({ id }) => id === value)?.path ?? `#${valueText(value)}`;
        },
        money: (name) => (typeof facts[name] === 'number' ? format.money(facts[name]) : valueText(facts[name])),
        fields: [...new Set(Object.keys(facts).map((name) => fields[name] ?? name))].join(', '),
      };
      const sentence = Object.hasOwn(sentences, entry.action)
        ? sentences[entry.action as keyof typeof sentences]
        : undefined;
      return sentence?.(said) ?? text.unknown(who, entry.action, whom);
    },
    [text, sentences, fields, format, departments],
  );
}

/** A fact, by its name; members of members have both names. */
export interface Fact {
  readonly name: string;
  readonly value: string;
}

/** Facts as text. What was changed shows what it was and what it is. */
export function factsOf(entry: Entry, format: Format): readonly Fact[] {
  const shown = (name: string, value: unknown): string => {
    const money = MONEY.has(name) && typeof value === 'number' && Number.isFinite(value);
    return money ? `${valueText(value)} (${format.money(value)})` : valueText(value);
  };
  const flat = (value: unknown, path: readonly string[]): readonly Fact[] => {
    const name = path.at(-1) ?? '';
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return [{ name: path.join('.'), value: shown(name, value) }];
    const { from, to, ...others } = value as Readonly<Record<string, unknown>>;
    if (from !== undefined && to !== undefined && Object.keys(others).length === 0)
      return [{ name: path.join('.'), value: `${shown(name, from)} → ${shown(name, to)}` }];
    return Object.entries(value).flatMap(([member, each]) => flat(each, [...path, member]));
  };
  return Object.entries(entry.facts).flatMap(([name, value]) => flat(value, [name]));
}

function valueText(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
