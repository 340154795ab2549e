/** The findings of `turnpike doctor` about the running gateway. */
import { Button, Text } from '@mantine/core';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { Diagnosis } from '../../api/operations.ts';
import { Coded } from '../../parts/coded.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Muted, Section } from '../../parts/page.tsx';
import { State, type Tone } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';

/** Problems come first. */
const LEVELS = ['problem', 'warning', 'ok'] as const satisfies readonly Diagnosis['level'][];
const TONES: Readonly<Record<Diagnosis['level'], Tone>> = { problem: 'bad', warning: 'warn', ok: 'good' };

/** The section. Nothing is examined before the user asks for it. */
export function Doctor() {
  const { doctor: text, words } = useText();
  const format = useFormat();
  const examine = useAction(() => call('GET /api/system/doctor'));
  const found = LEVELS.flatMap((level) => (examine.data ?? []).filter((each) => each.level === level));
  const count = (level: Diagnosis['level']): string =>
    format.number(found.filter((each) => each.level === level).length);
  const columns: readonly Column<Diagnosis>[] = [
    { key: 'level', title: words.result, cell: ({ level }) => <State tone={TONES[level]}>{text.levels[level]}</State> },
    { key: 'topic', title: text.topic, cell: ({ topic }) => topic },
    {
      key: 'text',
      title: text.finding,
      cell: ({ text: finding, advice }) => (
        // The findings are those of the command, in its language.
        <div className="wide-cell" lang="en">
          <Coded>{finding}</Coded>
          {advice !== null && (
            <Text size="sm" fw={600}>
              → <Coded>{advice}</Coded>
            </Text>
          )}
        </div>
      ),
    },
  ];
  return (
    <Section
      flush
      title={text.title}
      about={<Coded>{text.about}</Coded>}
      actions={
        <Button loading={examine.isPending} onClick={() => examine.mutate()}>
          {text.run}
        </Button>
      }
    >
      {examine.data === undefined ? (
        <Muted p="sm">{text.none}</Muted>
      ) : (
        <>
          <Text size="sm" p="sm" role="status">
            {text.sum(count('problem'), count('warning'), count('ok'))}
          </Text>
          <DataTable
            caption={text.title}
            columns={columns}
            rows={found}
            rowKey={({ level, topic, text: finding }) => `${level} ${topic} ${finding}`}
          />
        </>
      )}
    </Section>
  );
}
