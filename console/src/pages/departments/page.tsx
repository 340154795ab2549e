/** Departments: the tree and its dialogs. */
import { Anchor, Box, Button, Group, Modal, Select, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { call } from '../../api/client.ts';
import { useAction, useApi, useStatus } from '../../api/hooks.ts';
import { IconPlus } from '../../icons.ts';
import { useAddress } from '../../parts/address.ts';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { MoneyInput } from '../../parts/money-input.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { Page, PlainButton, Section } from '../../parts/page.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { NOTHING } from '../../parts/selection-bar.tsx';
import { DepartmentDrawer } from './department-drawer.tsx';
import { DepartmentForm, type Editing } from './department-form.tsx';
import { DepartmentSelection } from './department-selection.tsx';
import { DepartmentTree } from './department-tree.tsx';
import { type Forest, forestOf, rowsOf, SORTS, type Sort } from './forest.ts';
import { PeopleSearch } from './members.tsx';
import { useText } from './text.ts';

/** Levels of the tree that are expanded at first. */
const SEEN_LEVELS = 2;

export default function DepartmentsPage() {
  const text = useText();
  const [address, setAddress] = useAddress({ q: '', department: '', sort: '' });
  const sort = SORTS.find((each) => each === address.sort) ?? 'name';
  const [editing, setEditing] = useState<Editing>();
  const [hasTemplate, setTemplate] = useState(false);
  const tree = useApi('GET /api/department/tree');
  const forest = useMemo(() => (tree.data === undefined ? undefined : forestOf(tree.data, sort)), [tree.data, sort]);
  const open = forest?.byId.get(Number(address.department));
  const create = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setEditing({ what: 'create', below: undefined })}>
      {text.words.newDepartment}
    </Button>
  );
  return (
    <Page name="departments" about={text.about} actions={forest !== undefined && forest.tops.length > 0 && create}>
      <Loaded query={tree} height={320}>
        {() =>
          forest === undefined || forest.tops.length === 0 ? (
            <Section>
              <Empty
                title={text.words.noDepartmentsYet}
                action={
                  <>
                    <Button onClick={() => setTemplate(true)}>{text.template}</Button>
                    <PlainButton onClick={() => setEditing({ what: 'create', below: undefined })}>
                      {text.words.newDepartment}
                    </PlainButton>
                  </>
                }
              >
                {text.emptyAbout}
              </Empty>
            </Section>
          ) : (
            <TreeSection
              forest={forest}
              query={address.q}
              sort={sort}
              onSort={(to) => setAddress({ sort: to === 'name' ? '' : to })}
              onWords={(q) => setAddress({ q })}
              open={open?.id}
              onOpen={(id) => setAddress({ department: `${id}` })}
            />
          )
        }
      </Loaded>
      <DepartmentDrawer
        department={open}
        isMissing={forest !== undefined && address.department !== '' && open === undefined}
        onOpen={(id) => setAddress({ department: `${id}` })}
        onEdit={setEditing}
        onClose={() => setAddress({ department: '' })}
      />
      <DepartmentForm
        editing={editing}
        onClose={() => setEditing(undefined)}
        onMade={(id) => setAddress({ department: `${id}` })}
      />
      <TeamOfThree
        opened={hasTemplate}
        onClose={() => setTemplate(false)}
        onMade={(id) => setAddress({ department: `${id}` })}
      />
    </Page>
  );
}

