/** Service tokens of administrators: create, list, revoke. */
import { Group, Modal, NumberInput, SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type Body, call } from '../../api/client.ts';
import { isRoot, type Self, useAction, useApi } from '../../api/hooks.ts';
import type { ServiceToken } from '../../api/operations.ts';
import { IconTrash } from '../../icons.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { IconButton, Muted, PlainButton, Section } from '../../parts/page.tsx';
import { ShownOnce } from '../../parts/secret-fields.tsx';
import { State, type Tone, When } from '../../parts/values.tsx';
import { notifyDone } from './item.tsx';
import { useText } from './text.ts';

type Scope = ServiceToken['scopes'][number];
type ScopeGroup = Scope extends `${infer G}:${string}` ? G : never;

const GROUPS = [
  'keys',
  'users',
  'departments',
  'usage',
  'prompts',
  'payments',
  'models',
  'system',
  'audit',
  'config',
] as const satisfies readonly ScopeGroup[];
const TONES: Readonly<Record<ServiceToken['status'], Tone>> = { valid: 'good', expired: 'idle', revoked: 'idle' };
const CHANGES = ['GET /api/service-token/'] as const;

/** The section. */
export function ServiceTokens({ self }: { readonly self: Self }) {
  const { service: text, words } = useText();
  const tokens = useApi('GET /api/service-token/');
  const [opened, setOpened] = useState(false);
  const [secret, setSecret] = useState<string>();
  const revoking = useDialog<ServiceToken>();
  const revoke = useAction((id: number) => call('DELETE /api/service-token/{id}', { params: { id } }), {
    changes: CHANGES,
    done() {
      revoking.close();
      notifyDone(text.revoked);
    },
  });
  const columns: readonly Column<ServiceToken>[] = [
    {
      key: 'name',
      title: words.name,
      cell: ({ name, suffix }) => (
        <>
          <Text size="sm">{name}</Text>
          <Muted ff="monospace">…{suffix}</Muted>
        </>
      ),
    },
    {
      key: 'state',
      title: words.state,
      cell: ({ status }) => <State tone={TONES[status]}>{text.states[status]}</State>,
    },
    { key: 'by', title: text.madeBy, from: 'md', when: isRoot(self), cell: ({ made_by_name: name }) => name },
    { key: 'scopes', title: text.scopes, from: 'sm', cell: ({ scopes }) => <Muted>{scopes.join(', ')}</Muted> },
    {
      key: 'addresses',
      title: words.addresses,
      from: 'lg',
      cell: ({ addresses }) => (addresses.length === 0 ? text.anyAddress : addresses.join(', ')),
    },
    { key: 'expires', title: words.expires, from: 'sm', cell: ({ expires_at: at }) => <When at={at} /> },
    {
      key: 'used',
      title: text.lastUsed,
      cell: ({ used_at: at, used_ip: ip }) =>
        at === 0 ? (
          words.never
        ) : (
          <span title={ip}>
            <When at={at} />
          </span>
        ),
    },
    {
      key: 'revoke',
      title: words.actions,
      quiet: true,
      align: 'right',
      cell: (token) =>
        token.status === 'valid' && (
          <IconButton label={text.revokeOne(token.name)} hint={text.revoke} onClick={() => revoking.open(token)}>
            <IconTrash size={16} />
          </IconButton>
        ),
    },
  ];
  return (
    <Section
      flush
      title={text.title}
      about={text.about}
      actions={<PlainButton onClick={() => setOpened(true)}>{text.create}</PlainButton>}
    >
      <Loaded query={tokens}>
        {(rows) => (
          <DataTable
            caption={text.title}
            columns={columns}
            rows={rows}
            rowKey={({ id }) => id}
            empty={
              <Text size="sm" p="md">
                {text.none}
              </Text>
            }
          />
        )}
      </Loaded>
      <Modal opened={opened} onClose={() => setOpened(false)} title={text.create} size="lg">
        <NewToken
          self={self}
          onClose={() => setOpened(false)}
          onMade={(made) => {
            setOpened(false);
            setSecret(made);
          }}
        />
      </Modal>
      <ShownOnce
        secret={secret}
        title={text.shownTitle}
        about={text.shown}
        done={text.done}
        onClose={() => setSecret(undefined)}
      />
      <Confirm
        dialog={revoking}
        title={text.revokeOne(revoking.about?.name ?? '')}
        action={text.revoke}
        doing={revoke}
        onConfirm={({ id }) => revoke.mutate(id)}
      >
        {text.revokeAbout}
      </Confirm>
    </Section>
  );
}

type Right = 'none' | 'read' | 'write';

function NewToken({ self, onClose, onMade }: { readonly self: Self; onClose(): void; onMade(secret: string): void }) {
  const { service: text, words } = useText();
  const [name, setName] = useState('');
  const [rights, setRights] = useState<Partial<Readonly<Record<ScopeGroup, Right>>>>({});
  const [days, setDays] = useState<number | string>(90);
  const [addresses, setAddresses] = useState('');
  const refusal = useFormRefusal('name', 'expires_days', 'addresses');
  const scopes = GROUPS.flatMap((group): readonly Scope[] => {
    const right = rights[group] ?? 'none';
    return right === 'none' ? [] : [`${group}:${right}`];
  });
  const make = useAction(
    () => {
      const from = addresses.split(/[\s,]+/).filter((each) => each !== '');
      const body: Body<'POST /api/service-token/'> = {
        name: name.trim(),
        scopes,
        expires_days: Number(days) || 90,
        ...(from.length > 0 && { addresses: from }),
      };
      return call('POST /api/service-token/', { body });
    },
    { changes: CHANGES, done: ({ secret }) => onMade(secret), refused: refusal.refused },
  );
  return (
    <DialogForm
      refusal={refusal}
      action={text.create}
      running={make}
      ready={scopes.length > 0}
      autoComplete="off"
      onClose={onClose}
    >
      <Text size="sm">{text.createAbout}</Text>
      <TextInput
        label={words.name}
        {...refusal.field('name', name, setName)}
        maxLength={64}
        required
        withAsterisk={false}
        data-autofocus
      />
      <Stack gap={6} role="group" aria-label={text.scopes}>
        <Text size="sm" fw={500}>
          {text.scopes}
        </Text>
        {GROUPS.filter((group) => group !== 'config' || isRoot(self)).map((group) => (
          <Group key={group} justify="space-between" gap="xs" wrap="nowrap">
            <Text size="sm">{text.groups[group]}</Text>
            <SegmentedControl
              size="xs"
              aria-label={text.groups[group]}
              value={rights[group] ?? 'none'}
              onChange={(right) => setRights({ ...rights, [group]: right })}
              data={(['none', 'read', 'write'] as const).map((right) => ({ value: right, label: text.rights[right] }))}
            />
          </Group>
        ))}
      </Stack>
      <NumberInput
        label={text.days}
        value={days}
        onChange={setDays}
        min={1}
        max={730}
        allowDecimal={false}
        error={refusal.at('expires_days')}
      />
      <Textarea
        label={words.addresses}
        description={text.addressesAbout}
        {...refusal.field('addresses', addresses, setAddresses)}
        autosize
        minRows={2}
        spellCheck={false}
      />
    </DialogForm>
  );
}
