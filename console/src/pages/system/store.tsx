/** The database: size, free disk space, writes, retention. */
import { Text } from '@mantine/core';
import { Fact } from '../../parts/facts.tsx';
import { Section } from '../../parts/page.tsx';
import { Meter } from '../../parts/values.tsx';
import { type Format, useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { diskTone, sizeTone, type Vitals, writingTone } from './judge.ts';
import { Reading } from './reading.tsx';
import { TEXT } from './text.ts';

/** Its figures. */
export function StoreReadings({ vitals }: { readonly vitals: Vitals }) {
  const text = useText(TEXT);
  const format = useFormat();
  const {
    name,
    bytes,
    log_bytes: log,
    disk_free: free,
    disk_total: total,
    writable,
    waiting,
    keeps_responses: keepsResponses,
  } = vitals.store;
  return (
    <Section flush title={text.words.database} about={name}>
      <Reading
        name={text.size}
        tone={sizeTone(vitals)}
        about={text.sizeAbout}
        value={bytes === null || log === null ? text.unknown : text.sizeValue(format.bytes(bytes), format.bytes(log))}
      />
      <Reading
        name={text.disk}
        tone={diskTone(vitals)}
        about={keepsResponses ? text.diskAbout : text.diskScarce}
        {...((free === null || total === null) && { value: text.unknown })}
      >
        {free !== null && total !== null && (
          <Meter label={text.diskFree(format.bytes(free))} used={total - free} limit={total} show={format.bytes} />
        )}
      </Reading>
      <Reading
        name={text.writable}
        tone={writingTone(vitals)}
        about={writable ? text.writableAbout : text.writableNot}
        value={`${writable ? text.writableValue.yes : text.writableValue.no} · ${text.waiting(format.number(waiting))}`}
      />
      <Reading name={text.keeps} tone="info" about={text.keepsAbout}>
        <Retention keeps={vitals.keeps} />
      </Reading>
    </Section>
  );
}

function Retention({ keeps }: { readonly keeps: Vitals['keeps'] }) {
  const text = useText(TEXT);
  const format = useFormat();
  const sections = Object.entries(keeps);
  if (sections.length === 0) return <Text size="sm">{text.keepsNone}</Text>;
  return (
    <dl className="reading-list">
      {sections.map(([section, retention]) => (
        <Fact key={section} name={text.sections[section as keyof typeof text.sections] ?? section}>
          {lengthOf(retention, format) ?? text.nothingKept}
        </Fact>
      ))}
    </dl>
  );
}

const UNITS = { ms: 'millisecond', s: 'second', m: 'minute', h: 'hour', d: 'day' } as const;

/** A duration such as `90d` in words; undefined: not kept. */
function lengthOf(written: string, { locale }: Format): string | undefined {
  const [, count = '', unit = ''] = /^(\d+)(ms|s|m|h|d)?$/.exec(written) ?? [];
  if (Number(count) === 0 && count !== '') return undefined;
  const word = UNITS[unit as keyof typeof UNITS];
  if (word === undefined) return written;
  return new Intl.NumberFormat(locale, { style: 'unit', unit: word, unitDisplay: 'long' }).format(Number(count));
}
