/** Backups: the schedule with its latest results, or how to configure one; and the last backup by command. */
import { Alert, Button, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { call } from '../../api/client.ts';
import { isRoot, useAction, useSelf } from '../../api/hooks.ts';
import { IconAlertTriangle } from '../../icons.ts';
import { Coded } from '../../parts/coded.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Fact } from '../../parts/facts.tsx';
import { Muted, Section, Small } from '../../parts/page.tsx';
import { Snippet, State, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { Reading } from './gateways.tsx';
import { backupTone, type Schedule, scheduleTone, type Vitals } from './judge.ts';
import { useText } from './text.ts';

const SCHEDULE = `backup:
  every: 1d
  to: ./backups            # better: another disk, or a bucket
  keep: { last: 3, daily: 7, weekly: 4 }
  encrypt: master-key`;
const COMMAND = 'npx turnpike backup turnpike-$(date +%F).db';
/** A percent sign in a crontab must be escaped. */
const CRON = '0 3 * * * cd /path/to/turnpike && npx turnpike backup /backups/turnpike-$(date +\\%F).db';

/** The section. */
export function Backups({ vitals }: { readonly vitals: Vitals }) {
  const text = useText();
  const { backup, backups, store } = vitals;
  return (
    <Section flush title={text.backup} actions={backups !== null && <BackUpNow running={backups.running} />}>
      {backups !== null && <Scheduled schedule={backups} />}
      {/* A proven backup is the last one, too. */}
      {(backups === null || (backup !== null && backup.name !== backups.proven?.name)) && <Last vitals={vitals} />}
      <Stack gap="xs" p="sm">
        {backups === null && (
          <>
            <Text size="sm">
              <Coded>{text.backupSchedule}</Coded>
            </Text>
            <Snippet label={text.words.gatewayYamlLines} code={SCHEDULE} />
            <Text size="sm">{text.backupByCommand}</Text>
            <Snippet label={text.backupCommand} code={COMMAND} />
            <Text size="sm">
              <Coded>{text.backupDaily}</Coded>
            </Text>
            <Snippet label={text.backupCron} code={CRON} />
          </>
        )}
        <Muted>{text.backupKey(`${store.name}.key`)}</Muted>
      </Stack>
    </Section>
  );
}

function BackUpNow({ running }: { readonly running: boolean }) {
  const text = useText();
  const mayStart = isRoot(useSelf());
  const start = useAction(() => call('POST /api/system/backup'), {
    changes: ['GET /api/system'],
    done: () => notifications.show({ message: text.backupStarted }),
  });
  if (!mayStart) return running ? <Muted>{text.backupRunning}</Muted> : null;
  return (
    <Button loading={start.isPending} disabled={running} onClick={() => start.mutate()}>
      {running ? text.backupRunning : text.backUpNow}
    </Button>
  );
}

function Last({ vitals }: { readonly vitals: Vitals }) {
  const text = useText();
  const format = useFormat();
  const { backup, backups } = vitals;
  const tone = backups === null ? backupTone(vitals, Date.now() / 1_000) : 'info';
  const about = tone === 'good' ? text.backupFine : text.backupOld;
  return (
    <Reading
      name={text.backupLast}
      tone={tone}
      value={backup === null ? text.backupNone : <When at={backup.at} />}
      about={backup === null ? text.backupNoneAbout : tone === 'info' ? text.backupUnproven : about}
    >
      {backup !== null && (
        <Small>
          {text.backupOf(
            backup.name,
            backup.bytes === null ? '–' : format.bytes(backup.bytes),
            format.duration(backup.ms),
          )}
        </Small>
      )}
    </Reading>
  );
}

function Scheduled({ schedule }: { readonly schedule: Schedule }) {
  const text = useText();
  const format = useFormat();
  const { every, to, keep, encrypted, proven, failed, runs } = schedule;
  const tone = scheduleTone(schedule, Date.now() / 1_000);
  const about = { good: text.provenFine, warn: text.provenNone, bad: text.provenOld } as const;
  return (
    <>
      {failed !== null && (
        <Alert color="red" icon={<IconAlertTriangle />} title={text.backupFailed} m="sm">
          <Text size="sm" className="reading-figure" lang="en">
            {failed.reason}
          </Text>
          <Text size="sm" mt="xs">
            <Coded>{failed.name === '' ? text.backupFailedAbout : text.proofFailedAbout(failed.name)}</Coded>
          </Text>
        </Alert>
      )}
      <Reading
        name={text.provenLast}
        tone={tone}
        value={<When at={proven?.at} none={text.backupNone} />}
        about={failed === null ? about[tone] : text.provenFailed}
      >
        {proven !== null && (
          <Small>
            {text.backupOf(
              proven.name,
              proven.bytes === null ? '–' : format.bytes(proven.bytes),
              format.duration(proven.ms),
            )}
          </Small>
        )}
      </Reading>
      <Reading name={text.schedule} tone="info" about={text.scheduleAbout}>
        <dl className="reading-list wraps">
          <Fact name={text.scheduleEvery}>{format.duration(every * 1_000)}</Fact>
          <Fact name={text.scheduleTo}>{to}</Fact>
          <Fact name={text.scheduleKeep}>
            {text.kept(format.number(keep.last), format.number(keep.daily), format.number(keep.weekly))}
          </Fact>
          <Fact name={text.scheduleEncrypted}>{encrypted ? text.isEncrypted : text.isPlain}</Fact>
        </dl>
      </Reading>
      {runs.length > 0 && <Runs runs={runs} />}
    </>
  );
}

type Run = Schedule['runs'][number];

function Runs({ runs }: { readonly runs: readonly Run[] }) {
  const text = useText();
  const format = useFormat();
  const columns: readonly Column<Run>[] = [
    { key: 'at', title: text.words.time, cell: ({ at }) => <When at={at} /> },
    {
      key: 'result',
      title: text.words.result,
      cell: ({ reason, name }) => (
        <State tone={reason === null ? 'good' : 'bad'}>
          {reason === null ? text.proven : name === '' ? text.notStored : text.notProven}
        </State>
      ),
    },
    {
      key: 'size',
      title: text.size,
      align: 'right',
      cell: ({ bytes }) => (bytes === null ? '–' : format.bytes(bytes)),
    },
    { key: 'took', title: text.runTook, align: 'right', cell: ({ ms }) => format.duration(ms) },
    {
      key: 'found',
      title: text.runFound,
      cell: ({ reason, invariants, migrations }) => (
        <div className="wide-cell" lang={reason === null ? undefined : 'en'}>
          {reason ??
            (invariants === null ? '–' : text.runProof(format.number(invariants), format.number(migrations ?? 0)))}
        </div>
      ),
    },
    { key: 'name', title: text.runName, cell: ({ name }) => (name === '' ? '–' : name) },
  ];
  return <DataTable caption={text.runs} columns={columns} rows={runs} rowKey={({ at, name }) => `${at} ${name}`} />;
}
