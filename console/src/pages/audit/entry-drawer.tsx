/** Audit entries as sentences, and one entry with its details as names with values. */
import { Anchor, Code, Drawer, Group, Stack, Table, Text } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { Link } from 'wouter';
import type { AuditEntry } from '../../api/operations.ts';
import { useDepartments } from '../../parts/department-select.tsx';
import { Muted, PlainButton, Section, Small } from '../../parts/page.tsx';
import { Copy } from '../../parts/values.tsx';
import { type Format, useFormat } from '../../shell/format.ts';
import { type SentenceValues, useFieldNames, useSentences } from './sentences.ts';
import { useText } from './text.ts';

/** The drawer; open if there is an entry. */
export function EntryDrawer({
  entry,
  onFilter,
  onClose,
}: {
  readonly entry: Entry | undefined;
  onFilter(filter: { readonly actor?: string; readonly action?: string }): void;
  onClose(): void;
}) {
  const text = useText();
  return (
    <Drawer opened={entry !== undefined} onClose={onClose} title={text.entry(`${entry?.seq ?? ''}`)}>
      {entry !== undefined && <Content entry={entry} onFilter={onFilter} />}
    </Drawer>
  );
}

function Content({
  entry,
  onFilter,
}: {
  readonly entry: Entry;
  onFilter(filter: { readonly actor?: string; readonly action?: string }): void;
}) {
  const text = useText();
  const format = useFormat();
  const sentence = useSentence()(entry);
  const facts = factsOf(entry, format);
  const place = placeOf(entry.object);
  return (
    <Stack gap="md">
      <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
        {sentence}
      </Text>
      <Group gap="xs">
        {entry.actor !== '' && (
          <PlainButton onClick={() => onFilter({ actor: entry.actor })}>{text.onlyActor}</PlainButton>
        )}
        <PlainButton onClick={() => onFilter({ action: entry.action })}>{text.onlyAction}</PlainButton>
      </Group>
      <Section flush>
        <Values
          label={text.entry(`${entry.seq}`)}
          rows={[
            [text.words.when, format.moment(entry.created_at)],
            [
              text.words.user,
              entry.actor_id === null ? (
                entry.actor || text.unknownUser
              ) : (
                <Anchor key="actor" component={Link} href={`/users?user=${entry.actor_id}`} size="sm">
                  {entry.actor || `#${entry.actor_id}`}
                </Anchor>
              ),
            ],
            [text.words.ipAddress, entry.ip || '–'],
            [text.words.action, <Code key="action">{entry.action}</Code>],
            [
              text.object,
              <Group key="object" gap="xs">
                <span>{[entry.object_name, entry.object].filter(Boolean).join(' · ') || '–'}</span>
                {place !== undefined && (
                  <Anchor component={Link} href={place} size="sm">
                    {text.open}
                  </Anchor>
                )}
              </Group>,
            ],
            [
              text.hash,
              <div key="hash">
                <Copy value={entry.hash} what={text.hash} />
                <Small>{text.hashAbout}</Small>
              </div>,
            ],
          ]}
        />
      </Section>
      <Section title={text.facts} flush>
        {facts.length === 0 ? (
          <Muted p="sm">{text.noFacts}</Muted>
        ) : (
          <Values
            label={text.facts}
            rows={facts.map(({ name, value }) => [
              name,
              <Text key={name} size="sm" ff="monospace" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
                {value}
              </Text>,
            ])}
          />
        )}
      </Section>
    </Stack>
  );
}

function Values({ label, rows }: { readonly label: string; readonly rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <Table aria-label={label} layout="fixed" highlightOnHover={false}>
      <Table.Tbody>
        {rows.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" w="34%" fw={400} c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {name}
            </Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** The page of the console for the object of an entry. */
function placeOf(object: string): string | undefined {
  const [, kind, id] = /^(user|department) (\d{1,15})$/.exec(object) ?? [];
  if (kind === undefined) return undefined;
  return kind === 'user' ? `/users?user=${id}` : `/departments?department=${id}`;
}

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
      const actor = entry.actor === COMMAND_LINE ? text.commandLine : entry.actor || text.unknownUser;
      const object = entry.object_name || entry.object;
      // The owner of a key is noted with its changes, and is none.
      const changed = Object.keys(facts).filter((name) => name !== 'user_id');
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
        fields: [...new Set(changed.map((name) => fields[name] ?? name))].join(', '),
        enabled: changed.length === 1 && changed[0] === 'status' ? facts.status === 1 : undefined,
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
interface Fact {
  readonly name: string;
  readonly value: string;
}

/** The details as text. Changes show the old and the new value. */
function factsOf(entry: Entry, format: Format): readonly Fact[] {
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
