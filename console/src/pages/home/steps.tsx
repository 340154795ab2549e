/** The first steps: those that are done on one line, the next one with how it is done. When all are done there is nothing. */
import { Box, Group, Text, ThemeIcon, Title } from '@mantine/core';
import { IconCheck, IconCircleDashed } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Section } from '../../parts/page.tsx';
import { useText } from '../../text.ts';
import type { StepFact, StepName } from './facts.ts';
import './home.css';
import { TEXT } from './text.ts';

/** The section. `body`: how each is done. */
export function Steps({ steps, body }: { readonly steps: readonly StepFact[]; body(name: StepName): ReactNode }) {
  const text = useText(TEXT);
  const done = steps.filter((step) => step.done).length;
  if (done === steps.length) return null;
  return (
    <Section title={text.start} about={text.startAbout(done, steps.length)}>
      <ol className="home-steps">
        {steps.map((step) => (
          <li key={step.name} data-step={step.name} data-done={step.done}>
            <Group gap="xs" wrap="nowrap">
              <ThemeIcon
                variant={step.done ? 'filled' : 'default'}
                size={22}
                radius="xl"
                role="img"
                aria-label={step.done ? text.done : text.open}
              >
                {step.done ? <IconCheck size={14} /> : <IconCircleDashed size={14} />}
              </ThemeIcon>
              <Title order={3} size="sm" fw={step.done ? 400 : 600} c={step.done ? 'dimmed' : undefined}>
                {text.steps[step.name]}
              </Title>
              {step.done && (
                <Text size="xs" c="dimmed" aria-hidden>
                  {text.done}
                </Text>
              )}
            </Group>
            {!step.done && <Box className="home-step-body">{body(step.name)}</Box>}
          </li>
        ))}
      </ol>
    </Section>
  );
}
