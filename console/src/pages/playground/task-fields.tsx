/** The input of tasks other than chat. */
import { Autocomplete, Button, FileButton, Group, Select, Stack, Text, Textarea } from '@mantine/core';
import type { KeyboardEvent } from 'react';
import { IconFileMusic } from '../../icons.ts';
import { useFormat } from '../../shell/format.ts';
import type { Task } from './prompt.ts';
import { useText } from './text.ts';
import type { PromptState } from './use-prompt.ts';

const SIZES = ['1024x1024', '1536x1024', '1024x1536', '512x512', '256x256'];
const VOICES = ['alloy', 'echo', 'fable', 'onyx', 'nova', 'shimmer'];
const FORMATS = ['mp3', 'wav', 'opus', 'aac', 'flac'];

/** The fields. */
export function TaskFields({
  task,
  typing: { prompt, change },
  file,
  onFile,
  onKeyDown,
}: {
  readonly task: Task;
  readonly typing: PromptState;
  readonly file: File | undefined;
  onFile(file: File | undefined): void;
  onKeyDown(event: KeyboardEvent): void;
}) {
  const text = useText();
  const format = useFormat();
  return (
    <Stack gap="sm" miw={0}>
      {task === 'transcription' && (
        <Stack gap={4}>
          <Text size="sm" fw={500}>
            {text.recording}
          </Text>
          <Group gap="sm">
            <FileButton accept="audio/*,video/webm,video/mp4" onChange={(chosen) => onFile(chosen ?? undefined)}>
              {(props) => (
                <Button {...props} variant="default" leftSection={<IconFileMusic size={16} />}>
                  {text.chooseRecording}
                </Button>
              )}
            </FileButton>
            <Text size="sm" c={file === undefined ? 'dimmed' : undefined} style={{ overflowWrap: 'anywhere' }}>
              {file === undefined ? text.recordingAbout : `${file.name} · ${format.bytes(file.size)}`}
            </Text>
          </Group>
        </Stack>
      )}
      <Textarea
        label={text.input[task]}
        description={text.inputAbout[task] || undefined}
        autosize
        minRows={3}
        maxRows={14}
        maxLength={task === 'speech' ? 4_096 : undefined}
        value={prompt.text}
        onChange={({ currentTarget: { value } }) => change({ text: value })}
        onKeyDown={onKeyDown}
      />
      {task === 'images' && (
        <Select
          label={text.size}
          data={[{ value: 'usual', label: text.sizeUsual }, ...SIZES]}
          value={prompt.size || 'usual'}
          onChange={(value) => change({ size: value === null || value === 'usual' ? '' : value })}
          allowDeselect={false}
          maw="16rem"
        />
      )}
      {task === 'speech' && (
        <Group gap="sm" align="flex-start">
          <Autocomplete
            label={text.voice}
            description={text.voiceAbout}
            data={VOICES}
            value={prompt.voice}
            onChange={(voice) => change({ voice })}
            flex="1 1 14rem"
          />
          <Select
            label={text.format}
            description=" "
            data={FORMATS}
            value={prompt.format}
            onChange={(chosen) => chosen !== null && change({ format: chosen })}
            allowDeselect={false}
            flex="0 1 8rem"
          />
        </Group>
      )}
    </Stack>
  );
}
