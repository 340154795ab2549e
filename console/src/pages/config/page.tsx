/** The configuration: its settings as forms and as text, versions and secrets, and the running one beside the file on disk. */
import './config.css';
import { Alert, Group, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type Ref, useEffect, useMemo, useRef, useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { Configuration } from '../../api/operations.ts';
import { IconAlertTriangle, IconRefresh } from '../../icons.ts';
import { useAddress } from '../../parts/address.ts';
import { Fact } from '../../parts/facts.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { GuardedButton, Muted, Page, PageTabs, PlainButton, Section, Small } from '../../parts/page.tsx';
import { State, type Tone, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { AddVendorDrawer } from './add-vendor.tsx';
import { type CodeHandle, CodePane, type PointedPosition } from './code-pane.tsx';
import { DiffView } from './diff-view.tsx';
import { Draft } from './draft.tsx';
import type { Editor } from './editor.ts';
import type { Schema } from './facts.ts';
import { Import } from './import.tsx';
import { KeyFacts } from './key-facts.tsx';
import { MasksNote } from './masks.tsx';
import { type Remark, Remarks } from './remarks.tsx';
import { Report } from './report.tsx';
import { SaveBar } from './save-bar.tsx';
import { Secrets } from './secrets.tsx';
import { settingsOf } from './settings.ts';
import { NotWritable, SettingsPanel } from './settings-panel.tsx';
import { useText as useEditorText } from './settings-text.ts';
import { useText } from './text.ts';
import { Versions } from './versions.tsx';
import { useWorkingCopy } from './working-copy.ts';

const TABS = ['settings', 'draft', 'versions', 'secrets', 'import', 'disk', 'running', 'difference', 'report'] as const;
type Tab = (typeof TABS)[number];
const NOTHING: readonly Remark[] = [];

export default function ConfigPage() {
  const text = useText();
  const config = useApi('GET /api/config');
  const schema = useApi('GET /api/config/schema', undefined, { staleTime: 60_000 });
  return (
    <Page name="config" about={text.about(config.data?.file ?? 'gateway.yaml')}>
      <Loaded query={config} height={480}>
        {(data) => (
          <Content config={data} schema={schema.data as Schema | undefined} onAgain={() => void config.refetch()} />
        )}
      </Loaded>
    </Page>
  );
}

function Content({
  config,
  schema,
  onAgain,
}: {
  readonly config: Config;
  readonly schema: Schema | undefined;
  onAgain(): void;
}) {
  const text = useText();
  const format = useFormat();
  const [address, change] = useAddress({ tab: 'settings', add: '' });
  const tab: Tab = TABS.find((each) => each === address.tab) ?? 'settings';
  const disk = useRef<CodeHandle>(null);
  const { file, running, problems, warnings, report } = config;
  const editor = useEditor(config, schema);
  const draft = useRef<CodeHandle>(null);
  const [target, setTarget] = useState<{ readonly remark: Remark; readonly tab: 'disk' | 'draft' }>();
  // The tab changes with the address, which may take a moment because the browser may have to go back.
  useEffect(() => {
    if (target === undefined || tab !== target.tab) return;
    (tab === 'disk' ? disk : draft).current?.jump(target.remark);
    setTarget(undefined);
  }, [target, tab]);
  const jumpIn = (to: 'disk' | 'draft') => (remark: Remark) => {
    change({ tab: to });
    setTarget({ remark, tab: to });
  };
  const counts = [
    ...(problems.length > 0 ? [text.problems(format.number(problems.length))] : []),
    ...(warnings.length > 0 ? [text.warnings(format.number(warnings.length))] : []),
  ];
  return (
    <Stack gap="md">
      <ConfigState config={config} onAgain={onAgain} />
      {counts.length > 0 && tab !== 'draft' && (
        <Section title={counts.join(', ')}>
          <Remarks verdict={config} onJump={jumpIn('disk')} />
        </Section>
      )}
      <NotWritable editor={editor} />
      <SaveBar editor={editor} onJump={jumpIn('draft')} />
      <PageTabs
        label={text.tabsLabel}
        tab={tab}
        names={text.tabs}
        onChange={(next) => change({ tab: next })}
        contents={{
          settings: <SettingsPanel editor={editor} onAddVendor={() => change({ add: '1' })} />,
          draft: <Draft editor={editor} handle={draft} />,
          versions: <Versions editor={editor} />,
          secrets: <Secrets editor={editor} />,
          import: <Import />,
          disk: (
            <ConfigView
              label={text.diskLabel(file)}
              tab={config.disk.text}
              problems={problems}
              warnings={warnings}
              schema={schema}
              handle={disk}
            />
          ),
          running: (
            <ConfigView
              label={text.runningLabel(file)}
              tab={running.text}
              problems={NOTHING}
              warnings={NOTHING}
              schema={schema}
            />
          ),
          difference: (
            <DiffView title={text.diffRunning} before={running.text} after={config.disk.text} same={text.sameAbout} />
          ),
          report: <Report title={text.reportTitle} lines={report} />,
        }}
      />
      <AddVendorDrawer
        editor={editor}
        opened={address.add !== '' && editor.why === undefined}
        onClose={() => change({ add: '' })}
      />
    </Stack>
  );
}

function ConfigView({
  label,
  tab,
  problems,
  warnings,
  schema,
  handle,
}: {
  readonly label: string;
  readonly tab: string;
  readonly problems: readonly Remark[];
  readonly warnings: readonly Remark[];
  readonly schema: Schema | undefined;
  readonly handle?: Ref<CodeHandle>;
}) {
  const [pointed, setPointed] = useState<PointedPosition>();
  const remarks = [...problems, ...warnings];
  return (
    <Stack gap="xs">
      <MasksNote of={tab} />
      <div className="columns config-columns">
        <CodePane
          label={label}
          text={tab}
          problems={problems}
          warnings={warnings}
          onPoint={setPointed}
          {...(handle !== undefined && { handle })}
        />
        <KeyFacts pointed={pointed} schema={schema} remarks={remarks} />
      </div>
    </Stack>
  );
}

/** What the parts of the editor share. */
function useEditor(config: Config, schema: Schema | undefined): Editor {
  const { why } = useEditorText();
  const copy = useWorkingCopy(config);
  const settings = useMemo(() => settingsOf(copy.text), [copy.text]);
  const savedSettings = useMemo(() => settingsOf(config.text), [config.text]);
  return {
    config,
    schema,
    copy,
    settings,
    savedSettings,
    why: config.reason === null ? undefined : why[config.reason.code],
  };
}

type Config = Configuration;

const MOODS = { same: 'good', changed: 'warn', wrong: 'bad' } as const satisfies Record<string, Tone>;

/** The state with the button. `onRefused`: the reload failed, so the file must be read again. */
function ConfigState({ config, onAgain }: { readonly config: Config; onAgain(): void }) {
  const text = useText();
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
            {text.words.refresh}
          </PlainButton>
          <GuardedButton
            variant="filled"
            why={config.disk.changed ? undefined : text.reloadNothing}
            loading={reloading.isPending}
            onClick={() => reloading.mutate()}
          >
            {text.words.reload}
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
        {config.source === 'store' && <Muted>{text.inStore}</Muted>}
        <dl className="config-times">
          <Fact name={text.words.configuration}>
            {text.generation(format.number(config.generation))} <Small span>{text.generationNote}</Small>
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
