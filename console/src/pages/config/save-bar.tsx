/** Unsaved changes: their number, the review before they are saved, and what to do if someone else has saved first. */
import { Alert, Box, Button, Drawer, Group, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction, useApi, useCancelled } from '../../api/hooks.ts';
import { IconAlertTriangle } from '../../icons.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { GuardedButton, PlainButton } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import { DiffView } from './diff-view.tsx';
import { CHANGED_BY_SAVING, type Editor } from './editor.ts';
import { diffLines } from './line-diff.ts';
import { merged } from './merge.ts';
import { type Remark, Remarks } from './remarks.tsx';
import { useText } from './settings-text.ts';

/** The bar; renders nothing without changes. `onJump` opens the text at a problem. */
export function SaveBar({ editor, onJump }: { readonly editor: Editor; onJump(remark: Remark): void }) {
  const text = useText();
  const format = useFormat();
  const { copy } = editor;
  const [isReviewing, setReviewing] = useState(false);
  const discarding = useDialog<true>();
  // After a conflict, the changes are reviewed again.
  useEffect(() => {
    if (copy.isStale) setReviewing(false);
  }, [copy.isStale]);
  const rows = useMemo(
    () => (copy.isChanged ? diffLines(copy.base.text, copy.text) : []),
    [copy.isChanged, copy.base.text, copy.text],
  );
  const removed = rows.filter(({ kind }) => kind === 'gone').length;
  const added = rows.filter(({ kind }) => kind === 'new').length;
  return (
    <>
      {copy.isChanged && copy.isStale && <Conflict editor={editor} />}
      {copy.isChanged && (
        <Box component="section" className="section save-bar" aria-label={text.unsaved}>
          <Group gap="xs" justify="space-between">
            <Text size="sm" role="status">
              {text.unsaved} <span className="number">{text.lines(format.number(removed), format.number(added))}</span>
            </Text>
            <Group gap="xs">
              <PlainButton onClick={() => discarding.open(true)}>{text.discard}</PlainButton>
              <GuardedButton
                variant="filled"
                why={editor.why ?? (copy.isStale ? text.staleFirst : undefined)}
                onClick={() => setReviewing(true)}
              >
                {text.review}
              </GuardedButton>
            </Group>
          </Group>
        </Box>
      )}
      <Drawer
        opened={isReviewing && copy.isChanged && !copy.isStale}
        onClose={() => setReviewing(false)}
        title={text.review}
        size="xl"
      >
        <Review
          editor={editor}
          onJump={(remark) => {
            setReviewing(false);
            onJump(remark);
          }}
          onClose={() => setReviewing(false)}
        />
      </Drawer>
      <Confirm
        dialog={discarding}
        title={text.discardTitle}
        action={text.discard}
        onConfirm={() => {
          copy.discard();
          discarding.close();
        }}
      >
        {text.discardAbout}
      </Confirm>
    </>
  );
}

/** The check, the difference, and the note, with the button that saves. */
function Review({
  editor,
  onJump,
  onClose,
}: {
  readonly editor: Editor;
  onJump(remark: Remark): void;
  onClose(): void;
}) {
  const text = useText();
  const { copy } = editor;
  const [note, setNote] = useState('');
  const check = useApi('POST /api/config/check', { body: { text: copy.text } }, { staleTime: 0 });
  const saving = useSaving(editor, onClose);
  useCancelled(saving);
  return (
    <Stack gap="md">
      <Loaded query={check} height={80}>
        {(result) => (
          <Stack gap="md">
            {result.problems.length > 0 && (
              <Alert color="red" icon={<IconAlertTriangle />} title={text.cannotSave} p="xs">
                {text.cannotSaveAbout}
              </Alert>
            )}
            {result.problems.length + result.warnings.length > 0 && <Remarks verdict={result} onJump={onJump} />}
            <DiffView title={text.diffTitle} before={copy.base.text} after={copy.text} same={text.noChanges} />
            <form
              onSubmit={(event) => {
                event.preventDefault();
                if (result.problems.length === 0) saving.mutate({ note: note.trim() });
              }}
            >
              <Stack gap="md">
                <TextInput
                  label={text.note}
                  description={text.noteAbout}
                  inputWrapperOrder={['label', 'input', 'description', 'error']}
                  value={note}
                  maxLength={500}
                  onChange={({ currentTarget }) => setNote(currentTarget.value)}
                />
                <Group justify="flex-end" gap="xs">
                  <PlainButton onClick={onClose}>{text.words.cancel}</PlainButton>
                  <Button type="submit" loading={saving.isPending} disabled={result.problems.length > 0}>
                    {text.saveNow}
                  </Button>
                </Group>
              </Stack>
            </form>
          </Stack>
        )}
      </Loaded>
    </Stack>
  );
}

