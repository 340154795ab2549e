/** The keys of a channel: where they come from, and a field for a new one, which is stored as a secret. Values are never shown. */
import { Code, Group, Input, PasswordInput, SegmentedControl, Stack } from '@mantine/core';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { IconTrash } from '../../icons.ts';
import { IconButton, Muted } from '../../parts/page.tsx';
import { State } from '../../parts/values.tsx';
import type { Editor } from './editor.ts';
import { itemSchemaOf } from './fields.ts';
import { itemsOf, keysOf, type Members, referencesOf, secretNameOf } from './settings.ts';
import { useText } from './settings-text.ts';

/** A key that was typed. `adds`: in addition to those that the channel has. */
export interface NewKey {
  readonly value: string;
  readonly adds: boolean;
}

const SECRET = 'secret:';

/** The field in the form of a channel. */
export function KeyFields({
  editor,
  channel,
  item,
  newKey,
  onNewKey,
  onItem,
}: {
  readonly editor: Editor;
  readonly channel: string;
  readonly item: Members;
  readonly newKey: NewKey;
  onNewKey(key: NewKey): void;
  onItem(item: Members): void;
}) {
  const text = useText();
  const keys = keysOf(item);
  const takesSeveral = Object.hasOwn(itemSchemaOf(editor.schema?.properties?.channels).properties ?? {}, 'keys');
  return (
    <Stack gap="xs">
      {keys.length > 0 && (
        <Stack gap={4}>
          <Input.Label labelElement="div" id="channel-keys">
            {text.keys}
          </Input.Label>
          <ul className="config-keys" aria-labelledby="channel-keys">
            {keys.map((key) => (
              <li key={key}>
                <KeySource value={key} />
                <IconButton
                  label={text.removeKey(key)}
                  onClick={() =>
                    onItem(
                      withKeys(
                        item,
                        keys.filter((each) => each !== key),
                      ),
                    )
                  }
                >
                  <IconTrash size={16} />
                </IconButton>
              </li>
            ))}
          </ul>
        </Stack>
      )}
      {keys.length > 0 && takesSeveral && (
        <SegmentedControl
          size="xs"
          style={{ alignSelf: 'flex-start' }}
          aria-label={text.newKeyUse}
          value={newKey.adds ? 'add' : 'replace'}
          onChange={(next) => onNewKey({ ...newKey, adds: next === 'add' })}
          data={[
            { value: 'replace', label: text.replaceKey },
            { value: 'add', label: text.addKey },
          ]}
        />
      )}
      <SecretInput
        label={keys.length === 0 ? text.apiKey : text.newKey}
        description={text.apiKeyAbout}
        value={newKey.value}
        onChange={(value) => onNewKey({ ...newKey, value })}
      />
      {newKey.value !== '' && <Muted>{text.storedAs(targetOf(editor, channel, item, newKey))}</Muted>}
    </Stack>
  );
}

/** A field for a secret; browsers do not save what is typed. */
export function SecretInput({
  onChange,
  ...props
}: {
  readonly label: string;
  readonly description?: string;
  readonly value: string;
  readonly error?: string | undefined;
  readonly 'data-autofocus'?: boolean | undefined;
  onChange(value: string): void;
}) {
  const text = useText();
  return (
    <PasswordInput
      {...props}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      autoComplete="new-password"
      data-1p-ignore
      spellCheck={false}
      maxLength={16_384}
      visibilityToggleFocusable
      visibilityToggleButtonProps={{ 'aria-label': text.showTyped }}
      onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
    />
  );
}

/** Where a key comes from: a stored secret, a variable, a file, or the text itself, in which it is masked. */
export function KeySource({ value }: { readonly value: string }) {
  const text = useText();
  const [reference] = referencesOf(value);
  const kind =
    reference === undefined
      ? 'written'
      : reference.startsWith(SECRET)
        ? 'secret'
        : reference.startsWith('file:')
          ? 'file'
          : 'variable';
  return (
    <Group gap={6} miw={0} component="span">
      <Code>{value}</Code>
      <State tone={kind === 'written' ? 'warn' : 'idle'}>{text.keyKinds[kind]}</State>
    </Group>
  );
}

/** The item without its keys. */
export function withoutKeys({ key: _, keys: __, ...others }: Members): Members {
  return others;
}

/** The item with these keys. */
function withKeys(item: Members, keys: readonly string[]): Members {
  const others = withoutKeys(item);
  if (keys.length === 0) return others;
  return keys.length === 1 ? { ...others, key: keys[0]! } : { ...others, keys };
}

/** The secret that a new key is stored as: that of the key which it replaces, or a new one. */
function targetOf({ config }: Editor, channel: string, item: Members, { adds }: NewKey): string {
  const keys = keysOf(item);
  const [reference] = keys.length === 1 && !adds ? referencesOf(keys[0]) : [];
  if (reference?.startsWith(SECRET) === true) return reference.slice(SECRET.length);
  return secretNameOf(channel, new Set(config.secrets.map(({ name }) => name)));
}

/** Stores the typed key as a secret, and then passes the item that refers to it. */
export function useStoreKey(editor: Editor, done: (item: Members) => void) {
  return useAction(
    async ({
      channel,
      item,
      newKey,
    }: {
      readonly channel: string;
      readonly item: Members;
      readonly newKey: NewKey;
    }) => {
      const name = targetOf(editor, channel, item, newKey);
      await call('PUT /api/config/secrets/{name}', { params: { name }, body: { value: newKey.value } });
      return withSecret(item, name, newKey.adds);
    },
    { changes: ['GET /api/config'], done },
  );
}

/** The item with a reference to a secret as its key, or as one more. */
export function withSecret(item: Members, name: string, adds: boolean): Members {
  const reference = `\${${SECRET}${name}}`;
  const keys = keysOf(item);
  if (!adds && itemsOf(item.keys).length === 0) return { ...item, key: reference };
  const kept = adds ? keys : [];
  return withKeys(item, [...new Set([...kept, reference])]);
}
