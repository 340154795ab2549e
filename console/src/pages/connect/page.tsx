/** Connects a client: select client, key and model, copy the configuration, test it. */
import { Stack } from '@mantine/core';
import { GATEWAY } from '../../api/client.ts';
import { PAGE_NAMES } from '../../pages.tsx';
import { useAddress } from '../../parts/address.ts';
import { useChosenKey } from '../../parts/chosen-key.ts';
import { Page, Section } from '../../parts/page.tsx';
import { useText } from '../../text.ts';
import { ClientPicker } from './client-picker.tsx';
import './connect.css';
import { useStatus } from '../../api/status.ts';
import { KeyFields } from './key-fields.tsx';
import { ModelField, useModels } from './model-field.tsx';
import { CLIENTS } from './recipes.ts';
import { SetUp, type Shell } from './set-up.tsx';
import { TestPanel } from './test-panel.tsx';
import { TEXT } from './text.ts';

/** Placeholder for a key whose secret is unknown. */
const SOME_KEY = 'sk-…';

export default function ConnectPage() {
  const text = useText(TEXT);
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
    <Page title={useText(PAGE_NAMES).connect} about={text.about}>
      <Section title={text.client}>
        <ClientPicker chosen={client.id} onChoose={(id) => change({ client: id })} />
      </Section>
      <div className="connect-columns">
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
