/** Selects model, key and task. */
import { Select, Stack, Text } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { Choice } from '../../parts/choice.tsx';
import type { ChosenKey, Key } from '../../parts/chosen-key.ts';
import { PlainButton, Small } from '../../parts/plain.tsx';
import { useText } from '../../text.ts';
import type { Kind } from './prompt.ts';
import { TEXT } from './text.ts';

/** The key for the calls; without a key, offers to create one. */
export function KeyField({ chosen }: { readonly chosen: ChosenKey }) {
  const text = useText(TEXT);
  const { key, keys, none } = chosen;
  const find = useDebouncedCallback((typed: string) => chosen.find(typed), 250);
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
  const named = ({ name, key: masked, status }: Key): string =>
    `${name} · ${masked}${status === 1 ? '' : ` (${text.keyStates[status]})`}`;
  const options = [...(keys ?? []), ...(key !== undefined && !keys?.some(({ id }) => id === key.id) ? [key] : [])];
  return (
    <Select
      label={text.key}
      description={text.keyAbout}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      data={options.map((each) => ({ value: String(each.id), label: named(each) }))}
      value={key === undefined ? null : String(key.id)}
      onChange={(id) => id !== null && chosen.choose(Number(id))}
      // The gateway searches, because there may be more keys than were loaded.
      onSearchChange={(typed) => find(key !== undefined && typed === named(key) ? '' : typed)}
      filter={({ options: all }) => all}
      nothingFoundMessage={text.noKeyFound}
      searchable
      allowDeselect={false}
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
  const text = useText(TEXT);
  const isGone = model !== '' && names?.includes(model) === false;
  return (
    <Select
      label={text.model}
      description={about}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      error={isGone ? text.modelGone : undefined}
      data={isGone ? [model, ...(names ?? [])] : [...(names ?? [])]}
      value={model === '' ? null : model}
      onChange={(chosen) => chosen !== null && onChoose(chosen)}
      placeholder={names?.length === 0 ? text.noModel : undefined}
      nothingFoundMessage={text.noModelFound}
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
  const text = useText(TEXT);
  if (kinds.length < 2) return null;
  const data = kinds.map((each) => ({ value: each, label: text.kinds[each] }));
  return <Choice label={text.kind} data={data} value={kind} onChange={onChoose} />;
}
