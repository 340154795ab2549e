/** Tool calls of the model, with fields for their results. */
import { Code, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { IconSend } from '../../icons.ts';
import { PlainButton, Small } from '../../parts/page.tsx';
import { parsed, type ToolCall } from './answer.ts';
import { useAnswerText } from './answer-text.ts';

/** Earlier calls and their results. */
export interface Step {
  readonly calls: readonly ToolCall[];
  readonly results: readonly string[];
}

/** The calls before the shown answer. */
export function Steps({ steps }: { readonly steps: readonly Step[] }) {
  const text = useAnswerText();
  return steps.flatMap(({ calls, results }, step) =>
    calls.map((call, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: steps are only appended
      <div key={`${step} ${at}`} className="pg-call">
        <Text size="sm" fw={500}>
          {text.called(call.name)}
        </Text>
        <Arguments of={call} />
        <Small>{text.words.result}</Small>
        <pre className="pg-json">{results[at]}</pre>
      </div>
    )),
  );
}

/** The calls. `onResults`: available once the answer is complete; in the order of the calls. */
export function ToolCalls({
  calls,
  onResults,
}: {
  readonly calls: readonly ToolCall[];
  readonly onResults: ((results: readonly string[]) => void) | undefined;
}) {
  const text = useAnswerText();
  const [results, setGiven] = useState<Readonly<Record<number, string>>>({});
  if (calls.length === 0) return null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onResults?.(calls.map((_, at) => results[at] ?? ''));
      }}
    >
      <Stack gap="xs">
        <Text size="sm" fw={500}>
          {text.calls}
        </Text>
        {calls.map((call, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: calls are only appended
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
                value={results[at] ?? ''}
                onChange={({ currentTarget: { value } }) => setGiven((before) => ({ ...before, [at]: value }))}
              />
            )}
          </div>
        ))}
        {onResults !== undefined && (
          <div>
            <PlainButton type="submit" leftSection={<IconSend size={14} />}>
              {text.sendResults}
            </PlainButton>
          </div>
        )}
      </Stack>
    </form>
  );
}

function Arguments({ of: { input } }: { readonly of: ToolCall }) {
  const text = useAnswerText();
  const read = parsed(input);
  if (input.trim() === '' || input.trim() === '{}') return <Small>{text.noArguments}</Small>;
  return <pre className="pg-json">{read === undefined ? input : JSON.stringify(read, null, 2)}</pre>;
}
