/** The fields of an item of the configuration: those of its schema, and those with choices of their own. */
import { Button, Collapse, Stack } from '@mantine/core';
import { useState } from 'react';
import { IconChevronDown, IconChevronRight } from '../../icons.ts';
import type { Editor } from './editor.ts';
import type { Schema } from './facts.ts';
import { itemSchemaOf } from './fields.ts';
import { KeyFields, type NewKey } from './key-fields.tsx';
import { AliasField, ChannelField, FromField, ModelsField, PriceField, VendorField } from './model-fields.tsx';
import { rowsOf, type SectionName } from './rows.ts';
import { Fields, type OwnFields, SchemaFields } from './schema-fields.tsx';
import { type Members, membersOf, textOf } from './settings.ts';
import { useText } from './settings-text.ts';

/** The members that are always shown; the others are below “More settings”. */
const FIRST: Readonly<Record<SectionName, readonly string[]>> = {
  channels: ['vendor', 'url', 'key', 'headers', 'query', 'proxy', 'speaks', 'priority', 'weight'],
  models: ['from', 'fallback', 'free', 'price'],
  aliases: ['alias'],
  prices: ['input', 'output', 'cacheRead', 'cacheWrite'],
  plans: ['title', 'days', 'daily', 'weekly', 'monthly', 'price', 'balance'],
  passthrough: ['channel', 'path', 'free', 'price'],
};
/** Members that another field edits. */
const ELSEWHERE: Readonly<Partial<Record<SectionName, readonly string[]>>> = {
  channels: ['name', 'keys'],
  models: ['alias'],
  passthrough: ['prefix'],
};

/** The members of a section that have fields of their own. */
export function ownFields(
  section: SectionName,
  editor: Editor,
  id: string,
  newKey: NewKey,
  onNewKey: (key: NewKey) => void,
  item: Members,
  onItem: (item: Members) => void,
): OwnFields {
  const settings = editor.settings ?? {};
  const names = (of: SectionName): readonly string[] => rowsOf(settings, of).map((row) => row.id);
  if (section === 'channels')
    return {
      vendor: (value, onChange) => (
        <VendorField vendors={editor.config.vendors} value={textOf(value)} onChange={onChange} />
      ),
      key: () => (
        <KeyFields editor={editor} channel={id} item={item} newKey={newKey} onNewKey={onNewKey} onItem={onItem} />
      ),
    };
  if (section === 'models')
    return {
      from: (value, onChange) => <FromField channels={names('channels')} value={value} onChange={onChange} />,
      fallback: (value, onChange) => (
        <ModelsField models={names('models').filter((name) => name !== id)} value={value} onChange={onChange} />
      ),
      price: (value, onChange) => (
        <PriceField
          schema={itemSchemaOf(editor.schema?.properties?.prices)}
          elsewhere={Object.hasOwn(membersOf(settings.prices), id)}
          value={value}
          onChange={onChange}
        />
      ),
    };
  if (section === 'aliases')
    return {
      alias: (value, onChange) => <AliasField models={names('models')} value={textOf(value)} onChange={onChange} />,
    };
  if (section === 'passthrough')
    return {
      channel: (value, onChange) => (
        <ChannelField channels={names('channels')} value={textOf(value)} onChange={onChange} />
      ),
    };
  return {};
}

/** The fields of a channel that its vendor adds. */
export function vendorFields({ config }: Editor, vendor: string): Readonly<Record<string, Schema>> {
  const { options } = config.vendors.find(({ name }) => name === vendor) ?? { options: null };
  return (options as Schema | null)?.properties ?? {};
}

/** The first fields, and the others below a button. */
export function ItemFields({
  section,
  members,
  value,
  own,
  errorOf,
  onChange,
}: {
  readonly section: SectionName;
  readonly members: Readonly<Record<string, Schema>>;
  readonly value: Members;
  readonly own: OwnFields;
  errorOf(name: string): string | undefined;
  onChange(value: Members): void;
}) {
  const text = useText();
  const [isOpen, setOpen] = useState(false);
  const first = FIRST[section].filter((name) => Object.hasOwn(members, name));
  const hidden = new Set([...first, ...(ELSEWHERE[section] ?? [])]);
  // Of a vendor whose plugin is not running, the schema has no fields.
  const more =
    section === 'aliases'
      ? []
      : [...new Set([...Object.keys(members), ...Object.keys(value)])].filter((name) => !hidden.has(name));
  const shared = { members, value, own, errorOf, onChange };
  return (
    <>
      <SchemaFields {...shared} names={first} />
      {more.length > 0 && (
        <Stack gap="md">
          <Button
            variant="subtle"
            size="compact-sm"
            style={{ alignSelf: 'flex-start' }}
            leftSection={isOpen ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {text.moreSettings}
          </Button>
          <Collapse expanded={isOpen}>
            <Fields>{isOpen && <SchemaFields {...shared} names={more} />}</Fields>
          </Collapse>
        </Stack>
      )}
    </>
  );
}
