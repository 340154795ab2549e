/** The raw answer. */
import { Group, Stack, Text } from '@mantine/core';
import { CopyIcon } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { ANSWER_TEXT } from './answer-text.ts';
import type { CallState } from './calling.ts';
import { TEXT } from './text.ts';

/** The view; a long answer is cut. */
export function RawView({ call }: { readonly call: CallState | undefined }) {
  const text = useText(ANSWER_TEXT);
  const { ways } = useText(TEXT);
  const format = useFormat();
  if (call === undefined || call.rawLength === 0)
    return (
      <Text size="sm" c="dimmed">
        {text.noRaw}
      </Text>
    );
  const { raw, rawLength, status } = call;
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" fw={500}>
          {text.raw} · {status}
        </Text>
        <CopyIcon value={raw} label={text.copyRaw} />
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be focusable */}
      <section className="pg-raw" aria-label={`${ways[call.sent.endpoint]}: ${text.raw}`} tabIndex={0}>
        <pre>{raw}</pre>
      </section>
      {rawLength > raw.length && (
        <Text size="xs" c="dimmed">
          {text.rawCut(format.number(raw.length), format.number(rawLength))}
        </Text>
      )}
    </Stack>
  );
}
