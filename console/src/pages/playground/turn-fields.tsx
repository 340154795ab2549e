/** One turn of the conversation: role, text, images. */
import { CloseButton, FileButton, Group, NativeSelect, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPhotoPlus, IconTrash } from '@tabler/icons-react';
import { type DragEvent, type KeyboardEvent, useState } from 'react';
import { IconButton } from '../../parts/plain.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { MOST_PICTURES, PICTURE_TYPES, readPictures } from './pictures.ts';
import type { Turn } from './prompt.ts';
import { TEXT } from './text.ts';

/** The fields. `at` counts from 1. */
export function TurnFields({
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
  const text = useText(TEXT);
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
