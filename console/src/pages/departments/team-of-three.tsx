/** A template: a department with a monthly budget and its members. */
import { Anchor, Modal, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { Link } from 'wouter';
import { call } from '../../api/client.ts';
import { useAction, useStatus } from '../../api/hooks.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { useFormRefusal } from '../../parts/form-refusal.tsx';
import { MoneyInput } from '../../parts/money-input.tsx';
import { useText } from '../../text.ts';
import { PeopleSearch } from './people-search.tsx';
import { TEXT } from './text.ts';

/** Monthly budget per member in currency units: enough to work with, and affordable. */
const EACH = 20;
const PEOPLE = 3;

interface Template {
  readonly opened: boolean;
  onClose(): void;
  onMade(id: number): void;
}

/** The dialog. */
export function TeamOfThree(props: Template) {
  const text = useText(TEXT);
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={text.templateTitle}>
      <Fields {...props} />
    </Modal>
  );
}

function Fields({ onClose, onMade }: Template) {
  const text = useText(TEXT);
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
        {text.templateNobody}{' '}
        <Anchor component={Link} href="/users?tab=invitations" size="sm">
          {text.templateInvite}
        </Anchor>
      </Text>
    </DialogForm>
  );
}
