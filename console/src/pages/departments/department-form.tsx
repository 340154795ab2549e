/** Creates or changes a department: name, parent, budgets, price factor. */
import { Modal, NumberInput, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type Body, call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { DepartmentSelect } from '../../parts/department-select.tsx';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { MoneyInput } from '../../parts/money-input.tsx';
import { useFormat } from '../../shell/format.ts';
import type { Department } from './forest.ts';
import { useText } from './text.ts';

/** The department being created or changed. */
export type Editing =
  | { readonly what: 'create'; readonly below: Department | undefined }
  | { readonly what: 'edit'; readonly department: Department };

/** The dialog; open while a department is being edited. */
export function DepartmentForm({
  editing,
  onClose,
  onMade,
}: {
  readonly editing: Editing | undefined;
  onClose(): void;
  onMade(id: number): void;
}) {
  const text = useText();
  return (
    <Modal
      opened={editing !== undefined}
      onClose={onClose}
      title={editing?.what === 'edit' ? text.formEdit(editing.department.name) : text.words.newDepartment}
    >
      {editing !== undefined && <Fields editing={editing} onClose={onClose} onMade={onMade} />}
    </Modal>
  );
}

function Fields({
  editing,
  onClose,
  onMade,
}: {
  readonly editing: Editing;
  onClose(): void;
  onMade(id: number): void;
}) {
  const text = useText();
  const format = useFormat();
  const before = editing.what === 'edit' ? editing.department : undefined;
  const parentBefore = editing.what === 'edit' ? editing.department.parent_id : (editing.below?.id ?? null);
  const [name, setName] = useState(before?.name ?? '');
  const [parent, setParent] = useState(parentBefore === null ? '' : `${parentBefore}`);
  const [month, setMonth] = useState(before?.monthly_quota ?? null);
  const [total, setTotal] = useState(before?.quota ?? null);
  const [ratio, setRatio] = useState<number | string>(before?.ratio ?? 1);
  const [enabled, setEnabled] = useState(before?.status !== 0);
  const refusal = useFormRefusal('name', 'parent_id', 'quota', 'monthly_quota', 'ratio');
  const changes = ['GET /api/department/tree', 'GET /api/department/names'] as const;
  const send = useAction(
    async (): Promise<number> => {
      const form = changedOnly();
      if (before === undefined)
        return (await call('POST /api/department/', { body: { ...form, name: name.trim() } })).id;
      if (Object.keys(form).length > 0)
        await call('PUT /api/department/{id}', { params: { id: before.id }, body: form });
      return before.id;
    },
    {
      changes,
      done(id) {
        onClose();
        if (before === undefined) onMade(id);
      },
      refused: refusal.refused,
    },
  );

  /** Unchanged fields are not sent: a new budget requires a second factor, a new name does not. */
  function changedOnly(): Body<'PUT /api/department/{id}'> {
    const factor = typeof ratio === 'number' ? ratio : Number.parseFloat(ratio);
    return {
      ...(name.trim() !== (before?.name ?? '') && { name: name.trim() }),
      ...(parent !== (before?.parent_id === null || before === undefined ? '' : `${before.parent_id}`) && {
        parent_id: parent === '' ? null : Number(parent),
      }),
      ...(month !== (before?.monthly_quota ?? null) && { monthly_quota: month }),
      ...(total !== (before?.quota ?? null) && { quota: total }),
      ...(Number.isFinite(factor) && factor !== (before?.ratio ?? 1) && { ratio: factor }),
      ...(enabled !== (before?.status !== 0) && { status: enabled ? (1 as const) : (0 as const) }),
    };
  }

  const usedUp = (limit: number | null, used: number | undefined): string =>
    limit !== null && used !== undefined && used > 0 && limit <= used ? ` ${text.belowUsed(format.money(used))}` : '';
  return (
    <DialogForm
      refusal={refusal}
      action={before === undefined ? text.make : text.words.save}
      running={send}
      onClose={onClose}
    >
      <TextInput
        label={text.words.name}
        {...refusal.field('name', name, setName)}
        maxLength={64}
        required
        data-autofocus
      />
      <DepartmentSelect
        label={text.parent}
        about={text.parentAbout}
        placeholder={text.parentNone}
        value={parent}
        onChange={setParent}
        error={refusal.at('parent_id')}
        {...(before !== undefined && { but: before.id })}
      />
      <MoneyInput
        label={text.monthly}
        about={text.monthlyAbout + usedUp(month, before?.monthly_used_quota)}
        placeholder={text.words.noLimit}
        units={month}
        onUnits={setMonth}
        error={refusal.at('monthly_quota')}
      />
      <MoneyInput
        label={text.words.totalBudget}
        about={text.totalAbout + usedUp(total, before?.used_quota)}
        placeholder={text.words.noLimit}
        units={total}
        onUnits={setTotal}
        error={refusal.at('quota')}
      />
      <NumberInput
        label={text.factor}
        description={text.factorAbout}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        value={ratio}
        onChange={setRatio}
        min={0}
        max={1_000}
        step={0.1}
        decimalScale={6}
        prefix="×"
        error={refusal.at('ratio')}
      />
      {before !== undefined && (
        <Switch
          label={text.words.enabled}
          description={text.enabledAbout}
          checked={enabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
      )}
    </DialogForm>
  );
}
