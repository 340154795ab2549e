/** Audit entries as sentences, and their details as names with values. */
import { useMemo } from 'react';
import type { AuditEntry } from '../../api/operations.ts';
import { useDepartments } from '../../parts/department-select.tsx';
import { type Format, useFormat } from '../../shell/format.ts';
import { type SentenceValues, useFieldNames, useSentences } from './sentences.ts';
import { useText } from './text.ts';

/** An audit entry. */
export type Entry = AuditEntry;

/** Details in quota units. */
const MONEY = new Set(['value', 'was', 'amount', 'quota', 'monthly_quota', 'remain_quota', 'before']);

/** The actor of commands on the command line, as the audit log names it. */
const COMMAND_LINE = 'command line';

/** Returns the sentence for an entry. */
export function useSentence(): (entry: Entry) => string {
  const text = useText();
  const sentences = useSentences();
  const fields = useFieldNames();
  const format = useFormat();
  const departments = useDepartments();
  return useMemo(
    () => (entry) => {
      const facts = entry.facts as Readonly<Record<string, unknown>>;
      const actor = entry.actor === COMMAND_LINE ? text.commandLine : entry.actor || text.nobody;
      const object = entry.object_name || entry.object;
      const values: SentenceValues = {
        actor,
        object,
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
      return sentence?.(values) ?? text.unknown(actor, entry.action, object);
    },
    [text, sentences, fields, format, departments],
  );
}

/** A detail; names of nested members are joined. */
export interface Fact {
  readonly name: string;
  readonly value: string;
}

/** The details as text. Changes show the old and the new value. */
export function factsOf(entry: Entry, format: Format): readonly Fact[] {
  const formatted = (name: string, value: unknown): string => {
    const money = MONEY.has(name) && typeof value === 'number' && Number.isFinite(value);
    return money ? `${valueText(value)} (${format.money(value)})` : valueText(value);
  };
  const flat = (value: unknown, path: readonly string[]): readonly Fact[] => {
    const name = path.at(-1) ?? '';
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return [{ name: path.join('.'), value: formatted(name, value) }];
    const { from, to, ...others } = value as Readonly<Record<string, unknown>>;
    if (from !== undefined && to !== undefined && Object.keys(others).length === 0)
      return [{ name: path.join('.'), value: `${formatted(name, from)} → ${formatted(name, to)}` }];
    return Object.entries(value).flatMap(([member, each]) => flat(each, [...path, member]));
  };
  return Object.entries(entry.facts).flatMap(([name, value]) => flat(value, [name]));
}

function valueText(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
