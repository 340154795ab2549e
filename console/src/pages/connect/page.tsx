/** Connects a client: select client, key and model, copy the configuration, test it. */
import './connect.css';
import {
  Alert,
  Box,
  Button,
  Chip,
  Code,
  Group,
  List,
  PasswordInput,
  SegmentedControl,
  Select,
  Stack,
  Text,
  Title,
  Tooltip,
} from '@mantine/core';
import { useId } from 'react';
import { GATEWAY } from '../../api/client.ts';
import { useApi, useStatus } from '../../api/hooks.ts';
import { IconAlertTriangle, IconExternalLink, IconKey, IconPlus } from '../../icons.ts';
import { useAddress } from '../../parts/address.ts';
import { type ChosenKey, isKeyFormat, type Key, KeySelect, useChosenKey } from '../../parts/chosen-key.tsx';
import { Muted, Page, PlainButton, Section, Small } from '../../parts/page.tsx';
import { Copy, Snippet, useLanguage } from '../../parts/values.tsx';
import { fillLink, fillStep, KINDS, type Style, type Values } from './recipe.ts';
import { CLIENTS, type Client, clientsOf } from './recipes.ts';
import { TestPanel } from './test-panel.tsx';
import { useText } from './text.ts';
import { warningOf } from './warning.ts';

/** Placeholder for a key whose secret is unknown. */
const SOME_KEY = 'sk-…';

export default function ConnectPage() {
  const text = useText();
  const status = useStatus();
  const [address, change] = useAddress({ client: 'claude-code', key: '', model: '', shell: defaultShell() });
  const client = CLIENTS.find(({ id }) => id === address.client) ?? CLIENTS[0]!;
  const chosen = useChosenKey(address.key, (key) => change({ key }));
  const models = useModels(client.style, chosen.key);
  const model = address.model !== '' ? address.model : (models?.[0] ?? '');
  const shell: Shell = address.shell === 'powershell' ? 'powershell' : 'sh';
  const caller =
    chosen.text !== undefined ? { key: chosen.text } : chosen.key !== undefined ? { keyId: chosen.key.id } : undefined;
  return (
    <Page name="connect" about={text.about}>
      <Section title={text.client}>
        <ClientPicker chosen={client.id} onChoose={(id) => change({ client: id })} />
      </Section>
      <div className="columns connect-columns">
        <Stack gap="md" miw={0}>
          <Section title={text.keyAndModel}>
            <Stack gap="md">
              <KeyFields chosen={chosen} client={client.name} />
              <ModelField
                models={models}
                style={client.style}
                model={model}
                onChoose={(name) => change({ model: name })}
              />
            </Stack>
          </Section>
          <TestPanel
            key={[client.style, model, chosen.text ?? chosen.key?.id].join(' ')}
            style={client.style}
            model={model}
            caller={caller}
          />
        </Stack>
        <SetUp
          client={client}
          values={{
            root: GATEWAY,
            base: `${GATEWAY}/v1`,
            key: chosen.text ?? SOME_KEY,
            model: model === '' ? 'demo' : model,
            name: status?.system_name ?? 'Turnpike',
          }}
          hasKey={chosen.text !== undefined}
          shell={shell}
          onShell={(it) => change({ shell: it })}
        />
      </div>
    </Page>
  );
}

function defaultShell(): Shell {
  return navigator.userAgent.includes('Windows') ? 'powershell' : 'sh';
}

function ClientPicker({ chosen, onChoose }: { readonly chosen: string; onChoose(id: string): void }) {
  const text = useText();
  const id = useId();
  return (
    <Chip.Group value={chosen} onChange={onChoose}>
      <Box role="radiogroup" aria-label={text.client} className="connect-clients">
        {KINDS.map((kind) => (
          <Box key={kind} role="group" aria-labelledby={`${id}-${kind}`} className="connect-kind">
            <Muted id={`${id}-${kind}`}>{text.kinds[kind]}</Muted>
            <Group gap={6}>
              {clientsOf(kind).map((client) => (
                <Chip key={client.id} value={client.id} size="sm" radius="sm">
                  {client.name}
                </Chip>
              ))}
            </Group>
          </Box>
        ))}
      </Box>
    </Chip.Group>
  );
}

/** The matching models; undefined while loading. */
function useModels(style: Style, key: Key | undefined): readonly string[] | undefined {
  const { data } = useApi('GET /api/models/catalog', undefined, { staleTime: 60_000 });
  const scope = key?.model_limits_enabled === true ? new Set((key.model_limits ?? '').split(',')) : undefined;
  return data
    ?.filter(({ name, styles, purposes }) => {
      const talks = purposes === null || purposes.includes('chat');
      return talks && styles.some((each) => each.name === style) && scope?.has(name) !== false;
    })
    .map(({ name }) => name);
}

