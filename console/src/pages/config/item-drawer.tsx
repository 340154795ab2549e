/** The form of one item of the configuration: a channel, a model, an alias, a price, a plan, a passthrough route. */
import { Alert, Button, Drawer, Group, Text, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import type { ConfigRemark } from '../../api/operations.ts';
import { IconAlertTriangle } from '../../icons.ts';
import { Coded } from '../../parts/coded.tsx';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { GuardedButton, Muted, PlainButton } from '../../parts/page.tsx';
import { type Editor, useEdits } from './editor.ts';
import type { Schema } from './facts.ts';
import { itemSchemaOf } from './fields.ts';
import { ItemFields, ownFields, vendorFields } from './item-fields.tsx';
import { type NewKey, useStoreKey } from './key-fields.tsx';
import {
  addEdits,
  changeEdits,
  fileSectionOf,
  namedBy,
  type Row,
  removeEdits,
  rowsOf,
  type SectionName,
  servedBy,
} from './rows.ts';
import { Fields, YamlField } from './schema-fields.tsx';
import { isMembers, type Members, membersOf, textOf, type Value } from './settings.ts';
import { useText } from './settings-text.ts';
import { spelledPath } from './spelled-path.ts';

/** What is edited. `row` undefined: a new item. */
export interface Editing {
  readonly section: SectionName;
  readonly row: Row | undefined;
}

/** The drawer; open while an item is edited. */
export function ItemDrawer({
  editor,
  editing,
  onClose,
}: {
  readonly editor: Editor;
  readonly editing: Editing | undefined;
  onClose(): void;
}) {
  const text = useText();
  return (
    <Drawer
      opened={editing !== undefined}
      onClose={onClose}
      title={editing === undefined ? '' : (editing.row?.id ?? text.addTitles[editing.section])}
      size="lg"
    >
      {editing !== undefined && (
        <ItemForm
          key={`${editing.section} ${editing.row?.id ?? ''}`}
          editor={editor}
          editing={editing}
          onClose={onClose}
        />
      )}
    </Drawer>
  );
}

function startOf(section: SectionName): Members {
  return section === 'models' ? { from: [] } : {};
}

function ItemForm({
  editor,
  editing: { section, row },
  onClose,
}: {
  readonly editor: Editor;
  readonly editing: Editing;
  onClose(): void;
}) {
  const text = useText();
  const settings = editor.settings ?? {};
  const schema = schemaOf(editor, section);
  const [id, setId] = useState(row?.id ?? '');
  const [value, setValue] = useState<Value>(row?.value ?? startOf(section));
  const vendor = section === 'channels' ? textOf(membersOf(value).vendor) : '';
  const [newKey, setNewKey] = useState<NewKey>({ value: '', adds: false });
  const [problems, setProblems] = useState<readonly ConfigRemark[]>([]);
  const [nameError, setNameError] = useState<string>();
  const form = useRef<HTMLFormElement>(null);
  const named = namedBy(section);
  const path = spelledPath(
    row?.path ??
      (named === undefined ? [fileSectionOf(section), id] : [fileSectionOf(section), rowsOf(settings, section).length]),
  );
  // A renamed item has its problems at its new name.
  const newPath = named === undefined ? spelledPath([fileSectionOf(section), id]) : path;
  const own = (problem: ConfigRemark): boolean =>
    [path, newPath].some(
      (at) => problem.path === at || problem.path.startsWith(`${at}.`) || problem.path.startsWith(`${at}[`),
    );
  const errorOf = (name: string): string | undefined =>
    problems.find((problem) => [path, newPath].some((at) => problem.path === `${at}.${name}`))?.message;
  const applying = useEdits(editor, {
    done: onClose,
    wrong(found) {
      const mine = found.filter(own);
      setProblems(mine);
      return mine.length > 0;
    },
  });
  const storing = useStoreKey(editor, (stored) => submit(stored));
  const submit = (item: Value): void => {
    const complete = named !== undefined && isMembers(item) ? { [named]: id, ...item, ...{ [named]: id } } : item;
    applying.mutate(
      row === undefined ? addEdits(settings, section, id, complete) : changeEdits(settings, section, row, id, complete),
    );
  };
  const isTaken = (name: string): boolean =>
    name !== row?.id &&
    (['models', 'aliases'].includes(section) ? (['models', 'aliases'] as const) : [section]).some((each) =>
      rowsOf(settings, each).some((other) => other.id === name),
    );
  const onSubmit = (): void => {
    setProblems([]);
    const wrong = id.trim() === '' ? text.nameWanted : isTaken(id) ? text.nameTaken : undefined;
    setNameError(wrong);
    const invalid = form.current?.querySelector<HTMLElement>('[data-wrong="true"]');
    invalid?.focus();
    if (wrong !== undefined || (invalid !== null && invalid !== undefined)) return;
    if (section === 'channels' && newKey.value !== '') storing.mutate({ channel: id, item: membersOf(value), newKey });
    else submit(value);
  };
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <Fields>
        <TextInput
          label={text.idLabels[section]}
          description={<Coded>{text.idAbout[section]}</Coded>}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={id}
          error={nameError}
          onChange={({ currentTarget }) => setId(currentTarget.value.trim())}
          required
          withAsterisk={false}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          data-autofocus={row === undefined || undefined}
        />
        {section === 'prices' && <Muted>{text.priceUnits}</Muted>}
        {isMembers(value) ? (
          <ItemFields
            section={section}
            members={{ ...schema.properties, ...vendorFields(editor, vendor) }}
            value={value}
            own={ownFields(section, editor, row?.id ?? id, newKey, setNewKey, value, setValue)}
            errorOf={errorOf}
            onChange={setValue}
          />
        ) : (
          <YamlField
            name="price"
            value={value}
            error={undefined}
            kind={{ description: text.severalPrices }}
            onChange={(next) => setValue(next ?? null)}
          />
        )}
        <Problems problems={problems} />
        <Group justify="space-between" gap="xs">
          {row !== undefined ? (
            <RemoveButton editor={editor} section={section} row={row} onClose={onClose} />
          ) : (
            <span />
          )}
          <Group gap="xs">
            <PlainButton onClick={onClose}>{text.words.cancel}</PlainButton>
            {editor.why === undefined ? (
              <Button type="submit" loading={applying.isPending || storing.isPending}>
                {text.apply}
              </Button>
            ) : (
              <GuardedButton variant="filled" why={editor.why} onClick={() => {}}>
                {text.apply}
              </GuardedButton>
            )}
          </Group>
        </Group>
        <Text size="xs" c="dimmed" ta="end">
          {text.applyAbout}
        </Text>
      </Fields>
    </form>
  );
}

