/** Form fields for a mapping of gateway.yaml, made from its schema. */
import { Fieldset, NumberInput, Select, SimpleGrid, Stack, TagsInput, Textarea, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { parse, stringify } from 'yaml';
import { Coded } from '../../parts/coded.tsx';
import { useLanguage } from '../../parts/values.tsx';
import { IN_CHINESE } from './descriptions.ts';
import type { Schema } from './facts.ts';
import { type FieldKind, fieldOf } from './fields.ts';
import { itemsOf, type Members, membersOf, textOf, type Value } from './settings.ts';
import { useText } from './settings-text.ts';

/** Renders a member in a way of its own; undefined: as its schema says. */
export type OwnFields = Readonly<
  Record<string, ((value: Value | undefined, onChange: (value: Value | undefined) => void) => ReactNode) | undefined>
>;

/** The fields of the members `names`, in this order. Undefined values are removed from the mapping. */
export function SchemaFields({
  members,
  names,
  value,
  own = {},
  within = '',
  errorOf,
  onChange,
}: {
  readonly members: Readonly<Record<string, Schema>>;
  readonly names: readonly string[];
  readonly value: Members;
  readonly own?: OwnFields;
  /** The path of the mapping, for unique names: `timeout.` */
  readonly within?: string;
  errorOf?(name: string): string | undefined;
  onChange(value: Members): void;
}) {
  return names.map((name) => {
    const set = (next: Value | undefined): void => {
      const { [name]: _, ...others } = value;
      // In its place, so that the order of the fields is that of the file.
      onChange(
        next === undefined
          ? others
          : Object.hasOwn(value, name)
            ? Object.fromEntries(Object.entries(value).map(([each, was]) => [each, each === name ? next : was]))
            : { ...value, [name]: next },
      );
    };
    const custom = own[name];
    if (custom !== undefined) return <div key={name}>{custom(value[name], set)}</div>;
    return (
      <SchemaField
        key={name}
        name={name}
        path={`${within}${name}`}
        schema={members[name] ?? {}}
        value={value[name]}
        error={errorOf?.(`${within}${name}`)}
        errorOf={errorOf}
        onChange={set}
      />
    );
  });
}

interface FieldProps {
  readonly name: string;
  readonly path: string;
  readonly schema: Schema;
  readonly value: Value | undefined;
  readonly error: string | undefined;
  readonly errorOf: ((name: string) => string | undefined) | undefined;
  onChange(value: Value | undefined): void;
}

function SchemaField({ schema, ...props }: FieldProps) {
  const kind = fieldOf(schema, props.value);
  if (kind.kind === 'group') return <GroupField {...props} kind={kind} />;
  if (kind.kind === 'yaml') return <YamlField {...props} kind={kind} />;
  if (kind.kind === 'table') return <TableField {...props} kind={kind} />;
  return <PlainField {...props} kind={kind} />;
}

type KindProps = Omit<FieldProps, 'schema'> & { readonly kind: FieldKind };

/** The label of a member: its usual name, or the one in the file. */
export function useLabelOf(): (name: string) => string {
  const { fields } = useText();
  return (name) => (Object.hasOwn(fields, name) ? fields[name as keyof typeof fields] : name);
}

function PlainField({ name, value, error, kind, onChange }: KindProps) {
  const text = useText();
  const describe = useDescription();
  const labelOf = useLabelOf();
  const shared = {
    label: labelOf(name),
    description: kind.description !== undefined && <Coded>{describe(kind.description)}</Coded>,
    error,
    inputWrapperOrder: ['label', 'input', 'description', 'error'] as ('label' | 'input' | 'description' | 'error')[],
    placeholder: kind.usual !== '' ? text.usual(kind.usual) : kind.example,
    'data-field': name,
  };
  if (kind.kind === 'number')
    return (
      <NumberInput
        {...shared}
        value={typeof value === 'number' ? value : ''}
        onChange={(next) => onChange(numberOf(next))}
        allowDecimal={!kind.isWhole}
        allowNegative={(kind.least ?? -1) < 0}
        decimalScale={12}
        {...(kind.least !== undefined && { min: kind.least })}
        {...(kind.most !== undefined && { max: kind.most })}
        hideControls
      />
    );
  if (kind.kind === 'list')
    return (
      <TagsInput
        {...shared}
        placeholder={text.addWithEnter}
        value={itemsOf(value).map(textOf)}
        onChange={(next) => onChange(next.length === 0 ? undefined : next)}
        splitChars={[',']}
      />
    );
  if (kind.kind === 'choice' || kind.kind === 'switch') {
    const options =
      kind.kind === 'switch'
        ? [
            { value: 'true', label: text.yes },
            { value: 'false', label: text.no },
          ]
        : kind.options.map((option) => ({ value: option, label: option }));
    return (
      <Select
        {...shared}
        placeholder={
          kind.kind === 'switch' && kind.usual !== ''
            ? text.usual(kind.usual === 'true' ? text.yes : text.no)
            : shared.placeholder
        }
        value={value === undefined || value === null ? null : String(value)}
        data={options}
        onChange={(next) => onChange(next === null ? undefined : kind.kind === 'switch' ? next === 'true' : next)}
        clearable
      />
    );
  }
  return (
    <TextInput
      {...shared}
      value={textOf(value)}
      autoComplete="off"
      spellCheck={false}
      maxLength={2_000}
      onChange={({ currentTarget }) => onChange(currentTarget.value === '' ? undefined : currentTarget.value)}
    />
  );
}

function numberOf(typed: number | string): number | undefined {
  const number = typeof typed === 'number' ? typed : Number.parseFloat(typed);
  return Number.isFinite(number) ? number : undefined;
}

function GroupField({ name, path, value, kind, errorOf, onChange }: KindProps) {
  const labelOf = useLabelOf();
  const names = Object.keys(kind.members);
  // Larger groups, such as quirks, are easier to write than to click.
  if (names.length > 6)
    return <YamlField {...{ name, path, value, kind, errorOf, onChange, error: errorOf?.(path) }} />;
  return (
    <Fieldset legend={labelOf(name)}>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <SchemaFields
          members={kind.members}
          names={names}
          value={membersOf(value)}
          within={`${path}.`}
          {...(errorOf !== undefined && { errorOf })}
          onChange={(next) => onChange(Object.keys(next).length === 0 ? undefined : next)}
        />
      </SimpleGrid>
    </Fieldset>
  );
}

/** Texts by name: a line for each, `name: value`. */
function TableField({ name, value, error, kind, onChange }: KindProps) {
  const text = useText();
  const describe = useDescription();
  const labelOf = useLabelOf();
  const [typed, setTyped] = useState(() =>
    Object.entries(membersOf(value))
      .map(([key, one]) => `${key}: ${textOf(one)}`)
      .join('\n'),
  );
  const lines = typed.split('\n').filter((line) => line.trim() !== '');
  const pairs = lines.map((line) => /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line));
  const isWrong = pairs.some((pair) => pair === null);
  return (
    <Textarea
      label={labelOf(name)}
      description={<Coded>{[describe(kind.description ?? ''), text.tableAbout].filter(Boolean).join(' ')}</Coded>}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      error={isWrong ? <Coded>{text.tableWrong}</Coded> : error}
      data-wrong={isWrong || undefined}
      value={typed}
      data-field={name}
      autosize
      minRows={2}
      spellCheck={false}
      styles={MONOSPACE}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        const found = currentTarget.value
          .split('\n')
          .map((line) => /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line))
          .filter((pair) => pair !== null);
        onChange(
          found.length === 0 ? undefined : Object.fromEntries(found.map(([, key = '', one = '']) => [key, one])),
        );
      }}
    />
  );
}

