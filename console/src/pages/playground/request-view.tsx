/** The request body, and the call as a shell command. */
import { Group, Stack, Text } from '@mantine/core';
import { GATEWAY } from '../../api/client.ts';
import { CopyIcon } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { ANSWER_TEXT } from './answer-text.ts';
import type { Outgoing } from './calling.ts';
import { curlOf, shortened } from './curl.ts';
import { TEXT } from './text.ts';

/** Both. `isSent`: false for a preview. */
export function RequestView({ outgoing, isSent }: { readonly outgoing: Outgoing; readonly isSent: boolean }) {
  const text = useText(ANSWER_TEXT);
  const { ways } = useText(TEXT);
  const { endpoint, body, file } = outgoing;
  const json = JSON.stringify(body, null, 2);
  const curl = curlOf(GATEWAY, endpoint, body, endpoint === 'transcription' ? (file?.name ?? 'speech.mp3') : undefined);
  const isShort = shortened(json) === json;
  return (
    <Stack gap="sm">
      <CodePart
        title={endpoint === 'transcription' ? text.form : isSent ? text.bodySent : text.bodyBefore}
        value={json}
        of={ways[endpoint]}
      />
      <CodePart title={text.inShell} value={curl} of={ways[endpoint]} />
      {!isShort && (
        <Text size="xs" c="dimmed">
          {text.shortened}
        </Text>
      )}
    </Stack>
  );
}

/** Code that is shortened for display and copied in full. */
function CodePart({ title, value, of }: { readonly title: string; readonly value: string; readonly of: string }) {
  return (
    <div>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" fw={500}>
          {title}
        </Text>
        <CopyIcon value={value} />
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be focusable */}
      <section className="pg-raw" aria-label={`${of}: ${title}`} tabIndex={0}>
        <pre>{shortened(value)}</pre>
      </section>
    </div>
  );
}
