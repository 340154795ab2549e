/** One department: budgets, usage, members, actions. */
import { Anchor, Breadcrumbs, Button, Drawer, Group, Menu, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import { IconCoins, IconDots, IconPencil, IconPlus, IconTrash } from '../../icons.ts';
import { usePageNames } from '../../pages.tsx';
import { usageHref } from '../../parts/links.tsx';
import { Empty } from '../../parts/notes.tsx';
import { GuardedButton, LinkButton, Muted, PlainButton, Section, Small } from '../../parts/page.tsx';
import { Meter, Money, State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { DeleteDepartment, Recharge } from './department-dialogs.tsx';
import type { Editing } from './department-form.tsx';
import { budgetsOf, type Department, disabledBy, pathUp, tightestOf } from './forest.ts';
import { Members } from './members.tsx';
import { useText } from './text.ts';

/** The drawer. `isMissing`: the department in the address does not exist. */
export function DepartmentDrawer({
  department,
  isMissing,
  onOpen,
  onEdit,
  onClose,
}: {
  readonly department: Department | undefined;
  readonly isMissing: boolean;
  onOpen(id: number): void;
  onEdit(editing: Editing): void;
  onClose(): void;
}) {
  const text = useText();
  return (
    <Drawer opened={department !== undefined || isMissing} onClose={onClose} title={department?.name ?? text.gone}>
      {isMissing && <Empty title={text.gone}>{text.goneAbout}</Empty>}
      {department !== undefined && (
        <Content key={department.id} department={department} onOpen={onOpen} onEdit={onEdit} onClose={onClose} />
      )}
    </Drawer>
  );
}

function Content({
  department,
  onOpen,
  onEdit,
  onClose,
}: {
  readonly department: Department;
  onOpen(id: number): void;
  onEdit(editing: Editing): void;
  onClose(): void;
}) {
  const text = useText();
  const format = useFormat();
  const [dialog, setDialog] = useState<'recharge' | 'delete'>();
  const above = pathUp(department).slice(1).toReversed();
  const disabled = disabledBy(department);
  const priceOf = (ratio: number): string =>
    ratio === 0 ? text.priceFree : ratio === 1 ? text.priceUsual : text.price(format.number(ratio));
  return (
    <Stack gap="md">
      {above.length > 0 && (
        <Breadcrumbs>
          {above.map((each) => (
            <Anchor key={each.id} component="button" type="button" size="sm" onClick={() => onOpen(each.id)}>
              {each.name}
            </Anchor>
          ))}
          <Text size="sm">{department.name}</Text>
        </Breadcrumbs>
      )}
      <Group gap="xs">
        <Button leftSection={<IconPencil size={16} />} onClick={() => onEdit({ what: 'edit', department })}>
          {text.words.edit}
        </Button>
        <GuardedButton
          why={department.quota === null ? text.rechargeNone : undefined}
          leftSection={<IconCoins size={16} />}
          onClick={() => setDialog('recharge')}
        >
          {text.recharge}
        </GuardedButton>
        <Menu position="bottom-end">
          <Menu.Target>
            <PlainButton aria-label={text.words.moreActions} px="xs">
              <IconDots size={16} />
            </PlainButton>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item
              leftSection={<IconPlus size={16} />}
              onClick={() => onEdit({ what: 'create', below: department })}
            >
              {text.createBelow}
            </Menu.Item>
            <Menu.Item
              leftSection={<IconTrash size={16} />}
              c="var(--mantine-color-red-text)"
              onClick={() => setDialog('delete')}
            >
              {text.words.delete}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
        <Muted>{priceOf(department.ratio)}</Muted>
      </Group>
      {disabled !== undefined && (
        <Group gap="xs">
          <State tone="idle">{text.words.disabled}</State>
          <Text size="sm">{text.disabledAbove(disabled.name)}</Text>
        </Group>
      )}
      <Budgets department={department} onEdit={() => onEdit({ what: 'edit', department })} />
      <Usage department={department} />
      {department.children.length > 0 && (
        <Section title={text.below}>
          <Stack gap={4}>
            {department.children.map((child) => {
              const left = tightestOf(child)?.left;
              return (
                <Group key={child.id} justify="space-between" gap="xs" wrap="nowrap">
                  <Anchor component="button" type="button" size="sm" truncate onClick={() => onOpen(child.id)}>
                    {child.name}
                  </Anchor>
                  <Muted className="number">
                    {text.peopleCount(format.number(child.people))} ·{' '}
                    {left === undefined ? text.words.noLimit : text.leftOf(format.money(left))}
                  </Muted>
                </Group>
              );
            })}
          </Stack>
        </Section>
      )}
      <Members department={department} />
      <Recharge department={department} opened={dialog === 'recharge'} onClose={() => setDialog(undefined)} />
      <DeleteDepartment
        department={department}
        opened={dialog === 'delete'}
        onClose={() => setDialog(undefined)}
        onDeleted={onClose}
      />
    </Stack>
  );
}

function Budgets({ department, onEdit }: { readonly department: Department; onEdit(): void }) {
  const text = useText();
  const format = useFormat();
  const budgets = budgetsOf(department);
  const tightest = tightestOf(department);
  return (
    <Section title={text.budgets} about={budgets.length > 0 && text.budgetsAbout}>
      {tightest === undefined ? (
        <Stack gap="xs" align="flex-start">
          <Text size="sm">{text.budgetsNone}</Text>
          <PlainButton onClick={onEdit}>{text.setBudget}</PlainButton>
        </Stack>
      ) : (
        <Stack gap="sm">
          <Text size="sm" {...(tightest.left === 0 && { c: 'red', fw: 600 })}>
            {tightest.left === 0 ? text.tightestNone : text.tightestIs(format.money(tightest.left))}
          </Text>
          {budgets.map((budget) => (
            <div key={`${budget.of.id} ${budget.period}`}>
              <Meter
                label={text.through(budget.of.name, text.periods[budget.period])}
                used={budget.used}
                limit={budget.limit}
              />
              <Group gap="xs" mt={2}>
                <Small>{text.leftOf(format.money(budget.left))}</Small>
                {budget.of === tightest.of && budget.period === tightest.period && (
                  <State tone={budget.left === 0 ? 'bad' : 'warn'}>{text.tightest}</State>
                )}
              </Group>
            </div>
          ))}
          {budgets.some(({ period }) => period === 'month') && <Small>{text.resets}</Small>}
        </Stack>
      )}
    </Section>
  );
}

/** Usage of the month; nothing if the gateway keeps no usage records. */
function Usage({ department: { id } }: { readonly department: Department }) {
  const text = useText();
  const names = usePageNames();
  const format = useFormat();
  const { data } = useApi('GET /api/team/overview', { search: { department_id: id } }, { retry: false });
  if (data === undefined) return null;
  const { quota, requests, errors } = data.month;
  return (
    <Section
      title={text.usage}
      about={text.usageAbout}
      actions={
        <>
          <LinkButton href={`/team?department_id=${id}&range=month`}>{names.team}</LinkButton>
          <LinkButton href={usageHref({ department_id: `${id}`, range: 'month' }, { allUsers: true })}>
            {names.usage}
          </LinkButton>
        </>
      }
    >
      <Text size="lg" fw={600} component="div">
        <Money units={quota} />
      </Text>
      <Muted>
        {text.calls(format.number(requests))}
        {errors > 0 && ` · ${text.refusals(format.number(errors))}`}
      </Muted>
    </Section>
  );
}