/** Anything, as YAML. What cannot be parsed is not taken over. */
export function YamlField({
  name,
  value,
  error,
  kind,
  onChange,
}: Pick<KindProps, 'name' | 'value' | 'error' | 'onChange'> & { readonly kind: Pick<FieldKind, 'description'> }) {
  const text = useText();
  const describe = useDescription();
  const labelOf = useLabelOf();
  const [typed, setTyped] = useState(() => writtenOf(value));
  const [isWrong, setWrong] = useState(false);
  return (
    <Textarea
      label={labelOf(name)}
      description={<Coded>{[describe(kind.description ?? ''), text.yamlAbout].filter(Boolean).join(' ')}</Coded>}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      error={isWrong ? text.yamlWrong : error}
      data-wrong={isWrong || undefined}
      value={typed}
      data-field={name}
      autosize
      minRows={1}
      maxRows={16}
      spellCheck={false}
      styles={MONOSPACE}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        try {
          const next = parse(currentTarget.value, { schema: 'core' }) as Value | undefined;
          setWrong(false);
          onChange(next === null ? undefined : next);
        } catch {
          setWrong(true);
        }
      }}
    />
  );
}

const MONOSPACE = { input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.8125rem' } } as const;

function writtenOf(value: Value | undefined): string {
  return value === undefined || value === null ? '' : stringify(value, { lineWidth: 100 }).trimEnd();
}

/** Fields below each other. */
export function Fields({ children }: { readonly children: ReactNode }) {
  return <Stack gap="md">{children}</Stack>;
}

/** The description of a setting in the viewer's language. */
function useDescription(): (english: string) => string {
  const language = useLanguage();
  return (english) => (language === 'zh' ? (IN_CHINESE[english] ?? english) : english);
}
