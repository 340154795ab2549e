/** A figure of the machine: what it is, whether that is normal, and a sentence on what to do where it is not. */
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Coded } from '../../parts/coded.tsx';
import { type Mood, State } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';

/** One of them. `children`: a meter, or more of it. */
export function Reading({
  name,
  value,
  mood,
  about,
  children,
}: {
  readonly name: string;
  readonly value?: ReactNode;
  readonly mood: Mood;
  readonly about: string;
  readonly children?: ReactNode;
}) {
  const text = useText(TEXT);
  return (
    <div className="reading">
      <div className="reading-value">
        <div className="reading-name">
          <Text size="sm" c="dimmed" component="h3" fw={400} m={0}>
            {name}
          </Text>
          <State mood={mood}>{text.moods[mood]}</State>
        </div>
        {value !== undefined && (
          <Text fw={600} component="div" className="reading-figure">
            {value}
          </Text>
        )}
        {children}
      </div>
      <Text size="sm" c={mood === 'warn' || mood === 'bad' ? undefined : 'dimmed'}>
        <Coded>{about}</Coded>
      </Text>
    </div>
  );
}
