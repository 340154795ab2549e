/** The user's details for invoices. */
import { Modal, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call, type Data } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { useText } from './text.ts';

type Details = Data<'GET /api/user/billing'>;

/** The dialog. */
export function BillingDetails({ opened, onClose }: { readonly opened: boolean; onClose(): void }) {
  const { orders: text } = useText();
  const details = useApi('GET /api/user/billing', undefined, { enabled: opened });
  return (
    <Modal opened={opened} onClose={onClose} title={text.billing}>
      <Loaded query={details}>{(data) => <Fields details={data} onClose={onClose} />}</Loaded>
    </Modal>
  );
}

function Fields({ details, onClose }: { readonly details: Details; onClose(): void }) {
  const { orders: text, words } = useText();
  const [name, setName] = useState(details.name);
  const [address, setAddress] = useState(details.address);
  const [taxId, setTaxId] = useState(details.tax_id);
  const refusal = useFormRefusal('name', 'address', 'tax_id');
  const save = useAction(() => call('PUT /api/user/billing', { body: { name, address, tax_id: taxId } }), {
    changes: ['GET /api/user/billing'],
    done: onClose,
    refused: refusal.refused,
  });
  return (
    <DialogForm refusal={refusal} action={words.save} running={save} onClose={onClose}>
      <Text size="sm">{text.billingAbout}</Text>
      <TextInput
        label={text.billingName}
        maxLength={200}
        autoComplete="organization"
        {...refusal.field('name', name, setName)}
        data-autofocus
      />
      <Textarea
        label={text.billingAddress}
        maxLength={500}
        autosize
        minRows={3}
        autoComplete="street-address"
        {...refusal.field('address', address, setAddress)}
      />
      <TextInput
        label={text.billingTaxId}
        maxLength={100}
        autoComplete="off"
        {...refusal.field('tax_id', taxId, setTaxId)}
      />
    </DialogForm>
  );
}
