/** Imports another gateway: the source, the dry run with its report, and the import. */
import {
  Alert,
  Box,
  Button,
  FileButton,
  Group,
  List,
  NativeSelect,
  SegmentedControl,
  Stack,
  Switch,
  Text,
} from '@mantine/core';
import { type ReactNode, useId, useState } from 'react';
import { call, saveFile } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { ImportNotes, ImportRun } from '../../api/operations.ts';
import { IconAlertTriangle } from '../../icons.ts';
import { Coded } from '../../parts/coded.tsx';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { FactList } from '../../parts/facts.tsx';
import { RefusalForm, Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { Foldout, Muted, PlainButton, Section, Small } from '../../parts/page.tsx';
import { Money, State, type Tone, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './import-text.ts';
import { SecretInput } from './key-fields.tsx';

const PROGRAMS = ['auto', 'new-api', 'one-api', 'one-hub', 'litellm'] as const;
type Program = (typeof PROGRAMS)[number];
/** Bytes of one part of a file. */
const PART = 2 * 1_024 * 1_024;
/** How often a running import is asked for. */
const EVERY_MS = 1_000;

/** The tab. */
export function Import() {
  const run = useApi('GET /api/import', undefined, {
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? EVERY_MS : false),
  });
  return (
    <Stack gap="md">
      <Source isRunning={run.data?.state === 'running'} />
      <Loaded query={run} height={160}>
        {(data) => data.state !== 'none' && <Result run={data} />}
      </Loaded>
    </Stack>
  );
}

/** The form. What is typed stays in this page, so that the import after a dry run needs no second typing. */
function Source({ isRunning }: { readonly isRunning: boolean }) {
  const text = useText();
  const format = useFormat();
  const [program, setProgram] = useState<Program>('auto');
  const [kind, setKind] = useState<'database' | 'file'>('database');
  const [url, setUrl] = useState('');
  const [file, setFile] = useState<File | null>(null);
  const [saltKey, setSaltKey] = useState('');
  const [update, setUpdate] = useState(false);
  const [share, setShare] = useState<number>();
  const refusal = useFormRefusal('url', 'salt_key');
  const confirming = useDialog<true>();
  const begin = useAction(
    async (isDry: boolean) => {
      const upload = kind === 'file' && file !== null ? await uploaded(file, setShare) : undefined;
      return call('POST /api/import', {
        body: {
          program,
          ...(upload === undefined ? { url } : { upload }),
          ...(mayBeLiteLlm && saltKey !== '' && { salt_key: saltKey }),
          dry_run: isDry,
          update,
        },
      });
    },
    {
      changes: ['GET /api/import'],
      done: (_, isDry) => {
        setShare(undefined);
        confirming.close();
        if (isDry) return;
        setUrl('');
        setSaltKey('');
        setFile(null);
      },
      refused(refused) {
        setShare(undefined);
        confirming.close();
        return refusal.refused(refused);
      },
    },
  );
  const mayBeLiteLlm = program === 'litellm' || (program === 'auto' && kind === 'database');
  const isReady = (kind === 'file' ? file !== null : url !== '') && !isRunning;
  return (
    <Section title={text.title} about={text.about}>
      <RefusalForm refusal={refusal} autoComplete="off" noValidate onSubmit={() => isReady && begin.mutate(true)}>
        <NativeSelect
          label={text.program}
          data={PROGRAMS.map((each) => ({
            value: each,
            label: each === 'litellm' ? 'LiteLLM' : each === 'auto' ? text.auto : each,
          }))}
          value={program}
          maw="20rem"
          onChange={({ currentTarget }) => {
            const next = currentTarget.value as Program;
            setProgram(next);
            if (next === 'litellm') setKind('database');
          }}
        />
        {program !== 'litellm' && (
          <div>
            <Text size="sm" fw={500} id="import-from">
              {text.from}
            </Text>
            <SegmentedControl
              aria-labelledby="import-from"
              data={[
                { value: 'database', label: text.words.database },
                { value: 'file', label: text.file },
              ]}
              value={kind}
              onChange={(to) => setKind(to as typeof kind)}
            />
          </div>
        )}
        {kind === 'database' ? (
          <SecretInput
            label={text.url}
            description={text.urlAbout}
            value={url}
            error={refusal.at('url')}
            onChange={setUrl}
          />
        ) : (
          <div>
            <Group gap="sm">
              <FileButton onChange={setFile}>
                {(props) => <PlainButton {...props}>{text.chooseFile}</PlainButton>}
              </FileButton>
              {file !== null && (
                <Text size="sm">
                  {file.name} ({format.bytes(file.size)})
                </Text>
              )}
            </Group>
            <Small mt={4}>
              <Coded>{text.fileAbout}</Coded>
            </Small>
          </div>
        )}
        {mayBeLiteLlm && (
          <SecretInput
            label={text.saltKey}
            description={text.saltKeyAbout}
            value={saltKey}
            error={refusal.at('salt_key')}
            onChange={setSaltKey}
          />
        )}
        <Switch
          label={text.update}
          checked={update}
          onChange={({ currentTarget }) => setUpdate(currentTarget.checked)}
        />
        <Refused by={refusal} />
        <Group gap="xs">
          <Button type="submit" disabled={!isReady} loading={begin.isPending}>
            {text.dryRun}
          </Button>
          <PlainButton disabled={!isReady || begin.isPending} onClick={() => confirming.open(true)}>
            {text.import}
          </PlainButton>
          <Text size="sm" role="status">
            {share !== undefined && text.uploading(format.percent(share))}
          </Text>
        </Group>
      </RefusalForm>
      <Confirm
        dialog={confirming}
        title={text.importTitle}
        action={text.import}
        danger={false}
        doing={begin}
        onConfirm={() => begin.mutate(false)}
      >
        {text.importAbout}
      </Confirm>
    </Section>
  );
}

/** Uploads a file in parts; returns its id. */
async function uploaded(file: File, onShare: (share: number) => void): Promise<string> {
  let id: string | undefined;
  for (let offset = 0; offset < file.size || id === undefined; offset += PART) {
    const bytes = new Uint8Array(await file.slice(offset, offset + PART).arrayBuffer());
    const done = await call('POST /api/import/upload', {
      body: { ...(id !== undefined && { id }), offset, data: base64(bytes) },
    });
    id = done.id;
    onShare(file.size === 0 ? 1 : done.size / file.size);
  }
  return id;
}

/** In pieces: a call takes only so many arguments. */
function base64(bytes: Uint8Array): string {
  const size = 0x8000;
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(String.fromCharCode(...bytes.subarray(at, at + size)));
  return btoa(parts.join(''));
}

const TONES: Readonly<Record<'dry' | 'running' | 'done' | 'failed', Tone>> = {
  dry: 'info',
  running: 'info',
  done: 'good',
  failed: 'bad',
};

function Result({ run }: { readonly run: ImportRun }) {
  const text = useText();
  const state = run.state === 'done' ? (run.dry_run ? 'dry' : 'done') : run.state === 'none' ? 'running' : run.state;
  const lines = useAction(() => saveFile('GET /api/import/report', 'import.report.txt'));
  const handouts = useAction(() => saveFile('GET /api/import/handouts', 'import.handouts.tsv'));
  return (
    <Section
      title={text.last(run.program, run.source)}
      about={<When at={run.started_at} />}
      actions={
        run.report !== null && (
          <>
            {run.handouts && (
              <PlainButton loading={handouts.isPending} onClick={() => handouts.mutate()}>
                {text.handouts}
              </PlainButton>
            )}
            <PlainButton loading={lines.isPending} onClick={() => lines.mutate()}>
              {text.allLines}
            </PlainButton>
          </>
        )
      }
    >
      <Stack gap="md">
        <Group gap="xs" role="status">
          <State tone={TONES[state]}>{text.states[state]}</State>
          {run.state === 'running' ? (
            <Text size="sm">{text.steps[run.step]}</Text>
          ) : (
            <Text size="sm" lang="en">
              {run.report?.summary}
            </Text>
          )}
        </Group>
        {run.reason !== null && (
          <Alert color="red" icon={<IconAlertTriangle />} title={text.failed}>
            <Text size="sm" className="import-reason" lang="en">
              {run.reason}
            </Text>
          </Alert>
        )}
        {run.handouts && <Muted>{text.handoutsAbout}</Muted>}
        {run.report !== null && <Report report={run.report} />}
      </Stack>
    </Section>
  );
}

type ImportReport = NonNullable<ImportRun['report']>;
type Count = ImportReport['counts'][number];

function Report({ report }: { readonly report: ImportReport }) {
  const text = useText();
  const format = useFormat();
  const number = (name: 'there' | 'new' | 'changed' | 'unchanged' | 'left'): Column<Count> => ({
    key: name,
    title: text[name],
    align: 'right',
    cell: (count) => format.number(count[name]),
  });
  const columns: readonly Column<Count>[] = [
    {
      key: 'kind',
      title: text.kind,
      cell: ({ kind }) => (kind in text.kinds ? text.kinds[kind as keyof typeof text.kinds] : kind),
    },
    number('there'),
    number('new'),
    number('changed'),
    number('unchanged'),
    number('left'),
  ];
  const { proof, sums, configuration, price_differences: differences } = report;
  const changes = configuration.changes.filter(({ state }) => state !== 'unchanged');
  const total = (notes: readonly ImportNotes[]): string =>
    format.number(notes.reduce((sum, { count }) => sum + count, 0));
  return (
    <>
      <Muted>
        <Coded>
          {proof === null ? text.noProof : text.proof(format.number(proof.equal), format.number(proof.calls))}
        </Coded>
      </Muted>
      <DataTable caption={text.counts} columns={columns} rows={report.counts} rowKey={({ kind }) => kind} />
      <FactList
        facts={[
          [text.balances, <Money key="there" units={sums.there.balances} />],
          [text.balancesHere, sums.here === null ? undefined : <Money key="here" units={sums.here.balances} />],
          [text.limits, <Money key="limits" units={sums.there.key_limits} />],
        ]}
      />
      {report.decide.length > 0 && (
        <Alert color="orange" icon={<IconAlertTriangle />} title={text.decide}>
          <Notes notes={report.decide} />
        </Alert>
      )}
      {report.changed.length > 0 && (
        <Folded title={text.changedNotes(total(report.changed))}>
          <Notes notes={report.changed} />
        </Folded>
      )}
      {report.left.length > 0 && (
        <Folded title={text.leftNotes(total(report.left))}>
          <Notes notes={report.left} />
        </Folded>
      )}
      {changes.length > 0 && (
        <Folded title={text.configuration(format.number(changes.length))}>
          <List size="sm">
            {changes.map(({ kind, name, state, text: about }) => (
              <List.Item key={`${kind} ${name}`}>
                <span lang="en">
                  {kind} {name}
                </span>
                : {text.changeStates[state]}
                {about !== '' && <span lang="en">, {about}</span>}
              </List.Item>
            ))}
          </List>
        </Folded>
      )}
      {differences.length > 0 && (
        <Folded title={text.differences(format.number(differences.length))}>
          <List size="sm">
            {differences.map(({ model, text: about }) => (
              <List.Item key={`${model} ${about}`}>
                {model}: <span lang="en">{about}</span>
              </List.Item>
            ))}
          </List>
        </Folded>
      )}
    </>
  );
}

/** A list that is opened when it is wanted. */
function Folded({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <Foldout
      id={id}
      label={title}
      head={
        <Text size="sm" id={id}>
          {title}
        </Text>
      }
      open={isOpen}
      onToggle={() => setOpen(!isOpen)}
    >
      <Box px="sm" pb="sm">
        {children}
      </Box>
    </Foldout>
  );
}

/** Notes, each with the first of its things. */
function Notes({ notes }: { readonly notes: readonly ImportNotes[] }) {
  const text = useText();
  const format = useFormat();
  return (
    <List size="sm">
      {notes.map(({ where, why, what, count }) => (
        <List.Item key={`${where} ${why}`}>
          <span lang="en">{what.join(', ')}</span>
          {count > what.length && ` ${text.more(format.number(count - what.length))}`}: <span lang="en">{why}</span>
        </List.Item>
      ))}
    </List>
  );
}