/** Saves a text, by default that of the working copy. */
export function useSaving(editor: Pick<Editor, 'copy'>, done: () => void) {
  const text = useText();
  const queries = useQueryClient();
  const { copy } = editor;
  return useAction(
    ({ note, content = copy.text }: { readonly note: string; readonly content?: string }) =>
      call('PUT /api/config', { body: { text: content, revision: copy.base.revision, note } }),
    {
      changes: CHANGED_BY_SAVING,
      done({ version }) {
        copy.discard();
        notifications.show({ color: 'pine', message: text.saved(`${version}`) });
        done();
      },
      refused(refusal) {
        // The current text shows what has changed.
        if (refusal.code === 'configuration_conflict') {
          void queries.invalidateQueries({ queryKey: ['GET /api/config'] });
          void queries.invalidateQueries({ queryKey: ['GET /api/config/versions'] });
        }
        return false;
      },
    },
  );
}

/** Someone else has saved first. Says who and when; merges if both changes are on different lines. */
function Conflict({ editor: { config, copy } }: { readonly editor: Editor }) {
  const text = useText();
  const format = useFormat();
  const [isComparing, setComparing] = useState(false);
  const versions = useApi('GET /api/config/versions', { search: { p: 1, page_size: 1 } }, { staleTime: 0 });
  const [last] = versions.data?.items ?? [];
  const isLast = last !== undefined && last.revision === config.revision;
  const both = useMemo(() => merged(copy.base.text, copy.text, config.text), [copy.base.text, copy.text, config.text]);
  return (
    <Alert color="orange" icon={<IconAlertTriangle />} title={text.conflict} role="alert">
      <Stack gap="sm">
        <Text size="sm">
          {isLast && last.by !== null
            ? text.conflictBy(last.by, format.moment(last.at))
            : isLast
              ? text.conflictOutside(format.moment(last.at))
              : text.conflictUnknown}
          {isLast && last.note !== '' && ` ${text.conflictNote(last.note)}`}{' '}
          {both === undefined ? text.conflictSameLines : text.conflictOtherLines}
        </Text>
        <Group gap="xs">
          {both !== undefined && (
            <Button size="xs" onClick={() => copy.restart(both)}>
              {text.mergeBoth}
            </Button>
          )}
          <PlainButton size="xs" aria-expanded={isComparing} onClick={() => setComparing(!isComparing)}>
            {text.compare}
          </PlainButton>
          <PlainButton size="xs" onClick={copy.discard}>
            {text.takeTheirs}
          </PlainButton>
          {both === undefined && (
            <PlainButton size="xs" onClick={() => copy.restart(copy.text)}>
              {text.keepMine}
            </PlainButton>
          )}
        </Group>
        {isComparing && (
          <>
            <DiffView title={text.theirDiff} before={copy.base.text} after={config.text} same={text.noChanges} />
            <DiffView title={text.ownDiff} before={copy.base.text} after={copy.text} same={text.noChanges} />
          </>
        )}
      </Stack>
    </Alert>
  );
}
