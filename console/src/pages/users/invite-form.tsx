/** Inviting addresses: the form, and what happened to each of them. */
import { Alert, Button, Group, NumberInput, Select, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { type Body, call, type Data } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { DepartmentSelect, useDepartments } from '../../parts/department-select.tsx';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { MoneyInput } from '../../parts/money-input.tsx';
import { Muted } from '../../parts/page.tsx';
import { Copy } from '../../parts/values.tsx';
import { type Role, RoleChoice } from './role-choice.tsx';
import { useText } from './text.ts';

type Invited = Data<'POST /api/user/invitations'>;

/** Addresses per request. */
const MOST = 100;
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** The addresses in a pasted list: separated by commas, semicolons, spaces or lines; names and angle brackets are left out. */
export function addressesIn(pasted: string): readonly string[] {
  const words = pasted
    .split(/[\s,;]+/)
    .map((word) => word.replace(/^[<"'(]+|[>"')]+$/g, ''))
    .filter((word) => word.includes('@'));
  return [...new Map(words.map((word) => [word.toLowerCase(), word])).values()];
}

/** The form. */
export function InviteForm({ onClose, onInvited }: { onClose(): void; onInvited(invited: Invited): void }) {
  const text = useText();
  const [pasted, setPasted] = useState('');
  const [role, setRole] = useState<Role>('1');
  const [department, setDepartment] = useState('');
  const [quota, setQuota] = useState<number | null>(null);
  const [plan, setPlan] = useState<string | null>(null);
  const [days, setDays] = useState<number | string>('');
  const departments = useDepartments() ?? [];
  const { data: plans = [] } = useApi('GET /api/subscription/plans', undefined, { staleTime: 60_000, retry: false });
  const refusal = useFormRefusal('emails', 'department_id', 'quota', 'plan', 'expires_days');
  const emails = addressesIn(pasted);
  const invite = useAction(
    () => {
      const body: Body<'POST /api/user/invitations'> = {
        emails: [...emails],
        role: role === '10' ? 10 : 1,
        ...(department !== '' && { department_id: Number(department) }),
        ...(quota !== null && { quota }),
        ...(plan !== null && { plan }),
        ...(days !== '' && { expires_days: Number(days) }),
      };
      return call('POST /api/user/invitations', { body });
    },
    { changes: ['GET /api/user/invitations'], done: onInvited, refused: refusal.refused },
  );
  const submit = (): void => {
    const wrong = emails.find((email) => !EMAIL.test(email));
    if (emails.length === 0) refusal.say('emails', text.invite.none);
    else if (wrong !== undefined) refusal.say('emails', text.invite.wrong(wrong));
    else if (emails.length > MOST) refusal.say('emails', text.invite.tooMany(MOST));
    else invite.mutate();
  };
  return (
    <DialogForm refusal={refusal} action={text.invite.send} running={invite} onSubmit={submit} onClose={onClose}>
      <Text size="sm">{text.invite.about}</Text>
      <Textarea
        label={text.invite.emails}
        description={emails.length > 1 ? text.invite.count(emails.length) : text.invite.emailsAbout}
        autosize
        minRows={2}
        maxRows={8}
        spellCheck={false}
        autoCapitalize="none"
        {...refusal.field('emails', pasted, setPasted)}
        data-autofocus
      />
      <RoleChoice value={role} onChange={setRole} />
      {departments.length > 0 && (
        <DepartmentSelect
          label={text.words.department}
          placeholder={text.noDepartment}
          value={department}
          onChange={setDepartment}
          error={refusal.at('department_id')}
        />
      )}
      <MoneyInput
        label={text.invite.balance}
        about={text.invite.balanceAbout}
        units={quota}
        onUnits={setQuota}
        placeholder={text.invite.welcome}
        error={refusal.at('quota')}
      />
      {plans.length > 0 && (
        <Select
          label={text.words.plan}
          placeholder={text.noDepartment}
          data={plans.map(({ plan: { id, title } }) => ({ value: id, label: title }))}
          value={plan}
          onChange={setPlan}
          clearable
          error={refusal.at('plan')}
        />
      )}
      <NumberInput
        label={text.invitationDays}
        placeholder={text.invite.usualDays}
        value={days}
        onChange={setDays}
        min={1}
        max={365}
        allowDecimal={false}
        error={refusal.at('expires_days')}
      />
    </DialogForm>
  );
}

/** What happened to each address; links are shown once. */
export function InvitedList({ invited, onClose }: { readonly invited: Invited; onClose(): void }) {
  const text = useText();
  const links = invited.filter(({ outcome }) => outcome === 'link');
  return (
    <Stack>
      {links.length > 0 && <Alert color="orange">{text.invite.linksOnce}</Alert>}
      {links.length > 1 && (
        <div>
          <Text size="sm">{text.invite.allLinks}</Text>
          <Copy
            value={links.map(({ email, link }) => `${email}\t${link}`).join('\n')}
            shown={text.invite.count(links.length)}
            what={text.invite.allLinks}
          />
        </div>
      )}
      {invited.map(({ email, outcome, link }) => (
        <div key={email}>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {email}
          </Text>
          {outcome === 'link' ? <Copy value={link} what={email} /> : <Muted>{text.invite.outcomes[outcome]}</Muted>}
        </div>
      ))}
      <Group justify="flex-end">
        <Button onClick={onClose}>{text.words.close}</Button>
      </Group>
    </Stack>
  );
}
