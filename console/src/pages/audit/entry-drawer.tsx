/** One entry of the audit log with all its details. */
import { Anchor, Code, Drawer, Group, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Muted, PlainButton, Section, Small } from '../../parts/page.tsx';
import { Copy } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { type Entry, factsOf, useSentence } from './entry.ts';
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
                entry.actor || text.nobody
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