function ModelField({
  models,
  style,
  model,
  onChoose,
}: {
  readonly models: readonly string[] | undefined;
  readonly style: Style;
  readonly model: string;
  onChoose(model: string): void;
}) {
  const text = useText();
  return (
    <Select
      label={text.words.model}
      description={text.modelAbout(style)}
      data={model !== '' && models?.includes(model) === false ? [model, ...models] : [...(models ?? [])]}
      value={model === '' ? null : model}
      onChange={(chosen) => chosen !== null && onChoose(chosen)}
      placeholder={models?.length === 0 ? text.noModel : undefined}
      nothingFoundMessage={text.words.noMatchingModels}
      limit={50}
      searchable
      allowDeselect={false}
    />
  );
}

/** The fields. `client`: the name for a new key. */
function KeyFields({ chosen, client }: { readonly chosen: ChosenKey; readonly client: string }) {
  const text = useText();
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
          {text.words.createKey}
        </Button>
        <Small>{text.making(client)}</Small>
      </Group>
      <div aria-live="polite" className="news">
        {chosen.isNew && chosen.text !== undefined && (
          <Alert color="green" icon={<IconKey />} p="xs" styles={{ body: { minWidth: 0 } }}>
            <Stack gap={6} miw={0}>
              <Copy value={chosen.text} what={text.words.yourNewKey} />
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

/** The shell that snippets are for. */
type Shell = 'sh' | 'powershell';

/** The section. `hasKey`: the values contain the real key instead of a placeholder. */
function SetUp({
  client,
  values,
  hasKey,
  shell,
  onShell,
}: {
  readonly client: Client;
  readonly values: Values;
  readonly hasKey: boolean;
  readonly shell: Shell;
  onShell(shell: Shell): void;
}) {
  const text = useText();
  const language = useLanguage();
  const warning = warningOf(client.calls, values.root);
  const wantsRoot = client.steps.some(({ template }) => template.includes('{{root'));
  const choosesShell = client.steps.some(({ powershell }) => powershell !== undefined);
  return (
    <Section
      title={text.setUp(client.name)}
      actions={
        choosesShell && (
          <SegmentedControl
            size="xs"
            aria-label={text.shell}
            value={shell}
            onChange={(chosen) => onShell(chosen as Shell)}
            data={[
              { value: 'sh', label: text.sh },
              { value: 'powershell', label: text.powershell },
            ]}
          />
        )
      }
    >
      <Stack gap="md">
        {warning !== undefined && (
          <Alert color={warning === 'insecure' ? 'orange' : 'red'} icon={<IconAlertTriangle />} p="xs">
            {warning === 'cloud' ? text.needsHttps(client.name, values.root) : text[warning](values.root)}
          </Alert>
        )}
        <Box>
          <Muted>{text.address}</Muted>
          <Copy value={wantsRoot ? values.root : values.base} what={text.address} />
        </Box>
        {client.links !== undefined && (
          <Group gap="xs">
            {client.links.map((link) => {
              const href = hasKey ? fillLink(link, values) : undefined;
              return href === undefined ? (
                <Tooltip key={link.url} label={text.linkNeedsKey}>
                  <PlainButton
                    data-disabled
                    aria-disabled
                    leftSection={<IconExternalLink size={14} />}
                    onClick={(event) => event.preventDefault()}
                  >
                    {link.title[language]}
                  </PlainButton>
                </Tooltip>
              ) : (
                <Button
                  key={link.url}
                  component="a"
                  href={href}
                  variant="light"
                  leftSection={<IconExternalLink size={14} />}
                >
                  {link.title[language]}
                </Button>
              );
            })}
          </Group>
        )}
        {!hasKey && <Text size="sm">{text.placeholder}</Text>}
        {client.steps.map((step) => (
          <Stack key={step.title.en + step.file} gap={4}>
            <Group gap="xs" align="baseline">
              <Title order={3} size="sm" fw={500}>
                {step.title[language]}
              </Title>
              {step.file !== undefined && <Code>{step.file}</Code>}
            </Group>
            <Snippet code={fillStep(step, values, shell)} label={step.title[language]} />
          </Stack>
        ))}
        {client.notes !== undefined && (
          <List size="sm" c="dimmed" spacing={2}>
            {client.notes.map((note) => (
              <List.Item key={note.en}>{note[language]}</List.Item>
            ))}
          </List>
        )}
      </Stack>
    </Section>
  );
}
