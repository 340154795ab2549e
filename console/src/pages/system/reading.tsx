/** A figure with its rating and a remedy. */
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Coded } from '../../parts/coded.tsx';
import { State, type Tone } from '../../parts/values.tsx';
import { useText } from './text.ts';

/** The figure. `children`: a meter or other details. */
export function Reading({
  name,
  value,
  tone,
  about,
  children,
}: {
  readonly name: string;
  readonly value?: ReactNode;
  readonly tone: Tone;
  readonly about: string;
  readonly children?: ReactNode;
}) {
  const text = useText();
  return (
    <div className="reading">
      <div className="reading-value">
        <div className="reading-name">
          <Text size="sm" c="dimmed" component="h3" fw={400} m={0}>
            {name}
          </Text>
          <State tone={tone}>{text.moods[tone]}</State>
        </div>
        {value !== undefined && (
          <Text fw={600} component="div" className="reading-figure">
            {value}
          </Text>
        )}
        {children}
      </div>
      <Text size="sm" c={tone === 'warn' || tone === 'bad' ? undefined : 'dimmed'}>
        <Coded>{about}</Coded>
      </Text>
    </div>
  );
}
