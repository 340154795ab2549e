/** Localized numbers, money and times. */
import { useContext } from 'react';
import { useStatus } from '../api/hooks.ts';
import { LanguageContext } from '../text.ts';
import { durationText } from './duration.ts';
import { HOUR_CYCLE, timeZoneOf, ZoneContext } from './zone.ts';

const SECOND = 1_000;
const UNITS = [
  ['year', 365 * 86_400 * SECOND],
  ['month', 30 * 86_400 * SECOND],
  ['day', 86_400 * SECOND],
  ['hour', 3_600 * SECOND],
  ['minute', 60 * SECOND],
  ['second', SECOND],
] as const;

/** Formats values. Times are unix seconds, in the chosen zone unless they are UTC. */
export interface Format {
  readonly locale: string;
  /** The chosen zone: `Europe/Berlin`, `UTC`. Show it next to a time without a zone. */
  readonly zone: string;
  /** Quota units as money: `$1.25`; small amounts with enough digits to be visible. */
  money(units: number): string;
  /** Quota units: `625,000 quota`. */
  quota(units: number): string;
  number(value: number): string;
  /** `12.3K` */
  short(value: number): string;
  /** 0.5 is 50%. */
  percent(share: number): string;
  /** `840 ms`, `1.2 s`, `3 min 5 s`. */
  duration(ms: number): string;
  bytes(count: number): string;
  /** Date, time to the second, and the zone: `Nov 17, 2026, 5:58:14 PM GMT+1`. */
  moment(unix: number): string;
  day(unix: number): string;
  /** `Nov 17`. */
  shortDay(unix: number): string;
  /** To the second, without the zone: for columns and lists whose heading names it. */
  clock(unix: number): string;
  /** To the second, with the zone. */
  time(unix: number): string;
  /** Formatters of the browser in the chosen zone and hour cycle; `utc`: for the UTC days of the ledger. */
  dates(options: Intl.DateTimeFormatOptions, utc?: boolean): (unix: number) => string;
  /** `3 minutes ago`, `in 2 days`. */
  ago(unix: number): string;
}

/** Formatters for the viewer's language and zone. */
export function useFormat(): Format {
  const { language } = useContext(LanguageContext);
  const status = useStatus();
  const perUnit = status?.quota_per_unit ?? 500_000;
  const { zone } = useContext(ZoneContext);
  return formatFor(language === 'zh' ? 'zh-CN' : 'en-US', perUnit, timeZoneOf(zone));
}

const cache = new Map<string, Format>();

/** Formatters for a locale and a zone, cached; `unit`: quota units per currency unit. */
function formatFor(locale: string, perUnit: number, zone: string): Format {
  const key = `${locale} ${perUnit} ${zone}`;
  const format = cache.get(key) ?? makeFormat(locale, perUnit, zone);
  cache.set(key, format);
  return format;
}

/** Creates them. Formatters of the browser are slow to create, so each is created on first use. */
function makeFormat(locale: string, perUnit: number, zone: string): Format {
  const numberFormats = new Map<string, Intl.NumberFormat>();
  const by = (name: string, options: Intl.NumberFormatOptions): Intl.NumberFormat => {
    const formatter = numberFormats.get(name) ?? new Intl.NumberFormat(locale, options);
    numberFormats.set(name, formatter);
    return formatter;
  };
  const numbers = new Intl.NumberFormat(locale);
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
  const dates = (options: Intl.DateTimeFormatOptions, utc = false) => {
    let dateFormat: Intl.DateTimeFormat | undefined;
    return (unix: number): string => {
      dateFormat ??= new Intl.DateTimeFormat(locale, { ...options, ...HOUR_CYCLE, timeZone: utc ? 'UTC' : zone });
      return dateFormat.format(unix * 1_000);
    };
  };
  const date = { year: 'numeric', month: 'short', day: 'numeric' } as const;
  const time = { hour: 'numeric', minute: '2-digit', second: '2-digit' } as const;
  const plain = (value: number, unit: string, digits = 0): string =>
    by(`${unit} ${digits}`, { maximumFractionDigits: digits, style: 'unit', unit, unitDisplay: 'short' }).format(value);
  return {
    locale,
    zone,
    money(units) {
      const amount = units / perUnit;
      const small = amount !== 0 && Math.abs(amount) < 1;
      return by(small ? 'cents' : 'money', {
        style: 'currency',
        currency: 'USD',
        currencyDisplay: 'narrowSymbol',
        minimumFractionDigits: 2,
        ...(small ? { maximumSignificantDigits: 3, minimumSignificantDigits: 2 } : { maximumFractionDigits: 2 }),
      }).format(amount);
    },
    quota: (units) => `${numbers.format(units)} ${locale.startsWith('zh') ? '额度' : 'quota'}`,
    number: (value) => numbers.format(value),
    short: (value) => by('short', { notation: 'compact', maximumFractionDigits: 1 }).format(value),
    percent: (share) => by('percent', { style: 'percent', maximumFractionDigits: 1 }).format(share),
    duration: (ms) => durationText(ms, plain),
    bytes(count) {
      const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
      const at = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3));
      return plain(count / 1_000 ** at, units[at] ?? 'byte', at === 0 ? 0 : 1);
    },
    moment: dates({ ...date, ...time, timeZoneName: 'short' }),
    day: dates(date),
    shortDay: dates({ month: 'short', day: 'numeric' }),
    clock: dates(time),
    time: dates({ ...time, timeZoneName: 'short' }),
    dates,
    ago(unix) {
      const ms = unix * 1_000 - Date.now();
      const [unit, length] = UNITS.find(([, each]) => Math.abs(ms) >= each) ?? ['second', SECOND];
      return relative.format(Math.round(ms / length), unit);
    },
  };
}
