/** How to add a vendor: lines for gateway.yaml, the key, and the next steps. */
import { SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { isRoot, useSelf } from '../../api/hooks.ts';
import { Coded } from '../../parts/coded.tsx';
import { LinkButton, Muted } from '../../parts/page.tsx';
import { Snippet } from '../../parts/values.tsx';
import { yamlName } from '../../parts/yaml-name.ts';
import { useText } from './text.ts';

/** The steps. `taken`: the names of existing channels. */
export function AddVendor({ taken }: { readonly taken: readonly string[] }) {
  const text = useText();
  const mayConfigure = isRoot(useSelf());
  const [vendor, setVendor] = useState<NewVendor>({ kind: 'openai', ...USUAL.openai, keyFrom: 'variable' });
  const [models, setModels] = useState(USUAL.openai.models.join(', '));
  const change = (changed: Partial<NewVendor>): void => setVendor((before) => ({ ...before, ...changed }));
  const choose = (kind: VendorKind): void => {
    change({ kind, ...USUAL[kind] });
    setModels(USUAL[kind].models.join(', '));
  };
  const named = { ...vendor, models: models.split(/[\s,]+/).filter((name) => name !== '') };
  const nameWrong = !isChannelName(vendor.channel)
    ? text.channelNameWrong
    : taken.includes(vendor.channel)
      ? text.channelNameTaken
      : undefined;
  const urlWrong = vendor.kind === 'compatible' && !isChannelUrl(vendor.url) ? text.urlWrong : undefined;
  const isShown = isChannelName(vendor.channel) && urlWrong === undefined;
  return (
    <Stack gap="md">
      <Text size="sm">{text.addAbout}</Text>
      <Stack gap={4}>
        <SegmentedControl
          aria-label={text.words.vendor}
          value={vendor.kind}
          onChange={(kind) => choose(kind as VendorKind)}
          data={VENDOR_KINDS.map((kind) => ({ value: kind, label: text.kinds[kind] }))}
        />
        <Muted>{text.kindAbout[vendor.kind]}</Muted>
      </Stack>
      <TextInput
        label={text.channelName}
        value={vendor.channel}
        maxLength={64}
        error={nameWrong}
        onChange={({ currentTarget }) => change({ channel: currentTarget.value.trim() })}
      />
      {vendor.kind === 'compatible' && (
        <TextInput
          label={text.url}
          description={text.urlAbout}
          type="url"
          value={vendor.url}
          maxLength={400}
          error={urlWrong}
          onChange={({ currentTarget }) => change({ url: currentTarget.value.trim() })}
        />
      )}
      <TextInput
        label={text.words.models}
        description={text.modelNamesAbout}
        value={models}
        maxLength={1_000}
        onChange={({ currentTarget }) => setModels(currentTarget.value)}
      />
      <Stack gap={4} align="flex-start">
        <Text size="sm" fw={500} id="key-from">
          {text.keyFrom}
        </Text>
        <SegmentedControl
          aria-labelledby="key-from"
          value={vendor.keyFrom}
          onChange={(keyFrom) => change({ keyFrom: keyFrom as NewVendor['keyFrom'] })}
          data={[
            { value: 'variable', label: text.keyKinds.variable },
            { value: 'file', label: text.keyKinds.file },
          ]}
        />
      </Stack>
      {isShown && (
        <ol className="vendor-steps">
          <Step title={text.stepYaml} about={`${text.stepYamlAbout} ${text.stepYamlPlugin(`vendors/${vendor.kind}`)}`}>
            <Snippet label={text.words.gatewayYamlLines} code={linesOf(named, text.priceComment)} />
          </Step>
          <Step
            title={vendor.keyFrom === 'file' ? text.stepFile : text.stepVariable}
            about={vendor.keyFrom === 'file' ? text.stepFileAbout : text.stepVariableAbout}
          >
            <Snippet label={text.shell} code={commandFor(named)} />
          </Step>
          <Step title={text.stepReload} about={mayConfigure ? text.stepReloadAbout : text.stepReloadAsk}>
            {mayConfigure && (
              <LinkButton href="/config" style={{ alignSelf: 'flex-start' }}>
                {text.words.openConfig}
              </LinkButton>
            )}
          </Step>
          <Step title={text.stepTest} />
        </ol>
      )}
    </Stack>
  );
}

function Step({
  title,
  about,
  children,
}: {
  readonly title: string;
  readonly about?: string;
  readonly children?: ReactNode;
}) {
  return (
    <li>
      <Stack gap={6}>
        <Text size="sm" fw={600}>
          {title}
        </Text>
        {about !== undefined && (
          <Muted>
            <Coded>{about}</Coded>
          </Muted>
        )}
        {children}
      </Stack>
    </li>
  );
}

const VENDOR_KINDS = ['openai', 'anthropic', 'gemini', 'compatible'] as const;
type VendorKind = (typeof VENDOR_KINDS)[number];

interface NewVendor {
  readonly kind: VendorKind;
  readonly channel: string;
  /** For `compatible`. */
  readonly url: string;
  /** The vendor's model names. */
  readonly models: readonly string[];
  readonly keyFrom: 'variable' | 'file';
}

const USUAL: Readonly<Record<VendorKind, Pick<NewVendor, 'channel' | 'url' | 'models'>>> = {
  openai: { channel: 'openai', url: '', models: ['gpt-5', 'gpt-5-mini'] },
  anthropic: { channel: 'anthropic', url: '', models: ['claude-opus-5', 'claude-sonnet-5'] },
  gemini: { channel: 'gemini', url: '', models: ['gemini-2.5-pro', 'gemini-3.5-flash'] },
  compatible: {
    channel: 'groq',
    url: 'https://api.groq.com/openai/v1',
    models: ['llama-3.3-70b-versatile'],
  },
};

/** True for a valid channel name. */
export function isChannelName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
}

/** True for a valid base URL. */
function isChannelUrl(url: string): boolean {
  return /^https?:\/\/[^/?#@\s]+(\/[^?#\s]*)?$/.test(url);
}

/** The environment variable for the key: `GROQ_API_KEY`. */
function variableOf(channel: string): string {
  const name = channel.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
  return `${/^\d/.test(name) ? '_' : ''}${name}_API_KEY`;
}

/** The file for the key, relative to gateway.yaml. */
function fileOf(channel: string): string {
  return `${channel}.key`;
}

/** The lines. `priceComment` is the comment after a price that the user must fill in. */
function linesOf({ kind, channel, url, models, keyFrom }: NewVendor, priceComment: string): string {
  const key = keyFrom === 'file' ? `\${file:./${fileOf(channel)}}` : `\${${variableOf(channel)}:-}`;
  const price = kind === 'compatible' ? ', price: { input: 1, output: 4 }' : '';
  const named = models.map((model) => `  ${yamlName(model)}: { from: [${yamlName(channel)}]${price} }`);
  return [
    'channels:',
    `  - name: ${yamlName(channel)}`,
    `    vendor: ${kind}`,
    ...(kind === 'compatible' ? [`    url: ${url}`] : []),
    `    key: ${key}`,
    '',
    'models:',
    ...named.map((line, at) => (price !== '' && at === 0 ? `${line}   # ${priceComment}` : line)),
  ].join('\n');
}

/** The shell command that writes the key to that variable or file. */
function commandFor({ channel, keyFrom }: NewVendor): string {
  return keyFrom === 'file' ? `(umask 077; cat > ${fileOf(channel)})` : `export ${variableOf(channel)}='…'`;
}
