/** Backups: the last one, and how to make one. */
import { Stack, Text } from '@mantine/core';
import { Coded } from '../../parts/coded.tsx';
import { Section } from '../../parts/page.tsx';
import { Snippet, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { backupTone, type Vitals } from './judge.ts';
import { Reading } from './reading.tsx';
import { TEXT } from './text.ts';

const COMMAND = 'npx turnpike backup turnpike-$(date +%F).db';
/** A percent sign in a crontab must be escaped. */
const CRON = '0 3 * * * cd /path/to/turnpike && npx turnpike backup /backups/turnpike-$(date +\\%F).db';

/** The last backup, and what to do if it is too old. */
export function Backups({ vitals }: { readonly vitals: Vitals }) {
  const text = useText(TEXT);
  const format = useFormat();
  const { backup, store } = vitals;
  const tone = backupTone(vitals, Date.now() / 1_000);
  return (
    <Section flush title={text.backup}>
      <Reading
        name={text.backupLast}
        tone={tone}
        value={backup === null ? text.backupNone : <When at={backup.at} />}
        about={backup === null ? text.backupNoneAbout : tone === 'good' ? text.backupFine : text.backupOld}
      >
        {backup !== null && (
          <Text size="xs" c="dimmed">
            {text.backupOf(
              backup.name,
              backup.bytes === null ? '–' : format.bytes(backup.bytes),
              format.duration(backup.ms),
            )}
          </Text>
        )}
      </Reading>
      <Stack gap="xs" p="sm">
        <Snippet label={text.backupCommand} code={COMMAND} />
        <Text size="sm">
          <Coded>{text.backupDaily}</Coded>
        </Text>
        <Snippet label={text.backupCron} code={CRON} />
        <Text size="sm" c="dimmed">
          {text.backupKey(`${store.name}.key`)}
        </Text>
      </Stack>
    </Section>
  );
}
