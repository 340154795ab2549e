/** The text of gateway.yaml in an editor: the working copy, which the gateway checks on request. */
import { Alert, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { type RefObject, useState } from 'react';
import { call, saveBytes } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { IconCheck, IconCopy, IconDownload } from '../../icons.ts';
import { Muted, PlainButton, Section } from '../../parts/page.tsx';
import { State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { type CodeHandle, CodePane, type PointedPosition } from './code-pane.tsx';
import { DiffView } from './diff-view.tsx';
import type { Editor } from './editor.ts';
import { KeyFacts } from './key-facts.tsx';
import { masksIn } from './masks.tsx';
import { type CheckResult, type Remark, Remarks } from './remarks.tsx';
import { Report } from './report.tsx';
import { useText } from './text.ts';

const NOTHING: Pick<CheckResult, 'problems' | 'warnings'> = { problems: [], warnings: [] };
/** The largest gateway.yaml in bytes. */
const LONGEST = 256 * 1_024;

/** The editor. `handle`: of the text. */
export function Draft({ editor, handle }: { readonly editor: Editor; readonly handle: RefObject<CodeHandle | null> }) {
  const text = useText();
  const { config, copy, schema } = editor;
  const { file } = config;
  const [checked, setChecked] = useState<{ readonly text: string; readonly verdict: CheckResult }>();
  const [view, setView] = useState<'edit' | 'difference'>('edit');
  const [pointed, setPointed] = useState<PointedPosition>();
  const checking = useAction((source: string) => call('POST /api/config/check', { body: { text: source } }), {
    done: (result, source) => setChecked({ text: source, verdict: result }),
  });
  const result = checked?.text === copy.text ? checked.verdict : undefined;
  const { problems, warnings } = result ?? NOTHING;
  const jump = (remark: Remark): void => {
    setView('edit');
    // The field may be rendered only after this.
    requestAnimationFrame(() => handle.current?.jump(remark));
  };
  return (
    <Stack gap="md">
      <Text size="sm">{editor.why === undefined ? text.draftAbout(file) : text.draftOnlyAbout(file)}</Text>
      <Toolbar
        file={file}
        draft={copy.text}
        isChecking={checking.isPending}
        pane={handle}
        view={view}
        onView={setView}
        onCheck={() => checking.mutate(copy.text)}
      />
      <DraftNotes draft={copy.text} isWritable={editor.why === undefined} />
      <div role="status">
        {checked !== undefined && (
          <Section title={<Judgement result={checked.verdict} isOld={result === undefined} />}>
            <Remarks verdict={checked.verdict} onJump={jump} />
          </Section>
        )}
      </div>
      {view === 'difference' ? (
        <DiffView title={text.diffDraft} before={copy.base.text} after={copy.text} same={text.sameDraft} />
      ) : (
        <div className="columns config-columns">
          <CodePane
            label={text.draftLabel(file)}
            text={copy.text}
            problems={problems}
            warnings={warnings}
            onText={copy.write}
            onPoint={setPointed}
            handle={handle}
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

/** Notes on the text: masked secrets, and its size. */
function DraftNotes({ draft, isWritable }: { readonly draft: string; readonly isWritable: boolean }) {
  const text = useText();
  const format = useFormat();
  const masks = masksIn(draft);
  const isTooLong = draft.length > LONGEST || new TextEncoder().encode(draft).length > LONGEST;
  return (
    <>
      {masks > 0 && (
        <Muted>
          {isWritable ? text.draftMasksKept(format.number(masks)) : text.draftMasks(format.number(masks))}{' '}
          {text.checkRefs}
        </Muted>
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
  isChecking,
  pane,
  view,
  onView,
  onCheck,
}: {
  readonly file: string;
  readonly draft: string;
  readonly isChecking: boolean;
  readonly pane: RefObject<CodeHandle | null>;
  readonly view: 'edit' | 'difference';
  onView(view: 'edit' | 'difference'): void;
  onCheck(): void;
}) {
  const text = useText();
  const [copied, setCopied] = useState<boolean>();
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
      <Muted role="status">{copied === false && text.byHand}</Muted>
    </Group>
  );
}
