/** A copy of the file to edit in the browser, which the gateway judges. The file itself is never written from here. */
import { Alert, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconCheck, IconCopy, IconDownload } from '@tabler/icons-react';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { call, keepFile } from '../../api/client.ts';
import { useDoing } from '../../api/hooks.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Section } from '../../parts/page.tsx';
import { State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { type CodeHandle, CodePane, type Pointed } from './code-pane.tsx';
import { DiffView } from './diff-view.tsx';
import type { Schema } from './facts.ts';
import { KeyFacts } from './key-facts.tsx';
import { masksIn } from './masks.tsx';
import { type Remark, Remarks, type Verdict } from './remarks.tsx';
import { Report } from './report.tsx';
import { TEXT } from './text.ts';

/** What somebody has written, and what the file said when they began. It outlives the page, not the tab of the browser. */
let kept: { readonly text: string; readonly from: string } | undefined;
const NOTHING: Pick<Verdict, 'problems' | 'warnings'> = { problems: [], warnings: [] };
/** Bytes of the longest gateway.yaml. */
const LONGEST = 256 * 1_024;

/** The editor. */
export function Draft({
  file,
  disk,
  schema,
}: {
  readonly file: string;
  readonly disk: string;
  readonly schema: Schema | undefined;
}) {
  const text = useText(TEXT);
  const [draft, setDraft] = useState(() => kept ?? { text: disk, from: disk });
  const [checked, setChecked] = useState<{ readonly text: string; readonly verdict: Verdict }>();
  const [view, setView] = useState<'edit' | 'difference'>('edit');
  const [pointed, setPointed] = useState<Pointed>();
  const pane = useRef<CodeHandle>(null);
  const isChanged = draft.text !== draft.from;
  // What nobody has touched follows the file.
  const shown = isChanged ? draft.text : disk;
  useEffect(() => {
    kept = isChanged ? draft : undefined;
  }, [draft, isChanged]);
  const checking = useDoing((given: string) => call('POST /api/config/check', { body: { text: given } }), {
    done: (verdict, given) => setChecked({ text: given, verdict }),
  });
  const verdict = checked?.text === shown ? checked.verdict : undefined;
  const { problems, warnings } = verdict ?? NOTHING;
  const write = (next: string): void => setDraft(({ from }) => ({ text: next, from: isChanged ? from : disk }));
  const jump = (remark: Remark): void => {
    setView('edit');
    // The field may be drawn only now.
    requestAnimationFrame(() => pane.current?.jump(remark));
  };
  return (
    <Stack gap="md">
      <Text size="sm">{text.draftAbout(file)}</Text>
      <Toolbar
        file={file}
        draft={shown}
        isChanged={isChanged}
        isChecking={checking.isPending}
        pane={pane}
        view={view}
        onView={setView}
        onCheck={() => checking.mutate(shown)}
        onStartOver={() => {
          setDraft({ text: disk, from: disk });
          setChecked(undefined);
        }}
      />
      <DraftNotes draft={shown} isStale={isChanged && draft.from !== disk} />
      <div role="status">
        {checked !== undefined && (
          <Section title={<Judgement verdict={checked.verdict} isOld={verdict === undefined} />}>
            <Remarks verdict={checked.verdict} onJump={jump} />
          </Section>
        )}
      </div>
      {view === 'difference' ? (
        <DiffView title={text.diffDraft} before={disk} after={shown} same={text.sameDraft} />
      ) : (
        <div className="config-columns">
          <CodePane
            label={text.draftLabel(file)}
            text={shown}
            problems={problems}
            warnings={warnings}
            onText={write}
            onPoint={setPointed}
            handle={pane}
          />
          <KeyFacts pointed={pointed} schema={schema} remarks={[...problems, ...warnings]} />
        </div>
      )}
      {verdict !== undefined && verdict.problems.length === 0 && (
        <Report title={text.reportDraft} lines={verdict.report} />
      )}
    </Stack>
  );
}

/** What is to be known of a draft: its secrets are masked, and the file may have changed meanwhile. */
function DraftNotes({ draft, isStale }: { readonly draft: string; readonly isStale: boolean }) {
  const text = useText(TEXT);
  const format = useFormat();
  const masks = masksIn(draft);
  const isTooLong = draft.length > LONGEST || new TextEncoder().encode(draft).length > LONGEST;
  return (
    <>
      {masks > 0 && (
        <Text size="sm" c="dimmed">
          {text.draftMasks(format.number(masks))} {text.checkRefs}
        </Text>
      )}
      {isStale && (
        <Alert color="orange" p="xs">
          {text.changedNote}
        </Alert>
      )}
      {isTooLong && (
        <Alert color="red" p="xs">
          {text.tooLong}
        </Alert>
      )}
    </>
  );
}

function Judgement({ verdict, isOld }: { readonly verdict: Verdict; readonly isOld: boolean }) {
  const text = useText(TEXT);
  const isFine = verdict.problems.length === 0;
  return (
    <Group gap="xs">
      {isFine ? text.checkFine : text.checkWrong}
      {isOld && <State mood="warn">{text.checkOld}</State>}
    </Group>
  );
}

function Toolbar({
  file,
  draft,
  isChanged,
  isChecking,
  pane,
  view,
  onView,
  onCheck,
  onStartOver,
}: {
  readonly file: string;
  readonly draft: string;
  readonly isChanged: boolean;
  readonly isChecking: boolean;
  readonly pane: RefObject<CodeHandle | null>;
  readonly view: 'edit' | 'difference';
  onView(view: 'edit' | 'difference'): void;
  onCheck(): void;
  onStartOver(): void;
}) {
  const text = useText(TEXT);
  const [copied, setCopied] = useState<boolean>();
  const [asks, setAsks] = useState(false);
  const copy = async (): Promise<void> => setCopied(await (pane.current?.copy() ?? Promise.resolve(false)));
  return (
    <Group gap="xs">
      <SegmentedControl
        size="xs"
        aria-label={text.view}
        value={view}
        onChange={(next) => onView(next as 'edit' | 'difference')}
        data={[
          { value: 'edit', label: text.edit },
          { value: 'difference', label: text.difference },
        ]}
      />
      <Button loading={isChecking} onClick={onCheck}>
        {text.check}
      </Button>
      {view === 'edit' && (
        <Button
          variant="default"
          leftSection={copied === true ? <IconCheck size={16} /> : <IconCopy size={16} />}
          onClick={() => void copy()}
          onBlur={() => setCopied(undefined)}
        >
          {copied === true ? text.copied : text.copy}
        </Button>
      )}
      <Button
        variant="default"
        leftSection={<IconDownload size={16} />}
        onClick={() => keepFile(file, new Blob([draft], { type: 'application/yaml' }))}
      >
        {text.save}
      </Button>
      {isChanged && (
        <Button variant="default" onClick={() => setAsks(true)}>
          {text.startOver}
        </Button>
      )}
      <Text size="sm" c="dimmed" role="status">
        {copied === false && text.byHand}
      </Text>
      <Confirm
        opened={asks}
        title={text.startOverTitle}
        action={text.startOver}
        onClose={() => setAsks(false)}
        onConfirm={() => {
          setAsks(false);
          onStartOver();
        }}
      >
        {text.startOverAbout}
      </Confirm>
    </Group>
  );
}
