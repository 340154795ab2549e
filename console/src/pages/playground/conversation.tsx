/** The system prompt and the turns of the conversation. */
import { CloseButton, FileButton, Group, NativeSelect, Stack, Text, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type DragEvent, type KeyboardEvent, useState } from 'react';
import { IconPhotoPlus, IconPlus, IconTrash } from '../../icons.ts';
import { IconButton, PlainButton } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import { type Picture, type Prompt, type Turn, withTurn } from './prompt.ts';
import { useText } from './text.ts';
import type { PromptState } from './use-prompt.ts';

/** The fields. */
export function Conversation({
  typing: { prompt, change },
  seesPictures,
  onKeyDown,
}: {
  readonly typing: PromptState;
  /** False if the model is known not to accept images. */
  readonly seesPictures: boolean;
  onKeyDown(event: KeyboardEvent): void;
}) {
  const text = useText();
  const { turns } = prompt;
  const changeTurn = (id: number, to: (turn: Turn) => Turn): void =>
    change((before) => ({ ...before, turns: before.turns.map((turn) => (turn.id === id ? to(turn) : turn)) }));
  const hasPictures = turns.some(({ pictures }) => pictures.length > 0);
  return (
    <Stack gap="sm" miw={0}>
      <Textarea
        label={text.system}
        placeholder={text.systemAbout}
        autosize
        minRows={1}
        maxRows={8}
        value={prompt.system}
        onChange={({ currentTarget: { value } }) => change({ system: value })}
        onKeyDown={onKeyDown}
      />
      {turns.map((turn, index) => (
        <TurnFields
          key={turn.id}
          turn={turn}
          at={index + 1}
          room={roomIn(prompt)}
          onChange={(to) => changeTurn(turn.id, to)}
          onRemove={
            turns.length === 1
              ? undefined
              : () => change((before) => ({ ...before, turns: before.turns.filter(({ id }) => id !== turn.id) }))
          }
          onKeyDown={onKeyDown}
        />
      ))}
      <Group gap="sm">
        <PlainButton
          size="compact-sm"
          leftSection={<IconPlus size={14} />}
          onClick={() =>
            change((before) =>
              withTurn(before, {
                role: before.turns.at(-1)?.role === 'user' ? 'assistant' : 'user',
                text: '',
                pictures: [],
              }),
            )
          }
        >
          {text.addTurn}
        </PlainButton>
        {hasPictures && (
          <Text size="xs" c={seesPictures ? 'dimmed' : 'orange'}>
            {seesPictures ? text.picturesKept : text.picturesBlind}
          </Text>
        )}
      </Group>
    </Stack>
  );
}

/** The fields. `at` counts from 1. */
function TurnFields({
  turn,
  at,
  room,
  onChange,
  onRemove,
  onKeyDown,
}: {
  readonly turn: Turn;
  readonly at: number;
  /** The remaining size for images in characters. */
  readonly room: number;
  onChange(change: (turn: Turn) => Turn): void;
  /** Undefined if it is the only turn. */
  readonly onRemove: (() => void) | undefined;
  onKeyDown(event: KeyboardEvent): void;
}) {
  const text = useText();
  const format = useFormat();
  const [over, setOver] = useState(false);
  const { role, pictures } = turn;
  const add = async (files: readonly File[]): Promise<void> => {
    const read = await readPictures(files, room);
    const images = read.flatMap((each) => ('picture' in each ? [each.picture] : []));
    if (images.length > 0) onChange((before) => ({ ...before, pictures: [...before.pictures, ...images] }));
    for (const each of read) {
      if ('picture' in each) continue;
      const messages = {
        type: text.notAPicture,
        unreadable: text.unreadable,
        size: (name: string) => text.tooLarge(name, format.bytes(MOST_PICTURES)),
      };
      notifications.show({ color: 'red', message: messages[each.problem](each.name), role: 'alert' });
    }
  };
  const drop = (event: DragEvent): void => {
    const files = [...event.dataTransfer.files];
    setOver(false);
    if (files.length === 0) return;
    event.preventDefault();
    void add(files);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is an alternative to the button
    <div
      className="pg-turn"
      data-over={over || undefined}
      onDragOver={(event) => {
        if (role !== 'user' || !event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={role === 'user' ? drop : undefined}
    >
      <NativeSelect
        size="xs"
        aria-label={text.roleOf(at)}
        data={[
          { value: 'user', label: text.roles.user },
          { value: 'assistant', label: text.roles.assistant },
        ]}
        value={role}
        onChange={({ currentTarget: { value } }) =>
          onChange((before) =>
            value === 'assistant' ? { ...before, role: 'assistant', pictures: [] } : { ...before, role: 'user' },
          )
        }
      />
      <div className="pg-turn-text">
        <Textarea
          aria-label={text.turn(at, text.roles[role])}
          placeholder={role === 'user' ? text.ask : text.answered}
          autosize
          minRows={role === 'user' ? 3 : 2}
          maxRows={14}
          value={turn.text}
          onChange={({ currentTarget: { value } }) => onChange((before) => ({ ...before, text: value }))}
          onKeyDown={onKeyDown}
          onPaste={(event) => {
            const files = [...event.clipboardData.files];
            if (role !== 'user' || files.length === 0) return;
            event.preventDefault();
            void add(files);
          }}
        />
        {pictures.length > 0 && (
          <Group gap="xs" mt={6}>
            {pictures.map(({ name, url }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same image may occur twice
              <span className="pg-picture" key={index}>
                <img src={url} alt={name} />
                <CloseButton
                  size="sm"
                  variant="default"
                  aria-label={text.removePicture(name)}
                  onClick={() =>
                    onChange((before) => ({
                      ...before,
                      pictures: before.pictures.filter((_, other) => other !== index),
                    }))
                  }
                />
              </span>
            ))}
          </Group>
        )}
      </div>
      <Group gap={2} wrap="nowrap">
        {role === 'user' && (
          <FileButton multiple accept={PICTURE_TYPES.join(',')} onChange={(files) => void add(files)}>
            {(props) => (
              <IconButton label={text.addPicture(at)} {...props}>
                <IconPhotoPlus size={16} />
              </IconButton>
            )}
          </FileButton>
        )}
        {onRemove !== undefined && (
          <IconButton label={text.removeTurn(at)} onClick={onRemove}>
            <IconTrash size={16} />
          </IconButton>
        )}
      </Group>
    </div>
  );
}

const PICTURE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;
/** JSON bodies are limited to 16 MiB; this leaves room for text. */
const MOST_PICTURES = 15 * 1_024 * 1_024;

type ReadPicture =
  | { readonly picture: Picture }
  | { readonly name: string; readonly problem: 'type' | 'size' | 'unreadable' };

/** Reads the files. `room`: the remaining size in base64 characters. */
async function readPictures(files: readonly File[], room: number): Promise<readonly ReadPicture[]> {
  let left = room;
  const read: ReadPicture[] = [];
  for (const file of files) {
    const { name, type, size } = file;
    if (!PICTURE_TYPES.some((accepted) => accepted === type)) read.push({ name, problem: 'type' });
    // Base64 uses four characters for three bytes.
    else if (size * 1.34 > left) read.push({ name, problem: 'size' });
    else {
      const url = await dataUrlOf(file).catch(() => undefined);
      if (url === undefined) read.push({ name, problem: 'unreadable' });
      else {
        left -= url.length;
        read.push({ picture: { name, url } });
      }
    }
  }
  return read;
}

function roomIn({ turns }: Prompt): number {
  return MOST_PICTURES - turns.flatMap(({ pictures }) => pictures).reduce((sum, { url }) => sum + url.length, 0);
}

function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
