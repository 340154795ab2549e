/** The profile of a user: names, email, group, department, remark. */
import { Group, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type FormEvent, useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction, useSelf } from '../../api/hooks.ts';
import { DepartmentSelect } from '../../parts/department-select.tsx';
import { Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { GuardedButton } from '../../parts/guarded-button.tsx';
import { Section } from '../../parts/page.tsx';
import { useText } from '../../text.ts';
import { changeForbidden, USER_CHANGES, type User } from './rights.ts';
import { TEXT } from './text.ts';

const GROUP = /^[\w.-]{1,64}$/;

/** A section of the drawer. */
export function UserProfile({ user }: { readonly user: User }) {
  const text = useText(TEXT);
  const why = changeForbidden(useSelf(), user, text);
  const before = {
    username: user.username,
    display_name: user.display_name,
    email: user.email,
    group: user.group,
    remark: user.remark,
  };
  const departmentBefore = user.department_id === null ? '' : `${user.department_id}`;
  const [form, setForm] = useState(before);
  const [department, setDepartment] = useState(departmentBefore);
  const refusal = useFormRefusal('username', 'display_name', 'email', 'group', 'remark');
  const changed = Object.fromEntries(
    Object.entries(form).filter(([name, value]) => value.trim() !== before[name as keyof typeof before]),
  );
  const isChanged = Object.keys(changed).length > 0 || department !== departmentBefore;
  const save = useAction(
    async () => {
      const trimmed = Object.fromEntries(Object.entries(changed).map(([name, value]) => [name, value.trim()]));
      if (Object.keys(trimmed).length > 0) await call('PUT /api/user/', { body: { id: user.id, ...trimmed } });
      if (department === departmentBefore) return;
      if (department !== '') {
        await call('POST /api/department/{id}/members', { params: { id: department }, body: { user_ids: [user.id] } });
      } else {
        await call('DELETE /api/department/{id}/members/{user_id}', {
          params: { id: departmentBefore, user_id: user.id },
        });
      }
    },
    {
      changes: [...USER_CHANGES, 'GET /api/department/tree'],
      done: () => notifications.show({ message: text.saved }),
      refused: refusal.refused,
    },
  );

  function submit(event: FormEvent): void {
    event.preventDefault();
    refusal.clear();
    if (why !== undefined || !isChanged) return;
    if (!GROUP.test(form.group.trim())) refusal.say('group', text.groupInvalid);
    else save.mutate();
  }

  const field = (name: keyof typeof before, label: string, about?: string) => (
    <TextInput
      label={label}
      description={about}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      value={form[name]}
      onChange={(event) => setForm({ ...form, [name]: event.currentTarget.value })}
      error={refusal.at(name)}
      readOnly={why !== undefined}
      autoComplete="off"
    />
  );
  return (
    <Section title={text.words.profile}>
      <form ref={refusal.form} onSubmit={submit}>
        <Stack>
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            {field('username', text.words.username)}
            {field('display_name', text.words.displayName)}
            {field('email', text.words.emailAddress, text.emailAbout)}
            {field('group', text.group, text.groupAbout)}
            {field('remark', text.remark, text.remarkAbout)}
            <DepartmentSelect
              label={text.words.department}
              placeholder={text.noDepartment}
              value={department}
              onChange={setDepartment}
              disabled={why !== undefined}
            />
          </SimpleGrid>
          <Refused by={refusal} />
          <Group justify="flex-end">
            <GuardedButton why={why} loading={save.isPending} onClick={() => refusal.form.current?.requestSubmit()}>
              {text.save}
            </GuardedButton>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
