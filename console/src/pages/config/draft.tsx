/** A draft of gateway.yaml in the browser, validated by the gateway. The console never writes the file. */
import { Alert, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { call, saveBytes } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { IconCheck, IconCopy, IconDownload } from '../../icons.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { Muted, PlainButton, Section } from '../../parts/page.tsx';
import { State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { type CodeHandle, CodePane, type PointedPosition } from './code-pane.tsx';
import { DiffView } from './diff-view.tsx';
import type { Schema } from './facts.ts';
import { KeyFacts } from './key-facts.tsx';
import { masksIn } from './masks.tsx';
import { type CheckResult, type Remark, Remarks } from './remarks.tsx';
import { Report } from './report.tsx';
import { useText } from './text.ts';

/** The draft, and the file when the draft began. A module variable, so that it survives navigation within the tab. */
let savedDraft: { readonly text: string; readonly from: string } | undefined;
const NOTHING: Pick<CheckResult, 'problems' | 'warnings'> = { problems: [], warnings: [] };
/** The largest gateway.yaml in bytes. */
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
  const text = useText();
  const [draft, setDraft] = useState(() => savedDraft ?? { text: disk, from: disk });
  const [checked, setChecked] = useState<{ readonly text: string; readonly verdict: CheckResult }>();
  const [view, setView] = useState<'edit' | 'difference'>('edit');
  const [pointed, setPointed] = useState<PointedPosition>();
  const pane = useRef<CodeHandle>(null);
  const isChanged = draft.text !== draft.from;
  // An unchanged draft follows the file.
  const content = isChanged ? draft.text : disk;
  useEffect(() => {
    savedDraft = isChanged ? draft : undefined;
  }, [draft, isChanged]);
  const checking = useAction((source: string) => call('POST /api/config/check', { body: { text: source } }), {
    done: (result, source) => setChecked({ text: source, verdict: result }),
  });
  const result = checked?.text === content ? checked.verdict : undefined;
  const { problems, warnings } = result ?? NOTHING;
  const write = (next: string): void => setDraft(({ from }) => ({ text: next, from: isChanged ? from : disk }));
  const jump = (remark: Remark): void => {
    setView('edit');
    // The field may be rendered only after this.
    requestAnimationFrame(() => pane.current?.jump(remark));
  };
  return (
    <Stack gap="md">
      <Text size="sm">{text.draftAbout(file)}</Text>
      <Toolbar
        file={file}
        draft={content}
        isChanged={isChanged}
        isChecking={checking.isPending}
        pane={pane}
        view={view}
        onView={setView}
        onCheck={() => checking.mutate(content)}
        onStartOver={() => {
          setDraft({ text: disk, from: disk });
          setChecked(undefined);
        }}
      />
      <DraftNotes draft={content} isStale={isChanged && draft.from !== disk} />
      <div role="status">
        {checked !== undefined && (
          <Section title={<Judgement result={checked.verdict} isOld={result === undefined} />}>
            <Remarks verdict={checked.verdict} onJump={jump} />
          </Section>
        )}
      </div>
      {view === 'difference' ? (
        <DiffView title={text.diffDraft} before={disk} after={content} same={text.sameDraft} />
      ) : (
        <div className="columns config-columns">
          <CodePane
            label={text.draftLabel(file)}
            text={content}
            problems={problems}
            warnings={warnings}
            onText={write}
            onPoint={setPointed}
            handle={pane}
          />
          <KeyFacts pointed={pointed} schema={schema} remarks={[...problems, ...warnings]} />
        </div>
      )}
      {result !== undefined && result.problems.length === 0 && (
        <Report title={text.reportDraft} lines={result.report} />
      )}
    </Stack>
  );
}

/** Notes on a draft: masked secrets, and a file that has changed since. */
function DraftNotes({ draft, isStale }: { readonly draft: string; readonly isStale: boolean }) {
  const text = useText();
  const format = useFormat();
  const masks = masksIn(draft);
  const isTooLong = draft.length > LONGEST || new TextEncoder().encode(draft).length > LONGEST;
  return (
    <>
      {masks > 0 && (
        <Muted>
          {text.draftMasks(format.number(masks))} {text.checkRefs}
        </Muted>
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

function Judgement({ result, isOld }: { readonly result: CheckResult; readonly isOld: boolean }) {
  const text = useText();
  const isFine = result.problems.length === 0;
  return (
    <Group gap="xs">
      {isFine ? text.checkFine : text.checkWrong}
      {isOld && <State tone="warn">{text.checkOld}</State>}
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
  const text = useText();
  const [copied, setCopied] = useState<boolean>();
  const confirming = useDialog<true>();
  const copy = async (): Promise<void> => setCopied(await (pane.current?.copy() ?? Promise.resolve(false)));
  return (
    <Group gap="xs">
      <SegmentedControl
        size="xs"
        aria-label={text.words.view}
        value={view}
        onChange={(next) => onView(next as 'edit' | 'difference')}
        data={[
          { value: 'edit', label: text.words.edit },
          { value: 'difference', label: text.words.difference },
        ]}
      />
      <Button loading={isChecking} onClick={onCheck}>
        {text.check}
      </Button>
      {view === 'edit' && (
        <PlainButton
          leftSection={copied === true ? <IconCheck size={16} /> : <IconCopy size={16} />}
          onClick={() => void copy()}
          onBlur={() => setCopied(undefined)}
        >
          {copied === true ? text.words.copied : text.copy}
        </PlainButton>
      )}
      <PlainButton
        leftSection={<IconDownload size={16} />}
        onClick={() => saveBytes(file, new Blob([draft], { type: 'application/yaml' }))}
      >
        {text.save}
      </PlainButton>
      {isChanged && <PlainButton onClick={() => confirming.open(true)}>{text.startOver}</PlainButton>}
      <Muted role="status">{copied === false && text.byHand}</Muted>
      <Confirm
        dialog={confirming}
        title={text.startOverTitle}
        action={text.startOver}
        onConfirm={() => {
          confirming.close();
          onStartOver();
        }}
      >
        {text.startOverAbout}
      </Confirm>
    </Group>
  );
}
