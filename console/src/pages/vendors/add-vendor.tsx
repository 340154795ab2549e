/** How to add a vendor: lines for gateway.yaml, the key, and the next steps. */
import { SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Coded } from '../../parts/coded.tsx';
import { LinkButton, Muted } from '../../parts/plain.tsx';
import { Snippet } from '../../parts/values.tsx';
import { isRoot, useSelf } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';
import {
  commandFor,
  isChannelName,
  isChannelUrl,
  linesOf,
  type NewVendor,
  USUAL,
  VENDOR_KINDS,
  type VendorKind,
} from './vendor-lines.ts';

/** The steps. `taken`: the names of existing channels. */
export function AddVendor({ taken }: { readonly taken: readonly string[] }) {
  const text = useText(TEXT);
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
          aria-label={text.addVendor}
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
        label={text.modelNames}
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
            <Snippet label={text.yaml} code={linesOf(named, text.priceComment)} />
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
                {text.toConfig}
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
