/** Settings: APIs, streaming, token limit, tools, structured output. */
import { Button, Chip, Group, Input, NumberInput, Select, Stack, Switch, Text, Textarea, Tooltip } from '@mantine/core';
import type { KeyboardEvent } from 'react';
import { IconPlus, IconTrash } from '../../icons.ts';
import type { ModelCard } from '../../parts/model-card.ts';
import { PlainButton, Small } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import { USUAL_LIMIT } from './bodies.ts';
import { EFFORTS, type Effort, STYLES, type Style } from './prompt.ts';
import { useText } from './text.ts';
import { EXAMPLE_SCHEMA, EXAMPLE_TOOLS, schemaIn, type Typed, toolsIn } from './typed-json.ts';
import type { PromptState } from './use-prompt.ts';

interface Props {
  readonly typing: PromptState;
  readonly card: ModelCard | undefined;
  readonly styles: readonly Style[];
  onStyles(styles: readonly Style[]): void;
  onKeyDown(event: KeyboardEvent): void;
}

/** The fields. */
export function Settings({ typing: { prompt, change }, card, styles, onStyles, onKeyDown }: Props) {
  const text = useText();
  const format = useFormat();
  return (
    <Stack gap="sm">
      <Input.Wrapper label={text.styles} description={text.stylesAbout} labelElement="div">
        <Chip.Group
          multiple
          value={[...styles]}
          onChange={(chosen) => onStyles(STYLES.filter((style) => chosen.includes(style)))}
        >
          <Group gap={6} mt={6} role="group" aria-label={text.styles}>
            {STYLES.map((style) => {
              const can = card === undefined || card.styles.some(({ name }) => name === style);
              return (
                <Tooltip key={style} label={text.notInStyle} disabled={can}>
                  <Chip value={style} size="xs" radius="sm" disabled={!can}>
                    {text.ways[style]}
                  </Chip>
                </Tooltip>
              );
            })}
          </Group>
        </Chip.Group>
      </Input.Wrapper>
      <Switch
        label={text.stream}
        checked={prompt.stream}
        onChange={({ currentTarget: { checked } }) => change({ stream: checked })}
      />
      <Group grow gap="sm" align="flex-start">
        <NumberInput
          label={text.maxTokens}
          placeholder={text.words.modelDefault}
          value={prompt.maxTokens ?? ''}
          onChange={(value) => change({ maxTokens: numberOf(value) })}
          onKeyDown={onKeyDown}
          min={1}
          max={card?.max_output ?? 1_000_000}
          allowDecimal={false}
          allowNegative={false}
          hideControls
        />
        <NumberInput
          label={text.temperature}
          placeholder={text.words.modelDefault}
          value={prompt.temperature ?? ''}
          onChange={(value) => change({ temperature: numberOf(value) })}
          onKeyDown={onKeyDown}
          min={0}
          max={2}
          step={0.1}
          decimalScale={2}
          allowNegative={false}
        />
      </Group>
      <Small mt={-6}>{text.maxTokensAbout(format.number(USUAL_LIMIT))}</Small>
      <Select
        label={text.effort}
        description={card?.abilities.reasoning === false ? text.unable : undefined}
        data={EFFORTS.map((effort) => ({ value: effort || 'none', label: text.efforts[effort || 'none'] }))}
        value={prompt.effort || 'none'}
        onChange={(value) => change({ effort: value === 'none' ? '' : (value as Effort) })}
        allowDeselect={false}
      />
    </Stack>
  );
}

/** Tools and structured output. */
export function Shapes({ typing: { prompt, change }, card, onKeyDown }: Pick<Props, 'typing' | 'card' | 'onKeyDown'>) {
  const text = useText();
  const abilities = card?.abilities;
  const wrong = ({ problem, ...more }: Typed<unknown>): string | undefined =>
    problem === undefined
      ? undefined
      : problem === 'json'
        ? text.problems.json('parserMessage' in more ? (more.parserMessage ?? '') : '')
        : text.problems[problem];
  return (
    <div className="pg-shapes">
      <JsonField
        label={text.tools}
        about={abilities?.tools === false ? text.unable : text.toolsAbout}
        value={prompt.tools}
        example={EXAMPLE_TOOLS}
        error={wrong(toolsIn(prompt.tools))}
        onChange={(tools) => change({ tools })}
        onKeyDown={onKeyDown}
      />
      <JsonField
        label={text.schema}
        about={abilities?.structured_output === false ? text.unable : text.schemaAbout}
        value={prompt.schema}
        example={EXAMPLE_SCHEMA}
        error={wrong(schemaIn(prompt.schema))}
        onChange={(schema) => change({ schema })}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

function numberOf(value: string | number): number | null {
  const number = typeof value === 'number' ? value : Number.parseFloat(value);
  return Number.isFinite(number) ? number : null;
}

/** The field; shown while it has text. */
function JsonField({
  label,
  about,
  value,
  example,
  error,
  onChange,
  onKeyDown,
}: {
  readonly label: string;
  readonly about: string;
  readonly value: string;
  readonly example: string;
  readonly error: string | undefined;
  onChange(value: string): void;
  onKeyDown(event: KeyboardEvent): void;
}) {
  const text = useText();
  if (value === '')
    return (
      <Group gap="xs">
        <Text size="sm" fw={500}>
          {label}
        </Text>
        <PlainButton
          size="compact-sm"
          leftSection={<IconPlus size={14} />}
          aria-label={`${label}: ${text.example}`}
          onClick={() => onChange(example)}
        >
          {text.example}
        </PlainButton>
      </Group>
    );
  return (
    <div>
      <Textarea
        label={label}
        description={about}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        onKeyDown={onKeyDown}
        error={error}
        autosize
        minRows={4}
        maxRows={14}
        spellCheck={false}
        classNames={{ input: 'pg-code' }}
      />
      <Button
        mt={4}
        variant="subtle"
        size="compact-sm"
        leftSection={<IconTrash size={14} />}
        aria-label={`${label}: ${text.words.remove}`}
        onClick={() => onChange('')}
      >
        {text.words.remove}
      </Button>
    </div>
  );
}
