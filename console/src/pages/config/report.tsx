/** The output of `turnpike check` in groups. */
import { Text } from '@mantine/core';
import { Coded } from '../../parts/coded.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Section } from '../../parts/page.tsx';
import { useText } from './text.ts';

const PHASES = ['authenticate', 'enter', 'admit', 'route', 'attempted', 'settle'];
const PARTS = ['styles', 'vendors', 'passages', 'routes'];

interface Group {
  readonly name: string;
  readonly lines: readonly string[];
}

/** The report. */
export function Report({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  const text = useText();
  if (lines.length === 0) return <Empty title={text.reportNone}>{text.reportNoneAbout}</Empty>;
  const groups = groupsOf(lines);
  const warnings = lines.filter((line) => line.startsWith(WARNING)).map((line) => line.slice(WARNING.length));
  const named = (names: readonly string[]) => groups.filter(({ name }) => names.includes(name));
  return (
    <Section title={title} about={<Coded>{text.reportAbout}</Coded>}>
      {warnings.length > 0 && (
        <Groups title={text.warnings(`${warnings.length}`)} groups={[{ name: text.warning, lines: warnings }]} />
      )}
      <Groups title={text.groups.phases} groups={named(PHASES)} />
      <Groups
        title={text.groups.plugins}
        groups={groups.filter(({ name }) => !PHASES.includes(name) && !PARTS.includes(name))}
      />
      <Groups title={text.groups.parts} groups={named(PARTS)} />
    </Section>
  );
}

function Groups({ title, groups }: { readonly title: string; readonly groups: readonly Group[] }) {
  if (groups.length === 0) return null;
  return (
    <>
      <Text fw={600} size="sm" component="h3" mt="sm" mb={4}>
        {title}
      </Text>
      <dl className="report">
        {groups.map(({ name, lines }) => (
          <div key={name}>
            <dt>{name}</dt>
            {[...new Set(lines)].map((line) => (
              <dd key={line}>
                <Coded>{line}</Coded>
              </dd>
            ))}
          </div>
        ))}
      </dl>
    </>
  );
}

const WARNING = 'warning: ';

/** Groups lines that begin with the same word. */
function groupsOf(lines: readonly string[]): readonly Group[] {
  const groups = new Map<string, string[]>();
  for (const line of lines) {
    if (line.startsWith(WARNING)) continue;
    const [, name = '', detail = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [line, line, ''];
    const group = groups.get(name) ?? [];
    group.push(detail);
    groups.set(name, group);
  }
  return [...groups].map(([name, details]) => ({ name, lines: details }));
}
