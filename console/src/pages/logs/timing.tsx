/** The duration of a call as a bar in parts, and its upstream attempts. */
import { Box, Stack, Text } from '@mantine/core';
import { useSeriesColor } from '../../parts/chart-colors.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { FactList } from '../../parts/facts.tsx';
import { Muted, Section, Small } from '../../parts/page.tsx';
import { State, type Tone } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useDetailText } from './detail-text.ts';
import type { CallDetail } from './line.ts';
import { useFailure } from './reasons.ts';

interface Attempt {
  readonly at: number;
  readonly channel: string;
  readonly model: string;
  readonly status: number | undefined;
  readonly failure: string;
  readonly reason: string;
  readonly ms: number | undefined;
}

/** The section. */
export function Timing({ call, admin }: { readonly call: CallDetail; readonly admin: boolean }) {
  const { timing: text, words } = useDetailText();
  const format = useFormat();
  const colorAt = useSeriesColor();
  const attempts = attemptsOf(call);
  const parts = partsOf(call, attempts).map(({ name, ms }, at) => ({ name: text[name], ms, color: colorAt(at) }));
  const label = parts.map(({ name, ms }) => `${name} ${format.duration(ms)}`).join(', ');
  return (
    <Section title={text.title} flush>
      <Stack gap="xs" p="sm">
        {parts.length > 0 && (
          <Box className="logs-timing" role="img" aria-label={text.label(label)}>
            {parts.map(({ name, ms, color }) => (
              <Box key={name} style={{ flexGrow: Math.max(1, ms), background: color }} />
            ))}
          </Box>
        )}
        <FactList
          facts={[
            ...parts.map(
              ({ name, ms, color }) =>
                [
                  name,
                  <span key={name} className="number">
                    <span className="logs-swatch" style={{ background: color }} />
                    {format.duration(ms)}
                  </span>,
                ] as const,
            ),
            [words.total, format.duration(call.duration_ms)],
          ]}
        />
        {attempts.length === 0 && <Muted>{text.none}</Muted>}
      </Stack>
      {attempts.length > 0 && <Attempts attempts={attempts} admin={admin} />}
    </Section>
  );
}

type PartName = 'waiting' | 'firstByte' | 'streaming' | 'answer';

/** The parts of the duration. The start of the last attempt follows from its duration. */
function partsOf(call: CallDetail, attempts: readonly Attempt[]): readonly { name: PartName; ms: number }[] {
  const { duration_ms: total, first_byte_ms: first, stream } = call;
  const last = attempts.at(-1);
  if (last === undefined || total === 0) return [];
  const most = first ?? total;
  const waiting = Math.min(most, Math.max(0, total - (last.ms ?? total)));
  const parts: { name: PartName; ms: number }[] = [{ name: 'waiting', ms: waiting }];
  if (first === null) return [...parts, { name: 'answer', ms: total - waiting }];
  parts.push({ name: 'firstByte', ms: first - waiting });
  if (stream || total > first) parts.push({ name: 'streaming', ms: Math.max(0, total - first) });
  return parts;
}

function attemptsOf(call: CallDetail): readonly Attempt[] {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
  return call.attempts.map(({ channel, model, status, failure, reason, ms }, at) => ({
    at: at + 1,
    channel: text(channel),
    model: text(model),
    status: number(status),
    failure: text(failure),
    reason: text(reason),
    ms: number(ms),
  }));
}

function Attempts({ attempts, admin }: { readonly attempts: readonly Attempt[]; readonly admin: boolean }) {
  const { timing: text, none, words } = useDetailText();
  const format = useFormat();
  const failureWords = useFailure();
  const resultOf = ({ failure, ms }: Attempt): readonly [Tone, string] => {
    if (failure !== '') return [failure === 'refused' ? 'warn' : 'bad', failureWords(failure)];
    return ms === undefined ? ['idle', text.cut] : ['good', text.good];
  };
  const columns: readonly Column<Attempt>[] = [
    { key: 'at', title: text.at, cell: ({ at }) => format.number(at) },
    {
      key: 'channel',
      title: words.channel,
      cell: ({ channel, model }) => (
        <Stack gap={0}>
          <span>{channel}</span>
          {admin && model !== '' && <Small>{model}</Small>}
        </Stack>
      ),
    },
    {
      key: 'result',
      title: words.result,
      cell: (attempt) => {
        const [color, words] = resultOf(attempt);
        return (
          <Stack gap={2} align="flex-start">
            {color === 'good' || color === 'idle' ? (
              <State tone={color}>{words}</State>
            ) : (
              <Text size="sm" c={color === 'bad' ? 'red' : undefined}>
                {words}
              </Text>
            )}
            {attempt.reason !== '' && <Small>{attempt.reason}</Small>}
          </Stack>
        );
      },
    },
    {
      key: 'status',
      title: words.status,
      align: 'right',
      cell: ({ status }) => (status === undefined ? none : status),
    },
    {
      key: 'ms',
      title: words.duration,
      align: 'right',
      cell: ({ ms }) => (ms === undefined ? none : format.duration(ms)),
    },
  ];
  return <DataTable caption={text.attempts} columns={columns} rows={attempts} rowKey={({ at }) => at} />;
}
