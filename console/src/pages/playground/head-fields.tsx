/** Selects model, key and task. */
import { Select, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { ChosenKey } from '../../parts/chosen-key.tsx';
import { KeySelect } from '../../parts/chosen-key.tsx';
import { Choice } from '../../parts/filter-select.tsx';
import { PlainButton, Small } from '../../parts/page.tsx';
import type { Kind } from './prompt.ts';
import { useText } from './text.ts';

/** The key for the calls; without a key, offers to create one. */
export function KeyField({ chosen }: { readonly chosen: ChosenKey }) {
  const text = useText();
  const { none } = chosen;
  if (none)
    return (
      <Stack gap={4} align="flex-start">
        <Text size="sm" fw={500}>
          {text.needsKey}
        </Text>
        <Small>{text.needsKeyAbout}</Small>
        <PlainButton
          leftSection={<IconPlus size={14} />}
          loading={chosen.isMaking}
          onClick={() => chosen.make('playground')}
        >
          {text.makeKey}
        </PlainButton>
      </Stack>
    );
  return (
    <KeySelect
      chosen={chosen}
      description={text.keyAbout}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
    />
  );
}

/** The model to call. */
export function ModelField({
  names,
  model,
  about,
  onChoose,
}: {
  /** Undefined while loading. */
  readonly names: readonly string[] | undefined;
  readonly model: string;
  /** Its price. */
  readonly about: string | undefined;
  onChoose(model: string): void;
}) {
  const text = useText();
  const isGone = model !== '' && names?.includes(model) === false;
  return (
    <Select
      label={text.words.model}
      description={about}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      error={isGone ? text.modelGone : undefined}
      data={isGone ? [model, ...(names ?? [])] : [...(names ?? [])]}
      value={model === '' ? null : model}
      onChange={(chosen) => chosen !== null && onChoose(chosen)}
      placeholder={names?.length === 0 ? text.noModel : undefined}
      nothingFoundMessage={text.words.noMatchingModels}
      limit={50}
      searchable
      allowDeselect={false}
    />
  );
}

/** The task, if the model supports several. */
export function KindField({
  kinds,
  kind,
  onChoose,
}: {
  readonly kinds: readonly Kind[];
  readonly kind: Kind;
  onChoose(kind: Kind): void;
}) {
  const text = useText();
  if (kinds.length < 2) return null;
  const data = kinds.map((each) => ({ value: each, label: text.kinds[each] }));
  return <Choice label={text.words.type} data={data} value={kind} onChange={onChoose} />;
}
