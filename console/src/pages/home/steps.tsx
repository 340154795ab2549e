/** The first steps: done ones on one line, the next one with its content. Hidden when all are done or the user dismisses them. */
import { Box, Button, Group, ThemeIcon, Title } from '@mantine/core';
import { IconCheck, IconCircleDashed } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { Section } from '../../parts/page.tsx';
import { Small } from '../../parts/plain.tsx';
import { useText } from '../../text.ts';
import type { StepFact, StepName } from './facts.ts';
import './home.css';
import { TEXT } from './text.ts';

/** The section. `who`: the account whose dismissal this browser stores; `body`: the content of each step. */
export function Steps({
  who,
  steps,
  body,
}: {
  readonly who: number;
  readonly steps: readonly StepFact[];
  body(name: StepName): ReactNode;
}) {
  const text = useText(TEXT);
  const storageKey = `turnpike.started.${who}`;
  const [dismissed, setDismissed] = useState(() => localStorage.getItem(storageKey) !== null);
  const done = steps.filter((step) => step.done).length;
  if (dismissed || done === steps.length) return null;
  const dismiss = (): void => {
    localStorage.setItem(storageKey, 'yes');
    setDismissed(true);
  };
  return (
    <Section
      title={text.start}
      about={text.startAbout(done, steps.length)}
      actions={
        <Button variant="subtle" onClick={dismiss}>
          {text.dismiss}
        </Button>
      }
    >
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
              {step.done && <Small aria-hidden>{text.done}</Small>}
            </Group>
            {!step.done && <Box className="home-step-body">{body(step.name)}</Box>}
          </li>
        ))}
      </ol>
    </Section>
  );
}
