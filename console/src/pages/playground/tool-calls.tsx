/** What the model wants to be called, and a place for what it gives. */
import { Button, Code, Stack, Text, Textarea } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { useState } from 'react';
import { useText } from '../../text.ts';
import { parsed, type ToolCall } from './answer.ts';
import { ANSWER_TEXT } from './answer-text.ts';

/** Calls that were made before, and what they gave. */
export interface Step {
  readonly calls: readonly ToolCall[];
  readonly given: readonly string[];
}

/** What came before the answer that stands below. */
export function Steps({ steps }: { readonly steps: readonly Step[] }) {
  const text = useText(ANSWER_TEXT);
  return steps.flatMap(({ calls, given }, step) =>
    calls.map((call, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: steps are only added
      <div key={`${step} ${at}`} className="pg-call">
        <Text size="sm" fw={500}>
          {text.called(call.name)}
        </Text>
        <Arguments of={call} />
        <Text size="xs" c="dimmed">
          {text.gave}
        </Text>
        <pre className="pg-json">{given[at]}</pre>
      </div>
    )),
  );
}

/** The calls. `onResults`: once the answer is whole; in the order of the calls. */
export function ToolCalls({
  calls,
  onResults,
}: {
  readonly calls: readonly ToolCall[];
  readonly onResults: ((given: readonly string[]) => void) | undefined;
}) {
  const text = useText(ANSWER_TEXT);
  const [given, setGiven] = useState<Readonly<Record<number, string>>>({});
  if (calls.length === 0) return null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onResults?.(calls.map((_, at) => given[at] ?? ''));
      }}
    >
      <Stack gap="xs">
        <Text size="sm" fw={500}>
          {text.calls}
        </Text>
        {calls.map((call, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: calls are only added
          <div key={at} className="pg-call">
            <Code>{call.name}</Code>
            <Arguments of={call} />
            {onResults !== undefined && (
              <Textarea
                size="xs"
                label={text.result(call.name)}
                description={text.resultAbout}
                classNames={{ input: 'pg-code' }}
                autosize
                minRows={1}
                maxRows={8}
                value={given[at] ?? ''}
                onChange={({ currentTarget: { value } }) => setGiven((before) => ({ ...before, [at]: value }))}
              />
            )}
          </div>
        ))}
        {onResults !== undefined && (
          <div>
            <Button type="submit" variant="default" leftSection={<IconSend size={14} />}>
              {text.sendResults}
            </Button>
          </div>
        )}
      </Stack>
    </form>
  );
}

function Arguments({ of: { input } }: { readonly of: ToolCall }) {
  const text = useText(ANSWER_TEXT);
  const read = parsed(input);
  if (input.trim() === '' || input.trim() === '{}')
    return (
      <Text size="xs" c="dimmed">
        {text.noArguments}
      </Text>
    );
  return <pre className="pg-json">{read === undefined ? input : JSON.stringify(read, null, 2)}</pre>;
}
