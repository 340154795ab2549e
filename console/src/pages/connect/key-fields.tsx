/** Selects or creates a key, and accepts the secret of an existing one. */
import { Alert, Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { IconKey, IconPlus } from '@tabler/icons-react';
import { type ChosenKey, isKeyFormat } from '../../parts/chosen-key.ts';
import { KeySelect } from '../../parts/key-select.tsx';
import { Small } from '../../parts/plain.tsx';
import { Copy } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';

/** The fields. `client`: the name for a new key. */
export function KeyFields({ chosen, client }: { readonly chosen: ChosenKey; readonly client: string }) {
  const text = useText(TEXT);
  const { key, none, pasted } = chosen;
  return (
    <Stack gap="sm">
      {!none && <KeySelect chosen={chosen} description={text.keyAbout} />}
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Button
          variant={none ? 'filled' : 'default'}
          leftSection={<IconPlus size={14} />}
          loading={chosen.isMaking}
          onClick={() => chosen.make(client)}
          style={{ flex: 'none' }}
        >
          {text.makeKey}
        </Button>
        <Small>{text.making(client)}</Small>
      </Group>
      <div aria-live="polite" className="news">
        {chosen.isNew && chosen.text !== undefined && (
          <Alert color="green" icon={<IconKey />} p="xs" styles={{ body: { minWidth: 0 } }}>
            <Stack gap={6} miw={0}>
              <Copy value={chosen.text} what={text.yourKey} />
              <Text size="sm">{text.made}</Text>
            </Stack>
          </Alert>
        )}
      </div>
      {key !== undefined && !chosen.isNew && (
        <PasswordInput
          label={text.paste}
          description={text.pasteAbout(key.key)}
          value={pasted}
          onChange={(event) => chosen.paste(event.currentTarget.value)}
          error={pasted !== '' && !isKeyFormat(pasted) ? text.pasteWrong : undefined}
          placeholder="sk-…"
          autoComplete="off"
          spellCheck={false}
        />
      )}
      {key !== undefined && isKeyFormat(pasted) && pasted.slice(-4) !== key.key.slice(-4) && (
        <Text size="sm">{text.pasteOther(key.key)}</Text>
      )}
    </Stack>
  );
}