function TreeSection({
  forest,
  query,
  sort,
  onSort,
  onWords,
  open,
  onOpen,
}: {
  readonly forest: Forest;
  readonly query: string;
  readonly sort: Sort;
  onSort(sort: string): void;
  onWords(words: string): void;
  readonly open: number | undefined;
  onOpen(id: number): void;
}) {
  const text = useText();
  const [expanded, setExpanded] = useState<ReadonlySet<number>>(
    () => new Set([...forest.byId.values()].filter(({ level }) => level < SEEN_LEVELS).map(({ id }) => id)),
  );
  const rows = useMemo(() => rowsOf(forest, expanded, query), [forest, expanded, query]);
  const isDeep = [...forest.byId.values()].some(({ level }) => level > 1);
  const [selected, setSelected] = useState<ReadonlySet<number>>();
  return (
    <Section flush>
      <Group justify="space-between" gap="xs" className="section-head">
        <Box w="min(20rem, 100%)">
          <SearchField label={text.search} value={query} onSearch={onWords} />
        </Box>
        <Group gap="xs">
          <Select
            aria-label={text.sortBy}
            data={SORTS.map((each) => ({ value: each, label: text.sorts[each] }))}
            value={sort}
            onChange={(to) => onSort(to ?? 'name')}
            allowDeselect={false}
            w="11rem"
          />
          {isDeep && (
            <>
              <PlainButton onClick={() => setExpanded(new Set(forest.byId.keys()))}>{text.expandAll}</PlainButton>
              <PlainButton onClick={() => setExpanded(new Set())}>{text.collapseAll}</PlainButton>
            </>
          )}
          <PlainButton
            aria-pressed={selected !== undefined}
            onClick={() => setSelected((before) => (before === undefined ? NOTHING : undefined))}
          >
            {text.select}
          </PlainButton>
        </Group>
      </Group>
      {selected !== undefined && (
        <DepartmentSelection
          ids={rows.map(({ department }) => department.id)}
          selected={selected}
          onSelect={setSelected}
          onDone={() => setSelected(undefined)}
        />
      )}
      {rows.length === 0 ? (
        <Empty
          title={text.nothingFound}
          action={<PlainButton onClick={() => onWords('')}>{text.clearSearch}</PlainButton>}
        />
      ) : (
        <DepartmentTree
          rows={rows}
          open={open}
          selected={selected}
          onSelect={({ id }) =>
            setSelected((before = NOTHING) => {
              const after = new Set(before);
              if (!after.delete(id)) after.add(id);
              return after;
            })
          }
          onOpen={({ id }) => onOpen(id)}
          onToggle={({ id }, isShown) =>
            setExpanded((before) => {
              const after = new Set(before);
              if (isShown) after.add(id);
              else after.delete(id);
              return after;
            })
          }
        />
      )}
    </Section>
  );
}

/** Monthly budget per member in currency units: enough to work with, and affordable. */
const EACH = 20;
const PEOPLE = 3;

interface Template {
  readonly opened: boolean;
  onClose(): void;
  onMade(id: number): void;
}

/** A template: a department with a monthly budget and its members. */
function TeamOfThree(props: Template) {
  const text = useText();
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={text.template}>
      <Fields {...props} />
    </Modal>
  );
}

function Fields({ onClose, onMade }: Template) {
  const text = useText();
  const status = useStatus();
  const [name, setName] = useState(text.templateName);
  const [month, setMonth] = useState<number | null>(EACH * PEOPLE * (status?.quota_per_unit ?? 500_000));
  const [ids, setIds] = useState<readonly string[]>([]);
  const refusal = useFormRefusal('name', 'monthly_quota');
  const make = useAction(
    async () => {
      const { id } = await call('POST /api/department/', { body: { name: name.trim(), monthly_quota: month } });
      if (ids.length === 0) return { id, isWhole: true };
      const body = { user_ids: ids.map(Number) };
      // The department exists by now: its drawer lets the user add the members again.
      const isWhole = await call('POST /api/department/{id}/members', { params: { id }, body }).then(
        () => true,
        () => false,
      );
      return { id, isWhole };
    },
    {
      changes: ['GET /api/department/tree', 'GET /api/department/names', 'GET /api/user/'],
      done({ id, isWhole }) {
        notifications.show({
          message: isWhole ? text.made(name.trim()) : text.madeWithout(name.trim()),
          ...(!isWhole && { color: 'orange' }),
        });
        onClose();
        onMade(id);
      },
      refused: refusal.refused,
    },
  );
  return (
    <DialogForm refusal={refusal} action={text.templateMake} running={make} onClose={onClose}>
      <Text size="sm">{text.templateAbout}</Text>
      <TextInput
        label={text.words.name}
        {...refusal.field('name', name, setName)}
        maxLength={64}
        required
        data-autofocus
      />
      <MoneyInput
        label={text.monthly}
        about={text.monthlyAbout}
        placeholder={text.words.noLimit}
        units={month}
        onUnits={setMonth}
        error={refusal.at('monthly_quota')}
      />
      <PeopleSearch label={text.words.members} about={text.templatePeopleAbout} value={ids} onChange={setIds} />
      <Text size="sm">
        {text.templateNoAccounts}{' '}
        <Anchor component={Link} href="/users?tab=invitations" size="sm">
          {text.templateInvite}
        </Anchor>
      </Text>
    </DialogForm>
  );
}
