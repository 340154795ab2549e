/** The first step of adding a vendor: the vendor, its address and key, which is stored and tried. */
import { Alert, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import { call, Refusal } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { IconAlertTriangle } from '../../icons.ts';
import { RefusalForm, Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Muted, PlainButton } from '../../parts/page.tsx';
import { isChannelName } from '../vendors/add-vendor.tsx';
import { meaningOf } from '../vendors/channel-drawer.tsx';
import { useText as useVendorText } from '../vendors/text.ts';
import { type Editor, editedText } from './editor.ts';
import { SecretInput, withoutKeys } from './key-fields.tsx';
import { addEdits, type Row, rowsOf } from './rows.ts';
import { type Edit, editsBetween, itemsOf, type Members, membersOf, secretNameOf } from './settings.ts';
import { useText } from './settings-text.ts';
import { spelledPath } from './spelled-path.ts';
import type { Offered } from './take-models.tsx';

/** A channel that the vendor has answered, how it is written into the text, and the models that the vendor lists. */
export interface Connected {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly offered: Offered;
}

/** The vendor, its address and key. Continues once the vendor has answered, or if the operator continues without an answer. */
export function Connect({
  editor,
  onStored,
  onConnected,
}: {
  readonly editor: Editor;
  onStored(secret: string): void;
  onConnected(connected: Connected): void;
}) {
  const text = useText();
  const vendorText = useVendorText();
  const { config, copy, settings } = editor;
  const channels = rowsOf(settings ?? {}, 'channels').map(({ id }) => id);
  const freeName = (base: string): string => {
    for (let at = 1; ; at++) {
      const name = at === 1 ? base : `${base}-${at}`;
      if (!channels.includes(name)) return name;
    }
  };
  const vendors = config.vendors.filter(({ keyless, needs_url }) => !keyless || needs_url);
  const { data: health = [] } = useApi('GET /api/vendor/');
  // The shipped file has channels without keys: such a one gets the key, and its models are on.
  const waiting = (vendor: string): Row | undefined => {
    const names = new Set(health.filter((each) => !each.on && each.vendor === vendor).map((each) => each.name));
    return rowsOf(settings ?? {}, 'channels').find(({ id }) => names.has(id));
  };
  const nameFor = (vendor: string): string => waiting(vendor)?.id ?? freeName(vendor);
  const [vendorName, setVendorName] = useState(vendors[0]?.name ?? '');
  const [typedName, setName] = useState<string>();
  const name = typedName ?? nameFor(vendorName);
  const existing = waiting(vendorName)?.id === name ? waiting(vendorName) : undefined;
  const [url, setUrl] = useState('');
  const [key, setKey] = useState('');
  const [failure, setFailure] = useState<{ readonly reason: string; readonly found: Connected }>();
  const secret = useRef<string>(undefined);
  const vendor = vendors.find((each) => each.name === vendorName);
  const refusal = useFormRefusal('name', 'url', 'key');
  const connecting = useAction(
    async (): Promise<Connected & { readonly reason: string | undefined }> => {
      const channel: Members = {
        vendor: vendorName,
        ...(url !== '' && { url }),
        ...(key !== '' && { key: await storeKey() }),
      };
      const edits =
        existing === undefined
          ? addEdits(settings ?? {}, 'channels', name, { name, ...channel })
          : editsBetween(existing.path, existing.value, { ...withoutKeys(membersOf(existing.value)), ...channel });
      const { text: candidate, problems } = await editedText(copy.text, edits);
      const place = spelledPath(existing?.path ?? ['channels', itemsOf(settings?.channels).length]);
      const own = problems.find(({ path }) => path === place || path.startsWith(`${place}.`));
      if (own !== undefined)
        throw new Refusal(400, 'configuration_wrong', own.message, own.path.slice(place.length + 1));
      const { offered, reason } = await askVendor(candidate);
      return { name, edits, offered, reason };
    },
    {
      changes: ['GET /api/config'],
      done({ reason, ...found }) {
        if (reason === undefined) onConnected(found);
        else setFailure({ reason, found });
      },
      refused(error) {
        // Errors of the text are in English, like the file.
        if (error.code !== 'configuration_wrong') return refusal.refused(error);
        refusal.say(['name', 'url', 'key'].includes(error.param) ? error.param : '', error.message);
        return true;
      },
    },
  );

  /** Stores the key, under the same name if it is stored again. Returns the reference to it. */
  async function storeKey(): Promise<string> {
    secret.current ??= secretNameOf(name, new Set(config.secrets.map((each) => each.name)));
    await call('PUT /api/config/secrets/{name}', { params: { name: secret.current }, body: { value: key } });
    onStored(secret.current);
    return `\${secret:${secret.current}}`;
  }

  /** Tests the channel, and lists the models of the vendor if it has a list. */
  async function askVendor(candidate: string): Promise<{ readonly offered: Offered; readonly reason?: string }> {
    const input = { body: { text: candidate, channel: name } };
    const { ok, status, message } = await call('POST /api/config/try', input);
    if (!ok) {
      const meaning = meaningOf({ success: ok, status, message }, vendorText.results);
      return { offered: undefined, reason: status > 0 ? vendorText.withStatus(meaning, `${status}`) : meaning };
    }
    try {
      return { offered: (await call('POST /api/config/models', input)).models };
    } catch (error) {
      if (error instanceof Refusal && error.code === 'models_not_listed') return { offered: undefined };
      throw error;
    }
  }

  const onSubmit = (): void => {
    setFailure(undefined);
    if (existing === undefined && channels.includes(name)) refusal.say('name', vendorText.channelNameTaken);
    else if (!isChannelName(name)) refusal.say('name', vendorText.channelNameWrong);
    else if (vendor?.needs_url === true && url === '') refusal.say('url', vendorText.urlWrong);
    else if (vendor?.keyless !== true && key === '') refusal.say('key', text.keyWanted);
    else connecting.mutate();
  };
  return (
    <RefusalForm refusal={refusal} gap="md" autoComplete="off" noValidate onSubmit={onSubmit}>
      <Select
        label={text.words.vendor}
        data={vendors.map((each) => ({
          value: each.name,
          label: Object.hasOwn(vendorText.kinds, each.name) ? vendorText.kinds[each.name as 'openai'] : each.name,
        }))}
        value={vendorName}
        description={
          Object.hasOwn(vendorText.kindAbout, vendorName) ? vendorText.kindAbout[vendorName as 'openai'] : undefined
        }
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        allowDeselect={false}
        data-autofocus
        onChange={(next) => {
          setVendorName(next ?? '');
          setName(undefined);
          setUrl('');
        }}
      />
      {(vendor?.needs_url === true || url !== '') && (
        <TextInput
          label={vendorText.url}
          description={vendorText.urlAbout}
          type="url"
          placeholder="https://api.example.com/v1"
          maxLength={400}
          {...refusal.field('url', url, (next) => setUrl(next.trim()))}
        />
      )}
      <SecretInput
        label={text.apiKey}
        description={text.apiKeyAbout}
        value={key}
        error={refusal.at('key')}
        onChange={setKey}
      />
      <TextInput
        label={vendorText.channelName}
        description={existing === undefined ? text.idAbout.channels : text.waitingChannel}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        maxLength={64}
        spellCheck={false}
        {...refusal.field('name', name, (next) => setName(next.trim()))}
      />
      <Refused by={refusal} />
      <div role="status">
        {failure !== undefined && (
          <Alert color="red" icon={<IconAlertTriangle />} title={text.notConnected}>
            <Stack gap="xs" align="flex-start">
              <Text size="sm">{failure.reason}</Text>
              <PlainButton size="xs" onClick={() => onConnected(failure.found)}>
                {text.continueAnyway}
              </PlainButton>
            </Stack>
          </Alert>
        )}
      </div>
      <Group justify="space-between" gap="xs">
        <Muted flex="1 1 16rem">{text.connectAbout}</Muted>
        <Button type="submit" loading={connecting.isPending}>
          {text.connect}
        </Button>
      </Group>
    </RefusalForm>
  );
}