function schemaOf({ schema }: Editor, section: SectionName): Schema {
  return itemSchemaOf(schema?.properties?.[fileSectionOf(section)]);
}

/** The errors of the item. */
function Problems({ problems }: { readonly problems: readonly ConfigRemark[] }) {
  if (problems.length === 0) return null;
  return (
    <Alert color="red" icon={<IconAlertTriangle />} p="xs" role="alert">
      {problems.map(({ path, message }) => (
        <Text size="sm" key={`${path} ${message}`}>
          <Coded>{`\`${path}\` ${message}`}</Coded>
        </Text>
      ))}
    </Alert>
  );
}

function RemoveButton({
  editor,
  section,
  row,
  onClose,
}: {
  readonly editor: Editor;
  readonly section: SectionName;
  readonly row: Row;
  onClose(): void;
}) {
  const text = useText();
  const confirming = useDialog<true>();
  const removing = useEdits(editor, {
    done() {
      confirming.close();
      onClose();
    },
  });
  const settings = editor.settings ?? {};
  const { alone, shared } = section === 'channels' ? servedBy(settings, row.id) : { alone: [], shared: [] };
  return (
    <>
      <GuardedButton color="red" why={editor.why} onClick={() => confirming.open(true)}>
        {text.words.remove}
      </GuardedButton>
      <Confirm
        dialog={confirming}
        title={text.removeTitle(row.id)}
        action={text.words.remove}
        doing={removing}
        onConfirm={() => removing.mutate(removeEdits(settings, section, row))}
      >
        {text.removeAbout}
        {alone.length > 0 && ` ${text.removeAlone(alone.join(', '))}`}
        {shared.length > 0 && ` ${text.removeShared(shared.join(', '))}`}
      </Confirm>
    </>
  );
}
