/** The setup of the selected client: notes, links and snippets. */
import { Alert, Box, Button, Code, Group, List, SegmentedControl, Stack, Text, Title, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconExternalLink } from '@tabler/icons-react';
import { Muted, PlainButton, Section } from '../../parts/page.tsx';
import { Copy, Snippet, useLanguage } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { fillLink, fillStep, type Values } from './recipe.ts';
import type { Client } from './recipes.ts';
import { TEXT } from './text.ts';
import { warningOf } from './warning.ts';

/** The shell that snippets are for. */
export type Shell = 'sh' | 'powershell';

/** The section. `hasKey`: the values contain the real key instead of a placeholder. */
export function SetUp({
  client,
  values,
  hasKey,
  shell,
  onShell,
}: {
  readonly client: Client;
  readonly values: Values;
  readonly hasKey: boolean;
  readonly shell: Shell;
  onShell(shell: Shell): void;
}) {
  const text = useText(TEXT);
  const language = useLanguage();
  const warning = warningOf(client.calls, values.root);
  const wantsRoot = client.steps.some(({ template }) => template.includes('{{root'));
  const choosesShell = client.steps.some(({ powershell }) => powershell !== undefined);
  return (
    <Section
      title={text.setUp(client.name)}
      actions={
        choosesShell && (
          <SegmentedControl
            size="xs"
            aria-label={text.shell}
            value={shell}
            onChange={(chosen) => onShell(chosen as Shell)}
            data={[
              { value: 'sh', label: text.sh },
              { value: 'powershell', label: text.powershell },
            ]}
          />
        )
      }
    >
      <Stack gap="md">
        {warning !== undefined && (
          <Alert color={warning === 'insecure' ? 'orange' : 'red'} icon={<IconAlertTriangle />} p="xs">
            {warning === 'cloud' ? text.needsHttps(client.name, values.root) : text[warning](values.root)}
          </Alert>
        )}
        <Box>
          <Muted>{text.address}</Muted>
          <Copy value={wantsRoot ? values.root : values.base} what={text.address} />
        </Box>
        {client.links !== undefined && (
          <Group gap="xs">
            {client.links.map((link) => {
              const href = hasKey ? fillLink(link, values) : undefined;
              return href === undefined ? (
                <Tooltip key={link.url} label={text.linkNeedsKey}>
                  <PlainButton
                    data-disabled
                    aria-disabled
                    leftSection={<IconExternalLink size={14} />}
                    onClick={(event) => event.preventDefault()}
                  >
                    {link.title[language]}
                  </PlainButton>
                </Tooltip>
              ) : (
                <Button
                  key={link.url}
                  component="a"
                  href={href}
                  variant="light"
                  leftSection={<IconExternalLink size={14} />}
                >
                  {link.title[language]}
                </Button>
              );
            })}
          </Group>
        )}
        {!hasKey && <Text size="sm">{text.placeholder}</Text>}
        {client.steps.map((step) => (
          <Stack key={step.title.en + step.file} gap={4}>
            <Group gap="xs" align="baseline">
              <Title order={3} size="sm" fw={500}>
                {step.title[language]}
              </Title>
              {step.file !== undefined && <Code>{step.file}</Code>}
            </Group>
            <Snippet code={fillStep(step, values, shell)} label={step.title[language]} />
          </Stack>
        ))}
        {client.notes !== undefined && (
          <List size="sm" c="dimmed" spacing={2}>
            {client.notes.map((note) => (
              <List.Item key={note.en}>{note[language]}</List.Item>
            ))}
          </List>
        )}
      </Stack>
    </Section>
  );
}
