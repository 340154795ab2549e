/** Tables as CSV (RFC 4180), safe to be opened by a spreadsheet. */
import { type Answer, answer } from '../../core/plugin.ts';

/** A cell that begins like this is a formula to a spreadsheet, whoever wrote it; some leave out space in front, or know wide signs. */
const FORMULA = /^(?:[\t\r\n\0]|[\s\0]*[=+\-@\uff1d\uff0b\uff0d\uff20])/;

/** One cell. Numbers stay numbers, below zero too. */
function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

type Rows = readonly (readonly (string | number)[])[];

/** Lines of a table. */
export function csvText(rows: Rows): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** An answer that a browser saves as `name.csv`. */
export function csvFile(name: string, text: string): Answer {
  return answer(200, text, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}.csv"`,
  });
}

/** The same of a small table, as it is. */
export function csvAnswer(name: string, head: readonly string[], rows: Rows): Answer {
  return csvFile(name, csvText([head, ...rows]));
}

/** A table as people take it out of the console: with its sum, and with what it is of. */
export interface Report {
  /** What the file is called. */
  readonly name: string;
  readonly head: readonly string[];
  readonly rows: Rows;
  /** What the rows add up to; the line begins with `total`. Undefined: they cannot be added up. */
  readonly total: readonly (string | number)[] | undefined;
  /** What stands below it, a line each: the period and its time zone, the filters, the units. */
  readonly about: Rows;
}

/** The file of a report. */
export function reportFile({ name, head, rows, total, about }: Report): Answer {
  return csvFile(name, csvText([head, ...rows]) + reportEnd(head.length, total, about));
}

/** What stands behind the rows of a report: its sum, and what it is of. Every line has as many cells as the first, as readers of CSV want it. */
export function reportEnd(width: number, total: Report['total'], about: Report['about']): string {
  const lines = total === undefined ? about : [total, ...about];
  return csvText(lines.map((line) => [...line, ...Array<string>(Math.max(0, width - line.length)).fill('')]));
}
