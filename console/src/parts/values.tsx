/** Single values: money, times, shares, states, copyable text. */
import { ActionIcon, Badge, Box, Code, Group, Progress, Text, Tooltip, UnstyledButton } from '@mantine/core';
import { useTimeout } from '@mantine/hooks';
import { type ReactNode, useContext, useRef, useState } from 'react';
import { Link } from 'wouter';
import { IconCheck, IconCopy } from '../icons.ts';
import { useFormat } from '../shell/format.ts';
import { LanguageContext, texts } from '../text.ts';
import { Small } from './page.tsx';

const useText = texts({
  copy: ['Copy', '复制'],
  copyOf: [(what: string) => `Copy: ${what}`, (what: string) => `复制：${what}`],
  byHand: [
    'The browser blocked copying. The text is selected: press Ctrl+C.',
    '浏览器阻止了复制。文本已选中，请按 Ctrl+C。',
  ],
  unlimited: ['unlimited', '不限'],
  never: ['never', '从不'],
  of: [(used: string, limit: string) => `${used} of ${limit}`, (used: string, limit: string) => `${used} / ${limit}`],
});

/** Quota units as money; the units in a tooltip. `null`: unlimited. */
export function Money({ units, sign = false }: { readonly units: number | null | undefined; readonly sign?: boolean }) {
  const format = useFormat();
  const text = useText();
  if (units === null || units === undefined) return <>{text.unlimited}</>;
  const amount = format.money(units);
  return (
    <Tooltip label={format.quota(units)}>
      <span className="number" data-quota={units} data-decimals={decimalsOf(amount)}>
        {sign && units > 0 ? '+' : ''}
        {amount}
      </span>
    </Tooltip>
  );
}

/** The number of decimal places. */
function decimalsOf(amount: string): number {
  return /\.(\d+)/.exec(amount)?.[1]?.length ?? 0;
}

/** The age up to which times are shown as relative. */
const WEEK_S = 7 * 86_400;

/** A relative time with the exact time in a tooltip; old ones as a date. Unix seconds; 0, -1 and null are `never`, or `none`. */
export function When({ at, none }: { readonly at: number | null | undefined; readonly none?: ReactNode }) {
  const format = useFormat();
  const text = useText();
  if (at === null || at === undefined || at <= 0) return <>{none ?? text.never}</>;
  return (
    <Tooltip label={format.moment(at)}>
      <time dateTime={new Date(at * 1_000).toISOString()}>
        {Date.now() / 1_000 - at < WEEK_S ? format.ago(at) : format.day(at)}
      </time>
    </Tooltip>
  );
}

interface Copied {
  readonly value: string;
  /** The name of the value, such as `Address`; distinguishes several buttons on one page. */
  readonly what?: string | undefined;
  /** The accessible name of the button, if `what` is not enough. */
  readonly label?: string | undefined;
}

/** Text that one click copies; also works over plain http, for which browsers have no clipboard API. `shown`: the displayed text. */
export function Copy({ shown, ...copied }: Copied & { readonly shown?: ReactNode }) {
  return (
    <Group gap={4} wrap="nowrap" miw={0} className="copy">
      <Code className="copy-value">{shown ?? copied.value}</Code>
      <CopyIcon {...copied} />
    </Group>
  );
}

/** The copy button alone. */
export function CopyIcon({ value, what, label }: Copied) {
  const text = useText();
  const name = label ?? (what === undefined ? text.copy : text.copyOf(what));
  const [state, setState] = useState<'not yet' | 'copied' | 'by hand'>('not yet');
  const soon = useTimeout(() => setState('not yet'), 2_000);
  const button = useRef<HTMLButtonElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const done = (): void => {
    setState('copied');
    soon.start();
  };
  // `execCommand` works if the clipboard API is not available: over plain http.
  const fallBack = (): void => {
    const area = field.current;
    if (area === null) return;
    area.hidden = false;
    area.select();
    if (!document.execCommand('copy')) {
      setState('by hand');
      return;
    }
    area.hidden = true;
    button.current?.focus();
    done();
  };
  const message = state === 'copied' ? text.words.copied : state === 'by hand' ? text.byHand : undefined;
  return (
    <>
      <Tooltip label={message ?? name}>
        <ActionIcon
          ref={button}
          variant="subtle"
          color={state === 'copied' ? 'pine' : 'gray'}
          size={24}
          aria-label={name}
          onClick={() =>
            window.isSecureContext ? navigator.clipboard.writeText(value).then(done, fallBack) : fallBack()
          }
        >
          {state === 'copied' ? <IconCheck size={14} /> : <IconCopy size={14} />}
        </ActionIcon>
      </Tooltip>
      <span className="aloud" aria-live="polite">
        {message}
      </span>
      <textarea ref={field} hidden readOnly value={value} className="copy-field" aria-label={name} />
    </>
  );
}

/** A block of code or text that is copied as a whole. */
export function Snippet({ code, label }: { readonly code: string; readonly label: string }) {
  return (
    <Box className="snippet">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be focusable */}
      <section className="snippet-scroll" aria-label={label} tabIndex={0}>
        <pre>
          <code>{code}</code>
        </pre>
      </section>
      <Box className="snippet-copy">
        <CopyIcon value={code} what={label} />
      </Box>
    </Box>
  );
}

/** The used part of a limit; `limit` null: none. In quota units unless `show` formats other units. */
export function Meter({
  used,
  limit,
  label,
  show,
}: {
  readonly used: number;
  readonly limit: number | null;
  readonly label: string;
  show?(value: number): string;
}) {
  const format = useFormat();
  const text = useText();
  const formatValue = show ?? format.money;
  const share = limit === null || limit === 0 ? (used > 0 && limit === 0 ? 1 : 0) : Math.min(1, used / limit);
  const color = share >= 1 ? 'red.8' : share >= 0.8 ? 'orange.8' : 'pine';
  const amountText =
    limit === null ? `${formatValue(used)} · ${text.unlimited}` : text.of(formatValue(used), formatValue(limit));
  return (
    <Box miw={0}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" truncate>
          {label}
        </Text>
        <Text size="sm" className="number">
          {amountText}
        </Text>
      </Group>
      <Progress.Root size="sm" mt={2}>
        <Progress.Section value={share * 100} color={color} aria-label={`${label}: ${amountText}`} />
      </Progress.Root>
    </Box>
  );
}

/** A state in one word. */
export type Tone = 'good' | 'warn' | 'bad' | 'idle' | 'info';
const MOODS = { good: 'green', warn: 'orange', bad: 'red', idle: 'gray', info: 'blue' } as const;

/** A word with a colour; the colour never adds information. */
export function State({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <Badge color={MOODS[tone]} size="sm" miw="max-content">
      {children}
    </Badge>
  );
}

/** A figure with its label, for the top of a page. */
export function Figure({
  label,
  value,
  note,
  href,
}: {
  readonly label: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  /** The page with details. */
  readonly href?: string;
}) {
  const inside = (
    <>
      <Small>{label}</Small>
      <Text size="xl" fw={600} className="number" component="div">
        {value}
      </Text>
      {note !== undefined && (
        <Text size="xs" c="dimmed" component="div">
          {note}
        </Text>
      )}
    </>
  );
  return href === undefined ? (
    <Box className="figure">{inside}</Box>
  ) : (
    <UnstyledButton component={Link} href={href} className="figure">
      {inside}
    </UnstyledButton>
  );
}

/** The language tag of the viewer. */
export function useLanguage() {
  return useContext(LanguageContext).language;
}
