/** Fields of models: their channels, fallbacks, prices, and the model that an alias stands for. */
import { Button, Fieldset, Group, Select, SimpleGrid, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '../../icons.ts';
import { IconButton, Muted } from '../../parts/page.tsx';
import type { Schema } from './facts.ts';
import { fieldOf } from './fields.ts';
import { SchemaFields, useLabelOf, YamlField } from './schema-fields.tsx';
import { fromOf, isMembers, itemsOf, membersOf, offersOf, textOf, type Value } from './settings.ts';
import { useText } from './settings-text.ts';

interface Props {
  readonly value: Value | undefined;
  onChange(value: Value | undefined): void;
}

/** The channels of a model in the order of the file, and its name at each. */
export function FromField({ channels, value, onChange }: Props & { readonly channels: readonly string[] }) {
  const text = useText();
  const offers = offersOf(value);
  const set = (at: number, next: readonly [string, string]): void =>
    onChange(fromOf(offers.map((offer, each) => (each === at ? next : offer))));
  return (
    <Fieldset legend={text.fields.from}>
      <Stack gap="xs">
        {offers.map(([channel, upstream], at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a channel can be there twice
          <Group key={at} gap="xs" align="flex-end" wrap="nowrap">
            <Select
              flex={1}
              label={text.words.channel}
              data={[...new Set([...channels, channel])].filter((name) => name !== '')}
              value={channel === '' ? null : channel}
              allowDeselect={false}
              onChange={(next) => set(at, [next ?? '', upstream])}
            />
            <TextInput
              flex={1}
              label={text.upstream}
              placeholder={text.sameName}
              value={upstream}
              spellCheck={false}
              onChange={({ currentTarget }) => set(at, [channel, currentTarget.value.trim()])}
            />
            <IconButton
              mb={4}
              label={text.removeChannel(channel)}
              onClick={() => onChange(fromOf(offers.filter((_, each) => each !== at)))}
            >
              <IconTrash size={16} />
            </IconButton>
          </Group>
        ))}
        <Button
          variant="default"
          size="xs"
          style={{ alignSelf: 'flex-start' }}
          leftSection={<IconPlus size={14} />}
          onClick={() => {
            // The newest channel is the last one of the file.
            const unused = channels.findLast((name) => !offers.some(([channel]) => channel === name));
            onChange(fromOf([...offers, [unused ?? channels[0] ?? '', '']]));
          }}
        >
          {text.addChannel}
        </Button>
        <Muted>{text.fromAbout}</Muted>
      </Stack>
    </Fieldset>
  );
}

/** Other models in an order. */
export function ModelsField({ models, value, onChange }: Props & { readonly models: readonly string[] }) {
  const text = useText();
  return (
    <TagsInput
      label={text.fields.fallback}
      description={text.fallbackAbout}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      data={[...models]}
      value={itemsOf(value).map(textOf)}
      limit={50}
      onChange={(next) => onChange(next.length === 0 ? undefined : next)}
    />
  );
}

/** The model that an alias stands for. */
export function AliasField({
  models,
  value,
  onChange,
}: {
  readonly models: readonly string[];
  readonly value: string;
  onChange(value: Value | undefined): void;
}) {
  const text = useText();
  return (
    <Select
      label={text.words.model}
      data={[...new Set([...models, value])].filter((name) => name !== '')}
      value={value === '' ? null : value}
      searchable
      limit={50}
      allowDeselect={false}
      nothingFoundMessage={text.words.noMatchingModels}
      onChange={(next) => onChange(next ?? undefined)}
    />
  );
}

const RATES = ['input', 'output', 'cacheRead', 'cacheWrite'];

/** The price of a model. `elsewhere`: the section `prices` has it. */
export function PriceField({
  schema,
  elsewhere,
  value,
  onChange,
}: Props & { readonly schema: Schema; readonly elsewhere: boolean }) {
  const text = useText();
  const labelOf = useLabelOf();
  const members = schema.properties ?? {};
  const isSimple = value === undefined || value === null || isMembers(value);
  if (elsewhere && value === undefined) return <Muted>{text.priceElsewhere}</Muted>;
  if (!isSimple || Object.keys(membersOf(value)).some((name) => !RATES.includes(name)))
    return (
      <YamlField
        name="price"
        value={value}
        error={undefined}
        kind={{ description: text.priceAbout }}
        onChange={onChange}
      />
    );
  const usable = RATES.filter((name) => Object.hasOwn(members, name));
  return (
    <Fieldset legend={labelOf('price')}>
      <Stack gap="xs">
        <SimpleGrid cols={2} spacing="sm">
          <SchemaFields
            members={members}
            names={usable.filter((name) => fieldOf(members[name]!, undefined).kind === 'number')}
            value={membersOf(value)}
            within="price."
            onChange={(next) => onChange(Object.keys(next).length === 0 ? undefined : next)}
          />
        </SimpleGrid>
        <Text size="xs" c="dimmed">
          {text.priceAbout}
        </Text>
      </Stack>
    </Fieldset>
  );
}

/** The channel of a passthrough route. */
export function ChannelField({
  channels,
  value,
  onChange,
}: {
  readonly channels: readonly string[];
  readonly value: string;
  onChange(value: Value | undefined): void;
}) {
  const text = useText();
  return (
    <Select
      label={text.words.channel}
      data={[...new Set([...channels, value])].filter((name) => name !== '')}
      value={value === '' ? null : value}
      allowDeselect={false}
      onChange={(next) => onChange(next ?? undefined)}
    />
  );
}

/** The vendor of a channel, among those of the running plugins. */
export function VendorField({
  vendors,
  value,
  onChange,
}: {
  readonly vendors: readonly { readonly name: string }[];
  readonly value: string;
  onChange(value: Value | undefined): void;
}) {
  const text = useText();
  return (
    <Select
      label={text.words.vendor}
      description={text.vendorAbout}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      data={[...new Set([...vendors.map(({ name }) => name), value])].filter((name) => name !== '')}
      value={value === '' ? null : value}
      allowDeselect={false}
      onChange={(next) => onChange(next ?? undefined)}
    />
  );
}
