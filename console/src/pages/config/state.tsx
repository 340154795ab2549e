/** Whether the running configuration equals the file, and the Reload button. */
import { Alert, Group, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconAlertTriangle, IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { Configuration } from '../../api/operations.ts';
import { Fact } from '../../parts/facts.tsx';
import { GuardedButton } from '../../parts/guarded-button.tsx';
import { Section } from '../../parts/page.tsx';
import { PlainButton, Small } from '../../parts/plain.tsx';
import { State, type Tone, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';

/** The configuration from `/api`. */
export type Config = Configuration;

const MOODS = { same: 'good', changed: 'warn', wrong: 'bad' } as const satisfies Record<string, Tone>;

/** The state with the button. `onRefused`: the reload failed, so the file must be read again. */
export function ConfigState({ config, onAgain }: { readonly config: Config; onAgain(): void }) {
  const text = useText(TEXT);
  const format = useFormat();
  const [isRefused, setRefused] = useState(false);
  const state = config.problems.length > 0 ? 'wrong' : config.disk.changed ? 'changed' : 'same';
  const reloading = useAction(() => call('POST /api/config/reload'), {
    changes: [
      'GET /api/config',
      'GET /api/config/schema',
      'GET /api/system',
      'GET /api/vendor/',
      'GET /api/vendor/routes',
      'GET /api/price/',
    ],
    done() {
      setRefused(false);
      notifications.show({ color: 'pine', message: text.reloaded });
    },
    refused(refusal) {
      if (refusal.code !== 'configuration_wrong') return false;
      setRefused(true);
      onAgain();
      return true;
    },
  });
  return (
    <Section
      title={config.file}
      actions={
        <>
          <PlainButton leftSection={<IconRefresh size={16} />} onClick={onAgain}>
            {text.again}
          </PlainButton>
          <GuardedButton
            variant="filled"
            why={config.disk.changed ? undefined : text.reloadNothing}
            loading={reloading.isPending}
            onClick={() => reloading.mutate()}
          >
            {text.reload}
          </GuardedButton>
        </>
      }
    >
      <Stack gap="sm">
        <Group gap="xs" align="baseline">
          <State tone={MOODS[state]}>{text.states[state]}</State>
          <Text size="sm" flex="1 1 16rem">
            {text.stateAbout[state]}
          </Text>
        </Group>
        <dl className="config-times">
          <Fact name={text.generation}>
            {format.number(config.generation)} <Small span>{text.generationNote}</Small>
          </Fact>
          <Fact name={text.loaded}>
            <When at={config.running.loaded_at} />
          </Fact>
          <Fact name={text.modified}>
            <When at={config.disk.modified_at} none={text.modifiedNever} />
          </Fact>
        </dl>
        {isRefused && config.problems.length > 0 && (
          <Alert color="red" icon={<IconAlertTriangle />} title={text.refused}>
            {text.refusedAbout}
          </Alert>
        )}
      </Stack>
    </Section>
  );
}
